"""Convolutions: the launch of a call, with packed planes and packed weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.shape import COUNTED, Ints, contiguous_strides, numel
from ..kernels.skeletons.conv import (
    ConvGeometry,
    ConvKey,
    ConvPackGeometry,
    InputStrip,
    PhasePart,
    bytes_keys,
    conv_key,
    conv_pack_key,
    input_strip,
    most_taps,
    serves,
    supports_operands,
)
from ..kernels.skeletons.conv.key import DEPTH
from ..kernels.skeletons.cpu.conv import DepthwiseGeometry, DirectConvGeometry
from ..kernels.skeletons.fir import MAX_TAPS, FirGeometry, FirKey, fir_serves
from ..runtime.launch_cache import in_image, is_available
from . import packed_weights
from .conv_plan import (
    ConvWindows,
    Planes,
    Tap,
    TapGroup,
    Tiling,
    batch_vectors_are_cheaper,
    direct,
    group_by_taps,
    padded_planes,
    reads_in_place,
    three,
    tiling,
)
from .dispatch import alias_launch, look_up, never_on_host, run
from .launch import Launch, Output, Step, check_memory

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# A launch's operands, and their packed forms.
OUT, X, WEIGHT, BIAS, PLANES, PANELS = range(6)
# The alignment of a board's vectors, in elements.
BEAT = 16
# The number of terms that cost about as much as a streamed element.
TERMS = 8
# Limit of packed samples, which stay in a CPU's cache until they are read; limit of the parts of a
# batch.
NEAR_BYTES, MAX_TURNS = 1 << 20, 16


def prepare(
    out: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    windows: ConvWindows,
    byte: tuple[int, bool] | None = None,
) -> Launch:
    """Returns the launch: steps that pack the operands, and a step for each group of results that
    sum the same taps. For bytes, `byte` is (the value of 0 as a signed byte, True if the bytes are
    unsigned)."""
    backend, dtype = out._storage.backend, out._dtype
    if dtype.name == "float64" and not backend.properties.has_float64:
        raise errors.no_float64(dtype, backend.properties.name)
    groups, filters, channels = weight._shape[:3]
    n = len(windows.stride)
    target, unaligned = backend.target, backend.target.unaligned
    key = bytes_keys()[0] if byte else conv_key(dtype, target, unaligned, filters)
    tap_groups = group_by_taps(weight, out._shape[2:], windows)
    in_place = reads_in_place(x, windows, tap_groups, key.columns)
    tap_groups = [
        TapGroup(
            three(c.first, 0),
            three(c.counts, 1),
            three(c.step, 1),
            tuple(Tap(t.filter_offset, three(t.distance, 0)) for t in c.taps),
        )
        for c in tap_groups
    ]
    stride = three((1,) * n if windows.transposed else windows.stride, 1)
    small = None if byte else direct(out, x, weight, bias, tap_groups, stride, in_place)
    if small is not None:
        return _small(out, x, weight, *small)
    if n < 3 and target.specializes and batch_vectors_are_cheaper(key, x._shape, filters, tap_groups, stride):
        launch = prepare(*_samples_across(out, x, weight), bias, windows.with_batch_dim())
        return replace(launch, outputs=_outputs(out))
    x_strides = (*x._strides[:2], *three(x._strides[2:], 0))
    results = three(out._strides[2:], 0)
    tiled = None
    if in_place:
        planes = Planes(x_strides, (0, 0, 0))
        tiled = tiling(key, planes, tap_groups[0], in_place, results)
        in_place = tiled is not None
    beat = 1 if unaligned else key.lanes if byte else BEAT
    if not in_place:
        planes = padded_planes(x._shape, tap_groups, stride, beat)
    packing = bytes_keys()[1] if byte else conv_pack_key(key, unaligned)
    panels = -(-filters // key.rows)
    batch, size = x._shape[0], key.dtype.compute.itemsize
    zero, unsigned = byte or (0, False)
    sample = x._shape[1] * planes.plane
    pack_samples = batch if in_place else _samples(backend, batch, sample, size)
    deep, high, wide = planes.parts or (PhasePart(1, (0,), 1),) * 3
    unit = ConvPackGeometry(
        0, x._shape[1], groups, panels, filters, channels, 1, planes.plane,
        (deep.size, high.size, wide.size), (deep.stride, high.stride, wide.stride),
        three(x._shape[2:], 1), x_strides, weight._strides[:3], -1 if bias is None else bias._strides[0],
        zero, unsigned, deep.phases, high.phases, wide.phases, (),
    )  # fmt: skip
    # Panels for each group of results; they are packed with the first samples.
    packs, rooms = [], []
    for group in tap_groups:
        taps = tuple([t.filter_offset for t in group.taps])
        some = max(1, DEPTH // max(len(taps), 1))
        packs.append(replace(unit, taps=taps, some=some))
        rooms.append(groups * panels * (1 + channels * len(taps)) * key.rows * size)
    if not in_place:
        packs[0] = replace(packs[0], batch=pack_samples)
    steps = [_pack(backend, packing, packed, k) for k, packed in enumerate(packs)]
    for begin in range(0, batch, pack_samples):
        samples = min(pack_samples, batch - begin)
        if begin:
            more = replace(unit, batch=samples, panels=0)
            steps.append(_pack(backend, packing, more, 0, begin * x._strides[0]))
        for k, group in enumerate(tap_groups):
            # The results of a group have gaps, so they may not form a contiguous row.
            group_strides = tuple([s * k for s, k in zip(results, group.step)])
            t = tiled or tiling(key, planes, group, in_place, group_strides)
            g = _geometry(key, planes, group, t, samples, groups, filters, channels, panels, out, stride, zero)
            first = sum(f * s for f, s in zip(group.first, results))
            moved = (begin * out._strides[0] + first, 0)
            terms = samples * numel(group.counts) * groups * filters * channels * max(len(group.taps), 1)
            units = min(_units(backend, terms // TERMS), g.items)
            steps.append(
                Step(
                    key,
                    units,
                    (OUT, X if in_place else PLANES, PANELS + k),
                    (OUT, X if in_place else None),
                    moved if any(moved) else None,
                    scalars=False,
                    geometry=g.pack(),
                )
            )
    # A tile reads beyond the last plane, but no result uses those elements.
    tail = max(beat, BEAT)
    room = 0 if in_place else (pack_samples * sample + key.columns + tail) * size
    rooms.insert(0, max(room, tail * size))
    return Launch(tuple(steps), 4, _outputs(out), temporaries=tuple(rooms))


def _outputs(out: Tensor) -> tuple[Output, ...]:
    return (Output(out._dtype, out._shape, out._strides),)


def _samples_across(out: Tensor, x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the operands of a convolution of small planes with the batch as the last dim, for
    vectors along the batch: rows of a plane would leave most of a vector empty."""

    def last(t: Tensor) -> Tensor:
        shape, strides = (1, *t._shape[1:], t._shape[0]), (0, *t._strides[1:], t._strides[0])
        return t._view(shape, strides, t._offset)

    filters = weight._view((*weight._shape, 1), (*weight._strides, 0), weight._offset)
    return last(out), last(x), filters


def _small(out: Tensor, x: Tensor, weight: Tensor, key: ConvKey, g: DirectConvGeometry | DepthwiseGeometry) -> Launch:
    """Returns the launch of a kernel that reads its operands in place, without packing."""
    backend = out._storage.backend
    terms = numel(out._shape) * g.channels * len(g.offsets) // TERMS
    units = min(_units(backend, terms), g.items)
    operands = (OUT, X, WEIGHT, BIAS)
    step = Step(key, units, operands, operands, scalars=False, geometry=g.pack(), work=terms)
    return Launch((step,), 4, _outputs(out))


def _samples(backend: Backend, batch: int, elements: int, size: int) -> int:
    """Returns the number of samples that are packed at once. On a CPU they fit the caches until
    they are read; elsewhere the kernel's counter is the limit."""
    if not backend.target.processor:
        return max(1, min(batch, COUNTED // max(elements, 1)))
    return min(batch, max(NEAR_BYTES // max(elements * size, 1), -(-batch // MAX_TURNS), 1))


def _pack(backend: Backend, key: ConvKey, g: ConvPackGeometry, k: int, moved: int = 0) -> Step:
    elements = g.batch * g.channels * g.plane + g.groups * g.panels * g.own * len(g.taps) * key.rows
    units = max(1, min(_units(backend, elements), g.of_planes + g.of_panels))
    inputs = (X, WEIGHT, BIAS) if key.skeleton == "conv_pack" else (X, WEIGHT)
    return Step(
        key,
        units,
        (PLANES, PANELS + k, *inputs),
        inputs,
        (moved, *[0] * (len(inputs) - 1)) if moved else None,
        scalars=False,
        geometry=g.pack(),
    )


def _geometry(
    key: ConvKey, planes: Planes, one: TapGroup, t: Tiling | None, batch: int, groups: int,
    filters: int, channels: int, panels: int, out: Tensor, stride: Ints, zero: int,
) -> ConvGeometry:  # fmt: skip
    assert t is not None
    out_strides = [s * k for s, k in zip(three(out._strides[2:], 0), one.step)]
    outside = [d for d in t.outside if one.counts[d] > 1]
    shape = (batch, *[one.counts[d] for d in outside])
    steps = (
        (planes.strides[0], *[planes.strides[2 + d] for d in outside]),
        (out._strides[0], *[out_strides[d] for d in outside]),
    )
    tiles = t.tiles(key)
    backend = out._storage.backend
    # Few tiles: smaller blocks, so that every compute unit has some.
    everywhere = prod(shape) * groups * tiles
    most = max(1, min(key.block, panels, everywhere * panels // (4 * backend.units)))
    if len(one.taps) > 1 and key.vectors > 1:
        most = 1  # overlapping windows are in the cache, and a wide tile is expensive to copy
    items = everywhere * -(-panels // most)
    assert items <= COUNTED, "more tiles than a launch can count"
    offsets = tuple([planes.offset(x.distance, stride) for x in one.taps])
    whole, lines, seen = False, False, InputStrip()
    if backend.target.is_board:
        begins = (out._strides[1], *steps[1], *[f * s for f, s in zip(one.first, out_strides)])
        aligned = not out._place() and all(n % key.lanes == 0 for n in begins)
        whole = aligned and t.width == t.positions and out_strides[2] == 1
        rows = out_strides[1] == t.width or t.positions <= t.pitch
        several = out_strides[0] == t.width * t.high or t.positions <= t.pitch * t.middle
        lines = out_strides[2] == 1 and rows and several
        seen = input_strip(key, t.positions, offsets)
        if key.skeleton == "conv_bytes":
            whole = _fills_beats(key, filters, out, steps[1], out_strides)
            lines = lines and not whole
    return ConvGeometry(
        items, panels, groups, tiles, t.positions, t.pitch, t.width, t.middle, t.high, filters,
        channels, most, planes.strides[1], (out._strides[1], *out_strides), not planes.parts, whole, lines,
        zero, shape, *steps, offsets, *seen,
    )  # fmt: skip


def _fills_beats(key: ConvKey, filters: int, out: Tensor, outside: Ints, out_strides: Sequence[int]) -> bool:
    """True if the results of a tile's filters at a position fill beats of memory."""
    aligned = not out._place() and all(n % key.rows == 0 for n in (filters, *outside, *out_strides))
    return out._strides[1] == 1 and aligned


def _units(backend: Backend, elements: int) -> int:
    if backend.target.grid == "stride":
        return backend.units
    return max(1, min(backend.units, elements // backend.target.unit_elements))


# With more filters, a kernel of products is faster, since filters share their samples there.
MAX_FILTERS = 4
# With fewer results per row, a second compute unit does not pay.
BLOCK = 4096


def filter_key(backend: Backend, dtype: dtype, cover: int) -> FirKey | None:
    """Returns the smallest FIR kernel in the device's images that covers `cover` samples; None if
    there is none, or if the device compiles on demand."""
    taps = max(8, 1 << (cover - 1).bit_length())
    while fir_serves(dtype) and taps <= MAX_TAPS:
        key = FirKey(dtype, taps)
        if in_image(backend, key):
            return key
        taps *= 2
    return None


def filtered(x: Tensor, weight: Tensor, bias: Tensor | None, shape: Ints, windows: ConvWindows) -> Tensor | None:
    """Returns the convolution (N, groups * O, count) of `x` (N, groups, size) with `weight`
    (groups, O, 1, taps), by a FIR kernel. All operands have one dtype.

    Returns None if no FIR kernel fits: more dims, summed channels, many filters, a transposed
    convolution, or more samples than the kernel counts.
    """
    if len(shape) != 1 or windows.transposed or weight._shape[2] != 1:
        return None
    if weight._shape[1] > MAX_FILTERS or not numel(x._shape) * numel(weight._shape) * shape[0]:
        return None
    cover = (weight._shape[3] - 1) * windows.dilation[0] + 1
    if max(shape[0] * windows.stride[0] + cover, x._shape[2] + windows.before[0]) > COUNTED:
        return None
    backend = x._storage.backend
    key = filter_key(backend, x._dtype, cover)
    if key is None:
        return None
    addend = weight if bias is None else bias
    call_key = ("fir", x._key, weight._key, addend._key, bias is None, shape, windows)
    args = (key, x, weight, bias, shape, windows)
    return run(backend, call_key, prepare_fir, never_on_host, args, (x, weight, addend))[0]


def _pace(key: FirKey, x: Tensor, stride: int) -> int:
    """Returns the number of samples that enter the kernel per cycle: a power of two that divides
    `stride` and the strides between rows. So results are whole cycles apart, and all rows have the
    same alignment."""
    pace = key.pace if x._strides[2] == 1 else 1
    rows = [step for n, step in zip(x._shape[:2], x._strides) if n > 1]
    while any(step % pace for step in (stride, *rows)):
        pace //= 2
    return pace


def prepare_fir(
    key: FirKey, x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, windows: ConvWindows
) -> Launch:
    """Returns the launch of a FIR kernel. If there are fewer rows than compute units, cuts the rows
    into blocks."""
    backend, (groups, filters, _, taps) = x._storage.backend, weight._shape
    batch, _, samples = x._shape
    shape = (batch, groups * filters, *counts)
    outputs = check_memory(backend, Output(x._dtype, shape, contiguous_strides(shape)))
    rows, (count,) = batch * groups * filters, counts
    beat = key.lanes // key.parts
    # Rows and blocks begin on beats, so that no two units write one beat.
    apart = rows == 1 or count % beat == 0
    units = max(1, min(backend.units, rows * -(-count // BLOCK))) if apart else 1
    share = -(-rows * count // units)
    block = min(count, share + -share % beat)
    geometry = FirGeometry(
        batch, groups, filters, samples, count, -(-count // block), block, taps, windows.dilation[0],
        windows.stride[0], windows.before[0], _pace(key, x, windows.stride[0]), bias is not None,
        0 if bias is None else bias._strides[0], x._strides[2], x._strides[:2],
        (weight._strides[0], weight._strides[1], weight._strides[3]),
        (groups * filters * count, count), key.parts,
    )  # fmt: skip
    operands = (0, 1, 2, 3)
    step = Step(key, min(units, geometry.items), operands, operands, scalars=False, geometry=geometry.pack())
    return Launch((step,), 4, outputs)


def has_byte_kernel(x: Tensor, weight: Tensor, taps: int) -> bool:
    """True if a board has the kernels that sum products of these bytes, for `taps` kernel
    elements."""
    backend = x._storage.backend
    if not backend.target.is_board or not supports_operands(x._dtype, weight._dtype):
        return False
    key, packing = bytes_keys()
    return taps <= most_taps(key) and is_available(backend, key) and is_available(backend, packing)


def convolve_bytes(out: Tensor, x: Tensor, weight: Tensor, windows: ConvWindows, zero: int) -> Tensor:
    """Writes the convolution of the bytes `x` (N, groups * C, *sizes) minus `zero` with the int8
    `weight` (groups, O, C, *kernel) to the int32 tensor `out`. Padding has the value `zero`.
    Operands must pass `has_byte_kernel` and have elements."""
    backend = out._storage.backend
    key = ("bytes", out._key, x._key, weight._key, windows, zero, not out._place())
    args = (out, x, weight, windows, zero)
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


def prepare_bytes(out: Tensor, x: Tensor, weight: Tensor, windows: ConvWindows, zero: int) -> Launch:
    """Returns the launch of `convolve_bytes`. Packing converts unsigned bytes to signed bytes."""
    unsigned = x._dtype.kind == "u"
    return prepare(out, x, weight, None, windows, (zero - 128 * unsigned, unsigned))


def convolve(
    out: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, windows: ConvWindows, call: Hashable = None
) -> Tensor:
    """Writes the convolution of `x` (N, groups * C, *sizes) to `out` (N, groups * O, *counts).
    `weight` is (groups, O, C, *kernel).

    All operands have elements and one dtype that `serves` accepts. If `call` is a key, it includes
    the keys of all operands and of `out`, and `cached_convolution` runs the next call with that
    key.
    """
    backend = out._storage.backend
    call_key: tuple[Any, ...] = ("conv", out._key, x._key, weight._key, None if bias is None else bias._key, windows)
    if backend.target.is_board:
        call_key += (not out._place(),)
    args = (out, x, weight, bias, windows)
    addend = weight if bias is None else bias
    if packed_weights.can_cache(weight._storage):
        launch = look_up(backend, call_key, prepare, args)
        panels = None
        if isinstance(launch, Launch):
            named = call if not backend.target.is_board else None
            panels = packed_weights.panels(launch, named, x, weight, addend)
        if panels is not None:
            with_panels = ("with panels", call_key)
            inputs = (x, weight, addend, *panels)
            run(backend, with_panels, _with_panels, convolve, args, inputs, (), out)
            if call is not None and not backend.target.is_board:
                alias_launch(backend, with_panels, ("with panels", call))
            return out
    run(backend, call_key, prepare, convolve, args, (x, weight, addend), (), out)
    if call is not None and not backend.target.is_board:
        alias_launch(backend, call_key, call)
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
        return None  # unchanged weight: `convolve` uses its cached panels
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
    backend, dtype = x._storage.backend, x._dtype
    if not serves(dtype):
        return False
    unaligned = backend.target.unaligned
    key = conv_key(dtype, backend.target, unaligned, 16)
    if not unaligned and taps > most_taps(key):
        return False
    return is_available(backend, key) and is_available(backend, conv_pack_key(key, unaligned))
