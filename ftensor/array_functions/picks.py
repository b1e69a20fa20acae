"""NumPy's functions that select, write, locate and sort elements, and those on sets."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .. import array_api as xp
from .._tensor import Tensor
from ..array_api.dtypes import check_number
from ..dtypes import int64, result_type
from .values import first_tensor, op, promote_pair, tensor


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    like = first_tensor(condition, x, y)
    assert like is not None, "where() of no tensor"
    if x is None and y is None:
        return tuple(op("nonzero")(like, as_tuple=True))
    mask = tensor(condition, like)
    choices = [v if isinstance(v, (Tensor, int, float, complex)) else tensor(v, like) for v in (x, y)]
    for choice in choices:
        check_number("numpy.where", choice, result_type(*choices))
    return op("where")(mask if mask.dtype.kind == "b" else mask.ne(0), *choices)


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    like = first_tensor(condlist, choicelist)
    assert like is not None, "select() of no tensor"
    selected = tensor(default, like).to(result_type(*choicelist, default))
    for mask, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        selected = _where(mask, choice, selected)
    return selected


def _wrap_indices(indices: Any, size: int, like: Tensor) -> Tensor:
    positions = tensor(indices, like).to(int64)
    counted: Tensor = op("where")(positions < 0, positions + size, positions)
    return counted


def _take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    if mode != "raise" or not isinstance(a, Tensor):
        return NotImplemented
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis % a.ndim)
    if isinstance(indices, int):
        return x.select(dim, indices)
    return x[(*[slice(None)] * dim, tensor(indices, a))]


def _take_along_axis(arr: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    x, along = (arr.reshape(-1), 0) if axis is None else (arr, axis)
    return x.take_along_dim(_wrap_indices(indices, x.shape[along], arr), along)


def _put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        arr.put_(_wrap_indices(indices, arr.numel(), arr), tensor(values, arr).to(arr.dtype))
        return
    positions = _wrap_indices(indices, arr.shape[axis], arr)
    arr.scatter_(axis, positions, tensor(values, arr).to(arr.dtype).expand(positions.shape))


def _put(a: Tensor, ind: Any, v: Any) -> None:
    positions = _wrap_indices(ind, a.numel(), a)
    values = tensor(v, a).to(a.dtype).reshape(-1)
    a.put_(
        positions, values[op("arange")(positions.numel(), device=a.device) % values.numel()].reshape(positions.shape)
    )


def _putmask(a: Tensor, mask: Any, values: Any) -> None:
    repeated = tensor(values, a).to(a.dtype).reshape(-1)
    value_index = op("arange")(a.numel(), device=a.device) % repeated.numel()
    a.copy_(op("where")(tensor(mask, a).ne(0), repeated[value_index].reshape(a.shape), a))


def _place(arr: Tensor, mask: Any, vals: Any) -> None:
    positions = tensor(mask, arr).ne(0).reshape(-1).nonzero().reshape(-1)
    _put(arr, positions, vals)


def _copyto(dst: Any, src: Any, where: Any = True) -> None:
    # the destination is an array, so the host's copy is no fallback
    if not isinstance(dst, Tensor):
        np.copyto(dst, np.asarray(src), where=np.asarray(where))
        return
    source = tensor(src, dst)
    dst.copy_(source if where is True else op("where")(tensor(where, dst), source.to(dst.dtype), dst))


def _fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    if isinstance(val, (int, float, complex)):
        a.fill_diagonal_(val, wrap)
    else:
        positions = op("arange")(min(a.shape), device=a.device)
        values = tensor(val, a).to(a.dtype).reshape(-1)
        a.index_put_((positions,) * a.ndim, values[positions % values.numel()])


def _ix(*args: Any) -> tuple[Any, ...]:
    like = first_tensor(args)
    assert like is not None, "ix_() of no tensor"
    ndim = len(args)
    grids = []
    for k, x in enumerate(args):
        index = tensor(x, like)
        positions = index.nonzero().reshape(-1) if index.dtype.kind == "b" else index
        grids.append(positions.reshape([-1 if j == k else 1 for j in range(ndim)]))
    return tuple(grids)


def _ravel_multi_index(multi_index: Any, dims: Any) -> Tensor:
    sizes = (dims,) if isinstance(dims, int) else tuple(dims)
    terms = [x * prod(sizes[k + 1 :]) for k, x in enumerate(multi_index)]
    flat: Tensor = sum(terms[1:], terms[0])
    return flat


def _triangle(name: str) -> Callable[..., Any]:
    def function(arr: Tensor, k: int = 0) -> Any:
        return tuple(op(name)(arr.shape[-2], arr.shape[-1], k, device=arr.device).unbind())

    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argwhere": lambda a: a.nonzero(),
    "compress": lambda condition, a, axis=None: _take(
        a, np.flatnonzero(condition.tolist() if isinstance(condition, Tensor) else condition), axis
    ),
    "copyto": _copyto,
    "diag": lambda v, k=0: op("diag")(v, k),
    "diag_indices_from": lambda arr: (op("arange")(arr.shape[0], device=arr.device),) * arr.ndim,
    "diagflat": lambda v, k=0: op("diagflat")(v, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: a.diagonal(offset, axis1, axis2),
    "extract": lambda condition, arr: arr.reshape(-1)[tensor(condition, arr).ne(0).reshape(-1)],
    "fill_diagonal": _fill_diagonal,
    "flatnonzero": lambda a: a.reshape(-1).nonzero().reshape(-1),
    "ix_": _ix,
    "nonzero": lambda a: tuple(op("nonzero")(a, as_tuple=True)),
    "place": _place,
    "put": _put,
    "put_along_axis": _put_along_axis,
    "putmask": _putmask,
    "ravel_multi_index": _ravel_multi_index,
    "select": _select,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "tril": lambda m, k=0: m.tril(k),
    "tril_indices_from": _triangle("tril_indices"),
    "triu": lambda m, k=0: m.triu(k),
    "triu_indices_from": _triangle("triu_indices"),
    "unravel_index": lambda indices, shape: tuple(op("unravel_index")(indices, shape)),
    "where": _where,
}


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


FUNCTIONS |= {
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
