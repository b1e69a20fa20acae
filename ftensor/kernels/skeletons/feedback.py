"""feedback: all steps of a user's function with state (hls/skeleton/feedback.h), and the files of such
loops: a step's calls as canonical JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from .. import fused
from ..element_function import ElementFunction
from ..fused import FusedKey
from ..geometry import Geometry, Long
from ..graph_text import SCAN, loop_json
from ..holes import memory_holes
from ..inventory_terms import ManifestTerms
from ..key import LINEAR, Port
from ..row_loop import RowLoop, row_loop
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import CYCLES, FUNCTION_CYCLES, Access, Ints, KernelLaunch, PipelinedLoop, distance, operator_cycles
from .fused import Fused, functions

NAME = "scan"


@dataclass(frozen=True)
class FeedbackKey(FusedKey):
    """A kernel of all steps of a function with state. The first inputs are the initial states, the
    first outputs the last ones; the other operands have an element for each step."""

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.per_row) // 2

    @property
    def file_name(self) -> str:
        """The name of the JSON file that a trace writes the loop to."""
        return f"{NAME}_{digest(self)[:8]}.json"


def text(key: FeedbackKey) -> str:
    """Returns the text of a loop's file; a loop has exactly one."""
    return json.dumps({"format": SCAN, **loop_json(loop_of(key))}, sort_keys=True, indent=1) + "\n"


def digest(key: FeedbackKey) -> str:
    """Returns the SHA-256 of a loop's file, in hex."""
    return sha256(text(key).encode()).hexdigest()


def feedback_key(loop: RowLoop) -> FeedbackKey:
    """Returns the key of the kernel that has the loop alone."""
    ins, outs = (tuple(Port(d, LINEAR) for d, _ in ports if d is not None) for ports in (loop.ins, loop.outs))
    per_row = (*range(loop.states), *range(len(outs), len(outs) + loop.states))
    return FeedbackKey(NAME, "feedback", 1, outs, ins, loop.calls, loop.results, loop.numbers, per_row)


def loop_of(key: FeedbackKey) -> RowLoop:
    """Returns the loop of a kernel, as a stage computes it."""
    return row_loop(tuple(p.dtype for p in key.ins), key.calls, key.results, key.scalar_dtypes, key.states)


@dataclass(frozen=True)
class FeedbackGeometry(Geometry):
    """Geometry buffer: `items` signals of `steps` elements. The first step's elements begin at
    `first`, and `stride` elements are between two steps."""

    items: int
    steps: Long
    first: Long
    stride: Long


# An operator of an expression, or a function's name.
_OPERATOR = re.compile(r"(?P<name>\b[a-zA-Z]\w*)(?=\()|(?P<sign>[-+*/<>]|[=!]=)")
# Cycles that rounding to these dtypes takes.
_ROUNDING = dict.fromkeys(("float16", "complex32"), CYCLES["float"]["add"]) | {"bfloat16": 2 * CYCLES["integer"]["add"]}
_SIGNS = {"+": "add", "-": "add", "*": "mul", "/": "div"}


@cache
def steps_interval(key: FeedbackKey) -> int:
    """Returns the cycles from one step to the next: those of the longest way from a state to the
    state after, all operators of a call counted one after another. Rounding to half precision takes
    additions."""
    latest: dict[int, int | None] = {v: 0 if v < key.states else None for v in range(len(key.ins))}
    for k, call in enumerate(key.calls):
        begun = [at for at in (latest[v] for v in call.operands) if at is not None]
        cycles = _call_cycles(call.function)
        for n, (out, _) in enumerate(call.function.outs):
            latest[key.first_value(k) + n] = max(begun) + cycles + _ROUNDING.get(out.name, 0) if begun else None
    return distance(max(latest[v] or 0 for v in key.results[: key.states]))


def stage_interval(loop: RowLoop) -> int:
    """Returns the cycles from one element to the next of a loop that is a stage: a signal's step is as many
    elements behind the step before as there are signals, whose states a memory holds."""
    interval = steps_interval(feedback_key(loop))
    return interval if loop.signals == 1 else -(-(interval + 1) // loop.signals)


def _call_cycles(function: ElementFunction) -> int:
    known = operator_cycles(function.compute)
    in_function = FUNCTION_CYCLES["double" if known is CYCLES["double"] else "float"]
    total = 0
    for text in (*function.body, *(value for _, value in function.lets)):
        for match in _OPERATOR.finditer(text):
            if match["name"] is None:
                total += known[_SIGNS.get(match["sign"], "compare")]
            elif match["name"] != "K":
                total += in_function
    return total


class Feedback(Fused, BoardSkeleton[FusedKey]):
    """The first inputs are the initial states, the first outputs the last ones; `per_row` has their
    indices. The other operands have an element for each step."""

    name = of = "feedback"
    report_name = "scan"
    geometry = FeedbackGeometry

    def vitis_module(self, lanes: int) -> str:
        return "feedback"

    def record(self, key: FusedKey) -> ManifestTerms:
        outs, ins = (tuple(p.dtype.name for p in ports) for ports in (key.outs, key.ins))
        return ManifestTerms(key.name, outs, ins, "".join(p.kind for p in (*key.outs, *key.ins)), ins[0])

    def suffix(self, key: FusedKey) -> str:
        return f"{key.name}_{digest(_own(key))[:8]}"

    def lines(self, key: FusedKey) -> tuple[str, ...]:
        """Returns the inventory table that requests the loop; it refers to the loop's file."""
        one = _own(key)
        return ("[[graph]]", f'file = "{one.file_name}"', f'sha256 = "{digest(one)}"')

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True: neighbouring steps are `items` elements apart."""
        return True

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        fields = FeedbackGeometry.unpack(launch.geometry)
        begin, end = launch.slab(fields.items, unit)
        trips = (end - begin) * fields.steps
        return [PipelinedLoop("steps", trips, end - begin, steps_interval(launch.key))] if trips else []

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns an element of each operand for each step, and of states once for each signal."""
        key, fields = launch.key, FeedbackGeometry.unpack(launch.geometry)
        accesses = []
        names = [*(f"out{k}" for k in range(len(key.outs))), *(name for name, _ in fused.input_names(key))]
        for k, (name, port) in enumerate(zip(names, (*key.outs, *key.ins), strict=True)):
            count = fields.items * (1 if k in key.per_row else fields.steps)
            nbytes = count * port.dtype.itemsize
            accesses.append(Access(name, k < len(key.outs), nbytes, count, 1, nbytes, True))
        return accesses

    def extent(self, launch: KernelLaunch) -> str:
        fields = FeedbackGeometry.unpack(launch.geometry)
        return f"{fields.items}x{fields.steps} steps"

    def operators(self, key: FusedKey) -> Mapping[tuple[str, str], int]:
        return {("mul", "int64"): 1, ("add", "int64"): 2 + len(key.outs) + len(key.ins)}

    def operands(self, key: FusedKey) -> str:
        return " ".join(p.dtype.name for p in (*key.outs, *key.ins))

    def parameters(self, key: FusedKey) -> tuple[Parameter, ...]:
        return (*fused.parameters(key, ""), ("*", "const long *", "geometry"))

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        ins = fused.input_names(key)
        common, results, reads, writes = memory_holes(key.entry, fused.parameters(key), key.outs, ins, False)
        states = len(key.per_row) // 2
        # One lane: partial vectors of one element need no alignment.
        loads, stores = ([line.replace(", m)", ", 1)") for line in lines[True]] for lines in (reads, writes))
        last = [line.replace(f"(w_out{k},", f"(w_in_{k},") for k, line in enumerate(stores[:states])]
        return common | {
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


def _own(key: FusedKey) -> FeedbackKey:
    assert isinstance(key, FeedbackKey), key
    return key


def _compute(key: FusedKey, names: Sequence[str], states: int) -> list[str]:
    """Returns the lines of a step. A state has the precision of its dtype in each step."""
    lines = fused.value_lines(key, key.results, names)
    computed = [v for v in key.results[:states] if v >= len(key.ins) and v not in key.call_operands]
    for v in dict.fromkeys(computed):
        lines += fused.round_to_memory(v, key.dtypes[v])
    return [*lines, *fused.store_lines(key)]


register(Feedback())
