"""NumPy's functions on shapes, those that select, write, locate and sort elements, and those on sets, as far
as they are no single call of an op."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..array_api.dtypes import check_number
from ..dtypes import int64, result_type
from ..rows.catalogue import op_of
from .padding import pad
from .values import dtype_of, floating, promote_pair, tensor, tensor_among


def new_options(a: Tensor, shape: Any, dtype: Any) -> dict[str, Any]:
    return {
        "size": a.shape if shape is None else (shape,) if isinstance(shape, int) else shape,
        "dtype": dtype_of(dtype) or a.dtype,
        "device": a.device,
    }


def float_default(dtype: Any) -> Any:
    """Returns ftensor's dtype; None for Python's `float`, NumPy's default."""
    return dtype_of(None if dtype is float else dtype)


def tensors(values: Any) -> list[Tensor]:
    like = tensor_among(*values)
    return [x if isinstance(x, Tensor) else tensor(x, like) for x in values]


def in_dtype(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype is None else x.to(dtype_of(dtype))


def _concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Tensor:
    pieces = tensors(arrays)
    if axis is None:
        pieces, axis = [x.reshape(-1) for x in pieces], 0
    return in_dtype(op_of("cat")(pieces, axis), dtype)


def flat_or_along(a: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """Returns the flattened tensor and dim 0 if `axis` is None."""
    return (a.reshape(-1), 0) if axis is None else (a, axis)


def _expand_dims(a: Tensor, axis: Any) -> Tensor:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    total = a.ndim + len(axes)
    for position in sorted(k % total if -total <= k < total else k for k in axes):
        a = a.unsqueeze(position)
    return a


def _rollaxis(a: Tensor, axis: int, start: int = 0) -> Tensor:
    axis, start = axis % a.ndim, start + a.ndim * (start < 0)
    return a.movedim(axis, start - (axis < start))


def _array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    sections = indices_or_sections
    if isinstance(sections, (Tensor, np.ndarray)):
        sections = sections.tolist()
    return list(op_of("tensor_split")(ary, sections, axis))


def _split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    sections = indices_or_sections
    if isinstance(sections, int) and ary.shape[axis] % sections:
        return NotImplemented  # NumPy raises the error
    return _array_split(ary, sections, axis)


def _repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    count = repeats if isinstance(repeats, int) else tensor(repeats, a)
    x, dim = flat_or_along(a, axis)
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
    x, dim = flat_or_along(arr, axis)
    return x.index_select(dim, tensor(np.delete(np.arange(x.shape[dim]), obj), x))


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    first, last = promote_pair(start, stop)
    first, last = floating(first), floating(last)
    steps = max(num - endpoint, 1)
    positions = op_of("arange")(num, device=first.device, dtype=first.dtype) / steps
    positions = positions.reshape((num, *[1] * max(first.ndim, last.ndim)))
    values = first + (last - first) * positions
    return values if dtype is None else values.to(dtype_of(dtype))


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


def taken(a: Tensor, indices: Any, axis: int | None) -> Any:
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis % a.ndim)
    if isinstance(indices, int):
        return x.select(dim, indices)
    return x[(*[slice(None)] * dim, tensor(indices, a))]


def _take_along_axis(arr: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    x, along = flat_or_along(arr, axis)
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


def _ix_(*args: Any) -> tuple[Any, ...]:
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
    return sum(terms[1:], terms[0])


def _lexsort(keys: Any, axis: int = -1) -> Tensor:
    order: Any = None
    for key in keys:
        sorted_key = key if order is None else key.take_along_dim(order, axis)
        permutation = sorted_key.sort(axis, stable=True)[1]
        order = permutation if order is None else order.take_along_dim(permutation, axis)
    return order


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


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    like = tensor_among(x, bins)
    edges = tensor(bins, like)
    if not bool((edges.diff() >= 0).all().item()):
        return NotImplemented
    return op_of("bucketize")(tensor(x, like), edges, right=not right)


def sorted_along(a: Tensor, axis: int | None, stable: bool = False) -> Any:
    x, dim = flat_or_along(a, axis)
    return x.sort(dim, stable=True) if stable else x.sort(dim)


def distinct(ar1: Any, ar2: Any) -> list[Tensor]:
    return [op_of("unique")(x.reshape(-1)) for x in promote_pair(ar1, ar2)]


def members(a: Tensor, b: Tensor, invert: bool = False) -> Tensor:
    """Returns the elements of `a` that are among those of `b`, or with `invert`, are not."""
    return a[op_of("isin")(a, b, invert=invert)]


def exclusive(a: Tensor, b: Tensor) -> Tensor:
    """Returns the elements of one tensor alone, in order."""
    return op_of("cat")([members(a, b, invert=True), members(b, a, invert=True)]).sort()[0]


def empty_arrays(operands: Any) -> list[Any]:
    return [np.empty(x.shape, x.dtype.numpy) if isinstance(x, Tensor) else x for x in operands]


FUNCTIONS = (
    _array_split, _concatenate, _copyto, _delete, _digitize, _expand_dims, _fill_diagonal, _insert, _ix_, _lexsort,
    _linspace, pad, _put, _put_along_axis, _putmask, _ravel_multi_index, _repeat, _rollaxis, _select, _split,
    _take_along_axis, _unique, _where,
)  # fmt: skip
