"""Several estimates of one program, side by side and as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..boards import find
from ..graph.jit import Jitted
from ..kernels.skeleton import board_skeleton_of
from ..kernels.workload import KernelLaunch
from ..picture import COLOURS, figure, shares, styled
from ..terminal import counted, table
from ..toolchain.area.fit import Fit, titled
from ..toolchain.group import STRUCTURES
from ..toolchain.trace import Trace
from .model import BOUNDS
from .report import ProgramEstimate, bin_spans, report, spans
from .show import HEADING, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STEPS, GRAPH = "steps", "graph"
STEP_UNITS = 4


@dataclass(frozen=True)
class Column:
    """One column of a comparison: a title and the report."""

    title: str
    report: ProgramEstimate


@dataclass(frozen=True)
class PointwiseBuild:
    """A column of `--compare steps`: how contiguous pointwise kernels are built, by structure and
    number of compute units. `STEP_BUILDS` has one for each kernel of the inventory `steps`."""

    title: str
    structure: str
    units: int = 1
    narrow: bool = False  # one element per access

    def rebuilt(self, launch: KernelLaunch) -> KernelLaunch:
        """Returns the launch with a pointwise kernel of this structure and these compute units;
        launches of other kernels are unchanged."""
        skeleton = board_skeleton_of(launch.key)
        if len({skeleton.structure(launch.key.lanes, name) for name in STRUCTURES}) == 1:
            return launch
        key = replace(launch.key, lanes=1) if self.narrow else launch.key
        return launch._replace(key=key, structure=self.structure, units=self.units)


STEP_BUILDS = (
    PointwiseBuild("loop", "loop", narrow=True),
    PointwiseBuild("burst", "burst", narrow=True),
    PointwiseBuild("dataflow", "dataflow", narrow=True),
    PointwiseBuild("vectors", "dataflow"),
    PointwiseBuild(f"{STEP_UNITS} units", "dataflow", STEP_UNITS),
)


@contextmanager
def without_jit() -> Iterator[None]:
    """Inside the block, functions of `ft.jit` run eagerly."""
    kept = Jitted.__call__

    def run(self: Jitted[Any, Any], *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    Jitted.__call__ = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        Jitted.__call__ = kept  # type: ignore[method-assign]


def columns(what: Sequence[str], trace: Trace, first: ProgramEstimate, eager: Trace | None = None) -> Iterator[Column]:
    """Yields a table column for each estimate that `--compare` asks for.

    `what` holds "steps" (the program after each of the model's optimizations), "graph" (without
    and with graphs; `eager` is the trace without them) and names of boards, which are compared
    with the board of `first`. Raises EstimateError for an unknown board.
    """
    if eager is not None:
        yield Column("eager", report(eager, first.config, first.in_flight, None))
        yield Column("graph", report(trace, first.config, first.in_flight, None))
    if STEPS in what:
        for step in STEP_BUILDS:
            launches: Counter[KernelLaunch] = Counter()
            for launch, count in trace.launches.items():
                launches[step.rebuilt(launch)] += count
            estimated = report(replace(trace, launches=launches), first.config, first.in_flight, None)
            yield Column(step.title, estimated)
    boards = [find(name) for name in what if name not in (STEPS, GRAPH)]
    if boards:
        yield Column(first.config.board.title, first)
    for board in boards:
        config = replace(first.config, board=board, clock=board.clock.value)
        yield Column(board.title, report(trace, config, first.in_flight, None))


def text(columns: Sequence[Column]) -> str:
    """Returns the table of the reports."""
    rows: list[tuple[object, ...]] = [("", "kernels ms", "launches ms", "copies ms", "total ms")]
    for column in columns:
        r = column.report
        parts = (r.kernels, r.launch, r.copies + r.geometry_seconds, r.resident_seconds)
        rows.append((column.title, *(three_digits(x * 1e3) for x in parts)))
    return f"{HEADING}\n\n{table(rows, indent='')}"


BINS, ROWS = 240, 10
BOUND_LABELS = {
    "port": "ports",
    "bank": "a memory bank",
    "loop": "the loops' cycles",
    "fill": "filling pipelines",
    "launch": "launching",
    "link": "host and board",
}
assert BOUND_LABELS.keys() == BOUNDS.keys() == COLOURS.keys()


def plot_estimate(name: str, r: ProgramEstimate, order: Sequence[KernelLaunch | int]) -> Figure:
    """Returns the figure of a report."""
    rows = bin_spans(list(spans(r, order)), BINS, ROWS)
    drawing = figure(10, 4.3 + 0.3 * len(rows))
    board = r.config.board
    with styled():
        grid = drawing.add_gridspec(2, 2, height_ratios=(1 + 0.3 * len(rows), 2.4))
        drawing.suptitle(
            f"{name}, {board.title}: {r.resident_seconds * 1e3:.3g} ms, {counted(r.count, 'launch')}\n{HEADING}"
        )
        _time_line(drawing.add_subplot(grid[0, :]), rows, r.resident_seconds * 1e3)
        _bounds(drawing.add_subplot(grid[1, 0]), r)
        _area(drawing.add_subplot(grid[1, 1]), r.image.fitting)
    return drawing


def _time_line(axes: Axes, rows: Mapping[str, Sequence[Mapping[str, float]]], milliseconds: float) -> None:
    """Draws each row's busy intervals: the height is the busy share, the colour shows the bound."""
    width = milliseconds / BINS
    for place, bins in enumerate(rows.values()):
        for k, parts in enumerate(bins):
            if busy := sum(parts.values()):
                bound = max(parts, key=parts.__getitem__)
                height = 0.8 * max(min(busy * 1e3 / width, 1.0), 0.25)
                axes.barh(place, width, height, k * width, color=COLOURS[bound])
    axes.set_yticks(range(len(rows)), [_truncated(name) for name in rows])
    axes.set(title="Time line", xlabel="ms", xlim=(0, milliseconds))
    axes.invert_yaxis()


def _bounds(axes: Axes, r: ProgramEstimate) -> None:
    milliseconds = {name: seconds * 1e3 for name, seconds in r.bounds().items() if seconds}
    names = sorted(milliseconds, key=lambda name: -milliseconds[name])
    axes.barh([BOUND_LABELS[n] for n in names], [milliseconds[n] for n in names], color=[COLOURS[n] for n in names])
    for k, name in enumerate(names):
        axes.annotate(
            f"{milliseconds[name]:.3g} ms, {milliseconds[name] / r.resident_seconds / 1e3:.0%}",
            (milliseconds[name], k),
            (3, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set(title="Bound by", xlabel="ms")
    axes.set_xlim(0, 1.5 * max(milliseconds.values()))
    axes.invert_yaxis()


def _area(axes: Axes, held: Fit) -> None:
    parts = dict(titled(tuple(held.shares.values())))
    of = f"{counted(len(held.groups), 'kernel')} ({counted(held.ports, 'port')})"
    shares(axes, parts, f"Area of {of}")


def plot_columns(name: str, columns: Sequence[Column]) -> Figure:
    """Draws reports side by side: bars of milliseconds, divided by bound."""
    drawing = figure(8, 1.6 + 0.45 * len(columns))
    with styled():
        drawing.suptitle(f"{name}, compared\n{HEADING}")
        axes = drawing.subplots()
        begins = [0.0] * len(columns)
        for bound, colour in COLOURS.items():
            parts = [c.report.bounds().get(bound, 0.0) * 1e3 for c in columns]
            if any(parts):
                places = range(len(columns))
                axes.barh(places, parts, 0.7, begins, color=colour, label=BOUND_LABELS[bound])
            begins = [a + b for a, b in zip(begins, parts)]
        for k, end in enumerate(begins):
            axes.annotate(f"{end:.3g} ms", (end, k), (3, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(columns)), [c.title for c in columns])
        axes.set_xlabel("ms with data that stays on the board, by what bounds it")
        axes.set_xlim(0, 1.15 * max(begins))
        axes.invert_yaxis()
        drawing.legend(loc="outside lower center", ncols=3, frameon=False)
    return drawing


def _truncated(name: str, most: int = 28) -> str:
    return name if len(name) <= most else name[: most - 3] + "..."
