"""softmax, log_softmax and their derivatives in one launch: how lanes go over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides
from ..kernels.key import lanes_for
from ..kernels.select import SHORT_ROW, units_for
from ..kernels.skeletons.softmax_rows import SoftmaxGeometry, SoftmaxKey
from .launch import Launch, Output, Step
from .run import served

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# Elements up to which lanes may stand empty: a second launch takes longer.
FEW_ELEMENTS = 1 << 14


def softmax_rows(
    op: str, inputs: tuple[Tensor, ...], dim: int, to: dtype, narrow: bool = False
) -> Tensor | None:
    """An op of `kernels/skeletons/softmax_rows.py` along `dim` (from the front) of tensors of one
    shape and dtype; the result is contiguous, of dtype `to`.

    None where several launches are better, or images have these alone: such as for few long rows,
    and for tensors that don't lie in order.
    """
    backend = inputs[0]._storage.backend
    key = ("softmax_rows", op, to, narrow, dim, *[x._key for x in inputs])
    made = served(backend, key, prepare, softmax_rows, (op, inputs, dim, to, narrow), inputs)
    return None if made is None else made[0]


def _serves(backend: Backend, inputs: tuple[Tensor, ...], dim: int, to: dtype) -> bool:
    x, target = inputs[0], backend.target
    of, shape, count = x._dtype, x._shape, numel(x._shape)
    if not target.revisits_rows:
        return False
    if (
        not 0 < count < 2**31
        or of.kind != "f"
        or of.bare
        or to.bare
        or to.compute is not of.compute
    ):
        return False
    strides = contiguous_strides(shape)
    if any(y._shape != shape or y._dtype is not of or y._strides != strides for y in inputs):
        return False
    key, g = _choice(backend, "softmax", x, dim, to, False)
    filled = key.walk != "side_by_side" or 2 * g.rows >= key.lanes
    units = units_for(count, backend.units, target, key.lanes)
    return (filled and g.items >= units) or count <= FEW_ELEMENTS


def _choice(
    backend: Backend, op: str, x: Tensor, dim: int, to: dtype, narrow: bool
) -> tuple[SoftmaxKey, SoftmaxGeometry]:
    """Lanes along rows in memory, unless these are short: then, and along other dims, over rows."""
    of, shape = x._dtype, x._shape or (1,)
    lanes = lanes_for([of, to], of.compute, backend.target.lanes_bytes)
    n, inner, outer = shape[dim], numel(shape[dim + 1 :]), numel(shape[:dim])
    if inner > 1:
        groups = -(-inner // lanes)
        g = SoftmaxGeometry(outer * groups, n, inner, 1, groups, inner, n * inner)
        return SoftmaxKey(op, to, of, "side_by_side", lanes, narrow), g
    if n < SHORT_ROW * lanes and outer > 1:
        groups = -(-outer // lanes)
        return (
            SoftmaxKey(op, to, of, "strided", lanes, narrow),
            SoftmaxGeometry(groups, n, 1, n, groups, outer, 0),
        )
    g = SoftmaxGeometry(outer, n, 1, 0, 1, 1, n)
    return SoftmaxKey(op, to, of, "along", lanes, narrow), g


def prepare(
    op: str, inputs: tuple[Tensor, ...], dim: int, to: dtype, narrow: bool
) -> Launch | None:
    """The launch: one step over rows or groups of them; None where several launches are better."""
    x = inputs[0]
    backend, count = x._storage.backend, numel(x._shape)
    if not _serves(backend, inputs, dim, to):
        return None
    key, g = _choice(backend, op, x, dim, to, narrow)
    units = min(g.items, units_for(count, backend.units, backend.target, key.lanes))
    geometry: Ints = g.pack()
    operands = (0, 1, len(inputs))  # an op of one operand gets it twice
    step = Step(key, units, operands, operands, geometry=geometry, work=count)
    outputs = (Output(to, x._shape, contiguous_strides(x._shape)),)
    return Launch((step,), 1 + len(inputs), outputs)
