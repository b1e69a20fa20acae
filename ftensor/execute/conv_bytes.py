"""Convolutions of bytes on boards, summed in int32."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..kernels.skeletons.conv import bytes_keys, most_taps, serves_bytes
from ..runtime.program import built
from . import conv_kept, derived
from .conv_launch import prepare
from .conv_plan import ConvWindows
from .launch import Launch
from .look_up import look_up
from .run import run


def served_bytes(x: Tensor, weight: Tensor, taps: int) -> bool:
    """Whether a board has kernels that sum products of such bytes, for so many elements of a
    kernel."""
    backend = x._storage.backend
    if backend.target.unaligned or not serves_bytes(x._dtype, weight._dtype):
        return False
    key, packing = bytes_keys()
    return taps <= most_taps(key) and built(backend, key) and built(backend, packing)


def convolve_bytes(out: Tensor, x: Tensor, weight: Tensor, of: ConvWindows, zero: int) -> Tensor:
    """Write to `out`, of int32, the convolution of the bytes `x` (N, groups * C, *sizes), less
    `zero`, which also lies around them, with the int8 `weight` (groups, O, C, *kernel): operands
    that are `served_bytes`, and elements."""
    backend = out._storage.backend
    key = ("bytes", out._key, x._key, weight._key, of, zero, not out._place())
    args = (out, x, weight, of, zero)
    if derived.keeps(weight._storage):
        launch = look_up(backend, key, prepare_bytes, args)
        panels = None
        if isinstance(launch, Launch):
            panels = conv_kept.panels(launch, None, x, weight, weight)
        if panels is not None:
            with_panels, inputs = ("with panels", key), (x, weight, weight, *panels)
            run(backend, with_panels, _with_panels, convolve_bytes, args, inputs, (), out)
            return out
    run(backend, key, prepare_bytes, convolve_bytes, args, (x, weight, weight), (), out)
    return out


def _with_panels(*args: Any) -> Launch:
    """The launch of `prepare_bytes`, which gets its panels."""
    return conv_kept.without(prepare_bytes(*args))


def prepare_bytes(out: Tensor, x: Tensor, weight: Tensor, of: ConvWindows, zero: int) -> Launch:
    """The launch of `convolve_bytes`: unsigned bytes become signed ones on the way."""
    unsigned = x._dtype.kind == "u"
    return prepare(out, x, weight, None, of, (zero - 128 * unsigned, unsigned))
