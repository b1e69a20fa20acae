"""Convolutions: a call's launch, its packed weights, which may be kept, and what is there for it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .._tensor import Tensor
from ..kernels.skeletons.conv import conv_key, conv_pack_key, most_taps, serves
from ..runtime.program import built
from . import conv_kept, derived
from .conv_launch import prepare
from .conv_plan import ConvWindows
from .launch import Launch
from .look_up import look_up
from .run import also_as, run


def convolve(
    out: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, of: ConvWindows, call: Hashable = None
) -> Tensor:
    """Write the convolution of `x` (N, groups * C, *sizes) to `out` (N, groups * O, *counts).

    `weight` is (groups, O, C, *kernel). All have one dtype that `serves` and elements. The next
    `call`, if it names one, is done by `again`; the key of all operands and of `out` is part of it.
    """
    backend = out._storage.backend
    key: tuple[Any, ...] = ("conv", out._key, x._key, weight._key, None if bias is None else bias._key, of)
    if not backend.target.unaligned:
        key += (not out._place(),)
    args = (out, x, weight, bias, of)
    addend = weight if bias is None else bias
    if derived.keeps(weight._storage):
        launch = look_up(backend, key, prepare, args)
        panels = None
        if isinstance(launch, Launch):
            named = call if backend.target.unaligned else None
            panels = conv_kept.panels(launch, named, x, weight, addend)
        if panels is not None:
            with_panels = ("with panels", key)
            inputs = (x, weight, addend, *panels)
            run(backend, with_panels, _with_panels, convolve, args, inputs, (), out)
            if call is not None and backend.target.unaligned:
                also_as(backend, with_panels, ("with panels", call))
            return out
    run(backend, key, prepare, convolve, args, (x, weight, addend), (), out)
    if call is not None and backend.target.unaligned:
        also_as(backend, key, call)
    return out


def again(call: Hashable, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor | None:
    """The result of a call of `convolve` that was named so, in a fresh tensor; None for a new one,
    and where there is something to look at first."""
    addend = weight if bias is None else bias
    launches, storage = x._storage.backend.launches, weight._storage
    launch = launches[call]
    if not (type(launch) is Launch and conv_kept.packs(launch) and derived.keeps(storage)):
        results = launch.call((x, weight, addend), (), None)
        return None if results is None else results[0]
    kept = derived.kept_of(storage)
    at = conv_kept.call_of(call, weight, addend)
    panels = derived.ready(kept.entries.get(at), addend._storage)
    if panels is not None:
        results = launches["with panels", call].call((x, weight, addend, *panels), (), None)
        return None if results is None else results[0]
    if at in kept.entries:
        return None  # the weight is what it was: `convolve` keeps its panels
    results = launch.call((x, weight, addend), (), None)
    if results is None:
        return None
    kept.note(at, None)
    return results[0]


def _with_panels(*args: Any) -> Launch:
    """The launch of `prepare`, which gets its panels."""
    return conv_kept.without(prepare(*args))


def served(x: Tensor, taps: int) -> bool:
    """Whether there are kernels for it and for so many elements of a kernel, in an image, too."""
    backend, of = x._storage.backend, x._dtype
    if not serves(of):
        return False
    unaligned = backend.target.unaligned
    key = conv_key(of, backend.target, unaligned, 16)
    if not unaligned and taps > most_taps(key):
        return False
    return built(backend, key) and built(backend, conv_pack_key(key, unaligned))
