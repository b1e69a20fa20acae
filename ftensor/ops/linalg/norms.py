"""Norms of matrices, and the one name for those of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import factor as errors_factor
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..compose import composed
from ..reduce.norm import norm, vector_norm
from .spectra import svdvals

ORDERS = (1.0, 2.0, math.inf)


def _pair(name: str, A: Tensor, dim: Any) -> tuple[int, int]:
    """The two dims of the matrices."""
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise errors_factor.two_dims(name, dim)
    first, second = (normalize_dim(d, A.ndim) for d in dim)
    if first == second:
        raise errors_factor.two_dims(name, tuple(dim))
    return first, second


def _checked(name: str, A: Any) -> None:
    if not isinstance(A, Tensor):
        raise errors.not_a_tensor(name, "A", A)
    if A._dtype.kind not in "fc":
        raise errors.floating_only(name, A._dtype)


def _largest(sizes: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """The largest along a dim; 0 where there are none."""
    fold = sizes.amax if sizes._shape[dim] else sizes.sum
    return fold(dim, keepdim)


def _matrix_norm(name: str, A: Tensor, ord: Any, dim: Any, keepdim: bool, of: dtype | None) -> Tensor:
    _checked(name, A)
    if A.ndim < 2:
        raise errors_factor.needs_matrices(name, "A", A._shape)
    rows, columns = _pair(name, A, dim)
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise errors_factor.order(name, ord)
    elif abs(ord) not in ORDERS:
        raise errors_factor.order(name, ord)
    if ord == "fro":
        norm: Tensor = vector_norm(A, 2, (rows, columns), keepdim, dtype=of)
        return norm
    if of is not None:
        vector_norm(A.new_zeros(1), 2, dtype=of)  # refuses what is no wider dtype
        A = A.to(of)
    if ord in ("nuc", 2, -2):
        s = svdvals(A.movedim((rows, columns), (-2, -1)))
        norm = s.sum(-1) if ord == "nuc" else _largest(s, -1) if ord > 0 else s.amin(-1)
        for d in sorted((rows, columns)) if keepdim else ():
            norm = norm.unsqueeze(d)
        return norm
    along, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, along, True)
    if not keepdim:
        sums = sums.squeeze(along)
        other -= other > along
    return _largest(sums, other, keepdim) if ord > 0 else sums.amin(other, keepdim)


@composed(namespace="linalg", method=False)
def matrix_norm(
    input: Tensor, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """The norm of each matrix in the two dims: "fro", the root of the squares' sum; inf and 1, the
    largest sum of a row's or column's sizes; 2, the largest singular value; "nuc", their sum; with
    a minus, the smallest. Singular values come from the host. RuntimeError for other orders.
    """
    return _matrix_norm("linalg.matrix_norm", input, ord, dim, keepdim, dtype)


@composed(namespace="linalg", name="norm", method=False)
def linalg_norm(
    input: Tensor,
    ord: Any = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """The norm of matrices where `dim` names two dims, else of vectors: `linalg.matrix_norm` and
    `linalg.vector_norm`. Without `ord`, the 2-norm of all elements; without `dim`, of the whole
    tensor, which then has one or two dims.
    """
    name = "linalg.norm"
    _checked(name, input)
    dims: Any = (dim,) if isinstance(dim, int) else dim
    if ord is not None and dims is None:
        if input.ndim not in (1, 2):
            raise errors_factor.needs_matrices(name, "input", input._shape)
        dims = (-2, -1) if input.ndim == 2 else (0,)
    if isinstance(ord, str) and len(dims) != 2:
        raise errors_factor.two_dims(name, dims)
    if ord is not None and len(dims) == 2:
        return _matrix_norm(name, input, ord, dims, keepdim, dtype)
    order = 2 if ord is None else ord
    norm: Tensor = vector_norm(input, order, dims, keepdim, dtype=dtype)
    return norm


@composed(method=False)
def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The root of the sum of squares over one or two dims, as `linalg.vector_norm`."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise errors_factor.two_dims("frobenius_norm", dims)
    norm: Tensor = vector_norm(input, 2, dims or None, keepdim)
    return norm


@composed(method=False)
def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values of each matrix, as `linalg.matrix_norm`."""
    return _matrix_norm("nuclear_norm", input, "nuc", dim, keepdim, None)


@op(method=False)
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm of order `pow` over all dims but one, which are kept; over all with `dim` -1."""
    if dim == -1:
        return norm(v, pow)
    others = [d for d in range(v.ndim) if d != normalize_dim(dim, v.ndim)]
    result: Tensor = vector_norm(v, pow, others, True)
    return result
