"""Keys of loops with feedback, and their files: a step's calls as canonical JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256

from .fused import FusedKey
from .graph_text import SCAN, loop_json
from .key import LINEAR, Port
from .row_loop import RowLoop, row_loop

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
