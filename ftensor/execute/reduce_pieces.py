"""Reductions beyond 32-bit indexing: cut into pieces that are folded one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from .._tensor import Tensor
from ..dtypes import dtype, int64
from ..iterator.plan import reduced_shape, split
from ..iterator.shape import Ints, broadcast_shapes, broadcast_strides, contiguous_strides, normalize_dims, numel
from ..rows.catalogue import enter
from ..rows.copies import COPY
from ..rows.op import Op, Promote, Reduce
from .output import new_like
from .pointwise import pointwise

# `execute.reduce.fold`, which calls `fold_in_pieces` with inputs too large for one launch.
Fold = Callable[..., tuple[Tensor, ...]]

SHIFT = Op("shift", "input", "a + by", params=("by",), only=("int64",))
CHOOSE = Op("choose", "mask, input, other", "a ? b : c", bool_="a ? b : c", masks=(0,))
enter(__name__, SHIFT, CHOOSE)


def fold_in_pieces(
    fold: Fold,
    red: Reduce,
    inputs: Sequence[Tensor],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    compute: dtype,
    outs: tuple[dtype, ...],
    params: tuple[Any, ...],
    limit: int,
) -> tuple[Tensor, ...]:
    """Like `fold`, for inputs beyond 32-bit indexing: folds pieces with at most `limit` elements
    and a span of at most `limit`, and then their results."""
    shape = broadcast_shapes(*[x._shape for x in inputs])
    chosen = normalize_dims(dims, len(shape))
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in inputs]
    kept_dims = [d for d in range(len(shape)) if d not in chosen]
    inner_dims = [d for d in range(len(shape)) if d in chosen]
    kept, inner = _pick(shape, kept_dims), _pick(shape, inner_dims)
    steps = [_pick(s, inner_dims) for s in strides]
    pieces = cut_in_order(inner, steps, limit if numel(kept) == 1 else limit // 2)
    most = max([1] + [numel(size) for size, _ in pieces])
    reach = max([0] + [_reach(size, s) for size, _ in pieces for s in steps])
    dense = contiguous_strides(kept)
    results = [new_like(inputs[0], kept, d_) for d_ in outs]
    operands = [dense] + [_pick(s, kept_dims) for s in strides]
    for size, offsets in split(kept, operands, max(1, min(limit - reach, limit // most))):
        views = []
        for part, moved in pieces:
            views.append(
                [
                    x._view(size + part, outer + step, x._offset + at + to)
                    for x, outer, step, at, to in zip(inputs, operands[1:], steps, offsets[1:], moved, strict=True)
                ]
            )
        folded = _fold_pieces(fold, red, views, len(size), compute, outs, params)
        for result, value in zip(results, folded, strict=True):
            pointwise(COPY, (value,), (), result._view(size, dense, offsets[0]), True)
    out_shape = reduced_shape(shape, chosen, keepdim)
    out_strides = contiguous_strides(out_shape)
    return tuple([r._view(out_shape, out_strides, 0) for r in results])


def _pick(values: Ints, dims: Sequence[int]) -> Ints:
    return tuple([values[d] for d in dims])


def _reach(shape: Ints, strides: Ints) -> int:
    return sum([(n - 1) * abs(s) for n, s in zip(shape, strides, strict=True)])


def cut_in_order(shape: Ints, strides: Sequence[Ints], limit: int) -> list[tuple[Ints, tuple[int, ...]]]:
    """Cuts loops into pieces (shape, offset per operand) with at most `limit` elements and span.

    The pieces are in row-major order, so an element's position is its position in the piece plus
    the sizes of the pieces before. An empty shape is one piece.
    """
    assert limit >= 1, limit
    pieces = []
    pending = [(shape, (0,) * len(strides))]
    while pending:
        sizes, offsets = pending.pop()
        if 0 in sizes or (numel(sizes) <= limit and all(_reach(sizes, s) <= limit for s in strides)):
            pieces.append((sizes, offsets))
            continue
        dim = next(d for d, n in enumerate(sizes) if n > 1)
        half = (sizes[dim] + 1) // 2
        rest = (*sizes[:dim], sizes[dim] - half, *sizes[dim + 1 :])
        moved = tuple([o + half * s[dim] for o, s in zip(offsets, strides, strict=True)])
        pending.append((rest, moved))
        pending.append(((*sizes[:dim], half, *sizes[dim + 1 :]), offsets))
    return pieces


def _fold_pieces(
    fold: Fold,
    red: Reduce,
    pieces: list[list[Tensor]],
    kept: int,
    compute: dtype,
    outs: tuple[dtype, ...],
    params: tuple[Any, ...],
) -> tuple[Tensor, ...]:
    """Folds each piece over its dims from `kept` on, then folds the results of all pieces."""
    if len(pieces) == 1:
        dims = range(kept, len(pieces[0][0]._shape))
        return fold(red, pieces[0], tuple(dims), False, compute, outs, params)
    if red.arg:
        return _find_in_pieces(fold, red, pieces, kept, compute, outs)
    first, second = _stages(red, compute.is_complex)
    real = compute.is_complex and not red.state_complex
    state = compute.to_real() if real else compute
    shape = pieces[0][0]._shape[:kept]
    # The parts are the innermost dim, so that the fold reads the fewest distinct addresses.
    stacked = new_like(pieces[0][0], (*shape, len(pieces)), state)
    strides = contiguous_strides(stacked._shape)
    for k, views in enumerate(pieces):
        dims = range(kept, len(views[0]._shape))
        (value,) = fold(first, views, tuple(dims), False, compute, (state,), params)
        place = stacked._view(shape, strides[:-1], k)
        pointwise(COPY, (value,), (), place, True)
    return fold(second, (stacked,), len(shape), False, state, outs, params)


@cache
def _stages(red: Reduce, complex_input: bool) -> tuple[Reduce, Reduce]:
    """Returns the reduction from elements to states, and the reduction from states to results."""
    first = replace(red, finish=("x",))
    if not complex_input:
        return first, replace(red, lift="a", complex_=None, truth=False)
    assert red.complex_ is not None
    _, combine, identity = red.complex_
    if red.state_complex:
        return first, replace(red, complex_=("a", combine, identity))
    return first, replace(red, lift="a", combine=combine, identity=identity, complex_=None)


@cache
def _beats(red: Reduce) -> Op:
    lets = (("x", "a"), ("y", "b"))
    return Op(red.name, "input, other", red.beats, Promote.ALWAYS_BOOL, lets=lets)


def _find_in_pieces(
    fold: Fold, red: Reduce, pieces: list[list[Tensor]], kept: int, compute: dtype, outs: tuple[dtype, ...]
) -> tuple[Tensor, ...]:
    """Returns the results of a reduction with positions, which may exceed 32 bits in the whole
    input."""
    first = _positions(red)
    start = 0
    value = index = None
    for views in pieces:
        shape = views[0]._shape
        dims = tuple(range(kept, len(shape)))
        folded = fold(first, views, dims, False, compute, (compute, int64))
        found, at = folded[0], pointwise(SHIFT, (folded[1],), (start,))
        if value is None or index is None:
            value, index = found, at
        else:
            later = pointwise(_beats(red), (value, found))
            value = pointwise(CHOOSE, (later, found, value))
            index = pointwise(CHOOSE, (later, at, index))
        start += numel(shape[kept:])
    assert value is not None and index is not None, "no parts"
    results = {"x": value, "i": index}
    outputs = []
    for result_dtype, text in zip(outs, red.finish, strict=True):
        outputs.append(new_like(value, value._shape, result_dtype))
        pointwise(COPY, (results[text],), (), outputs[-1], True)
    return tuple(outputs)


@cache
def _positions(red: Reduce) -> Reduce:
    return replace(red, finish=("x", "i"))
