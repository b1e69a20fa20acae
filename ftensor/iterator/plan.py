"""Pointwise plans: the few loops that visit every element of an op's operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import errors
from .shape import COUNTED, Ints, broadcast_shapes, numel
from .stride import broadcast_strides, common_layout, contiguous_strides, is_contiguous, loop_order, strides_in_order

Geometry = tuple[Ints, Ints]
"""A tensor's shape and its strides."""


@dataclass(frozen=True)
class Plan:
    """Loops and the steps each operand takes in them; no buffers, so plans can be cached."""

    shape: Ints
    """Sizes of the loops, innermost last; never empty: (1,) for one element, (0,) for none."""
    strides: tuple[Ints, ...]
    """Per operand, the output first: its step in each loop."""
    out_shape: Ints
    out_strides: Ints


def plan_map(
    shapes: Sequence[Ints],
    strides: Sequence[Ints],
    out: Geometry | None = None,
    reorder: bool = True,
    scalars: bool = False,
) -> Plan:
    """Plan a pointwise op on inputs of these shapes and strides.

    `out` is the shape and strides of a given output (in-place, `out=`); without it the result's
    strides follow the inputs' memory order. `reorder=False` visits the elements in logical order.
    `scalars` says that a Python scalar, which is no operand here, takes part as a 0-d tensor would
    in torch; it only matters for the strides of dims of size 1. RuntimeError when the inputs don't
    broadcast together, or not to the output's shape.
    """
    shape = shapes[0] if shapes else _given(out)[0]
    same_shape = all(s == shape for s in shapes)
    if not same_shape:
        shape = broadcast_shapes(*shapes)
        inputs = [broadcast_strides(n, s, shape) for n, s in zip(shapes, strides, strict=True)]
    else:
        inputs = list(strides)
    if out is not None:
        out_shape, out_strides = out
        if out_shape != shape:
            # An input may be smaller than a given output (fill_, copy_), never larger.
            if broadcast_shapes(shape, out_shape) != out_shape:
                raise errors.output_shape(out_shape, shape)
            inputs = [broadcast_strides(shape, s, out_shape) for s in inputs]
            shape = out_shape
        operands = [out_strides, *inputs]
        if all(is_contiguous(shape, s) for s in operands):
            return _linear(shape, out_strides, len(operands))
        order = loop_order(shape, operands) if reorder else tuple(range(len(shape)))
        return _loops(shape, operands, order, out_strides)
    if same_shape:
        default = contiguous_strides(shape)
        if all(s == default for s in inputs):
            return _linear(shape, default, len(inputs) + 1)
        if reorder and not scalars:
            layout = common_layout(shape, inputs)
            if layout is not None:
                return _linear(shape, layout, len(inputs) + 1)
    order = loop_order(shape, inputs) if reorder else tuple(range(len(shape)))
    out_strides = strides_in_order(shape, order)
    return _loops(shape, [out_strides, *inputs], order, out_strides)


def _given(out: Geometry | None) -> Geometry:
    assert out is not None, "a plan needs an operand"
    return out


def _linear(shape: Ints, out_strides: Ints, operands: int) -> Plan:
    """All operands lie in memory as one run of elements in the same order."""
    return Plan((numel(shape),), ((1,),) * operands, shape, out_strides)


def _loops(shape: Ints, operands: Sequence[Ints], order: Ints, out_strides: Ints) -> Plan:
    sizes, steps = coalesce(shape, operands, order)
    return Plan(sizes, steps, shape, out_strides)


def coalesce(shape: Ints, operands: Sequence[Ints], order: Sequence[int]) -> tuple[Ints, tuple[Ints, ...]]:
    """The loops over the dims in `order` (outermost first) with as few dims as possible.

    Neighbours merge when for every operand a step outside equals a whole turn inside. Dims of
    size 1 vanish. No dims left is one loop of size 1, and a dim of size 0 one loop of size 0; their
    steps read 1, so that they look like what they are: trivially linear.
    """
    sizes: list[int] = []
    columns: list[Ints] = []  # per loop: each operand's step
    for dim in order:
        size = shape[dim]
        if size == 1:
            continue
        if size == 0:
            return (0,), ((1,),) * len(operands)
        column = tuple([s[dim] for s in operands])
        if sizes and columns[-1] == tuple([size * step for step in column]):
            sizes[-1] *= size
            columns[-1] = column
        else:
            sizes.append(size)
            columns.append(column)
    if not sizes:
        return (1,), ((1,),) * len(operands)
    return tuple(sizes), tuple(zip(*columns, strict=True))


# Cuts fall on multiples of this many elements where possible, so that pieces of an aligned buffer
# stay aligned to 64 bytes for every element size.
_CUT = 64


def split(shape: Ints, strides: Sequence[Ints], limit: int = COUNTED) -> list[tuple[Ints, Ints]]:
    """Cut loops into pieces that kernels can index with 32 bits.

    Returns (shape, offset per operand) for each piece; every element is in exactly one. A piece
    has at most `limit` elements, and no operand's elements lie further than `limit` apart in it.
    Empty loops have no pieces.
    """
    assert limit >= 1, limit
    if 0 in shape:
        return []
    pieces: list[tuple[Ints, Ints]] = []
    pending: list[tuple[Ints, Ints]] = [(shape, (0,) * len(strides))]
    while pending:
        piece = pending.pop()
        sizes, offsets = piece
        dim = _dim_to_cut(sizes, strides, limit)
        if dim is None:
            pieces.append(piece)
            continue
        size = sizes[dim]
        half = (size + 1) // 2
        if size > 2 * _CUT:
            half = -(-half // _CUT) * _CUT
        first = (*sizes[:dim], half, *sizes[dim + 1 :])
        rest = (*sizes[:dim], size - half, *sizes[dim + 1 :])
        moved = tuple([o + half * s[dim] for o, s in zip(offsets, strides, strict=True)])
        pending.append((rest, moved))
        pending.append((first, offsets))
    return pieces


def _dim_to_cut(shape: Ints, strides: Sequence[Ints], limit: int) -> int | None:
    """The dim to cut next: the furthest reaching one of the operand that reaches too far, or the
    longest one when there are just too many elements; None when the piece is small enough.
    """
    for steps in strides:
        reach = [(n - 1) * abs(step) for n, step in zip(shape, steps, strict=True)]
        if sum(reach) > limit:
            return reach.index(max(reach))
    return shape.index(max(shape)) if numel(shape) > limit else None
