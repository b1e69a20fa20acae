"""Solutions, inverses, determinants and functions of square matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

from ... import return_types
from ..._tensor import Tensor
from ...dtypes import complex128, float64
from ...errors import linalg as errors_factor
from ...execute import output
from ...execute.device_traits import spares_double
from ...execute.matmul import dense
from ...iterator.shape import numel
from ...rows.catalogue import add_to_namespace, op
from ..arguments import check_tensors
from ..bind import composed
from ..create.data import tensor
from ..create.ranges import arange
from ..create.sizes import empty_like
from ..pointwise.ternary import where
from ..random.fill import randn
from .factors import check_pivots, check_rows, identity, linalg_qr, lu_of, row_order
from .forms import MatrixFunction, matrices, one_batch, to_column_major
from .spectra import linalg_svd

PLAIN, TRANSPOSED, ADJOINT = range(3)


def triangular(A: Tensor, B: Tensor, upper: bool, transposition: int = PLAIN, unit_diagonal: bool = False) -> Tensor:
    """Solves A @ X = B in a new tensor for triangular A, A.mT or A.mH; A and B have equal batch
    dims."""
    solution = to_column_major(B)
    *batch, n, k = B._shape
    if solution.numel():
        A = A if A.transpose(-1, -2).is_contiguous() else to_column_major(A)
        numbers = (numel(tuple(batch)) * k, n, k, n, n, n * n, n * k, int(upper), transposition, int(unit_diagonal))
        dense("solve", B._dtype, (A, solution), numbers, n * n // 2 + 1)
    return solution


def _check_shapes(name: str, A: Tensor, B: Tensor, left: bool = True) -> None:
    if A._shape[-1] != B._shape[-2 if left else -1]:
        dim_name = "rows" if left else "columns"
        raise errors_factor.shapes(name, A._shape, B._shape, f"B needs as many {dim_name} as A")


@composed(namespace="linalg", method=False)
def solve_triangular(
    input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solves A @ X = B, or X @ A = B with `left=False`, for a triangular A. The other triangle is
    not read, nor the diagonal with `unitriangular`. A 0 on the diagonal is not checked and gives
    infinities and NaN. Raises RuntimeError for shapes that don't fit."""
    name = "linalg.solve_triangular"
    matrices(name, "B", square=True, input=input, B=B)
    if B.ndim < 2:
        raise errors_factor.needs_matrices(name, "B", B._shape)
    _check_shapes(name, input, B, left)
    input, B = one_batch(input, B)
    if left:
        return triangular(input, B, upper, PLAIN, unitriangular)
    return triangular(input, B.mT, upper, TRANSPOSED, unitriangular).mT


@composed()
def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> return_types.triangular_solve:
    """Returns (X of A @ X = input, a copy of A); `transpose` solves with A.mT. See
    `linalg.solve_triangular`, the newer form."""
    name = "triangular_solve"
    matrices(name, "input", square=True, A=A, input=input)
    if input.ndim < 2:
        raise errors_factor.needs_matrices(name, "input", input._shape)
    _check_shapes(name, A, input)
    A, B = one_batch(A, input)
    transposition = TRANSPOSED if transpose else PLAIN
    solution = triangular(A, B, upper, transposition, unitriangular)
    return return_types.triangular_solve((solution, to_column_major(A)))


# General matrices


def lu_solved(LU: Tensor, pivots: Tensor, B: Tensor, adjoint: bool = False) -> Tensor:
    """Solves A @ X = B, or A.mH @ X = B with `adjoint`, by A's factors. All operands have equal
    batch dims."""
    n = LU._shape[-1]
    if not B.numel():
        return to_column_major(B)
    order = row_order(pivots, n)
    if adjoint:
        X = triangular(LU, B, True, ADJOINT)
        X = triangular(LU, X, False, ADJOINT, True)
        return to_column_major(_rows(X, _inverse_order(order)))
    X = triangular(LU, _rows(B, order), False, PLAIN, True)
    return triangular(LU, X, True)


def _rows(B: Tensor, order: Tensor) -> Tensor:
    return B.gather(-2, order.unsqueeze(-1).expand(B._shape))


def _inverse_order(order: Tensor) -> Tensor:
    rows = arange(order._shape[-1], device=order.device).expand(order._shape)
    return empty_like(order).scatter(-1, order, rows)


def _right_side(name: str, A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, bool]:
    """Returns (B as matrices, whether it held vectors). Raises RuntimeError if B doesn't fit A."""
    vectors = B.ndim == 1 or (B.ndim == A.ndim - 1 and B._shape == A._shape[:-1])
    if vectors:
        if not left:
            raise errors_factor.shapes(name, A._shape, B._shape, "vectors are solved for on the right")
        B = B.unsqueeze(-1)
    if B.ndim < 2:
        raise errors_factor.needs_matrices(name, "B", B._shape)
    _check_shapes(name, A, B, left)
    return B, vectors


def _solved(name: str, A: Tensor, B: Tensor, *, left: bool = True) -> tuple[Tensor, Tensor]:
    """Returns (X, info of A's factorization)."""
    matrices(name, "B", square=True, A=A, B=B)
    B, vectors = _right_side(name, A, B, left)
    LU, pivots, info = lu_of(A if left else A.mT)
    B = B if left else B.mT
    LU, B = one_batch(LU, B)
    X = lu_solved(LU, pivots.expand(LU._shape[:-1]), B)
    if not left:
        X = X.mT
    return (X.squeeze(-1) if vectors else X), info


_SOLVE = MatrixFunction("solve", _solved, None, errors_factor.singular, return_types.linalg_solve_ex)
solve = _SOLVE.linalg("""
    X of A @ X = B, or of X @ A = B where not `left`, for square A; B may be a vector for each
    matrix. LinAlgError where A is singular, RuntimeError for shapes that don't fit.
""")
solve_ex = _SOLVE.linalg_ex("""
    (X, info): see `linalg.solve`; info (int32) is 0, or the first place of a 0 on the diagonal
    of A's factor U. LinAlgError for these with `check_errors`.
""")


def _lu_solve(name: str, LU: Tensor, pivots: Tensor, B: Tensor, left: bool = True, adjoint: bool = False) -> Tensor:
    matrices(name, square=True, LU=LU)
    matrices(name, LU=LU, B=B)
    check_pivots(name, LU, pivots)
    check_rows(name, pivots, LU._shape[-2])
    _check_shapes(name, LU, B, left)
    LU, B = one_batch(LU, B)
    pivots = pivots.expand(LU._shape[:-1])
    if left:
        return lu_solved(LU, pivots, B, adjoint)
    return lu_solved(LU, pivots, B.mH, not adjoint).mH


@composed(namespace="linalg", name="lu_solve", method=False)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """Solves A @ X = B by A's factors from `linalg.lu_factor`. `left=False` solves X @ A = B,
    `adjoint` uses A.mH. Raises RuntimeError for operands that don't fit."""
    return _lu_solve("linalg.lu_solve", LU, pivots, B, left, adjoint)


@composed()
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """See `linalg.lu_solve`."""
    return _lu_solve("lu_solve", LU_data, LU_pivots, input)


def _inverse(name: str, A: Tensor) -> tuple[Tensor, Tensor]:
    matrices(name, square=True, A=A)
    LU, pivots, info = lu_of(A)
    return lu_solved(LU, pivots, identity(A._shape, A)), info


_INV = MatrixFunction("inv", _inverse, None, errors_factor.singular, return_types.linalg_inv_ex, ("inverse", "input"))
inv = _INV.linalg("Returns the inverses of square matrices. LinAlgError where one is singular.")
inv_ex = _INV.linalg_ex("Returns (inverse, info): see `linalg.inv` and `linalg.solve_ex`.")
inverse = _INV.legacy_function()


# Positive definite matrices


@composed()
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solves A @ X = input by the factor `input2` from `linalg.cholesky`: A = L @ L.mH, or A = L.mH
    @ L with `upper`. Raises RuntimeError for operands that don't fit."""
    name = "cholesky_solve"
    matrices(name, square=True, input2=input2)
    matrices(name, input=input, input2=input2)
    _check_shapes(name, input2, input)
    input2, B = one_batch(input2, input)
    return triangular(
        input2, triangular(input2, B, upper, ADJOINT if upper else PLAIN), upper, PLAIN if upper else ADJOINT
    )


@composed()
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """Returns the inverse of the matrix whose factor `linalg.cholesky` returned."""
    matrices("cholesky_inverse", square=True, input=input)
    return cholesky_solve(identity(input._shape, input), input, upper)


# Determinants


def _count_swaps(pivots: Tensor) -> Tensor:
    identity_rows = arange(1, pivots._shape[-1] + 1, device=pivots.device)
    return (pivots != identity_rows).sum(-1) % 2 == 1


def _det(name: str, A: Tensor) -> Tensor:
    matrices(name, square=True, A=A)
    LU, pivots, _ = lu_of(A)
    det = LU.diagonal(0, -2, -1).prod(-1)
    return where(_count_swaps(pivots), -det, det)


def _slogdet(name: str, A: Tensor) -> tuple[Tensor, Tensor]:
    matrices(name, square=True, A=A)
    LU, pivots, _ = lu_of(A)
    diagonal = LU.diagonal(0, -2, -1)
    sign = diagonal.sgn().prod(-1)
    return where(_count_swaps(pivots), -sign, sign), diagonal.abs().log().sum(-1)


_DET = MatrixFunction("det", _det, legacy=("det", "input"))
linalg_det = _DET.linalg("Returns the determinants of square matrices, by LU with partial pivoting.")
det = _DET.legacy_function()


@composed(namespace="linalg", name="slogdet", method=False)
def linalg_slogdet(A: Tensor) -> return_types.linalg_slogdet:
    """Returns (sign, logarithm of the absolute value) of each determinant; (0, -inf) for a singular
    matrix."""
    return return_types.linalg_slogdet(_slogdet("linalg.slogdet", A))


@composed()
def slogdet(input: Tensor) -> return_types.slogdet:
    """See `linalg.slogdet`."""
    return return_types.slogdet(_slogdet("slogdet", input))


@composed()
def logdet(input: Tensor) -> Tensor:
    """Returns the logarithm of each determinant; NaN for a negative one."""
    sign, size = _slogdet("logdet", input)
    if input._dtype.is_complex:
        return sign.log() + size
    return where(sign == -1, float("nan"), size)


# Number of terms of exp's series for matrices of norm up to 2: the next one is below the rounding
# of 1. A smaller norm would need fewer terms but more squarings, and each doubles the error.
TERMS = {"float32": 14, "float64": 23}


@op()
def matrix_exp(input: Tensor) -> Tensor:
    """Returns the exponential of square matrices, the sum of input^k / k!. Each matrix is halved
    until its norm is at most 2; the sum of the series is then squared once for each halving. Raises
    RuntimeError for integers."""
    name = "matrix_exp"
    if input._dtype.kind not in "fc":
        raise errors_factor.dtype(name, "input", input._dtype)
    if input.ndim < 2:
        raise errors_factor.needs_matrices(name, "input", input._shape)
    n = input._shape[-1]
    if input._shape[-2] != n:
        raise errors_factor.not_square(name, "input", input._shape)
    if not input.numel():
        return input.clone()
    compute = input._dtype.compute
    if spares_double(input):
        compute = complex128 if compute.is_complex else float64  # each squaring doubles the error
    x = input.to(compute).reshape(-1, n, n)
    norms = x.abs().sum(-2).amax(-1).tolist()
    halvings = [_halvings(size) for size in norms]
    scale = tensor([0.5**h for h in halvings], dtype=compute, device=input.device)
    x = x * scale.reshape(-1, 1, 1)
    identity_matrix = identity(x._shape, x)
    exponential = identity_matrix
    for k in range(TERMS[compute.to_real().name], 0, -1):
        exponential = identity_matrix + (x @ exponential) / k
    for step in range(max(halvings)):
        square = exponential @ exponential
        if min(halvings) > step:
            exponential = square
            continue
        needs_squaring = tensor([h > step for h in halvings], device=input.device).reshape(-1, 1, 1)
        exponential = where(needs_squaring, square, exponential)
    return exponential.reshape(input._shape).to(input._dtype)


def _halvings(size: float) -> int:
    return max(0, math.frexp(size)[1] - 1) if size < math.inf else 0


add_to_namespace("linalg", "matrix_exp")


@composed(namespace="linalg", method=False)
def tensorinv(input: Tensor, ind: int = 2) -> Tensor:
    """Returns the inverse of a tensor seen as a matrix whose rows are the first `ind` dims. Raises
    RuntimeError unless the first and the last dims have equal numbers of elements; LinAlgError for
    a singular matrix."""
    name = "linalg.tensorinv"
    check_tensors(name, input=input)
    if ind <= 0:
        raise errors_factor.value(name, "ind", ind, "positive")
    first, last = input._shape[:ind], input._shape[ind:]
    if prod(first) != prod(last):
        raise errors_factor.shapes(name, first, last, "they need as many elements")
    inverse: Tensor = inv(input.reshape(prod(first), prod(last)))
    return inverse.reshape(*last, *first)


@composed(namespace="linalg", method=False)
def tensorsolve(input: Tensor, other: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """Solves tensordot(input, X, X.ndim) = other; `dims` of input are moved to its end first.
    Raises RuntimeError if input, seen as a matrix, is not square; LinAlgError if it is singular."""
    name = "linalg.tensorsolve"
    check_tensors(name, input=input, other=other)
    if dims is not None:
        input = input.movedim(tuple(dims), tuple(range(input.ndim - len(dims), input.ndim)))
    last = input._shape[other.ndim :]
    if input.numel() != prod(last) ** 2 or other.numel() != prod(last):
        raise errors_factor.shapes(name, input._shape, other._shape, "input must be as a square matrix of other")
    solution: Tensor = solve(input.reshape(other.numel(), prod(last)), other.reshape(-1))
    return solution.reshape(last)


# Low ranks


def _basis(A: Tensor, q: int, niter: int) -> Tensor:
    """Returns `q` orthonormal columns that approximately span the range of A: from A times random
    numbers, after `niter` iterations of the power method (Halko, Martinsson, Tropp 2011, algorithm
    4.4)."""
    start = randn(A._shape[-1], q, dtype=A._dtype, device=A.device)
    Q = linalg_qr(A @ start).Q
    for _ in range(niter):
        Q = linalg_qr(A.mH @ Q).Q
        Q = linalg_qr(A @ Q).Q
    return Q


def _lowrank(A: Tensor, q: int, niter: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (U, S, V) of rank `q`: the SVD of A projected on `_basis`, or of A.mH if that has
    fewer columns (Halko, Martinsson, Tropp 2011, algorithm 5.1)."""
    if A._shape[-2] < A._shape[-1]:
        V, S, U = _lowrank(A.mH, q, niter)
        return U, S, V
    Q = _basis(A, q, niter)
    u, S, Vh = linalg_svd(Q.mH @ A, full_matrices=False)
    return Q @ u, S, Vh.mH


@op(method=False)
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (U, S, V) with A - M close to U @ diag(S) @ V.mH if its rank is about `q`: by random
    numbers, `niter` iterations of the power method, and a small `linalg.svd`. Raises RuntimeError
    for dtypes that `linalg.qr` doesn't support."""
    matrices("svd_lowrank", A=A)
    if M is not None:
        A = A - M
    return _lowrank(A, 6 if q is None else q, 2 if niter is None else niter)


@op(method=False)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Returns `svd_lowrank` of observations (rows), minus their mean with `center`. `q` is at most
    the smaller size (None: the smaller size, at most 6). Raises ValueError for another `q` and a
    negative `niter`."""
    name = "pca_lowrank"
    matrices(name, A=A)
    rank_limit = min(A._shape[-2:])
    if q is None:
        q = min(6, rank_limit)
    if not 0 <= q <= rank_limit:
        raise errors_factor.number(name, "q", q, f"from 0 to {rank_limit}")
    if niter < 0:
        raise errors_factor.number(name, "niter", niter, "at least 0")
    if center:
        output.check_capacity(A, A.numel(), A._dtype)
    return _lowrank(A - A.mean(-2, True) if center else A, q, niter)
