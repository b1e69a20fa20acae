"""Reading the arguments of reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import reduce as errors_reduce
from ...iterator.shape import Ints, normalize_dims, numel
from ...rows.op import Dims

MOST_DIMS = 64  # that torch reduces
_SOME, _ONE = Dims.SOME, Dims.ONE


def checked(name: str, input: Any, keepdim: Any = False, dtype: Any = None, out: Any = None) -> None:
    """TypeError for arguments of the wrong type."""
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(name, "input", input)
    if keepdim is not False and keepdim is not True:
        raise errors.argument_type(name, "keepdim", "a bool", keepdim)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise errors.not_a_dtype(name, "dtype", dtype, dtypes.meant_by(dtype))
    if out is not None and not isinstance(out, Tensor):
        raise errors.not_a_tensor(name, "out", out)


def several(name: str, out: Any, count: int) -> Sequence[Tensor]:
    """The tensors of `out` of an op with as many outputs; TypeError for anything else."""
    if not isinstance(out, (tuple, list)) or len(out) != count:
        raise errors.argument_type(name, "out", f"a tuple of {count} Tensors", out)
    return out


def is_int(value: Any) -> bool:
    """Whether a value can name a dim."""
    return isinstance(value, int) and not isinstance(value, bool)


def one_dim(name: str, dim: Any) -> int:
    """An int; TypeError for anything else."""
    if is_int(dim):
        return int(dim)
    if isinstance(dim, Tensor) or not hasattr(dim, "__index__") or isinstance(dim, bool):
        raise errors.argument_type(name, "dim", "an int", dim)
    return int(dim.__index__())


def dims_of(name: str, dim: Any, ndim: int, rule: Dims = _SOME) -> Ints:
    """The dims that an argument names, counted from the front."""
    if type(dim) is int or dim is None:
        pass
    elif is_int(dim):
        dim = int(dim)
    else:
        if rule is _ONE or not isinstance(dim, (tuple, list)):
            dim = one_dim(name, dim)
        else:
            dim = tuple([one_dim(name, d) for d in dim])
            if not dim and rule is _SOME:
                dim = None
    dims = normalize_dims(dim, ndim)
    if ndim > MOST_DIMS and dim is not None:
        raise errors_reduce.too_many_dims(name, ndim, MOST_DIMS)
    return dims if ndim else ()


def count(shape: Sequence[int], dims: Ints) -> int:
    """How many elements go into one result."""
    return numel([shape[d] for d in dims])


def check_not_empty(name: str, input: Tensor, dims: Ints, dim: Any, kind: type[Exception] = RuntimeError) -> None:
    """For reductions that have no result of nothing: `kind` where `dim` names no dim, IndexError
    where it names one without elements."""
    if 0 not in input._shape:
        return
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        raise errors_reduce.empty_input(name, input._shape, kind)
    for d in dims:
        if not input._shape[d]:
            raise errors_reduce.empty_dim(name, input._shape, d)
