"""Row filters: FIR filters that decimate, as dataflow stages, and their beat schedule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..dtypes import dtype
from .element_function import ElementFunction
from .key import VALUE
from .source import scalar
from .workload import CYCLES

# The most taps: all of them are registers.
MAX_TAPS = 1024
# Dtypes of samples; taps have the dtype of the samples, or are real.
SAMPLES = ("float32", "complex64")


@dataclass(frozen=True)
class RowFilter(ElementFunction):
    """FIR filter of the signals in rows: result j of a signal is the sum of taps[k] * x[j * stride
    - before + k]; samples outside the signal are zero. A signal is `rows` rows, or all rows of a
    launch if `rows` is 0. A row has `stride` samples for each result. The body is empty, since a
    result depends on more than one element."""

    taps: int = 1
    stride: int = 1
    before: int = 0
    rows: int = 1


def row_filter(samples: dtype, tap: dtype, taps: int, stride: int, before: int, rows: int) -> RowFilter:
    """Returns the filter of signals of the dtype `samples`."""
    ins = ((samples, VALUE), (tap, VALUE))
    return RowFilter("fir", samples, ((samples, VALUE),), ins, (), taps=taps, stride=stride, before=before, rows=rows)


@dataclass(frozen=True)
class FilterSchedule:
    """Schedule of a filter in beats of `lanes` samples. A result sums `places` products, a power of
    two, with the taps at the last places. If the stride exceeds a beat, a result takes several
    cycles, its phases; otherwise a cycle computes one or several results."""

    unit: RowFilter
    lanes: int

    @property
    def places(self) -> int:
        """Products that are summed for a result, padded to a power of two."""
        return max(self.unit.stride, 1 << (self.unit.taps - 1).bit_length())

    @property
    def first(self) -> int:
        """The index of the product with the first tap; earlier products are padding."""
        return self.places - self.unit.taps

    @property
    def step(self) -> int:
        """The number of products per `stride` adjacent ones that one cycle computes."""
        return min(self.lanes, self.unit.stride)

    @property
    def phases(self) -> int:
        """Cycles in which the products of one result are computed."""
        return self.unit.stride // self.step

    @property
    def results(self) -> int:
        """Results that are computed in one cycle."""
        return self.lanes // self.step

    @property
    def delay(self) -> int:
        """Delay in beats between the sample j * stride of result j and the last sample that the
        result needs."""
        return max(0, -(-(self.unit.taps - self.unit.before - self.unit.stride) // self.lanes))

    @property
    def line(self) -> int:
        """Samples that the registers hold."""
        return self.lanes * (1 + self.delay) + self.first + self.unit.before

    @property
    def products(self) -> int:
        """Products that are computed in one cycle."""
        stride, last = self.unit.stride, (self.phases - 1) * self.step
        places = [q * stride + last + k for q in range(self.places // stride) for k in range(self.step)]
        return self.results * sum(place >= self.first for place in places)

    @property
    def latency(self) -> int:
        """Latency of the operators in cycles."""
        return CYCLES["float"]["mul"] + CYCLES["float"]["add"] * (1 + self.places.bit_length())

    def operators(self) -> Counter[tuple[str, str]]:
        """Returns the parallel operators, by (operator, C type)."""
        (samples, _), (tap, _) = self.unit.ins
        assert samples is not None and tap is not None
        kind, parts = scalar(samples), 2 if samples.is_complex else 1
        both = parts * (2 if tap.is_complex else 1)
        sums = self.products - self.results + (self.results * (self.unit.stride - 1) if self.phases > 1 else 0)
        counts = Counter({("mul", kind): both * self.products, ("add", kind): parts * sums})
        counts["add", kind] += (both - parts) * self.products
        # Samples outside the signal, and taps that rotate.
        counts["choose", kind] += parts * self.products + (self.places if self.phases > 1 else 0)
        return counts


def filter_refusal(unit: RowFilter, length: int, lanes: int) -> str:
    """Returns the reason why no dataflow stage filters into rows of `length` results; "" if a stage
    does."""
    if not 1 <= unit.taps <= MAX_TAPS:
        return f"it has {unit.taps} taps, and stages at most {MAX_TAPS}"
    if unit.stride & (unit.stride - 1) or unit.stride < 1:
        return f"its stride is {unit.stride}, and stages decimate by powers of two"
    if not 0 <= unit.before < unit.taps:
        return f"its {unit.before} zeros before a signal are more than {unit.taps} taps need"
    if length % lanes:
        return f"its rows of {length} results are no whole beats of {lanes}"
    return ""
