"""Terms in which inventories, manifests and images describe kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ..dtypes import dtype

# Vector registers for tiles of 16 sums and their factors; with fewer, a tile has at most 6 sums.
ROOMY_REGISTERS = 24
SOME_REGISTERS = 8  # 16 registers of 8 floats


class KernelTarget(Protocol):
    """Properties of a device family or board that a key may depend on."""

    @property
    def grid(self) -> str:
        """How units share vectors: "slab" for a contiguous part each, "stride" for a loop over all
        with the grid's stride."""

    @property
    def lanes_bytes(self) -> int:
        """Bytes of a vector."""

    @property
    def registers(self) -> int:
        """Vector registers."""


class KernelArgument(NamedTuple):
    """One argument of an image's kernel. `what` is "*" or the C name of a scalar, `c` the full C
    type. `of` is the name of the launch parameter that it passes, if that differs from `name`."""

    name: str
    what: str
    c: str
    of: str = ""


class InventoryTerms(NamedTuple):
    """A kernel in the terms of an inventory.

    dtypes: of the inputs, then of the outputs
    signature: the same as text, "outs(ins)"
    layout: skeleton and access kinds of the operands in memory, outputs first
    lines: the inventory table that requests the kernel, or one that accepts any layout instead
    """

    entry: str
    op: str
    dtypes: tuple[str, ...]
    signature: str
    layout: str
    lines: tuple[str, ...]


class ManifestTerms(NamedTuple):
    """Manifest record of a kernel: op, dtypes, access kinds with outputs first, and the names of
    the op's scalar parameters."""

    op: str
    outs: tuple[str, ...]
    ins: tuple[str, ...]
    kinds: str
    compute: str
    params: tuple[str, ...] = ()


class Option(NamedTuple):
    """A setting of inventories that a skeleton reads: a list of `words`, or of numbers from `low`
    to `high` if `words` is empty. `default` is its value if the inventory does not set it."""

    name: str
    default: tuple[Any, ...]
    words: tuple[str, ...] = ()
    low: int = 0
    high: int = 0


class InventoryRequest(NamedTuple):
    """Request of an inventory table to a skeleton: dtypes and option values."""

    dtypes: tuple[dtype, ...]
    options: Mapping[str, tuple[Any, ...]]
    target: KernelTarget


class Layout(NamedTuple):
    """An inventory's name for an operand layout, with its letter and meaning in tables."""

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
    """Returns the lines of the inventory table that requests `op`."""
    return ("[[kernel]]", f'ops = ["{op}"]', *more)
