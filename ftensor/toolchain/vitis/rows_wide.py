"""HLS sources of rows groups with several lanes: whole beats, as in maps, row by row."""

from __future__ import annotations

from ...kernels.key import BY_VALUE, LINEAR, ROW_VECTORS, SINGLE
from ...kernels.source import MAX_DIMS
from ..group import KernelGroup
from .map import dataflow, map_values
from .rows import use_masks
from .text import fifos, fill


def source(group: KernelGroup) -> str:
    """Returns the text of the kernel. Raises ValueError for operands that do not come in beats."""
    for key in group.keys:
        kinds = {p.kind for p in key.ins} - {BY_VALUE}
        if key.outs[0].kind != LINEAR or not kinds <= {LINEAR, SINGLE, ROW_VECTORS}:
            raise ValueError(
                f"kernel {group.name}: rows of {group.lanes} lanes have no strided operands, as {key.entry} has"
            )
    names, values = map_values(group)
    uses, used = use_masks(group, names)
    ins = names[1:]
    stages = dataflow(group, names)
    stages |= {
        "run_slab": ", ".join(
            [f"const ft_runs<MAX_DIMS> &{n}_runs" for n in names]
            + [f"ft_row_steps {n}_steps" for n in ins]
            + ["ft_row_slab rows, int first, int count, int total"]
        ),
        "fifos": [*stages["fifos"], *fifos({f"{n}_beats": f"{n}_beat" for n in names})],
        "reads": [
            line
            for k, n in enumerate(ins)
            for line in (
                f"ft_read_pieces<LANES, {k}>({n}, {n}_beats, inputs, {n}_offset, {n}_runs, rows, {n}_steps, "
                "first, count);",
                f"ft_align_pieces<LANES, {k}>({n}_beats, {n}_fifo, inputs, {n}_offset, rows, {n}_steps, count);",
            )
        ],
        "writes": [
            "ft_pack_pieces<LANES>(out0_fifo, out0_beats, rows, count);",
            "ft_write_rows<LANES>(out0, out0_beats, out0_offset, out0_runs, rows, first, count);",
        ],
    }
    values |= {
        "headers": '#include "ftensor/vitis/row_pieces.h"',
        "tables": [],
        "operands": str(len(names)),
        "max_dims": str(MAX_DIMS),
        "words": group.kind.geometry_words(),
        "uses": uses,
        "used": used,
        "run": fill("map_dataflow.cpp", stages),
        "run_arguments": ", ".join(
            [*names, *(f"{n}_offset" for n in names), "of, inputs", *(f"runs[{k}]" for k in range(len(names)))]
            + [f"ft_row_steps_of(runs[{k}], dims, inner, outer)" for k in range(1, len(names))]
            + ["rows, first, count", "rows.pieces ? ft_count_pieces<LANES>(rows) : count"]
        ),
        "offsets": ", ".join(f"{n}_offset" for n in names),
    }
    return "\n".join(fill(part, values) for part in ("map_head.cpp", "rows_wide.cpp"))
