"""NumPy's functions on shapes: reshaping, joining, splitting, repeating, new arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import array_api as xp
from .._tensor import Tensor
from .values import dtype_of, floating, op, promote_pair, tensor


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
    result: Tensor = op("cat")(tensors, axis)
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
    return list(op("tensor_split")(ary, sections, axis))


def _equal_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    sections = indices_or_sections
    if isinstance(sections, int) and ary.shape[axis] % sections:
        return NotImplemented  # NumPy raises the error
    return _split(ary, sections, axis)


def _make_split(name: str) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:
        results = tuple([op(name)(x) for x in arys])
        return results[0] if len(results) == 1 else results

    return function


def _tile(A: Tensor, reps: Any) -> Tensor:
    return A.tile((reps,) if isinstance(reps, int) else tuple(reps))


def _repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    count = repeats if isinstance(repeats, int) else tensor(repeats, a)
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis)
    repeated: Tensor = op("repeat_interleave")(x, count, dim)
    return repeated


def _pad(array: Tensor, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    if isinstance(pad_width, (dict, Tensor)) or not isinstance(constant_values, (int, float)):
        return NotImplemented
    widths = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    if mode == "constant":
        pairs = [n for pair in reversed(widths) for n in pair]
        return op("nn.functional.pad")(array, pairs, value=constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        return NotImplemented
    # the indices to read, padded in the way NumPy pads the array
    for axis, pair in enumerate(widths):
        source_index = np.pad(np.arange(array.shape[axis]), pair, mode=mode)
        array = array.index_select(axis, tensor(source_index, array))
    return array


def _insert(arr: Tensor, obj: Any, values: Any, axis: int | None = None) -> Any:
    if not isinstance(obj, int) or (axis is not None and arr.ndim > 1):
        return NotImplemented
    flat = arr.reshape(-1)
    addition = tensor(values, arr).to(arr.dtype).reshape(-1)
    position = obj % (flat.shape[0] + (obj >= 0))
    inserted: Tensor = op("cat")([flat[:position], addition, flat[position:]])
    return inserted


def _delete(arr: Tensor, obj: Any, axis: int | None = None) -> Any:
    if isinstance(obj, Tensor):
        return NotImplemented
    x, dim = (arr.reshape(-1), 0) if axis is None else (arr, axis)
    return x.index_select(dim, tensor(np.delete(np.arange(x.shape[dim]), obj), x))


def _broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    like = next(x for x in args if isinstance(x, Tensor))
    return tuple(op("broadcast_tensors")(*[tensor(x, like) for x in args]))


def _make_stack(name: str) -> Callable[..., Any]:
    def function(tup: Any, dtype: Any = None) -> Any:
        like = next(x for x in tup if isinstance(x, Tensor))
        result = op(name)([x if isinstance(x, Tensor) else tensor(x, like) for x in tup])
        return result if dtype is None else result.to(dtype_of(dtype))

    return function


def _stack(arrays: Any, axis: int = 0, dtype: Any = None) -> Tensor:
    like = next(x for x in arrays if isinstance(x, Tensor))
    tensors = [_expand_dims(x if isinstance(x, Tensor) else tensor(x, like), axis) for x in arrays]
    return _concatenate(tensors, axis, dtype)


def _asarray(like: Tensor, a: Any, dtype: Any = None, copy: Any = None) -> Tensor:
    array: Tensor = op("asarray")(a, dtype=dtype_of(dtype), device=like.device, copy=copy)
    return array


def _make_factory(name: str) -> Callable[..., Any]:
    def function(like: Tensor, shape: Any, dtype: Any = None) -> Any:
        return op(name)(shape, dtype=dtype_of(dtype), device=like.device)

    return function


def _eye(like: Tensor, N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    result_dtype = dtype_of(None if dtype is float else dtype)
    return xp.eye(N, M, k=k, dtype=result_dtype, device=like.device)  # type: ignore[attr-defined]


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    first, last = promote_pair(start, stop)
    first, last = floating(first), floating(last)
    steps = max(num - endpoint, 1)
    positions = op("arange")(num, device=first.device, dtype=first.dtype) / steps
    positions = positions.reshape((num, *[1] * max(first.ndim, last.ndim)))
    values = first + (last - first) * positions
    return values if dtype is None else values.to(dtype_of(dtype))


# Functions with a parameter `like`: called with that tensor and the function's arguments.
CREATION: dict[str, Callable[..., Any]] = {
    "arange": lambda like, *args, dtype=None: op("arange")(*args, dtype=dtype_of(dtype), device=like.device),
    "array": lambda like, object, dtype=None, copy=True: _asarray(like, object, dtype, copy),
    "asanyarray": _asarray,
    "asarray": _asarray,
    "ascontiguousarray": lambda like, a, dtype=None: _asarray(like, a, dtype).contiguous(),
    "empty": _make_factory("empty"),
    "eye": _eye,
    "full": lambda like, shape, fill_value, dtype=None: op("full")(
        shape, fill_value, dtype=dtype_of(dtype), device=like.device
    ),
    "identity": lambda like, n, dtype=None: _eye(like, n, dtype=dtype),
    "ones": _make_factory("ones"),
    "tri": lambda like, N, M=None, k=0, dtype=None: op("ones")(
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
    "empty_like": lambda prototype, dtype=None, shape=None: op("empty")(**_new_options(prototype, shape, dtype)),
    "expand_dims": _expand_dims,
    "flip": lambda m, axis=None: xp.flip(m, axis=axis),  # type: ignore[attr-defined]
    "fliplr": lambda m: m.fliplr(),
    "flipud": lambda m: m.flipud(),
    "full_like": lambda a, fill_value, dtype=None, shape=None: op("full")(
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
        NotImplemented if sparse else tuple(op("meshgrid")(*xi, indexing=indexing))
    ),
    "moveaxis": lambda a, source, destination: a.movedim(source, destination),
    "ones_like": lambda a, dtype=None, shape=None: op("ones")(**_new_options(a, shape, dtype)),
    "pad": _pad,
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
    "zeros_like": lambda a, dtype=None, shape=None: op("zeros")(**_new_options(a, shape, dtype)),
}
