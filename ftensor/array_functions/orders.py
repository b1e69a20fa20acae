"""NumPy's functions that sort, search, and treat arrays as sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import array_api as xp
from .._tensor import Tensor
from .values import first_tensor, op, promote_pair, tensor


def _sort(a: Tensor, axis: int | None = -1, kind: Any = None, stable: Any = None) -> Any:
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis)
    return NotImplemented if x.dtype.kind == "c" else x.sort(dim)[0]


def _argsort(a: Tensor, axis: int | None = -1, kind: Any = None, stable: Any = None) -> Any:
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis)
    return NotImplemented if x.dtype.kind == "c" else x.sort(dim, stable=True)[1]


def _lexsort(keys: Any, axis: int = -1) -> Tensor:
    order: Any = None
    for key in keys:
        sorted_key = key if order is None else key.take_along_dim(order, axis)
        permutation = sorted_key.sort(axis, stable=True)[1]
        order = permutation if order is None else order.take_along_dim(permutation, axis)
    indices: Tensor = order
    return indices


def _unique(
    ar: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: None = None,
    equal_nan: bool = True,
) -> Any:
    has_equal_nans = ar.dtype.kind == "f" and equal_nan and ar.isnan().sum().item() > 1
    if return_index or axis is not None or has_equal_nans or ar.dtype.kind == "c":
        return NotImplemented
    return op("unique")(ar, True, return_inverse, return_counts)


def _make_set_operation(keep: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Any]:
    """Returns a set operation on the distinct elements of two arrays."""

    def function(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
        a, b = [op("unique")(x.reshape(-1)) for x in promote_pair(ar1, ar2)]
        return keep(a, b)

    return function


def _setxor(a: Tensor, b: Tensor) -> Tensor:
    pieces = [a[op("isin")(a, b, invert=True)], b[op("isin")(b, a, invert=True)]]
    result: Tensor = op("cat")(pieces)
    return result.sort()[0]


def _isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Tensor:
    mask: Tensor = op("isin")(*promote_pair(element, test_elements), invert=invert)
    return mask


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    like = first_tensor(x, bins)
    assert like is not None, "digitize() of no tensor"
    edges = tensor(bins, like)
    if not bool((edges.diff() >= 0).all().item()):
        return NotImplemented
    return op("bucketize")(tensor(x, like), edges, right=not right)


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    like = first_tensor(a, v)
    assert like is not None, "searchsorted() of no tensor"
    order = None if sorter is None else tensor(sorter, like)
    first, second = promote_pair(a, v)
    return op("searchsorted")(first, second, side=side, sorter=order)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argpartition": lambda a, kth, axis=-1: _argsort(a, axis),
    "argsort": _argsort,
    "digitize": _digitize,
    "intersect1d": _make_set_operation(lambda a, b: a[op("isin")(a, b)]),
    "isin": _isin,
    "lexsort": _lexsort,
    "partition": lambda a, kth, axis=-1: _sort(a, axis),
    "searchsorted": _searchsorted,
    "setdiff1d": _make_set_operation(lambda a, b: a[op("isin")(a, b, invert=True)]),
    "setxor1d": _make_set_operation(_setxor),
    "sort": _sort,
    "union1d": lambda ar1, ar2: op("unique")(op("cat")([x.reshape(-1) for x in promote_pair(ar1, ar2)])),
    "unique": _unique,
    "unique_all": lambda x: xp.unique_all(x),  # type: ignore[attr-defined]
    "unique_counts": lambda x: xp.unique_counts(x),  # type: ignore[attr-defined]
    "unique_inverse": lambda x: xp.unique_inverse(x),  # type: ignore[attr-defined]
    "unique_values": lambda x: xp.unique_values(x),  # type: ignore[attr-defined]
}
