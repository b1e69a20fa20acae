"""Maxima and means of windows on a board, or on what stands for one: the launch."""

from __future__ import annotations

from .._tensor import Tensor
from ..dtypes import int64
from ..iterator.shape import COUNTED, Ints, numel
from ..iterator.stride import contiguous_strides, is_contiguous
from ..kernels.select import units_for
from ..kernels.skeletons.pool import PoolGeometry, PoolKey, PoolWindows, serves
from ..runtime.program import built
from .board_sort import serves as on_board
from .launch import Launch, Output, Step
from .run import served


def pooled(
    input: Tensor,
    windows: PoolWindows,
    shape: Ints,
    places: bool,
    mean: bool = False,
    divisor: int = 0,
    padded: bool = False,
) -> tuple[Tensor, ...] | None:
    """(the largest element or the `mean` of each window, with `places` that of the largest in its
    plane as int64), of this shape; a mean is the sum by `divisor`, or by the window's elements
    (with zeros around the planes where they are `padded`).

    None where another way is to be taken: off boards, where an image has no such kernel, for
    operands that don't lie in order and windows that no strip holds.
    """
    if not on_board(input) or not is_contiguous(input._shape, input._strides):
        return None
    args = (input, windows, shape, places, mean, divisor, padded)
    key = ("board_pool", input._key, windows, places, mean, divisor, padded)
    return served(input._storage.backend, key, _prepare, pooled, args, (input,))


def _prepare(
    input: Tensor, windows: PoolWindows, shape: Ints, places: bool, mean: bool, divisor: int, padded: bool
) -> Launch | None:
    backend, of = input._storage.backend, input._dtype
    key = PoolKey(of)
    fits = 0 < numel(input._shape) <= COUNTED and 0 < numel(shape) <= COUNTED and abs(divisor) <= COUNTED
    if not serves(of) or not fits or not windows.served or not built(backend, key):
        return None
    g = PoolGeometry(
        mean, places, windows.planes, windows.band, divisor, padded, windows.sizes, windows.counts,
        windows.kernel, windows.stride, windows.padding, windows.dilation,
    )  # fmt: skip
    units = min(g.items, units_for(numel(input._shape), backend.units, backend.target, 1))
    results = [Output(of, shape, contiguous_strides(shape))]
    if places:
        results.append(Output(int64, shape, contiguous_strides(shape)))
    # Places that nobody asks for have the results' pointer, through which nothing is written.
    operands = (0, int(places), 1 + places)
    step = Step(key, units, operands, operands, geometry=g.pack(), work=numel(input._shape))
    return Launch((step,), 2 + places, tuple(results))
