"""Sums of two neighbours along a dim, times weights, in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....execute.choices import locates
from ....execute.constants import constant_of
from ....execute.indexed import Index, Operand, contiguous_like, locate
from ....rows.catalogue import enter
from ....rows.op import Op
from ...index.gather import put_at

CATEGORY = "locating"

# One index leads to an element (a) and the one behind it (b). The last element has none, so that
# what is there twice (e) is found as b: a weight of zero would not keep an infinity out.
LERP_AT = Op(
    "lerp_at",
    "lerp_at(start, end, near, far, twice) -> Tensor",
    "(e > K(0) ? b : a) * c + b * d",
    bool_="",
    gathers=(0, 1),
)
enter(__name__, LERP_AT)


def serves(x: Tensor, dim: int, where: Any) -> bool:
    """Whether the positions (results, taps) along a dim are each an element and the one behind it,
    the last one being its own, and the kernel may be had where `x` lies."""
    if where.shape[1] != 2 or not locates(LERP_AT, x):
        return False
    return bool((where[:, 1] == np.minimum(where[:, 0] + 1, x._shape[dim] - 1)).all())


def weighted(x: Tensor, dim: int, where: Any, weights: Any) -> Tensor:
    """The sums along a dim that `serves`, by weights (results, 2) of the dtype of `x`."""
    size, step = x._shape[dim], x._strides[dim]
    most = max(size - 1, 1)  # those with one behind them; a single one is found either way
    first = where[:, 0]
    table = constant_of(np.stack([*weights.T, first >= most]).astype(weights.dtype), x)
    index = constant_of(np.minimum(first, most - 1), x)
    strides, along = put_at(x._strides, dim, 0), put_at((0,) * x.ndim, dim, 1)
    views = [x._view(put_at(x._shape, dim, most), x._strides, x._offset + k * step) for k in (0, size - most)]
    shape = put_at(x._shape, dim, len(first))
    target = contiguous_like(shape, x._dtype, x)
    inputs = [Operand(view, strides, True) for view in views]
    inputs += [Operand(row, along) for row in table.unbind(0)]
    locate(LERP_AT, shape, target, inputs, [Index(index, along, most, step, dim, checked=True)])
    return target.tensor
