"""Kernel keys: frozen values that hold everything that distinguishes one kernel from another."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from ..dtypes import dtype

# Access kinds of an operand of a launch along the innermost dim.
LINEAR, SINGLE, STRIDED, BY_VALUE = "v", "s", "x", "k"
# An input of a kernel whose rows are whole vectors. A row of the input is contiguous and aligned to
# a vector, or is one element for all lanes; the geometry buffer selects which.
ROW_VECTORS = "r"
# An operand that index tensors address, in addition to its own strides.
LOCATED = "g"
# Name of each kind in comments of generated sources.
KIND_NAMES = {
    LINEAR: "run",
    SINGLE: "single",
    STRIDED: "strided",
    BY_VALUE: "value",
    LOCATED: "located",
    ROW_VECTORS: "row",
}

# How an expression sees an operand: as a value of the compute dtype, as a mask, or as 1 for nonzero
# elements (TRUTH). An output may be a REAL of a complex compute dtype, a COMPLEX of a real compute
# dtype, or a POSITION. An INDEX is absent from the expression: it addresses LOCATED operands.
VALUE, MASK, TRUTH, REAL, COMPLEX, POSITION, INDEX = "V", "M", "B", "R", "C", "I", "J"


class Key(Protocol):
    """Fields that every skeleton's key has (see `skeleton.py`). Equal keys mean the same kernel."""

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


class EntryName:
    """The field `entry` of a key, from a `text` with fields of the key, as in `str.format`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, key: Any, kind: type) -> str:
        return self.text.format(key)


@dataclass(frozen=True)
class Port:
    """One operand of a kernel: its dtype in memory, its kind, and how the expression sees it:
    VALUE, MASK, TRUTH, REAL, COMPLEX, POSITION or INDEX."""

    dtype: dtype
    kind: str
    sees: str = VALUE


@dataclass(frozen=True)
class Reduction:
    """Parameters of the reduce skeleton besides the ports; `rows.op.Reduce` documents the fields.

    A state has one field x, and with `arg` a second field i: the position of x.
    The kernel folds `vectors` states in parallel (see the skeletons).
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
    """Key of a kernel whose skeleton takes an op. `body` has one expression for each output; `lets`
    are named expressions that precede `body`."""

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
        """The kernel's name in the program: op, skeleton, dtypes, access kinds, short digest."""
        dtypes = "_".join(p.dtype.name for p in self.outs + self.ins) or self.compute.name
        kinds = "".join(p.kind for p in self.outs + self.ins)
        digest = sha256(repr(self).encode()).hexdigest()[:8]
        return f"ft_{self.name}_{self.skeleton}_{dtypes}_{kinds}_{digest}"


def lanes_for(dtypes: list[dtype], compute: dtype, width: int) -> int:
    """Returns the lanes of a kernel whose vectors of the widest dtype fill `width` bytes: at most
    16, and at most 8 if a dtype is complex."""
    widest = max([d.itemsize for d in dtypes] + [compute.itemsize])
    lanes = max(1, min(16, width // widest))
    return min(lanes, 8) if compute.is_complex or any(d.is_complex for d in dtypes) else lanes


def describe_operands(key: KernelKey) -> str:
    """Describes the dtypes and layouts of a member's operands, and the dtype of its computation."""
    ins, outs = (", ".join(f"{p.dtype.name} {KIND_NAMES[p.kind]}" for p in ports) for ports in (key.ins, key.outs))
    return f"({ins}) -> {outs}, computed in {key.compute.name}"
