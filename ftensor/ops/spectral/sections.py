"""Filters in second-order sections, filters without phase, and changes of a signal's rate: upfirdn,
resampling, decimation, CIC filters. The names are SciPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import dtype, int32, int64
from ...errors import spectral as errors_spectral
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..nn.spatial.conv import CONV
from ..rearrange.pad import pad
from . import windows
from .filters import coefficients, filtered, floating, recurrence, sum_dtype
from .power import extended
from .windows import require

Array = np.ndarray[Any, Any]
_PADTYPES = ("odd", "even", "constant", None)


def _sections(name: str, sos: Any) -> Array:
    """Returns the sections as an array (sections, 6). Raises ValueError for other shapes and for
    a[0] that are not 1."""
    array = np.asarray(windows.on_host(sos))
    fits = array.ndim == 2 and array.shape[1] == 6 and len(array)
    require(fits, name, f"sos of shape {array.shape} must have shape (sections, 6)")
    require(array.dtype.kind in "biuf", name, f"sos must be real numbers, not {array.dtype}")
    require((array[:, 3] == 1).all(), name, f"sos[:, 3] must be ones, but is {array[:, 3].tolist()}")
    return array.astype(np.float64)


def _system(sos: Array) -> windows.System:
    return windows.cascade([(section[:3], section[3:]) for section in sos])


def _steady(name: str, b: Array, a: Array) -> Array:
    """Returns the state (order,) that a filter reaches with an input of ones.

    The state is z = A z + B of `windows.state_space`. Its sum over all elements gives the first
    element, the rows of A give the others.
    """
    order = max(len(a), len(b)) - 1
    b, a = (np.pad(c / a[0], (0, order + 1 - len(c))) for c in (b, a))
    total = a.sum()
    fits = not abs(total) <= np.finfo(np.float64).eps * abs(a).sum()
    require(fits, name, "the filter has a pole at 1, so it reaches no steady state")
    drive = b[1:] - a[1:] * b[0]
    first = drive.sum() / total if order else 0.0
    return np.asarray(np.cumsum(a)[:order] * first - np.concatenate([[0.0], np.cumsum(drive)])[:order])


def _steady_sections(name: str, sos: Array) -> Array:
    """Returns the states (sections, 2) that sections in series reach with an input of ones."""
    states, level = [], 1.0
    for section in sos:
        states.append(level * _steady(name, section[:3], section[3:]))
        level *= section[:3].sum() / section[3:].sum()
    return np.array(states)


@op(namespace="signal", method=False)
def lfilter_zi(b: Any, a: Any) -> np.ndarray[Any, Any]:
    """Returns the state of `lfilter` in the steady state of an input of ones, as a NumPy array
    (order,). Times the first element of a signal it is a `zi` without a transient. Raises
    ValueError if a[0] is 0, and for a pole at 1."""
    top, bottom = coefficients("lfilter_zi", b, a)
    return _steady("lfilter_zi", top, bottom)


@op(namespace="signal", method=False)
def sosfilt_zi(sos: Any) -> np.ndarray[Any, Any]:
    """Returns the state of `sosfilt` in the steady state of an input of ones, as a NumPy array
    (sections, 2). Raises ValueError for `sos` that are no sections, and for a pole at 1."""
    return _steady_sections("sosfilt_zi", _sections("sosfilt_zi", sos))


@op(namespace="signal", method=False)
def sosfilt(sos: Any, x: Tensor, axis: int = -1, zi: Any = None) -> Tensor | tuple[Tensor, Tensor]:
    """Filters along `axis` by second-order sections in series: `sos` (sections, 6) has b and a of
    each in a row. With `zi`, the initial states (sections, ..., 2, ...), whose 2 is in the place of
    `axis`, returns (y, the final states).

    The result has the signal's dtype; sums are those of `lfilter`. Raises ValueError for `sos` that
    are no sections, and for states that don't fit.
    """
    sections = _sections("sosfilt", sos)
    (x,) = floating("sosfilt", x)
    axis = normalize_dim(axis, x.ndim)
    rows, count, state = x.movedim(axis, -1), len(sections), None
    if zi is not None:
        zi = zi if isinstance(zi, Tensor) else tensor(np.asarray(zi)).to(device=x.device)
        expected = (count, *x._shape[:axis], 2, *x._shape[axis + 1 :])
        require(tuple(zi._shape) == expected, "sosfilt", f"zi of shape {tuple(zi._shape)} must have {expected}")
        states = zi.movedim(axis + 1, -1).movedim(0, -2)
        state = states.reshape(*rows._shape[:-1], 2 * count)
    result, end = recurrence(_system(sections), rows, state)
    result = result.movedim(-1, axis).contiguous()
    if zi is None:
        return result
    end = end.reshape(*rows._shape[:-1], count, 2).movedim(-2, 0).movedim(-1, axis + 1)
    return result, end.contiguous()


def _both_ways(
    name: str, run: Any, state: Array, x: Tensor, axis: int, padtype: Any, padlen: int | None, edge: int
) -> Tensor:
    """Filters a signal forwards and backwards by `run(rows, initial state)`. The ends are extended
    by `padlen` elements, and the state begins as that of a signal that never changed."""
    require(padtype in _PADTYPES, name, f"padtype={padtype!r} is none of odd, even, constant, None")
    axis = normalize_dim(axis, x.ndim)
    edge = 0 if padtype is None else edge if padlen is None else padlen
    n = x._shape[axis]
    require(
        edge >= 0 and n > edge, name, f"{n} elements are too few for padlen={edge}: it needs more than {max(edge, 0)}"
    )
    rows = extended(x.movedim(axis, -1), edge, padtype)
    kind = rows._dtype.to_complex() if np.iscomplexobj(state) else rows._dtype
    settled = tensor(state).to(device=x.device, dtype=kind)
    for _ in range(2):
        rows = run(rows, rows.narrow(-1, 0, 1) * settled).flip(-1)
    return rows.narrow(-1, edge, n).movedim(-1, axis).contiguous()


@op(namespace="signal", method=False)
def filtfilt(
    b: Any, a: Any, x: Tensor, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Tensor:
    """Filters along `axis` forwards, then backwards, which removes the filter's delay.

    The signal is first extended by `padlen` elements (three times the longer of `b` and `a`) at
    both ends: by "odd" or "even" reflection, its "constant" ends, or not at all (None). Raises
    ValueError if a[0] is 0, for a pole at 1, and for signals of `padlen` elements or fewer.
    """
    top, bottom = coefficients("filtfilt", b, a)
    (x,) = floating("filtfilt", x)
    state = _steady("filtfilt", top, bottom)

    def run(rows: Tensor, start: Tensor) -> Tensor:
        return filtered(top, bottom, rows, start)[0]

    return _both_ways("filtfilt", run, state, x, axis, padtype, padlen, 3 * max(len(top), len(bottom)))


def both_ways(
    name: str, sos: Array, x: Tensor, axis: int = -1, padtype: Any = "odd", padlen: int | None = None
) -> Tensor:
    """Filters a signal forwards and backwards by sections; `padlen` as in `sosfiltfilt`."""
    system = _system(sos)
    edge = 3 * (2 * len(sos) + 1 - int(min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())))

    def run(rows: Tensor, start: Tensor) -> Tensor:
        return recurrence(system, rows, start)[0]

    return _both_ways(name, run, _steady_sections(name, sos).reshape(-1), x, axis, padtype, padlen, edge)


@op(namespace="signal", method=False)
def sosfiltfilt(sos: Any, x: Tensor, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None) -> Tensor:
    """Filters along `axis` by second-order sections forwards, then backwards, as `filtfilt`.
    `padlen` is 3 (2 sections + 1), less what sections of first order save. Raises ValueError for
    `sos` that are no sections, for a pole at 1, and for signals of `padlen` elements or fewer."""
    sections = _sections("sosfiltfilt", sos)
    (x,) = floating("sosfiltfilt", x)
    return both_ways("sosfiltfilt", sections, x, axis, padtype, padlen)


MAX_ORDER = 64  # larger than the CIC filters in use, which have up to 8


def _polyphase(taps: Any, rows: Tensor, up: int, down: int, delay: int, count: int) -> Tensor:
    """Returns `count` results of (..., n), in the dtype of `rows`, or a complex one for complex
    taps: element k * down + delay of the signal with up - 1 zeros after each element, filtered by
    `taps`. Beyond its ends the signal is 0."""
    # Result q * up + r is at position (q * up + r) * down + delay of the signal with inserted
    # zeros, in which element m is at m * up. Each residue r has its own taps, and reads the signal
    # in steps of `down`, starting `first` elements from q * down.
    n = rows._shape[-1]
    first, last = -(-(delay - len(taps) + 1) // up), ((up - 1) * down + delay) // up
    windows.check_capacity(up * (last + 1 - first))
    tap = np.arange(up)[:, None] * down + delay - np.arange(first, last + 1) * up
    is_tap = (tap >= 0) & (tap < len(taps))
    phases = np.where(is_tap, taps[tap.clip(0, len(taps) - 1)], 0)
    groups = -(-count // up)
    right = (groups - 1) * down + last + 1 - n
    kind = rows._dtype.to_complex() if np.iscomplexobj(taps) else rows._dtype
    padded = pad(rows.to(kind).reshape(-1, 1, n), (-first, right))
    kernel = tensor(phases).to(device=rows.device, dtype=kind).unsqueeze(1)
    result = CONV[1](padded, kernel, None, down).transpose(1, 2)
    result = result.reshape(-1, groups * up).narrow(-1, 0, count)
    return result.reshape(*rows._shape[:-1], count)


@op(namespace="signal", method=False)
def upfirdn(
    h: Any, x: Tensor, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: float = 0
) -> Tensor:
    """Inserts `up` - 1 zeros after each element, filters by the taps `h`, and takes every `down`-th
    result: ceil(((n - 1) up + taps) / down) of n elements.

    Only the results that are taken are computed, from elements that are not zero. Raises ValueError
    for factors below 1, for no taps, and for a `mode` and `cval` other than "constant" and 0.
    """
    (x,) = floating("upfirdn", x)
    taps = windows.values(h)
    require(up >= 1 and down >= 1, "upfirdn", f"up={up}, down={down}: both are at least 1")
    require(len(taps), "upfirdn", "h has no elements")
    fits = mode in ("constant", None) and not cval
    require(fits, "upfirdn", f"mode={mode!r} with cval={cval}: the signal is 0 beyond its ends; pad it for others")
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    n = rows._shape[-1]
    require(n, "upfirdn", f"dim {axis} of shape {tuple(x._shape)} has no elements")
    count = -(-((n - 1) * up + len(taps)) // down)
    return _polyphase(taps, rows, up, down, 0, count).movedim(-1, axis).contiguous()


@op(namespace="signal", method=False)
def cic(x: Tensor, rate: int, order: int = 3, delay: int = 1, axis: int = -1) -> Tensor:
    """Decimates by a cascaded integrator-comb filter: `order` running sums, every `rate`-th
    element, and `order` differences over `delay` elements. n elements give ceil(n / rate).

    The gain (rate * delay)^order is kept. Integers give exact sums: int32 if that holds them, else
    int64. Sums of int64 wrap around. The device computes the equivalent filter of order * (rate *
    delay - 1) + 1 taps, whose sums don't grow with the signal's length. Raises ValueError for
    arguments below 1, orders above 64, and sums of more than 64 bits of shorter integers.
    """
    require(
        rate >= 1 and order >= 1 and delay >= 1, "cic", f"rate={rate}, order={order}, delay={delay}: all are at least 1"
    )
    require(order <= MAX_ORDER, "cic", f"order={order}: it is at most {MAX_ORDER}")
    if not isinstance(x, Tensor) or x._dtype.kind in "fc":
        (x,) = floating("cic", x)
        kind = x._dtype
    else:
        kind = _sum_of_integers(x._dtype, (rate * delay) ** order)
    taps = _boxes(rate * delay, order, kind.kind == "i")
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1).to(kind)
    count = -(-rows._shape[-1] // rate)
    if not rows.numel():
        return rows.narrow(-1, 0, count).movedim(-1, axis).contiguous()
    return _polyphase(taps, rows, 1, rate, 0, count).movedim(-1, axis).contiguous()


def _boxes(width: int, order: int, wraps: bool) -> Any:
    """Returns the taps of `order` running sums over `width` elements in series, exactly or, if
    `wraps`, modulo 2^64."""
    fits = wraps or width**order < 1 << 63
    windows.check_capacity(order * (width - 1) + 1, 8 if fits else 64)
    taps = np.ones(1, np.int64 if fits else object)
    for _ in range(order):
        sums = np.cumsum(np.concatenate([taps, np.zeros(width - 1, taps.dtype)]))
        taps = sums.copy()
        taps[width:] -= sums[:-width]
    return taps if wraps else taps.astype(np.float64)


def _sum_of_integers(of: dtype, gain: int) -> dtype:
    """Returns int32 if it holds sums of `gain` elements, else int64."""
    if of.itemsize == 8:
        return int64
    bits = 1 if of.kind == "b" else 8 * of.itemsize
    bits += (of.kind != "i") + (gain - 1).bit_length()
    fits = bits <= 64
    require(fits, "cic", f"a gain of {gain} makes sums of {bits} bits from {of}; convert to float32 or reduce the rate")
    return int32 if bits <= 32 else int64


@op(namespace="signal", method=False)
def resample_poly(
    x: Tensor,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: float | None = None,
) -> Tensor:
    """Resamples a signal to up / down times its rate: inserts `up` - 1 zeros between its elements,
    applies a low-pass filter (a window, or given values), and takes every `down`-th result. Beyond
    its ends the signal is `cval` (0), or its own "mean", "minimum" or "maximum". Raises ValueError
    for factors below 1."""
    (x,) = floating("resample_poly", x)
    require(up >= 1 and down >= 1, "resample_poly", f"{up} / {down}: both are at least 1")
    fits = padtype in ("constant", "mean", "minimum", "maximum")
    require(fits, "resample_poly", f"padtype={padtype!r} is none of constant, mean, minimum, maximum")
    divisor = math.gcd(up, down)
    up, down = up // divisor, down // divisor
    if up == down == 1:
        return x.clone()
    larger_factor = max(up, down)
    if isinstance(window, (tuple, str)):
        taps = windows.lowpass("resample_poly", 20 * larger_factor + 1, 1 / larger_factor, window)
    else:
        taps = windows.values(window)
    require(len(taps), "resample_poly", "the window has no elements")
    half = (len(taps) - 1) // 2
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    edge_value: Any = 0 if cval is None else cval
    if padtype != "constant":
        fold: Any = {"mean": rows.mean, "minimum": rows.amin, "maximum": rows.amax}[padtype]
        edge_value = fold(-1, True)
    rows = rows - edge_value
    count = -(-rows._shape[-1] * up // down)
    result = _polyphase(taps * up, rows, up, down, half, count) + edge_value
    return result.movedim(-1, axis).contiguous()


@op(namespace="signal", method=False)
def decimate(
    x: Tensor, q: int, n: int | None = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True
) -> Tensor:
    """Takes each `q`-th element after a low-pass filter: for `ftype` "iir" a Chebyshev filter of
    order `n` (8), for "fir" n + 1 taps (20 q) with a Hamming window. `zero_phase` removes the
    delay. Raises ValueError for another `ftype`, and for signals shorter than the filter's edges.
    """
    (x,) = floating("decimate", x)
    require(q >= 1, "decimate", f"q={q}: it is at least 1")
    axis = normalize_dim(axis, x.ndim)
    if ftype == "fir":
        taps = windows.lowpass("decimate", (20 * q if n is None else n) + 1, 1 / q, "hamming")
        if zero_phase:
            return resample_poly(x, 1, q, axis, taps)
        rows, _ = filtered(taps, np.ones(1), x.movedim(axis, -1), None)
    elif ftype == "iir":
        sections = windows.chebyshev(8 if n is None else n, 0.05, 0.8 / q)
        sos = np.array([[*np.pad(b, (0, 3 - len(b))), *np.pad(a, (0, 3 - len(a)))] for b, a in sections])
        rows = x.movedim(axis, -1).to(sum_dtype(x))
        rows = both_ways("decimate", sos, rows) if zero_phase else recurrence(windows.cascade(sections), rows, None)[0]
    else:
        raise errors_spectral.filter_argument("decimate", f"ftype={ftype!r} is neither iir nor fir")
    kept_samples: Tensor = rows[..., ::q].to(x._dtype)
    return kept_samples.movedim(-1, axis).contiguous()
