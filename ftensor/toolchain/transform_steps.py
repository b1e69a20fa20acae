"""Fourier transforms as dataflow stages: one beat per loop iteration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ..execute.fft_plan import unit_roots
from ..kernels.signal_stages import RowTransform, TransformSchedule


def roots(course: TransformSchedule) -> list[np.ndarray]:
    """Returns the roots of unity of each row of butterflies in a transform: arrays (beats with
    different roots, lanes / 2) of complex64. `TransformSteps._take` generates the index of a beat's
    roots."""
    tables, half = [], course.lanes // 2
    for count in course.root_counts:
        size = 2 * count * half  # the size of the remaining transforms
        table = unit_roots(np.arange(count * half), size).astype(np.complex64)
        tables.append(table.reshape(count, half))
    return tables


# A memory of at most this many words is made of registers.
FEW = 4


class TransformSteps(ABC):
    """Generates the code of a transform stage for any kernel language.

    The results are `tables` of roots, `memories`, `apart` (pragmas for the distance in iterations
    between accesses to a memory's word), and `lines`, which process the beat `w` of an iteration.
    `course` is the schedule of a row, `of` is the C type of a number, and `scale` has the names of
    the results' factors.
    """

    def __init__(self, transform: RowTransform, schedule: TransformSchedule, c_type: str, scale: Sequence[str]) -> None:
        self.of, self.course = c_type, schedule
        self.tables: list[str] = []
        self.memories: list[str] = []
        self.apart: list[str] = []
        self.lines: list[str] = []
        self._late = 0  # beats between a row's input and its current position
        self._take(transform, scale)

    @abstractmethod
    def halves(self, name: str, delay: int) -> None:
        """Adds a memory that delays halves of beats by `delay` beats."""

    @abstractmethod
    def rows(self, name: str) -> None:
        """Adds a memory of two rows."""

    @abstractmethod
    def table(self, name: str, size: str, rows: Sequence[str]) -> None:
        """Adds a table of roots: its dimensions, and its rows as lists of pairs."""

    def _add(self, word: str, *passed: str) -> None:
        """Adds a call of the function ft_`word` of hls/staged/transform_parts.h."""
        self.lines.append(f"w = ft_{word}({', '.join(('w', *passed))});")

    def _crossed(self, k: int) -> None:
        delay = self.course.delays[k]
        for name in (f"second_{k}", f"first_{k}"):
            self.halves(name, delay)
        self._add("crossed", f"second_{k}", f"first_{k}", self._beat(), str(delay))
        self._late += delay

    def _take(self, transform: RowTransform, scale: Sequence[str]) -> None:
        course = self.course
        half, bits = course.lanes // 2, course.beat_bits
        if transform.inverse:
            self._add("parts_exchanged")
        for k, table in enumerate(roots(course)):
            self.table(f"roots_{k}", f"[{len(table)}][{half}]", [_row(row) for row in table])
            row = "0"
            if k < bits:
                self._crossed(k)
                beat, low = self._beat(), (1 << bits - 1 - k) - 1
                # The row index: the low bits, which no exchange has used yet, and the beat's
                # highest bit.
                row = f"(({beat} & {low}) << 1) | ({beat} >> {bits - 1})"
            elif bits:
                self._crossed(k)
            self._add("butterflies", f"roots_{k}", row)
        for apart in course.lane_distances:
            self._add("lane_butterflies", str(apart))
        self.rows("kept")
        odd = f"((v - {self._late}) >> {bits}) & 1"
        self._add("sorted", "kept", self._beat(), odd)
        assert self._late + (1 << bits) == course.startup_beats
        for name in scale:
            self._add("scaled", name)
        if transform.inverse:
            self._add("parts_exchanged")

    def _beat(self) -> str:
        return f"(int)((v - {self._late}) & (BEATS - 1))" if self._late else "(int)(v & (BEATS - 1))"


def _row(row: np.ndarray) -> str:
    return ", ".join(f"{{{_number(z.real)}, {_number(z.imag)}}}" for z in row)


def _number(x: float) -> str:
    """Returns a C literal that reads back as the same float."""
    return f"{float(x):.9g}f" if float(x) != int(x) else f"{float(x):.1f}f"
