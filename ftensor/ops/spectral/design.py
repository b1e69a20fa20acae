"""Design of filters by SciPy on the host; the coefficients are NumPy arrays in float64."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import numpy as np

from ...errors import spectral as errors_spectral
from ...rows.catalogue import op
from .windows import check_capacity, on_host

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


@op(namespace="signal", method=False)
def butter(
    N: int, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: float | None = None
) -> Any:
    """Returns a Butterworth filter of order `N` by SciPy: (b, a), or the sections for `sosfilt` with
    `output` "sos", as NumPy arrays in float64. `Wn` is the edge relative to `fs` (2), or a pair for
    "bandpass" and "bandstop". Sections keep their precision where (b, a) of an order above 4 do
    not. Raises ModuleNotFoundError without SciPy, and SciPy's ValueError."""
    return _design("butter", N, Wn, btype, analog, output, fs)


@op(namespace="signal", method=False)
def cheby1(
    N: int, rp: float, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: float | None = None
) -> Any:
    """Returns a Chebyshev filter of type I, with ripples of `rp` dB in the passband. Other arguments
    and the result are those of `butter`."""
    return _design("cheby1", N, rp, Wn, btype, analog, output, fs)


@op(namespace="signal", method=False)
def cheby2(
    N: int, rs: float, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: float | None = None
) -> Any:
    """Returns a Chebyshev filter of type II, which damps the stopband by `rs` dB. Other arguments
    and the result are those of `butter`."""
    return _design("cheby2", N, rs, Wn, btype, analog, output, fs)


@op(namespace="signal", method=False)
def ellip(
    N: int, rp: float, rs: float, Wn: Any,
    btype: str = "low", analog: bool = False, output: str = "ba", fs: float | None = None,
) -> Any:  # fmt: skip
    """Returns an elliptic filter, with ripples of `rp` dB in the passband and `rs` dB of damping in
    the stopband. Other arguments and the result are those of `butter`."""
    return _design("ellip", N, rp, rs, Wn, btype, analog, output, fs)


@op(namespace="signal", method=False)
def bessel(
    N: int, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", norm: str = "phase",
    fs: float | None = None,
) -> Any:  # fmt: skip
    """Returns a Bessel filter, whose delay is nearly the same for all frequencies of the passband.
    Other arguments and the result are those of `butter`; `norm` is SciPy's."""
    return _design("bessel", N, Wn, btype, analog, output, norm, fs)
