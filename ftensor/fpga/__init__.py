"""`ft.fpga`: devices, streams, events and memory, as torch users know them from `torch.cuda`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .. import errors
from .._device import DeviceLike, found_of, fpga_devices, fpga_index, set_fpga_index
from .._device import device as _device
from ..runtime.backend import Backend
from ..runtime.discovery import Found
from ..runtime.event import Event
from ..runtime.parts import DeviceProperties
from ..runtime.stream import Stream as _Stream
from .seeds import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)

if TYPE_CHECKING:
    from ..runtime.images import ImageReport

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "image_report",
    "initial_seed",
    "is_available",
    "load_image",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]


def __dir__() -> list[str]:
    return __all__


def _found(function: str, which: DeviceLike | None) -> Found:
    if which is None:
        return found_of(_device("fpga"))
    chosen = which if isinstance(which, _device) else _device(which)
    if chosen.type != "fpga":
        raise errors.not_an_fpga(function, chosen)
    return found_of(chosen)


def _backend(function: str, which: DeviceLike | None) -> Backend:
    return _found(function, which).open()


def is_available() -> bool:
    """Whether there is a device that fits the mapping."""
    return bool(fpga_devices())


def device_count() -> int:
    """How many devices fit the mapping."""
    return len(fpga_devices())


def current_device() -> int:
    """The number of this thread's current device; RuntimeError if there is none."""
    found_of(_device("fpga"))
    return fpga_index()


def set_device(which: DeviceLike) -> None:
    """Make a device this thread's current one; a negative number changes nothing, as in torch."""
    index = _number("set_device", which)
    if index is not None:
        set_fpga_index(index)


def _number(function: str, which: DeviceLike | None) -> int | None:
    if which is None or (isinstance(which, int) and which < 0):
        return None
    chosen = which if isinstance(which, _device) else _device(which)
    if chosen.type != "fpga":
        raise errors.not_an_fpga(function, chosen)
    return chosen.index


class device:
    """Context manager: another current device for this thread; None or negative changes nothing."""

    def __init__(self, device: DeviceLike | None) -> None:
        self.index = _number("device", device)
        self._before: list[int] = []

    def __enter__(self) -> device:
        self._before.append(fpga_index())
        if self.index is not None:
            set_fpga_index(self.index)
        return self

    def __exit__(self, *exc: object) -> None:
        before = self._before.pop()
        # Within the block the mapping may have come to have fewer devices.
        if self.index is not None and before < device_count():
            set_fpga_index(before)


def get_device_name(device: DeviceLike | None = None) -> str:
    """The name that the device gives itself."""
    return get_device_properties(device).name


def get_device_properties(device: DeviceLike | None = None) -> DeviceProperties:
    """Name, platform, versions, memory (bytes), compute units and float types of a device."""
    return _backend("get_device_properties", device).properties


# Images


def load_image(path: str | Path, device: DeviceLike | None = None) -> str:
    """Give a board an image that `ftensor build` made, and return the image's UUID.

    `path` is the xclbin file or the folder of the build. Its kernels come first from now on; the
    images loaded before stay known, and an op that only one of them has brings that one back
    (`image_report` counts it). Tensors on the device survive. The environment's FTENSOR_IMAGE
    loads images at the first use of the device: paths, separated as those in PATH. ImageError
    where the file is damaged, or not for this device.
    """
    return _backend("load_image", device).load_image(path).uuid


def image_report(device: DeviceLike | None = None) -> ImageReport:
    """The images of a device, how often one took another's place, and what had to be copied."""
    from ..runtime.images import ImageReport, Images

    found = _found("image_report", device)
    images = found.open().images if found.opened else None
    return images.report() if isinstance(images, Images) else ImageReport(())


def synchronize(device: DeviceLike | None = None) -> None:
    """Wait for all work on all streams of a device; IndexError as `ft.set_index_check` says."""
    found = _found("synchronize", device)
    if found.opened:
        backend = found.open()
        backend.synchronize()
        for stream in backend.all_streams():
            stream.synchronize()


# Streams


class Stream(_Stream):
    """A queue whose work runs in order, and beside that of other streams.

    `priority` is lower for what is more urgent, where the device knows priorities.
    """

    def __init__(self, device: DeviceLike | None = None, priority: int = 0) -> None:
        super().__init__(_backend("Stream", device), priority)


def current_stream(device: DeviceLike | None = None) -> _Stream:
    """The stream that this thread's operations go to."""
    return _backend("current_stream", device).current_stream()


def default_stream(device: DeviceLike | None = None) -> _Stream:
    """The stream that a device starts with."""
    return _backend("default_stream", device).default_stream


def set_stream(stream: _Stream | None) -> None:
    """Let this thread's operations go to a stream, on the stream's device; None changes nothing."""
    if stream is None:
        return
    for index, found in enumerate(fpga_devices()):
        if found.opened and found.open() is stream.backend:
            set_fpga_index(index)
    stream.backend.set_current_stream(stream)


class StreamContext:
    """Context manager that `stream()` returns."""

    def __init__(self, stream: _Stream | None) -> None:
        self.stream = stream
        self._before: list[tuple[int, _Stream]] = []

    def __enter__(self) -> _Stream | None:
        if self.stream is not None:
            self._before.append((fpga_index(), self.stream.backend.current_stream()))
            set_stream(self.stream)
        return self.stream

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stream is not None:
            index, stream = self._before.pop()
            stream.backend.set_current_stream(stream)
            if index < device_count():
                set_fpga_index(index)


def stream(stream: _Stream | None) -> StreamContext:
    """Context manager: within it this thread's operations go to `stream`; None changes nothing."""
    return StreamContext(stream)


# Memory, in bytes. A device that was not used yet has none, and asking does not open it.


def memory_stats(device: DeviceLike | None = None) -> dict[str, int]:
    """The pool's counters under torch's names, and those that only ftensor has.

    `kernels` is how many compiled kernels the device holds at the moment, `streams` how many
    streams somebody holds, the default one included.
    """
    found = _found("memory_stats", device)
    if not found.opened:
        return {}
    backend = found.open()
    held = {"kernels": len(backend.kernels), "streams": len(backend.all_streams())}
    stats = backend.pool.stats() | held
    return {_TORCH_NAMES.get(name, name): value for name, value in stats.items()}


_TORCH_NAMES = {
    "allocated_bytes": "allocated_bytes.all.current",
    "peak_allocated_bytes": "allocated_bytes.all.peak",
    "reserved_bytes": "reserved_bytes.all.current",
    "peak_reserved_bytes": "reserved_bytes.all.peak",
    "requests": "allocation.all.allocated",
    "device_allocations": "num_device_alloc",
    "retries": "num_alloc_retries",
    "out_of_memory": "num_ooms",
}


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes that tensors hold."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The most bytes that tensors held at once since the start or `reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes that the pool holds, in tensors or free."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The most bytes that the pool held since the start or `reset_peak_memory_stats`."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Start the two peaks again from what is held now."""
    found = _found("reset_peak_memory_stats", device)
    if found.opened:
        found.open().pool.reset_peaks()


def empty_cache() -> None:
    """Give the free memory of all devices' pools back to the system."""
    for found in fpga_devices():
        if found.opened:
            found.open().pool.release_cached()
