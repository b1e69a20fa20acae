"""Plans of convolutions: taps, plane layouts, tiles, and the gradients of small weights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from .._tensor import Tensor
from ..iterator.shape import Ints
from ..kernels.select import PROCESSOR
from ..kernels.skeletons.conv import ConvKey, Phase, PhasePart
from ..kernels.skeletons.conv.key import DEPTH
from ..kernels.skeletons.cpu.conv import (
    PLANES,
    ROWS,
    STEPS,
    ConvWeightGeometry,
    DepthwiseGeometry,
    DirectConvGeometry,
    TileCopies,
    conv_weight_key,
    depthwise_conv_key,
    direct_conv_key,
)
from . import output
from .dispatch import try_run
from .launch import Launch, Output, Step

if TYPE_CHECKING:
    from ..dtypes import dtype
    from ..runtime.targets import Target


@dataclass(frozen=True)
class ConvWindows:
    """The windows of a convolution, a number per dim. `stride` is the distance of the windows in
    the input; if `transposed`, the distance of the results that consecutive input elements feed."""

    groups: int
    stride: Ints
    before: Ints
    dilation: Ints
    transposed: bool = False

    def normalized(self, kernel: Ints, sizes: Ints) -> ConvWindows:
        """Returns the windows with stride 1 in dims with one result, and dilation 1 in dims with
        one kernel element. These numbers have no effect there, and may exceed the kernel's
        counters."""
        stride = tuple([1 if n == 1 else s for n, s in zip(sizes, self.stride)])
        dilation = tuple([1 if n == 1 else d for n, d in zip(kernel, self.dilation)])
        return replace(self, stride=stride, dilation=dilation)

    def with_batch_dim(self) -> ConvWindows:
        """Returns the windows with one more last dim, of kernel size 1."""
        return ConvWindows(self.groups, (*self.stride, 1), (*self.before, 0), (*self.dilation, 1), self.transposed)


@dataclass(frozen=True)
class Tap:
    """An element of a filter: its offset there, and for each dim the distance from a result's
    position to the input element that it multiplies."""

    filter_offset: int
    distance: Ints


@dataclass(frozen=True)
class TapGroup:
    """Results that sum the same taps: the first position, their number and their step in each
    dim."""

    first: Ints
    counts: Ints
    step: Ints
    taps: tuple[Tap, ...]


def group_by_taps(weight: Tensor, counts: Ints, windows: ConvWindows) -> list[TapGroup]:
    """Returns the results of a convolution, grouped by the taps that they sum: one group, or for a
    transposed convolution a group for each residue of the stride. `counts` is the number of results
    per dim."""
    kernel, strides = weight._shape[3:], weight._strides[3:]
    elements = [(sum(k * s for k, s in zip(at, strides)), at) for at in itertools.product(*[range(k) for k in kernel])]
    n = len(kernel)
    if not windows.transposed:
        taps = tuple(
            Tap(p, tuple(k * d - b for k, d, b in zip(at, windows.dilation, windows.before))) for p, at in elements
        )
        return [TapGroup((0,) * n, counts, (1,) * n, taps)]
    tap_groups = []
    for first in itertools.product(*[range(min(s, c)) for s, c in zip(windows.stride, counts)]):
        # Result o sums element i by tap k, where o + before = stride * i + dilation * k.
        dims = list(zip(first, windows.before, windows.dilation, windows.stride))
        sums = [(p, [(o + b - d * k, s) for (o, b, d, s), k in zip(dims, at)]) for p, at in elements]
        taps = tuple(
            Tap(p, tuple(x // s for x, s in per_dim)) for p, per_dim in sums if not any(x % s for x, s in per_dim)
        )
        group_counts = tuple(-(-(c - o) // s) for c, o, s in zip(counts, first, windows.stride))
        tap_groups.append(TapGroup(first, group_counts, windows.stride, taps))
    return tap_groups


def three(values: Sequence[int], fill: int) -> Ints:
    """Returns the numbers padded in front to three dims."""
    return (*(fill,) * (3 - len(values)), *values)


@dataclass(frozen=True)
class Planes:
    """The layout of the input as the kernel reads it: `strides` of batch, channel and three dims,
    and the lowest position in each dim. A packed layout also has the parts of a plane and its
    number of elements."""

    strides: Ints
    low: Ints
    parts: tuple[PhasePart, ...] = ()
    plane: int = 0

    def offset(self, offsets: Ints, stride: Ints) -> int:
        """Returns the offset in elements from a result's position to a tap's input element."""
        if not self.parts:
            return sum(b * s for b, s in zip(offsets, self.strides[2:]))
        phase, at = 0, 0
        for b, low, part, s, step in zip(offsets, self.low, self.parts, stride, self.strides[2:]):
            index, rest = divmod(b - low, s)
            phase = phase * len(part.phases) + part.phases.index(low + rest)
            at += index * step
        return phase * prod(p.size for p in self.parts) + at


def padded_planes(x: Ints, tap_groups: Sequence[TapGroup], stride: Ints, beat: int) -> Planes:
    """Returns the layout of packed planes, zero-padded, for an input of this shape."""
    low, parts = [], []
    for d in range(3):
        offsets = [t.distance[d] for c in tap_groups for t in c.taps]
        start, s = min(offsets, default=0), stride[d]
        reach = max((c.counts[d] - 1 + (t.distance[d] - start) // s for c in tap_groups for t in c.taps), default=0)
        phases = sorted({(b - start) % s for b in offsets} or {0})
        low.append(start)
        parts.append(PhasePart(reach + 1, tuple(start + p for p in phases), s))
    _, high, width = [p.size for p in parts]
    plane = prod(p.size * len(p.phases) for p in parts)
    plane += -plane % beat
    strides = (x[1] * plane, plane, high * width, width, 1)
    return Planes(strides, tuple(low), tuple(parts), plane)


def reads_in_place(x: Tensor, windows: ConvWindows, tap_groups: Sequence[TapGroup], tile: int) -> bool:
    """True if the kernel may read the input without packing: no padding, contiguous rows, and no
    tap that reaches beyond the input."""
    if x._storage.backend.target.is_board or x._dtype.compute is not x._dtype:
        return False
    if windows.transposed or max(windows.stride) > 1 or max(windows.before) > 0 or x._strides[-1] != 1:
        return False
    (tap_group,) = tap_groups
    reach = [max(t.distance[d] for t in tap_group.taps) + tap_group.counts[d] for d in range(len(tap_group.counts))]
    return all(r <= m for r, m in zip(reach, x._shape[2:])) and tap_group.counts[-1] >= 1 and tile > 0


def batch_vectors_are_cheaper(
    key: ConvKey, x: Ints, filters: int, tap_groups: Sequence[TapGroup], stride: Ints
) -> bool:
    """True if an input of shape `x` takes less time with its batch as the last dim: tiles fill
    better, but packing reads with a stride. The first of three dims is 1."""
    batch, channels = x[:2]
    if batch == 1:
        return False
    batch_groups = [
        replace(
            c,
            counts=(*c.counts[1:], batch),
            step=(*c.step[1:], 1),
            taps=tuple([Tap(t.filter_offset, (*t.distance[1:], 0)) for t in c.taps]),
        )
        for c in tap_groups
    ]
    costs, panels = PROCESSOR.convolutions, -(-filters // key.rows)

    def cost(classes: Sequence[TapGroup], stride: Ints, samples: int, element: float) -> float:
        """Returns the cost in vector products; `element` is the cost to pack an element."""
        planes, count = padded_planes(x, classes, stride, 1), 0
        for c in classes:
            t = tiling(key, planes, c, False, (0, 0, 0))
            assert t is not None
            tiles = samples * prod([c.counts[d] for d in t.outside]) * t.tiles(key)
            count += tiles * panels * channels * len(c.taps) * key.rows * key.vectors
        rows = planes.plane // planes.parts[-1].size
        return count + samples * channels * (element * planes.plane + costs.packed_row * rows)

    batch_cost = cost(batch_groups, (*stride[1:], 1), 1, costs.apart)
    return batch_cost < cost(tap_groups, stride, batch, costs.packed)


@dataclass(frozen=True)
class Tiling:
    """How the results of a convolution are divided into tiles, over whole planes or row by row.

    A tile has `positions`. A row has `pitch` positions, of which `width` have results. A plane has
    `middle` rows, of which `high` have results. `outside` are the dims that no tile spans."""

    positions: int
    pitch: int
    width: int
    middle: int
    high: int
    outside: tuple[int, ...]  # of the three dims

    def tiles(self, key: ConvKey) -> int:
        """Returns the number of tiles per plane or row."""
        return -(-self.positions // key.columns)


def tiling(key: ConvKey, planes: Planes, tap_group: TapGroup, in_place: bool, out: Ints) -> Tiling | None:
    """Returns the cheaper tiling: along rows, or over whole planes with the gaps between results.
    Returns None if all tiles would reach beyond an input that is read in place."""
    deep, high, width = tap_group.counts
    _, _, along, pitch, _ = planes.strides
    rows = Tiling(width, width, width, 1, 1, (0, 1))
    choices = [rows]
    if pitch >= width and (deep == 1 or along % max(pitch, 1) == 0):
        middle = along // pitch if deep > 1 else high
        if middle >= high:
            count = ((deep - 1) * middle + high - 1) * pitch + width
            plane_strides = (*([along] if deep > 1 else []), pitch, 1)
            if (pitch, middle) == (width, high) and out[-len(plane_strides) :] == plane_strides:
                choices.append(Tiling(count, count, count, 1, 1, ()))  # all positions as one row
            else:
                choices.append(Tiling(count, pitch, width, middle, high, ()))
    if in_place:
        choices = [c for c in choices if c.positions >= key.columns]
    if not choices:
        return None

    def cost(t: Tiling) -> float:
        runs = prod(tap_group.counts[d] for d in t.outside)
        return runs * t.tiles(key) * (1.0 if t.outside else PROCESSOR.convolutions.whole_planes)

    return min(choices, key=cost)


# Limit of weights that stay in a CPU's caches while all samples use them.
WEIGHTS = 1 << 16
# Planes with at most this number of columns are too narrow for vectors along rows.
NARROW = 4
# The fewest filters of a panel; with fewer filters a kernel vectorizes over positions alone.
FILTERS = 4


def direct(
    out: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    tap_groups: list[TapGroup],
    stride: Ints,
    in_place: bool,
) -> tuple[ConvKey, DirectConvGeometry | DepthwiseGeometry] | None:
    """Returns the key and geometry of a kernel that reads its operands in place. Returns None if
    packing is better: on devices other than CPUs, for planes that exceed the local buffer, and if
    tiles fill packed planes better.

    Positions and strides have three dims. `in_place` means that the packed kernel could read `x`
    without a copy, so that packing costs nothing.
    """
    backend, dtype = out._storage.backend, out._dtype
    if not backend.target.processor:
        return None
    groups, filters, channels = weight._shape[:3]
    tap_group, taps = tap_groups[0], len(tap_groups[0].taps)
    if not taps:  # the results are the bias
        return None
    if dtype.compute is not dtype or len(tap_groups) > 1 or filters * channels * taps > WEIGHTS:
        return None
    if x._shape[0] * groups < backend.units or [t.filter_offset for t in tap_group.taps] != list(range(taps)):
        return None
    planes = padded_planes(x._shape, tap_groups, stride, 1)
    if channels * planes.plane > PLANES:
        return None
    x_strides = (*x._strides[:2], *three(x._strides[2:], 0))
    operand_strides = (
        (*x_strides[:2], *[s * k for s, k in zip(x_strides[2:], stride)]),
        weight._strides[:3],
        -1 if bias is None else bias._strides[0],
    )
    copied = phases(planes, three(x._shape[2:], 1), x_strides[2:])
    offsets = tuple([planes.offset(t.distance, stride) for t in tap_group.taps])
    results, rows = three(out._strides[2:], 0), planes.strides[2:4]
    if filters < FILTERS:
        if channels * taps > DEPTH:  # the kernel has no totals, which keep long sums accurate
            return None
        key = depthwise_conv_key(dtype, backend.target)
        if prod(tap_group.counts) < key.lanes:
            return None
        last = [(n - 1) * s for n, s in zip(tap_group.counts, planes.strides[2:])]
        return key, DepthwiseGeometry(
            x._shape[0] * groups, groups, filters, channels, sum(last) + 1, planes.plane, *operand_strides,
            (*out._strides[:2], *results), tap_group.counts, rows, copied, offsets,
        )  # fmt: skip
    key = direct_conv_key(dtype, backend.target, filters)
    parts, out_step = copies(key.columns, tap_group.counts, rows), in_line(results, tap_group.counts)
    if out_step is None or not direct_is_cheaper(key, filters, tap_group, planes, parts, in_place):
        return None
    panels = -(-filters // key.rows)
    block_panels = min(key.block, panels)
    blocks = -(-panels // block_panels)
    return key, DirectConvGeometry(
        x._shape[0] * groups * blocks, groups, blocks, block_panels, filters, channels, prod(tap_group.counts),
        planes.plane, *operand_strides, (*out._strides[:2], out_step), rows, copied, offsets, *parts,
    )  # fmt: skip


def direct_is_cheaper(
    key: ConvKey, filters: int, tap_group: TapGroup, planes: Planes, parts: TileCopies, in_place: bool
) -> bool:
    """True if the tiles' products and copies cost at most as much as those of packed planes,
    packing included."""
    costs = PROCESSOR.convolutions
    rows = -(-filters // key.rows) * key.rows
    lying = len(parts.ends) * (rows * costs.lying_row + parts.copies)
    tile = -(-filters // 6) * costs.packed_rows + costs.packed_tile
    packed = _packed_tiles(tap_group.counts, planes, key.columns) * tile
    return lying <= packed + (0 if in_place else costs.packed * planes.plane / len(tap_group.taps))


def _packed_tiles(counts: Ints, planes: Planes, columns: int) -> int:
    """Returns the number of tiles of a packed plane, along its rows or over the whole plane."""
    deep, high, width = counts
    if width <= NARROW:
        return -(-deep * high * width // columns)  # samples side by side
    pitch = planes.strides[3]
    return deep * min(high * -(-width // columns), -(-((high - 1) * pitch + width) // columns))


def in_line(strides: Ints, counts: Ints) -> int | None:
    """Returns the constant step between consecutive positions over all dims of a plane; None if the
    step varies."""
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


def _inside(part: PhasePart, phase: int, size: int) -> tuple[int, int]:
    """Returns the range [begin, end) of a phase's elements that are not padding, for one input dim."""
    begin = max(0, -(phase // part.stride))
    return begin, max(begin, min(part.size, -((phase - size) // part.stride)))


def phases(planes: Planes, sizes: Ints, strides: Ints) -> tuple[Phase, ...]:
    """Returns, for each non-empty phase of the planes, the block of the input that is copied to it."""
    pieces = []
    room = prod(p.size for p in planes.parts)
    for k, at in enumerate(itertools.product(*[p.phases for p in planes.parts])):
        seen = [_inside(p, f, n) for p, f, n in zip(planes.parts, at, sizes)]
        first = [f + b * p.stride for f, (b, _), p in zip(at, seen, planes.parts)]
        counts = [end - begin for begin, end in seen]
        if prod(counts):
            begin = sum(b * s for (b, _), s in zip(seen, planes.strides[2:]))
            at_first = sum(f * s for f, s in zip(first, strides))
            pieces.append(Phase(at_first, k * room + begin, *counts))
    return tuple(pieces)


def copies(columns: int, counts: Ints, strides: Ints) -> TileCopies:
    """Returns the copies that fill each tile with the input elements at its positions: in pieces of
    4 or of 8 contiguous elements, whichever is cheaper."""
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
        by_width[wide] = TileCopies(wide, tuple(ends), tuple(places))
    return min(by_width.values(), key=lambda p: p.copies)


OUT, BIAS, GRAD, X = range(4)
# The number of terms that cost about as much as a streamed element.
TERMS = 8
# With fewer filters, most sums of a vector are unused.
WEIGHT_FILTERS = 6
# The cost of transposing the gradients of a part, in rows.
TURNED = 6


class WeightGradientCase(NamedTuple):
    """The parameters on which the plan of a gradient depends."""

    grad: tuple[Ints, Ints]  # shape, strides
    x: tuple[Ints, Ints]
    weight: Ints
    windows: ConvWindows
    bias: bool


def weight_gradients(
    grad: Tensor, x: Tensor, weight: Ints, windows: ConvWindows, bias: bool
) -> tuple[Tensor, Tensor | None] | None:
    """Returns the gradients of a convolution's weight (O, C / groups, *kernel) and bias (O,), from
    the gradient (N, O, *counts) of its result. Returns None if no small-plane kernel fits. If
    compute units share the samples, the gradients have a leading dim that the caller sums."""
    key, args = ("conv_weight", grad._key, x._key, weight, windows, bias), (grad, x, weight, windows, bias)
    gradients = try_run(x._storage.backend, key, prepare, weight_gradients, args, (grad, x))
    return None if gradients is None else (gradients[0], gradients[1] if bias else None)


@lru_cache(1 << 12)
def plan(
    target: Target, units: int, dtype: dtype, case: WeightGradientCase
) -> tuple[ConvKey, ConvWeightGeometry] | None:
    """Returns the kernel key and the geometry buffer for the gradient of a weight. Returns None if
    a sample's planes exceed the local buffer, or if most lanes of a vector of filters would be
    empty."""
    (shape, grad_strides), (x, x_strides), groups = case.grad, case.x, case.windows.groups
    windows = case.windows.normalized(case.weight[2:], shape[2:])
    channels, counts = x[1] // groups, three(shape[2:], 1)
    kernel = case.weight[2:]
    filters, rows = shape[1] // groups, channels * prod(kernel)
    if filters < WEIGHT_FILTERS or not prod(shape) * prod(x) * rows:
        return None
    if in_line(three(grad_strides[2:], 0), counts) != 1:
        return None
    distances = [
        tuple(k * d - b for k, d, b in zip(at, windows.dilation, windows.before))
        for at in itertools.product(*map(range, kernel))
    ]
    taps = tuple(Tap(k, three(distance, 0)) for k, distance in enumerate(distances))
    stride = three(windows.stride, 1)
    planes = padded_planes(x, [TapGroup((0, 0, 0), counts, (1, 1, 1), taps)], stride, 1)
    if channels * planes.plane > PLANES:
        return None
    key = conv_weight_key(dtype, target, rows)
    vectors, panels = -(-filters // key.lanes), -(-rows // key.rows)
    base, samples = groups * vectors, shape[0]
    # Parts of the rows, enough for all compute units if the samples have few shares.
    least = -(-panels // (ROWS // key.rows))
    parts = min(
        range(least, max(panels, least) + 1),
        key=lambda p: -(-base * p // units) * (-(-panels // p) * key.rows + TURNED),
    )
    part_panels = -(-panels // parts)
    parts = -(-panels // part_panels)
    shares = max(1, min(units // (base * parts), samples // 8))
    panel_elements = min(channels, (part_panels * key.rows - 1) // len(taps) + 2) * planes.plane
    positions = prod(counts)
    block_samples = max(1, min(STEPS // positions, PLANES // panel_elements, samples))
    x_steps, sizes = three(x_strides[2:], 0), three(x[2:], 1)
    _, high, wide = counts
    return key, ConvWeightGeometry(
        base * parts * shares, groups, vectors, parts, shares, part_panels, rows, filters, channels,
        samples, block_samples, planes.plane,
        (*x_strides[:2], *[s * k for s, k in zip(x_steps, stride)]), grad_strides[:2], planes.strides[2:4],
        case.bias, phases(planes, sizes, x_steps),
        tuple([planes.offset(t.distance, stride) for t in taps]),
        tuple([
            p // wide // high * planes.strides[2] + p // wide % high * planes.strides[3] + p % wide
            for p in range(positions)
        ]),
    )  # fmt: skip


def prepare(grad: Tensor, x: Tensor, weight: Ints, windows: ConvWindows, bias: bool) -> Launch | None:
    """Returns the launch, or None if no small-plane kernel fits. Each share of the samples has its
    own results."""
    backend, dtype = x._storage.backend, x._dtype
    if not backend.target.processor or dtype.kind != "f":
        return None
    if dtype.compute is not dtype or grad._dtype is not dtype:
        return None
    case = WeightGradientCase((grad._shape, grad._strides), (x._shape, x._strides), weight, windows, bias)
    planned = plan(backend.target, backend.units, dtype, case)
    if planned is None:
        return None
    key, g = planned
    terms = g.samples * len(g.places) * g.groups * g.filters * g.rows // TERMS
    units = max(1, min(backend.units, terms // backend.target.unit_elements, g.items))
    step = Step(key, units, (OUT, BIAS, GRAD, X), (GRAD, X), scalars=False, geometry=g.pack(), work=terms)
    lead = () if g.shares == 1 else (g.shares,)
    outputs = [
        Output(dtype, shape, output.contiguous_strides(shape)) for shape in ((*lead, *weight), (*lead, weight[0]))
    ]
    return Launch((step,), 4, tuple(outputs))
