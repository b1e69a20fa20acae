"""HLS text of windows of rows: a stage that keeps rows on the chip and gives each element's
neighbours; and of writes to a part of a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.signal_stages import SliceScatter, Window, WindowSchedule
from ..transform_steps import FEW

if TYPE_CHECKING:
    from ...kernels.staged import DataflowStage
    from .staged import Text


def window_stage(text: Text, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
    """Returns the function of a window stage, its call, and no further FIFOs; see `Text.stage`."""
    key, (into,) = text.key, text.stages.input_fifos(k)
    function, schedule = key.calls[stage.calls[0]].function, text.stages.window_schedule(stage)
    assert isinstance(function, Window)
    item = text.fifo_type(into.value)
    read = [
        (v, offset, fifos)
        for v, offset in zip(stage.outputs, function.offsets, strict=True)
        if (fifos := text.stages.output_fifos(k, v))
    ]
    fifos = [into, *(f for _, _, some in read for f in some)]
    filled = text.fill(
        "window",
        {
            "comment": f"The neighbours of each element, up to {schedule.rows[-1]} rows below.",
            "name": stage.name,
            "parameters": f"{text.streams(fifos)}, int rows",
            "memories": _memories(schedule, item),
            "beats": "BEATS",
            "ahead": str(schedule.ahead),
            "apart": [
                f"#pragma HLS DEPENDENCE variable=between_{j} inter RAW distance={delay} true"
                for j, delay in enumerate(schedule.delays)
                if delay > FEW
            ],
            "item": item,
            "from": into.name,
            "steps": _steps(schedule, item),
            "results": [f"{item} w_v{v};" for v, _, _ in read],
            "computed": [f"w_v{v}[l] = {_neighbour(schedule, offset)};" for v, offset, _ in read],
            "writes": [f"{f.name}.write(w_v{v});" for v, _, some in read for f in some],
        },
    )
    return filled, [f"{stage.name}({', '.join([*(f.name for f in fifos), 'n'])})"], []


def scatter_stage(text: Text, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
    """Returns the function of a stage that writes to a part of a plane, its call, and no further FIFOs."""
    key, (call,) = text.key, stage.calls
    function, (out,) = key.calls[call].function, stage.outputs
    assert isinstance(function, SliceScatter)
    into, written = text.stages.input_fifos(k), text.stages.output_fifos(k, out)
    part, before = key.calls[call].operands
    kept, reads, named = text.reads(k, True)
    rows, columns = function.anchor
    row, column = divmod(rows * key.length + columns - key.above, key.length)
    (top, bottom), (left, right) = function.rows, function.columns
    filled = text.fill(
        "scatter",
        {
            "comment": f"A plane after a write to its columns {left} to {right}.",
            "name": stage.name,
            "parameters": f"{text.streams([*into, *written])}, int first, int total, int rows",
            "row": str(row),
            "at": str(column),
            "top": str(top),
            "bottom": str(bottom),
            "left": str(left),
            "right": str(right),
            "item": text.fifo_type(out),
            "kept": kept,
            "reads": reads,
            "computed": [*named, f"w[ft_lane] = ft_select(inside, v{part}, v{before});"],
            "writes": [text.give(f, "w") for f in written],
        },
    )
    return filled, [f"{stage.name}({', '.join([*(f.name for f in (*into, *written)), 'first', 'total', 'n'])})"], []


def _memories(schedule: WindowSchedule, item: str) -> list[str]:
    """Returns the declarations of the memories between rows, and of the registers of each row."""
    lines = []
    for j, delay in enumerate(schedule.delays):
        lines += [f"{item} between_{j}[{delay}];", f"int place_{j} = 0;"]
        lines += [f"#pragma HLS ARRAY_PARTITION variable=between_{j} complete"] if delay <= FEW else []
    for j in range(len(schedule.rows)):
        lines += [f"{item} row_{j}[{schedule.span + 1}]{{}};", f"#pragma HLS ARRAY_PARTITION variable=row_{j} complete"]
    return lines


def _steps(schedule: WindowSchedule, item: str) -> list[str]:
    """Returns the lines that move each row's registers on by a beat: the last row takes the beat
    that enters, each other row the beat that the next row took before."""
    lines, entering = [], "got"
    for j in range(len(schedule.rows))[::-1]:
        if j < len(schedule.delays):
            lines += [f"const {item} older_{j} = between_{j}[place_{j}];", f"between_{j}[place_{j}] = {entering};"]
            lines.append(f"place_{j} = place_{j} == {schedule.delays[j] - 1} ? 0 : place_{j} + 1;")
            entering = f"older_{j}"
        lines += [f"row_{j}[{n}] = row_{j}[{n + 1}];" for n in range(schedule.span)]
        lines.append(f"row_{j}[{schedule.span}] = {entering};")
    return lines


def _neighbour(schedule: WindowSchedule, offset: tuple[int, int]) -> str:
    """Returns the expression of lane l of the neighbours at an offset."""
    row, (beat, lane) = schedule.rows.index(offset[0]), divmod(offset[1], schedule.lanes)
    if not lane:
        return f"row_{row}[{beat}][l]"
    rest = schedule.lanes - lane
    return f"l < {rest} ? row_{row}[{beat}][l + {lane}] : row_{row}[{beat + 1}][l - {rest}]"
