"""Keys: everything that tells one kernel from another, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from ..dtypes import dtype

# The kinds of an operand in a launch, as the innermost dim sees it.
LINEAR, SINGLE, STRIDED, BY_VALUE = "v", "s", "x", "k"
# An input of a kernel whose rows are whole vectors: a row of it lies in line and begins on a
# vector's alignment, or is one element for all lanes; which of the two, the geometry says.
ROW = "r"
# An operand whose element is found by index tensors, on top of its own strides.
LOCATED = "g"
# What each kind is called in comments of generated sources.
KIND_WORDS = {LINEAR: "run", SINGLE: "single", STRIDED: "strided", BY_VALUE: "value", LOCATED: "located", ROW: "row"}

# How an expression sees an operand: as a value of the compute dtype, a mask, or 1 where it is not
# zero (TRUTH). An output may be a REAL of a complex compute dtype, a COMPLEX of a real one, or a
# POSITION. An INDEX takes no part in the expression: it says where LOCATED operands' elements lie.
VALUE, MASK, TRUTH, REAL, COMPLEX, POSITION, INDEX = "V", "M", "B", "R", "C", "I", "J"


class Key(Protocol):
    """What every skeleton's key has: see `skeleton.py`. Equal keys mean the same kernel."""

    def __hash__(self) -> int: ...

    @property
    def skeleton(self) -> str:
        """The skeleton's name."""

    @property
    def lanes(self) -> int:
        """Elements of one vector access."""

    @property
    def entry(self) -> str:
        """The kernel's name in the program and in images; different for every different text."""


@dataclass(frozen=True)
class Port:
    """One operand of a kernel: its dtype in memory, its kind, and how the expression sees it:
    VALUE, MASK, TRUTH, REAL, COMPLEX, POSITION or INDEX."""

    dtype: dtype
    kind: str
    sees: str = VALUE


@dataclass(frozen=True)
class Reduction:
    """What the reduce skeleton needs besides the ports; see `rows.op.Reduce` for the words.

    A state has one field x, and with `arg` a second one, i: the position that x came from.
    `vectors` states are folded side by side (see the skeletons).
    """

    lift: str
    combine: str
    identity: str
    arg: bool = False
    stage: str = "whole"  # "first": write states; "second": read states; "whole": both ends
    complex: bool = False  # the state is a complex number
    beats: str = ""
    vectors: int = 1


@dataclass(frozen=True)
class KernelKey:
    """A kernel of a skeleton that is filled with an op. `body` has one expression for each output;
    `lets` are named lines before it."""

    name: str
    skeleton: str
    compute: dtype
    lanes: int
    outs: tuple[Port, ...]
    ins: tuple[Port, ...]
    body: tuple[str, ...]
    params: tuple[str, ...] = ()
    lets: tuple[tuple[str, str], ...] = ()
    reduction: Reduction | None = None

    @property
    def entry(self) -> str:
        """The kernel's name in the program: the op, what it works on, and a short digest."""
        dtypes = "_".join(p.dtype.name for p in self.outs + self.ins) or self.compute.name
        kinds = "".join(p.kind for p in self.outs + self.ins)
        digest = sha256(repr(self).encode()).hexdigest()[:8]
        return f"ft_{self.name}_{self.skeleton}_{dtypes}_{kinds}_{digest}"


def lanes_for(dtypes: list[dtype], compute: dtype, width: int) -> int:
    """Lanes of a kernel whose widest value fills `width` bytes; at most 16, as vectors go."""
    widest = max([d.itemsize for d in dtypes] + [compute.itemsize])
    lanes = max(1, min(16, width // widest))
    return min(lanes, 8) if compute.is_complex or any(d.is_complex for d in dtypes) else lanes
