"""Reading the arguments of reductions, and writing their results into `out=`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from ... import dtypes
from ..._tensor import Tensor
from ...errors import reduce as errors_reduce
from ...execute import copy
from ...iterator.shape import Ints, normalize_dims, numel

F = TypeVar("F", bound=Callable[..., Any])
MOST_DIMS = 64  # that torch reduces
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def numpy_names(call: F) -> F:
    """Accept NumPy's names of `dim` and `keepdim` too, as torch does."""

    @wraps(call)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys().isdisjoint(_NUMPY_NAMES):
            kwargs = {_NUMPY_NAMES.get(k, k): v for k, v in kwargs.items()}
        return call(*args, **kwargs)

    return renamed  # type: ignore[return-value]


def checked(
    name: str, input: Any, keepdim: Any = False, dtype: Any = None, out: Any = None
) -> None:
    """TypeError for arguments of the wrong type."""
    if not isinstance(input, Tensor):
        raise errors_reduce.argument_type(name, "input", "a Tensor", input)
    if keepdim is not False and keepdim is not True:
        raise errors_reduce.argument_type(name, "keepdim", "a bool", keepdim)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise errors_reduce.argument_type(name, "dtype", "an ftensor.dtype", dtype)
    if out is not None and not isinstance(out, Tensor):
        raise errors_reduce.argument_type(name, "out", "a Tensor", out)


def is_int(value: Any) -> bool:
    """Whether a value can name a dim."""
    return isinstance(value, int) and not isinstance(value, bool)


def one_dim(name: str, dim: Any) -> int:
    """An int; TypeError for anything else."""
    if is_int(dim):
        return int(dim)
    if isinstance(dim, Tensor) or not hasattr(dim, "__index__") or isinstance(dim, bool):
        raise errors_reduce.argument_type(name, "dim", "an int", dim)
    return int(dim.__index__())


def some_dims(name: str, dim: Any, ndim: int, empty_is_all: bool = True) -> Ints:
    """An int, several of them, or None (all), counted from the front."""
    if dim is not None and not is_int(dim):
        if not isinstance(dim, (tuple, list)):
            dim = one_dim(name, dim)
        else:
            dim = tuple([one_dim(name, d) for d in dim])
            if not dim and empty_is_all:
                dim = None
    found = normalize_dims(dim, ndim)
    if ndim > MOST_DIMS:
        raise errors_reduce.too_many_dims(name, ndim, MOST_DIMS)
    return found if ndim else ()


def count(shape: Sequence[int], dims: Ints) -> int:
    """How many elements go into one result."""
    return numel([shape[d] for d in dims])


def into(name: str, made: Tensor, out: Tensor | None, exact: bool = False) -> Tensor:
    """The result itself, or `out` with the result in it.

    RuntimeError when `out` can't hold the result's dtype (with `exact`: has another one).
    """
    if exact and out is not None and out._dtype is not made._dtype:
        raise errors_reduce.out_dtype(name, out._dtype, made._dtype)
    return copy.into(name, out, made, cast=True)
