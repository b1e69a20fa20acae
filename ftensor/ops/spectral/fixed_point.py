"""Fixed-point filters and transforms of `ftensor.signal`: int16 as fractions of 32768 (Q15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import dtype, float32, int16, int64
from ...errors import spectral as errors_spectral
from ...execute import output
from ...execute.pointwise import pointwise
from ...execute.reduce import fold
from ...rows.catalogue import enter, op
from ...rows.op import Op, Promote, Reduce
from ..arguments import check_tensors
from ..create.data import tensor
from ..rearrange.pad import pad
from ..view.dims import view_as_complex, view_as_real
from . import windows

_SATURATED = "ft_min(ft_max({}, K(-32768)), K(32767))"
# Sums are exact in 64 bits. Half of the last place is added before the shift, so ties round up.
FIR = Reduce(
    "fir_q15",
    "a * b",
    "x + y",
    "K(0)",
    (_SATURATED.format("((x + K(16384)) >> 15)"),),
    kinds="i",
    promote=Promote.INT_TO_LONG,
    second_input=Promote.SAME,
)
HALF_SUM = Op(
    "half_sum_q15", "half_sum_q15(a, b) -> Tensor", "", int_="(a + b + K(1)) >> 1", promote=Promote.COUNT,
    any_out=True, only=("int16",),
)  # fmt: skip
# Half the difference of two complex numbers (a, c) and (b, d), times a factor of 15 fractional bits.
TURNED = Op(
    "turned_q15", "turned_q15(a, b, c, d, e, f) -> Tensor", "",
    int_=_SATURATED.format("(((a - b) * e + (c - d) * f + K(32768)) >> 16)"), promote=Promote.COUNT,
    any_out=True, only=("int16", "int64"),
)  # fmt: skip
TO_Q15 = Op(
    "to_q15", "to_q15(input) -> Tensor", _SATURATED.format("rint(a * K(32768))"), promote=Promote.FLOATING,
    any_out=True, only=("float32", "float64"),
)  # fmt: skip
enter(__name__, FIR, HALF_SUM, TURNED, TO_Q15)


def _samples(name: str, x: Any, pairs: bool) -> Tensor:
    """Checks fixed-point samples: int16 (..., n), or (..., n, 2) for complex ones."""
    check_tensors(name, x=x)
    if x._dtype is not int16:
        raise errors_spectral.filter_argument(name, f"x is {x._dtype}; Q15 is int16 (ft.signal.to_q15 converts)")
    if x.ndim < 1 + pairs or (pairs and x._shape[-1] != 2):
        shape = "(..., n, 2)" if pairs else "(..., n)"
        raise errors_spectral.filter_argument(name, f"x of shape {tuple(x._shape)} is not {shape}")
    return x


@op(namespace="signal", method=False)
def to_q15(x: Tensor) -> Tensor:
    """Returns floating-point numbers in [-1, 1) as int16, multiples of 2**-15. Rounds to nearest,
    ties to even; larger numbers saturate. Complex numbers (...) give pairs (..., 2). Raises
    ValueError for other dtypes."""
    check_tensors("to_q15", x=x)
    real = view_as_real(x) if x._dtype.is_complex else x
    if real._dtype.name not in ("float32", "float64"):
        raise errors_spectral.filter_argument("to_q15", f"x is {x._dtype}; float32, float64 and complex are converted")
    return pointwise(TO_Q15, (real,), (), output.new(real._shape, int16, x._storage.device), True)


@op(namespace="signal", method=False)
def from_q15(x: Tensor, *, pairs: bool = False) -> Tensor:
    """Returns int16 as float32 in [-1, 1), exactly; with `pairs`, (..., 2) as complex64 (...)."""
    x = _samples("from_q15", x, False)
    if pairs:
        x = _samples("from_q15", x.unsqueeze(-2) if x.ndim == 1 else x, True).reshape(x._shape)
    result = x.to(float32) * 2.0**-15
    return view_as_complex(result) if pairs else result


@op(namespace="signal", method=False)
def fir_q15(x: Tensor, taps: Any, decimate: int = 1, *, pairs: bool = False) -> Tensor:
    """Filters int16 samples (..., n) with int16 taps (k,) in fixed point (Q15).

    Result j is the sum of taps[k] * x[j * decimate - k], with zeros before the first sample. The sum
    is exact; it is shifted by 15 bits, rounded to nearest with ties up, and saturates. With `pairs`
    samples (..., n, 2) are complex numbers, and taps (k,) are real or (k, 2) complex. Raises
    ValueError for other dtypes and shapes.
    """
    name = "fir_q15"
    x = _samples(name, x, pairs)
    given = taps if isinstance(taps, np.ndarray) else np.asarray(windows.on_host(taps))
    if given.dtype.kind not in "iu" or (given.size and not -32768 <= given.min() <= given.max() <= 32767):
        raise errors_spectral.filter_argument(name, f"the taps are {given.dtype}; Q15 is int16")
    complex_taps = pairs and given.ndim == 2 and given.shape[1] == 2
    if not given.size or given.ndim != 1 + complex_taps:
        raise errors_spectral.filter_argument(name, f"taps of shape {given.shape} are not (k,)" + ", (k, 2)" * pairs)
    if decimate < 1:
        raise errors_spectral.filter_argument(name, f"decimate={decimate}: it is at least 1")
    h, count, dim = given[::-1].astype(np.int64), len(given), -2 if pairs else -1
    if not x.numel():
        return output.new(x._shape, int16, x._storage.device)
    samples = pad(x, (0, 0, count - 1, 0) if pairs else (count - 1, 0))
    frames = samples.unfold(dim, count, decimate)  # (..., results, k) or (..., results, 2, k)
    if not complex_taps:
        return fold(FIR, [frames, _constant(h, x)], -1, False, int64, (int16,))[0]
    re, im = h[:, 0], h[:, 1]
    factors = np.array([[re, -im], [im, re]])  # (part of the result, part of a sample, k)
    return fold(FIR, [frames.unsqueeze(-3), _constant(factors, x)], (-2, -1), False, int64, (int16,))[0]


def _constant(values: np.ndarray[Any, Any], like: Tensor, kind: dtype = int64) -> Tensor:
    return tensor(values.astype(kind.name)).to(device=like.device)


def _transformed(name: str, x: Any, sign: int) -> Tensor:
    x = _samples(name, x, True)
    n = x._shape[-2]
    if n < 2 or n & (n - 1):
        raise errors_spectral.filter_argument(name, f"{n} samples are no power of two from 2 on")
    batch = x._shape[:-2]
    current, runs, m = x.contiguous(), 1, n // 2
    while m:
        halves = current.reshape(*batch, 2, m, runs, 2)
        first, second = halves.select(-4, 0), halves.select(-4, 1)
        result = output.new((*batch, m, 2, runs, 2), int16, x._storage.device)
        pointwise(HALF_SUM, (first, second), (), result.select(-3, 0), True)
        # Both parts of a product are one expression of the difference and of two factors.
        parts = [half.narrow(-1, part, 1).expand(half._shape) for part in (0, 1) for half in (first, second)]
        angle = sign * np.pi * np.arange(m) / m
        re, im = np.rint(32768 * np.cos(angle)), np.rint(32768 * np.sin(angle))
        factors = [_constant(np.stack(one, -1)[:, None, :], x) for one in ((re, im), (-im, re))]
        pointwise(TURNED, (*parts, *factors), (), result.select(-3, 1), True)
        current, runs, m = result, 2 * runs, m // 2
    return current.reshape(x._shape)


@op(namespace="signal", method=False)
def fft_q15(x: Tensor) -> Tensor:
    """Returns the Fourier transform of complex int16 samples (..., n, 2), divided by n, in fixed
    point (Q15); n is a power of two.

    Each of the log2(n) stages halves its results and rounds them to nearest with ties up, so that
    no sum overflows; a complex number of magnitude above 1 may saturate when it is turned. The
    factors have 15 fractional bits. Raises ValueError for other dtypes and shapes.
    """
    return _transformed("fft_q15", x, -1)


@op(namespace="signal", method=False)
def ifft_q15(x: Tensor) -> Tensor:
    """Returns the inverse Fourier transform of complex int16 numbers (..., n, 2), with the factor 1
    / n of the definition, rounded as by `fft_q15`."""
    return _transformed("ifft_q15", x, 1)
