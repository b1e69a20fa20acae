"""Graph files: a staged key as canonical JSON, whose digest is the entry's.

One graph has one text: keys sorted, one space of indentation, ASCII, a newline at the end. Another
text, of the same graph or of another one, is no graph file.
"""

from __future__ import annotations

import json
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .element_function import ElementFunction
from .transform import RowTransform

if TYPE_CHECKING:
    from .staged import StagedKey

FORMAT = "ftensor graph 1"
# How an operand lies: elements in rows, a value for each row, a row that is every row's, one
# element that is everybody's; and where rows come in blocks of `period`, a row for each block, and
# the rows of every block.
ROWS, OF_ROW, EVERY_ROW, ONE, EACH, AGAIN = "v", "o", "b", "s", "e", "a"
WORDS = {ROWS: "rows", OF_ROW: "of rows", EVERY_ROW: "every row", ONE: "one", EACH: "of blocks", AGAIN: "every block"}


def text(key: StagedKey) -> str:
    """The graph file of a key."""
    units = list(key.units)
    graph = {
        "format": FORMAT,
        "name": key.name,
        "length": key.length,
        "lanes": key.lanes,
        "period": key.period,
        "inputs": [{"dtype": p.dtype.name, "lies": WORDS[p.kind]} for p in key.ins],
        "outputs": [
            {"dtype": p.dtype.name, "lies": WORDS[p.kind], "value": v} for p, v in zip(key.outs, key.gives, strict=True)
        ],
        "numbers": [of.name for of in key.numbers],
        "units": [unit_words(unit) for unit in units],
        "calls": [{"unit": units.index(c.unit), "takes": list(c.takes), "numbers": list(c.numbers)} for c in key.calls],
    }
    return json.dumps(graph, sort_keys=True, indent=1) + "\n"


def digest(key: StagedKey) -> str:
    """The SHA-256 of a key's graph file."""
    return sha256(text(key).encode()).hexdigest()


def unit_words(unit: ElementFunction) -> dict[str, Any]:
    """A unit as graph files have it."""
    r = unit.reduction
    kind = {"transform": {"inverse": unit.inverse}} if isinstance(unit, RowTransform) else {}
    return {
        "name": unit.name,
        "compute": unit.compute.name,
        "outs": [[of.name, sees] for of, sees in unit.outs],
        "ins": [[None if of is None else of.name, sees] for of, sees in unit.ins],
        "body": list(unit.body),
        "params": list(unit.params),
        "lets": [list(one) for one in unit.lets],
        "fold": None if r is None else {f.name: getattr(r, f.name) for f in fields(r)},
        **kind,
    }
