"""Plans: coalesced loop nests of the operands of a pointwise op or a reduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import errors
from .shape import (
    COUNTED,
    Ints,
    broadcast_shapes,
    broadcast_strides,
    channels_last_strides,
    contiguous_strides,
    is_channels_last,
    is_contiguous,
    is_dense,
    normalize_dims,
    numel,
)

Geometry = tuple[Ints, Ints]
"""A tensor's shape and its strides."""


@dataclass(frozen=True)
class Plan:
    """Loop nest of a pointwise op, with the strides of each operand.

    A plan holds no buffers, so callers can cache plans.
    """

    shape: Ints
    """Sizes of the loops, innermost last; never empty: (1,) for one element, (0,) for none."""
    strides: tuple[Ints, ...]
    """Per operand, the output first: its stride in each loop."""
    out_shape: Ints
    out_strides: Ints


def plan_map(
    shapes: Sequence[Ints],
    strides: Sequence[Ints],
    out: Geometry | None = None,
    reorder: bool = True,
    scalars: bool = False,
) -> Plan:
    """Returns the plan of a pointwise op on inputs with these shapes and strides.

    `out` is the shape and strides of a given output (in-place, `out=`); without `out`, the result's
    strides follow the inputs' memory order. `reorder=False` visits the elements in logical order.
    `scalars` is True if a Python scalar is among the operands: as a 0-d tensor does in torch, it
    affects the strides of dims of size 1. Raises RuntimeError if the inputs do not broadcast
    together, or not to the output's shape.
    """
    shape = shapes[0] if shapes else _require_geometry(out)[0]
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
    if same_shape and not (scalars and 0 in shape):  # whose strides torch orders though they are contiguous
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


def _require_geometry(out: Geometry | None) -> Geometry:
    assert out is not None, "a plan needs an operand"
    return out


def _linear(shape: Ints, out_strides: Ints, operands: int) -> Plan:
    """Returns the plan for operands that are all contiguous runs in the same order."""
    return Plan((numel(shape),), ((1,),) * operands, shape, out_strides)


def _loops(shape: Ints, operands: Sequence[Ints], order: Ints, out_strides: Ints) -> Plan:
    sizes, steps = coalesce(shape, operands, order)
    return Plan(sizes, steps, shape, out_strides)


def coalesce_others(shape: Ints, operands: Sequence[Ints], dim: int) -> tuple[Ints, tuple[Ints, ...]]:
    """Returns `coalesce` over all dims but `dim`, in their order."""
    return coalesce(shape, operands, [d for d in range(len(shape)) if d != dim])


def coalesce(shape: Ints, operands: Sequence[Ints], order: Sequence[int]) -> tuple[Ints, tuple[Ints, ...]]:
    """Returns (sizes, strides per operand) of the coalesced loop nest over the dims in `order`
    (outermost first).

    Adjacent loops merge if, for every operand, the outer stride equals inner size times inner
    stride. Loops of size 1 are dropped. Without loops, returns one loop of size 1; with a dim of
    size 0, one loop of size 0. The strides of these loops are 1, so that they count as linear.
    """
    sizes: list[int] = []
    columns: list[Ints] = []  # per loop: each operand's stride
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
    """Splits a loop nest into pieces that kernels can index with 32 bits.

    Returns (shape, offset per operand) of each piece; every element is in exactly one piece. A
    piece has at most `limit` elements, and an operand's offsets in a piece span at most `limit`.
    An empty loop nest has no pieces.
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
    """Returns the dim to cut: of the first operand whose span exceeds `limit`, the dim of largest
    span; else the longest dim if there are too many elements; None if the piece is small enough.
    """
    for steps in strides:
        reach = [(n - 1) * abs(step) for n, step in zip(shape, steps, strict=True)]
        if sum(reach) > limit:
            return reach.index(max(reach))
    return shape.index(max(shape)) if numel(shape) > limit else None


@dataclass(frozen=True)
class ReducePlan:
    """Loop nests of a reduction, with the strides of each operand.

    A plan holds no buffers, so callers can cache plans.
    """

    kept: Ints
    """Sizes of the loops over results, innermost last; (1,) for one result, (0,) for none."""
    kept_strides: tuple[Ints, ...]
    """Per operand, the output first: its stride in each kept loop."""
    reduced: Ints
    """Sizes of the loops over the elements of one result; (0,) for the identity alone."""
    reduced_strides: tuple[Ints, ...]
    """Per input: its stride in each reduced loop."""
    out_shape: Ints
    out_strides: Ints


def reduced_shape(shape: Ints, dims: Sequence[int], keepdim: bool) -> Ints:
    """Returns the shape of a reduction of `shape` over `dims`, which count from the front."""
    if keepdim:
        return tuple([1 if i in dims else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in dims])


def plan_reduce(
    shape: Ints,
    strides_per_input: Sequence[Ints],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    out: Geometry | None = None,
    reorder: bool = True,
) -> ReducePlan:
    """Returns the plan of a reduction over `dims` of inputs that are already broadcast to `shape`.

    `dims` None reduces all dims; an empty sequence reduces none. Raises IndexError for a dim out of
    range and RuntimeError for a repeated dim. A fresh result is contiguous, as in torch for every
    input layout. `out` is the shape and strides of a given output, which already has the result's
    shape. Kept loops follow the output's memory order. Reduced loops follow the inputs' memory
    order; with `reorder=False`, the elements of one result come in logical order (for argmax).
    """
    chosen = normalize_dims(dims, len(shape))
    out_shape = reduced_shape(shape, chosen, keepdim)
    if out is None:
        out_strides = contiguous_strides(out_shape)
    else:
        assert out[0] == out_shape, (out, out_shape)
        out_strides = out[1]

    kept_dims = [i for i in range(len(shape)) if i not in chosen]
    kept_shape = tuple([shape[i] for i in kept_dims])
    kept_inputs = [tuple([s[i] for i in kept_dims]) for s in strides_per_input]
    kept_out = tuple([out_strides[i] for i in kept_dims]) if keepdim else out_strides
    operands = [kept_out, *kept_inputs]
    kept, kept_strides = coalesce(kept_shape, operands, loop_order(kept_shape, operands))

    # A 0-d input has no dim, though 0 and -1 are accepted as if it had one.
    reduced_dims = [i for i in range(len(shape)) if i in chosen]
    inner_shape = tuple([shape[i] for i in reduced_dims])
    inner = [tuple([s[i] for i in reduced_dims]) for s in strides_per_input]
    order = loop_order(inner_shape, inner) if reorder else tuple(range(len(inner_shape)))
    reduced, reduced_strides = coalesce(inner_shape, inner, order)
    return ReducePlan(kept, kept_strides, reduced, reduced_strides, out_shape, out_strides)


# Rows and columns of a tile, in elements: a cache line of most dtypes.
TILE = 16
# The lines of a shorter row stay in a CPU's first cache until the next row.
LONG = 128
# Elements up to NEAR apart share a cache line; elements FAR or more apart share none.
NEAR, FAR = 4, 16


class Tile(NamedTuple):
    """Part of a loop nest: shape and strides, and the offset of each operand's first element (None:
    all 0)."""

    shape: Ints
    strides: tuple[Ints, ...]
    moved: Ints | None


def tiled(shape: Ints, strides: Sequence[Ints]) -> list[Tile]:
    """Returns the loop nest as tiles and remainders; unchanged if tiles gain nothing.

    Every element is in exactly one piece.
    """
    dim = _transposed_dim(shape, strides)
    if dim is None:
        return [Tile(shape, tuple(strides), None)]
    *outer, columns = shape
    rows = outer.pop(dim)
    inner_strides = [(*s[:dim], *s[dim + 1 : -1]) for s in strides]
    across, inner = [s[dim] for s in strides], [s[-1] for s in strides]
    high, wide = rows - rows % TILE, columns - columns % TILE
    pieces = [
        Tile(
            (*outer, wide // TILE, high // TILE, TILE, TILE),
            tuple((*s, TILE * b, TILE * a, a, b) for s, a, b in zip(inner_strides, across, inner)),
            None,
        )
    ]
    turned = tuple((*s, a, b) for s, a, b in zip(inner_strides, across, inner))
    if high < rows:
        below = tuple(high * a for a in across)
        pieces.append(Tile((*outer, rows - high, wide), turned, below))
    if wide < columns:
        right = tuple(wide * b for b in inner)
        pieces.append(Tile((*outer, rows, columns - wide), turned, right))
    return pieces


def _transposed_dim(shape: Ints, strides: Sequence[Ints]) -> int | None:
    """Returns an outer dim in which an operand with inner stride >= FAR has a stride <= NEAR; None
    if there is none."""
    if shape[-1] < LONG:
        return None
    for steps in strides:
        if abs(steps[-1]) >= FAR:
            for dim, (size, step) in enumerate(zip(shape[:-1], steps)):
                if size >= TILE and 0 < abs(step) <= NEAR:
                    return dim
    return None


Split = tuple[int, int]
"""A loop over part of a dim: (the dim, the elements of the dim per iteration)."""


class SharedLoops(NamedTuple):
    """Loops that two loop nests share: their sizes, and the part of a dim of each nest that each
    loop covers."""

    shape: Ints
    first: tuple[Split, ...]
    second: tuple[Split, ...]


def same_elements(shape: Ints, strides: Ints, other_shape: Ints, other_strides: Ints) -> SharedLoops | None:
    """Returns the loops in which both nests access the elements of one tensor in the same order,
    from the same first element; None if there are none.

    Nests that differ must visit each element once, with positive strides. `first` and `second` map
    each loop to part of a dim of the first and of the second nest.
    """
    if shape == other_shape and strides == other_strides:
        each = tuple([(d, 1) for d in range(len(shape))])
        return SharedLoops(shape, each, each)
    left, right = _by_stride(shape, strides), _by_stride(other_shape, other_strides)
    if any(dim[0] <= 0 for dim in left + right):
        return None
    sizes: list[int] = []
    first: list[Split] = []
    second: list[Split] = []
    # From the smallest stride outwards: the current dim of each nest, and its remaining elements.
    a = b = (0, 0, 0, 1)  # stride, dim, elements left, elements per iteration
    while True:
        if a[2] < 2:
            a = left.pop() if left else (0, 0, 1, 1)
        if b[2] < 2:
            b = right.pop() if right else (0, 0, 1, 1)
        if a[2] < 2 and b[2] < 2 and not left and not right:
            break
        if a[0] != b[0]:
            return None
        size = min(a[2], b[2])
        if size < 2 or a[2] % size or b[2] % size:
            return None
        sizes.append(size)
        first.append((a[1], a[3]))
        second.append((b[1], b[3]))
        a = (a[0] * size, a[1], a[2] // size, a[3] * size)
        b = (b[0] * size, b[1], b[2] // size, b[3] * size)
    return SharedLoops(tuple(sizes[::-1]), tuple(first[::-1]), tuple(second[::-1]))


def _by_stride(shape: Ints, strides: Ints) -> list[tuple[int, int, int, int]]:
    """Returns (stride, dim, size, 1) of each dim of size above 1, smallest stride last."""
    dims = [(s, d, n, 1) for d, (n, s) in enumerate(zip(shape, strides, strict=True)) if n > 1]
    return sorted(dims, key=lambda dim: -dim[0])


def split_strides(strides: Ints, split: Sequence[Split]) -> Ints:
    """Returns an operand's strides in the loops of `split`."""
    return tuple([strides[dim] * step for dim, step in split])


def loop_order(shape: Ints, operands: Sequence[Ints]) -> Ints:
    """Returns the dims from the outermost loop to the innermost, by falling stride (torch's rule).

    The first operand that distinguishes two dims decides; a stride of 0 does not distinguish. Dims
    that no operand distinguishes keep their logical order. A plain sort with this comparison does
    not ensure that order, hence the insertion sort.
    """
    order = list(range(len(shape) - 1, -1, -1))  # innermost first while sorting
    for i in range(1, len(order)):
        moving = i
        for j in range(i - 1, -1, -1):
            verdict = _compare(shape, operands, order[j], order[moving])
            if verdict > 0:
                order[j], order[moving] = order[moving], order[j]
                moving = j
            elif verdict < 0:
                break
    order.reverse()
    return tuple(order)


def _compare(shape: Ints, operands: Sequence[Ints], inner: int, outer: int) -> int:
    """Returns 1 if the dims should swap places, -1 if not, 0 if no operand distinguishes them."""
    for strides in operands:
        a, b = abs(strides[inner]), abs(strides[outer])
        if a == 0 or b == 0:
            continue
        if a != b:
            return 1 if a > b else -1
        if shape[inner] > shape[outer]:
            return 1
    return 0


def strides_in_order(shape: Ints, order: Ints) -> Ints:
    """Returns strides of a fresh tensor with memory order `order`, outermost dim first."""
    if order == tuple(range(len(shape))):
        return contiguous_strides(shape)
    strides = [0] * len(shape)
    step = 1
    for dim in reversed(order):
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def output_strides(shape: Ints, operands: Sequence[Ints], same_shape: bool = True) -> Ints:
    """Returns the strides of a pointwise op's fresh result, which keeps the operands' memory order
    (torch's rule).

    `operands` are strides already broadcast to `shape`. `same_shape` is False if an operand was
    broadcast, or if a Python scalar takes part: torch's code for these cases may treat dims of
    size 1 differently.
    """
    if same_shape:
        layout = common_layout(shape, operands)
        if layout is not None:
            return layout
    return strides_in_order(shape, loop_order(shape, operands))


def common_layout(shape: Ints, operands: Sequence[Ints]) -> Ints | None:
    """Returns the gapless strides that all operands share, which the result takes; else None."""
    if all(is_contiguous(shape, s) for s in operands):
        return contiguous_strides(shape)
    # torch checks only 4-d tensors here; 5-d tensors mostly share their strides anyway.
    if len(shape) == 4 and all(is_channels_last(shape, s) for s in operands):
        return channels_last_strides(shape)
    first = operands[0]
    if all(s == first for s in operands) and is_dense(shape, first):
        return first
    return None


def like_strides(shape: Ints, strides: Ints) -> Ints:
    """Returns the strides of a fresh tensor with the memory order of a tensor, as `empty_like`,
    `clone` and `to` need."""
    if is_dense(shape, strides):
        return strides
    return strides_in_order(shape, loop_order(shape, (strides,)))
