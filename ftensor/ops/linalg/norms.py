"""Norms of matrices, pseudoinverses, ranks, condition, least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype, int64
from ...errors import linalg as errors_factor
from ...iterator.shape import normalize_dim, numel
from ...rows.catalogue import op
from ..arguments import check_tensors
from ..bind import composed
from ..pointwise.ternary import where
from ..reduce.stats import norm, vector_norm
from .factors import apply_reflectors, qr_of
from .forms import matrices, one_batch, to_column_major
from .solve import inv_ex, solve_triangular
from .spectra import eigh_of, svd_of, svdvals

ORDERS = (1.0, 2.0, math.inf)


def _pair(name: str, A: Tensor, dim: Any) -> tuple[int, int]:
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise errors_factor.two_dims(name, dim)
    first, second = (normalize_dim(d, A.ndim) for d in dim)
    if first == second:
        raise errors_factor.two_dims(name, tuple(dim))
    return first, second


def _check_matrix(name: str, A: Any) -> None:
    check_tensors(name, A=A)
    if A._dtype.kind not in "fc":
        raise errors.floating_only(name, A._dtype)


def _largest(sizes: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    fold = sizes.amax if sizes._shape[dim] else sizes.sum
    return fold(dim, keepdim)


def _matrix_norm(name: str, A: Tensor, ord: Any, dim: Any, keepdim: bool, result_dtype: dtype | None) -> Tensor:
    _check_matrix(name, A)
    if A.ndim < 2:
        raise errors_factor.needs_matrices(name, "A", A._shape)
    rows, columns = _pair(name, A, dim)
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise errors_factor.order(name, ord)
    elif abs(ord) not in ORDERS:
        raise errors_factor.order(name, ord)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=result_dtype)
    if result_dtype is not None:
        vector_norm(A.new_zeros(1), 2, dtype=result_dtype)  # raises for a dtype that is not wider
        A = A.to(result_dtype)
    if ord in ("nuc", 2, -2):
        s = svdvals(A.movedim((rows, columns), (-2, -1)))
        norm = s.sum(-1) if ord == "nuc" else _largest(s, -1) if ord > 0 else s.amin(-1)
        for d in sorted((rows, columns)) if keepdim else ():
            norm = norm.unsqueeze(d)
        return norm
    summed_dim, extreme_dim = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, summed_dim, True)
    if not keepdim:
        sums = sums.squeeze(summed_dim)
        extreme_dim -= extreme_dim > summed_dim
    return _largest(sums, extreme_dim, keepdim) if ord > 0 else sums.amin(extreme_dim, keepdim)


@composed(namespace="linalg", method=False)
def matrix_norm(
    input: Tensor, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Returns the norm of each matrix in the two dims. "fro" is the root of the sum of squares; inf
    and 1 are the largest sum of absolute values of a row or column; 2 is the largest singular
    value; "nuc" is the sum of singular values; -inf, -1 and -2 take the smallest. Raises
    RuntimeError for other orders."""
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
    """Returns the norm of matrices if `dim` names two dims, else of vectors: `linalg.matrix_norm`
    and `linalg.vector_norm`. Without `ord` it is the 2-norm of all elements; without `dim` it is
    that of the whole tensor, which then has one or two dims."""
    name = "linalg.norm"
    _check_matrix(name, input)
    dims: Any = (dim,) if isinstance(dim, int) else dim
    if ord is not None and dims is None:
        if input.ndim not in (1, 2):
            raise errors_factor.needs_matrices(name, "input", input._shape)
        dims = (-2, -1) if input.ndim == 2 else (0,)
    if isinstance(ord, str) and ord not in ("fro", "nuc"):
        raise errors_factor.order(name, ord)
    if isinstance(ord, str) and len(dims) != 2:
        raise errors_factor.two_dims(name, dims)
    if ord is not None and len(dims) == 2:
        return _matrix_norm(name, input, ord, dims, keepdim, dtype)
    order = 2 if ord is None else ord
    return vector_norm(input, order, dims, keepdim, dtype=dtype)


@composed(method=False)
def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """Returns the root of the sum of squares over one or two dims, like `linalg.vector_norm`."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise errors_factor.two_dims("frobenius_norm", dims)
    return vector_norm(input, 2, dims or None, keepdim)


@composed(method=False)
def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """Returns the sum of the singular values of each matrix, like `linalg.matrix_norm`."""
    return _matrix_norm("nuclear_norm", input, "nuc", dim, keepdim, None)


@op(method=False)
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Returns the norm of order `pow` over all dims but `dim`, which is kept; over all dims with
    `dim` -1."""
    if dim == -1:
        return norm(v, pow)
    reduced_dims = [d for d in range(v.ndim) if d != normalize_dim(dim, v.ndim)]
    return vector_norm(v, pow, reduced_dims, True)


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Returns (atol, rtol) with defaults: singular values count above `atol` and above `rtol` times
    the largest. Without either, `rtol` is the dtype's eps times the larger size."""
    default = np.finfo(A._dtype.to_real().name).eps
    relative = float(default) * max(A._shape[-2:], default=0)
    if rtol is None:
        if isinstance(atol, Tensor):
            rtol = where(atol > 0, 0.0, relative)
        else:
            rtol = 0.0 if atol is not None and atol > 0 else relative
    return 0.0 if atol is None else atol, rtol


def _above_tolerance(name: str, A: Tensor, sizes: Tensor, atol: Any, rtol: Any) -> Tensor:
    """Returns which of the singular values `sizes` of A, or absolute eigenvalues, count. A tolerance
    may be a tensor with one value for each matrix."""
    bounds = []
    for b in _tolerances(A, atol, rtol):
        if isinstance(b, Tensor):
            if b._dtype.is_complex:
                raise errors_factor.value(name, "a tolerance", b._dtype, "real")
            b = b.to(sizes._dtype).unsqueeze(-1)
        bounds.append(b)
    low, relative = bounds
    kept: Tensor = sizes > _largest(sizes, -1, True) * relative
    return kept & (sizes > low) if isinstance(low, Tensor) or low else kept


def _inverse_sizes(sizes: Tensor, kept: Tensor) -> Tensor:
    return where(kept, 1 / where(kept, sizes, 1.0), 0.0)


def _pseudo_inverse(name: str, A: Tensor, atol: Any, rtol: Any, hermitian: bool) -> Tensor:
    if hermitian:
        w, U = eigh_of(name, A)
        Vh = U.mH
    else:
        U, w, Vh = svd_of(name, A)
    kept = _above_tolerance(name, A, w.abs() if hermitian else w, atol, rtol)
    return (Vh.mH * _inverse_sizes(w, kept).unsqueeze(-2)) @ U.mH


def _pinv(name: str, A: Tensor, atol: Any, rtol: Any, hermitian: bool) -> Tensor:
    matrices(name, square=hermitian, A=A)
    return _pseudo_inverse(name, A, atol, rtol, hermitian)


@composed(namespace="linalg", method=False)
def pinv(input: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """Returns the Moore-Penrose inverse of each matrix. Singular values up to `atol` and up to
    `rtol` (`rcond` in the older form) times the largest count as 0. Without either, `rtol` is the
    dtype's eps times the larger size. `hermitian` uses eigenvalues. Raises LinAlgError for
    infinities and NaN."""
    return _pinv("linalg.pinv", input, atol, rtol if rcond is None else rcond, hermitian)


@composed()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """See `linalg.pinv`."""
    return _pinv("pinverse", input, None, rcond, False)


@composed(namespace="linalg", method=False)
def matrix_rank(
    input: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Returns the number of singular values of each matrix above the tolerances, as int64. See
    `linalg.pinv`; `tol` is the older form of `atol`. `hermitian` uses absolute eigenvalues. Raises
    LinAlgError for infinities and NaN."""
    name = "linalg.matrix_rank"
    matrices(name, square=hermitian, input=input)
    if tol is not None:
        atol, rtol = tol, 0.0 if rtol is None else rtol
    if hermitian:
        sizes = eigh_of(name, input, vectors=False)[0].abs()
    else:
        (sizes,) = svd_of(name, input, vectors=False)
    return _above_tolerance(name, input, sizes, atol, rtol).sum(-1)


@composed(namespace="linalg", method=False)
def cond(input: Tensor, p: Any = None) -> Tensor:
    """Returns the condition number of each matrix: its norm of order `p` (None: 2) times the norm
    of its inverse; inf for a singular matrix. Raises RuntimeError for orders that
    `linalg.matrix_norm` lacks."""
    name = "linalg.cond"
    matrices(name, input=input)
    if p is None or p in (2, -2):
        if 0 in input._shape:
            return input.new_zeros(input._shape[:-2], dtype=input._dtype.to_real())
        s = svdvals(input)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    matrices(name, square=True, input=input)
    if 0 in input._shape:
        return input.new_zeros(input._shape[:-2], dtype=input._dtype.to_real())
    inverse, info = inv_ex(input)
    singular = (info != 0).reshape(*info._shape, 1, 1)
    inverse = where(singular, float("inf"), inverse)
    return matrix_norm(input, p) * matrix_norm(inverse, p)


LSTSQ = (None, "gels", "gelsy", "gelsd", "gelss")


def _by_singular_values(name: str, A: Tensor, B: Tensor, rcond: float) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (least-squares solutions of minimal norm, ranks, singular values)."""
    U, S, Vh = svd_of(name, A)
    kept = _above_tolerance(name, A, S, 0.0, rcond)
    X = Vh.mH @ (_inverse_sizes(S, kept).unsqueeze(-1) * (U.mH @ B))
    return X, kept.sum(-1), S


def _by_qr(name: str, A: Tensor, B: Tensor) -> Tensor:
    """Returns least-squares solutions of minimal norm for matrices of full rank."""
    *batch, m, n = A._shape
    wide, count = m < n, min(m, n)
    packed, tau = qr_of(A.mH if wide else A)
    R = packed[..., :count, :]
    if count and numel(tuple(batch)):
        zeros = (R.diagonal(0, -2, -1) == 0).any(-1).reshape(-1).tolist()
        if True in zeros:
            raise errors_factor.rank_deficient(name, zeros.index(True) if batch else None)
    if not wide:
        return solve_triangular(R, apply_reflectors(packed, tau, B, True)[..., :count, :], upper=True)
    Y = solve_triangular(R.mH, B, upper=False)
    extended = Y.new_zeros((*batch, n, B._shape[-1]))
    extended[..., :count, :] = Y
    return apply_reflectors(packed, tau, extended, False)


def _system(name: str, A: Tensor, B: Tensor) -> tuple[Tensor, Tensor, bool]:
    """Returns (A, B, whether B holds vectors), A and B with the same batch dims."""
    matrices(name, "B", A=A, B=B)
    if not B.ndim:
        raise errors_factor.needs_matrices(name, "B", B._shape)
    vectors = B.ndim == A.ndim - 1 and B._shape == A._shape[:-1]
    if vectors:
        B = B.unsqueeze(-1)
    if B.ndim < 2 or A._shape[-2] != B._shape[-2]:
        raise errors_factor.shapes(name, A._shape, B._shape, "they need as many rows")
    return *one_batch(A, B), vectors


@composed(namespace="linalg", method=False)
def lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> return_types.linalg_lstsq:
    """Returns (solution, residuals, rank, singular_values) of input @ X = b: the X of minimal norm
    among the least-squares solutions. Singular values up to `rcond` times the largest count as 0
    (None: eps times the larger size). `driver="gels"` uses QR, for matrices of full rank. Results
    that torch's `driver` omits have no elements: "gelsy" omits residuals and singular values,
    "gels" ranks and singular values. Raises RuntimeError for operands that don't fit, LinAlgError
    for a singular R of "gels"."""
    name = "linalg.lstsq"
    if isinstance(input, Tensor) and input.ndim < 2:
        raise errors_factor.needs_matrices(name, "input", input._shape)
    A, B, vectors = _system(name, input, b)
    if driver not in LSTSQ:
        raise errors_factor.value(name, "driver", driver, "'gels', 'gelsy', 'gelsd' or 'gelss'")
    driver = driver or "gelsy"
    m, n = A._shape[-2:]
    if rcond is None:
        rcond = float(np.finfo(A._dtype.to_real().name).eps) * max(m, n)
    none = A.new_empty((0,), dtype=A._dtype.to_real())
    if driver == "gels":
        x, rank, s = _by_qr(name, A, B), A.new_empty((0,), dtype=int64), none
    else:
        x, rank, s = _by_singular_values(name, A, B, rcond)
    residuals = none
    if driver != "gelsy" and m > n and (driver == "gels" or bool((rank == n).all())):
        lost = A @ x - B
        residuals = (lost * lost.conj()).real.sum(-2)
        residuals = residuals.squeeze(-1) if vectors else residuals
    x = to_column_major(x)
    x = x.squeeze(-1) if vectors else x
    s = s if driver in ("gelsd", "gelss") else none
    return return_types.linalg_lstsq((x, residuals, rank, s))
