"""The entry of reductions: a monoid, tensors and dims become one or two kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.plan import ReducePlan, plan_reduce, reduced_shape
from ..iterator.shape import (
    COUNTED,
    broadcast_shapes,
    broadcast_strides,
    contiguous_strides,
    extent,
    normalize_dims,
    numel,
)
from ..rows.op import Reduce
from . import reduce_stage
from .copy import write_result as copied
from .dispatch import run_uncached
from .indexed import record_bounds
from .keys import monoid, partials, results, second_stage
from .launch import Launch, Output, check_memory
from .output import check_dtype, check_place, resize_out
from .reduce_pieces import in_pieces
from .reduce_stage import ReduceStage, names_of

if TYPE_CHECKING:
    pass


def fold(
    red: Reduce,
    inputs: Sequence[Tensor],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    compute: dtype,
    outs: tuple[dtype, ...],
    params: tuple[Any, ...] = (),
    into: Sequence[Tensor | None] | None = None,
) -> tuple[Tensor, ...]:
    """Folds `inputs`, broadcast together, over `dims` (None: all). Returns one tensor per output.

    `compute` is the dtype of the lifted elements, `outs` the dtypes of the results. `into` has a
    tensor for each result that is not fresh: the tensor is resized, and the result converted to its
    dtype. Raises IndexError and RuntimeError for dims out of range or named twice. Raises
    RuntimeError for an `into` tensor whose dtype can't hold the result, or on another device.
    """
    destinations = (None,) * len(outs) if into is None else into
    where = inputs[0]._storage.device
    named = dims if dims is None or isinstance(dims, int) else tuple(dims)
    backend = inputs[0]._storage.backend
    key: tuple[Any, ...] = (red, named, keepdim, compute, outs, len(params))
    for x in inputs:
        if x._storage.device is not where:
            raise errors.different_devices(red.name, [y.device for y in inputs])
        key += (x._key,)
        if backend.target.is_board:
            key += (not x._place(),)
    results: tuple[Tensor, ...] | None = backend.launches[key].call(inputs, params, into)
    if results is None:
        args = (red, inputs, dims, keepdim, compute, outs, params)
        if key not in backend.launches and _too_large(inputs):
            results = in_pieces(fold, *args, COUNTED)
        else:
            targets = [
                None if out is None else _straight(red, out, of, inputs, dims, keepdim)
                for out, of in zip(destinations, outs, strict=True)
            ]
            results = run_uncached(backend, key, prepare, fold, args, inputs, params, targets)
    if red.arg and results[0].numel():  # positions are indices of the elements folded into one result
        folded = max(x.numel() for x in inputs) // results[0].numel()
        for t, out, text in zip(results, destinations, red.finish):
            if text.strip() == "i" and t is not out:
                record_bounds(t, 0, folded - 1)
    if into is None:
        return results
    return tuple([x if x is out else copied(red.name, out, x, True) for x, out in zip(results, destinations)])


def _straight(red: Reduce, out: Tensor, of: dtype, inputs: Sequence[Tensor], dims: Any, keepdim: bool) -> Tensor | None:
    """Returns `out`, resized, if the kernel can write the result there; None if the result must be
    copied."""
    check_dtype(red.name, out, of, cast=True)
    check_place(red.name, out, inputs[0]._storage.device)
    if out._dtype is not of or any(x._storage is out._storage for x in inputs):
        return None
    shape = broadcast_shapes(*[x._shape for x in inputs])
    shape = reduced_shape(shape, normalize_dims(dims, len(shape)), keepdim)
    resize_out(out, shape)
    return out if out._strides == contiguous_strides(shape) else None


def prepare(
    red: Reduce,
    inputs: Sequence[Tensor],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    compute: dtype,
    outs: tuple[dtype, ...],
    params: tuple[Any, ...],
) -> Launch:
    """Returns the launch of a reduction within 32-bit indexing: one step, or two if rows are
    split."""
    backend = inputs[0]._storage.backend
    for d in (inputs[0]._dtype, *outs):  # another compute dtype is excluded
        if d.bare and d.bare not in red.bare and (d in outs or compute is d):
            raise errors.not_implemented_for(red.name, d)
    shape = broadcast_shapes(*[x._shape for x in inputs])
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in inputs]
    plan = plan_reduce(shape, strides, dims, keepdim, reorder=not red.arg)
    operands = len(outs) + len(inputs)
    numbers = (compute.to_real(),) * len(params)
    outputs = check_memory(backend, *[Output(of, plan.out_shape, plan.out_strides) for of in outs])
    if not numel(plan.out_shape):
        return Launch((), operands, outputs, numbers)
    for d in (compute, *outs):
        if d.name in ("float64", "complex128") and not backend.properties.has_float64:
            raise errors.no_float64(d, backend.properties.name)
    words, state = monoid(red, compute)
    final = results(red, compute, state, outs)
    dtypes = [x._dtype for x in inputs]
    stage = ReduceStage(red, backend, compute, words, [x._place() for x in inputs])
    out_strides = (plan.kept_strides[0],) * len(outs)
    with_outs = replace(plan, kept_strides=out_strides + plan.kept_strides[1:])
    fields = partials(red, compute, state)
    to_states = replace(plan, kept_strides=(contiguous_strides(plan.kept),) * len(fields) + plan.kept_strides[1:])
    splits = stage.splits(to_states, dtypes, fields)
    written, read = tuple(range(len(outs))), tuple(range(len(outs), operands))
    everything = written + read
    alone = reduce_stage.step(red, backend, with_outs, dtypes[0], outs, 1, everything, everything)
    if alone is not None and reduce_stage.soon_done(alone, backend.target):
        splits = 1
    if splits == 1:
        step = alone or stage.build(with_outs, dtypes, final, red.finish, "whole", written, read)
        return Launch((step,), operands, outputs, numbers)
    count = numel(plan.kept)
    between = tuple(range(operands, operands + len(fields)))
    states = [d for d, _ in fields]
    starts = ((None,) * len(between)) + read
    first = reduce_stage.step(
        red, backend, to_states, dtypes[0], tuple(states), splits, between + read, starts
    ) or stage.build(to_states, dtypes, fields, names_of(fields), "first", between, read)
    from_states = ReducePlan(
        plan.kept,
        (plan.kept_strides[0],) * len(outs) + (contiguous_strides(plan.kept),) * len(fields),
        (splits,),
        ((count,),) * len(fields),
        plan.out_shape,
        plan.out_strides,
    )
    words, final = second_stage(words, final)
    stage = ReduceStage(red, backend, state, words, [0] * len(fields))
    last = stage.build(from_states, states, final, red.finish, "second", written, between)
    temporaries = tuple([d.itemsize * splits * count for d in states])
    return Launch((first, last), operands, outputs, numbers, temporaries)


def _too_large(inputs: Sequence[Tensor]) -> bool:
    if numel(broadcast_shapes(*[x._shape for x in inputs])) > COUNTED:
        return True
    return any(max(map(abs, extent(x._shape, x._strides))) > COUNTED for x in inputs if x.numel())
