"""Singular values, eigenvalues and their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import return_types
from ..._tensor import Tensor
from ...dtypes import int32
from ...errors import linalg as errors_factor
from ...execute import output
from ...execute.matmul import dense, has_jacobi
from ...iterator.shape import numel
from ...kernels.skeletons.dense import SWEEPS
from ..bind import composed
from ..pointwise.ternary import where
from .factors import apply_reflectors, identity, qr_of
from .forms import matrices, new_column_major, on_host, to_column_major


def _jacobi(name: str, kind: str, a: Tensor, vectors: bool) -> tuple[Tensor, Tensor, bool]:
    """Decomposes column-major square matrices in place. Returns (values, V, whether a value is 0)."""
    *batch, n, _ = a._shape
    values = output.new_like(a, (*batch, n), a._dtype.to_real())
    info = output.new_like(a, tuple(batch), int32)
    V = new_column_major(a._shape if vectors else (1, 1), a)
    numbers = (numel(tuple(batch)), n, n, n * n, int(vectors))
    dense(kind, a._dtype, (a, V, values, info), numbers, SWEEPS * n**3 * (2 + vectors))
    codes = info.reshape(-1).tolist() if batch else [int(info)]
    if 1 in codes:
        raise errors_factor.no_convergence(name)
    return values, V, -1 in codes


def _orthonormal(U: Tensor) -> Tensor:
    """Returns U with orthonormal columns in place of its columns of zeros, which are the last."""
    packed, tau = qr_of(U)
    signs = where(packed.diagonal(0, -2, -1).real < 0, -1.0, 1.0).to(U._dtype)
    return apply_reflectors(packed, tau, identity(U._shape, U) * signs.unsqueeze(-2), False)


def _svdhas_jacobi(name: str, A: Tensor, full: bool, vectors: bool) -> tuple[Tensor, ...]:
    *batch, m, n = A._shape
    if m < n:
        U, S, V = _svdhas_jacobi(name, A.mH, full, vectors)
        return V, S, U
    if not n:
        S = output.new_like(A, (*batch, 0), A._dtype.to_real())
        return to_column_major(identity((*batch, m, m if full else 0), A)), S, to_column_major(A.mH[..., :, :0])
    tall = m > n
    packed, tau = qr_of(A) if tall else (A, A)
    square = to_column_major(packed[..., :n, :].triu() if tall else A)
    S, V, singular = _jacobi(name, "svd", square, vectors)
    if not vectors:
        return square, S, V
    U = _orthonormal(square) if singular else square
    if tall:
        columns = m if full else n
        extended = to_column_major(identity((*batch, m, columns), A))
        extended[..., :n, :n] = U
        U = apply_reflectors(packed, tau, extended, False)
    return U, S, V


def svd_of(
    name: str, A: Tensor, full: bool = False, driver: str | None = None, vectors: bool = True
) -> tuple[Tensor, ...]:
    """Returns (U, S, Vh) of A = U @ diag(S) @ Vh, or (S,) without `vectors`."""
    matrices(name, A=A)
    if driver is not None:
        raise errors_factor.value(name, "driver", driver, "None: there is one method")
    if has_jacobi(A, min(A._shape[-2:])):
        U, S, V = _svdhas_jacobi(name, A, full, vectors)
        return (U, S, to_column_major(V.mH)) if vectors else (S,)
    if not vectors:
        return on_host(name, lambda a: np.linalg.svd(a, compute_uv=False), A)
    return on_host(name, lambda a: tuple(np.linalg.svd(a, full)), A, columns=(0, 2))


@composed(namespace="linalg", name="svd", method=False)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> return_types.linalg_svd:
    """Returns (U, S, Vh) with A = U @ diag(S) @ Vh: singular values in descending order, and
    matrices with orthonormal columns and rows, square with `full_matrices`. Raises LinAlgError if A
    holds infinities or NaN."""
    return return_types.linalg_svd(svd_of("linalg.svd", A, full_matrices, driver))


@composed(namespace="linalg", name="svdvals", method=False)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Returns the singular values of each matrix, in descending order. See `linalg.svd`."""
    return svd_of("linalg.svdvals", A, driver=driver, vectors=False)[0]


@composed()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> return_types.svd:
    """Returns (U, S, V) with input = U @ diag(S) @ V.mH. See `linalg.svd`, the newer form. Without
    `compute_uv`, U and V are zeros."""
    matrices("svd", input=input)
    if not compute_uv:
        s = svdvals(input)
        (*batch, m, n) = input._shape
        zeros = [input.new_zeros((*batch, k, k)) for k in (m, n)]
        return return_types.svd((zeros[0], s, zeros[1]))
    u, s, vh = svd_of("svd", input, not some)
    return return_types.svd((u, s, vh.mH))


def _eigen(name: str, A: Tensor, function: Any, columns: tuple[int, ...]) -> tuple[Tensor, ...]:
    matrices(name, square=True, A=A)

    def run(a: Any) -> Any:
        if not np.isfinite(a).all():
            raise errors_factor.not_finite(name)
        results = function(a)
        results = tuple(results) if isinstance(results, tuple) else (results,)
        return tuple([m.astype(np.result_type(m, np.complex64)) for m in results])

    return on_host(name, run, A, columns=columns)


@composed(namespace="linalg", name="eig", method=False)
def eig(input: Tensor) -> return_types.linalg_eig:
    """Returns (eigenvalues, eigenvectors as columns) of square matrices, complex, in no particular
    order. Computed on the host. Raises RuntimeError for infinities and NaN."""
    return return_types.linalg_eig(_eigen("linalg.eig", input, np.linalg.eig, (1,)))


@composed(namespace="linalg", name="eigvals", method=False)
def eigvals(input: Tensor) -> Tensor:
    """Returns the eigenvalues of square matrices, complex. See `linalg.eig`."""
    return _eigen("linalg.eigvals", input, np.linalg.eigvals, ())[0]


def eigh_of(name: str, A: Tensor, uplo: Any = "L", vectors: bool = True) -> tuple[Tensor, ...]:
    """Returns (ascending eigenvalues, eigenvectors as columns) of the triangle `uplo` of Hermitian
    matrices, or (eigenvalues,) without `vectors`."""
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise errors_factor.value(name, "UPLO", uplo, "'L' or 'U'")
    matrices(name, square=True, input=A)
    *batch, n, _ = A._shape
    upper = uplo.upper() == "U"
    if not has_jacobi(A, n):
        function: Any = np.linalg.eigh if vectors else np.linalg.eigvalsh
        return on_host(name, lambda a: function(a, uplo.upper()), A, columns=(1,) if vectors else ())
    if not n:
        return output.new_like(A, (*batch, 0), A._dtype.to_real()), to_column_major(A)
    w, V, _ = _jacobi(name, "eigh", to_column_major(A.mH if upper else A), vectors)
    return w, V


@composed(namespace="linalg", name="eigh", method=False)
def eigh(input: Tensor, UPLO: str = "L") -> return_types.linalg_eigh:
    """Returns (eigenvalues in ascending order, eigenvectors as columns) of symmetric or Hermitian
    matrices. Reads the lower triangle, or the upper one with `UPLO="U"`. Raises LinAlgError if it
    holds infinities or NaN."""
    return return_types.linalg_eigh(eigh_of("linalg.eigh", input, UPLO))


@composed(namespace="linalg", name="eigvalsh", method=False)
def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """Returns the eigenvalues of symmetric or Hermitian matrices, ascending. See `linalg.eigh`."""
    return eigh_of("linalg.eigvalsh", input, UPLO, vectors=False)[0]
