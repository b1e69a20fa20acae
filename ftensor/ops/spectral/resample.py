"""Signals at another rate, of `ftensor.signal`, with SciPy's names and arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..nn.spatial.conv import CONV
from ..rearrange.cat import cat
from ..rearrange.pad_modes import pad
from . import design
from .filters import filtered, floating, recurrence, summed_in


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
    """The signal at up / down times its rate: `up` - 1 zeros between its elements, a low-pass
    filter (by a window, or given by its values), and each `down`-th of that. Beyond its ends it is
    `cval` (0), or its own "mean", "minimum" or "maximum". ValueError for factors below 1.
    """
    (x,) = floating("resample_poly", x)
    if up < 1 or down < 1:
        raise errors_spectral.filter_argument("resample_poly", f"{up} / {down}: both are at least 1")
    if padtype not in ("constant", "mean", "minimum", "maximum"):
        raise errors_spectral.filter_argument(
            "resample_poly", f"padtype={padtype!r} is none of constant, mean, minimum, maximum"
        )
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return x.clone()
    most = max(up, down)
    if isinstance(window, (tuple, str)):
        taps = design.lowpass("resample_poly", 20 * most + 1, 1 / most, window)
    else:
        taps = design.values(window)
    half = (len(taps) - 1) // 2
    axis = normalize_dim(axis, x.ndim)
    rows = x.movedim(axis, -1)
    ends: Any = 0 if cval is None else cval
    if padtype != "constant":
        fold: Any = {"mean": rows.mean, "minimum": rows.amin, "maximum": rows.amax}[padtype]
        ends = fold(-1, True)
    rows = rows - ends
    n = rows._shape[-1]
    count = -(-n * up // down)
    # Result q * up + r is around place (q * up + r) * down of the signal with zeros in it, where
    # element m stands at m * up: of each residue r the filter has other taps, and takes the signal
    # itself in steps of `down`, beginning `first` elements from q * down.
    first, last = -(-(half - len(taps) + 1) // up), ((up - 1) * down + half) // up
    tap = np.arange(up)[:, None] * down + half - np.arange(first, last + 1) * up
    inside = (tap >= 0) & (tap < len(taps))
    phases = np.where(inside, taps[tap.clip(0, len(taps) - 1)] * up, 0)
    groups = -(-count // up)
    right = (groups - 1) * down + last + 1 - n
    padded = pad(rows.reshape(-1, 1, n), (-first, right))
    kernel = tensor(phases).to(device=x.device, dtype=x._dtype).unsqueeze(1)
    result = CONV[1](padded, kernel, None, down).transpose(1, 2)
    result = result.reshape(-1, groups * up).narrow(-1, 0, count)
    result = result.reshape(*rows._shape[:-1], count) + ends
    return result.movedim(-1, axis).contiguous()


@op(namespace="signal", method=False)
def decimate(
    x: Tensor, q: int, n: int | None = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True
) -> Tensor:
    """Each `q`-th element after a low-pass filter: for `ftype` "iir" a Chebyshev one of order `n`
    (8), for "fir" one of n + 1 taps (20 q) by a Hamming window. With `zero_phase` without delay.
    ValueError for another `ftype`, and for signals shorter than the filter's edges.
    """
    (x,) = floating("decimate", x)
    if q < 1:
        raise errors_spectral.filter_argument("decimate", f"q={q}: it is at least 1")
    axis = normalize_dim(axis, x.ndim)
    if ftype == "fir":
        taps = design.lowpass("decimate", (20 * q if n is None else n) + 1, 1 / q, "hamming")
        if zero_phase:
            result: Tensor = resample_poly(x, 1, q, axis, taps)
            return result
        rows, _ = filtered(taps, np.ones(1), x.movedim(axis, -1), None)
    elif ftype == "iir":
        sections = design.chebyshev(8 if n is None else n, 0.05, 0.8 / q)
        rows = x.movedim(axis, -1).to(summed_in(x))
        rows = _both_ways(sections, rows) if zero_phase else _sections(sections, rows, None)
    else:
        raise errors_spectral.filter_argument("decimate", f"ftype={ftype!r} is neither iir nor fir")
    chosen: Tensor = rows[..., ::q].to(x._dtype)
    return chosen.movedim(-1, axis).contiguous()


def _sections(sections: Any, x: Tensor, start: Tensor | None) -> Tensor:
    """One filter after the other; `start` is the value at which they have settled before."""
    system = design.cascade(sections)
    state = None
    if start is not None:
        step, into = system[:2]
        settled = np.linalg.solve(np.eye(len(step)) - step, into)
        state = start * tensor(settled).to(device=x.device, dtype=x._dtype)
    return recurrence(system, x, state)[0]


def _both_ways(sections: Any, x: Tensor) -> Tensor:
    """Forwards and backwards over the signal, which goes on beyond its ends turned around them."""
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
