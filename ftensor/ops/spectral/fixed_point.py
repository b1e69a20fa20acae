"""Fixed-point filters and transforms of `ftensor.signal`: int16 as fractions of 32768 (Q15)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import dtype, float32, int16, int32, int64
from ...errors import spectral as errors_spectral
from ...execute import output
from ...execute.pointwise import pointwise
from ...execute.reduce import fold
from ...rows.catalogue import enter, op
from ...rows.op import Op, Promote, Reduce
from ..arguments import check_tensors
from ..create.data import tensor
from ..rearrange.pad import pad
from ..types.conversion import clone
from ..view.dims import view_as_complex, view_as_real
from . import windows
from .windows import require

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
# A complex number is one int32, the real part in its lower half. Half a sum is rounded with ties up.
_LOW, _HIGH = "((({0} & K(65535)) ^ K(32768)) - K(32768))", "({0} >> K(16))"
_PAIR = "{1} * K(65536) + ({0} & K(65535))"
_HALF_SUMS = [f"(({part.format('a')} + {part.format('b')} + K(1)) >> K(1))" for part in (_LOW, _HIGH)]
HALF_SUM = Op("half_sum_q15", "a, b", "", int_=_PAIR.format(*_HALF_SUMS), only=("int32",))
# Half the difference x + iy of two complex numbers, times the factor c + id of 15 fractional bits. Such
# products have 33 bits. The last bits of x and y are multiplied apart, so that int32 holds all sums.
_HALVES, _LAST_BITS = "(x >> K(1)) * {} {} (y >> K(1)) * {}", "(-(x & K(1)) & {}) {} (-(y & K(1)) & {})"


def _part(*terms: str) -> str:
    rest = f"({_LAST_BITS.format(*terms)} + K(32768)) >> K(1)"
    return _SATURATED.format(f"(({_HALVES.format(*terms)} + ({rest})) >> K(15))")


TURNED = Op(
    "turned_q15", "a, b, c, d", "", int_=_PAIR.format("re", "im"), only=("int32",),
    lets=(
        ("x", f"{_LOW.format('a')} - {_LOW.format('b')}"), ("y", f"{_HIGH.format('a')} - {_HIGH.format('b')}"),
        ("re", _part("c", "-", "d")), ("im", _part("d", "+", "c")),
    ),
)  # fmt: skip
TO_Q15 = Op(
    "to_q15", "input", _SATURATED.format("rint(a * K(32768))"), promote=Promote.FLOATING,
    any_out=True, only=("float32", "float64"),
)  # fmt: skip
# Transforms of fewer samples than this have the transforms of a batch innermost.
_SHORT = 1024
enter(__name__, FIR, HALF_SUM, TURNED, TO_Q15)


def _samples(name: str, x: Any, pairs: bool) -> Tensor:
    """Checks fixed-point samples: int16 (..., n), or (..., n, 2) for complex ones."""
    check_tensors(name, x=x)
    require(x._dtype is int16, name, f"x is {x._dtype}; Q15 is int16 (ft.signal.to_q15 converts)")
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
    fits = real._dtype.name in ("float32", "float64")
    require(fits, "to_q15", f"x is {x._dtype}; float32, float64 and complex are converted")
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
    fits = given.dtype.kind in "iu" and (not given.size or -32768 <= given.min() <= given.max() <= 32767)
    require(fits, name, f"the taps are {given.dtype}; Q15 is int16")
    complex_taps = pairs and given.ndim == 2 and given.shape[1] == 2
    fits = given.size and given.ndim == 1 + complex_taps
    require(fits, name, f"taps of shape {given.shape} are not (k,)" + ", (k, 2)" * pairs)
    require(decimate >= 1, name, f"decimate={decimate}: it is at least 1")
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


@lru_cache(16)
def _factors(n: int, sign: int) -> np.ndarray[Any, Any]:
    """Returns exp(sign * i * pi * j / m), j < m, as int32 (2, n - 1): for m = n / 2, then n / 4, ..., 1."""
    angle = sign * np.pi * np.arange(n // 2) / (n // 2)
    largest = np.rint(32768 * np.stack([np.cos(angle), np.sin(angle)]))
    return np.concatenate([largest[:, :: 1 << stage] for stage in range(n.bit_length() - 1)], -1).astype(np.int32)


def _transformed(name: str, x: Any, sign: int) -> Tensor:
    """Computes the stages of Stockham's algorithm, each from one tensor to the next.

    A stage turns halves (run, 2, j) into results (2, run, j). Once there are as many runs as j, the
    run becomes the innermost dim: halves (2, j, run), results (j, 2, run). All inner loops are then
    long. For short transforms, those of a batch are the first runs.
    """
    x = _samples(name, x, True)
    n = x._shape[-2]
    require(n >= 2 and not n & (n - 1), name, f"{n} samples are no power of two from 2 on")
    if not x.numel():
        return output.new(x._shape, int16, x._storage.device)
    given = x.contiguous()
    if given._offset % 2:  # an int32 begins at a multiple of its size
        given = clone(given)
    batch, runs, m = x.numel() // (2 * n), 1, n // 2
    short = batch > 1 and n < _SHORT
    if short:
        batch, runs = 1, batch
    current, inner = given.view(int32), False
    factors = _constant(_factors(n, sign), x, int32)
    while m:
        if not inner and (short or m <= runs):
            current, inner = current.reshape(batch, runs, 2 * m).transpose(1, 2).contiguous(), True
        halves = current.reshape((batch, 2, m, runs) if inner else (batch, runs, 2, m))
        current = output.new((batch, m, 2, runs) if inner else (batch, 2, runs, m), int32, x._storage.device)
        first, second = halves.unbind(1 if inner else 2)
        even, odd = current.unbind(2 if inner else 1)
        turns = factors.narrow(1, n - 2 * m, m).reshape((2, m, 1) if inner else (2, 1, m))
        pointwise(HALF_SUM, (first, second), (), even, True)
        pointwise(TURNED, (first, second, *turns.unbind()), (), odd, True)
        runs, m = 2 * runs, m // 2
    if short:
        current = current.reshape(n, -1).transpose(0, 1).contiguous()
    return current.view(int16).reshape(x._shape)


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
