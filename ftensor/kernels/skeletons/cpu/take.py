"""take: elements or contiguous runs that one index tensor selects (hls/skeleton/take.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype, int64
from ...geometry import Geometry, ListField, Long
from ...inventory_terms import KernelTarget
from ...skeleton import Parameter, Skeleton, c_parameters, register
from ...workload import Ints
from ..sort import BITS


@dataclass(frozen=True)
class TakeKey:
    """Key of a take kernel: bytes of an element, dtype of indices; `runs` if each index selects a
    run."""

    size: int
    index: dtype
    lanes: int
    runs: bool
    skeleton = "take"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_take_{8 * self.size}_{self.index.name}" + "_runs" * self.runs


def take_key(dtype: dtype, index: dtype, target: KernelTarget, contiguous: bool) -> TakeKey | None:
    """Returns the key; None for elements without an integer type of their size."""
    if dtype.itemsize not in BITS:
        return None
    return TakeKey(dtype.itemsize, index, min(16, target.lanes_bytes // dtype.itemsize), contiguous)


@dataclass(frozen=True)
class TakeGeometry(Geometry):
    """Geometry buffer: the innermost loop of `n` iterations in `parts` parts, and the stride of the
    selected elements in this loop; the outer loops, with the strides of out, in and index."""

    derived = ("items",)
    n: int
    parts: int
    step: Long
    shape: Annotated[Ints, ListField("dims")]
    outer_strides: Annotated[tuple[Ints, ...], ListField("dims", 3)]

    @property
    def items(self) -> int:
        """Parts of rows to share among the compute units."""
        return prod(self.shape) * self.parts


class Take(Skeleton[TakeKey]):
    """Gather along a dim, with contiguous elements in vectors."""

    name = "take"
    geometry = TakeGeometry

    def parameters(self, key: TakeKey) -> tuple[Parameter, ...]:
        c, index = BITS[key.size], BITS[key.index.itemsize]
        last = "long size, long stride, long *bad, const long *geometry"
        return c_parameters(f"{c} *out, const {c} *in, const {index} *index", "out in index", last)

    def compute(self, key: TakeKey) -> dtype:
        """Returns int64: the kernel only computes addresses."""
        return int64

    def defines(self, key: TakeKey) -> dict[str, object]:
        index = BITS[key.index.itemsize]
        return {"FT_B": BITS[key.size], "FT_J": index, "FT_RUNS": int(key.runs)}

    def helpers(self, key: TakeKey) -> list[str]:
        return ["locate.h"]

    def title(self, key: TakeKey) -> str:
        return "copy"

    def located(self, key: TakeKey) -> tuple[int, ...]:
        return (1,)


register(Take())
