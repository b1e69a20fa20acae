"""Sorting: sort, argsort, msort, and the first of what is sorted: topk."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import order as errors_order
from ...execute.board_sort import first
from ...execute.sort import select, selects, values_in_order
from ...execute.sort import sort as run
from ...kernels.skeletons.cpu.sort_rows import FIRST
from ...rows.catalogue import op
from ..compose import composed
from .arguments import along, returned


def ordered(name: str, input: Any, dim: Any, descending: Any = False) -> tuple[Tensor, ...]:
    """Values and places of a sort, in the input's shape. RuntimeError for complex numbers."""
    x, at = along(name, input, dim)
    if x._dtype.is_complex:
        raise errors_order.no_order(name, x._dtype)
    if not isinstance(descending, bool):
        raise errors.argument_type(name, "descending", "a bool", descending)
    results = run(x, at, descending)
    return results if input.ndim else tuple([t.reshape(()) for t in results])


def values(name: str, input: Any, dim: Any) -> Tensor:
    """The values alone of `ordered`."""
    x, at = along(name, input, dim)
    if x._dtype.is_complex:
        raise errors_order.no_order(name, x._dtype)
    return values_in_order(x, at).reshape(input._shape)


@op(forms=("sort(input, dim=-1, descending=False, *, stable=False, out=None) -> (values, indices)",), bare="uh")
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False, out: Any = None
) -> tuple[Tensor, Tensor]:
    """The elements in order along `dim`, and the places that they come from. NaN is the largest;
    equal elements stay as they stood, with `stable` and without. RuntimeError for complex numbers.
    """
    return returned("sort", ordered("sort", input, dim, descending), out)


@composed(
    exact=True, forms=("argsort(input, dim=-1, descending=False, *, stable=False, out=None) -> Tensor",), bare="uh"
)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The places that sorted elements come from, as `sort` gives them."""
    return ordered("argsort", input, dim, descending)[1]


@composed(exact=True, bare="uh")
def msort(input: Tensor) -> Tensor:
    """The elements in order along the first dim."""
    return values("msort", input, 0)


@op(bare="h")
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) elements along `dim`, in order, and their places. RuntimeError
    for a `k` beyond the dim's size, for bool and for complex numbers.
    """
    x, at = along("topk", input, dim)
    if x._dtype.is_complex:
        raise errors_order.no_order("topk", x._dtype)
    if x._dtype.kind == "b":
        raise errors_order.not_of_bool("topk", x._dtype)
    if not 0 <= k <= x._shape[at]:
        raise errors_order.selected("topk", k, x._shape[at], 0)
    k = k if input.ndim else 1  # a number is its own largest, however few are asked for
    results = first(x, at, k, largest) if isinstance(largest, bool) else None
    if results is not None:
        pass
    elif 0 < k <= x._shape[at] // 8 and isinstance(largest, bool) and selects(x):
        picked, places = select(x, at, FIRST, k, largest)
        values, order = ordered("topk", picked, at, largest)
        results = (values, places.gather(at, order))
    else:
        pair = ordered("topk", x, at, largest)
        results = tuple([t.narrow(at, 0, k).contiguous() for t in pair])
    if not input.ndim:
        results = tuple([t.reshape(()) for t in results])
    return returned("topk", results, out)
