"""take: runs and elements that one index tensor leads to (hls/skeleton/take.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype, int64
from ...geometry import Geometry, Long, Many
from ...inventory_terms import KernelTarget
from ...skeleton import Parameter, Skeleton, register
from ...workload import Ints
from ..sort import BITS


@dataclass(frozen=True)
class TakeKey:
    """One kernel: bytes of an element, the dtype of indices, whether each leads to a run."""

    size: int
    index: dtype
    lanes: int
    runs: bool
    skeleton = "take"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_take_{8 * self.size}_{self.index.name}" + "_runs" * self.runs


def take_key(of: dtype, index: dtype, target: KernelTarget, runs: bool) -> TakeKey | None:
    """The kernel, or None for elements that are larger than whole numbers."""
    if of.itemsize not in BITS:
        return None
    return TakeKey(of.itemsize, index, min(16, target.lanes_bytes // of.itemsize), runs)


@dataclass(frozen=True)
class TakeGeometry(Geometry):
    """What a launch is told: the innermost loop, cut into parts, and the step of what is found in
    it, the loops around it, and the steps of out, in and index in these."""

    derived = ("items",)
    n: int
    parts: int
    step: Long
    shape: Annotated[Ints, Many("dims")]
    steps: Annotated[tuple[Ints, ...], Many("dims", 3)]

    @property
    def items(self) -> int:
        """What the units share."""
        return prod(self.shape) * self.parts


class Take(Skeleton[TakeKey]):
    """Neighbours in vectors."""

    name = "take"
    geometry = TakeGeometry

    def parameters(self, key: TakeKey) -> tuple[Parameter, ...]:
        """Out, in, indices; offsets; the dim's size and step; where a bad index is noted."""
        of, index = BITS[key.size], BITS[key.index.itemsize]
        names = ("out", "in", "index")
        return (
            ("*", f"{of} *", "out"),
            ("*", f"const {of} *", "in"),
            ("*", f"const {index} *", "index"),
            *(("long", "long ", f"{name}_offset") for name in names),
            ("long", "long ", "size"),
            ("long", "long ", "stride"),
            ("*", "long *", "bad"),
            ("*", "const long *", "geometry"),
        )

    def compute(self, key: TakeKey) -> dtype:
        """Nothing is computed; places are."""
        return int64

    def defines(self, key: TakeKey) -> dict[str, object]:
        """What lies in memory."""
        index = BITS[key.index.itemsize]
        return {"FT_B": BITS[key.size], "FT_J": index, "FT_RUNS": int(key.runs)}

    def helpers(self, key: TakeKey) -> list[str]:
        """The check of one index."""
        return ["locate.h"]

    def title(self, key: TakeKey) -> str:
        """As what other devices have for it."""
        return "copy"

    def located(self, key: TakeKey) -> tuple[int, ...]:
        """What the indices lead to."""
        return (1,)


register(Take())
