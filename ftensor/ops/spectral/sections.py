"""Filters in second-order sections, and filters without phase, with SciPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from . import windows
from .filters import filtered, floating, recurrence
from .short_time import extended

Array = np.ndarray[Any, Any]
_PADTYPES = ("odd", "even", "constant", None)


def _sections(name: str, sos: Any) -> Array:
    """Returns the sections as an array (sections, 6). Raises ValueError for other shapes and for
    a[0] that are not 1."""
    array = np.asarray(windows.on_host(sos))
    if array.ndim != 2 or array.shape[1] != 6 or not len(array):
        raise errors_spectral.filter_argument(name, f"sos of shape {array.shape} must have shape (sections, 6)")
    if array.dtype.kind not in "biuf":
        raise errors_spectral.filter_argument(name, f"sos must be real numbers, not {array.dtype}")
    if not (array[:, 3] == 1).all():
        raise errors_spectral.filter_argument(name, f"sos[:, 3] must be ones, but is {array[:, 3].tolist()}")
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
    if abs(total) <= np.finfo(np.float64).eps * abs(a).sum():
        raise errors_spectral.filter_argument(name, "the filter has a pole at 1, so it reaches no steady state")
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


def coefficients(name: str, b: Any, a: Any) -> tuple[Array, Array]:
    top, bottom = windows.values(b), windows.values(a)
    if not top.size:
        raise errors_spectral.filter_argument(name, "b has no elements")
    if not bottom.size or bottom[0] == 0:
        raise errors_spectral.filter_argument(name, "a[0] must not be 0")
    return top, bottom


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
        if tuple(zi._shape) != expected:
            raise errors_spectral.filter_argument("sosfilt", f"zi of shape {tuple(zi._shape)} must have {expected}")
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
    if padtype not in _PADTYPES:
        raise errors_spectral.filter_argument(name, f"padtype={padtype!r} is none of odd, even, constant, None")
    axis = normalize_dim(axis, x.ndim)
    edge = 0 if padtype is None else edge if padlen is None else padlen
    n = x._shape[axis]
    if edge < 0 or n <= edge:
        raise errors_spectral.filter_argument(
            name, f"{n} elements are too few for padlen={edge}: it needs more than {max(edge, 0)}"
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
