"""Fourier transforms as calls of a graph of stages: rows of complex numbers, a beat a cycle.

Butterflies are those of `fft_stream`, with the same roots, so that each number has the same bits;
how they stand is another matter. Numbers of a row whose places differ by half of it meet first.
Those are beats apart, so beats that lie DELAY apart exchange halves (`Course.delays`): then each
has both numbers of its butterflies, as many as half of the lanes. What is left is within a beat,
and at the end the numbers of a row are put into their order.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import dtype
from .element_function import ElementFunction
from .key import VALUE
from .workload import CYCLES, LocalMemory

# The longest row, as of `fft_stream`, and the lanes of a beat.
MOST_POINTS = 4096
FEWEST_LANES, MOST_LANES = 2, 8


@dataclass(frozen=True)
class RowTransform(ElementFunction):
    """The transform of a row, or the inverse one; its parameter, if it has any, is what the results
    are multiplied by. It is no function of an element and has no body."""

    inverse: bool = False

    @property
    def passed(self) -> dtype:
        """A real number."""
        return self.compute.to_real()

    @property
    def scaled(self) -> bool:
        """True if a parameter scales the results."""
        return bool(self.params)


def transform(of: dtype, inverse: bool, scaled: bool) -> RowTransform:
    """Returns the transform of rows of the complex dtype `of`."""
    name, pair, params = "ifft" if inverse else "fft", ((of, VALUE),), ("scale",) * scaled
    return RowTransform(name, of, pair, pair, (), params, inverse=inverse)


@dataclass(frozen=True)
class Course:
    """How rows of `points` go through a stage in beats of `lanes`."""

    points: int
    lanes: int

    @property
    def bits(self) -> int:
        """Bits of a beat's index within a row."""
        return (self.points // self.lanes).bit_length() - 1

    @property
    def delays(self) -> tuple[int, ...]:
        """How far beats are apart that exchange halves, time after time: the last one gives back
        to a beat what was its own first."""
        apart = [1 << k for k in range(self.bits)][::-1]
        return (*apart, *apart[:1])

    @property
    def behind(self) -> int:
        """Beats that have come in when the first one goes out, besides those in the operators."""
        return sum(self.delays) + (1 << self.bits)

    @property
    def roots(self) -> tuple[int, ...]:
        """Of each row of butterflies with roots of unity: for how many beats these differ."""
        return (*(2 << k for k in range(self.bits)[::-1]), 1)

    @property
    def near(self) -> tuple[int, ...]:
        """How many lanes are apart in the last butterflies, whose roots are 1 and -i."""
        return tuple(1 << k for k in range(self.lanes.bit_length() - 2))[::-1]

    @property
    def latency(self) -> int:
        """Latency of the operator chain in cycles."""
        of = CYCLES["float"]
        return len(self.roots) * (2 * of["add"] + of["mul"]) + len(self.near) * of["add"]

    def memories(self, bits: int) -> list[LocalMemory]:
        """Halves of beats that wait, a row that is put into its order while the next one comes in,
        and roots; numbers have so many bits."""
        half = self.lanes // 2
        memories = [LocalMemory(delay, bits, 2 * half) for delay in self.delays]
        memories.append(LocalMemory(2 << self.bits, bits, self.lanes))
        return memories + [LocalMemory(count, bits, half) for count in self.roots if count > 1]

    def operators(self, scaled: bool) -> dict[tuple[str, str], int]:
        """Returns the parallel operators, by (operator, C type)."""
        half, kind = self.lanes // 2, "float"
        times, plain = half * len(self.roots), half * len(self.near)
        return {("mul", kind): 4 * times + 2 * self.lanes * scaled, ("add", kind): 6 * times + 4 * plain}


def refusal(length: int, lanes: int) -> str:
    """Returns the reason why no dataflow stage transforms rows of `length`; "" if a stage does."""
    if length & (length - 1) or not lanes <= length <= MOST_POINTS:
        return f"it transforms {length} numbers, and stages take powers of two from {lanes} to {MOST_POINTS}"
    if not FEWEST_LANES <= lanes <= MOST_LANES:
        return f"it transforms {lanes} numbers a beat, and stages {FEWEST_LANES} to {MOST_LANES}"
    return ""
