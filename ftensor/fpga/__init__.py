"""`ft.fpga`: devices, streams, events and memory, as torch users know them from `torch.cuda`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .. import errors
from .._device import DeviceLike, found_of, fpga_devices, fpga_index, resolve, set_fpga_index
from .._device import device as _device
from ..runtime.interfaces import DeviceProperties
from ..runtime.stream import DeviceStream as _Stream
from ..runtime.stream import Event
from .devices import backend as _backend
from .devices import (
    empty_cache,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .devices import lookup as _lookup

if TYPE_CHECKING:
    from ..own.given import File, Words
    from ..own.kernel import Kernel
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
    "kernel",
    "load_image",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_summary",
    "opencl_kernel",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "source",
    "stream",
    "synchronize",
]


def __dir__() -> list[str]:
    return __all__


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
    (`image_report` counts it). One that others made has no ops: `kernel` finds its kernels.
    Tensors on the device survive. The environment's FTENSOR_IMAGE loads images at the first use of
    the device: paths, separated as those in PATH. ImageError where the file is damaged, or not for
    this device.
    """
    return _backend("load_image", device).load_image(path).uuid


def image_report(device: DeviceLike | None = None) -> ImageReport:
    """The images of a device, how often one took another's place, and what had to be copied."""
    from ..runtime.images import ImageReport, Images

    chosen = _lookup("image_report", device)
    images = chosen.open().images if chosen.opened else None
    return images.report() if isinstance(images, Images) else ImageReport(())


# Kernels of one's own


def kernel(file: File, name: str | None = None, *, flags: Words = (), device: DeviceLike | None = None) -> Kernel:
    """A kernel of one's own, to be called with tensors: `name` in a file, which may be left out
    where there is one.

    An .xclbin or .awsxclbin is an image of anybody's, whose metadata says what its kernels take and
    which memory banks they reach. A .cpp or .c is as for `source`, a .cl as for `opencl_kernel`, with
    these `flags`; for an image they mean nothing. TypeError for what is no path, name or list of
    words, FileNotFoundError, ValueError for a file or a name that there isn't, RuntimeError where
    the device can't run it.
    """
    from ..own.kernel import of_file

    return of_file(resolve("fpga" if device is None else device), file, name, flags)


def source(file: File, name: str | None = None, *, flags: Words = (), device: DeviceLike | None = None) -> Kernel:
    """A kernel of HLS C++ (.cpp) or C (.c), compiled by g++ (with `flags`, a list of words or a
    string of them) for the C simulation or for the software device of `ftensor emulate`, and kept
    in the disk cache.

    Kernels are the functions declared extern "C" which return void, in a .c all that are not static;
    what they take is read from the debug information. RuntimeError for what the compiler refuses.
    """
    from ..own.kernel import of_cpp

    return of_cpp(resolve("fpga" if device is None else device), file, name, flags)


def opencl_kernel(
    text: str, name: str | None = None, *, options: Words = (), device: DeviceLike | None = None
) -> Kernel:
    """A kernel of OpenCL C, as CuPy's RawKernel: compiled for an OpenCL device (with the compiler's
    `options`, a list of words or a string of them) and kept in the disk cache. ValueError for a
    text without a kernel, RuntimeError for what the compiler refuses."""
    from ..own.kernel import of_text

    return of_text(resolve("fpga" if device is None else device), text, name, options)


def synchronize(device: DeviceLike | None = None) -> None:
    """Wait for all work on all streams of a device; IndexError as `ft.set_index_check` says."""
    chosen = _lookup("synchronize", device)
    if chosen.opened:
        for stream in chosen.open().synchronize():
            if stream.doubts:
                stream.synchronize()


# Streams


class Stream(_Stream):
    """A queue whose work runs in order, and beside that of other streams.

    `priority`, lower for what is more urgent, is only noted: no device has such queues.
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
    for index, device in enumerate(fpga_devices()):
        if device.opened and device.open() is stream.backend:
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
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.stream is not None:
            index, stream = self._before.pop()
            stream.backend.set_current_stream(stream)
            if index < device_count():
                set_fpga_index(index)


def stream(stream: _Stream | None) -> StreamContext:
    """Context manager: within it this thread's operations go to `stream`; None changes nothing."""
    return StreamContext(stream)
