"""recurrent, recurrent_back: all steps of an LSTM or GRU layer (hls/skeleton/recurrent.h,
recurrent_back.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ....dtypes import dtype
from ... import source
from ...geometry import Geometry, NamedFields
from ...inventory_terms import ROOMY_REGISTERS, KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, Skeleton, register
from ...workload import Ints

GATES = {"lstm": 4, "gru": 3}


@dataclass(frozen=True)
class RecurrentKey:
    """Key of a recurrent layer or of its derivative: the cell ("lstm" or "gru"), the dtype, and the
    sequences per item (`tile_rows`). With `saved`, the layer stores its gates for the derivative.
    """

    skeleton: str
    cell: str
    dtype: dtype
    lanes: int
    tile_rows: int
    saved: bool = False

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        parts = (self.skeleton, self.cell, self.dtype.name, self.lanes, self.tile_rows)
        return "_".join(["ft", *map(str, parts)]) + "_saved" * self.saved


def recurrent_key(
    skeleton: str, cell: str, dtype: dtype, target: KernelTarget, batch: int, width: int, saved: bool = False
) -> RecurrentKey:
    """Returns the key for `batch` sequences and states of `width` elements. The lanes are a divisor
    of the width, and the sums of an item fit the registers."""
    is_roomy = target.registers >= ROOMY_REGISTERS
    lanes = lanes_for([dtype], dtype, target.lanes_bytes if is_roomy else target.lanes_bytes // 2)
    while width % lanes:
        lanes //= 2
    return RecurrentKey(skeleton, cell, dtype, lanes, min(batch, 4 if is_roomy else 2), saved)


@dataclass(frozen=True)
class RecurrentGeometry(Geometry):
    """Geometry buffer: `items` groups of sequences; `reverse` begins with the last step. Strides:
    of a step and of a row of the hidden states (or of their gradients), and of a step of the cell
    states; all else is contiguous."""

    items: int
    steps: int
    batch: int
    width: int
    reverse: int
    hidden: Annotated[Ints, NamedFields("step row")]
    cells: Annotated[Ints, NamedFields("step")]


class Recurrent(Skeleton[RecurrentKey]):
    """The steps of a layer, forward."""

    name = "recurrent"
    geometry = RecurrentGeometry

    def helpers(self, key: RecurrentKey) -> list[str]:
        return ["math.h"]

    def operands(self, key: RecurrentKey) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the names of the results and of the inputs."""
        results = ("hidden", *["cells"] * (key.cell == "lstm"), *["saved"] * key.saved)
        return results, ("input", "h", "other", "weight")

    def parameters(self, key: RecurrentKey) -> tuple[Parameter, ...]:
        c_type = source.scalar(key.dtype)
        results, inputs = self.operands(key)
        return (
            *[("*", f"{c_type} *", name) for name in results],
            *[("*", f"const {c_type} *", name) for name in inputs],
            *[("long", "long ", f"{name}_offset") for name in (*results, *inputs)],
            ("*", "const long *", "geometry"),
        )

    def defines(self, key: RecurrentKey) -> dict[str, object]:
        return {"FT_LSTM": int(key.cell == "lstm"), "FT_SAVED": int(key.saved), "FT_TILE_ROWS": key.tile_rows}

    def title(self, key: RecurrentKey) -> str:
        return key.cell

    def flops(self, key: RecurrentKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns a product and an addition for each weight, sequence and step."""
        _, steps, batch, width, *_ = geometry
        return 2 * GATES[key.cell] * steps * batch * width * width


register(Recurrent())


class RecurrentBack(Recurrent):
    """The derivative, from the last step to the first."""

    name = "recurrent_back"

    def operands(self, key: RecurrentKey) -> tuple[tuple[str, ...], tuple[str, ...]]:
        inputs = ("dy", "saved", "states", "weight", "dh_last")
        return ("d_gates", "d_other", "dh"), (*inputs, *["dc_last"] * (key.cell == "lstm"))


register(RecurrentBack())
