"""Exponentials of matrices, inverses and solutions of tensors seen as matrices, low ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

from ... import errors
from ..._tensor import Tensor
from ...dtypes import complex128, float64
from ...errors import factor as errors_factor
from ...execute import memory
from ...execute.choices import spares_double
from ...rows.catalogue import also_in, op
from ..compose import composed
from ..create.data import tensor
from ..pointwise.ternary import where
from ..random.create import randn
from .factors import identity, linalg_qr
from .matrices import matrices
from .solve import inv, solve
from .spectra import linalg_svd

# The terms of exp's series that are summed for matrices of norm up to 2: the next one is below the
# rounding of 1. A smaller norm would need fewer terms, but more squares, which double errors.
TERMS = {"float32": 14, "float64": 23}


@op()
def matrix_exp(input: Tensor) -> Tensor:
    """exp of square matrices, the sum of input^k / k!. Each matrix is halved until its norm is at
    most 2, and the sum of the series squared as often. RuntimeError for integers.
    """
    name = "matrix_exp"
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(name, "input", input)
    if input._dtype.kind not in "fc":
        raise errors_factor.dtype(name, "input", input._dtype)
    if input.ndim < 2:
        raise errors_factor.needs_matrices(name, "input", input._shape)
    n = input._shape[-1]
    if input._shape[-2] != n:
        raise errors_factor.not_square(name, "input", input._shape)
    if not input.numel():
        return input.clone()
    of = input._dtype.compute
    if spares_double(input):
        of = complex128 if of.is_complex else float64  # squares double their error each time
    x = input.to(of).reshape(-1, n, n)
    norms = x.abs().sum(-2).amax(-1).tolist()
    halvings = [_halvings(size) for size in norms]
    scale = tensor([0.5**h for h in halvings], dtype=of, device=input.device)
    x = x * scale.reshape(-1, 1, 1)
    one = identity(x._shape, x)
    exponential = one
    for k in range(TERMS[of.to_real().name], 0, -1):
        exponential = one + (x @ exponential) / k
    for step in range(max(halvings)):
        square = exponential @ exponential
        if min(halvings) > step:
            exponential = square
            continue
        more = tensor([h > step for h in halvings], device=input.device).reshape(-1, 1, 1)
        exponential = where(more, square, exponential)
    return exponential.reshape(input._shape).to(input._dtype)


def _halvings(size: float) -> int:
    """How often a matrix of this norm is halved; not at all where it is not finite."""
    return max(0, math.frexp(size)[1] - 1) if size < math.inf else 0


also_in("linalg", "matrix_exp")


@composed(namespace="linalg", method=False)
def tensorinv(input: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor seen as a matrix, whose rows are the first `ind` dims. RuntimeError
    where these have not as many elements as the others; LinAlgError for a singular one.
    """
    name = "linalg.tensorinv"
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(name, "input", input)
    if ind <= 0:
        raise errors_factor.value(name, "ind", ind, "positive")
    first, last = input._shape[:ind], input._shape[ind:]
    if prod(first) != prod(last):
        raise errors_factor.shapes(name, first, last, "they need as many elements")
    inverse: Tensor = inv(input.reshape(prod(first), prod(last)))
    return inverse.reshape(*last, *first)


@composed(namespace="linalg", method=False)
def tensorsolve(input: Tensor, other: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """X with tensordot(input, X, X.ndim) = other; the `dims` of input are moved to its end before.
    RuntimeError where input, seen as a matrix, is not square; LinAlgError where it is singular.
    """
    name = "linalg.tensorsolve"
    for word, x in (("input", input), ("other", other)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, word, x)
    if dims is not None:
        input = input.movedim(tuple(dims), tuple(range(input.ndim - len(dims), input.ndim)))
    last = input._shape[other.ndim :]
    if input.numel() != prod(last) ** 2 or other.numel() != prod(last):
        raise errors_factor.shapes(name, input._shape, other._shape, "input must be as a square matrix of other")
    solution: Tensor = solve(input.reshape(other.numel(), prod(last)), other.reshape(-1))
    return solution.reshape(last)


# Low ranks


def _basis(A: Tensor, q: int, niter: int) -> Tensor:
    """`q` orthonormal columns that span most of what A's columns do: those of A times random
    numbers, after `niter` turns of the power method (Halko, Martinsson, Tropp 2011, algorithm 4.4).
    """
    start = randn(A._shape[-1], q, dtype=A._dtype, device=A.device)
    Q = linalg_qr(A @ start).Q
    for _ in range(niter):
        Q = linalg_qr(A.mH @ Q).Q
        Q = linalg_qr(A @ Q).Q
    basis: Tensor = Q
    return basis


def _lowrank(A: Tensor, q: int, niter: int) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) of algorithm 5.1 there, on the side that is shorter."""
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
    """(U, S, V) of A - M, near A - M = U @ diag(S) @ V.mH where its rank is about `q`: by random
    numbers, `niter` turns of the power method, and a small `linalg.svd`. RuntimeError for dtypes
    that `linalg.qr` has not.
    """
    matrices("svd_lowrank", A=A)
    if M is not None:
        A = A - M
    return _lowrank(A, 6 if q is None else q, 2 if niter is None else niter)


@op(method=False)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of observations (rows), from which their mean is taken where `center`; `q` is
    at most the smaller size (None: that, up to 6). ValueError for other `q` and a negative `niter`.
    """
    name = "pca_lowrank"
    matrices(name, A=A)
    least = min(A._shape[-2:])
    if q is None:
        q = min(6, least)
    if not 0 <= q <= least:
        raise errors_factor.number(name, "q", q, f"from 0 to {least}")
    if niter < 0:
        raise errors_factor.number(name, "niter", niter, "at least 0")
    if center:
        memory.ask(A, A.numel(), A._dtype)
    return _lowrank(A - A.mean(-2, True) if center else A, q, niter)
