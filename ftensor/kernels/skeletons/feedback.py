"""feedback: all steps of a user's function with state (hls/skeleton/feedback.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import fused
from ..fused import FusedKey
from ..geometry import Geometry, Long
from ..holes import memory_holes
from ..skeleton import Parameter, register
from ..workload import Ints
from .fused import Fused, functions


@dataclass(frozen=True)
class FeedbackGeometry(Geometry):
    """Geometry buffer: `items` signals of `steps` elements. The first step's elements begin at
    `first`, and `stride` elements are between two steps."""

    items: int
    steps: Long
    first: Long
    stride: Long


class Feedback(Fused):
    """The first inputs are the initial states, the first outputs the last ones; `per_row` has their
    indices. The other operands have an element for each step."""

    name = of = "feedback"
    geometry = FeedbackGeometry

    def parameters(self, key: FusedKey) -> tuple[Parameter, ...]:
        return (*fused.parameters(key), ("*", "const long *", "geometry"))

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        ins = fused.input_names(key)
        common, results, reads, writes = memory_holes(key.entry, fused.parameters(key), key.outs, ins, False)
        ported = [f"FT_PORT(g, gmem{len(key.outs) + len(ins)})"]
        states = len(key.per_row) // 2
        # One lane: partial vectors of one element need no alignment.
        loads, stores = ([line.replace(", m)", ", 1)") for line in lines[True]] for lines in (reads, writes))
        last = [line.replace(f"(w_out{k},", f"(w_in_{k},") for k, line in enumerate(stores[:states])]
        return common | {
            "FT_PORTS": [*common["FT_PORTS"], *ported],
            "FT_READ_STATES(i)": [line.removeprefix("const ") for line in loads[:states]],
            "FT_READ(i)": loads[states:],
            "FT_RESULTS": results,
            "FT_COMPUTE": _compute(key, functions(key, dialect), states),
            "FT_WRITE(i)": stores[states:],
            "FT_KEEP": [f"w_in_{k} = w_out{k};" for k in range(states)],
            "FT_WRITE_STATES(i)": last,
        }

    def flops(self, key: FusedKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns an operation for each call and element."""
        fields = FeedbackGeometry.unpack(geometry)
        return len(key.calls) * fields.items * fields.steps


def _compute(key: FusedKey, names: Sequence[str], states: int) -> list[str]:
    """Returns the lines of a step. A state has the precision of its dtype in each step."""
    lines = fused.value_lines(key, key.results, names)
    computed = [v for v in key.results[:states] if v >= len(key.ins) and v not in key.call_operands]
    for v in dict.fromkeys(computed):
        lines += fused.round_to_memory(v, key.dtypes[v])
    return [*lines, *fused.store_lines(key)]


register(Feedback())
