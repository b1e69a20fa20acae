"""Row transforms: Fourier transforms of rows as dataflow stages, and their beat schedule."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import dtype
from .element_function import ElementFunction
from .key import VALUE
from .workload import CYCLES, LocalMemory

# The longest row, as for `fft_stream`, and the lanes of a beat.
MAX_POINTS = 4096
MIN_LANES, MAX_LANES = 2, 8


@dataclass(frozen=True)
class RowTransform(ElementFunction):
    """Fourier transform of a row, or the inverse transform. An optional parameter scales the
    results. The body is empty, since a result depends on all elements. With `half`, elements are
    real, and only the first `half_of` results leave the kernel."""

    inverse: bool = False
    half: bool = False

    @property
    def passed(self) -> dtype:
        return self.compute.to_real()

    @property
    def scaled(self) -> bool:
        """True if a parameter scales the results."""
        return bool(self.params)


def row_transform(dtype: dtype, inverse: bool, scaled: bool, half: bool = False) -> RowTransform:
    """Returns the transform of rows of the complex dtype `dtype`; with `half`, of real rows."""
    name, pair, params = "ifft" if inverse else "rfft" if half else "fft", ((dtype, VALUE),), ("scale",) * scaled
    ins = ((dtype.to_real(), VALUE),) if half else pair
    return RowTransform(name, dtype, pair, ins, (), params, inverse=inverse, half=half)


def half_of(length: int) -> int:
    """Returns how many numbers half a spectrum of `length` real numbers has."""
    return length // 2 + 1


@dataclass(frozen=True)
class TransformSchedule:
    """Schedule of rows of `points` elements through a stage, in beats of `lanes`."""

    points: int
    lanes: int

    @property
    def beat_bits(self) -> int:
        """Bits of a beat's index within a row."""
        return (self.points // self.lanes).bit_length() - 1

    @property
    def delays(self) -> tuple[int, ...]:
        """Distance in beats of each exchange of halves. The last exchange returns to each beat the
        half that the first exchange moved away."""
        distances = [1 << k for k in range(self.beat_bits)][::-1]
        return (*distances, *distances[:1])

    @property
    def startup_beats(self) -> int:
        """Input beats before the first output beat, besides the beats in the operators."""
        return sum(self.delays) + (1 << self.beat_bits)

    @property
    def root_counts(self) -> tuple[int, ...]:
        """Per step of butterflies with roots of unity: the number of beats with different roots."""
        return (*(2 << k for k in range(self.beat_bits)[::-1]), 1)

    @property
    def lane_distances(self) -> tuple[int, ...]:
        """Lane distances of the last butterflies, whose roots are 1 and -i."""
        return tuple(1 << k for k in range(self.lanes.bit_length() - 2))[::-1]

    @property
    def latency(self) -> int:
        """Latency of the operator chain in cycles."""
        cycles = CYCLES["float"]
        return len(self.root_counts) * (2 * cycles["add"] + cycles["mul"]) + len(self.lane_distances) * cycles["add"]

    def memories(self, bits: int) -> list[LocalMemory]:
        """Returns the local memories: delayed halves of beats, the two rows of the reordering, and
        roots. `bits` are the bits of a complex number."""
        half = self.lanes // 2
        memories = [LocalMemory(delay, bits, 2 * half) for delay in self.delays]
        memories.append(LocalMemory(2 << self.beat_bits, bits, self.lanes))
        return memories + [LocalMemory(count, bits, half) for count in self.root_counts if count > 1]

    def operators(self, scaled: bool) -> dict[tuple[str, str], int]:
        """Returns the parallel operators, by (operator, C type)."""
        half, c_type = self.lanes // 2, "float"
        rotated, unrotated = half * len(self.root_counts), half * len(self.lane_distances)
        return {("mul", c_type): 4 * rotated + 2 * self.lanes * scaled, ("add", c_type): 6 * rotated + 4 * unrotated}


def transform_refusal(length: int, lanes: int) -> str:
    """Returns the reason why no dataflow stage transforms rows of `length`; "" if a stage does."""
    if length & (length - 1) or not lanes <= length <= MAX_POINTS:
        return f"it transforms {length} numbers, and stages take powers of two from {lanes} to {MAX_POINTS}"
    if not MIN_LANES <= lanes <= MAX_LANES:
        return f"it transforms {lanes} numbers a beat, and stages {MIN_LANES} to {MAX_LANES}"
    return ""
