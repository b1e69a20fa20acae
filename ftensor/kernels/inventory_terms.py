"""What inventories, manifests and images say of kernels: the words that skeletons answer in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ..dtypes import dtype

# Registers for tiles of 16 sums and their factors; with fewer, a tile has 6 sums at the most.
ROOMY = 24
SOME = 8  # what 16 registers of 8 floats are


class KernelTarget(Protocol):
    """What a key may depend on besides dtypes: of the device family, or of a board."""

    @property
    def grid(self) -> str:
        """ "slab": each compute unit takes neighbours; "stride": the grid strides over all."""

    @property
    def lanes_bytes(self) -> int:
        """Bytes of a vector."""

    @property
    def registers(self) -> int:
        """Vectors that are at hand while others are computed."""


class KernelArgument(NamedTuple):
    """One argument of an image's kernel: `what` is "*" or the C name of a scalar, `c` its whole C
    type, `of` the launch's parameter that goes there, where that has another name."""

    name: str
    what: str
    c: str
    of: str = ""


class InventoryTerms(NamedTuple):
    """One kernel in an inventory's words. `dtypes` are the inputs', then the outputs'; `signature`
    is both as an inventory spells them; `layout` is the skeleton and the kind of each operand in
    memory, outputs first; `lines` are the table of an inventory that asks for the kernel, or for
    the one in any layout that serves in its place."""

    entry: str
    op: str
    dtypes: tuple[str, ...]
    signature: str
    layout: str
    lines: tuple[str, ...]


class Record(NamedTuple):
    """What a manifest says of a kernel: op, dtypes, the kind of each operand, outputs first, and
    the names of the op's numbers."""

    op: str
    outs: tuple[str, ...]
    ins: tuple[str, ...]
    kinds: str
    compute: str
    params: tuple[str, ...] = ()


class Option(NamedTuple):
    """A setting of inventories that a skeleton reads: a list of words, or of numbers between
    `low` and `high` where there are no words. `default` holds where the setting is missing."""

    name: str
    default: tuple[Any, ...]
    words: tuple[str, ...] = ()
    low: int = 0
    high: int = 0


class InventoryRequest(NamedTuple):
    """What an inventory's table asks a skeleton for: dtypes, and the values of its options."""

    dtypes: tuple[dtype, ...]
    options: Mapping[str, tuple[Any, ...]]
    target: KernelTarget


class Layout(NamedTuple):
    """A word of inventories for how operands lie, with its letter and meaning in tables."""

    word: str
    letter: str
    meaning: str


# Words for layouts that come with ftensor, in the order in which they are shown.
LINEAR = Layout("linear", "l", "linear")
ROWS = Layout("rows", "r", "rows of whole beats")
INNER = Layout("inner", "i", "inner")
OUTER = Layout("outer", "o", "outer (columns)")
ANY = Layout("strided", "s", "any strides")
GATHER = Layout("gather", "g", "gather")
SCATTER = Layout("scatter", "p", "put (scatter)")
LAYOUTS = (LINEAR, ROWS, INNER, OUTER, ANY, GATHER, SCATTER)


def table_lines(op: str, *more: str) -> tuple[str, ...]:
    """The lines of an inventory's table that asks for an op."""
    return ("[[kernel]]", f'ops = ["{op}"]', *more)
