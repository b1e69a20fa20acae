"""Filters, resampling and power spectra of `ftensor.signal`, with SciPy's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype, float64, result_type
from ...errors import spectral as errors_spectral
from ...execute import output
from ...execute.fft_plan import smooth
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..create.sizes import zeros
from ..nn.spatial.conv import CONV
from ..rearrange.cat import cat
from ..rearrange.pad import pad
from ..view.dims import imag, real
from . import windows
from .fft import fft, fftfreq, fftn, ifft, ifftn, irfft, irfftn, rfft, rfftfreq, rfftn
from .stft import overlap_add

# Elements that one matrix product filters.
BLOCK = 64
# From this number of taps on, filters without feedback use Fourier transforms.
DIRECT_TAPS = 16


def floating(name: str, *tensors: Any) -> list[Tensor]:
    """Returns tensors in their common floating-point dtype. Raises ValueError for 16 bits."""
    for x in tensors:
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, "x", x)
    result_dtype = result_type(*tensors) if len(tensors) == 2 else tensors[0]._dtype
    if result_dtype.kind not in "fc":
        result_dtype = result_type(zeros((), dtype=result_dtype), 1.0)
    if result_dtype.itemsize < 4:
        raise errors_spectral.filter_argument(name, f"{result_dtype} is not filtered; convert to float32")
    return [x.to(result_dtype) for x in tensors]


def _crop(x: Tensor, axes: Sequence[int], sizes: Sequence[int]) -> Tensor:
    for d, n in zip(axes, sizes):
        x = x.narrow(d, (x._shape[d] - n) // 2, n)
    return x


def _convolved(name: str, in1: Any, in2: Any, mode: str, axes: Any, blocks: bool) -> Tensor:
    x, y = floating(name, in1, in2)
    if x.ndim != y.ndim:
        raise errors_spectral.filter_argument(name, f"{x.ndim} dims and {y.ndim} don't fit")
    if mode not in ("full", "same", "valid"):
        raise errors_spectral.filter_argument(name, f"mode={mode!r} is none of full, same, valid")
    chosen_axes = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    dims = [normalize_dim(d, x.ndim) for d in chosen_axes]
    for d, (m, n) in enumerate(zip(x._shape, y._shape)):
        if d not in dims and m != n and 1 not in (m, n):
            raise errors_spectral.filter_argument(name, f"dim {d} has {m} elements and {n}")
    dims = [d for d in dims if x._shape[d] != 1 and y._shape[d] != 1]
    if mode == "valid":
        larger = [x._shape[d] >= y._shape[d] for d in dims]
        if not (all(larger) or not any(larger)):
            raise errors_spectral.filter_argument(name, "neither input contains the other")
        if not all(larger):
            x, y = y, x
    sizes = [x._shape[d] + y._shape[d] - 1 for d in dims]
    if not dims or not x.numel() or not y.numel():
        result = x * y
    elif blocks and len(dims) == 1:
        result = _in_blocks(x, y, dims[0])
    else:
        real = not x._dtype.is_complex
        points = [smooth(n) for n in sizes]
        forward, inverse = (rfftn, irfftn) if real else (fftn, ifftn)
        result = inverse(forward(x, points, dims) * forward(y, points, dims), points, dims)
        for d, n in zip(dims, sizes):
            result = result.narrow(d, 0, n)
    if mode == "same":
        result = _crop(result, dims, [in1._shape[d] for d in dims])
    elif mode == "valid":
        result = _crop(result, dims, [x._shape[d] - y._shape[d] + 1 for d in dims])
    return result.contiguous()


def _in_blocks(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """Returns the full convolution along a dim, in blocks of the longer input that are then added
    (overlap-add)."""
    if x._shape[dim] < y._shape[dim]:
        x, y = y, x
    x, y = x.movedim(dim, -1), y.movedim(dim, -1)
    n, taps = x._shape[-1], y._shape[-1]
    points = smooth(max(2 * taps, min(8 * taps, n + taps - 1)))
    step = points - taps + 1
    count = -(-n // step)
    pieces = pad(x, (0, count * step - n)).reshape(*x._shape[:-1], count, step)
    forward, inverse = (fft, ifft) if x._dtype.is_complex else (rfft, irfft)
    result = inverse(forward(pieces, points) * forward(y, points).unsqueeze(-2), points)
    batch = result._shape[:-2]
    result = overlap_add(result.reshape(-1, count, points), step).narrow(1, 0, n + taps - 1)
    return result.reshape(*batch, n + taps - 1).movedim(-1, dim)


@op(namespace="signal", method=False)
def fftconvolve(in1: Tensor, in2: Tensor, mode: str = "full", axes: Any = None) -> Tensor:
    """Convolves along `axes` (all) by Fourier transforms. `mode` "full" returns all, "same" the
    middle part of in1's size, "valid" the part that needs no zeros at the edges. Raises ValueError
    for inputs that don't fit."""
    return _convolved("fftconvolve", in1, in2, mode, axes, False)


@op(namespace="signal", method=False)
def oaconvolve(in1: Tensor, in2: Tensor, mode: str = "full", axes: Any = None) -> Tensor:
    """Like `fftconvolve`; along a single dim it works by overlap-add, for one input that is much
    longer than the other."""
    return _convolved("oaconvolve", in1, in2, mode, axes, True)


@op(namespace="signal", method=False)
def lfilter(b: Any, a: Any, x: Tensor, axis: int = -1, zi: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Filters along `axis` with numerator `b` and denominator `a`: a[0] y[n] is the sum of b[k] x[n
    - k] minus that of a[k] y[n - k], k >= 1. With `zi`, the initial state ((..., order), its last
    dim in the place of `axis`), returns (y, the final state).

    Sums are computed in float64 if the device has it. Raises ValueError if a[0] is 0.
    """
    (x,) = floating("lfilter", x)
    top, bottom = windows.values(b), windows.values(a)
    if not bottom.size or bottom[0] == 0:
        raise errors_spectral.filter_argument("lfilter", "a[0] must not be 0")
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    state = None if zi is None else zi.movedim(axis, -1)
    result, end = filtered(top, bottom, rows, state)
    result = result.movedim(-1, axis)
    return result if zi is None else (result, end.movedim(-1, axis))


def filtered(b: Any, a: Any, x: Tensor, zi: Tensor | None) -> tuple[Tensor, Tensor]:
    order = max(len(a), len(b)) - 1
    if order and x.numel() and not a[1:].any():
        return _finite(np.pad(b / a[0], (0, order + 1 - len(b))), x, zi)
    return recurrence(windows.state_space(b, a), x, zi)


def recurrence(system: Any, x: Tensor, zi: Tensor | None) -> tuple[Tensor, Tensor]:
    """Runs `system` (`design.state_space`) along the last dim, in blocks of BLOCK numbers; returns
    (the output, the final state).

    A block's outputs and final state are linear in its numbers and its initial state, with the same
    factors for each block. The initial states of all blocks come from a prefix scan that doubles
    its reach in each step.
    """
    step, input_vector, out, feedthrough = system
    n, order, batch = x._shape[-1], len(step), x._shape[:-1]
    compute = sum_dtype(x)

    def as_tensor(m: Any) -> Tensor:
        # A copy, because a reversed array has negative strides.
        return tensor(np.array(m)).to(device=x.device, dtype=compute)

    if not order or not x.numel():
        end = zeros((*batch, order), dtype=x._dtype, device=x.device) if zi is None else zi
        return x * (feedthrough if np.iscomplexobj(feedthrough) else float(feedthrough)), end
    powers = [np.eye(order)]
    for _ in range(BLOCK):
        powers.append(powers[-1] @ step)
    # response to the input k elements before the end
    reach = np.stack([p @ input_vector for p in powers[:BLOCK]])
    state_response = np.stack([out @ p for p in powers[:BLOCK]])
    impulse_response = np.concatenate([[feedthrough], state_response[: BLOCK - 1] @ input_vector])
    k = np.arange(BLOCK)
    toeplitz = np.where(k[:, None] >= k, impulse_response[abs(k[:, None] - k)], 0)
    count = -(-n // BLOCK)
    rows = pad(x.to(compute), (0, count * BLOCK - n)).reshape(-1, count, BLOCK)
    states = rows @ as_tensor(reach[::-1])
    first = zeros((rows._shape[0], 1, order), dtype=compute, device=x.device)
    if zi is not None:
        first = zi.to(compute).expand((*batch, order)).reshape(-1, 1, order)
    states = cat([first, states], 1)
    step_power, ahead = powers[BLOCK], 1
    while ahead <= count:
        computed = states.narrow(1, ahead, count + 1 - ahead)
        earlier = states.narrow(1, 0, count + 1 - ahead) @ as_tensor(step_power.T)
        states = cat([states.narrow(1, 0, ahead), computed + earlier], 1)
        step_power, ahead = step_power @ step_power, 2 * ahead
    entering = states.narrow(1, 0, count)
    result = rows @ as_tensor(toeplitz.T) + entering @ as_tensor(state_response.T)
    last = n - (count - 1) * BLOCK
    tail = rows.narrow(1, count - 1, 1).narrow(2, 0, last) @ as_tensor(reach[:last][::-1])
    end = entering.narrow(1, count - 1, 1) @ as_tensor(powers[last].T) + tail
    result = result.reshape(*batch, count * BLOCK).narrow(-1, 0, n)
    return result.to(x._dtype).contiguous(), end.reshape(*batch, order).to(x._dtype)


def _finite(taps: Any, x: Tensor, zi: Tensor | None) -> tuple[Tensor, Tensor]:
    """Like `recurrence` for a filter of `taps` without feedback: the final state is the response to
    zeros."""
    compute, n, order = sum_dtype(x), x._shape[-1], len(taps) - 1
    batch, kernel = x._shape[:-1], tensor(np.array(taps)).to(device=x.device)
    kernel_dtype = result_type(x, kernel) if np.iscomplexobj(taps) else compute
    rows = x.to(kernel_dtype).reshape(-1, n)
    if order < DIRECT_TAPS and not kernel_dtype.is_complex:
        padded = pad(rows.unsqueeze(1), (order, order))
        result = CONV[1](padded, kernel.to(kernel_dtype).flip(0).reshape(1, 1, -1))
    else:
        result = _in_blocks(rows, kernel.to(kernel_dtype).unsqueeze(0), 1)
    result = result.reshape(*batch, n + order)
    if zi is not None:
        result.narrow(-1, 0, order).add_(zi.to(kernel_dtype))
    if not kernel_dtype.is_complex or x._dtype.is_complex:
        result = result.to(x._dtype)
    return result.narrow(-1, 0, n).contiguous(), result.narrow(-1, n, order).contiguous()


def sum_dtype(x: Tensor) -> dtype:
    has_float64 = x._storage.backend.properties.has_float64
    return result_type(x, zeros((1,), dtype=float64)) if has_float64 else x._dtype


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
    if up < 1 or down < 1:
        raise errors_spectral.filter_argument("resample_poly", f"{up} / {down}: both are at least 1")
    if padtype not in ("constant", "mean", "minimum", "maximum"):
        raise errors_spectral.filter_argument(
            "resample_poly", f"padtype={padtype!r} is none of constant, mean, minimum, maximum"
        )
    divisor = math.gcd(up, down)
    up, down = up // divisor, down // divisor
    if up == down == 1:
        return x.clone()
    larger_factor = max(up, down)
    if isinstance(window, (tuple, str)):
        taps = windows.lowpass("resample_poly", 20 * larger_factor + 1, 1 / larger_factor, window)
    else:
        taps = windows.values(window)
    half = (len(taps) - 1) // 2
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    edge_value: Any = 0 if cval is None else cval
    if padtype != "constant":
        fold: Any = {"mean": rows.mean, "minimum": rows.amin, "maximum": rows.amax}[padtype]
        edge_value = fold(-1, True)
    rows = rows - edge_value
    n = rows._shape[-1]
    count = -(-n * up // down)
    # Result q * up + r is at position (q * up + r) * down of the signal with inserted zeros, in
    # which element m is at m * up. Each residue r has its own taps, and reads the signal in steps
    # of `down`, starting `first` elements from q * down.
    first, last = -(-(half - len(taps) + 1) // up), ((up - 1) * down + half) // up
    tap = np.arange(up)[:, None] * down + half - np.arange(first, last + 1) * up
    is_tap = (tap >= 0) & (tap < len(taps))
    phases = np.where(is_tap, taps[tap.clip(0, len(taps) - 1)] * up, 0)
    groups = -(-count // up)
    right = (groups - 1) * down + last + 1 - n
    padded = pad(rows.reshape(-1, 1, n), (-first, right))
    kernel = tensor(phases).to(device=x.device, dtype=x._dtype).unsqueeze(1)
    result = CONV[1](padded, kernel, None, down).transpose(1, 2)
    result = result.reshape(-1, groups * up).narrow(-1, 0, count)
    result = result.reshape(*rows._shape[:-1], count) + edge_value
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
    if q < 1:
        raise errors_spectral.filter_argument("decimate", f"q={q}: it is at least 1")
    axis = normalize_dim(axis, x.ndim)
    if ftype == "fir":
        taps = windows.lowpass("decimate", (20 * q if n is None else n) + 1, 1 / q, "hamming")
        if zero_phase:
            result: Tensor = resample_poly(x, 1, q, axis, taps)
            return result
        rows, _ = filtered(taps, np.ones(1), x.movedim(axis, -1), None)
    elif ftype == "iir":
        sections = windows.chebyshev(8 if n is None else n, 0.05, 0.8 / q)
        rows = x.movedim(axis, -1).to(sum_dtype(x))
        rows = _both_ways(sections, rows) if zero_phase else _sections(sections, rows, None)
    else:
        raise errors_spectral.filter_argument("decimate", f"ftype={ftype!r} is neither iir nor fir")
    kept_samples: Tensor = rows[..., ::q].to(x._dtype)
    return kept_samples.movedim(-1, axis).contiguous()


def _sections(sections: Any, x: Tensor, start: Tensor | None) -> Tensor:
    """Applies one filter section after the other. `start` is the value to which the sections have
    settled before the signal."""
    system = windows.cascade(sections)
    state = None
    if start is not None:
        step, input_vector = system[:2]
        settled = np.linalg.solve(np.eye(len(step)) - step, input_vector)
        state = start * tensor(settled).to(device=x.device, dtype=x._dtype)
    return recurrence(system, x, state)[0]


def _both_ways(sections: Any, x: Tensor) -> Tensor:
    """Filters forwards and backwards; the signal is extended beyond its ends by odd reflection."""
    short = sum(len(a) == 2 for _, a in sections)
    edge, n = 3 * (2 * len(sections) + 1 - short), x._shape[-1]
    if n <= edge:
        raise errors_spectral.filter_argument(
            "decimate", f"{n} elements are too few for this filter: it needs more than {edge}"
        )
    left = 2 * x.narrow(-1, 0, 1) - x.narrow(-1, 1, edge).flip(-1)
    right = 2 * x.narrow(-1, n - 1, 1) - x.narrow(-1, n - 1 - edge, edge).flip(-1)
    x = cat([left, x, right], -1)
    for _ in range(2):
        x = _sections(sections, x, x.narrow(-1, 0, 1)).flip(-1)
    return x.narrow(-1, edge, n)


def _power(
    name: str, x: Tensor, fs: float, window: Any, segment_length: int, overlap: int, nfft: int | None,
    detrend: Any, onesided: bool, scaling: str, axis: int, average: str = "mean",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Returns (frequencies, mean or median over segments of the squared transforms)."""
    refuse = errors_spectral.filter_argument
    if not fs > 0:
        raise refuse(name, f"fs={fs}: the rate must be positive")
    if scaling not in ("density", "spectrum"):
        raise refuse(name, f"scaling={scaling!r} is neither density nor spectrum")
    if detrend not in ("constant", "linear", False):
        raise refuse(name, f"detrend={detrend!r} is none of constant, linear, False")
    # memory of the segments, and of the window on the host
    output.check_capacity(x, x.numel(), x._dtype)
    output.check_capacity(x, segment_length, float64)
    shape = windows.window(name, window, segment_length, True)
    if len(shape) != segment_length:
        raise refuse(name, f"the window has {len(shape)} elements, a segment {segment_length}")
    points = segment_length if nfft is None else nfft
    if points < segment_length or not 0 <= overlap < segment_length:
        raise refuse(name, f"nperseg={segment_length} fits neither nfft={points} nor noverlap={overlap}")
    rows = x.movedim(axis, -1).unfold(-1, segment_length, segment_length - overlap)
    if detrend:
        rows = rows - rows.mean(-1, True)
    if detrend == "linear":
        time = np.arange(segment_length) - (segment_length - 1) / 2
        time_tensor = tensor(time).to(device=x.device, dtype=x._dtype)
        rows = rows - (rows * time_tensor).sum(-1, True) * time_tensor / float(time @ time)
    weights = tensor(shape).to(device=x.device, dtype=x._dtype)
    half = onesided and not x._dtype.is_complex
    spectrum = (rfft if half else fft)(rows * weights, points)
    total = fs * (shape**2).sum() if scaling == "density" else shape.sum() ** 2
    factor = 1 / float(total) if total else math.nan  # SciPy's result for a window of zeros
    power = (real(spectrum).square() + imag(spectrum).square()) * factor
    if half:  # the omitted frequencies have equal power
        power.narrow(-1, 1, (points - 1) // 2).mul_(2)
    power = power.mean(-2) if average == "mean" else _median(power)
    options_: dict[str, Any] = {"dtype": power._dtype, "device": x.device}
    frequencies = (rfftfreq if half else fftfreq)(points, 1 / fs, **options_)
    return frequencies, power.movedim(-1, axis).contiguous()


def _median(power: Tensor) -> Tensor:
    """Returns the median over segments, divided by its bias: the median of a chi-square
    distribution of two degrees with mean 1 (B. Allen et al., arXiv:gr-qc/0509116, appendix B)."""
    n = power._shape[-2]
    order = power.sort(-2)[0]
    middle = (order.select(-2, (n - 1) // 2) + order.select(-2, n // 2)) * 0.5
    k = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    median: Tensor = middle * (1 / float(1 + (1 / (k + 1) - 1 / k).sum()))
    return median


@op(namespace="signal", method=False)
def periodogram(
    x: Tensor,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """Returns (frequencies, power): the squared transform of the signal, per Hz ("density") or in
    total ("spectrum"). Raises ValueError for arguments that don't fit."""
    (x,) = floating("periodogram", x)
    axis = normalize_dim(axis, x.ndim)
    n = x._shape[axis]
    if nfft is not None and nfft < n:
        x, n = x.narrow(axis, 0, nfft), nfft
    return _power("periodogram", x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


@op(namespace="signal", method=False)
def welch(
    x: Tensor,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Tensor, Tensor]:
    """Returns (frequencies, power) by P. Welch's method: the mean of the periodograms of segments
    of `nperseg` (256) elements that overlap by `noverlap` (half), or their "median" without its
    bias. Raises ValueError for arguments that don't fit."""
    (x,) = floating("welch", x)
    if average not in ("mean", "median"):
        raise errors_spectral.filter_argument("welch", f"average={average!r} is neither mean nor median")
    axis = normalize_dim(axis, x.ndim)
    length = None if isinstance(window, (str, tuple)) else len(windows.values(window))
    segment_length = min(256 if nperseg is None else nperseg, x._shape[axis]) if length is None else length
    overlap = segment_length // 2 if noverlap is None else noverlap
    return _power(
        "welch", x, fs, window, segment_length, overlap, nfft, detrend, return_onesided, scaling, axis, average
    )
