"""Host fallback: ops that have no kernel, or no kernel in the image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._device import STAND_IN, backend_of
from .._tensor import Tensor
from ..dtypes import from_numpy_dtype
from ..errors import KernelNotBuilt
from ..iterator.shape import extent, is_dense
from ..runtime import fallback
from ..runtime.backend import host_bytes
from ..runtime.pool import VECTOR
from .output import new, resize

if TYPE_CHECKING:
    from ..runtime.pool import Storage


def run_numpy(op: str, function: Callable[..., Any], inputs: Sequence[Tensor], *args: Any) -> tuple[Tensor, ...]:
    """Returns the arrays of `function(*arrays, *args)` as tensors on the inputs' device.

    On a device without a compiler the call is a fallback: it obeys `set_fallback`. On each device
    with its own memory `fallback_report` counts it. Raises RuntimeError for inputs on different
    devices. Errors of `function` pass through.
    """
    device, backend = inputs[0]._storage.device, inputs[0]._storage.backend
    if any(t._storage.device is not device for t in inputs):
        raise errors.different_devices(op, [t.device for t in inputs])
    names = tuple(t._dtype.name for t in inputs)
    if backend.noted is not None:  # a dry run collects kernels; this op has none
        raise errors.never_built(op, names)
    if backend.images is not None:
        fallback.admit(errors.never_built(op, names))
    values = function(*[_array(t) for t in inputs], *args)
    arrays = [np.asarray(a) for a in (values if isinstance(values, tuple) else (values,))]
    results = tuple([upload_array(a, device) for a in arrays])
    if backend.images is not None or not backend.host_shared:
        sent, back = sum(t.nbytes for t in inputs), sum(a.nbytes for a in arrays)
        copies = len(inputs) + len(arrays)
        fallback.count(op, ", ".join(names), "host", copies, sent, back)
    return results


def _array(t: Tensor) -> np.ndarray[Any, Any]:
    t._storage.backend.pool.check_capacity(t.nbytes)  # NumPy allocates its own arrays
    values = t._host_values()
    return values if values.size else values.reshape(t._shape)


def upload_array(array: np.ndarray[Any, Any], device: Any) -> Tensor:
    """Returns a contiguous tensor of an array's values."""
    tensor = new(array.shape, from_numpy_dtype(array.dtype), device)
    if array.size:
        backend_of(device).upload(tensor._storage, 0, np.ascontiguousarray(array))
    return tensor


# From this number of pieces on, a strided result is uploaded as one copy, and a kernel scatters it.
MANY_PIECES = 16


def run_on_host(
    missing: KernelNotBuilt,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    out: Tensor | None = None,
    partial_write: bool = False,
) -> Any:
    """Returns the result of `function(*args)`, computed on the host's device if the fallback policy
    allows.

    `out` is the written tensor among the arguments: all of it, or a part if `partial_write`.
    Results are on the arguments' device. Raises KernelNotBuilt if the policy is "error".
    """
    fallback.admit(missing)
    mirror = _Mirror(missing, list(_tensors(args)), out, partial_write)
    try:
        try:
            result = function(*_swapped(args, mirror.tensors))
        finally:
            # As on the device, an index out of range is reported after the other elements are
            # written.
            if out is not None and partial_write:
                mirror.store(out)
        if out is not None and not partial_write:
            mirror.store(out)
        return mirror.brought_back(result)
    finally:
        fallback.count(
            missing.op, missing.signature, missing.layout, mirror.copies, mirror.bytes_to_host, mirror.bytes_back
        )


def _tensors(x: Any) -> Iterator[Tensor]:
    """Yields the tensors among the arguments, with repetitions."""
    if type(x) is Tensor:
        yield x
    elif isinstance(x, (tuple, list)):
        for part in x:
            yield from _tensors(part)
    elif type(getattr(x, "tensor", None)) is Tensor:
        yield x.tensor


def _swapped(x: Any, tensors: dict[int, Tensor]) -> Any:
    """Returns `x`, an argument or a container of arguments, with each tensor replaced by its entry
    in `tensors`."""
    if type(x) is Tensor:
        return tensors[id(x)]
    if isinstance(x, (tuple, list)):
        return tuple([_swapped(part, tensors) for part in x])
    if type(getattr(x, "tensor", None)) is Tensor:
        return replace(x, tensor=tensors[id(x.tensor)])
    return x


def _span(t: Tensor) -> tuple[int, int]:
    low, high = extent(t._shape, t._strides)
    return (t._offset + low) * t._dtype.itemsize, (t._offset + high + 1) * t._dtype.itemsize


class _Mirror:
    """Copies of the operands on the host's device, with the same geometry, values and overlaps."""

    def __init__(
        self, missing: KernelNotBuilt, operands: list[Tensor], out: Tensor | None, partial_write: bool
    ) -> None:
        self.copies = self.bytes_to_host = self.bytes_back = 0
        self.operands = operands
        self.device = operands[0]._storage.device
        self.backend = operands[0]._storage.backend
        if any(t._storage.device is not self.device for t in operands):
            raise errors.different_devices(missing.op, [t.device for t in operands])
        self.host = backend_of(STAND_IN)
        self.tensors: dict[int, Tensor] = {}
        self.bases: dict[int, int] = {}
        for storage in {id(t._storage): t._storage for t in operands}.values():
            sharing = [t for t in operands if t._storage is storage]
            also_read = partial_write or sum(t is out for t in sharing) > 1
            read = [t for t in sharing if t is not out or also_read]
            self._mirror(storage, sharing, read)
        self.before: np.ndarray | None = None
        if partial_write and out is not None:
            self.before = self._bytes(out).copy()

    def _mirror(self, storage: Storage, sharing: list[Tensor], read: list[Tensor]) -> None:
        spans = [_span(t) for t in sharing if t.numel()] or [(0, 0)]
        # The mirror begins at a multiple of a vector, so that every tensor keeps its alignment.
        base = min(s for s, _ in spans) // VECTOR * VECTOR
        mirror = self.host.allocate(max(e for _, e in spans) - base)
        mirror.device, mirror.readonly = STAND_IN, storage.readonly
        end = 0
        for start, stop in sorted(_span(t) for t in read if t.numel()):
            start = max(start, end)
            if start < stop:
                _copy(storage, start, mirror, start - base, stop - start)
                self.copies += 1
                self.bytes_to_host += stop - start
                end = stop
        for t in sharing:
            offset = t._offset - base // t._dtype.itemsize
            self.tensors[id(t)] = Tensor._make(mirror, t._dtype, t._shape, t._strides, offset)
            self.bases[id(t)] = base

    def _bytes(self, t: Tensor) -> np.ndarray:
        start, stop = _span(t)
        return _in_host_memory(self.tensors[id(t)]._storage, start - self.bases[id(t)], stop - start)

    def brought_back(self, result: Any) -> Any:
        """Returns a result on the arguments' device. If the result is a mirrored argument, returns
        that argument."""
        if isinstance(result, tuple):
            return tuple([self.brought_back(part) for part in result])
        if type(result) is not Tensor:
            return result
        for t in self.operands:
            if self.tensors[id(t)] is result:
                return t
        source = result._storage
        storage = self.backend.allocate(source.nbytes)
        storage.device = self.device
        self._send(source, 0, storage, 0, source.nbytes)
        return Tensor._make(storage, result._dtype, result._shape, result._strides, result._offset)

    def _send(self, source: Storage, start: int, to: Storage, at: int, nbytes: int) -> None:
        if nbytes:
            _copy(source, start, to, at, nbytes)
            self.copies += 1
            self.bytes_back += nbytes

    def store(self, out: Tensor) -> None:
        """Copies the written elements to `out`, and leaves the bytes between them."""
        mirrored, size = self.tensors[id(out)], out._dtype.itemsize
        if mirrored._shape != out._shape:  # an `out=` that was resized
            resize(out, mirrored._shape)
            start, at = mirrored._offset * size, out._offset * size
            self._send(mirrored._storage, start, out._storage, at, out.nbytes)
            return
        if not out.numel():
            return
        start, stop = _span(out)
        if self.before is not None:
            changed = (self.before != self._bytes(out)).reshape(-1, size).any(1)
            elements = np.flatnonzero(changed)
        elif is_dense(out._shape, out._strides):
            self._send(mirrored._storage, start - self.bases[id(out)], out._storage, start, stop - start)
            return
        else:
            elements = _element_positions(out)
        if elements.size:
            self._put(out, elements)

    def _put(self, out: Tensor, elements: np.ndarray) -> None:
        """Copies single elements to `out`; `elements` count from the first element that `out`
        spans."""
        size, storage = out._dtype.itemsize, out._storage
        start, stop = _span(out)
        values = self._bytes(out)
        self.bytes_back += elements.size * size
        if storage.ptr is not None:
            _wait_for(storage)
            host_bytes_ = host_bytes(storage.ptr + start, stop - start)
            host_bytes_.view(f"V{size}")[elements] = values.view(f"V{size}")[elements]
            storage.changed()
            self.copies += 1
            return
        ends = np.flatnonzero(np.diff(elements) != 1) + 1
        if len(ends) >= MANY_PIECES and self.before is None and self._spread(out):
            return
        firsts = [0, *ends.tolist()]
        for first, end in zip(firsts, [*firsts[1:], len(elements)]):
            at = int(elements[first]) * size
            piece = values[at : at + (end - first) * size]
            storage.backend.upload(storage, start + at, piece)
            self.copies += 1

    def _spread(self, out: Tensor) -> bool:
        """Writes a strided result to `out`: uploads it contiguously, then a copy kernel spreads it.
        Returns False if the images lack that kernel, too."""
        packed = new(out._shape, out._dtype, self.device)
        values = np.ascontiguousarray(self.tensors[id(out)]._host())
        packed._storage.backend.upload(packed._storage, 0, values)
        try:
            with fallback.fallback_refused():
                out.copy_(packed)
        except KernelNotBuilt:
            return False
        self.copies += 1
        return True


def _element_positions(t: Tensor) -> np.ndarray:
    """Returns the positions of a tensor's elements relative to the first in memory, ascending if
    the dims nest."""
    positions = np.zeros(1, np.int64)
    dims = sorted(zip(t._strides, t._shape), key=lambda dim: -abs(dim[0]))
    for stride, count in dims:
        positions = (positions[:, None] + np.arange(count) * abs(stride)).reshape(-1)
    return positions


def _wait_for(storage: Storage) -> None:
    if storage.backend.executor is not None:
        storage.backend.executor.read(storage)
    storage.backend.current_stream().synchronize()
    storage.synchronize()


def _in_host_memory(storage: Storage, start: int, nbytes: int) -> np.ndarray:
    """Returns bytes of a storage after its pending work: a view if the memory is on the host, else
    a copy."""
    if storage.ptr is not None:
        _wait_for(storage)
        return host_bytes(storage.ptr + start, nbytes)
    fetched = np.empty(nbytes, np.uint8)
    storage.backend.download(storage, start, fetched)
    return fetched


def _copy(source: Storage, start: int, to: Storage, at: int, nbytes: int) -> None:
    if to.ptr is not None and source.ptr is None:
        _wait_for(to)
        source.backend.download(source, start, host_bytes(to.ptr + at, nbytes))
        to.changed()
    else:
        to.backend.upload(to, at, _in_host_memory(source, start, nbytes))
