"""Factors of matrices: Cholesky, LU, QR, LDL."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import return_types
from ..._tensor import Tensor
from ...dtypes import int32, int64
from ...errors import linalg as errors_factor
from ...execute import output
from ...execute.matmul import dense
from ...iterator.shape import Ints, numel
from ..arguments import check_tensors
from ..bind import composed
from ..create.ranges import arange, eye
from .forms import MatrixFunction, matrices, on_host, one_batch, raise_for, to_column_major

# Cholesky


def cholesky_of(A: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """Returns (Cholesky factors, info)."""
    factor = to_column_major(A.mH if upper else A)
    *batch, n, _ = A._shape
    info = output.new_like(A, tuple(batch), int32)
    if n:
        numbers = (numel(tuple(batch)), n, n, n * n)
        dense("cholesky", A._dtype, (factor, info), numbers, n * n * n // 3 + n)
    else:
        info.zero_()
    return (to_column_major(factor.mH) if upper else factor), info


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
cholesky = _CHOLESKY.legacy_function()


# LU


def lu_of(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (L below the diagonal and U, pivot rows, info)."""
    LU = to_column_major(A)
    *batch, m, n = A._shape
    count = min(m, n)
    pivots = output.new_like(A, (*batch, count), int32)
    info = output.new_like(A, tuple(batch), int32)
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
    """Returns (LU, pivots), or (LU, pivots, info) with `get_infos`. See `linalg.lu_factor_ex`."""
    LU, pivots, info = _lu_factor("lu", A, pivot=pivot)
    if get_infos:
        return return_types.linalg_lu_factor_ex((LU, pivots, info))
    raise_for(info, errors_factor.singular, "lu")
    return return_types.linalg_lu_factor((LU, pivots))


def row_order(pivots: Tensor, m: int) -> Tensor:
    """Returns the row order of P @ x after all swaps of `pivots`: int64 indices into the rows of
    x.
    """
    *batch, count = pivots._shape
    order = output.new_like(pivots, (*batch, m), int64)
    swaps = pivots.contiguous()
    dense("order", int32, (swaps, order), (numel(tuple(batch)), m, count), m)
    return order


def permutation(pivots: Tensor, m: int, like: Tensor) -> Tensor:
    order = row_order(pivots, m)
    rows = arange(m, device=order.device)
    return (order.unsqueeze(-2) == rows.unsqueeze(-1)).to(like._dtype)


def _unpack_lu(LU: Tensor) -> tuple[Tensor, Tensor]:
    m, n = LU._shape[-2:]
    k = min(m, n)
    L = LU[..., :, :k].tril(-1) + eye(m, k, dtype=LU._dtype, device=LU.device)
    return L, LU[..., :k, :].triu().contiguous()


@composed(namespace="linalg", name="lu", method=False)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu:
    """Returns (P, L, U) of A = P @ L @ U by partial pivoting: a permutation, a lower triangular
    matrix with ones on its diagonal, an upper triangular matrix."""
    LU, pivots, _ = _lu_factor("linalg.lu", A, pivot=pivot)
    return return_types.linalg_lu((permutation(pivots, A._shape[-2], A), *_unpack_lu(LU)))


@composed()
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> return_types.lu_unpack:
    """Returns (P, L, U) of the results of `linalg.lu_factor`; a part that is not requested has no
    elements. Raises RuntimeError for pivots that are not int32, have a wrong shape, or are no row
    numbers (from 1)."""
    name = "lu_unpack"
    matrices(name, LU_data=LU_data)
    if unpack_pivots:
        check_pivots(name, LU_data, LU_pivots)
        check_rows(name, LU_pivots, LU_data._shape[-2])
    none = LU_data.new_empty((0,))
    P = permutation(LU_pivots, LU_data._shape[-2], LU_data) if unpack_pivots else none
    L, U = _unpack_lu(LU_data) if unpack_data else (none, none)
    return return_types.lu_unpack((P, L, U))


def check_pivots(name: str, LU: Tensor, pivots: Tensor) -> None:
    """Raises RuntimeError for pivots whose shape or dtype doesn't fit `LU`."""
    check_tensors(name, pivots=pivots)
    if pivots._dtype is not int32:
        raise errors_factor.value(name, "pivots' dtype", pivots._dtype, "int32")
    expected = (*LU._shape[:-2], min(LU._shape[-2:]))
    if pivots._shape != expected:
        raise errors_factor.shapes(name, LU._shape, pivots._shape, f"pivots need shape {expected}")


def check_rows(name: str, pivots: Tensor, m: int) -> None:
    for extreme in pivots.aminmax() if pivots.numel() else ():
        if not 1 <= int(extreme) <= m:
            raise errors_factor.value(name, "pivots", int(extreme), f"rows from 1 to {m}")


# QR


def qr_of(A: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (R and the Householder vectors, their factors tau)."""
    packed = to_column_major(A)
    *batch, m, n = A._shape
    tau = output.new_like(A, (*batch, min(m, n)))
    if tau.numel():
        numbers = (numel(tuple(batch)), m, n, m, m * n)
        dense("qr", A._dtype, (packed, tau), numbers, m * n * min(m, n) + 1)
    return packed, tau


def apply_reflectors(a: Tensor, tau: Tensor, c: Tensor, adjoint: bool) -> Tensor:
    """Returns Q @ c, or Q.mH @ c with `adjoint`, in a new tensor. Q is the product of the
    reflections `a`, `tau`, with all columns."""
    result = to_column_major(c)
    *batch, m, k = c._shape
    count = tau._shape[-1]
    if result.numel() and count:
        a, tau = to_column_major(a), tau.contiguous()
        numbers = (numel(tuple(batch)) * k, m, k, count, m, m, m * a._shape[-1], m * k, int(adjoint))
        dense("reflect", c._dtype, (a, tau, result), numbers, 2 * m * count)
    return result


def identity(shape: Ints, like: Tensor) -> Tensor:
    return eye(*shape[-2:], dtype=like._dtype, device=like.device).expand(shape)


def _qr(name: str, A: Tensor, mode: str) -> tuple[Tensor, Tensor]:
    matrices(name, A=A)
    if mode not in ("reduced", "complete", "r"):
        raise errors_factor.value(name, "mode", mode, "'reduced', 'complete' or 'r'")
    a, tau = qr_of(A)
    *batch, m, n = A._shape
    rows = m if mode == "complete" else min(m, n)
    R = to_column_major(a[..., :rows, :].triu())
    if mode == "r":
        return A.new_empty((0,)), R
    return apply_reflectors(a, tau, identity((*batch, m, rows), A), False), R


@composed(namespace="linalg", name="qr", method=False)
def linalg_qr(A: Tensor, mode: str = "reduced") -> return_types.linalg_qr:
    """Returns (Q, R) of A = Q @ R by Householder reflections: orthonormal columns and an upper
    triangular matrix. Mode "complete" gives a square Q, "r" no Q. Raises RuntimeError for other
    modes."""
    return return_types.linalg_qr(_qr("linalg.qr", A, mode))


@composed()
def qr(input: Tensor, some: bool = True) -> return_types.qr:
    """Returns (Q, R). See `linalg.qr`; without `some`, Q is square."""
    return return_types.qr(_qr("qr", input, "reduced" if some else "complete"))


@composed()
def geqrf(input: Tensor) -> return_types.geqrf:
    """Returns (a, tau), LAPACK's geqrf: R on and above the diagonal of `a`; below it the vectors v,
    without their first element of 1, of the reflections I - tau * v @ v.mH whose product is Q."""
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
    return apply_reflectors(input, tau, identity(input._shape, input), False)


_PRODUCT = MatrixFunction("householder_product", _product, legacy=("orgqr", "input", "input2"))
householder_product = _PRODUCT.linalg("""
    The first columns of the product of reflections, as many as `input` has; see `geqrf`.
""")
orgqr = _PRODUCT.legacy_function()


@composed()
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Returns Q @ input3, or input3 @ Q with `left=False`, with the square Q of reflections (see
    `geqrf`). `transpose` uses Q.mH. Raises RuntimeError for operands that don't fit."""
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
        return apply_reflectors(input, input2, input3, transpose)
    return to_column_major(apply_reflectors(input, input2, input3.mH, not transpose).mH)


# Bunch and Kaufman's constant minimizes the growth of elements over both pivot sizes.
GROWTH = (1 + 17**0.5) / 8


def _abs1(x: Any) -> Any:
    return abs(x.real) + abs(x.imag)


def _choose_pivot(a: Any, k: int) -> tuple[int, int]:
    """Returns (the row to exchange with row k, the pivot's size 1 or 2) by the partial pivoting of
    Bunch and Kaufman (1977), as in LAPACK's sytrf."""
    pivot_size = _abs1(a[k, k])
    if k == len(a) - 1:
        return k, 1
    column_sizes = _abs1(a[k + 1 :, k])
    r = k + 1 + int(column_sizes.argmax())
    largest = column_sizes[r - k - 1]
    if pivot_size >= GROWTH * largest:
        return k, 1
    row = max(_abs1(a[r, k:r]).max(), _abs1(a[r + 1 :, r]).max(initial=0))
    if pivot_size >= GROWTH * largest * (largest / row):
        return k, 1
    return (r, 1) if _abs1(a[r, r]) >= GROWTH * row else (r, 2)


def _swap(a: Any, k: int, p: int, conjugate: Any) -> None:
    """Exchanges rows and columns k and p > k of the remaining matrix, of which the lower half is
    stored."""
    a[p + 1 :, [k, p]] = a[p + 1 :, [p, k]]
    middle = conjugate(a[k + 1 : p, k]).copy()
    a[k + 1 : p, k] = conjugate(a[p, k + 1 : p])
    a[p, k + 1 : p] = middle
    a[p, k] = conjugate(a[p, k])
    a[k, k], a[p, p] = a[p, p], a[k, k]


def _ldl_factor(a: Any, hermitian: bool) -> tuple[Any, Any, int]:
    """Returns (L and D, pivots, info) of one matrix. See `ldl_factor_ex`."""
    a, n = np.tril(a), len(a)
    conjugate = np.conj if hermitian else np.asarray
    pivots, info, k = np.zeros(n, np.int32), 0, 0
    while k < n:
        if hermitian:
            a[k, k] = a[k, k].real
        if _abs1(a[k:, k]).max() == 0:
            info = info or k + 1
            pivots[k] = k + 1
            k += 1
            continue
        p, step = _choose_pivot(a, k)
        last, next_row = k + step - 1, k + step
        if p != last:
            _swap(a, last, p, conjugate)
            if step == 2:
                a[[last, p], k] = a[[p, last], k]
        pivots[k:next_row] = p + 1 if step == 1 else -(p + 1)
        d = a[k:next_row, k:next_row].copy()
        if step == 2:
            d[0, 1] = conjugate(d[1, 0])
        column = a[next_row:, k:next_row].copy()
        a[next_row:, k:next_row] = column @ np.linalg.inv(d)
        a[next_row:, next_row:] -= np.tril(a[next_row:, k:next_row] @ conjugate(column).T)
        k = next_row
    return a, pivots, info


def _map_matrices(function: Any, *arrays: Any) -> tuple[Any, ...]:
    batch = arrays[0].shape[:-2]
    results = [function(*[a[i] for a in arrays]) for i in np.ndindex(batch)]
    outputs = [np.stack([np.asarray(m[k]) for m in results]) for k in range(len(results[0]))]
    return tuple(p.reshape(batch + p.shape[1:]) for p in outputs)


def _ldl(name: str, input: Tensor, *, hermitian: bool = False) -> tuple[Tensor, ...]:
    matrices(name, square=True, A=input)

    def run(a: Any) -> tuple[Any, ...]:
        if not a.size:
            none = np.zeros(a.shape[:-1], np.int32), np.zeros(a.shape[:-2], np.int32)
            return (a, *none)
        LD, pivots, info = _map_matrices(lambda x: _ldl_factor(x, hermitian), a)
        return LD, pivots, info.astype(np.int32)

    return on_host(name, run, input, columns=(0,))


_LDL_FACTOR = MatrixFunction(
    "ldl_factor", _ldl, return_types.linalg_ldl_factor, errors_factor.singular, return_types.linalg_ldl_factor_ex
)
ldl_factor = _LDL_FACTOR.linalg("""
    (LD, pivots) of symmetric matrices, or Hermitian ones: P.mT @ A @ P = L @ D @ L.mT (or L.mH),
    with blocks of size 1 and 2 in D, as LAPACK's sytrf and hetrf leave them in the lower triangle.
    The host computes it. LinAlgError for a block of 0.
""")
ldl_factor_ex = _LDL_FACTOR.linalg_ex("""
    (LD, pivots, info): see `linalg.ldl_factor`; info (int32) is 0, or the first place of a 0 on
    D's diagonal. LinAlgError for these with `check_errors`.
""")


def _ldl_solve(a: Any, pivots: Any, b: Any, hermitian: bool) -> tuple[Any]:
    """Returns (X,) of one system: applies the steps of the factorization in order and back."""
    b, n = b.copy(), len(a)
    conjugate = np.conj if hermitian else np.asarray
    steps, k = [], 0
    while k < n:
        steps.append((k, 1 if pivots[k] > 0 else 2))
        k += steps[-1][1]
    for k, step in steps:
        last, next_row, p = k + step - 1, k + step, abs(pivots[k]) - 1
        b[[last, p]] = b[[p, last]]
        b[next_row:] -= a[next_row:, k:next_row] @ b[k:next_row]
        d = a[k:next_row, k:next_row].copy()
        if step == 2:
            d[0, 1] = conjugate(d[1, 0])
        b[k:next_row] = np.linalg.inv(d) @ b[k:next_row]
    for k, step in reversed(steps):
        last, next_row, p = k + step - 1, k + step, abs(pivots[k]) - 1
        b[k:next_row] -= conjugate(a[next_row:, k:next_row]).T @ b[next_row:]
        b[[last, p]] = b[[p, last]]
    return (b,)


@composed(namespace="linalg", method=False)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """Solves A @ X = B by the factors of `linalg.ldl_factor`. Computed on the host. Raises
    RuntimeError for operands that don't fit."""
    name = "linalg.ldl_solve"
    matrices(name, square=True, LD=LD)
    matrices(name, LD=LD, B=B)
    check_pivots(name, LD, pivots)
    if LD._shape[-1] != B._shape[-2]:
        raise errors_factor.shapes(name, LD._shape, B._shape, "B needs as many rows as LD")
    LD, B = one_batch(LD, B)
    pivots = pivots.expand(LD._shape[:-1])

    def run(a: Any, p: Any, b: Any) -> Any:
        if not b.size:
            return b
        return _map_matrices(lambda *x: _ldl_solve(x[0], x[1][0], x[2], hermitian), a, p[..., None, :], b)[0]

    return on_host(name, run, LD, pivots, B, columns=(0,))[0]
