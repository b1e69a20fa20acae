"""Factors of matrices, on the device: Cholesky's, LU with partial pivoting, Householder's QR."""

from __future__ import annotations

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import int32, int64
from ...errors import factor as errors_factor
from ...execute import memory
from ...execute.dense import dense
from ...iterator.shape import Ints, numel
from ..compose import composed
from ..create.positions import eye
from ..create.ranges import arange
from .forms import MatrixFunction, raise_for
from .matrices import in_columns, matrices

# Cholesky


def cholesky_of(A: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """(factors, info)."""
    factor = in_columns(A.mH if upper else A)
    *batch, n, _ = A._shape
    info = memory.new_like(A, tuple(batch), int32)
    if n:
        numbers = (numel(tuple(batch)), n, n, n * n)
        dense("cholesky", A._dtype, (factor, info), numbers, n * n * n // 3 + n)
    else:
        info.zero_()
    return (in_columns(factor.mH) if upper else factor), info


def _cholesky(name: str, input: Tensor, *, upper: bool = False) -> tuple[Tensor, Tensor]:
    matrices(name, square=True, input=input)
    return cholesky_of(input, upper)


_CHOLESKY = MatrixFunction(
    "cholesky",
    _cholesky,
    None,
    errors_factor.not_positive,
    return_types.linalg_cholesky_ex,
    ("cholesky", "input", "upper"),
)
linalg_cholesky = _CHOLESKY.linalg("""
    L of input = L @ L.mH, lower triangular with a positive diagonal; or `upper`: L.mH. Only that
    triangle of the input is read. LinAlgError where it is not positive definite.
""")
cholesky_ex = _CHOLESKY.linalg_ex("""
    (L, info): see `linalg.cholesky`; info (int32) is 0, or the order of the first leading minor
    that is not positive. LinAlgError for these with `check_errors`.
""")
cholesky = _CHOLESKY.outside()


# LU


def lu_of(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(L below the diagonal and U, the rows swapped, info)."""
    LU = in_columns(A)
    *batch, m, n = A._shape
    count = min(m, n)
    pivots = memory.new_like(A, (*batch, count), int32)
    info = memory.new_like(A, tuple(batch), int32)
    if count:
        numbers = (numel(tuple(batch)), m, n, m, m * n)
        dense("lu", A._dtype, (LU, pivots, info), numbers, m * n * count // 2 + 1)
    else:
        info.zero_()
    return LU, pivots, info


def _lu_factor(name: str, A: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    matrices(name, A=A)
    if not pivot:
        raise errors_factor.value(name, "pivot", pivot, "True: rows are always swapped")
    return lu_of(A)


_LU_FACTOR = MatrixFunction(
    "lu_factor", _lu_factor, return_types.linalg_lu_factor, errors_factor.singular, return_types.linalg_lu_factor_ex
)
lu_factor = _LU_FACTOR.linalg("""
    (LU, pivots) of A = P @ L @ U by partial pivoting: U on and above the diagonal of LU, L below
    it, without its diagonal of ones. pivots (int32) are the rows, counted from 1, with which each
    row in turn changed places.
""")
lu_factor_ex = _LU_FACTOR.linalg_ex("""
    (LU, pivots, info): see `linalg.lu_factor`; info (int32) is 0, or the first place (from 1)
    of a 0 on U's diagonal. RuntimeError for these with `check_errors`.
""")


@composed()
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """(LU, pivots), or (LU, pivots, info) with `get_infos`: see `linalg.lu_factor_ex`."""
    LU, pivots, info = _lu_factor("lu", A, pivot=pivot)
    if get_infos:
        return return_types.linalg_lu_factor_ex((LU, pivots, info))
    raise_for(info, errors_factor.singular, "lu")
    return return_types.linalg_lu_factor((LU, pivots))


def row_order(pivots: Tensor, m: int) -> Tensor:
    """The row of P @ x that comes from each row of x: int64, in the order after all swaps."""
    *batch, count = pivots._shape
    order = memory.new_like(pivots, (*batch, m), int64)
    swaps = pivots.contiguous()
    dense("order", int32, (swaps, order), (numel(tuple(batch)), m, count), m)
    return order


def permutation(pivots: Tensor, m: int, like: Tensor) -> Tensor:
    """The matrices P of A = P @ L @ U."""
    order = row_order(pivots, m)
    places = arange(m, device=order.device)
    return (order.unsqueeze(-2) == places.unsqueeze(-1)).to(like._dtype)


def _unpacked(LU: Tensor) -> tuple[Tensor, Tensor]:
    m, n = LU._shape[-2:]
    k = min(m, n)
    L = LU[..., :, :k].tril(-1) + eye(m, k, dtype=LU._dtype, device=LU.device)
    return L, LU[..., :k, :].triu().contiguous()


@composed(namespace="linalg", name="lu", method=False)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu:
    """(P, L, U) of A = P @ L @ U by partial pivoting: a permutation, a lower triangular matrix with
    ones on its diagonal, an upper triangular one.
    """
    LU, pivots, _ = _lu_factor("linalg.lu", A, pivot=pivot)
    return return_types.linalg_lu((permutation(pivots, A._shape[-2], A), *_unpacked(LU)))


@composed()
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> return_types.lu_unpack:
    """(P, L, U) of what `linalg.lu_factor` gave; what is not to be unpacked has no elements.
    RuntimeError for pivots that are not int32, don't fit, or are no rows (from 1).
    """
    name = "lu_unpack"
    matrices(name, LU_data=LU_data)
    if unpack_pivots:
        check_pivots(name, LU_data, LU_pivots)
        check_rows(name, LU_pivots, LU_data._shape[-2])
    none = LU_data.new_empty((0,))
    P = permutation(LU_pivots, LU_data._shape[-2], LU_data) if unpack_pivots else none
    L, U = _unpacked(LU_data) if unpack_data else (none, none)
    return return_types.lu_unpack((P, L, U))


def check_pivots(name: str, LU: Tensor, pivots: Tensor) -> None:
    """RuntimeError for pivots that are not those of `LU`."""
    if not isinstance(pivots, Tensor):
        raise errors.not_a_tensor(name, "pivots", pivots)
    if pivots._dtype is not int32:
        raise errors_factor.value(name, "pivots' dtype", pivots._dtype, "int32")
    wanted = (*LU._shape[:-2], min(LU._shape[-2:]))
    if pivots._shape != wanted:
        raise errors_factor.shapes(name, LU._shape, pivots._shape, f"pivots need shape {wanted}")


def check_rows(name: str, pivots: Tensor, m: int) -> None:
    """RuntimeError for pivots of an LU that are none of its m rows."""
    for most in pivots.aminmax() if pivots.numel() else ():
        if not 1 <= int(most) <= m:
            raise errors_factor.value(name, "pivots", int(most), f"rows from 1 to {m}")


# QR


def qr_of(A: Tensor) -> tuple[Tensor, Tensor]:
    """(R and Householder's vectors, their factors tau)."""
    packed = in_columns(A)
    *batch, m, n = A._shape
    tau = memory.new_like(A, (*batch, min(m, n)))
    if tau.numel():
        numbers = (numel(tuple(batch)), m, n, m, m * n)
        dense("qr", A._dtype, (packed, tau), numbers, m * n * min(m, n) + 1)
    return packed, tau


def reflected(a: Tensor, tau: Tensor, c: Tensor, adjoint: bool) -> Tensor:
    """Q @ c, or Q.mH @ c, in a new tensor; Q is that of `a` and `tau`, with whole columns."""
    result = in_columns(c)
    *batch, m, k = c._shape
    count = tau._shape[-1]
    if result.numel() and count:
        a, tau = in_columns(a), tau.contiguous()
        numbers = (numel(tuple(batch)) * k, m, k, count, m, m, m * a._shape[-1], m * k, int(adjoint))
        dense("reflect", c._dtype, (a, tau, result), numbers, 2 * m * count)
    return result


def identity(shape: Ints, like: Tensor) -> Tensor:
    """Ones on the diagonals of matrices."""
    return eye(*shape[-2:], dtype=like._dtype, device=like.device).expand(shape)


def _qr(name: str, A: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    matrices(name, A=A)
    if mode not in ("reduced", "complete", "r"):
        raise errors_factor.value(name, "mode", mode, "'reduced', 'complete' or 'r'")
    a, tau = qr_of(A)
    *batch, m, n = A._shape
    rows = m if mode == "complete" else min(m, n)
    R = in_columns(a[..., :rows, :].triu())
    if mode == "r":
        return A.new_empty((0,)), R
    return reflected(a, tau, identity((*batch, m, rows), A), False), R


@composed(namespace="linalg", name="qr", method=False)
def linalg_qr(A: Tensor, mode: str = "reduced") -> return_types.linalg_qr:
    """(Q, R) of A = Q @ R by Householder's reflections: orthonormal columns and an upper triangular
    matrix. `mode` "complete" has square Q, "r" none. RuntimeError for other modes.
    """
    return return_types.linalg_qr(_qr("linalg.qr", A, mode))


@composed()
def qr(input: Tensor, some: bool = True) -> return_types.qr:
    """See `linalg.qr`; without `some`, Q is square."""
    return return_types.qr(_qr("qr", input, "reduced" if some else "complete"))


@composed()
def geqrf(input: Tensor) -> return_types.geqrf:
    """(a, tau): R on and above the diagonal of `a`, below it the vectors v, without their first
    element of 1, of the reflections I - tau * v @ v.mH whose product is Q. LAPACK's name.
    """
    matrices("geqrf", input=input)
    return return_types.geqrf(qr_of(input))


def _check_tau(name: str, a: Tensor, tau: Tensor) -> None:
    matrices(name, "tau", input=a, tau=tau)
    if a._shape[-2] < a._shape[-1]:
        raise errors_factor.shapes(name, a._shape, tau._shape, "input needs as many rows as columns")
    if tau._shape[:-1] != a._shape[:-2] or not tau.ndim or tau._shape[-1] > a._shape[-1]:
        raise errors_factor.shapes(name, a._shape, tau._shape, "tau has a number for each column")


def _product(name: str, input: Tensor, tau: Tensor) -> Tensor:
    _check_tau(name, input, tau)
    return reflected(input, tau, identity(input._shape, input), False)


_PRODUCT = MatrixFunction("householder_product", _product, former=("orgqr", "input", "input2"))
householder_product = _PRODUCT.linalg("""
    The first columns of the product of reflections, as many as `input` has; see `geqrf`.
""")
orgqr = _PRODUCT.outside()


@composed()
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q @ input3, or input3 @ Q where not `left`, with the square Q of reflections (see `geqrf`);
    `transpose`: with Q.mH. RuntimeError for operands that don't fit.
    """
    name = "ormqr"
    for word, x in (("input", input), ("input3", input3)):
        if isinstance(x, Tensor) and x.ndim < 2:
            raise errors_factor.needs_matrices(name, word, x._shape)
    matrices(name, "input2", input=input, input2=input2, input3=input3)
    m = input3._shape[-2 if left else -1]
    fits = input2.ndim and input2._shape[-1] == min(m, input._shape[-1]) and input._shape[-2] == m
    if not fits or input2._shape[:-1] != input._shape[:-2] != input3._shape[:-2]:
        raise errors_factor.shapes(name, input._shape, input3._shape, "as input2, one Q's size")
    if left:
        return reflected(input, input2, input3, transpose)
    return in_columns(reflected(input, input2, input3.mH, not transpose).mH)
