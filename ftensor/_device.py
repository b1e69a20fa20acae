"""`ft.device`, the current device, and the mapping of the names `fpga` and `cpu` to devices."""

from __future__ import annotations

import logging
import os
import re
import threading
import warnings
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from . import errors, logs
from .dtypes import parse_dtype
from .errors.message import levels_to_user
from .runtime import discovery as policy
from .runtime import fallback
from .runtime.discovery import DetectedDevice, find
from .runtime.stream import DeviceStream, Event

if TYPE_CHECKING:
    from .runtime.backend import Backend

log = logging.getLogger(__name__)

TYPES = ("fpga", "cpu")
_FORM = re.compile(r"([a-z]+)(?::(0|[1-9][0-9]*))?")


class device:
    """The device of a tensor: `device("fpga")`, `device("fpga:1")`, `device("fpga", 1)`,
    `device(1)`.

    As a context manager it is the device of tensors created inside. `fpga` without an index is the
    current device, see `ftensor.fpga.set_device`.
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: DeviceLike, index: int | None = None) -> None:
        if isinstance(type, device):
            kind, number = type.type, type.index
        elif isinstance(type, int) and not isinstance(type, bool):
            kind, number = "fpga", _index(type, type)
        elif isinstance(type, str):
            match = _FORM.fullmatch(type)
            if match is None or match[1] not in TYPES:
                named = parse_dtype(type)
                raise errors.bad_device(type) if named is None else errors.dtype_as_device(type, named)
            kind, number = match[1], None if match[2] is None else int(match[2])
        else:
            raise errors.bad_device_type(type)
        if index is not None:
            if number is not None:
                raise errors.device_index_twice(str(type), index)
            number = _index(index, f"{kind}:{index}")
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", number)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a device is immutable; make another one instead of setting {name}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __enter__(self) -> device:
        _thread.defaults.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _thread.defaults.pop()


DeviceLike = str | int | device
CPU = device("cpu")
# The host as fallback of a device whose images lack a kernel. Internal: users never get it.
STAND_IN = device("cpu")


def _index(value: object, text: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise errors.bad_device_type(value)
    if value < 0:
        raise errors.bad_device(text)
    return value


class _ThreadDevice(threading.local):
    """The devices that a thread has chosen."""

    def __init__(self) -> None:
        self.index = 0  # index of the current fpga
        self.mapped: _Table | None = None  # the table of the mapping for which `index` was chosen
        self.defaults: list[device] = []  # devices of the enclosing `with device` blocks, innermost last
        self.default: device | None = None


@cache
def _label(entry: DetectedDevice, index: int) -> device:
    """Returns the device fpga:`index`; always the same object for the same detected device."""
    return device("fpga", index)


class _Table:
    """The devices behind the device names, from first use until the next set_device_mapping."""

    def __init__(self, mapping: str) -> None:
        fallback.get_fallback()  # raises for an invalid FTENSOR_FALLBACK
        logs.print_records()
        devices = find()
        self.mapping = mapping
        # The host's device is selected even if no device fits the mapping.
        self.fpga = policy.select(mapping, devices)
        self.host = policy.host(self.fpga, devices)
        self.labels = [_label(one, index) for index, one in enumerate(self.fpga)]
        self.number = next(_numbers) << 16
        self.first: tuple[device, DetectedDevice] | None = None  # of fpga:0, once it is used
        for label, one in zip(self.labels, self.fpga):
            log.info("%s is %s (%s)", label, one.name, one.target.name)
        images = os.environ.get("FTENSOR_IMAGE", "").strip()
        if images and mapping == "auto" and self.fpga[:1]:
            chosen = self.fpga[0]
            if chosen.target.kind not in ("board", "csim"):
                text = errors.images_unused(chosen.name)
                warnings.warn(text, stacklevel=levels_to_user())


_numbers = count()
_thread = _ThreadDevice()
_table: _Table | None = None
_lock = threading.RLock()


def _new_lock() -> None:
    # If another thread holds the lock during a fork, it stays locked in the child.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def _current_table() -> _Table:
    global _table
    table = _table
    if table is None:
        with _lock:
            table = _table = _table or _Table(get_device_mapping())
    return table


def set_device_mapping(mapping: str) -> None:
    """Sets the devices behind the name `fpga`, from now on and in all threads.

    "auto" selects the best available device (a board, a GPU, Intel's CPU runtime, PoCL, another
    one; the C simulation without OpenCL) and all devices like it. "explicit" numbers every OpenCL
    device. "fpga", "gpu" and "cpu" select the devices of that kind, "csim" the C simulation. Any
    other word is the name of a target or a part of a platform's name, such as "pocl", and may end
    in ":N" for one of these devices; `ftensor devices` lists them. Existing tensors stay on their
    device. Raises RuntimeError, without a change, if no device matches.
    """
    global _table
    if not isinstance(mapping, str) or not mapping.strip():
        raise errors.bad_device(mapping)
    policy.require(mapping, find())
    table = _Table(mapping)
    with _lock:
        _table = table


def get_device_mapping() -> str:
    """Returns the current mapping: the one set, else the environment's FTENSOR_DEVICE, else
    "auto".
    """
    table = _table
    if table is not None:
        return table.mapping
    return os.environ.get("FTENSOR_DEVICE", "").strip() or "auto"


def fpga_devices() -> list[DetectedDevice]:
    """Returns the devices of fpga:0, fpga:1, ...; an empty list if no device matches the mapping."""
    return _current_table().fpga


def fpga_index() -> int:
    """Returns the index of this thread's current fpga."""
    table = _current_table()
    if _thread.mapped is not table:  # an index chosen under another mapping is void
        _thread.mapped = table
        _thread.index = 0
    return _thread.index


def set_fpga_index(index: int) -> None:
    """Makes fpga:`index` this thread's current device; raises RuntimeError if there is none."""
    detected_device(device("fpga", index))
    _thread.mapped = _current_table()
    _thread.index = index


def resolve(which: DeviceLike | None = None) -> device:
    """Returns a device with its index, for example fpga:0 for `fpga`; the host is plain `cpu`.

    None means the device of new tensors. Raises RuntimeError if there is no such device.
    """
    if which is None:
        return current_device()
    chosen = which if isinstance(which, device) else device(which)
    if chosen.type == "cpu":
        if chosen.index:
            raise errors.device_index("cpu", chosen.index, 1)
        return CPU
    index = fpga_index() if chosen.index is None else chosen.index
    labels = _current_table().labels
    if index >= len(labels):
        detected_device(device("fpga", index))  # raises
    return labels[index]


def detected_device(which: device) -> DetectedDevice:
    """Returns the detected device of a device name, perhaps not opened yet.

    Raises RuntimeError if there is none.
    """
    table = _current_table()
    if which.type == "cpu":
        if which.index:
            raise errors.device_index("cpu", which.index, 1)
        if which is STAND_IN:
            return fallback.host(next(iter(table.host), None))
        return (table.host or policy.require("cpu", find()))[0]
    devices = table.fpga or policy.require(table.mapping, find())
    index = fpga_index() if which.index is None else which.index
    if index >= len(devices):
        raise errors.device_index("fpga", index, len(devices))
    return devices[index]


def backend_of(which: DeviceLike) -> Backend:
    """Returns the backend of a device name; opens the device if necessary."""
    return detected_device(which if isinstance(which, device) else device(which)).open()


def first_fpga() -> tuple[device, Backend]:
    """Returns fpga:0 and its backend; opens the device if necessary."""
    table = _current_table()
    if table.first is None:
        label = resolve(device("fpga", 0))
        table.first = label, detected_device(label)
    label, detected = table.first
    return label, detected.open()


def current_device() -> device:
    """Returns the device of new tensors, with its index.

    That is the device of the innermost `with device` block, else the default device, else this
    thread's current fpga.
    """
    chosen = _thread.defaults[-1] if _thread.defaults else _thread.default
    if chosen is not None:
        return resolve(chosen)
    index = fpga_index()
    labels = _current_table().labels
    if index >= len(labels):
        detected_device(device("fpga", index))  # raises
    return labels[index]


def device_token() -> object:
    """Returns a hashable token of `current_device()` for cache keys, which is cheaper to compute.

    That is an int for this thread's current fpga, or the device itself if one is chosen by a
    `with device` block or as default.
    """
    if _thread.defaults or _thread.default:
        return current_device()
    table = _table
    if table is None or table is not _thread.mapped:
        current_device()  # sets this thread's index for the current table
        return device_token()
    return table.number + _thread.index


def default_backend() -> Backend:
    """Returns the backend of the device of new tensors."""
    return detected_device(current_device()).open()


def _current_stream() -> DeviceStream:
    return default_backend().current_stream()


Event.current_stream = staticmethod(_current_stream)

_named = device  # for functions with a parameter named `device`


def set_default_device(device: DeviceLike | None) -> None:
    """Makes a device the default for this thread's new tensors; None restores the current fpga."""
    _thread.default = None if device is None else _named(device)


def get_default_device() -> device:
    """Returns the device of new tensors, like `torch.get_default_device`."""
    return current_device()
