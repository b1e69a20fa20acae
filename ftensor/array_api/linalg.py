"""The standard's products and its extension `linalg`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .._tensor import Tensor
from ..dtypes import dtype
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .dtypes import check
from .elementwise import FUNCTIONS as ELEMENTWISE
from .elementwise import two_arrays
from .manipulation import matrix_transpose
from .reductions import FUNCTIONS as REDUCTIONS
from .reductions import Axis, axes_of


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the matrix product (..., M, K) @ (..., K, N) in the common dtype; vectors lack M or
    N.

    Raises TypeError for bool and Python numbers, RuntimeError for shapes that don't fit.
    """
    check("matmul", "numeric", x1, x2)
    d, a, b = two_arrays("matmul", "numeric", x1, x2)
    if not a.ndim or not b.ndim:
        raise messages.too_few_dims("matmul", 1, 0)
    product: Tensor = op_of("matmul")(a, b)
    return product.to(d)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Returns the sum of products over the last `axes` of `x1` and the first of `x2`, or over pairs
    of axes."""
    check("tensordot", "numeric", x1, x2)
    d, a, b = two_arrays("tensordot", "numeric", x1, x2)
    if not isinstance(axes, int):
        axes = (list(axes[0]), list(axes[1]))
    product: Tensor = op_of("tensordot")(a, b, axes)
    return product.to(d)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the sum of conj(x1) * x2 along a negative axis; the other axes broadcast.

    Raises ValueError if the axis is not negative, or the sizes along it differ.
    """
    check("vecdot", "numeric", x1, x2)
    negative_axis("vecdot", axis, x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise messages.sizes_differ("vecdot", x1.shape[axis], x2.shape[axis])
    product = ELEMENTWISE["multiply"](ELEMENTWISE["conj"](x1), x2)
    return REDUCTIONS["sum"](product, axis=axis, dtype=product.dtype)


def negative_axis(name: str, axis: int, x1: Tensor, x2: Tensor) -> None:
    """Raises ValueError for an axis that is not negative or that an operand doesn't have."""
    if axis >= 0:
        raise messages.axis_not_negative(name, axis)
    for x in (x1, x2):
        if -axis > x.ndim:
            raise messages.axis_range(name, axis, x.ndim)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _make_function(name: str, result: Any = None) -> Callable[..., Any]:
    """Returns the function of this name in torch's linalg, restricted to floating-point
    matrices."""
    call = op_of(f"linalg.{name}")

    def function(x: Tensor, /) -> Any:
        check(name, "floating-point", x)
        output = call(x)
        return output if result is None else result(*output)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`ftensor.linalg.{name}` of matrices (..., M, N); TypeError for integers and bool."
    return function


det = _make_function("det")
eig = _make_function("eig", EigResult)
eigh = _make_function("eigh", EighResult)
eigvals = _make_function("eigvals")
eigvalsh = _make_function("eigvalsh")
inv = _make_function("inv")
slogdet = _make_function("slogdet", SlogdetResult)
svdvals = _make_function("svdvals")


def cholesky(x: Tensor, /, *, upper: builtins.bool = False) -> Tensor:
    """Returns the lower factor L of x = L L^H, (..., M, M), or the upper one."""
    check("cholesky", "floating-point", x)
    return op_of("linalg.cholesky")(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the cross product along a negative axis of size 3."""
    check("cross", "numeric", x1, x2)
    negative_axis("cross", axis, x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise messages.sizes_differ("cross", x1.shape[axis], 3)
    d, a, b = two_arrays("cross", "numeric", x1, x2)
    product: Tensor = op_of("linalg.cross")(*op_of("broadcast_tensors")(a, b), dim=axis)
    return product.to(d)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Returns a view of the diagonals of matrices: (..., min(M, N)) for offset 0."""
    if x.ndim < 2:
        raise messages.too_few_dims("diagonal", 2, x.ndim)
    return x.diagonal(offset, -2, -1)


def trace(x: Tensor, /, *, offset: int = 0, dtype: dtype | None = None) -> Tensor:
    """Returns the sum of each matrix's diagonal; integers are summed in 64 bits."""
    check("trace", "numeric", x)
    return REDUCTIONS["sum"](diagonal(x, offset=offset), axis=-1, dtype=dtype)


def matrix_norm(x: Tensor, /, *, keepdims: builtins.bool = False, ord: float | str | None = "fro") -> Tensor:
    """Returns the norms of matrices (..., M, N), real: "fro", "nuc", 1, 2, inf and their
    negatives.
    """
    check("matrix_norm", "floating-point", x)
    order = "fro" if ord is None else ord
    return op_of("linalg.matrix_norm")(x, order, keepdim=keepdims)


def vector_norm(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False, ord: float = 2) -> Tensor:
    """Returns the norm of the elements over axes, all for None; real."""
    check("vector_norm", "floating-point", x)
    axes = axes_of("vector_norm", axis, x.ndim)
    if not axes:  # empty axes mean no axes here, all axes in torch
        return x.abs() if ord else x.ne(0).to(x.dtype.to_real())
    return op_of("linalg.vector_norm")(x, ord, axes, keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Returns square matrices (..., M, M) to an integer power."""
    check("matrix_power", "floating-point", x)
    return op_of("linalg.matrix_power")(x, n)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Returns the number of singular values above `rtol` times the greatest, by default max(M, N) *
    eps."""
    check("matrix_rank", "floating-point", x)
    return op_of("linalg.matrix_rank")(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the products (M, N) of the elements of (M,) and (N,)."""
    check("outer", "numeric", x1, x2)
    d, a, b = two_arrays("outer", "numeric", x1, x2)
    product: Tensor = op_of("outer")(a, b)
    return product.to(d)


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Returns the pseudo-inverses; singular values up to `rtol` times the greatest count as 0."""
    check("pinv", "floating-point", x)
    return op_of("linalg.pinv")(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QRResult:
    """Returns (Q, R) of x = Q R, with Q of orthonormal columns and R upper triangular."""
    check("qr", "floating-point", x)
    if mode not in ("reduced", "complete"):
        raise messages.unknown_word("qr", "mode", "'reduced', 'complete'", mode)
    return QRResult(*op_of("linalg.qr")(x, mode))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the solution X of x1 X = x2; only a one-dimensional `x2` is a vector."""
    check("solve", "floating-point", x1, x2)
    _, a, b = two_arrays("solve", "floating-point", x1, x2)
    if b.ndim == 1:
        solution: Tensor = op_of("linalg.solve")(a, b.unsqueeze(-1))
        return solution.squeeze(-1)
    # torch reads a right side with one dim fewer as vectors; with equal numbers of dims it is
    # matrices
    b = b[(None,) * (a.ndim - b.ndim)]
    a = a[(None,) * (b.ndim - a.ndim)]
    solution = op_of("linalg.solve")(a, b)
    return solution


def svd(x: Tensor, /, *, full_matrices: builtins.bool = True) -> SVDResult:
    """Returns (U, S, Vh) of x = U diag(S) Vh, with S in descending order."""
    check("svd", "floating-point", x)
    return SVDResult(*op_of("linalg.svd")(x, full_matrices))


def __dir__() -> list[str]:
    return list(__all__)
