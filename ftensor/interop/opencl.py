"""Exchange with pyopencl: buffers as tensors, tensors as buffers, contexts and queues of a program."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .._device import device, fpga_devices, resolve
from .._tensor import Tensor, method
from ..dtypes import dtype as DType
from ..dtypes import parse_dtype
from ..errors import opencl as errors
from ..iterator.shape import contiguous_strides, extent
from ..runtime.opencl.backend import OpenCLBackend
from ..runtime.pool import Block
from ..runtime.stream import SharedStream

if TYPE_CHECKING:
    import pyopencl as cl

    from ..runtime.backend import Backend


class _Foreign:
    """Owns a buffer of the user: keeps the user's object and a reference of its own, so that
    `buffer.release()` does not free the memory."""

    __slots__ = ("__weakref__", "buffer", "retained")

    def __init__(self, buffer: Any, retained: Any) -> None:
        self.buffer, self.retained = buffer, retained


def from_buffer(
    buffer: cl.Buffer,
    shape: Sequence[int] | int,
    dtype: DType,
    *,
    strides: Sequence[int] | None = None,
    offset: int = 0,
) -> Tensor:
    """Returns a tensor over the memory of a pyopencl buffer, without a copy.

    `strides` are in elements, by default those of a contiguous tensor; `offset` is the byte at
    which the first element begins, a multiple of the dtype's size. The tensor keeps the memory
    alive. In-place ops refuse a buffer made with `READ_ONLY`. The buffer belongs to the context of
    an open device (`ft.fpga.use_context`). Raises TypeError for an object that is no buffer,
    ValueError for a released buffer, one of another context or made with `WRITE_ONLY`, and for
    elements outside the buffer.
    """
    import pyopencl as cl

    element = parse_dtype(dtype)
    if element is None:
        raise errors.bad_dtype(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not isinstance(buffer, cl.MemoryObjectHolder) or isinstance(buffer, cl.Image):
        raise errors.not_a_buffer(buffer)
    if _is_released(buffer):
        raise errors.released()
    try:
        context = buffer.context
    except cl.Error as error:  # nothing but the buffer held the context, and the driver freed it
        raise errors.no_context(error) from None
    where, backend = _device_of(context)
    steps = contiguous_strides(sizes) if strides is None else tuple(strides)
    _check_extent(sizes, steps, element, offset, buffer.size)
    flags, about = buffer.flags, cl.mem_flags
    if flags & about.WRITE_ONLY:
        raise errors.write_only()
    owner = _Foreign(buffer, cl.Buffer.from_int_ptr(buffer.int_ptr, retain=True))
    readonly = bool(flags & about.READ_ONLY)
    pointer, handle, memory = None, owner.retained, None
    if backend.host_shared:
        if flags & (about.HOST_NO_ACCESS | about.HOST_READ_ONLY | about.HOST_WRITE_ONLY):
            raise errors.no_host_access()
        pointer = _address(cl, backend.current_stream().queue, owner.retained)
        if pointer % element.itemsize:
            raise errors.unaligned(pointer, element)
        # OpenCL's calls on parts of a buffer need aligned parts; a buffer over host memory does not.
        handle, memory = backend._wrap_host(pointer, buffer.size, readonly)
    block = Block(backend.pool, buffer.size, handle, pointer, memory)
    storage = backend.pool.adopt(block, backend.current_stream(), owner, readonly)
    storage.device = where
    storage.expose()
    return Tensor._make(storage, element, sizes, steps, offset // element.itemsize)


def _check_extent(shape: tuple[int, ...], strides: tuple[int, ...], element: DType, offset: int, nbytes: int) -> None:
    for name, numbers in (("shape", shape), ("strides", strides), ("offset", (offset,))):
        if any(isinstance(n, bool) or not hasattr(type(n), "__index__") for n in numbers):
            raise errors.not_integers(name, numbers)
        if min(numbers, default=0) < 0:
            raise errors.negative(name, numbers)
    if len(shape) != len(strides):
        raise errors.other_rank(strides, shape)
    if offset % element.itemsize:
        raise errors.part_of_element(offset, element, element.itemsize)
    _, high = extent(shape, strides) if prod(shape) else (0, -1)
    needed = offset + (high + 1) * element.itemsize
    if needed > nbytes:
        raise errors.too_small(nbytes, needed, shape, strides, offset)


def _is_released(buffer: Any) -> bool:
    """Returns True after `buffer.release()`.

    pyopencl has no query for it, and a driver that is asked about a released buffer may read freed
    memory. The object holds a flag in front of the handle; without that layout the answer is False.
    """
    import pyopencl as cl

    words = (ctypes.c_uint64 * (type(buffer).__basicsize__ // 8)).from_address(id(buffer))
    places = [k for k, word in enumerate(words) if word == buffer.int_ptr]
    if not isinstance(buffer, cl.MemoryObject) or len(places) != 1:
        return False
    return words[places[0] - 1] & 0xFF == 0


def _address(cl: Any, queue: Any, buffer: Any) -> int:
    """Returns the host address of a buffer that a CPU's runtime keeps in the host's memory."""
    access = cl.map_flags.READ
    array, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, (buffer.size,), np.uint8)
    address: int = array.__array_interface__["data"][0]
    array.base.release(queue)
    return address


def _device_of(context: Any) -> tuple[device, OpenCLBackend]:
    """Returns the device that was opened with a context. Raises ValueError if there is none."""
    for index, detected in enumerate(fpga_devices()):
        backend = detected.open() if detected.opened else None
        if isinstance(backend, OpenCLBackend) and backend.context == context:
            _opencl(backend)
            return resolve(device("fpga", index)), backend
    raise errors.other_context([d.name for d in context.devices])


def _buffer(self: Any) -> Any:
    """The pyopencl buffer of the storage; the elements begin at its byte `buffer_offset`.

    Keep the tensor while commands use the buffer. Commands on
    `ft.fpga.current_stream().opencl_queue` are in order with ftensor's. Raises RuntimeError on a
    device without OpenCL.
    """
    import pyopencl as cl

    storage = self._storage
    backend = _opencl(storage.backend)
    if backend.executor is not None:
        backend.executor.read(storage)
    storage.expose()  # the caller's kernels may write
    if isinstance(storage.owner, _Foreign):
        return storage.owner.buffer
    if not backend.host_shared:
        return cl.Buffer.from_int_ptr(storage.handle.int_ptr, retain=True)
    access = cl.mem_flags.READ_ONLY if storage.readonly else cl.mem_flags.READ_WRITE
    memory = storage.handle.hostbuf[: max(storage.nbytes, 1)]
    made = _tensor_buffer()(backend.context, access | cl.mem_flags.USE_HOST_PTR, hostbuf=memory)
    made.storage = storage
    return made


@cache
def _tensor_buffer() -> Any:
    """Returns the class of tensors' buffers, whose attributes keep the storage alive."""
    import pyopencl as cl

    return type("Buffer", (cl.Buffer,), {"__module__": cl.Buffer.__module__})


def _buffer_offset(self: Any) -> int:
    """The byte of `buffer` at which the first element begins."""
    tensor: Tensor = self
    return tensor.storage_offset() * tensor.itemsize


method("buffer")(property(_buffer))  # type: ignore[type-var]
method("buffer_offset")(property(_buffer_offset))  # type: ignore[type-var]


def _opencl(backend: Backend) -> OpenCLBackend:
    if not isinstance(backend, OpenCLBackend) or not backend.has_opencl_queues:
        raise errors.no_opencl(backend.properties.name)
    return backend


def use_context(context: cl.Context) -> device:
    """Opens the device of a pyopencl context with this context, and returns the device's name.

    Tensors then are buffers of the context. Call it before the first tensor. Raises RuntimeError
    for a device that is open with another context already, ValueError for a context of several
    devices, or of one that the mapping (`ft.set_device_mapping`) does not have.
    """
    import pyopencl as cl

    if not isinstance(context, cl.Context):
        raise errors.not_a_context(context)
    if len(context.devices) != 1:
        raise errors.several_devices([d.name for d in context.devices])
    (wanted,) = context.devices
    for index, detected in enumerate(fpga_devices()):
        if detected.cl_device == wanted:
            if _opencl(detected.open(context)).context != context:
                raise errors.open_already(detected.name)
            return resolve(device("fpga", index))
    raise errors.not_mapped(wanted.name, [d.name for d in fpga_devices()])


class ExternalStream(SharedStream):
    """A stream of a program's own pyopencl queue, like `torch.cuda.ExternalStream`.

    ftensor's commands on the stream and the program's on the queue run in the order of their calls.
    The queue belongs to the context of an open device (`ft.fpga.use_context`). Raises TypeError for
    an object that is no queue, ValueError for a queue that runs out of order or is of another
    context or device.
    """

    def __init__(self, queue: cl.CommandQueue) -> None:
        import pyopencl as cl

        if not isinstance(queue, cl.CommandQueue):
            raise errors.not_a_queue(queue)
        if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            raise errors.out_of_order()
        _, backend = _device_of(queue.context)
        super().__init__(backend, queue=queue)
