"""What a convolution is made of: the taps that each result sums, how planes lie, which tiles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from .._tensor import Tensor
from ..iterator.shape import Ints
from ..kernels.costs import PROCESSOR
from ..kernels.skeletons.conv import ConvKey, Part


@dataclass(frozen=True)
class ConvWindows:
    """The windows of a convolution, each number for one dim. `transposed`: results lie so far apart
    that an element of the input feeds (a transposed convolution), else `stride` apart they read."""

    groups: int
    stride: Ints
    before: Ints
    dilation: Ints
    transposed: bool = False

    def near(self, kernel: Ints, places: Ints) -> ConvWindows:
        """The same with strides and dilations of 1 where there is one place or one element of a
        kernel: what is beyond them is never met, and may be more than a kernel can count."""
        stride = tuple([1 if n == 1 else s for n, s in zip(places, self.stride)])
        dilation = tuple([1 if n == 1 else d for n, d in zip(kernel, self.dilation)])
        return replace(self, stride=stride, dilation=dilation)

    def beside(self) -> ConvWindows:
        """The same with one more dim behind, in which nothing is summed."""
        return ConvWindows(self.groups, (*self.stride, 1), (*self.before, 0), (*self.dilation, 1), self.transposed)


@dataclass(frozen=True)
class Tap:
    """One element of a kernel: its place in a filter, and what it reads beside a result's place in
    the input, for each dim."""

    place: int
    beside: Ints


@dataclass(frozen=True)
class Class:
    """Results that sum the same taps: the first of them in each dim, how many, how far apart."""

    first: Ints
    counts: Ints
    step: Ints
    taps: tuple[Tap, ...]


def classes(weight: Tensor, counts: Ints, of: ConvWindows) -> list[Class]:
    """The results of a convolution, sorted by the taps they sum."""
    kernel, own = weight._shape[3:], weight._strides[3:]
    places = [(sum(k * s for k, s in zip(at, own)), at) for at in itertools.product(*[range(k) for k in kernel])]
    n = len(kernel)
    if not of.transposed:
        taps = tuple(Tap(p, tuple(k * d - b for k, d, b in zip(at, of.dilation, of.before))) for p, at in places)
        return [Class((0,) * n, counts, (1,) * n, taps)]
    result_classes = []
    for first in itertools.product(*[range(min(s, c)) for s, c in zip(of.stride, counts)]):
        # Result o sums element i by tap k, where o + before = stride * i + dilation * k.
        taps = tuple(
            Tap(p, tuple((o + b - d * k) // s for o, b, d, k, s in zip(first, of.before, of.dilation, at, of.stride)))
            for p, at in places
            if all((o + b - d * k) % s == 0 for o, b, d, k, s in zip(first, of.before, of.dilation, at, of.stride))
        )
        many = tuple(-(-(c - o) // s) for c, o, s in zip(counts, first, of.stride))
        result_classes.append(Class(first, many, of.stride, taps))
    return result_classes


def three(values: Sequence[int], fill: int) -> Ints:
    """The numbers of three dims."""
    return (*(fill,) * (3 - len(values)), *values)


@dataclass(frozen=True)
class Planes:
    """How the input lies for the kernel: strides (batch, channel, three dims), and each phase's
    place; of a packed one its parts and elements."""

    strides: Ints
    low: Ints
    parts: tuple[Part, ...] = ()
    plane: int = 0

    def offset(self, beside: Ints, stride: Ints) -> int:
        """Where a tap lies from a result's place on."""
        if not self.parts:
            return sum(b * s for b, s in zip(beside, self.strides[2:]))
        phase, at = 0, 0
        for b, low, part, s, step in zip(beside, self.low, self.parts, stride, self.strides[2:]):
            index, rest = divmod(b - low, s)
            phase = phase * len(part.phases) + part.phases.index(low + rest)
            at += index * step
        return phase * prod(p.size for p in self.parts) + at


def padded_planes(x: Ints, result_classes: Sequence[Class], stride: Ints, beat: int) -> Planes:
    """Planes with zeros around an input of this shape."""
    low, parts = [], []
    for d in range(3):
        beside = [t.beside[d] for c in result_classes for t in c.taps]
        start, s = min(beside, default=0), stride[d]
        reach = max((c.counts[d] - 1 + (t.beside[d] - start) // s for c in result_classes for t in c.taps), default=0)
        phases = sorted({(b - start) % s for b in beside} or {0})
        low.append(start)
        parts.append(Part(reach + 1, tuple(start + p for p in phases), s))
    _, high, width = [p.size for p in parts]
    plane = prod(p.size * len(p.phases) for p in parts)
    plane += -plane % beat
    strides = (x[1] * plane, plane, high * width, width, 1)
    return Planes(strides, tuple(low), tuple(parts), plane)


def lies_ready(x: Tensor, of: ConvWindows, result_classes: Sequence[Class], tile: int) -> bool:
    """Whether the kernel may read the input itself: no zeros around it, neighbours side by side,
    and no plane so small that a tile reaches beyond it."""
    if not x._storage.backend.target.unaligned or x._dtype.compute is not x._dtype:
        return False
    if of.transposed or max(of.stride) > 1 or max(of.before) > 0 or x._strides[-1] != 1:
        return False
    (one,) = result_classes
    reach = [max(t.beside[d] for t in one.taps) + one.counts[d] for d in range(len(one.counts))]
    return all(r <= m for r, m in zip(reach, x._shape[2:])) and one.counts[-1] >= 1 and tile > 0


def across_gains(key: ConvKey, x: Ints, filters: int, result_classes: Sequence[Class], stride: Ints) -> bool:
    """Whether an input of shape `x` takes less where its samples lie side by side, as tiles fill
    better, although elements that lie apart are packed then. The first of three dims is 1."""
    batch, channels = x[:2]
    if batch == 1:
        return False
    across = [
        replace(
            c,
            counts=(*c.counts[1:], batch),
            step=(*c.step[1:], 1),
            taps=tuple([Tap(t.place, (*t.beside[1:], 0)) for t in c.taps]),
        )
        for c in result_classes
    ]
    costs, panels = PROCESSOR.convolutions, -(-filters // key.rows)

    def cost(classes: Sequence[Class], stride: Ints, samples: int, element: float) -> float:
        """In products of a vector, where an element takes so many to be packed."""
        planes, count = padded_planes(x, classes, stride, 1), 0
        for c in classes:
            t = tiling(key, planes, c, False, (0, 0, 0))
            assert t is not None
            tiles = samples * prod([c.counts[d] for d in t.outside]) * t.tiles(key)
            count += tiles * panels * channels * len(c.taps) * key.rows * key.vectors
        rows = planes.plane // planes.parts[-1].size
        return count + samples * channels * (element * planes.plane + costs.packed_row * rows)

    beside = cost(across, (*stride[1:], 1), 1, costs.apart)
    return beside < cost(result_classes, stride, batch, costs.packed)


@dataclass(frozen=True)
class Tiling:
    """Positions of a plane, or of each of its rows: those that a tile counts, how many lie in a
    row, which have results, rows of a plane and those with results, and the dims outside."""

    positions: int
    pitch: int
    width: int
    middle: int
    high: int
    outside: tuple[int, ...]  # of the three dims

    def tiles(self, key: ConvKey) -> int:
        """Tiles of each."""
        return -(-self.positions // key.columns)


def tiling(key: ConvKey, planes: Planes, one: Class, lies: bool, out: Ints) -> Tiling | None:
    """Whether tiles go along rows or over whole planes, the elements between results included;
    None where all would reach beyond an input that is read where it lies."""
    deep, high, width = one.counts
    _, _, along, pitch, _ = planes.strides
    rows = Tiling(width, width, width, 1, 1, (0, 1))
    choices = [rows]
    if pitch >= width and (deep == 1 or along % max(pitch, 1) == 0):
        middle = along // pitch if deep > 1 else high
        if middle >= high:
            count = ((deep - 1) * middle + high - 1) * pitch + width
            apart = (*([along] if deep > 1 else []), pitch, 1)
            if (pitch, middle) == (width, high) and out[-len(apart) :] == apart:
                choices.append(Tiling(count, count, count, 1, 1, ()))  # one row of all
            else:
                choices.append(Tiling(count, pitch, width, middle, high, ()))
    if lies:
        choices = [c for c in choices if c.positions >= key.columns]
    if not choices:
        return None

    def cost(t: Tiling) -> float:
        runs = prod(one.counts[d] for d in t.outside)
        return runs * t.tiles(key) * (1.0 if t.outside else PROCESSOR.convolutions.whole_planes)

    return min(choices, key=cost)
