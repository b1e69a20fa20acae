"""Convolutions: the launch of a call, with its packed weights."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.shape import COUNTED, Ints, contiguous_strides, numel
from ..kernels.skeletons.conv import bytes_keys, conv_key, conv_pack_key, most_taps, serves, supports_operands
from ..kernels.skeletons.fir import MOST_TAPS, FirGeometry, FirKey, fir_serves
from ..runtime.program import built, in_image
from . import packed_weights
from .conv_launch import prepare
from .conv_plan import ConvWindows
from .dispatch import alias_launch, never_on_host, run
from .launch import Launch, Output, Step, check_memory
from .look_up import look_up

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# More filters than these share their samples in a kernel of products.
MOST_FILTERS = 4
# Fewer results of a row are not worth a second compute unit.
BLOCK = 4096


def filter_key(backend: Backend, of: dtype, cover: int) -> FirKey | None:
    """Returns the smallest FIR kernel in the device's images that covers `cover` samples; None if
    there is none, or if the device compiles on demand."""
    taps = max(8, 1 << (cover - 1).bit_length())
    while fir_serves(of) and taps <= MOST_TAPS:
        key = FirKey(of, taps)
        if in_image(backend, key):
            return key
        taps *= 2
    return None


def filtered(x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, of: ConvWindows) -> Tensor | None:
    """Returns the convolution (N, groups * O, count) of `x` (N, groups, size) with `weight`
    (groups, O, 1, taps), by a FIR kernel. All operands have one dtype.

    Returns None if no FIR kernel fits: more dims, summed channels, many filters, a transposed
    convolution, or more samples than the kernel counts.
    """
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
    return run(backend, call_key, prepare_fir, never_on_host, args, (x, weight, addend))[0]


def _pace(key: FirKey, x: Tensor, stride: int) -> int:
    """Returns the number of samples that enter at once. No stride may pass over a result, and each
    row's samples must be aligned in a beat as the first row's are."""
    pace = key.pace if x._strides[2] == 1 else 1
    rows = [step for n, step in zip(x._shape[:2], x._strides) if n > 1]
    while any(step % pace for step in (stride, *rows)):
        pace //= 2
    return pace


def prepare_fir(key: FirKey, x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, of: ConvWindows) -> Launch:
    """Returns the launch. Rows are cut into blocks if units would have no work."""
    backend, (groups, filters, _, taps) = x._storage.backend, weight._shape
    batch, _, samples = x._shape
    shape = (batch, groups * filters, *counts)
    outputs = check_memory(backend, Output(x._dtype, shape, contiguous_strides(shape)))
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


def has_byte_kernel(x: Tensor, weight: Tensor, taps: int) -> bool:
    """True if a board has the kernels that sum products of these bytes, for `taps` kernel
    elements."""
    backend = x._storage.backend
    if not backend.target.is_board or not supports_operands(x._dtype, weight._dtype):
        return False
    key, packing = bytes_keys()
    return taps <= most_taps(key) and built(backend, key) and built(backend, packing)


def convolve_bytes(out: Tensor, x: Tensor, weight: Tensor, of: ConvWindows, zero: int) -> Tensor:
    """Writes the convolution of the bytes `x` (N, groups * C, *sizes) minus `zero` with the int8
    `weight` (groups, O, C, *kernel) to the int32 tensor `out`. Padding has the value `zero`.
    Operands must pass `has_byte_kernel` and have elements."""
    backend = out._storage.backend
    key = ("bytes", out._key, x._key, weight._key, of, zero, not out._place())
    args = (out, x, weight, of, zero)
    if packed_weights.can_cache(weight._storage):
        launch = look_up(backend, key, prepare_bytes, args)
        panels = None
        if isinstance(launch, Launch):
            panels = packed_weights.panels(launch, None, x, weight, weight)
        if panels is not None:
            with_panels, inputs = ("with panels", key), (x, weight, weight, *panels)
            run(backend, with_panels, _bytes_with_panels, convolve_bytes, args, inputs, (), out)
            return out
    run(backend, key, prepare_bytes, convolve_bytes, args, (x, weight, weight), (), out)
    return out


def _bytes_with_panels(*args: Any) -> Launch:
    return packed_weights.without_packing(prepare_bytes(*args))


def prepare_bytes(out: Tensor, x: Tensor, weight: Tensor, of: ConvWindows, zero: int) -> Launch:
    """Returns the launch of `convolve_bytes`. Packing converts unsigned bytes to signed bytes."""
    unsigned = x._dtype.kind == "u"
    return prepare(out, x, weight, None, of, (zero - 128 * unsigned, unsigned))


def convolve(
    out: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, of: ConvWindows, call: Hashable = None
) -> Tensor:
    """Writes the convolution of `x` (N, groups * C, *sizes) to `out` (N, groups * O, *counts).
    `weight` is (groups, O, C, *kernel).

    All operands have elements and one dtype that `serves` accepts. If `call` is a key, it includes
    the keys of all operands and of `out`, and `cached_convolution` runs the next call with that
    key.
    """
    backend = out._storage.backend
    key: tuple[Any, ...] = ("conv", out._key, x._key, weight._key, None if bias is None else bias._key, of)
    if backend.target.is_board:
        key += (not out._place(),)
    args = (out, x, weight, bias, of)
    addend = weight if bias is None else bias
    if packed_weights.can_cache(weight._storage):
        launch = look_up(backend, key, prepare, args)
        panels = None
        if isinstance(launch, Launch):
            named = call if not backend.target.is_board else None
            panels = packed_weights.panels(launch, named, x, weight, addend)
        if panels is not None:
            with_panels = ("with panels", key)
            inputs = (x, weight, addend, *panels)
            run(backend, with_panels, _with_panels, convolve, args, inputs, (), out)
            if call is not None and not backend.target.is_board:
                alias_launch(backend, with_panels, ("with panels", call))
            return out
    run(backend, key, prepare, convolve, args, (x, weight, addend), (), out)
    if call is not None and not backend.target.is_board:
        alias_launch(backend, key, call)
    return out


def cached_convolution(call: Hashable, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor | None:
    """Returns the result of a call that `convolve` stored under the key `call`, in a fresh tensor;
    None on a miss, and if the call needs checks first."""
    addend = weight if bias is None else bias
    launches, storage = x._storage.backend.launches, weight._storage
    launch = launches[call]
    if not (type(launch) is Launch and packed_weights.has_packing(launch) and packed_weights.can_cache(storage)):
        results = launch.call((x, weight, addend), (), None)
        return None if results is None else results[0]
    kept = packed_weights.derived_tensors(storage)
    at = packed_weights.call_of(call, weight, addend)
    panels = packed_weights.valid_tensors(kept.entries.get(at), addend._storage)
    if panels is not None:
        results = launches["with panels", call].call((x, weight, addend, *panels), (), None)
        return None if results is None else results[0]
    if at in kept.entries:
        return None  # the weight is unchanged: `convolve` caches its panels
    results = launch.call((x, weight, addend), (), None)
    if results is None:
        return None
    kept.note(at, None)
    return results[0]


def _with_panels(*args: Any) -> Launch:
    return packed_weights.without_packing(prepare(*args))


def has_kernel(x: Tensor, taps: int) -> bool:
    """True if the device can compile, or has in its images, the convolution kernels for the dtype
    of `x` and `taps` kernel elements."""
    backend, of = x._storage.backend, x._dtype
    if not serves(of):
        return False
    unaligned = backend.target.unaligned
    key = conv_key(of, backend.target, unaligned, 16)
    if not unaligned and taps > most_taps(key):
        return False
    return built(backend, key) and built(backend, conv_pack_key(key, unaligned))
