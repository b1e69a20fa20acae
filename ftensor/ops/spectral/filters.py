"""Filters, resampling and power spectra of `ftensor.signal`, with SciPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype, float64, result_type
from ...errors import spectral as errors_spectral
from ...execute.device_traits import is_board, spares_double
from ...execute.fft import MAX_POINTS, fast_length
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..arguments import check_tensors
from ..create.data import tensor
from ..create.sizes import zeros
from ..nn.spatial.conv import CONV
from ..rearrange.cat import cat
from ..rearrange.pad import pad
from . import windows
from .fft import fft, fftn, ifft, ifftn, irfft, irfftn, rfft, rfftn
from .stft import overlap_add
from .windows import require

# Elements that one matrix product filters.
BLOCK = 64
# From this number of taps on, filters without feedback use Fourier transforms.
DIRECT_TAPS = 16


def floating(name: str, *tensors: Any) -> list[Tensor]:
    """Returns tensors in their common floating-point dtype. Raises ValueError for 16 bits."""
    for x in tensors:
        check_tensors(name, x=x)
    result_dtype = result_type(*tensors) if len(tensors) == 2 else tensors[0]._dtype
    if result_dtype.kind not in "fc":
        result_dtype = result_type(zeros((), dtype=result_dtype), 1.0)
    require(result_dtype.itemsize >= 4, name, f"{result_dtype} is not filtered; convert to float32")
    return [x.to(result_dtype) for x in tensors]


def as_tensors(name: str, in1: Any, in2: Any) -> tuple[Tensor, Tensor]:
    """Returns both inputs as tensors. One of them may be a NumPy array or a list, such as taps of a
    filter: it gets the device of the other, and of floating-point numbers the other's precision."""
    if isinstance(in1, Tensor) == isinstance(in2, Tensor):
        for x in (in1, in2):
            check_tensors(name, in1=x)
        return in1, in2
    known, values = (in1, in2) if isinstance(in1, Tensor) else (in2, in1)
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise errors.not_a_tensor(name, "in2" if known is in1 else "in1", values)
    other = tensor(array).to(device=known.device)
    if array.dtype.kind in "fc" and known._dtype.kind in "fc":
        other = other.to(known._dtype.to_real() if array.dtype.kind == "f" else known._dtype.to_complex())
    return (known, other) if known is in1 else (other, known)


def _crop(x: Tensor, axes: Sequence[int], sizes: Sequence[int]) -> Tensor:
    for d, n in zip(axes, sizes):
        x = x.narrow(d, (x._shape[d] - n) // 2, n)
    return x


def _convolved(name: str, in1: Any, in2: Any, mode: str, axes: Any, blocks: bool) -> Tensor:
    in1, in2 = as_tensors(name, in1, in2)
    x, y = floating(name, in1, in2)
    require(x.ndim == y.ndim, name, f"{x.ndim} dims and {y.ndim} don't fit")
    require(mode in ("full", "same", "valid"), name, f"mode={mode!r} is none of full, same, valid")
    chosen_axes = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    dims = [normalize_dim(d, x.ndim) for d in chosen_axes]
    for d, (m, n) in enumerate(zip(x._shape, y._shape)):
        require(d in dims or m == n or 1 in (m, n), name, f"dim {d} has {m} elements and {n}")
    dims = [d for d in dims if x._shape[d] != 1 and y._shape[d] != 1]
    if mode == "valid":
        larger = [x._shape[d] >= y._shape[d] for d in dims]
        require(all(larger) or not any(larger), name, "neither input contains the other")
        if not all(larger):
            x, y = y, x
    sizes = [x._shape[d] + y._shape[d] - 1 for d in dims]
    if not dims or not x.numel() or not y.numel():
        result = x * y
    elif len(dims) == 1 and (blocks or _streams_in_blocks(x, y, dims[0])):
        result = _in_blocks(x, y, dims[0])
    else:
        real = not x._dtype.is_complex
        points = [fast_length(x, n) for n in sizes]
        forward, inverse = (rfftn, irfftn) if real else (fftn, ifftn)
        result = inverse(forward(x, points, dims) * forward(y, points, dims), points, dims)
        for d, n in zip(dims, sizes):
            result = result.narrow(d, 0, n)
    if mode == "same":
        result = _crop(result, dims, [in1._shape[d] for d in dims])
    elif mode == "valid":
        result = _crop(result, dims, [x._shape[d] - y._shape[d] + 1 for d in dims])
    return result.contiguous()


def _streams_in_blocks(x: Tensor, y: Tensor, dim: int) -> bool:
    """True if a board transforms the whole convolution number by number, but streams its blocks."""
    n, taps = max(x._shape[dim], y._shape[dim]), min(x._shape[dim], y._shape[dim])
    return is_board(x) and fast_length(x, n + taps - 1) > MAX_POINTS >= fast_length(x, 2 * taps)


def _in_blocks(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """Returns the full convolution along a dim, in blocks of the longer input that are then added
    (overlap-add)."""
    if x._shape[dim] < y._shape[dim]:
        x, y = y, x
    x, y = x.movedim(dim, -1), y.movedim(dim, -1)
    n, taps = x._shape[-1], y._shape[-1]
    points = fast_length(x, max(2 * taps, min(8 * taps, n + taps - 1)))
    if is_board(x) and 2 * taps <= MAX_POINTS:
        points = min(points, MAX_POINTS)  # longer rows do not stream
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


def coefficients(name: str, b: Any, a: Any) -> tuple[windows.Array, windows.Array]:
    top, bottom = windows.values(b), windows.values(a)
    require(top.size, name, "b has no elements")
    require(bottom.size and bottom[0] != 0, name, "a[0] must not be 0")
    return top, bottom


@op(namespace="signal", method=False)
def lfilter(b: Any, a: Any, x: Tensor, axis: int = -1, zi: Any = None) -> Tensor | tuple[Tensor, Tensor]:
    """Filters along `axis` with numerator `b` and denominator `a`: a[0] y[n] is the sum of b[k] x[n
    - k] minus that of a[k] y[n - k], k >= 1. With `zi`, the initial state ((..., order), its last
    dim in the place of `axis`), returns (y, the final state).

    Sums are computed in float64 on processors and GPUs. Raises ValueError if a[0] is 0, and for a
    state that doesn't fit.
    """
    (x,) = floating("lfilter", x)
    top, bottom = coefficients("lfilter", b, a)
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    state = None
    if zi is not None:
        zi = zi if isinstance(zi, Tensor) else tensor(np.asarray(zi)).to(device=x.device)
        state = zi.movedim(axis, -1) if zi.ndim > 1 else zi
        order = max(len(top), len(bottom)) - 1
        fits = state.ndim in (1, x.ndim) and state._shape[-1] == order
        if not fits or any(m not in (1, n) for m, n in zip(state._shape[:-1], rows._shape)):
            expected = (*x._shape[:axis], order, *x._shape[axis + 1 :])
            raise errors_spectral.filter_argument(
                "lfilter", f"zi of shape {tuple(zi._shape)} must have {expected}, or 1 in place of dims"
            )
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
    if any(np.iscomplexobj(part) for part in system) or (zi is not None and zi._dtype.is_complex):
        compute, x = compute.to_complex(), x.to(x._dtype.to_complex())
    most = float(np.finfo(compute.to_real().name).max)

    def as_tensor(m: Any) -> Tensor:
        # A power of an unstable filter is limited to finite numbers: its product with a state of
        # zeros is zero, not NaN. The copy is needed since a reversed array has negative strides.
        finite = np.array(m)
        finite.real = finite.real.clip(-most, most)
        if np.iscomplexobj(finite):
            finite.imag = finite.imag.clip(-most, most)
        return tensor(finite).to(device=x.device, dtype=compute)

    if not order or not x.numel():
        end = zeros((*batch, order), dtype=x._dtype, device=x.device) if zi is None else zi
        return x * (feedthrough if np.iscomplexobj(feedthrough) else float(feedthrough)), end
    powers = [np.eye(order)]
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(BLOCK):
            powers.append(np.nan_to_num(powers[-1] @ step))
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
        with np.errstate(over="ignore", invalid="ignore"):
            step_power = np.nan_to_num(step_power @ step_power)
        ahead = 2 * ahead
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


def precise_dtype(x: Tensor) -> dtype:
    """Returns float64, or complex128 for complex numbers; the tensor's dtype on a device without."""
    has_float64 = x._storage.backend.properties.has_float64
    return result_type(x, zeros((1,), dtype=float64)) if has_float64 else x._dtype


def sum_dtype(x: Tensor) -> dtype:
    """Returns the dtype of a filter's sums: with float64's range, except on boards, whose images would
    need kernels of it."""
    return precise_dtype(x) if spares_double(x) else x._dtype
