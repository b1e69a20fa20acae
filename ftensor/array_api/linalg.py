"""The standard's products and its extension `linalg`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .._tensor import Tensor
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .dtypes import check
from .elementwise import FUNCTIONS as ELEMENTWISE
from .elementwise import two_arrays
from .reductions import FUNCTIONS as REDUCTIONS
from .reductions import Axis, axes_of


def in_common_dtype(name: str, op: Callable[..., Tensor], x1: Tensor, x2: Tensor, *arguments: Any) -> Tensor:
    """Returns the product by `op` in the common dtype of two tensors of numbers."""
    d, a, b = two_arrays(name, "numeric", x1, x2)
    return op(a, b, *arguments).to(d)


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Returns the matrix product (..., M, K) @ (..., K, N) in the common dtype; vectors lack M or
    N.

    Raises TypeError for bool and Python numbers, RuntimeError for shapes that don't fit.
    """
    check("matmul", "numeric", x1, x2)
    if not x1.ndim or not x2.ndim:
        raise messages.too_few_dims("matmul", 1, 0)
    return in_common_dtype("matmul", op_of("matmul"), x1, x2)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Returns the sum of products over the last `axes` of `x1` and the first of `x2`, or over pairs
    of axes."""
    check("tensordot", "numeric", x1, x2)
    if not isinstance(axes, int):
        axes = (list(axes[0]), list(axes[1]))
    return in_common_dtype("tensordot", op_of("tensordot"), x1, x2, axes)


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


# Further functions are lines of standard.txt.
__all__ = ["cross", "matmul", "solve", "tensordot", "vecdot", "vector_norm"]


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


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the cross product along a negative axis of size 3."""
    check("cross", "numeric", x1, x2)
    negative_axis("cross", axis, x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise messages.sizes_differ("cross", x1.shape[axis], 3)
    d, a, b = two_arrays("cross", "numeric", x1, x2)
    product: Tensor = op_of("linalg.cross")(*op_of("broadcast_tensors")(a, b), dim=axis)
    return product.to(d)


def vector_norm(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False, ord: float = 2) -> Tensor:
    """Returns the norm of the elements over axes, all for None; real."""
    check("vector_norm", "floating-point", x)
    axes = axes_of("vector_norm", axis, x.ndim)
    if not axes:  # empty axes mean no axes here, all axes in torch
        return x.abs() if ord else x.ne(0).to(x.dtype.to_real())
    return op_of("linalg.vector_norm")(x, ord, axes, keepdims)


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


def __dir__() -> list[str]:
    return list(__all__)
