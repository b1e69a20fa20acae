"""Correlation, the analytic signal, sweeps and peaks, with SciPy's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import int64, result_type
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..arguments import check_tensors
from ..create.data import tensor
from ..nn.spatial.conv import CONV
from ..rearrange.cat import cat
from ..rearrange.pad import pad
from . import windows
from .fft import ifft, rfft
from .filters import as_tensors, fftconvolve, floating, precise_dtype
from .windows import require

_METHODS = ("auto", "direct", "fft")
_SWEEPS = {
    **dict.fromkeys(("linear", "lin", "li"), "linear"),
    **dict.fromkeys(("quadratic", "quad", "q"), "quadratic"),
    **dict.fromkeys(("logarithmic", "log", "lo"), "logarithmic"),
    **dict.fromkeys(("hyperbolic", "hyp"), "hyperbolic"),
}
# The largest number of dims that a convolution kernel has.
_DIRECT_DIMS = 3


def _convolved(name: str, in1: Any, in2: Any, mode: str, method: str) -> Tensor:
    """Convolves all dims: floating point by transforms, integers by exact sums."""
    x, y = as_tensors(name, in1, in2)
    require(method in _METHODS, name, f"method={method!r} is none of {', '.join(_METHODS)}")
    dtype = result_type(x, y)
    integral = dtype.kind in "ui"
    if not integral and method != "direct":
        return fftconvolve(x, y, mode)
    require(method != "fft", name, f"method='fft' rounds {dtype}; use 'direct', or convert to float32")
    require(mode in ("full", "same", "valid"), name, f"mode={mode!r} is none of full, same, valid")
    fits = x.ndim == y.ndim and 1 <= x.ndim <= _DIRECT_DIMS
    require(fits, name, f"direct sums need inputs of equally many dims, 1 to {_DIRECT_DIMS}, not {x.ndim} and {y.ndim}")
    require(
        x.numel() and y.numel(), name, f"inputs of shape {tuple(x._shape)} and {tuple(y._shape)} must have elements"
    )
    if not integral:
        x, y = floating(name, x, y)
    x, y, n = x.to(x._dtype if not integral else dtype), y.to(y._dtype if not integral else dtype), x.ndim
    larger = [a >= b for a, b in zip(x._shape, y._shape)]
    fits = mode != "valid" or all(larger) or not any(a > b for a, b in zip(x._shape, y._shape))
    require(fits, name, "neither input contains the other")
    sizes = x._shape
    if x.numel() < y.numel() or (mode == "valid" and not all(larger)):
        x, y = y, x
    edges = [y._shape[d] - 1 for d in reversed(range(n)) for _ in range(2)] if mode != "valid" else [0] * 2 * n
    padded = pad(x.unsqueeze(0).unsqueeze(0), tuple(edges))
    kernel = y.flip(tuple(range(n))).unsqueeze(0).unsqueeze(0)
    result = CONV[n](padded, kernel).squeeze(0).squeeze(0)
    if mode == "same":
        for d, size in enumerate(sizes):
            result = result.narrow(d, (result._shape[d] - size) // 2, size)
    return result.contiguous()


@op(namespace="signal", method=False)
def convolve(in1: Tensor, in2: Tensor, mode: str = "full", method: str = "auto") -> Tensor:
    """Convolves two inputs along all dims. `mode` is that of `fftconvolve`; `method` "auto" computes
    floating point by transforms and integers by exact sums ("direct", up to 3 dims). One input may
    be a NumPy array. Raises ValueError for inputs that don't fit."""
    return _convolved("convolve", in1, in2, mode, method)


@op(namespace="signal", method=False)
def correlate(in1: Tensor, in2: Tensor, mode: str = "full", method: str = "auto") -> Tensor:
    """Correlates two inputs along all dims: element k is the sum of in1[l] conj(in2[l - k + n - 1]),
    where n is in2's size. `mode` and `method` are those of `convolve`. Raises ValueError for inputs
    that don't fit."""
    x, y = as_tensors("correlate", in1, in2)
    y = y.flip(tuple(range(y.ndim)))
    return _convolved("correlate", x, y.conj() if y._dtype.is_complex else y, mode, method)


@op(namespace="signal", method=False)
def correlation_lags(in1_len: int, in2_len: int, mode: str = "full") -> np.ndarray[Any, Any]:
    """Returns the displacement that each element of a 1-d `correlate` belongs to, as a NumPy array
    of int64. Raises ValueError for lengths below 1 and another `mode`."""
    require(in1_len >= 1 and in2_len >= 1, "correlation_lags", f"lengths {in1_len} and {in2_len} are at least 1")
    require(mode in ("full", "same", "valid"), "correlation_lags", f"mode={mode!r} is none of full, same, valid")
    windows.check_capacity(in1_len + in2_len)
    if mode == "valid":
        difference = in1_len - in2_len
        return np.arange(min(difference, 0), max(difference, 0) + 1)
    lags = np.arange(1 - in2_len, in1_len)
    if mode == "same":
        middle = len(lags) // 2
        first = middle - in1_len // 2
        lags = lags[first : first + in1_len]
    return lags


@op(namespace="signal", method=False)
def hilbert(x: Tensor, N: int | None = None, axis: int = -1) -> Tensor:
    """Returns the analytic signal of a real one: its Hilbert transform is the imaginary part. `N`
    is the number of points of the transforms (the signal's length): the signal is cut, or zeros
    follow it. Raises ValueError for complex signals and for `N` below 1."""
    (x,) = floating("hilbert", x)
    require(not x._dtype.is_complex, "hilbert", f"the signal must be real, not {x._dtype}")
    axis = normalize_dim(axis, x.ndim)
    n = x._shape[axis] if N is None else N
    require(n >= 1, "hilbert", f"N={n}: a transform has at least 1 point")
    spectrum = rfft(x.movedim(axis, -1), n)
    # The frequencies between 0 and half the rate count twice, those above not at all.
    spectrum.narrow(-1, 1, (n - 1) // 2).mul_(2)
    padded = pad(spectrum, (0, n - spectrum._shape[-1]))
    return ifft(padded).movedim(-1, axis).contiguous()


@op(namespace="signal", method=False)
def chirp(
    t: Tensor,
    f0: float,
    t1: float,
    f1: float,
    method: str = "linear",
    phi: float = 0,
    vertex_zero: bool = True,
    *,
    complex: bool = False,
) -> Tensor:
    """Returns a cosine whose frequency goes from `f0` at t = 0 to `f1` at t = `t1`, at the times
    `t`, with `phi` degrees at t = 0.

    `method` is "linear", "quadratic" (its vertex at 0, or at `t1` without `vertex_zero`),
    "logarithmic" or "hyperbolic". With `complex` returns exp(i phase). Phases are computed in
    float64 if the device has it. Raises ValueError for another `method`, and for frequencies that
    it has no sweep for.
    """
    check_tensors("chirp", t=t)
    (x,) = floating("chirp", t)
    known = _SWEEPS.get(method)
    require(known is not None, "chirp", f"method={method!r} is none of {', '.join(dict.fromkeys(_SWEEPS.values()))}")
    require(not x._dtype.is_complex, "chirp", f"times must be real, not {x._dtype}")
    require(t1, "chirp", f"t1={t1} is the time of f1; it must not be 0")
    dtype, x = x._dtype, x.to(precise_dtype(x))
    if known == "linear":
        cycles = x * (x * ((f1 - f0) / t1 / 2) + f0)
    elif known == "quadratic":
        slope = (f1 - f0) / t1**2
        if vertex_zero:
            cycles = f0 * x + slope / 3 * x**3
        else:
            cycles = f1 * x + slope / 3 * ((t1 - x) ** 3 - t1**3)
    elif known == "logarithmic":
        require(not f0 * f1 <= 0, "chirp", f"f0={f0}, f1={f1}: both are positive, or both negative")
        if f0 == f1:
            cycles = f0 * x
        else:
            beta = t1 / math.log(f1 / f0)
            cycles = beta * f0 * ((x * (math.log(f1 / f0) / t1)).exp() - 1)
    else:
        require(f0 and f1, "chirp", f"f0={f0}, f1={f1}: neither may be 0")
        if f0 == f1:
            cycles = f0 * x
        else:
            pole = -f1 * t1 / (f0 - f1)
            cycles = -pole * f0 * (1 - x / pole).abs().log()
    phase = (cycles - cycles.floor()) * (2 * math.pi) + math.radians(phi)
    if complex:
        return (phase.cos() + 1j * phase.sin()).to(dtype.to_complex())
    return phase.cos().to(dtype)


def _between(name: str, value: Any, limits: Any) -> Any:
    """Returns True where `value` is within `limits`: a minimum, or (minimum, maximum) with None for
    no limit."""
    least, most = limits if isinstance(limits, (tuple, list)) and len(limits) == 2 else (limits, None)
    kept = None
    for limit, least_ in ((least, True), (most, False)):
        if limit is None:
            continue
        require(isinstance(limit, (int, float, np.number)), "find_peaks", f"{name}={limits!r} is no number and no pair")
        part = value >= limit if least_ else value <= limit
        kept = part if kept is None else kept & part
    return kept


def _by_distance(peaks: Any, heights: Any, distance: float) -> Any:
    """Returns which peaks stay if each removes the lower ones that are nearer than `distance`."""
    keep, reach = np.ones(len(peaks), bool), math.ceil(distance)
    for i in np.argsort(heights, kind="quicksort")[::-1]:
        if keep[i]:
            first = np.searchsorted(peaks, peaks[i] - reach, "right")
            last = np.searchsorted(peaks, peaks[i] + reach, "left")
            keep[first:last] = False
            keep[i] = True
    return keep


@op(namespace="signal", method=False)
def find_peaks(
    x: Tensor, height: Any = None, threshold: Any = None, distance: float | None = None, plateau_size: Any = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Returns (the indices (int64) of a signal's local maxima, a dict of their properties). A flat
    maximum counts once, at its middle.

    Each condition is a minimum, or a pair (minimum, maximum) with None for no limit: `height` of
    the peak, `threshold` of its difference to both neighbours, `plateau_size` of its width in
    elements. Of peaks closer than `distance` the highest stays. The dict has SciPy's keys:
    "peak_heights", "left_thresholds", "right_thresholds", "plateau_sizes", "left_edges",
    "right_edges". The device finds the peaks; the host applies `distance`. Raises ValueError for
    signals that are not 1-d and real, and for a `distance` below 1.
    """
    check_tensors("find_peaks", x=x)
    fits = x.ndim == 1 and not x._dtype.is_complex
    require(fits, "find_peaks", f"a real signal of 1 dim is needed, not {x._dtype} of shape {tuple(x._shape)}")
    require(distance is None or distance >= 1, "find_peaks", f"distance={distance}: it is at least 1")
    n = x._shape[0]
    if n < 3:
        lefts = peaks = rights = x.new_zeros((0,), dtype=int64)
    else:
        # Runs of equal elements, by the index of their first and last element.
        changes = (x.narrow(0, 1, n - 1) != x.narrow(0, 0, n - 1)).nonzero().squeeze(1)
        lefts = cat([x.new_zeros((1,), dtype=int64), changes + 1])
        rights = cat([changes, changes.new_full((1,), n - 1)])
        level = x.index_select(0, lefts)
        runs = level._shape[0]
        if runs < 3:
            lefts, rights = lefts.narrow(0, 0, 0), rights.narrow(0, 0, 0)
        else:
            middle = level.narrow(0, 1, runs - 2)
            top = (middle > level.narrow(0, 0, runs - 2)) & (middle > level.narrow(0, 2, runs - 2))
            at = top.nonzero().squeeze(1) + 1
            lefts, rights = lefts.index_select(0, at), rights.index_select(0, at)
        peaks = (lefts + rights) // 2
    found: dict[str, Tensor] = {}

    def keep(kept: Any) -> None:
        nonlocal peaks, lefts, rights
        if kept is None:
            return
        chosen = kept.nonzero().squeeze(1)
        peaks, lefts, rights = (part.index_select(0, chosen) for part in (peaks, lefts, rights))
        for key, value in found.items():
            found[key] = value.index_select(0, chosen)

    if plateau_size is not None:
        sizes = rights - lefts + 1
        found.update(plateau_sizes=sizes, left_edges=lefts, right_edges=rights)
        keep(_between("plateau_size", sizes, plateau_size))
    if height is not None:
        found["peak_heights"] = x.index_select(0, peaks)
        keep(_between("height", found["peak_heights"], height))
    if threshold is not None:
        value = x.index_select(0, peaks)
        left, right = value - x.index_select(0, peaks - 1), value - x.index_select(0, peaks + 1)
        found.update(left_thresholds=left, right_thresholds=right)
        least, most = threshold if isinstance(threshold, (tuple, list)) and len(threshold) == 2 else (threshold, None)
        keep(_between("threshold", left.minimum(right), (least, None)))
        if most is not None:
            left, right = found["left_thresholds"], found["right_thresholds"]
            keep(_between("threshold", left.maximum(right), (None, most)))
    if distance is not None and peaks.numel():
        kept = _by_distance(peaks.cpu().numpy(), x.index_select(0, peaks).cpu().numpy(), distance)
        keep(tensor(kept).to(device=x.device))
    return peaks, found
