"""NumPy's functions on shapes (reshaping, joining, splitting, repeating, new arrays), and functions that
select, write, locate and sort elements, and those on sets."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .. import array_api as xp
from .._tensor import Tensor
from ..array_api.dtypes import check_number
from ..dtypes import int64, result_type
from ..rows.catalogue import op_of
from .padding import pad
from .values import dtype_of, floating, promote_pair, tensor, tensor_among


def _new_options(a: Tensor, shape: Any, dtype: Any) -> dict[str, Any]:
    return {
        "size": a.shape if shape is None else (shape,) if isinstance(shape, int) else shape,
        "dtype": dtype_of(dtype) or a.dtype,
        "device": a.device,
    }


def _concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Tensor:
    like = next(x for x in arrays if isinstance(x, Tensor))
    tensors = [x if isinstance(x, Tensor) else tensor(x, like) for x in arrays]
    if axis is None:
        tensors, axis = [x.reshape(-1) for x in tensors], 0
    result: Tensor = op_of("cat")(tensors, axis)
    return result if dtype is None else result.to(dtype_of(dtype))


def _expand_dims(a: Tensor, axis: Any) -> Tensor:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    total = a.ndim + len(axes)
    for position in sorted(k % total if -total <= k < total else k for k in axes):
        a = a.unsqueeze(position)
    return a


def _rollaxis(a: Tensor, axis: int, start: int = 0) -> Tensor:
    axis, start = axis % a.ndim, start + a.ndim * (start < 0)
    return a.movedim(axis, start - (axis < start))


def _split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    sections = indices_or_sections
    if isinstance(sections, (Tensor, np.ndarray)):
        sections = sections.tolist()
    return list(op_of("tensor_split")(ary, sections, axis))


def _equal_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    sections = indices_or_sections
    if isinstance(sections, int) and ary.shape[axis] % sections:
        return NotImplemented  # NumPy raises the error
    return _split(ary, sections, axis)


def _make_split(name: str) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:
        results = tuple([op_of(name)(x) for x in arys])
        return results[0] if len(results) == 1 else results

    return function


def _tile(A: Tensor, reps: Any) -> Tensor:
    return A.tile((reps,) if isinstance(reps, int) else tuple(reps))


def _repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    count = repeats if isinstance(repeats, int) else tensor(repeats, a)
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis)
    return op_of("repeat_interleave")(x, count, dim)


def _insert(arr: Tensor, obj: Any, values: Any, axis: int | None = None) -> Any:
    if not isinstance(obj, int) or (axis is not None and arr.ndim > 1):
        return NotImplemented
    flat = arr.reshape(-1)
    addition = tensor(values, arr).to(arr.dtype).reshape(-1)
    position = obj % (flat.shape[0] + (obj >= 0))
    return op_of("cat")([flat[:position], addition, flat[position:]])


def _delete(arr: Tensor, obj: Any, axis: int | None = None) -> Any:
    if isinstance(obj, Tensor):
        return NotImplemented
    x, dim = (arr.reshape(-1), 0) if axis is None else (arr, axis)
    return x.index_select(dim, tensor(np.delete(np.arange(x.shape[dim]), obj), x))


def _broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    like = next(x for x in args if isinstance(x, Tensor))
    return tuple(op_of("broadcast_tensors")(*[tensor(x, like) for x in args]))


def _make_stack(name: str) -> Callable[..., Any]:
    def function(tup: Any, dtype: Any = None) -> Any:
        like = next(x for x in tup if isinstance(x, Tensor))
        result = op_of(name)([x if isinstance(x, Tensor) else tensor(x, like) for x in tup])
        return result if dtype is None else result.to(dtype_of(dtype))

    return function


def _stack(arrays: Any, axis: int = 0, dtype: Any = None) -> Tensor:
    like = next(x for x in arrays if isinstance(x, Tensor))
    tensors = [_expand_dims(x if isinstance(x, Tensor) else tensor(x, like), axis) for x in arrays]
    return _concatenate(tensors, axis, dtype)


def _asarray(like: Tensor, a: Any, dtype: Any = None, copy: Any = None) -> Tensor:
    return op_of("asarray")(a, dtype=dtype_of(dtype), device=like.device, copy=copy)


def _make_factory(name: str) -> Callable[..., Any]:
    def function(like: Tensor, shape: Any, dtype: Any = None) -> Any:
        return op_of(name)(shape, dtype=dtype_of(dtype), device=like.device)

    return function


def _eye(like: Tensor, N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    result_dtype = dtype_of(None if dtype is float else dtype)
    return xp.eye(N, M, k=k, dtype=result_dtype, device=like.device)  # type: ignore[attr-defined]


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    first, last = promote_pair(start, stop)
    first, last = floating(first), floating(last)
    steps = max(num - endpoint, 1)
    positions = op_of("arange")(num, device=first.device, dtype=first.dtype) / steps
    positions = positions.reshape((num, *[1] * max(first.ndim, last.ndim)))
    values = first + (last - first) * positions
    return values if dtype is None else values.to(dtype_of(dtype))


# Functions with a parameter `like`: called with that tensor and the function's arguments.
CREATION: dict[str, Callable[..., Any]] = {
    "arange": lambda like, *args, dtype=None: op_of("arange")(*args, dtype=dtype_of(dtype), device=like.device),
    "array": lambda like, object, dtype=None, copy=True: _asarray(like, object, dtype, copy),
    "asanyarray": _asarray,
    "asarray": _asarray,
    "ascontiguousarray": lambda like, a, dtype=None: _asarray(like, a, dtype).contiguous(),
    "empty": _make_factory("empty"),
    "eye": _eye,
    "full": lambda like, shape, fill_value, dtype=None: op_of("full")(
        shape, fill_value, dtype=dtype_of(dtype), device=like.device
    ),
    "identity": lambda like, n, dtype=None: _eye(like, n, dtype=dtype),
    "ones": _make_factory("ones"),
    "tri": lambda like, N, M=None, k=0, dtype=None: op_of("ones")(
        (N, N if M is None else M), dtype=dtype_of(None if dtype is float else dtype), device=like.device
    ).tril(k),
    "zeros": _make_factory("zeros"),
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "append": lambda arr, values, axis=None: _concatenate((arr, values), axis),
    "array_split": _split,
    "astype": lambda x, dtype, copy=True: x.astype(dtype, copy=copy),
    "atleast_1d": _make_split("atleast_1d"),
    "atleast_2d": _make_split("atleast_2d"),
    "atleast_3d": _make_split("atleast_3d"),
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_to": lambda array, shape: array.broadcast_to(shape),
    "column_stack": _make_stack("column_stack"),
    "concatenate": _concatenate,
    "copy": lambda a: a.clone(),
    "delete": _delete,
    "dsplit": lambda ary, indices_or_sections: _equal_split(ary, indices_or_sections, 2),
    "dstack": _make_stack("dstack"),
    "empty_like": lambda prototype, dtype=None, shape=None: op_of("empty")(**_new_options(prototype, shape, dtype)),
    "expand_dims": _expand_dims,
    "flip": lambda m, axis=None: xp.flip(m, axis=axis),  # type: ignore[attr-defined]
    "fliplr": lambda m: m.fliplr(),
    "flipud": lambda m: m.flipud(),
    "full_like": lambda a, fill_value, dtype=None, shape=None: op_of("full")(
        fill_value=fill_value, **_new_options(a, shape, dtype)
    ),
    "hsplit": lambda ary, indices_or_sections: _equal_split(ary, indices_or_sections, int(ary.ndim > 1)),
    "hstack": _make_stack("hstack"),
    "insert": _insert,
    "lib.stride_tricks.sliding_window_view": lambda x, window_shape, axis=None: (
        x.unfold(0 if axis is None else axis, window_shape, 1)
        if isinstance(window_shape, int) and (x.ndim == 1 or isinstance(axis, int))
        else NotImplemented
    ),
    "linspace": _linspace,
    "matrix_transpose": lambda x: x.mT,
    "meshgrid": lambda *xi, indexing="xy", sparse=False, copy=True: (
        NotImplemented if sparse else tuple(op_of("meshgrid")(*xi, indexing=indexing))
    ),
    "moveaxis": lambda a, source, destination: a.movedim(source, destination),
    "ones_like": lambda a, dtype=None, shape=None: op_of("ones")(**_new_options(a, shape, dtype)),
    "pad": pad,
    "ravel": lambda a: a.reshape(-1),
    "repeat": _repeat,
    "reshape": lambda a, shape, copy=None: xp.reshape(  # type: ignore[attr-defined]
        a, (shape,) if isinstance(shape, int) else shape, copy=copy
    ),
    "roll": lambda a, shift, axis=None: xp.roll(a, shift, axis=axis),  # type: ignore[attr-defined]
    "rollaxis": _rollaxis,
    "rot90": lambda m, k=1, axes=(0, 1): m.rot90(k, axes),
    "split": _equal_split,
    "squeeze": lambda a, axis=None: a.squeeze() if axis is None else xp.squeeze(a, axis),  # type: ignore[attr-defined]
    "stack": _stack,
    "swapaxes": lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    "tile": _tile,
    "transpose": lambda a, axes=None: a.permute(tuple(range(a.ndim))[::-1] if axes is None else axes),
    "unstack": lambda x, axis=0: x.unbind(axis),
    "vsplit": lambda ary, indices_or_sections: _equal_split(ary, indices_or_sections, 0),
    "vstack": _make_stack("vstack"),
    "zeros_like": lambda a, dtype=None, shape=None: op_of("zeros")(**_new_options(a, shape, dtype)),
}


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    like = tensor_among(condition, x, y)
    if x is None and y is None:
        return tuple(op_of("nonzero")(like, as_tuple=True))
    mask = tensor(condition, like)
    choices = [v if isinstance(v, (Tensor, int, float, complex)) else tensor(v, like) for v in (x, y)]
    for choice in choices:
        check_number("numpy.where", choice, result_type(*choices))
    return op_of("where")(mask if mask.dtype.kind == "b" else mask.ne(0), *choices)


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    like = tensor_among(condlist, choicelist)
    selected = tensor(default, like).to(result_type(*choicelist, default))
    for mask, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        selected = _where(mask, choice, selected)
    return selected


def _wrap_indices(indices: Any, size: int, like: Tensor) -> Tensor:
    positions = tensor(indices, like).to(int64)
    return op_of("where")(positions < 0, positions + size, positions)


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
        positions, values[op_of("arange")(positions.numel(), device=a.device) % values.numel()].reshape(positions.shape)
    )


def _putmask(a: Tensor, mask: Any, values: Any) -> None:
    repeated = tensor(values, a).to(a.dtype).reshape(-1)
    value_index = op_of("arange")(a.numel(), device=a.device) % repeated.numel()
    a.copy_(op_of("where")(tensor(mask, a).ne(0), repeated[value_index].reshape(a.shape), a))


def _place(arr: Tensor, mask: Any, vals: Any) -> None:
    positions = tensor(mask, arr).ne(0).reshape(-1).nonzero().reshape(-1)
    _put(arr, positions, vals)


def _copyto(dst: Any, src: Any, where: Any = True) -> None:
    # the destination is an array, so the host's copy is no fallback
    if not isinstance(dst, Tensor):
        np.copyto(dst, np.asarray(src), where=np.asarray(where))
        return
    source = tensor(src, dst)
    dst.copy_(source if where is True else op_of("where")(tensor(where, dst), source.to(dst.dtype), dst))


def _fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    if isinstance(val, (int, float, complex)):
        a.fill_diagonal_(val, wrap)
    else:
        positions = op_of("arange")(min(a.shape), device=a.device)
        values = tensor(val, a).to(a.dtype).reshape(-1)
        a.index_put_((positions,) * a.ndim, values[positions % values.numel()])


def _ix(*args: Any) -> tuple[Any, ...]:
    like = tensor_among(args)
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
        return tuple(op_of(name)(arr.shape[-2], arr.shape[-1], k, device=arr.device).unbind())

    return function


FUNCTIONS |= {
    "argwhere": lambda a: a.nonzero(),
    "compress": lambda condition, a, axis=None: _take(
        a, np.flatnonzero(condition.tolist() if isinstance(condition, Tensor) else condition), axis
    ),
    "copyto": _copyto,
    "diag": lambda v, k=0: op_of("diag")(v, k),
    "diag_indices_from": lambda arr: (op_of("arange")(arr.shape[0], device=arr.device),) * arr.ndim,
    "diagflat": lambda v, k=0: op_of("diagflat")(v, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: a.diagonal(offset, axis1, axis2),
    "extract": lambda condition, arr: arr.reshape(-1)[tensor(condition, arr).ne(0).reshape(-1)],
    "fill_diagonal": _fill_diagonal,
    "flatnonzero": lambda a: a.reshape(-1).nonzero().reshape(-1),
    "ix_": _ix,
    "nonzero": lambda a: tuple(op_of("nonzero")(a, as_tuple=True)),
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
    "unravel_index": lambda indices, shape: tuple(op_of("unravel_index")(indices, shape)),
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
    return op_of("unique")(ar, True, return_inverse, return_counts)


def _make_set_operation(keep: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Any]:
    """Returns a set operation on the distinct elements of two arrays."""

    def function(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
        a, b = [op_of("unique")(x.reshape(-1)) for x in promote_pair(ar1, ar2)]
        return keep(a, b)

    return function


def _setxor(a: Tensor, b: Tensor) -> Tensor:
    pieces = [a[op_of("isin")(a, b, invert=True)], b[op_of("isin")(b, a, invert=True)]]
    result: Tensor = op_of("cat")(pieces)
    return result.sort()[0]


def _isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Tensor:
    return op_of("isin")(*promote_pair(element, test_elements), invert=invert)


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    like = tensor_among(x, bins)
    edges = tensor(bins, like)
    if not bool((edges.diff() >= 0).all().item()):
        return NotImplemented
    return op_of("bucketize")(tensor(x, like), edges, right=not right)


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    like = tensor_among(a, v)
    order = None if sorter is None else tensor(sorter, like)
    first, second = promote_pair(a, v)
    return op_of("searchsorted")(first, second, side=side, sorter=order)


FUNCTIONS |= {
    "argpartition": lambda a, kth, axis=-1: _argsort(a, axis),
    "argsort": _argsort,
    "digitize": _digitize,
    "intersect1d": _make_set_operation(lambda a, b: a[op_of("isin")(a, b)]),
    "isin": _isin,
    "lexsort": _lexsort,
    "partition": lambda a, kth, axis=-1: _sort(a, axis),
    "searchsorted": _searchsorted,
    "setdiff1d": _make_set_operation(lambda a, b: a[op_of("isin")(a, b, invert=True)]),
    "setxor1d": _make_set_operation(_setxor),
    "sort": _sort,
    "union1d": lambda ar1, ar2: op_of("unique")(op_of("cat")([x.reshape(-1) for x in promote_pair(ar1, ar2)])),
    "unique": _unique,
    "unique_all": lambda x: xp.unique_all(x),  # type: ignore[attr-defined]
    "unique_counts": lambda x: xp.unique_counts(x),  # type: ignore[attr-defined]
    "unique_inverse": lambda x: xp.unique_inverse(x),  # type: ignore[attr-defined]
    "unique_values": lambda x: xp.unique_values(x),  # type: ignore[attr-defined]
}
