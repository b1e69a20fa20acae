"""The entry of pointwise ops: arguments, plan, kernel. A launch is prepared once per geometry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from .._device import current_device
from .._tensor import Tensor
from ..dtypes import scalar_dtype
from ..iterator.shape import broadcast_shapes
from ..rows.catalogue import name_called
from ..rows.copies import COPY
from ..rows.op import Op
from .dispatch import run_uncached
from .output import check_overlap, check_place, new, resize_out
from .prepare import in_order, planned, prepare, through

# Users' own kernels of ops (own/register.py), used unless they return NotImplemented. Their
# launches are not cached, so each call runs the user's function.
replaced: dict[Op, Callable[..., Any]] = {}


def pointwise(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...] = (), out: Tensor | None = None, inplace: bool = False
) -> Tensor:
    """Runs `op` on tensors and Python numbers. Writes to `out`, if passed.

    Raises RuntimeError for shapes that don't broadcast, tensors on different devices, a result that
    cannot be cast to `out`, and an `out` that overlaps an input in part. Raises NotImplementedError
    for dtypes that the op has no expression for.
    """
    if out is not None and type(out) is not Tensor:
        raise errors.not_a_tensor(name_called(op.name), "out", out)
    first = inputs[0] if inputs else out
    if type(first) is not Tensor:
        if op.numbers_alone and out is None:
            inputs = _with_tensor(inputs)
        first = _first(op, inputs, out)
    storage = first._storage
    backend = storage.backend
    key: tuple[Any, ...] = (
        op,
        None if out is None else out._key,
        *[x._key if type(x) is Tensor else x.__class__ for x in inputs],
    )
    if params:
        key += tuple([p.__class__ for p in params])
    if backend.target.is_board:
        key += _alignments(inputs, out)
    results = backend.launches[key].call(inputs, params, out)
    if results is not None:
        return results[0]
    new, device = key not in backend.launches, storage.device
    tensors = [x for x in inputs if type(x) is Tensor]
    for x in tensors:
        if x._storage.device is not device:
            return pointwise(op, _one_device(op, inputs), params, out, inplace)
    if new:
        inputs = tuple([_accepted(op, x) for x in inputs])
        if out is not None:
            through(op, backend, inputs, params, out)
    if out is not None:
        check_place(op.name, out, device)
        check_overlap(op.name, out, tensors, aligned=True)
        if new and tensors and not inplace:
            shape = broadcast_shapes(*[x._shape for x in tensors])
            if out._shape != shape:  # an output that is also an input can't be resized
                fresh = planned(op, inputs).out_strides
                resize_out(out, shape, fixed=any(x is out for x in tensors), strides=fresh)
                return pointwise(op, inputs, params, out)
    if op in replaced and device.type == "fpga":
        replacement = replaced[op](inputs, params, out)
        if replacement is not NotImplemented:
            return replacement
        key += ("declined",)  # under its own key the launch would be found before it is asked
    numbers = [x for x in inputs if type(x) is not Tensor]
    numbers += params
    args = (op, inputs, params, out, inplace)
    return run_uncached(backend, key, prepare, pointwise, args, tensors, numbers, out)[0]


def _first(op: Op, inputs: tuple[Any, ...], out: Tensor | None) -> Tensor:
    """Returns a tensor on the op's device. Raises TypeError if there is none."""
    for x in (*inputs, out):
        if type(x) is Tensor:
            return x
    raise errors.needs_a_tensor(name_called(op.name), inputs)


def _with_tensor(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the inputs, with the first as a tensor if all are numbers."""
    if not all(isinstance(x, (bool, int, float, complex)) for x in inputs):
        return inputs
    first = new((), scalar_dtype(inputs[0]), current_device())
    return (pointwise(COPY, inputs[:1], (), first, True), *inputs[1:])


def _alignments(inputs: tuple[Any, ...], out: Tensor | None) -> tuple[bool, ...]:
    tensors = [x for x in (*inputs, out) if type(x) is Tensor]
    aligned = [not x._place() for x in tensors]
    return (*aligned, out is not None and in_order(inputs, out))


def _accepted(op: Op, x: Any) -> Any:
    """Returns an input as a tensor or Python number. Raises TypeError for other types."""
    if type(x) is Tensor or isinstance(x, (bool, int, float, complex)):
        return x
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":
        return x.item()
    raise errors.not_a_tensor_or_number(name_called(op.name), x)


def _one_device(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the inputs with zero-dim host tensors moved to the others' device, as in torch.
    Raises RuntimeError for other tensors on several devices."""
    tensors = [x for x in inputs if type(x) is Tensor]
    full = [x for x in tensors if x._shape or x.device.type != "cpu"]
    target = (full or tensors)[0].device
    if any(x.device != target for x in full):
        raise errors.different_devices(name_called(op.name), [x.device for x in tensors])
    return tuple(x.to(target) if type(x) is Tensor else x for x in inputs)
