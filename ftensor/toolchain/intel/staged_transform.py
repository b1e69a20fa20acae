"""The stage of a graph that transforms rows (Fourier), in Intel's OpenCL C."""

from __future__ import annotations

from collections.abc import Sequence

from ..transform_steps import FEW, Steps

# How many of a function's constants it is passed; the others are the beat's.
_PASSED = {"crossed": 1, "near_butterflies": 1, "sorted": 2}


class OpenCLSteps(Steps):
    """Its steps: functions of hls/intel/transform.cl, which the compiler inlines."""

    def called(self, word: str, constants: Sequence[int | str], passed: Sequence[str]) -> str:
        """A call."""
        return f"ft_{word}({', '.join([*passed, *map(str, constants[: _PASSED.get(word, 0)])])})"

    def halves(self, name: str, delay: int) -> None:
        """Written where it was just read."""
        self.memories.append(f"{self.of} {name}[{delay}][LANES / 2];")
        if delay > FEW:
            self.apart.append(f"#pragma ivdep array({name}) safelen({delay})")

    def rows(self, name: str) -> None:
        """One half is written while the other is read."""
        self.memories.append(f"{self.of} {name}[2][BEATS][LANES];")

    def table(self, name: str, size: str, rows: Sequence[str]) -> None:
        """A constant."""
        self.tables += [f"const {self.of} {name}{size} = {{"]
        self.tables += [*(f"    {{{row}}}," for row in rows), "};"]
