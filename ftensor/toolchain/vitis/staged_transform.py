"""The stage of a graph that transforms rows (Fourier), in HLS C++."""

from __future__ import annotations

from collections.abc import Sequence

from ..transform_steps import FEW, Steps


class HlsSteps(Steps):
    """Its steps: functions of hls/vitis/transform.h, whose constants are template arguments."""

    def called(self, word: str, constants: Sequence[int | str], passed: Sequence[str]) -> str:
        """A call."""
        return f"ft_{word}<{', '.join(map(str, constants))}>({', '.join(passed)})"

    def halves(self, name: str, delay: int) -> None:
        """A memory for each lane, which is written where it was just read."""
        self.memories.append(f"{self.of} {name}[{delay}][{self.course.lanes // 2}];")
        which = "complete dim=0" if delay <= FEW else "dim=2 complete"
        self.memories.append(f"#pragma HLS ARRAY_PARTITION variable={name} {which}")
        if delay > FEW:
            self.apart.append(f"#pragma HLS DEPENDENCE variable={name} inter RAW distance={delay} true")

    def rows(self, name: str) -> None:
        """A memory for each lane."""
        self.memories.append(f"{self.of} {name}[2][BEATS][LANES];")
        self.memories.append(f"#pragma HLS ARRAY_PARTITION variable={name} dim=3 complete")

    def table(self, name: str, size: str, rows: Sequence[str]) -> None:
        """A constant."""
        self.tables += [f"static const {self.of} {name}{size} = {{"]
        self.tables += [*(f"    {{{row}}}," for row in rows), "};"]
        self.tables.append(f"#pragma HLS ARRAY_PARTITION variable={name} dim=2 complete")
