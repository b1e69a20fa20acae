"""Products of matrices and vectors, which the standard has in its main namespace and in linalg."""

from __future__ import annotations

from collections.abc import Sequence

from .._tensor import Tensor
from ..errors import array_api as messages
from ..rows.catalogue import ENTRIES
from . import unsigned
from .dtypes import check
from .elementwise import FUNCTIONS as ELEMENTWISE
from .elementwise import two_arrays
from .reductions import FUNCTIONS as REDUCTIONS


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product (..., M, K) @ (..., K, N), vectors without M or N; in the common dtype.

    TypeError for bool and Python numbers; RuntimeError where shapes don't fit.
    """
    check("matmul", "numeric", x1, x2)
    d, a, b = two_arrays("matmul", "numeric", x1, x2)
    if not a.ndim or not b.ndim:
        raise messages.too_few_dims("matmul", 1, 0)
    product: Tensor = ENTRIES["matmul"].call(unsigned.lifted(a), unsigned.lifted(b))
    return product.to(d)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """The sum of products over the last `axes` of `x1` and the first of `x2`, or over pairs."""
    check("tensordot", "numeric", x1, x2)
    d, a, b = two_arrays("tensordot", "numeric", x1, x2)
    if not isinstance(axes, int):
        axes = (list(axes[0]), list(axes[1]))
    product: Tensor = ENTRIES["tensordot"].call(unsigned.lifted(a), unsigned.lifted(b), axes)
    return product.to(d)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x1) * x2 along an axis, which counts from the last; the rest is broadcast.

    ValueError where the axis is not negative, and where the sizes along it differ.
    """
    check("vecdot", "numeric", x1, x2)
    negative_axis("vecdot", axis, x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise messages.sizes_differ("vecdot", x1.shape[axis], x2.shape[axis])
    product = ELEMENTWISE["multiply"](ELEMENTWISE["conj"](x1), x2)
    return REDUCTIONS["sum"](product, axis=axis, dtype=product.dtype)


def negative_axis(name: str, axis: int, x1: Tensor, x2: Tensor) -> None:
    """ValueError for an axis that is not counted from the last, or that an operand has not."""
    if axis >= 0:
        raise messages.axis_not_negative(name, axis)
    for x in (x1, x2):
        if -axis > x.ndim:
            raise messages.axis_range(name, axis, x.ndim)
