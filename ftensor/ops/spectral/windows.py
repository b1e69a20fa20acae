"""Windows, and filter coefficients: computed on the host, some by SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from typing import Any, cast

import numpy as np

from ..._device import default_backend
from ..._tensor import Tensor
from ...dtypes import get_default_dtype
from ...errors import spectral as errors_spectral
from ...rows.catalogue import op
from ...rows.spelling import written
from ..create.data import tensor
from ..create.factory import Options, factory
from ..create.ranges import arange, linspace
from ..types.conversion import fill_
from ..view.layout import as_int

Array = np.ndarray[Any, Any]
System = tuple[Array, Array, Array, Any]


def _triang(n: int) -> Array:
    distance = abs(np.arange(n) - (n - 1) / 2)
    return 1 - distance * 2 / (n + n % 2)


def _tukey(n: int, alpha: float = 0.5) -> Array:
    """Returns a window of ones with cosine slopes at both ends, which take `alpha` of its length
    together."""
    if alpha <= 0:
        return np.ones(n)
    from_end = np.minimum(np.arange(n), np.arange(n)[::-1]) * 2 / (min(alpha, 1) * (n - 1))
    return (1 - np.cos(np.pi * from_end.clip(max=1))) / 2


def _gaussian(n: int, std: float) -> Array:
    return np.asarray(np.exp(-(((np.arange(n) - (n - 1) / 2) / std) ** 2) / 2))


_NAMED: dict[str, Callable[..., Array]] = {
    "boxcar": np.ones,
    "hann": np.hanning,
    "hamming": np.hamming,
    "blackman": np.blackman,
    "bartlett": np.bartlett,
    "kaiser": np.kaiser,
    "triang": _triang,
    "tukey": _tukey,
    "gaussian": _gaussian,
}


def require(holds: Any, op: str, text: str) -> None:
    """Raises ValueError with the text unless a condition holds."""
    if not holds:
        raise errors_spectral.filter_argument(op, text)


def window(op: str, name_or_values: Any, n: int, periodic: bool) -> Array:
    """Returns the values of a window: a name, ("kaiser", beta), or the values. Raises ValueError
    for an unknown name, and for parameters that are missing or too many."""
    if not isinstance(name_or_values, (str, tuple)):
        return values(name_or_values)
    name, *parameters = (name_or_values,) if isinstance(name_or_values, str) else name_or_values or ("",)
    require(name in _NAMED, op, f"window={name!r} is none of {', '.join(_NAMED)}; its values can be given, too")
    if n == 1:
        return np.ones(1)
    try:
        return _NAMED[name](n + periodic, *parameters)[:n]
    except TypeError:
        raise errors_spectral.filter_argument(
            op, f"window={name_or_values!r} has wrong parameters, such as ('kaiser', 5.0) has one"
        ) from None


def check_capacity(elements: int, itemsize: int = 8) -> None:
    """Raises OutOfMemoryError for an array of the host that not even the default device could
    hold."""
    default_backend().pool.check_capacity(elements * itemsize)


def on_host(values: Any) -> Any:
    """Returns a tensor, or a sequence that may have tensors, as an array; other objects as they
    are. Raises OutOfMemoryError for arrays beyond any memory."""
    if isinstance(values, Tensor):
        check_capacity(values.numel())
        return values.cpu().numpy()
    if isinstance(values, (list, tuple)) and any(isinstance(one, Tensor) for one in values):
        check_capacity(sum(one.numel() for one in values if isinstance(one, Tensor)))
        return np.asarray([on_host(one) for one in values])
    return values


def values(coefficients: Any) -> Array:
    array = np.asarray(on_host(coefficients))
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64).reshape(-1)


def lowpass(op: str, taps: int, cutoff: float, shape: Any) -> Array:
    check_capacity(taps)
    m = np.arange(taps) - (taps - 1) / 2
    h = cutoff * np.sinc(cutoff * m) * window(op, shape, taps, False)
    return np.asarray(h / h.sum())


def state_space(b: Array, a: Array) -> System:
    """Returns (A, B, C, D) of a filter in transposed direct form II: the state z of p numbers
    becomes A z + B x, the result is C z + D x."""
    order = max(len(a), len(b)) - 1
    b, a = (np.pad(c / a[0], (0, order + 1 - len(c))) for c in (b, a))
    step = np.zeros((order, order), np.result_type(a, b))
    step[:, :1] = -a[1:, None]
    step += np.eye(order, k=1)
    first = np.zeros(order)
    first[:1] = 1
    return step, b[1:] - a[1:] * b[0], first, b[0]


def cascade(sections: Sequence[tuple[Array, Array]]) -> System:
    """Returns (A, B, C, D) of sections (b, a) in series."""
    step, input_vector, out, feedthrough = np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.float64(1)
    for b, a in sections:
        a2, b2, c2, d2 = state_space(b, a)
        upper_rows = np.hstack([step, np.zeros((len(step), len(a2)))])
        step = np.vstack([upper_rows, np.hstack([np.outer(b2, out), a2])])
        input_vector, out = np.concatenate([input_vector, b2 * feedthrough]), np.concatenate([d2 * out, c2])
        feedthrough = d2 * feedthrough
    return step, input_vector, out, feedthrough


def chebyshev(order: int, ripple: float, cutoff: float) -> list[tuple[Array, Array]]:
    """Returns second-order sections (b, a) of a digital low-pass filter of type I with a ripple in
    dB, by the bilinear transformation; the cutoff is relative to half the rate."""
    epsilon = np.sqrt(10 ** (0.1 * ripple) - 1)
    theta = np.pi * np.arange(-order + 1, order, 2) / (2 * order)
    poles = -np.sinh(np.arcsinh(1 / epsilon) / order + 1j * theta)
    gain = np.prod(-poles).real / (np.sqrt(1 + epsilon**2) if order % 2 == 0 else 1)
    warped = 4 * np.tan(np.pi * cutoff / 2)
    poles, gain = poles * warped, gain * warped**order
    gain *= np.prod(1 / (4 - poles)).real
    poles = (4 + poles) / (4 - poles)
    sections = []
    for p in sorted(poles[poles.imag > 1e-12], key=abs):
        sections.append((np.array([1.0, 2, 1]), np.array([1, -2 * p.real, abs(p) ** 2])))
    for p in poles[abs(poles.imag) <= 1e-12]:
        sections.append((np.array([1.0, 1]), np.array([1, -p.real])))
    return [(b * gain if i == 0 else b, a) for i, (b, a) in enumerate(sections)]


def _filled(options: Options, n: int, value: float = 1.0) -> Tensor:
    return fill_(options.new((n,)), value)


def _legacy_window(values: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Registers one of torch's older windows from `values(0, 1, ... as a tensor, its length)`. A
    periodic window is one of length + 1 without its last value; each step is rounded to the dtype.
    Further parameters of `values` follow in the signature."""

    def window(options: Options, window_length: Any, periodic: bool, *parameters: Any) -> Tensor:
        op, n = options.function, as_int(window_length, options.function, "window_length")
        if options.dtype is not None and not options.dtype.is_floating_point:
            raise errors_spectral.window_dtype(op, options.dtype, RuntimeError)
        if n < 0:
            raise errors_spectral.window_length(op, n, kind=RuntimeError)
        if n < 2:
            return _filled(options, n)
        element = options.dtype or get_default_dtype()
        positions = arange(n + periodic, dtype=element, device=options.device)
        factors = values(positions, n + periodic, *parameters)
        return factors.narrow(0, 0, n) if periodic else factors

    _, _, *extra = signature(values).parameters.values()
    extra_text = "".join([f", {x.name}: {x.annotation} = {x.default}" for x in extra])
    extras = "".join([f", {x.name}" for x in extra])
    return factory(method=False)(
        written(
            values.__name__,
            f"options: Options, window_length: int, periodic: bool = True{extra_text}",
            f"return window(options, window_length, periodic{extras})",
            values.__doc__,
            window=window,
        )
    )


@_legacy_window
def bartlett_window(i: Tensor, n: int) -> Tensor:
    """Returns 1 - |2 i / N - 1|, a triangle. N is window_length, or window_length - 1 without
    `periodic`. Raises RuntimeError for a negative length and dtypes that are not floating-point."""
    i = i.mul_(2.0 / (n - 1))
    middle = ((n - 1) >> 1) + 1
    i.narrow(0, middle, n - middle).mul_(-1).add_(2)
    return i


@_legacy_window
def blackman_window(i: Tensor, n: int) -> Tensor:
    """Returns 0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N), with N as in `bartlett_window`."""
    angle = i.mul_(math.pi / (n - 1))
    return angle.mul(4).cos_().mul_(0.08) - angle.mul(2).cos_().mul_(0.5) + 0.42


def _raised(i: Tensor, n: int, alpha: float, beta: float) -> Tensor:
    return i.mul_(2 * math.pi / (n - 1)).cos_().mul_(-beta).add_(alpha)


@_legacy_window
def hann_window(i: Tensor, n: int) -> Tensor:
    """Returns 0.5 - 0.5 cos(2 pi i / N), with N as in `bartlett_window`."""
    return _raised(i, n, 0.5, 0.5)


@_legacy_window
def hamming_window(i: Tensor, n: int, alpha: float = 0.54, beta: float = 0.46) -> Tensor:
    """Returns alpha - beta cos(2 pi i / N), with N as in `bartlett_window`."""
    return _raised(i, n, alpha, beta)


@_legacy_window
def kaiser_window(i: Tensor, n: int, beta: float = 12.0) -> Tensor:
    """Returns i0(beta sqrt(1 - (2 i / N - 1)^2)) / i0(beta), with N as in `bartlett_window`."""
    # torch computes it in one kernel, which rounds 16-bit dtypes only at the end.
    x = i.to(i._dtype.compute) * (2.0 / (n - 1)) - 1
    arc = (1 - x * x).clamp(min=0).sqrt()
    return ((arc * beta).i0() / arc.new_full((), beta).i0()).to(i._dtype)


def _length(options: Options, M: Any) -> int:
    """Returns the length of a window of `signal.windows`. Raises ValueError for a negative length
    and for a dtype other than float32 and float64."""
    n = as_int(M, options.function, "M")
    if n < 0:
        raise errors_spectral.window_length(options.function, n, kind=ValueError)
    element = options.dtype or get_default_dtype()
    if element.name not in ("float32", "float64"):
        raise errors_spectral.window_dtype(options.function, element, ValueError)
    return n


def _line(options: Options, start: float, step: float, n: int) -> Tensor:
    element = options.dtype or get_default_dtype()
    return linspace(start, start + (n - 1) * step, n, dtype=element, device=options.device)


def _cosines(options: Options, M: Any, a: Sequence[float], sym: bool) -> Tensor:
    n = _length(options, M)
    if n < 2:
        return _filled(options, n)
    angle = _line(options, 0.0, 2 * math.pi / (n - sym), n)
    options_: dict[str, Any] = {"dtype": angle._dtype, "device": angle.device}
    factors = tensor([(-1) ** i * w for i, w in enumerate(a)], **options_)
    terms = arange(len(a), **options_)
    return (factors.unsqueeze(-1) * (terms.unsqueeze(-1) * angle).cos()).sum(0)


_window: dict[str, Any] = {
    "namespace": "signal.windows",
    "method": False,
    "without": ("pin_memory",),
    "unserved": ValueError,
}


@factory(**_window)
def general_cosine(options: Options, M: int, *, a: Any, sym: bool = True) -> Tensor:
    """Returns the sum of a[k] (-1)^k cos(2 pi k i / N), where N is M - 1, or M without `sym`.
    Raises ValueError for a negative M, an empty `a` and dtypes other than float32 and float64,
    TypeError for an `a` that is no list."""
    if _length(options, M) < 2:
        return _cosines(options, M, (), sym)
    if not isinstance(a, (list, tuple)):
        raise errors_spectral.coefficients(a)
    if not a:
        raise errors_spectral.no_coefficients()
    return _cosines(options, M, a, sym)


@factory(**_window)
def general_hamming(options: Options, M: int, *, alpha: float = 0.54, sym: bool = True) -> Tensor:
    """Returns alpha - (1 - alpha) cos(2 pi i / N), with N as in `general_cosine`."""
    return _cosines(options, M, (alpha, 1.0 - alpha), sym)


def _cosine_sum(name: str, factors: tuple[float, ...], doc: str) -> None:
    """Registers a window that is a sum of cosines."""

    def call(options: Options, M: int, *, sym: bool = True) -> Tensor:
        return _cosines(options, M, factors, sym)

    call.__name__, call.__doc__ = name, doc
    factory(**_window)(call)


_cosine_sum("hamming", (0.54, 1.0 - 0.54), "Returns 0.54 - 0.46 cos(2 pi i / N), with N as in `general_cosine`.")
_cosine_sum("hann", (0.5, 0.5), "Returns 0.5 - 0.5 cos(2 pi i / N), with N as in `general_cosine`.")
_cosine_sum(
    "blackman",
    (0.42, 0.5, 0.08),
    "Returns 0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N), with N as in `general_cosine`.",
)
_cosine_sum(
    "nuttall",
    (0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "Four cosines with A. Nuttall's coefficients of minimum side lobes.",
)


@factory(**_window)
def bartlett(options: Options, M: int, *, sym: bool = True) -> Tensor:
    """Returns 1 - |2 i / N - 1|, with N as in `general_cosine`."""
    n = _length(options, M)
    return 1 - _line(options, -1.0, 2 / (n - sym), n).abs() if n > 1 else _filled(options, n)


@factory(**_window)
def cosine(options: Options, M: int, *, sym: bool = True) -> Tensor:
    """Returns sin(pi (i + 0.5) / N), where N is M, or M + 1 without `sym`."""
    n = _length(options, M)
    if not n:
        return _filled(options, n)
    step = math.pi / (n + (not sym and n > 1))
    return _line(options, 0.5 * step, step, n).sin()


@factory(**_window)
def exponential(options: Options, M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True) -> Tensor:
    """Returns exp(-|i - center| / tau). Raises ValueError for a `tau` that is not positive, and for
    a `center` of a symmetric window, whose center is fixed."""
    n = _length(options, M)
    if tau <= 0:
        raise errors_spectral.positive("exponential", "tau", tau)
    if sym and center is not None:
        raise errors_spectral.center(center)
    if not n:
        return _filled(options, n)
    if center is None:
        center = (n - 1 + (not sym and n > 1)) / 2.0
    return _line(options, -center / tau, 1 / tau, n).abs().neg().exp()


@factory(**_window)
def gaussian(options: Options, M: int, *, std: float = 1.0, sym: bool = True) -> Tensor:
    """Returns exp(-(i - c)^2 / (2 std^2)) around the middle c. Raises ValueError for an `std` that
    is not positive."""
    n = _length(options, M)
    if std <= 0:
        raise errors_spectral.positive("gaussian", "std", std)
    if not n:
        return _filled(options, n)
    step, start = 1 / (std * math.sqrt(2)), -(n - 1 + (not sym and n > 1)) / 2.0
    return _line(options, start * step, step, n).square().neg().exp()


@factory(**_window)
def kaiser(options: Options, M: int, *, beta: float = 12.0, sym: bool = True) -> Tensor:
    """Returns i0(beta sqrt(1 - (2 i / N - 1)^2)) / i0(beta), with N as in `general_cosine`. Raises
    ValueError for a negative `beta`."""
    n = _length(options, M)
    if beta < 0:
        raise errors_spectral.not_negative("kaiser", "beta", beta)
    if n < 2:
        return _filled(options, n)
    step = 2.0 * beta / (n - sym)
    end = min(beta, -beta + (n - 1) * step)
    options_: dict[str, Any] = {"dtype": options.dtype or get_default_dtype(), "device": options.device}
    k = linspace(-beta, end, n, **options_)
    # By rounding, the ends may exceed beta.
    return (beta * beta - k.square()).clamp(min=0).sqrt().i0() / tensor(beta, **options_).i0()


# SciPy's Butterworth filters overflow between this order and 1000, and Bessel's take time of its square.
MAX_ORDER = 500


def _design(name: str, order: int, *args: Any, **options: Any) -> Any:
    """Calls a function of scipy.signal; tensors among the arguments become arrays."""
    try:
        scipy_signal = import_module("scipy.signal")
    except ImportError:
        raise errors_spectral.no_scipy(name) from None
    if name == "firwin":
        check_capacity(order)
    elif order > MAX_ORDER:
        raise errors_spectral.filter_argument(name, f"the order {order} is above {MAX_ORDER}, where float64 overflows")
    return getattr(scipy_signal, name)(
        order, *map(on_host, args), **{key: on_host(value) for key, value in options.items()}
    )


@op(namespace="signal", method=False)
def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: float | None = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: float | None = None,
) -> np.ndarray[Any, Any]:
    """Returns the taps of a filter with linear phase, as a NumPy array (numtaps,), by the window
    method of SciPy's `firwin`: `cutoff` is a frequency or several, relative to `fs` (2). Raises
    ModuleNotFoundError without SciPy, and SciPy's ValueError."""
    options = {"width": width, "window": window, "pass_zero": pass_zero, "scale": scale, "fs": fs}
    return cast("np.ndarray[Any, Any]", _design("firwin", numtaps, cutoff, **options))


def _filter(name: str, leading: str, doc: str, trailing: str = "") -> None:
    """Registers the design of a filter: SciPy's parameters before and after those of all designs."""
    parameters = f"{leading}, Wn: Any, btype: str = 'low', analog: bool = False, output: str = 'ba', {trailing}"
    parameters += "fs: float | None = None"
    arguments = ", ".join(word.partition(":")[0] for word in parameters.split(", "))
    body = f"return design(NAME, {arguments})"
    op(namespace="signal", method=False)(written(name, parameters, body, doc, "Any", __name__=__name__, design=_design))


_OTHERS = "Other arguments and the result are those of `butter`"
_filter("butter", "N: int", """
Returns a Butterworth filter of order `N` by SciPy: (b, a), or the sections for `sosfilt` with
`output` "sos", as NumPy arrays in float64. `Wn` is the edge relative to `fs` (2), or a pair for
"bandpass" and "bandstop". Sections keep their precision where (b, a) of an order above 4 do not.
Raises ModuleNotFoundError without SciPy, and SciPy's ValueError.
""")  # fmt: skip
_filter("cheby1", "N: int, rp: float", f"""
Returns a Chebyshev filter of type I, with ripples of `rp` dB in the passband.
{_OTHERS}.
""")  # fmt: skip
_filter("cheby2", "N: int, rs: float", f"""
Returns a Chebyshev filter of type II, which damps the stopband by `rs` dB.
{_OTHERS}.
""")  # fmt: skip
_filter("ellip", "N: int, rp: float, rs: float", f"""
Returns an elliptic filter, with ripples of `rp` dB in the passband and `rs` dB of damping in the
stopband. {_OTHERS}.
""")  # fmt: skip
_filter("bessel", "N: int", f"""
Returns a Bessel filter, whose delay is nearly the same for all frequencies of the passband.
{_OTHERS}; `norm` is SciPy's.
""", "norm: str = 'phase', ")  # fmt: skip
