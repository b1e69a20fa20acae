"""The text of graph files: a staged key as canonical JSON. The digest of the text is part of the
entry's name.

A graph has exactly one text: keys sorted, one space of indentation, ASCII, a newline at the end.
Any other text is no graph file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .element_function import ElementFunction
from .fused import Call
from .row_loop import RowLoop
from .signal_stages import RowFilter, RowTransform, SliceScatter, Window

if TYPE_CHECKING:
    from ..dtypes import dtype
    from .staged import StagedKey

FORMAT = "ftensor graph 1"
SCAN = "ftensor scan 1"  # a loop with feedback (feedback.py)
# Access kind of an operand: rows of elements; one value per row; one row for all rows; one element
# for all rows. With rows in blocks of `period`: one row per block; the same rows in every block.
# TAPS: the taps of a filter, for all rows. FRAMES: rows of a signal that overlap. HALO: the rows of
# another operand that follow a compute unit's own rows; ABOVE: those before them. REFLECTED: frames of a
# signal that is reflected at both ends, half a row each; it has as many elements as the frames' starts span.
ROWS, PER_ROW, SHARED_ROW, ONE_ELEMENT, PER_BLOCK, EVERY_BLOCK, TAPS, FRAMES = "v", "o", "b", "s", "e", "a", "t", "f"
HALO, ABOVE, REFLECTED = "h", "u", "r"
KIND_NAMES = {
    ROWS: "rows",
    PER_ROW: "of rows",
    SHARED_ROW: "every row",
    ONE_ELEMENT: "one",
    PER_BLOCK: "of blocks",
    EVERY_BLOCK: "every block",
    TAPS: "taps",
    FRAMES: "frames",
    HALO: "halo",
    ABOVE: "halo above",
    REFLECTED: "reflected frames",
}


def text(key: StagedKey) -> str:
    """Returns the text of a key's graph file."""
    graph = {
        "format": FORMAT,
        "name": key.name,
        "length": key.length,
        "lanes": key.lanes,
        "period": key.period,
        **({"width": key.width} if key.width else {}),
        **({"above": key.above} if key.scatters else {}),
        **({"signal": key.signal} if key.signal else {}),
        "inputs": [
            {"dtype": p.dtype.name, "lies": KIND_NAMES[p.kind], **({} if span == 1 else {"span": span})}
            for p, span in zip(key.ins, key.spans or (1,) * len(key.ins), strict=True)
        ],
        "outputs": [
            {"dtype": p.dtype.name, "lies": KIND_NAMES[p.kind], "value": v}
            for p, v in zip(key.outs, key.results, strict=True)
        ],
        **calls_json(key.calls, key.scalar_dtypes),
    }
    return json.dumps(graph, sort_keys=True, indent=1) + "\n"


def digest(key: StagedKey) -> str:
    """Returns the SHA-256 of a key's graph file, in hex."""
    return sha256(text(key).encode()).hexdigest()


def calls_json(calls: Sequence[Call], numbers: Sequence[dtype]) -> dict[str, Any]:
    """Returns calls with their element functions and the dtypes of their numbers, as the members of a
    JSON object."""
    functions = list(dict.fromkeys(c.function for c in calls))
    return {
        "numbers": [dtype.name for dtype in numbers],
        "units": [function_json(function) for function in functions],
        "calls": [
            {"unit": functions.index(c.function), "takes": list(c.operands), "numbers": list(c.scalars)} for c in calls
        ],
    }


def loop_json(loop: RowLoop) -> dict[str, Any]:
    """Returns a loop with feedback as the members of a JSON object."""
    return {
        "states": loop.states,
        "inputs": [dtype.name for dtype, _ in loop.ins if dtype is not None],
        "outputs": list(loop.results),
        **calls_json(loop.calls, loop.numbers),
    }


def function_json(function: ElementFunction) -> dict[str, Any]:
    """Returns an element function as the JSON object of graph files."""
    r = function.reduction
    kind: dict[str, Any] = {}
    if isinstance(function, RowTransform):
        kind = {"transform": {"inverse": function.inverse, **({"half": True} if function.half else {})}}
    if isinstance(function, RowFilter):
        kind = {"filter": {word: getattr(function, word) for word in ("taps", "stride", "before", "rows")}}
    if isinstance(function, RowLoop):
        signals = {"signals": function.signals} if function.signals > 1 else {}
        kind = {"scan": {**loop_json(function), **signals}}
    if isinstance(function, Window):
        kind = {"window": {"offsets": [list(offset) for offset in function.offsets]}}
    if isinstance(function, SliceScatter):
        kind = {"scatter": {word: list(getattr(function, word)) for word in ("anchor", "rows", "columns")}}
    return {
        "name": function.name,
        "compute": function.compute.name,
        "outs": [[dtype.name, sees] for dtype, sees in function.outs],
        "ins": [[None if dtype is None else dtype.name, sees] for dtype, sees in function.ins],
        "body": list(function.body),
        "params": list(function.params),
        "lets": [list(let) for let in function.lets],
        "fold": None if r is None else {f.name: getattr(r, f.name) for f in fields(r)},
        **kind,
    }
