"""The mapping policy: which of the machine's devices `fpga` stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import errors
from . import targets
from .discovery import DetectedDevice


def _auto(detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """All devices that are of one make with the best."""
    devices = _explicit(detected)
    return [d for d in devices if _make(d) == _make(devices[0])]


def _make(device: DetectedDevice) -> tuple[str, str, str]:
    return device.target.name, device.platform, device.version


def _explicit(detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """Every OpenCL device; csim where there is none."""
    return [d for d in detected if d.target.kind != "csim"] or list(detected)


def _cpu(detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    return _kind("cpu")(detected) or _kind("csim")(detected)


def _kind(kind: str) -> Callable[[Sequence[DetectedDevice]], list[DetectedDevice]]:
    return lambda detected: [d for d in detected if d.target.kind == kind]


POLICIES: dict[str, Callable[[Sequence[DetectedDevice]], list[DetectedDevice]]] = {
    "auto": _auto,
    "explicit": _explicit,
    "fpga": _kind("board"),
    "gpu": _kind("gpu"),
    "cpu": _cpu,
    "csim": _kind("csim"),
}


def select(mapping: str, detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """The devices that become fpga:0, fpga:1, ... under a mapping; empty if none fits.

    A mapping is a policy, the name of a target, or a part of a platform's name or version; a
    part of a device's name is tried last. ":N" behind it takes one of the devices it gives.
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
    """The shortest mapping by which a user gets just this one of the devices found."""
    family = [d for d in detected if d.target is device.target]
    if len(family) == 1:
        return device.target.name
    return f"{device.target.name}:{family.index(device)}"


def host(mapped: Sequence[DetectedDevice], detected: Sequence[DetectedDevice]) -> list[DetectedDevice]:
    """What `cpu` stands for, at most one: the device in use if it is the host, else the first
    host runtime, so that a program which chose one runtime doesn't open a second."""
    return [d for d in mapped[:1] if d.target.kind in ("cpu", "csim")] or _cpu(detected)[:1]


def advice(mapping: str) -> list[str]:
    """The steps that would get a device for a mapping, the likeliest first."""
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
    """`select`, or the error that says what would help."""
    chosen = select(mapping, detected)
    if not chosen:
        present = [f"{selector(d, detected)} ({d.name})" for d in detected]
        raise errors.no_device(mapping, present, advice(mapping), [*POLICIES, *targets.BY_NAME])
    return chosen
