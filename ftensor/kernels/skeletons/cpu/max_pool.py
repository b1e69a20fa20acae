"""max_pool: maxima of windows, their indices, and the gradient (hls/skeleton/max_pool*.h)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Annotated, NamedTuple

from ....dtypes import dtype
from ...geometry import Geometry, ListField
from ...inventory_terms import KernelTarget
from ...key import EntryName, lanes_for
from ...skeleton import Parameter, Skeleton, register
from ...source import element_defines, element_helpers, element_type
from ...workload import Ints


class PlaneWindows(NamedTuple):
    """Windows without padding over `planes` contiguous planes. The other fields have one value per
    dim of a plane: sizes, counts of windows, and the parameters of the windows."""

    planes: int
    sizes: Ints
    counts: Ints
    kernel: Ints
    stride: Ints
    dilation: Ints

    @property
    def total(self) -> int:
        """Number of windows."""
        return self.planes * prod(self.counts)

    @property
    def follow(self) -> bool:
        """True if every element is in exactly one window, and each row of windows begins where the
        one before ends."""
        tiled = all(n == c * k for n, c, k in zip(self.sizes, self.counts, self.kernel))
        apart = self.stride == self.kernel and max(self.dilation) == 1
        return tiled and apart and prod(self.kernel[:-2]) == 1

    @property
    def lines(self) -> Ints:
        """Offsets of the lines of a window from the first line."""
        return self._walked(self.kernel, self.dilation)

    @property
    def begins(self) -> Ints:
        """Offset of each row of windows in a plane."""
        return self._walked(self.counts, self.stride)

    def _walked(self, counts: Ints, steps: Ints) -> Ints:
        rows = [prod(self.sizes[d:]) for d in range(1, len(self.sizes))]
        walk = product(*[range(count) for count in counts[:-1]])
        return tuple([sum(k * s * r for k, s, r in zip(at, steps, rows)) for at in walk])

    def geometry(self, key: MaxPoolKey) -> WindowsGeometry:
        """Returns the geometry buffer of a launch."""
        columns, firsts = self.counts[-1], self.begins
        entries = len(firsts)
        vectors = -(-columns // key.lanes) * self.planes * entries
        if key.row < key.lanes:
            first_elements = [begin + c * key.wide for begin in firsts for c in range(columns)]
            entries, vectors = len(first_elements), -(-self.total // key.lanes)
            firsts = (*first_elements, *[first_elements[k % entries] for k in range(key.lanes)])
        plane = prod(self.sizes)
        return WindowsGeometry(vectors, self.total, entries, columns, plane, self.lines, firsts)


@dataclass(frozen=True)
class WindowsGeometry(Geometry):
    """Geometry buffer of maxima in windows.

        items: vectors of windows
        entries: numbers in `firsts`
        columns: windows in a row
        plane: elements of a plane
        lines: offset of each line of a window from its first element
        firsts: offset of each row of windows in a plane

    If vectors span several rows, `firsts` has the offset of each window of a plane instead, and
    further entries for lanes that continue in the next planes.
    """

    items: int
    windows: int
    entries: int
    columns: int
    plane: int
    lines: Annotated[Ints, ListField("line_count", packed=False)]
    firsts: Annotated[Ints, ListField("")]


@dataclass(frozen=True)
class MaxPoolKey:
    """Key of a max_pool kernel: windows of `high` x `wide`, `row` windows of a vector in one
    row."""

    skeleton: str
    dtype: dtype
    lanes: int
    high: int
    wide: int
    row: int

    entry = EntryName("ft_{0.skeleton}_{0.dtype.name}_{0.high}x{0.wide}_{0.row}_{0.lanes}")


def max_pool_key(
    backward: bool, dtype: dtype, windows: PlaneWindows, target: KernelTarget, unaligned: bool
) -> MaxPoolKey:
    """Returns the key for `windows`. Lanes span windows of a row, or of several rows if the windows
    allow; devices without unaligned vectors get one lane."""
    full = lanes_for([dtype], dtype.compute, target.lanes_bytes) if unaligned else 1
    lanes, columns = 1, windows.counts[-1]
    rows_adjoin = windows.follow and columns & (columns - 1) == 0
    while lanes < full and 2 * lanes <= (windows.total if rows_adjoin else columns):
        lanes *= 2
    *high, wide = windows.kernel
    name = "max_pool_back" if backward else "max_pool"
    return MaxPoolKey(name, dtype, lanes, prod(high), wide, min(lanes, columns))


class MaxPool(Skeleton[MaxPoolKey]):
    """Maxima of windows, one vector of windows at a time; the kernel separates their elements in
    registers. `operands` maps the name of each pointer to True for outputs. Boards use another
    skeleton (`PoolSkeleton`)."""

    geometry = WindowsGeometry

    def __init__(self, name: str, operands: Mapping[str, bool]) -> None:
        self.name, self.written = name, operands

    def parameters(self, key: MaxPoolKey) -> tuple[Parameter, ...]:
        element = element_type(key.dtype)
        parameters: list[Parameter] = []
        for name, written in self.written.items():
            c_type = "long" if name == "places" else element
            parameters.append(("*", f"FT_GLOBAL {'' if written else 'const '}{c_type} *", name))
        parameters += [("long", "long ", f"{name}_offset") for name in self.written]
        return (*parameters, ("*", "const int *", "geometry"))

    def defines(self, key: MaxPoolKey) -> dict[str, object]:
        shape = {"FT_LINE_COUNT": key.high, "FT_LINE_SIZE": key.wide, "FT_ROW": key.row}
        return {**element_defines(key.dtype), **shape}

    def helpers(self, key: MaxPoolKey) -> list[str]:
        return [*element_helpers(key.dtype, []), "windows.h"]


register(MaxPool("max_pool", {"values": True, "places": True, "from": False}))
register(MaxPool("max_pool_back", {"input_grad": True, "grad": False, "places": False}))
