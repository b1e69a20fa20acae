"""Convolutions of small planes on CPUs: which of them are read where they lie, and how."""

from __future__ import annotations

import itertools
from math import prod

from .._tensor import Tensor
from ..iterator.shape import Ints
from ..kernels.costs import PROCESSOR
from ..kernels.skeletons.conv import ConvKey, Part, Phase
from ..kernels.skeletons.conv.key import DEPTH
from ..kernels.skeletons.cpu.conv_depthwise import DepthwiseGeometry, depthwise_conv_key
from ..kernels.skeletons.cpu.conv_direct import PLANES, Copies, DirectConvGeometry, direct_conv_key
from .conv_plan import Class, Planes, padded_planes, three

# Weights that stay in a processor's caches while all samples meet them.
WEIGHTS = 1 << 16
# Planes of so few columns are no rows that vectors go along.
NARROW = 4
# Panels have at least so many filters; fewer are served by positions alone.
FILTERS = 4


def direct(
    out: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, result_classes: list[Class], stride: Ints, lies: bool
) -> tuple[ConvKey, DirectConvGeometry | DepthwiseGeometry] | None:
    """The kernel and what it is told, or None where planes and panels are packed instead: on
    devices that aren't CPUs, for planes that have no room near a processor, or where tiles fill
    better along them. Classes and strides are those of three dims; `lies`: packing takes nothing.
    """
    backend, dtype = out._storage.backend, out._dtype
    if not backend.target.processor:
        return None
    groups, filters, channels = weight._shape[:3]
    one, taps = result_classes[0], len(result_classes[0].taps)
    if not taps:  # results are the bias alone
        return None
    if dtype.compute is not dtype or len(result_classes) > 1 or filters * channels * taps > WEIGHTS:
        return None
    if x._shape[0] * groups < backend.units or [t.place for t in one.taps] != list(range(taps)):
        return None
    planes = padded_planes(x._shape, result_classes, stride, 1)
    if channels * planes.plane > PLANES:
        return None
    own = (*x._strides[:2], *three(x._strides[2:], 0))
    operand_strides = (
        (*own[:2], *[s * k for s, k in zip(own[2:], stride)]),
        weight._strides[:3],
        -1 if bias is None else bias._strides[0],
    )
    copied = phases(planes, three(x._shape[2:], 1), own[2:])
    offsets = tuple([planes.offset(t.beside, stride) for t in one.taps])
    results, rows = three(out._strides[2:], 0), planes.strides[2:4]
    if filters < FILTERS:
        if channels * taps > DEPTH:  # without totals that keep sums of many terms exact
            return None
        key = depthwise_conv_key(dtype, backend.target)
        if prod(one.counts) < key.lanes:
            return None
        last = [(n - 1) * s for n, s in zip(one.counts, planes.strides[2:])]
        return key, DepthwiseGeometry(
            x._shape[0] * groups, groups, filters, channels, sum(last) + 1, planes.plane, *operand_strides,
            (*out._strides[:2], *results), one.counts, rows, copied, offsets,
        )  # fmt: skip
    key = direct_conv_key(dtype, backend.target, filters)
    parts, along = copies(key.columns, one.counts, rows), in_line(results, one.counts)
    if along is None or not gains(key, filters, one, planes, parts, lies):
        return None
    panels = -(-filters // key.rows)
    most = min(key.block, panels)
    blocks = -(-panels // most)
    return key, DirectConvGeometry(
        x._shape[0] * groups * blocks, groups, blocks, most, filters, channels, prod(one.counts),
        planes.plane, *operand_strides, (*out._strides[:2], along), rows, copied, offsets, *parts,
    )  # fmt: skip


def gains(key: ConvKey, filters: int, one: Class, planes: Planes, parts: Copies, lies: bool) -> bool:
    """Whether tiles' products, and what is copied for each step of them, take less than those of
    packed planes, or as much with the packing."""
    costs = PROCESSOR.convolutions
    rows = -(-filters // key.rows) * key.rows
    lying = len(parts.ends) * (rows * costs.lying_row + parts.copies)
    tile = -(-filters // 6) * costs.packed_rows + costs.packed_tile
    packed = _packed_tiles(one.counts, planes, key.columns) * tile
    return lying <= packed + (0 if lies else costs.packed * planes.plane / len(one.taps))


def _packed_tiles(counts: Ints, planes: Planes, columns: int) -> int:
    """The tiles of a packed plane, along its rows or over all of it."""
    deep, high, width = counts
    if width <= NARROW:
        return -(-deep * high * width // columns)  # samples side by side
    pitch = planes.strides[3]
    return deep * min(high * -(-width // columns), -(-((high - 1) * pitch + width) // columns))


def in_line(strides: Ints, counts: Ints) -> int | None:
    """The step from each position to the next, all dims of a plane together; None if it varies."""
    step = None
    for s, n in zip(reversed(strides), reversed(counts)):
        if n == 1:
            continue
        if step is None:
            step, end = s, s
        if s != end:
            return None
        end = s * n
    return 1 if step is None else step


def _inside(part: Part, phase: int, size: int) -> tuple[int, int]:
    """The elements [begin, end) of a phase that lie within an input of a size."""
    begin = max(0, -(phase // part.stride))
    return begin, max(begin, min(part.size, -((phase - size) // part.stride)))


def phases(planes: Planes, sizes: Ints, own: Ints) -> tuple[Phase, ...]:
    """What of an input is copied to a plane."""
    pieces = []
    room = prod(p.size for p in planes.parts)
    for k, at in enumerate(itertools.product(*[p.phases for p in planes.parts])):
        seen = [_inside(p, f, n) for p, f, n in zip(planes.parts, at, sizes)]
        first = [f + b * p.stride for f, (b, _), p in zip(at, seen, planes.parts)]
        counts = [end - begin for begin, end in seen]
        if prod(counts):
            begin = sum(b * s for (b, _), s in zip(seen, planes.strides[2:]))
            at_first = sum(f * s for f, s in zip(first, own))
            pieces.append(Phase(at_first, k * room + begin, *counts))
    return tuple(pieces)


def copies(columns: int, counts: Ints, strides: Ints) -> Copies:
    """Each tile's positions as pieces of neighbours, of 4 or of 8."""
    deep, high, width = counts
    by_width = {}
    for wide in (4, 8):
        ends, places = [], []
        for begin in range(0, deep * high * width, columns):
            end, i = min(begin + columns, deep * high * width), begin
            while i < end:
                row, at = divmod(i, width)
                d, h = divmod(row, high)
                run = min(width - at, end - i)
                first = d * strides[0] + h * strides[1] + at
                places += [(i - begin + k, first + k) for k in range(0, run, wide)]
                i += run
            ends.append(len(places))
        by_width[wide] = Copies(wide, tuple(ends), tuple(places))
    return min(by_width.values(), key=lambda p: p.copies)
