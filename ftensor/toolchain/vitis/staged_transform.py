"""The stage of a graph that transforms rows (Fourier): steps of one loop, a beat a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...kernels.transform import Course, Transform
from ..roots import roots

# A memory of fewer words is registers.
FEW = 4


class Steps(NamedTuple):
    """What a stage has: its tables, its memories, how far apart in turns these meet a value again,
    and the lines of a turn, on the beat `w`."""

    tables: list[str]
    memories: list[str]
    apart: list[str]
    lines: list[str]


def steps(unit: Transform, course: Course, of: str, scale: Sequence[str]) -> Steps:
    """The steps of rows that go as `course` says; `of` is the C type of a number, `scale` names
    what results are multiplied by, if anything."""
    lanes, half, bits = course.lanes, course.lanes // 2, course.bits
    made = Steps([], [], [], [])
    late = 0  # beats that a row is behind where it came in

    def add(call: str) -> None:
        made.lines.append(f"w = {call};")

    def crossed(k: int, delay: int) -> None:
        nonlocal late
        for name in (f"second_{k}", f"first_{k}"):
            made.memories.append(f"{of} {name}[{delay}][{half}];")
            which = "complete dim=0" if delay <= FEW else "dim=2 complete"
            made.memories.append(f"#pragma HLS ARRAY_PARTITION variable={name} {which}")
            if delay > FEW:
                made.apart.append(
                    f"#pragma HLS DEPENDENCE variable={name} inter RAW distance={delay} true"
                )
        add(f"ft_crossed<{delay}, {half}>(w, second_{k}, first_{k}, {_beat(late)})")
        late += delay

    if unit.inverse:
        add(f"ft_parts_exchanged<{lanes}, {of}>(w)")
    tables = roots(course)
    for k, table in enumerate(tables):
        made.tables.extend(_table(of, f"roots_{k}", table))
        if k < bits:
            crossed(k, course.delays[k])
            beat, low = _beat(late), (1 << bits - 1 - k) - 1
            # The lowest bits, which are still to be compared, and of the lanes' the highest.
            row = f"(({beat} & {low}) << 1) | ({beat} >> {bits - 1})"
        else:
            if bits:
                crossed(k, course.delays[k])
            row = "0"
        add(f"ft_butterflies<{len(table)}, {half}>(w, roots_{k}, {row})")
    for apart in course.near:
        add(f"ft_near_butterflies<{apart}, {lanes}, {of}>(w)")
    made.memories.append(f"{of} kept[2][BEATS][LANES];")
    made.memories.append("#pragma HLS ARRAY_PARTITION variable=kept dim=3 complete")
    lane_bits = lanes.bit_length() - 1
    odd = f"((v - {late}) >> {bits}) & 1"
    add(f"ft_sorted<{bits}, {lane_bits}>(w, kept, {_beat(late)}, {odd})")
    assert late + (1 << bits) == course.behind
    for name in scale:
        add(f"ft_scaled<{lanes}, {of}>(w, {name})")
    if unit.inverse:
        add(f"ft_parts_exchanged<{lanes}, {of}>(w)")
    return made


def _beat(late: int) -> str:
    """The number in its row of a beat that is so many turns behind."""
    return f"(int)((v - {late}) & (BEATS - 1))" if late else "(int)(v & (BEATS - 1))"


def _table(of: str, name: str, table: np.ndarray) -> list[str]:
    """A table as a constant."""
    lines = [f"static const {of} {name}[{len(table)}][{len(table[0])}] = {{"]
    for row in table:
        pairs = ", ".join(f"{{{_number(z.real)}, {_number(z.imag)}}}" for z in row)
        lines.append(f"    {{{pairs}}},")
    return [*lines, "};", f"#pragma HLS ARRAY_PARTITION variable={name} dim=2 complete"]


def _number(x: float) -> str:
    """A float that is read back as it is."""
    return f"{float(x):.9g}f" if float(x) != int(x) else f"{float(x):.1f}f"
