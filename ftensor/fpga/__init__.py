"""`ft.fpga`: devices, streams, events and memory, with the interface of `torch.cuda`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import errors
from .._device import DeviceLike, detected_device, fpga_devices, fpga_index, resolve, set_fpga_index
from .._device import device as _device
from ..errors import image as image_errors
from ..interop.opencl import ExternalStream, use_context
from ..own.overlay import Overlay
from ..rows.catalogue import note_module
from ..runtime import sensors as _sensors
from ..runtime.interfaces import DeviceProperties
from ..runtime.stream import DeviceStream as _Stream
from ..runtime.stream import Event
from .devices import backend as _backend
from .devices import (
    empty_cache,
    get_per_process_memory_fraction,
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
    memory_stats_as_nested_dict,
    memory_summary,
    reset_peak_memory_stats,
    seed,
    seed_all,
    set_per_process_memory_fraction,
    set_rng_state,
    set_rng_state_all,
)
from .devices import lookup as _lookup

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..own.elementwise import ElementwiseKernel, ReductionKernel
    from ..own.kernel import File, Kernel, Words
    from ..runtime.images import ImageReport

__all__ = [
    "Event",
    "ExternalStream",
    "Overlay",
    "Stream",
    "StreamContext",
    "allocate",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "elementwise",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "get_per_process_memory_fraction",
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
    "memory_stats_as_nested_dict",
    "memory_summary",
    "opencl_kernel",
    "power_draw",
    "reduction",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "sensors",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "source",
    "stream",
    "synchronize",
    "temperature",
    "use_context",
]


def __dir__() -> list[str]:
    return __all__


def is_available() -> bool:
    """True if a device matches the mapping."""
    return bool(fpga_devices())


def device_count() -> int:
    """Returns the number of devices that match the mapping."""
    return len(fpga_devices())


def current_device() -> int:
    """Returns the index of this thread's current device. Raises RuntimeError if there is none."""
    detected_device(_device("fpga"))
    return fpga_index()


def set_device(which: DeviceLike) -> None:
    """Makes a device this thread's current device; a negative index changes nothing, as in
    torch."""
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
    """Context manager that changes this thread's current device; None or a negative index changes
    nothing."""

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
        # The mapping may have changed to fewer devices inside the block.
        if self.index is not None and before < device_count():
            set_fpga_index(before)


def get_device_name(device: DeviceLike | None = None) -> str:
    """Returns the name that the device's driver reports."""
    return get_device_properties(device).name


def get_device_properties(device: DeviceLike | None = None) -> DeviceProperties:
    """Returns name, platform, versions, memory (bytes), compute units and float types of a
    device."""
    return _backend("get_device_properties", device).properties


# Images


def load_image(path: str | Path, device: DeviceLike | None = None) -> str:
    """Loads an image built by `ftensor build` on a board, and returns the image's UUID.

    `path` is the xclbin file or the folder of the build. From now on the image's kernels are
    preferred. Images loaded earlier stay registered: an op that only one of them has reloads it
    (`image_report` counts this). An image from another tool has no ops; `kernel` finds its kernels.
    Tensors on the device keep their values. The environment variable FTENSOR_IMAGE loads images at
    the first use of the device: paths, separated like those in PATH. Raises ImageError if the file
    is damaged, or not for this device; FileNotFoundError if there is no such file, TypeError for a
    value that is not a path.
    """
    backend = _backend("load_image", device)
    if not isinstance(path, (str, os.PathLike)):
        raise image_errors.image_path(path)
    name = os.fspath(path)
    if not name or "\0" in name or not os.path.exists(name):
        raise image_errors.no_image_path(name)
    return backend.load_image(path).uuid


def image_report(device: DeviceLike | None = None) -> ImageReport:
    """Returns the images of a device, the number of image switches, and the tensors copied for
    them."""
    from ..runtime.images import ImageReport, Images

    chosen = _lookup("image_report", device)
    images = chosen.open().images if chosen.opened else None
    return images.report() if isinstance(images, Images) else ImageReport(())


# Sensors


def sensors(device: DeviceLike | None = None) -> _sensors.Sensors:
    """Returns temperatures (degrees Celsius), supplies (volts, amperes) and power (watts) of a
    board, as XRT's `xrt-smi examine` reports them.

    The software device and the C simulation give constants, with `simulated=True`. Raises
    RuntimeError for other devices, and if XRT's tool fails.
    """
    return _sensors.read(_lookup("sensors", device))


def temperature(device: DeviceLike | None = None) -> int:
    """Returns the temperature of the chip in degrees Celsius, like `torch.cuda.temperature`. Raises
    RuntimeError where there is no such sensor."""
    found = _sensors.read(_lookup("temperature", device))
    if not found.temperatures:
        raise image_errors.no_sensors(get_device_name(device))
    return round(found.temperatures.get("fpga0", max(found.temperatures.values())))


def power_draw(device: DeviceLike | None = None) -> int:
    """Returns the power of the board in milliwatts, like `torch.cuda.power_draw`. Raises
    RuntimeError where there is no such sensor."""
    power = _sensors.read(_lookup("power_draw", device)).power
    if power is None:
        raise image_errors.no_sensors(get_device_name(device))
    return round(1000 * power)


# Kernels of the user


def allocate(shape: int | Sequence[int], dtype: Any = "uint32", *, device: DeviceLike | None = None) -> Tensor:
    """Returns a tensor of zeros, like `pynq.allocate`. `dtype` is ftensor's or NumPy's, or a name
    such as "u4". A tensor needs no `sync_to_device`: ftensor copies what kernels and the host
    need."""
    from ..dtypes import parse_dtype
    from ..ops.create.sizes import zeros

    element = parse_dtype(dtype)
    if element is None:
        raise errors.argument_type("allocate", "dtype", "a dtype", dtype)
    return zeros(shape, dtype=element, device=resolve("fpga" if device is None else device))


def kernel(file: File, name: str | None = None, *, flags: Words = (), device: DeviceLike | None = None) -> Kernel:
    """Returns a kernel of a user's file, callable with tensors. `name` may be omitted if the file
    has one kernel.

    An .xclbin or .awsxclbin is an image from any tool; its metadata lists the arguments of its
    kernels and the memory banks they reach. A .cpp or .c file is handled as by `source`, a .cl file
    as by `opencl_kernel`, with these `flags`; they have no effect on an image. Raises TypeError for
    an argument that is no path, name or list of words, FileNotFoundError, ValueError for an
    unsupported file or an unknown name, RuntimeError if the device can't run it.
    """
    from ..own.kernel import from_file

    return from_file(resolve("fpga" if device is None else device), file, name, flags)


def source(file: File, name: str | None = None, *, flags: Words = (), device: DeviceLike | None = None) -> Kernel:
    """Returns a kernel of HLS C++ (.cpp) or C (.c), compiled by g++ for the C simulation or for the
    software device of `ftensor emulate`, and kept in the disk cache. `flags` are a list of words or
    a string of them.

    Kernels are the functions declared extern "C" that return void; in a .c file all functions that
    are not static. Their arguments are read from the debug information. Raises RuntimeError if the
    compilation fails.
    """
    from ..own.kernel import from_cpp

    return from_cpp(resolve("fpga" if device is None else device), file, name, flags)


def opencl_kernel(
    text: str, name: str | None = None, *, options: Words = (), device: DeviceLike | None = None
) -> Kernel:
    """Returns a kernel of OpenCL C, like CuPy's RawKernel: compiled for an OpenCL device and kept
    in the disk cache. `options` are the compiler's, a list of words or a string of them. Raises
    ValueError for a text without a kernel, RuntimeError if the compilation fails."""
    from ..own.kernel import from_text

    return from_text(resolve("fpga" if device is None else device), text, name, options)


def elementwise(in_params: str, out_params: str, operation: str, name: str | None = None) -> ElementwiseKernel:
    """Returns an elementwise kernel of a C expression, like CuPy's ElementwiseKernel.

    `in_params` and `out_params` declare parameters, such as "T x, float32 y"; a capital letter is a
    dtype that the arguments of a call determine. `operation` assigns the outputs: "z = x * y + 1".
    The kernel computes in the dtype that its inputs promote to, on every device, and broadcasts
    their shapes. `name` is its name in inventories. Raises ValueError with the position for a text
    that can't be parsed, TypeError for other types.
    """
    from ..own.elementwise import elementwise as make

    kernel = make(in_params, out_params, operation, name)
    note_module([row for rows in kernel.rows.values() for row in rows])
    return kernel


def reduction(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: str | float,
    name: str | None = None,
) -> ReductionKernel:
    """Returns a reduction of C expressions, like CuPy's ReductionKernel.

    `map_expr` maps an element ("x * x"), `reduce_expr` combines two values `a` and `b` ("a + b") in
    any order, starting with `identity`, and `post_map_expr` assigns the output from `a` ("y =
    sqrt(a)"; `n` is the number of elements). The kernel computes in the dtype of the output. Call
    it with tensors and `dim`, `keepdim` and `out`, like `ft.sum`. Raises ValueError with the
    position for a text that can't be parsed, TypeError for other types.
    """
    from ..own.elementwise import reduction as make

    kernel = make(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name)
    note_module(list(kernel.rows.values()))
    return kernel


def synchronize(device: DeviceLike | None = None) -> None:
    """Waits for all work on all streams of a device. Raises IndexError as `ft.set_index_check`
    describes."""
    chosen = _lookup("synchronize", device)
    if chosen.opened:
        for stream in chosen.open().synchronize():
            if stream.doubts:
                stream.synchronize()


# Streams


class Stream(_Stream):
    """A queue of work that runs in order, concurrently with that of other streams.

    `priority` (lower is more urgent) is stored without effect: no device has such queues.
    """

    def __init__(self, device: DeviceLike | None = None, priority: int = 0) -> None:
        super().__init__(_backend("Stream", device), priority)


def current_stream(device: DeviceLike | None = None) -> _Stream:
    """Returns this thread's current stream of a device."""
    return _backend("current_stream", device).current_stream()


def default_stream(device: DeviceLike | None = None) -> _Stream:
    """Returns the default stream of a device."""
    return _backend("default_stream", device).default_stream


def set_stream(stream: _Stream | None) -> None:
    """Makes a stream this thread's current stream on its device; None changes nothing."""
    if stream is None:
        return
    _check_stream("set_stream", stream)
    for index, device in enumerate(fpga_devices()):
        if device.opened and device.open() is stream.backend:
            set_fpga_index(index)
    stream.backend.set_current_stream(stream)


def _check_stream(function: str, stream: object) -> None:
    if not isinstance(stream, _Stream):
        raise errors.argument_type(function, "stream", "an ft.fpga.Stream or None", stream)


class StreamContext:
    """Context manager returned by `stream()`."""

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
    """Context manager in which `stream` is this thread's current stream; None changes nothing."""
    if stream is not None:
        _check_stream("stream", stream)
    return StreamContext(stream)
