"""fft: discrete Fourier transforms of rows of complex numbers (hls/skeleton/fft.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...dtypes import dtype
from .. import ctype
from ..key import lanes_for
from ..skeleton import Parameter, Skeleton, register
from ..words import Asked, Record, Target, table_lines
from ..work import Access, Ints, Launch, Loop

# Radices whose butterflies are written out, in the order in which a length is divided by them.
# Powers of two come first, so that all later passes have whole vectors.
RADICES = (8, 4, 2, 3, 5)
# The largest prime that a pass takes as its radix.
MOST_RADIX = 61


@dataclass(frozen=True)
class FftKey:
    """One kernel for all lengths of a complex dtype."""

    dtype: dtype
    lanes: int
    skeleton = "fft"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_fft_{self.dtype.name}_{self.lanes}"


def fft_key(of: dtype, target: Target) -> FftKey:
    """The kernel for a complex dtype: one lane where a vector cannot begin at any element."""
    unaligned = getattr(target, "unaligned", False)
    return FftKey(of, lanes_for([of], of, target.lanes_bytes) if unaligned else 1)


class Pass(NamedTuple):
    """One pass: its radix, the length of the transforms before it, where its roots begin, and the
    vectors of a row."""

    radix: int
    length: int
    roots: int
    vectors: int


class FftGeometry(NamedTuple):
    """What a launch is told. `ends`: bits, see hls/fft.h."""

    rows: int
    pieces: int
    n: int
    ends: int
    passes: tuple[Pass, ...]

    def pack(self) -> Ints:
        """The numbers that the kernel gets."""
        each = (number for one in self.passes for number in one)
        return (self.rows, self.pieces, self.n, self.ends, len(self.passes), *each)

    @classmethod
    def read(cls, g: Ints) -> FftGeometry:
        """From the numbers that the kernel gets."""
        rows, pieces, n, ends, count = g[:5]
        passes = tuple(Pass(*g[5 + 4 * p : 9 + 4 * p]) for p in range(count))
        return cls(rows, pieces, n, ends, passes)


def radices(n: int) -> Ints | None:
    """The radices of a length's passes; None where a prime factor is too large for one."""
    found: list[int] = []
    rest = n
    for r in (*RADICES, *range(7, MOST_RADIX + 1, 2)):
        while rest % r == 0:
            found.append(r)
            rest //= r
    return tuple(found) if rest == 1 else None


def passes_of(n: int, lanes: int) -> tuple[Pass, ...] | None:
    """The passes of a length; None where a prime factor is too large."""
    chosen = radices(n)
    if chosen is None:
        return None
    made, length, at = [], 1, 0
    for r in chosen:
        across = n // r if length == 1 else length
        made.append(Pass(r, length, at, n // r // across * -(-across // lanes)))
        at += roots_in(r, length)
        length *= r
    return tuple(made)


def roots_in(radix: int, length: int) -> int:
    """How many roots of unity a pass reads."""
    return (radix - 1) * length * (length > 1) + (radix not in RADICES) * radix


class Fft(Skeleton[FftKey]):
    """All passes of a row in one launch, or one of them."""

    name = word = "fft"

    def parameters(self, key: FftKey) -> tuple[Parameter, ...]:
        """Results, rows, roots, memory between passes, what results are scaled by."""
        real = ctype.scalar(key.dtype)
        return (
            ("*", f"{real} *", "out"),
            ("*", f"const {real} *", "in"),
            ("*", f"const {real} *", "roots"),
            ("*", f"{real} *", "scratch"),
            ("long", "long ", "out_offset"),
            ("long", "long ", "in_offset"),
            ("long", "long ", "roots_offset"),
            (real, f"{real} ", "scale"),
            ("*", "const int *", "geometry"),
        )

    def defines(self, key: FftKey) -> dict[str, object]:
        """The largest radix."""
        return {"FT_MOST_RADIX": MOST_RADIX}

    def helpers(self, key: FftKey) -> list[str]:
        """The butterflies."""
        return ["math.h", "complex.h", "fft.h"]

    def record(self, key: FftKey) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, (of,), (of,), "", of)

    def keys(self, asked: Asked) -> Iterator[FftKey]:
        """One for each complex dtype."""
        for of in asked.dtypes:
            if of.is_complex:
                yield fft_key(of, asked.target)

    def lines(self, key: FftKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """One for each pass."""
        g = FftGeometry.read(launch.geometry)
        begin, end = launch.slab(g.rows * g.pieces, unit)
        share = (end - begin) / g.pieces
        # Each vector's numbers are read and written one by one, through one port each.
        return [
            Loop(f"pass {p.radix}", int(p.vectors * share), end - begin, p.radix) for p in g.passes
        ]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Every pass reads and writes the row; between passes it lies in scratch memory."""
        g, size = FftGeometry.read(launch.geometry), launch.key.dtype.itemsize
        count = g.rows * g.n
        moved, between = count * size, count * (len(g.passes) - 1)
        roots = sum(roots_in(p.radix, p.length) for p in g.passes)
        return [
            Access("out", True, moved, count, launch.key.lanes, moved),
            Access("in", False, moved, count, launch.key.lanes, moved),
            Access("roots", False, roots * g.rows * size, roots * g.rows, 1, roots * size),
            Access("scratch", True, 2 * between * size, 2 * between, launch.key.lanes, 0),
        ]

    def extent(self, launch: Launch) -> str:
        """Rows and their length."""
        g = FftGeometry.read(launch.geometry)
        return f"{g.rows}x{g.n}"


register(Fft())
