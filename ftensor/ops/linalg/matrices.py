"""What factors and solutions share: checks of their operands, and matrices column after column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...errors import factor as errors_factor
from ...execute import memory
from ...execute.by_numpy import by_numpy
from ...execute.pointwise import pointwise
from ...iterator.shape import Ints, broadcast_shapes
from ...rows.copies import COPY

# What LAPACK computes in.
DTYPES = ("float32", "float64", "complex64", "complex128")


def matrices(op: str, *names: str, square: bool = False, **operands: Any) -> None:
    """TypeError for what is no tensor; RuntimeError for fewer than 2 dims, matrices that are not
    square, and dtypes that are not computed in, or are several. `names` may be vectors.
    """
    for name, x in operands.items():
        if type(x) is not Tensor:
            raise errors.not_a_tensor(op, name, x)
        if x.ndim < 2 and name not in names:
            raise errors_factor.needs_matrices(op, name, x._shape)
        if square and name not in names and x._shape[-1] != x._shape[-2]:
            raise errors_factor.not_square(op, name, x._shape)
        if x._dtype.name not in DTYPES:
            if x._dtype.bare and x._dtype.kind in "fc":
                raise errors.not_implemented_for(op, x._dtype)
            raise errors_factor.dtype(op, name, x._dtype)
    tensors = list(operands.values())
    if any(x._dtype is not tensors[0]._dtype for x in tensors):
        raise errors_factor.dtypes_differ(op, *[x._dtype for x in tensors])
    if any(x._storage.device is not tensors[0]._storage.device for x in tensors):
        raise errors.different_devices(op, [x.device for x in tensors])


def one_batch(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the batch dims that they have together."""
    batch = broadcast_shapes(A._shape[:-2], B._shape[:-2])
    return A.expand((*batch, *A._shape[-2:])), B.expand((*batch, *B._shape[-2:]))


def column_strides(shape: Ints) -> Ints:
    """The strides of matrices that lie one after the other, column after column."""
    *batch, m, n = shape
    turned = memory.contiguous_strides((*batch, n, m))
    return (*turned[:-2], turned[-1], turned[-2])


def by_columns(shape: Ints, like: Tensor, of: Any = None) -> Tensor:
    """Memory for matrices, column after column, as LAPACK has them."""
    where = like._storage.device
    return memory.new(shape, of or like._dtype, where, column_strides(shape))


def in_columns(x: Tensor) -> Tensor:
    """A copy of matrices, column after column."""
    return pointwise(COPY, (x,), (), by_columns(x._shape, x), True)


def on_host(op: str, function: Callable[..., Any], *inputs: Tensor, columns: Ints = ()) -> tuple[Tensor, ...]:
    """What a NumPy function makes of matrices; its results with numbers in `columns` are laid out
    column after column. LinAlgError where its iteration does not end."""

    def run(*arrays: Any) -> tuple[Any, ...]:
        results = function(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        return tuple([a.swapaxes(-1, -2) if k in columns else a for k, a in enumerate(results)])

    try:
        with np.errstate(all="ignore"):
            results = by_numpy(op, run, inputs)
    except np.linalg.LinAlgError:
        raise errors_factor.no_convergence(op) from None
    return tuple([t.transpose(-1, -2) if k in columns else t for k, t in enumerate(results)])
