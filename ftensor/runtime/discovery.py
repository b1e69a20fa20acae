"""Finds the devices, and selects those that `fpga` names."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import errors
from . import lifetime, targets
from .targets import Target

if TYPE_CHECKING:
    from .backend import Backend


def _auto(detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """Returns the devices with the same target, platform and version as the first one."""
    devices = _explicit(detected)
    return [d for d in devices if _make(d) == _make(devices[0])]


def _make(device: DetectedDevice) -> tuple[str, str, str]:
    return device.target.name, device.platform, device.version


def _explicit(detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    return [d for d in detected if d.target.kind != "csim"] or list(detected)


def _cpu_or_csim(detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    return _of_kind("cpu")(detected) or _of_kind("csim")(detected)


def _of_kind(kind: str) -> Callable[[Sequence[DetectedDevice]], list[DetectedDevice]]:
    return lambda detected: [d for d in detected if d.target.kind == kind]


POLICIES: dict[str, Callable[[Sequence[DetectedDevice]], list[DetectedDevice]]] = {
    "auto": _auto,
    "explicit": _explicit,
    "fpga": _of_kind("board"),
    "gpu": _of_kind("gpu"),
    "cpu": _cpu_or_csim,
    "csim": _of_kind("csim"),
}


def select(mapping: str, detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """Returns the devices that a mapping names, in the order fpga:0, fpga:1, ...; [] if none match.

    A mapping is a policy such as "auto", the name of a target, or a part of a platform's name or
    version; if none of these match, a part of a device's name. The suffix ":N" selects only device
    N of these.
    """
    word, colon, number = mapping.strip().lower().rpartition(":")
    if not (colon and number.isdecimal()):
        word, number = mapping.strip().lower(), ""
    chosen = POLICIES[word](detected) if word in POLICIES else _named(word, detected)
    return chosen[int(number) : int(number) + 1] if number else chosen


def _named(word: str, detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    tests: tuple[Callable[[DetectedDevice], bool], ...] = (
        lambda d: word == d.target.name,
        lambda d: word in f"{d.target.name}\n{d.platform}\n{d.version}".lower(),
        lambda d: word in d.name.lower(),
    )
    return next((hits for test in tests if word and (hits := list(filter(test, detected)))), [])


def selector(device: DetectedDevice, detected: Sequence[DetectedDevice]) -> str:
    """Returns the shortest mapping that selects only `device` among the detected devices."""
    family = [d for d in detected if d.target is device.target]
    if len(family) == 1:
        return device.target.name
    return f"{device.target.name}:{family.index(device)}"


def host(mapped: Sequence[DetectedDevice], detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """Returns the device for `cpu` in a list, or an empty list: the mapped device if it is a CPU
    runtime, else the first CPU runtime, so that a program opens only one runtime."""
    return [d for d in mapped[:1] if d.target.kind in ("cpu", "csim")] or _cpu_or_csim(detected)[:1]


def advice(mapping: str) -> list[str]:
    """Returns the steps that would provide a device for the mapping, the likeliest first."""
    word = mapping.strip().lower().partition(":")[0]
    kinds = {"fpga": ("board",), "gpu": ("gpu",), "csim": ("csim",)}.get(word, ("cpu", "csim"))
    rows = [row for row in targets.TARGETS if word and word in row.name and word not in POLICIES]
    if not rows:
        names = {
            "board": ("xilinx", "intel-fpga-emulator"),
            "gpu": ("nvidia", "amd", "intel-gpu"),
            "cpu": ("intel-cpu", "pocl"),
            "csim": ("csim",),
        }
        rows = [targets.BY_NAME[name] for kind in kinds for name in names[kind]]
    return [f"{row.name}: {row.advice}" for row in rows]


def require(mapping: str, detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """Like `select`, but raises an error with advice if no device matches."""
    chosen = select(mapping, detected)
    if not chosen:
        present = [f"{selector(d, detected)} ({d.name})" for d in detected]
        # A loader or a driver that did not load is the likeliest reason.
        raise errors.no_device(mapping, present, [*report().notes, *advice(mapping)], [*POLICIES, *targets.BY_NAME])
    return chosen


CHANGED_MAPPING = (
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
    """A device found by discovery; `open` opens it."""

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
    lost: bool = False  # found before a fork, by a parent whose threads are missing here
    _backend: Backend | None = None
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def opened(self) -> bool:
        """True if the device is open."""
        return self._backend is not None

    def open(self, context: Any = None) -> Backend:
        """Opens the device and returns its backend; later calls return the same backend.

        An OpenCL device opens with the given context, by default with a new one.
        """
        if self._backend is None:
            with lifetime.gate.inside(), self._lock:
                if self._backend is None:
                    if self.lost:
                        raise errors.used_after_fork(self.name)
                    self._backend = self._open(context)
        return self._backend

    def _open(self, context: Any) -> Backend:
        if self.target.kind == "csim":
            from .csim.backend import CSimBackend

            return CSimBackend(self.target, from_images=not _has_board())
        if self.target.name == "xilinx":
            from .xrt.backend import XrtBackend

            return XrtBackend(self.target, self.cl_platform, self.cl_device)
        if self.target.dialect == "intel":
            from .intel.backend import IntelBackend

            return IntelBackend(self.target, self.cl_platform, self.cl_device, context=context)
        from .opencl.backend import OpenCLBackend

        return OpenCLBackend(self.target, self.cl_platform, self.cl_device, context=context)


def _has_board() -> bool:
    return any(device.target.kind == "board" for device in find())


@dataclass(frozen=True)
class DiscoveryReport:
    """The result of discovery; `notes` are sentences on unusable platforms or devices, with
    reasons."""

    devices: tuple[DetectedDevice, ...]
    notes: tuple[str, ...]
    entries: dict[str, str]  # the .icd files that the loader was offered
    platforms: tuple[tuple[str, str], ...]  # names and versions, with or without devices


_report: DiscoveryReport | None = None
_lock = threading.RLock()


def _after_fork() -> None:
    # A fork while another thread holds a lock would leave the lock held in the child for ever. Some
    # platforms start threads when devices are listed; these threads are missing in the child.
    global _lock
    _lock = threading.RLock()
    for device in _report.devices if _report else ():
        device._lock = threading.RLock()
        device.lost = device.cl_device is not None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def report() -> DiscoveryReport:
    """Returns the result of discovery, which runs once per process."""
    global _report
    if _report is None:
        with lifetime.gate.inside(), _lock:
            if _report is None:
                _report = _search()
    return _report


def find() -> list[DetectedDevice]:
    """Returns the detected devices in the order of the policy `auto`; csim comes last."""
    return list(report().devices)


def _search() -> DiscoveryReport:
    # Not at the top: this reads the installed packages' records, which importing ftensor need not.
    from . import icd

    notes: list[str] = []
    imported = sys.modules.get("pyopencl") is not None
    devices: list[DetectedDevice] = []
    platforms: list[tuple[str, str]] = []
    with icd.available_runtimes(notes) as entries:
        cl = _import_pyopencl(notes)
        for platform in _platforms(cl, notes) if cl else ():
            platforms.append((platform.name.strip(), platform.version.strip()))
            devices += _devices(cl, platform, notes)
    if cl and _cpu_runtime_unseen(entries, platforms):
        notes.append(CHANGED_MAPPING if imported else NOT_LOADED)
    if compiler := targets.csim_compiler():
        devices.append(_csim(compiler))
    return DiscoveryReport(tuple(_in_order(devices)), tuple(notes), entries, tuple(platforms))


def _import_pyopencl(notes: list[str]) -> Any:
    try:
        with lifetime.signals_deferred():
            return importlib.import_module("pyopencl")
    except ImportError as failure:  # absent, or its compiled part does not load here
        notes.append(f"pyopencl cannot be imported: {failure}")
        return None


def _platforms(cl: Any, notes: list[str]) -> list[Any]:
    try:
        platforms = cl.get_platforms()
    except cl.Error as failure:
        # A machine without any platform is normal; `ftensor doctor` reports it.
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
    """Returns True if the loader was offered Intel's CPU runtime but lists no platform of it."""
    has_entry = any(os.path.basename(lib) == targets.INTEL_CPU_LIBRARY for lib in entries.values())
    rows = [targets.match(frozenset(("cpu",)), *platform) for platform in platforms]
    # Oclgrind replaces the loader and lists only its own platform.
    return has_entry and not any(row and row.name in ("intel-cpu", "oclgrind") for row in rows)


def _in_order(devices: list[DetectedDevice]) -> list[DetectedDevice]:
    """Sorts by family as in `auto`, then by driver version with the newest first."""
    order = {target: index for index, target in enumerate(targets.TARGETS)}
    newest_first = sorted(devices, key=lambda device: _numbers(device.driver), reverse=True)
    return sorted(newest_first, key=lambda device: order[device.target])


def _numbers(version: str) -> tuple[int, ...]:
    digits = "".join(c if c.isdigit() else " " for c in version)
    return tuple(int(number) for number in digits.split())
