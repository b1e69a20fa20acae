"""What follows from singular values: pseudoinverses, ranks, condition, least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import return_types
from ..._tensor import Tensor
from ...dtypes import int64
from ...errors import factor as errors_factor
from ..compose import composed
from ..pointwise.ternary import where
from .matrices import matrices, on_host, one_batch
from .norms import matrix_norm
from .solve import inv_ex
from .spectra import svdvals


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Which singular values count: those above `atol` and above `rtol` times the largest. Without
    either, `rtol` is the dtype's eps times the larger size."""
    default = np.finfo(A._dtype.to_real().name).eps
    relative = float(default) * max(A._shape[-2:], default=0)
    if rtol is None:
        if isinstance(atol, Tensor):
            rtol = where(atol > 0, 0.0, relative)
        else:
            rtol = 0.0 if atol is not None and atol > 0 else relative
    return 0.0 if atol is None else atol, rtol


def _with_tolerances(name: str, A: Tensor, atol: Any, rtol: Any, function: Any) -> Tensor:
    """`function(array, atol, rtol)`, whose tolerances may be tensors, one for each matrix."""
    bounds = _tolerances(A, atol, rtol)
    tensors = [b for b in bounds if isinstance(b, Tensor)]
    for b in tensors:
        if b._dtype.is_complex:
            raise errors_factor.value(name, "a tolerance", b._dtype, "real")

    def run(a: Any, *tolerances: Any) -> Any:
        rest = iter(tolerances)
        real = np.finfo(a.dtype).dtype
        both = [next(rest) if isinstance(b, Tensor) else b for b in bounds]
        return function(a, *[np.asarray(b, real)[..., None] for b in both])

    return on_host(name, run, A, *tensors)[0]


def _counted(s: Any, atol: Any, rtol: Any) -> Any:
    """Which of the sizes are above the tolerances."""
    largest = s.max(-1, keepdims=True, initial=0)
    return s > np.maximum(atol, rtol * largest)


def _inverted(a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if hermitian:
        w, u = np.linalg.eigh(a)
        vh = u.conj().swapaxes(-1, -2)
    else:
        u, w, vh = np.linalg.svd(a, full_matrices=False)
    keep = _counted(abs(w), atol, rtol)
    inverse = np.where(keep, 1 / np.where(keep, w, 1), 0).astype(w.dtype)
    if keep.shape[:-1] != a.shape[:-2]:
        u, vh = (np.broadcast_to(x, (*keep.shape[:-1], *x.shape[-2:])) for x in (u, vh))
    return (vh.conj().swapaxes(-1, -2) * inverse[..., None, :]) @ u.conj().swapaxes(-1, -2)


def _pinv(name: str, A: Tensor, atol: Any, rtol: Any, hermitian: bool) -> Tensor:
    matrices(name, square=hermitian, A=A)
    return _with_tolerances(name, A, atol, rtol, lambda a, low, relative: _inverted(a, low, relative, hermitian))


@composed(namespace="linalg", method=False)
def pinv(input: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The Moore-Penrose inverse of each matrix. Singular values up to `atol` and up to `rtol`
    (`rcond` in its older form) times the largest are taken as 0; without either, `rtol` is the
    dtype's eps times the larger size. `hermitian`: by eigenvalues. The host computes it.
    """
    return _pinv("linalg.pinv", input, atol, rtol if rcond is None else rcond, hermitian)


@composed()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """See `linalg.pinv`."""
    return _pinv("pinverse", input, None, rcond, False)


@composed(namespace="linalg", method=False)
def matrix_rank(
    input: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """How many singular values of each matrix are above the tolerances (see `linalg.pinv`; `tol`
    is the older form of `atol`), as int64. `hermitian`: sizes of eigenvalues. The host computes
    it.
    """
    name = "linalg.matrix_rank"
    matrices(name, square=hermitian, input=input)
    if tol is not None:
        atol, rtol = tol, 0.0 if rtol is None else rtol

    def run(a: Any, low: Any, relative: Any) -> Any:
        s = abs(np.linalg.eigvalsh(a)) if hermitian else np.linalg.svd(a, compute_uv=False)
        return _counted(s, low, relative).sum(-1, dtype=np.int64)

    return _with_tolerances(name, input, atol, rtol, run)


@composed(namespace="linalg", method=False)
def cond(input: Tensor, p: Any = None) -> Tensor:
    """The condition of each matrix: its norm of order `p` (None: 2) times that of its inverse; inf
    where there is none. RuntimeError for orders that `linalg.matrix_norm` doesn't have.
    """
    name = "linalg.cond"
    matrices(name, input=input)
    if p is None or p in (2, -2):
        if 0 in input._shape:
            return input.new_zeros(input._shape[:-2], dtype=input._dtype.to_real())
        s = svdvals(input)
        ratio: Tensor = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
        return ratio
    matrices(name, square=True, input=input)
    if 0 in input._shape:
        return input.new_zeros(input._shape[:-2], dtype=input._dtype.to_real())
    inverse, info = inv_ex(input)
    singular = (info != 0).reshape(*info._shape, 1, 1)
    inverse = where(singular, float("inf"), inverse)
    size: Tensor = matrix_norm(input, p) * matrix_norm(inverse, p)
    return size


LSTSQ = (None, "gels", "gelsy", "gelsd", "gelss")


def _least(a: Any, b: Any, rcond: float) -> tuple[Any, ...]:
    """The shortest of the solutions with the least residuals, the ranks, the singular values."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    keep = _counted(s, 0, rcond)
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0).astype(s.dtype)
    x = vh.conj().swapaxes(-1, -2) @ (inverse[..., None] * (u.conj().swapaxes(-1, -2) @ b))
    lost = (abs(a @ x - b) ** 2).sum(-2)
    return x, lost, keep.sum(-1, dtype=np.int64), s


def _system(name: str, A: Tensor, B: Tensor) -> tuple[Tensor, Tensor, bool]:
    """Both with the same batch dims, and whether B holds vectors."""
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
    """(solution, residuals, rank, singular_values) of input @ X = b with the least squares, and of
    these the smallest X. Singular values up to `rcond` times the largest are taken as 0 (None: eps
    times the larger size). What torch's `driver` leaves out has no elements here, too: "gelsy" the
    residuals and singular values, "gels" the ranks and singular values. The host computes it.
    RuntimeError for operands that don't fit.
    """
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
    bound = 0.0 if driver == "gels" else rcond
    x, lost, rank, s = on_host(name, lambda a, b: _least(a, b, bound), A, B, columns=(0,))
    none = A.new_empty((0,), dtype=A._dtype.to_real())
    full = driver != "gelsy" and m > n and (driver == "gels" or bool((rank == n).all()))
    residuals = lost if full else none
    if vectors:
        x = x.squeeze(-1)
        residuals = residuals.squeeze(-1) if full else residuals
    rank = A.new_empty((0,), dtype=int64) if driver == "gels" else rank
    s = s if driver in ("gelsd", "gelss") else none
    return return_types.linalg_lstsq((x, residuals, rank, s))
