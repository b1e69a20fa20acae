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
    """Returns (U, S, Vh) with A = U @ diag(S) @ Vh: singular values in descending order, and
    matrices with orthonormal columns and rows, square with `full_matrices`. Computed on the host.
    Raises LinAlgError if A holds infinities or NaN."""
    return return_types.linalg_svd(_svd("linalg.svd", A, full_matrices, driver))


@composed(namespace="linalg", name="svdvals", method=False)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Returns the singular values of each matrix, in descending order. Computed on the host."""
    return _svd("linalg.svdvals", A, driver=driver, vectors=False)[0]


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
    """Returns (eigenvalues, eigenvectors as columns) of square matrices, complex, in no particular
    order. Computed on the host. Raises RuntimeError for infinities and NaN."""
    return return_types.linalg_eig(_eigen("linalg.eig", input, np.linalg.eig, (1,)))


@composed(namespace="linalg", name="eigvals", method=False)
def eigvals(input: Tensor) -> Tensor:
    """Returns the eigenvalues of square matrices, complex. See `linalg.eig`."""
    return _eigen("linalg.eigvals", input, np.linalg.eigvals, ())[0]


def _symmetric(name: str, A: Tensor, uplo: Any, function: Any, columns: tuple[int, ...]) -> tuple[Tensor, ...]:
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise errors_factor.value(name, "UPLO", uplo, "'L' or 'U'")
    matrices(name, square=True, input=A)
    return on_host(name, lambda a: function(a, uplo.upper()), A, columns=columns)


@composed(namespace="linalg", name="eigh", method=False)
def eigh(input: Tensor, UPLO: str = "L") -> return_types.linalg_eigh:
    """Returns (eigenvalues in ascending order, eigenvectors as columns) of symmetric or Hermitian
    matrices. Reads the lower triangle, or the upper one with `UPLO="U"`. Computed on the host."""
    return return_types.linalg_eigh(_symmetric("linalg.eigh", input, UPLO, np.linalg.eigh, (1,)))


@composed(namespace="linalg", name="eigvalsh", method=False)
def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """Returns the eigenvalues of symmetric or Hermitian matrices, ascending. See `linalg.eigh`."""
    return _symmetric("linalg.eigvalsh", input, UPLO, np.linalg.eigvalsh, ())[0]
