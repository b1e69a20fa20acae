"""The one entry of pointwise ops: arguments to plan to kernel, prepared once per geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..iterator.stride import has_internal_overlap, partial_overlap
from ..rows.op import Op
from .fallback import Missing, on_host, prepared
from .numbers import values_of
from .prepare import in_order, prepare


def pointwise(
    op: Op,
    inputs: tuple[Any, ...],
    params: tuple[Any, ...] = (),
    out: Tensor | None = None,
    inplace: bool = False,
) -> Tensor:
    """Run `op` on tensors and Python numbers; into `out` where given.

    RuntimeError for shapes that don't broadcast, tensors on different devices, a result that
    cannot be cast to `out`, or `out` overlapping an input in part; NotImplementedError for dtypes
    the op has no expression for.
    """
    if out is not None and type(out) is not Tensor:
        raise errors.out_not_a_tensor(op.name, out)
    backend = device = None
    key: tuple[Any, ...] = (op, None if out is None else out._key)
    if params:
        key += tuple([type(p) for p in params])
    handles, offsets, numbers = [], [], []
    for x in inputs:
        if type(x) is Tensor:
            storage = x._storage
            if backend is None:
                backend, device = storage.backend, storage.device
            elif storage.device is not device:
                return pointwise(op, _one_device(op, inputs), params, out, inplace)
            key += (x._key,)
            handles.append(storage.handle)
            offsets.append(x._offset)
        else:
            key += (type(x),)
            numbers.append(x)
    if backend is None:
        if out is None:
            raise errors.needs_a_tensor(op.name, inputs)
        backend, device = out._storage.backend, out._storage.device
    if not backend.target.unaligned:
        key += _alignments(inputs, out)
    launch = backend.launches.get(key)
    if launch is None:
        inputs = tuple(_accepted(op, x) for x in inputs)
        launch = prepared(backend, key, prepare, op, backend, inputs, params, out, inplace)
        if type(launch) is Missing:
            made: Tensor = on_host(launch, pointwise, (op, inputs, params, out, inplace), out)
            return made
        numbers = [x for x in inputs if type(x) is not Tensor]
    if out is None:
        storage = backend.allocate(launch.nbytes)
        storage.device = device
        result = object.__new__(Tensor)
        result._storage = storage
        result._dtype = launch.dtype
        result._shape = launch.shape
        result._strides = launch.strides
        result._offset = 0
        result._key = launch.key
    else:
        if out._storage.readonly:
            raise errors.read_only(op.name)
        if out._storage.device is not device:
            raise errors.different_devices(op.name, (device, out._storage.device))
        _check_overlap(op, inputs, out, inplace)
        if out._shape != launch.shape:
            if inplace or any(x is out for x in inputs):  # what is read can't be resized
                raise errors.output_shape(out._shape, launch.shape)
            resize_output(out, launch.shape)
            return pointwise(op, inputs, params, out, inplace)
        result = out
        out._storage.bounds = None
    stream = backend.current_stream()
    args = [result._storage.handle, *handles, result._offset, *offsets]
    for number in numbers:
        args += values_of(number, launch.numbers)
    for number in params:
        args += values_of(number, launch.compute)
    for run, units, extra, tail, _ in launch.pieces:
        if extra is None:
            run(stream, units, *args, tail)
        else:
            moved = args.copy()
            for k, step in enumerate(extra):
                moved[len(extra) + k] += step
            run(stream, units, *moved, tail)
    _foreign_streams(stream, inputs, result)
    return result


def _foreign_streams(stream: Any, inputs: tuple[Any, ...], result: Tensor) -> None:
    """Keep the memory of tensors made on other streams until this stream is through with it."""
    if result._storage.stream is not stream:
        stream.use(result._storage)
    for x in inputs:
        if type(x) is Tensor and x._storage.stream is not stream:
            stream.use(x._storage)


def _alignments(inputs: tuple[Any, ...], out: Tensor | None) -> tuple[bool, ...]:
    tensors = [x for x in (*inputs, out) if type(x) is Tensor]
    aligned = [x._offset * x._dtype.itemsize % 64 == 0 for x in tensors]
    return (*aligned, out is not None and in_order(inputs, out))


def _accepted(op: Op, x: Any) -> Any:
    """An input as this layer knows them; TypeError for anything that is no tensor or number."""
    if type(x) is Tensor or isinstance(x, (bool, int, float, complex)):
        return x
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":
        return x.item()
    raise errors.not_a_tensor_or_number(op.name, x)


def _one_device(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Zero-dim host tensors join the others' device, as in torch; anything else is refused."""
    tensors = [x for x in inputs if type(x) is Tensor]
    full = [x for x in tensors if x._shape or x.device.type != "cpu"]
    target = (full or tensors)[0].device
    if any(x.device != target for x in full):
        raise errors.different_devices(op.name, [x.device for x in tensors])
    return tuple(x.to(target) if type(x) is Tensor else x for x in inputs)


def _region(x: Tensor) -> tuple[int, tuple[int, ...], tuple[int, ...], int]:
    return x._offset * x._dtype.itemsize, x._shape, x._strides, x._dtype.itemsize


def _check_overlap(op: Op, inputs: Sequence[Any], out: Tensor, inplace: bool) -> None:
    """torch's rules: an output may not overlap itself, nor an input in part."""
    if has_internal_overlap(out._shape, out._strides):
        raise errors.output_overlaps_itself(op.name, out._shape, out._strides)
    for x in inputs:
        if type(x) is Tensor and x._storage is out._storage and x is not out:
            if partial_overlap(_region(x), _region(out)):
                raise errors.output_overlaps_input(op.name)


def resize_output(out: Tensor, shape: tuple[int, ...]) -> None:
    """Give `out=` the result's shape, with torch's warning where it had elements to lose."""
    from .memory import resize_

    if out.numel():
        errors.warn_resized(out._shape, shape)
    resize_(out, shape)
