"""Convolutions of single channels with few taps, on an image's kernel that has all taps at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.shape import COUNTED, Ints, numel
from ..iterator.stride import contiguous_strides
from ..kernels.skeletons.fir import MOST_TAPS, FirGeometry, FirKey, serves
from ..runtime.program import held
from .conv_plan import ConvWindows
from .launch import Launch, Output, Step, asked
from .run import never_on_host, run

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# More filters than these share their samples in a kernel of products.
MOST_FILTERS = 4
# Fewer results of a row are not worth a second compute unit.
BLOCK = 4096


def filter_key(backend: Backend, of: dtype, cover: int) -> FirKey | None:
    """The smallest kernel of the device's images for filters that cover so many samples; None where
    there is none, and on devices that compile what they need."""
    taps = max(8, 1 << (cover - 1).bit_length())
    while serves(of) and taps <= MOST_TAPS:
        key = FirKey(of, taps)
        if held(backend, key):
            return key
        taps *= 2
    return None


def filtered(x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, of: ConvWindows) -> Tensor | None:
    """The convolution (N, groups * O, count) of `x` (N, groups, size) with `weight` (groups, O, 1,
    taps), all of one dtype; None where no such kernel is there or it is not one for it: more dims,
    channels that are summed, many filters, transposed, more samples than are counted."""
    if len(counts) != 1 or of.transposed or weight._shape[2] != 1:
        return None
    if weight._shape[1] > MOST_FILTERS or not numel(x._shape) * numel(weight._shape) * counts[0]:
        return None
    cover = (weight._shape[3] - 1) * of.dilation[0] + 1
    if max(counts[0] * of.stride[0] + cover, x._shape[2] + of.before[0]) > COUNTED:
        return None
    backend = x._storage.backend
    key = filter_key(backend, x._dtype, cover)
    if key is None:
        return None
    addend = weight if bias is None else bias
    call_key = ("fir", x._key, weight._key, addend._key, bias is None, counts, of)
    args = (key, x, weight, bias, counts, of)
    return run(backend, call_key, prepare, never_on_host, args, (x, weight, addend))[0]


def _pace(key: FirKey, x: Tensor, stride: int) -> int:
    """How many samples may enter at once: no result is passed over, and they lie in one beat of
    each row where they do in the first."""
    pace = key.pace if x._strides[2] == 1 else 1
    rows = [step for n, step in zip(x._shape[:2], x._strides) if n > 1]
    while any(step % pace for step in (stride, *rows)):
        pace //= 2
    return pace


def prepare(key: FirKey, x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, of: ConvWindows) -> Launch:
    """The launch: rows, cut into blocks where units would have none."""
    backend, (groups, filters, _, taps) = x._storage.backend, weight._shape
    batch, _, samples = x._shape
    shape = (batch, groups * filters, *counts)
    outputs = asked(backend, Output(x._dtype, shape, contiguous_strides(shape)))
    rows, (count,) = batch * groups * filters, counts
    beat = key.lanes // key.parts
    # No two units write one beat: rows begin on beats, and so do blocks.
    apart = rows == 1 or count % beat == 0
    units = max(1, min(backend.units, rows * -(-count // BLOCK))) if apart else 1
    share = -(-rows * count // units)
    block = min(count, share + -share % beat)
    geometry = FirGeometry(
        batch, groups, filters, samples, count, -(-count // block), block, taps, of.dilation[0],
        of.stride[0], of.before[0], _pace(key, x, of.stride[0]), bias is not None,
        0 if bias is None else bias._strides[0], x._strides[2], x._strides[:2],
        (weight._strides[0], weight._strides[1], weight._strides[3]),
        (groups * filters * count, count),
    )  # fmt: skip
    operands = (0, 1, 2, 3)
    step = Step(key, min(units, geometry.items), operands, operands, numbers=False, geometry=geometry.pack())
    return Launch((step,), 4, outputs)
