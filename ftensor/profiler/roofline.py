"""A profile as a roofline: the rates of launches below the device's limits."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import picture
from .limits import Limits
from .report import Average

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE, LETTER = 9.0, 4.5  # approximate size of a label, in points


def plot(rows: Sequence[Average], limits: Limits, title: str, path: str | Path) -> None:
    """Draws each row by operations per byte and operations per second.

    The area of a point grows with the row's device time. Raises PictureError without matplotlib, or
    if the file can't be written.
    """
    picture.save(drawn(rows, limits, title), path)


def drawn(rows: Sequence[Average], limits: Limits, title: str) -> Figure:
    """Returns the figure that `plot` writes."""
    shown = [r for r in rows if r.flops and r.nbytes and r.device_time]
    drawing = picture.figure(7, 4.5)
    with picture.styled():
        axes = drawing.add_subplot(title=title)
    ratios = [r.flops / r.nbytes for r in shown]
    ridge = limits.flops / limits.bandwidth
    bends = [] if isnan(ridge) else [ridge]
    ends = [min([*ratios, *(x / 100 for x in bends)], default=1.0) / 2, max([*ratios, *bends], default=1.0) * 4]
    xs = [ends[0], *bends, ends[1]]
    # NaN is not drawn: with only one limit, that limit is the roof.
    roof = [np.fmin(x * limits.bandwidth, limits.flops) / 1e9 for x in xs]
    axes.loglog(xs, roof, color="black", linewidth=1.5)
    if not isnan(limits.flops):
        at = bends[0] if bends else xs[0]
        words = f"{limits.flops / 1e9:.0f} GFLOP/s"
        axes.annotate(words, (at, limits.flops / 1e9), (4, 4), textcoords="offset points")
    if not isnan(limits.bandwidth):
        at = (xs[0] * xs[1]) ** 0.5  # halfway up
        words = f"{limits.bandwidth / 1e9:.1f} GB/s"
        axes.annotate(words, (at, at * limits.bandwidth / 1e9), (-6, 4), textcoords="offset points", ha="right")
    longest = max((r.device_time for r in shown), default=1.0)
    for x, r in zip(ratios, shown):
        size = 20 + 180 * r.device_time / longest
        axes.scatter(x, r.flop_rate / 1e9, s=size, alpha=0.6, linewidths=0)
    axes.set(xlabel="FLOP/byte", ylabel="GFLOP/s")
    axes.margins(y=0.1)
    axes.grid(alpha=0.3)
    drawing.draw_without_rendering()  # positions of points are known from here on
    _label(axes, [(r.flop_rate / 1e9, x, r.name) for x, r in zip(ratios, shown)])
    return drawing


def _label(axes: Axes, names: Sequence[tuple[float, float, str]]) -> None:
    """Writes names to the right of points (y, x, name), higher if another name overlaps."""
    placed: list[tuple[float, float, float]] = []
    for v, u, name in sorted(names):
        x, y = axes.transData.transform((u, v)) * 72 / axes.figure.dpi
        begin, end, low = x + 6, x + 6 + LETTER * len(name), y - 3
        for placed_x, first, last in sorted(placed):
            if begin < last and first < end and low < placed_x + LINE:
                low = placed_x + LINE
        placed.append((low, begin, end))
        at = (6, low - y)
        axes.annotate(name, (u, v), at, textcoords="offset points", fontsize=7)
