"""Singular values, eigenvalues and their vectors, by NumPy on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import return_types
from ..._tensor import Tensor
from ...errors import linalg as errors_factor
from ..bind import composed
from .forms import matrices, on_host


def _svd(
    name: str, A: Tensor, full: bool = False, driver: str | None = None, vectors: bool = True
) -> tuple[Tensor, ...]:
    matrices(name, A=A)
    if driver is not None:
        raise errors_factor.value(name, "driver", driver, "None, since the host computes this")
    if not vectors:
        return on_host(name, lambda a: np.linalg.svd(a, compute_uv=False), A)
    return on_host(name, lambda a: tuple(np.linalg.svd(a, full)), A, columns=(0, 2))


@composed(namespace="linalg", name="svd", method=False)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> return_types.linalg_svd:
    """(U, S, Vh) with A = U @ diag(S) @ Vh: singular values in descending order between matrices
    with orthonormal columns and rows, which are square where `full_matrices`. The host computes
    it. LinAlgError where A holds infinities or NaN.
    """
    return return_types.linalg_svd(_svd("linalg.svd", A, full_matrices, driver))


@composed(namespace="linalg", name="svdvals", method=False)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of each matrix, in descending order. The host computes them."""
    return _svd("linalg.svdvals", A, driver=driver, vectors=False)[0]


@composed()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> return_types.svd:
    """(U, S, V) with input = U @ diag(S) @ V.mH; see `linalg.svd`, the newer form. Without
    `compute_uv`, U and V are zeros.
    """
    matrices("svd", input=input)
    if not compute_uv:
        s = svdvals(input)
        (*batch, m, n) = input._shape
        zeros = [input.new_zeros((*batch, k, k)) for k in (m, n)]
        return return_types.svd((zeros[0], s, zeros[1]))
    u, s, vh = _svd("svd", input, not some)
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
    """(eigenvalues, eigenvectors as columns) of square matrices, complex, in no certain order. The
    host computes them. RuntimeError for infinities and NaN.
    """
    return return_types.linalg_eig(_eigen("linalg.eig", input, np.linalg.eig, (1,)))


@composed(namespace="linalg", name="eigvals", method=False)
def eigvals(input: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex; see `linalg.eig`."""
    return _eigen("linalg.eigvals", input, np.linalg.eigvals, ())[0]


def _symmetric(name: str, A: Tensor, uplo: Any, function: Any, columns: tuple[int, ...]) -> tuple[Tensor, ...]:
    """What a function makes of matrices and the triangle that is read of them."""
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise errors_factor.value(name, "UPLO", uplo, "'L' or 'U'")
    matrices(name, square=True, input=A)
    return on_host(name, lambda a: function(a, uplo.upper()), A, columns=columns)


@composed(namespace="linalg", name="eigh", method=False)
def eigh(input: Tensor, UPLO: str = "L") -> return_types.linalg_eigh:
    """(eigenvalues in ascending order, eigenvectors as columns) of symmetric or Hermitian matrices,
    of which the lower triangle is read, or the upper one (`UPLO="U"`). The host computes them.
    """
    return return_types.linalg_eigh(_symmetric("linalg.eigh", input, UPLO, np.linalg.eigh, (1,)))


@composed(namespace="linalg", name="eigvalsh", method=False)
def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric or Hermitian matrices, ascending; see `linalg.eigh`."""
    return _symmetric("linalg.eigvalsh", input, UPLO, np.linalg.eigvalsh, ())[0]
