"""A program's launches and copies one after another, as the model has them on the board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..kernels.board_skeleton import board_skeleton_of
from ..kernels.work import KernelLaunch
from .bandwidth import transfer
from .report import Report

COPIES, OTHERS = "copies", "others"


class Span(NamedTuple):
    """Seconds from `begin` to `end`: what ran, in words, and what bounds it."""

    row: str
    begin: float
    end: float
    bound: str


def spans(r: Report, order: Sequence[KernelLaunch | int]) -> Iterator[Span]:
    """What a trace's `order` takes with residency; each launch begins with what a launch costs."""
    each = r.launch / r.count if r.count else 0.0
    titles: dict[KernelLaunch, str] = {}
    parts: tuple[tuple[str, float], ...]
    now = 0.0
    for event in order:
        if isinstance(event, int):
            row, parts = COPIES, (("link", transfer(r.setup.board.link, abs(event), event > 0)),)
        else:
            row = titles.setdefault(event, board_skeleton_of(event.key).title(event.key))
            if event in r.placed:
                one = r.placed[event].each
                parts = (("launch", each), (one.bound, one.kernel))
            else:
                parts = (("link", r.away[event]),)
        for bound, seconds in parts:
            yield Span(row, now, now + seconds, bound)
            now += seconds


def binned(spans: Sequence[Span], bins: int, most: int) -> dict[str, list[dict[str, float]]]:
    """Seconds by bound in each of `bins` equal parts of the time, for each row; at most `most`
    rows, the dearest by their names, in the order in which they begin."""
    whole: dict[str, float] = defaultdict(float)
    for span in spans:
        whole[span.row] += span.end - span.begin
    named = {row for row, _ in sorted(whole.items(), key=lambda item: -item[1])[: most - (len(whole) > most)]}
    width = max(spans[-1].end, 1e-12) / bins
    rows: dict[str, list[dict[str, float]]] = {}
    for span in spans:
        row = rows.setdefault(span.row if span.row in named else OTHERS, [defaultdict(float) for _ in range(bins)])
        first, last = int(span.begin / width), min(int(span.end / width), bins - 1)
        for k in range(first, last + 1):
            seconds = min(span.end, (k + 1) * width) - max(span.begin, k * width)
            row[k][span.bound] += max(seconds, 0.0)
    return rows
