"""Filters and convolutions of `ftensor.signal`, with SciPy's names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype, float64, result_type
from ...errors import spectral as errors_spectral
from ...execute.fft_plan import smooth
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..create.sizes import zeros
from ..nn.spatial.conv import CONV
from ..rearrange.cat import cat
from ..rearrange.pad_modes import pad
from . import design
from .fft import fft, fftn, ifft, ifftn, irfft, irfftn, rfft, rfftn
from .stft import overlapped

# Numbers that one product of matrices filters at once.
BLOCK = 64
# Filters without feedback go by transforms from so many taps on.
DIRECT_TAPS = 16


def floating(name: str, *tensors: Any) -> list[Tensor]:
    """Tensors in the floating-point dtype that they share; ValueError for 16 bits."""
    for x in tensors:
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, "x", x)
    of = result_type(*tensors) if len(tensors) == 2 else tensors[0]._dtype
    if of.kind not in "fc":
        of = result_type(zeros((), dtype=of), 1.0)
    if of.itemsize < 4:
        raise errors_spectral.filter_argument(name, f"{of} is not filtered; convert to float32")
    return [x.to(of) for x in tensors]


def _cut(x: Tensor, axes: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """The middle of x along the axes."""
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
        there, back = (rfftn, irfftn) if real else (fftn, ifftn)
        result = back(there(x, points, dims) * there(y, points, dims), points, dims)
        for d, n in zip(dims, sizes):
            result = result.narrow(d, 0, n)
    if mode == "same":
        result = _cut(result, dims, [in1._shape[d] for d in dims])
    elif mode == "valid":
        result = _cut(result, dims, [x._shape[d] - y._shape[d] + 1 for d in dims])
    return result.contiguous()


def _in_blocks(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """The full convolution along a dim, of pieces of the longer input that are then added up."""
    if x._shape[dim] < y._shape[dim]:
        x, y = y, x
    x, y = x.movedim(dim, -1), y.movedim(dim, -1)
    n, taps = x._shape[-1], y._shape[-1]
    points = smooth(max(2 * taps, min(8 * taps, n + taps - 1)))
    step = points - taps + 1
    count = -(-n // step)
    pieces = pad(x, (0, count * step - n)).reshape(*x._shape[:-1], count, step)
    there, back = (fft, ifft) if x._dtype.is_complex else (rfft, irfft)
    result = back(there(pieces, points) * there(y, points).unsqueeze(-2), points)
    batch = result._shape[:-2]
    result = overlapped(result.reshape(-1, count, points), step).narrow(1, 0, n + taps - 1)
    return result.reshape(*batch, n + taps - 1).movedim(-1, dim)


@op(namespace="signal", method=False)
def fftconvolve(in1: Tensor, in2: Tensor, mode: str = "full", axes: Any = None) -> Tensor:
    """The convolution along `axes` (all), by Fourier transforms: of `mode` "full", the part "same"
    around the middle that has in1's size, or the one, "valid", that needs no zeros at the edges.
    ValueError for inputs that don't fit.
    """
    return _convolved("fftconvolve", in1, in2, mode, axes, False)


@op(namespace="signal", method=False)
def oaconvolve(in1: Tensor, in2: Tensor, mode: str = "full", axes: Any = None) -> Tensor:
    """As `fftconvolve`; along a single dim by blocks that overlap and are added, for one input that
    is much longer than the other.
    """
    return _convolved("oaconvolve", in1, in2, mode, axes, True)


@op(namespace="signal", method=False)
def lfilter(b: Any, a: Any, x: Tensor, axis: int = -1, zi: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """The filter with numerator `b` and denominator `a` along `axis`: a[0] y[n] is the sum of
    b[k] x[n - k] less that of a[k] y[n - k], k >= 1. With `zi`, the state that it begins with
    ((..., order), its last dim in the place of `axis`), (y, the state at the end).

    Sums are taken in float64 where the device has it. ValueError where a[0] is 0.
    """
    (x,) = floating("lfilter", x)
    top, bottom = design.values(b), design.values(a)
    if not bottom.size or bottom[0] == 0:
        raise errors_spectral.filter_argument("lfilter", "a[0] must not be 0")
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    state = None if zi is None else zi.movedim(axis, -1)
    result, end = filtered(top, bottom, rows, state)
    result = result.movedim(-1, axis)
    return result if zi is None else (result, end.movedim(-1, axis))


def filtered(b: Any, a: Any, x: Tensor, zi: Tensor | None) -> tuple[Tensor, Tensor]:
    """The filter along the last dim, and the state at its end."""
    order = max(len(a), len(b)) - 1
    if order and x.numel() and not a[1:].any():
        return _finite(np.pad(b / a[0], (0, order + 1 - len(b))), x, zi)
    return recurrence(design.state_space(b, a), x, zi)


def recurrence(system: Any, x: Tensor, zi: Tensor | None) -> tuple[Tensor, Tensor]:
    """What `system` (`design.state_space`) gives along the last dim, and its state at the end, by
    blocks of BLOCK numbers.

    A block's results and the state after it are sums of its numbers and of the state before it,
    with the same factors for each block; the states are found for all blocks in steps that double
    how many blocks they look back.
    """
    step, into, out, direct = system
    n, order, batch = x._shape[-1], len(step), x._shape[:-1]
    of = summed_in(x)

    def like(m: Any) -> Tensor:
        # A copy: an array turned around is read backwards.
        return tensor(np.array(m)).to(device=x.device, dtype=of)

    if not order or not x.numel():
        end = zeros((*batch, order), dtype=x._dtype, device=x.device) if zi is None else zi
        return x * (direct if np.iscomplexobj(direct) else float(direct)), end
    powers = [np.eye(order)]
    for _ in range(BLOCK):
        powers.append(powers[-1] @ step)
    reach = np.stack([p @ into for p in powers[:BLOCK]])  # what came k numbers before the end
    seen = np.stack([out @ p for p in powers[:BLOCK]])
    answer = np.concatenate([[direct], seen[: BLOCK - 1] @ into])
    k = np.arange(BLOCK)
    toeplitz = np.where(k[:, None] >= k, answer[abs(k[:, None] - k)], 0)
    count = -(-n // BLOCK)
    rows = pad(x.to(of), (0, count * BLOCK - n)).reshape(-1, count, BLOCK)
    states = rows @ like(reach[::-1])
    first = zeros((rows._shape[0], 1, order), dtype=of, device=x.device)
    if zi is not None:
        first = zi.to(of).expand((*batch, order)).reshape(-1, 1, order)
    states = cat([first, states], 1)
    back, ahead = powers[BLOCK], 1
    while ahead <= count:
        known = states.narrow(1, ahead, count + 1 - ahead)
        before = states.narrow(1, 0, count + 1 - ahead) @ like(back.T)
        states = cat([states.narrow(1, 0, ahead), known + before], 1)
        back, ahead = back @ back, 2 * ahead
    entering = states.narrow(1, 0, count)
    result = rows @ like(toeplitz.T) + entering @ like(seen.T)
    last = n - (count - 1) * BLOCK
    tail = rows.narrow(1, count - 1, 1).narrow(2, 0, last) @ like(reach[:last][::-1])
    end = entering.narrow(1, count - 1, 1) @ like(powers[last].T) + tail
    result = result.reshape(*batch, count * BLOCK).narrow(-1, 0, n)
    return result.to(x._dtype).contiguous(), end.reshape(*batch, order).to(x._dtype)


def _finite(taps: Any, x: Tensor, zi: Tensor | None) -> tuple[Tensor, Tensor]:
    """As `recurrence`, of `taps` alone: the state at the end is what they make of zeros."""
    of, n, order = summed_in(x), x._shape[-1], len(taps) - 1
    batch, kernel = x._shape[:-1], tensor(np.array(taps)).to(device=x.device)
    wide = result_type(x, kernel) if np.iscomplexobj(taps) else of
    rows = x.to(wide).reshape(-1, n)
    if order < DIRECT_TAPS and not wide.is_complex:
        padded = pad(rows.unsqueeze(1), (order, order))
        result = CONV[1](padded, kernel.to(wide).flip(0).reshape(1, 1, -1))
    else:
        result = _in_blocks(rows, kernel.to(wide).unsqueeze(0), 1)
    result = result.reshape(*batch, n + order)
    if zi is not None:
        result.narrow(-1, 0, order).add_(zi.to(wide))
    if not wide.is_complex or x._dtype.is_complex:
        result = result.to(x._dtype)
    return result.narrow(-1, 0, n).contiguous(), result.narrow(-1, n, order).contiguous()


def summed_in(x: Tensor) -> dtype:
    """float64, or such complex numbers, where the device has it."""
    wide = x._storage.backend.properties.has_float64
    return result_type(x, zeros((1,), dtype=float64)) if wide else x._dtype
