"""A profile as a roofline: what launches reach, below what the device can reach."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path

import numpy as np

from ..errors.picture import no_matplotlib
from .limits import Limits
from .report import Average


def plot(rows: Sequence[Average], limits: Limits, title: str, path: str | Path) -> None:
    """Draw launches by operations for each byte and operations in a second; the size of a point
    is the time that the device took. RuntimeError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise no_matplotlib(error) from error
    shown = [r for r in rows if r.flops and r.nbytes and r.device_time]
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)  # needs no display
    axes = figure.add_subplot()
    found = [r.flops / r.nbytes for r in shown]
    ridge = limits.flops / limits.bandwidth
    bends = [] if isnan(ridge) else [ridge]
    ends = [
        min([*found, *(x / 100 for x in bends)], default=1.0) / 2,
        max([*found, *bends], default=1.0) * 4,
    ]
    xs = [ends[0], *bends, ends[1]]
    # NaN is drawn nowhere: with one limit alone that is the roof.
    roof = [np.fmin(x * limits.bandwidth, limits.flops) / 1e9 for x in xs]
    axes.loglog(xs, roof, color="black", linewidth=1.5)
    words = f"{limits.bandwidth / 1e9:.1f} GB/s", f"{limits.flops / 1e9:.0f} GFLOP/s"
    for k, limit in enumerate(limits):
        if not isnan(limit):
            at = (4, 6) if k else (4, 12)
            axes.annotate(words[k], (xs[k], roof[k]), xytext=at, textcoords="offset points")
    longest = max((r.device_time for r in shown), default=1.0)
    for x, r in zip(found, shown):
        axes.scatter(x, r.flop_rate / 1e9, s=20 + 180 * r.device_time / longest, alpha=0.6)
        axes.annotate(
            r.name, (x, r.flop_rate / 1e9), xytext=(6, -4), textcoords="offset points", fontsize=8
        )
    axes.set(xlabel="FLOP/byte", ylabel="GFLOP/s", title=title)
    axes.grid(which="both", alpha=0.2)
    figure.savefig(path)
