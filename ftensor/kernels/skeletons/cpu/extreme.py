"""extreme: index of the largest or smallest element of a row (hls/skeleton/extreme.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from .... import dtypes
from ....dtypes import dtype
from ... import source
from ...geometry import Geometry, ListField, Long
from ...inventory_terms import KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, Skeleton, c_parameters, register
from ...workload import Ints

# Least and greatest value of a dtype, the start of a maximum and of a minimum.
_WORST = {
    "float32": ("-INFINITY", "INFINITY"),
    "float64": ("-INFINITY", "INFINITY"),
    "int32": ("(-0x7fffffff - 1)", "0x7fffffff"),
    "int64": ("(-0x7fffffffffffffffL - 1)", "0x7fffffffffffffffL"),
}


@dataclass(frozen=True)
class ExtremeKey:
    """Key of an argmax or argmin kernel: dtypes of elements and of indices, `smallest` for argmin,
    `values` to return the values, too."""

    dtype: dtypes.dtype
    place: dtypes.dtype
    lanes: int
    smallest: bool
    values: bool
    skeleton = "extreme"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        what = "min" if self.smallest else "max"
        return f"ft_arg{what}_{self.dtype.name}_{self.place.name}" + "_values" * self.values


def extreme_key(
    dtype: dtype, index_dtype: dtype, target: KernelTarget, smallest: bool, values: bool
) -> ExtremeKey | None:
    """Returns the key; None if the skeleton does not accept the dtype."""
    if dtype.name not in _WORST:
        return None
    return ExtremeKey(dtype, index_dtype, lanes_for([dtype], dtype, target.lanes_bytes), smallest, values)


@dataclass(frozen=True)
class ExtremeGeometry(Geometry):
    """Geometry buffer: rows of `n` elements, each in `splits` splits whose results are `split_step`
    apart, and the loop nest over rows with the strides of results and input."""

    derived = ("items",)
    n: int
    splits: int
    split_step: Long
    shape: Annotated[Ints, ListField("dims")]
    written: Annotated[Ints, ListField("dims")]
    read: Annotated[Ints, ListField("dims")]

    @property
    def items(self) -> int:
        """Number of splits of all rows, which the compute units share."""
        return prod(self.shape) * self.splits


class Extreme(Skeleton[ExtremeKey]):
    """Finds the extreme value of each block of a row, then scans the best block for the index."""

    name = "extreme"
    geometry = ExtremeGeometry

    def parameters(self, key: ExtremeKey) -> tuple[Parameter, ...]:
        c = source.scalar(key.dtype)
        pointers = f"{source.scalar(key.place)} *places, const {c} *in"
        if key.values:
            return c_parameters(f"{c} *values, {pointers}", "values places in")
        return c_parameters(pointers, "places in")

    def defines(self, key: ExtremeKey) -> dict[str, object]:
        return {
            "FT_PLACE": source.scalar(key.place),
            "FT_SMALLEST": int(key.smallest),
            "FT_VALUES": int(key.values),
            "FT_WORST": _WORST[key.dtype.name][key.smallest],
        }

    def title(self, key: ExtremeKey) -> str:
        return "min" if key.smallest else "max"


register(Extreme())
