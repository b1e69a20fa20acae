"""Keys of loops with feedback, and their files: a step's calls as canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from .fused import MAX_OPERANDS, Call, FusedKey, check
from .graph_file import MAX_CALLS, RowFunctions, named_problems, read_dtype, read_function, read_int, require
from .graph_text import SCAN, function_json
from .key import LINEAR, Port

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
    functions = list(key.functions)
    loop = {
        "format": SCAN,
        "states": key.states,
        "inputs": [p.dtype.name for p in key.ins],
        "outputs": list(key.results),
        "numbers": [d.name for d in key.scalar_dtypes],
        "units": [function_json(function) for function in functions],
        "calls": [
            {"unit": functions.index(c.function), "takes": list(c.operands), "numbers": list(c.scalars)}
            for c in key.calls
        ],
    }
    return json.dumps(loop, sort_keys=True, indent=1) + "\n"


def digest(key: FeedbackKey) -> str:
    """Returns the SHA-256 of a loop's file, in hex."""
    return sha256(text(key).encode()).hexdigest()


def parse_feedback(raw: Mapping[str, Any], data: bytes, row_functions: RowFunctions) -> FeedbackKey:
    """Returns the key of a loop's file; `raw` is its JSON object, `data` its bytes, `row_functions`
    builds the element functions. Raises ValueError, with the value at fault, for other data."""
    with named_problems():
        ins = tuple(Port(read_dtype(name), LINEAR) for name in raw["inputs"])
        states = read_int(raw["states"], len(ins), "the number of states")
        functions = [read_function(one, row_functions) for one in raw["units"]]
        calls = tuple(
            Call(functions[read_int(c["unit"], len(functions))], tuple(c["takes"]), tuple(c["numbers"]))
            for c in raw["calls"]
        )
        results, numbers = tuple(raw["outputs"]), tuple(map(read_dtype, raw["numbers"]))
        require(0 < states <= len(results), f"it has {states} states and {len(results)} outputs")
        require(len(calls) <= MAX_CALLS, f"it has {len(calls)} calls, more than {MAX_CALLS}")
        require(len(ins) + len(results) <= MAX_OPERANDS, f"it has {len(ins) + len(results)} operands")
        values = [*(p.dtype for p in ins), *(d for c in calls for d, _ in c.function.outs)]
        outs = tuple(Port(values[read_int(v, len(values), "an output")], LINEAR) for v in results)
        key = feedback_key(outs, ins, calls, results, numbers, states)
        for k, call in enumerate(calls):
            require(call.function.reduction is None and not call.function.positional, f"call {k} is no element's")
            for v in call.operands:
                read_int(v, key.first_value(k), f"what call {k} takes")
            for n in call.scalars:
                read_int(n, len(numbers), f"a number of call {k}")
        before, after = [p.dtype for p in ins[:states]], [p.dtype for p in outs[:states]]
        require(before == after, f"its states change from {before} to {after}")
        check(key)
    require(text(key).encode() == data, "its text is not the one that its loop is written as")
    return key


def feedback_key(
    outs: tuple[Port, ...],
    ins: tuple[Port, ...],
    calls: tuple[Call, ...],
    results: tuple[int, ...],
    numbers: tuple[Any, ...],
    states: int,
) -> FeedbackKey:
    """Returns the key of a loop whose first operands are its states."""
    per_row = (*range(states), *range(len(outs), len(outs) + states))
    return FeedbackKey(NAME, "feedback", 1, outs, ins, calls, results, numbers, per_row)
