"""Finds the devices of this machine, once, when the first one is needed."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import errors
from . import lifetime, signals, targets
from .targets import Target

if TYPE_CHECKING:
    from .backend import Backend


ASKED_BEFORE = (
    "pyopencl had been imported, and had asked for its platforms, before ftensor first needed a "
    "device; its loader looks only once, so Intel's CPU runtime is not seen. Let ftensor be first: "
    "call ftensor.fpga.is_available() before pyopencl.get_platforms()"
)
NOT_LOADED = (
    "Intel's CPU runtime was offered to the OpenCL loader, but did not load; "
    "OCL_ICD_DEBUG=7 in the environment makes some loaders say why"
)


@dataclass(eq=False)
class DetectedDevice:
    """A device that is there: known by name, opened on demand."""

    target: Target
    name: str
    platform: str
    version: str  # of the platform
    driver: str
    compute_units: int
    total_memory: int  # bytes
    has_float64: bool
    has_float16: bool
    cl_platform: Any = None
    cl_device: Any = None
    lost: bool = False  # found by the parent of this process, whose threads are not here
    _backend: Backend | None = None
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def opened(self) -> bool:
        """Whether it is in use."""
        return self._backend is not None

    def open(self) -> Backend:
        """The device, opened: the same backend at each call."""
        if self._backend is None:
            with lifetime.gate.inside(), self._lock:
                if self._backend is None:
                    if self.lost:
                        raise errors.used_after_fork(self.name)
                    self._backend = self._open()
        return self._backend

    def _open(self) -> Backend:
        if self.target.kind == "csim":
            from .csim.backend import CSimBackend

            return CSimBackend(self.target, from_images=not _has_board())
        if self.target.name == "xilinx":
            from .xrt.backend import XrtBackend

            return XrtBackend(self.target, self.cl_platform, self.cl_device)
        if self.target.dialect == "intel":
            from .intel.backend import IntelBackend

            return IntelBackend(self.target, self.cl_platform, self.cl_device)
        from .opencl.backend import OpenCLBackend

        return OpenCLBackend(self.target, self.cl_platform, self.cl_device)


def _has_board() -> bool:
    """Whether the images in FTENSOR_IMAGE are for a board, so that others leave them alone."""
    return any(device.target.kind == "board" for device in find())


@dataclass(frozen=True)
class Report:
    """What discovery saw; `notes` are sentences about what it could not use, and why."""

    devices: tuple[DetectedDevice, ...]
    notes: tuple[str, ...]
    entries: dict[str, str]  # the .icd files that the loader was offered
    platforms: tuple[tuple[str, str], ...]  # names and versions, with or without devices


_report: Report | None = None
_lock = threading.RLock()


def _after_fork() -> None:
    # A fork while another thread held a lock would leave it locked for ever in the child. Some
    # platforms start threads when they are asked for devices, which don't exist in the child.
    global _lock
    _lock = threading.RLock()
    for device in _report.devices if _report else ():
        device._lock = threading.RLock()
        device.lost = device.cl_device is not None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def report() -> Report:
    """All that discovery has to say; the search runs once per process."""
    global _report
    if _report is None:
        with lifetime.gate.inside(), _lock:
            if _report is None:
                _report = _search()
    return _report


def find() -> list[DetectedDevice]:
    """The devices of this machine in the order in which `auto` takes them; csim comes last."""
    return list(report().devices)


def _search() -> Report:
    # Not at the top: this reads the installed packages' records, which importing ftensor need not.
    from . import icd

    notes: list[str] = []
    imported = sys.modules.get("pyopencl") is not None
    devices: list[DetectedDevice] = []
    platforms: list[tuple[str, str]] = []
    with icd.offered(notes) as entries:
        cl = _import_pyopencl(notes)
        for platform in _platforms(cl, notes) if cl else ():
            platforms.append((platform.name.strip(), platform.version.strip()))
            devices += _devices(cl, platform, notes)
    if cl and _cpu_runtime_unseen(entries, platforms):
        notes.append(ASKED_BEFORE if imported else NOT_LOADED)
    if compiler := targets.csim_compiler():
        devices.append(_csim(compiler))
    return Report(tuple(_in_order(devices)), tuple(notes), entries, tuple(platforms))


def _import_pyopencl(notes: list[str]) -> Any:
    try:
        with signals.deferred():
            return importlib.import_module("pyopencl")
    except ImportError as failure:  # absent, or its compiled part does not load here
        notes.append(f"pyopencl cannot be imported: {failure}")
        return None


def _platforms(cl: Any, notes: list[str]) -> list[Any]:
    try:
        platforms = cl.get_platforms()
    except cl.Error as failure:
        # No platform at all is an ordinary machine without OpenCL, which doctor speaks about.
        if failure.code != cl.status_code.PLATFORM_NOT_FOUND_KHR:
            notes.append(f"OpenCL does not list its platforms: {failure}")
        return []
    return list({platform.int_ptr: platform for platform in platforms}.values())


def _devices(cl: Any, platform: Any, notes: list[str]) -> list[DetectedDevice]:
    try:
        devices = platform.get_devices()
    except cl.Error as failure:
        if failure.code != cl.status_code.DEVICE_NOT_FOUND:
            notes.append(f"platform {platform.name!r} does not list its devices: {failure}")
        return []
    detected = []
    for device in devices:
        try:
            target = targets.match(_kinds(cl, device), platform.name, platform.version)
            if target is not None:
                detected.append(_describe(target, platform, device))
            else:
                notes.append(f"{device.name!r} on {platform.name!r} is of no kind ftensor knows")
        except cl.Error as failure:
            notes.append(f"a device of platform {platform.name!r} does not answer: {failure}")
    return detected


def _kinds(cl: Any, device: Any) -> frozenset[str]:
    types = cl.device_type
    kinds = {"board": types.ACCELERATOR, "gpu": types.GPU, "cpu": types.CPU}
    return frozenset(kind for kind, flag in kinds.items() if device.type & flag)


def _describe(target: Target, platform: Any, device: Any) -> DetectedDevice:
    return DetectedDevice(
        target,
        device.name.strip(),
        platform.name.strip(),
        platform.version.strip(),
        device.driver_version.strip(),
        device.max_compute_units,
        device.global_mem_size,
        target.dialect == "vitis" or bool(device.double_fp_config),
        target.dialect == "vitis" or "cl_khr_fp16" in device.extensions.split(),
        platform,
        device,
    )


def _csim(compiler: list[str]) -> DetectedDevice:
    memory = 0
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return DetectedDevice(
        targets.CSIM,
        "C simulation",
        "ftensor",
        "C++14",
        shlex.join(compiler),
        compute_units=1,
        total_memory=memory,
        has_float64=True,
        has_float16=True,
    )


def _cpu_runtime_unseen(entries: dict[str, str], platforms: list[tuple[str, str]]) -> bool:
    """Whether Intel's CPU runtime was offered to the loader but is no platform."""
    offered = any(os.path.basename(lib) == targets.INTEL_CPU_LIBRARY for lib in entries.values())
    rows = [targets.match(frozenset(("cpu",)), *platform) for platform in platforms]
    # Oclgrind stands in the loader's place and shows only itself.
    return offered and not any(row and row.name in ("intel-cpu", "oclgrind") for row in rows)


def _in_order(devices: list[DetectedDevice]) -> list[DetectedDevice]:
    """By family as `auto` prefers them; within one, the newer version first, else as listed."""
    order = {target: index for index, target in enumerate(targets.TARGETS)}
    newest_first = sorted(devices, key=lambda device: _numbers(device.driver), reverse=True)
    return sorted(newest_first, key=lambda device: order[device.target])


def _numbers(version: str) -> tuple[int, ...]:
    digits = "".join(c if c.isdigit() else " " for c in version)
    return tuple(int(number) for number in digits.split())
