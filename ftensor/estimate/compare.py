"""`ftensor estimate --compare`: several estimates of one program, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..boards import find
from ..graph.jit import Jitted
from ..kernels.skeleton import board_skeleton_of
from ..kernels.workload import KernelLaunch
from ..terminal import table
from ..toolchain.group import STRUCTURES
from ..toolchain.trace import Trace
from .report import ProgramEstimate, report
from .show import HEADING, fixed

STEPS, GRAPH = "steps", "graph"
UNITS = 4


@dataclass(frozen=True)
class Column:
    """A report and its title."""

    title: str
    report: ProgramEstimate


@dataclass(frozen=True)
class PointwiseBuild:
    """A way to build contiguous pointwise kernels, as in the inventory `steps`."""

    title: str
    structure: str
    units: int = 1
    narrow: bool = False  # one element an access

    def of(self, launch: KernelLaunch) -> KernelLaunch:
        """Returns the launch with its kernel built this way; unchanged if the kernel has no
        choice."""
        skeleton = board_skeleton_of(launch.key)
        if len({skeleton.structure(launch.key.lanes, name) for name in STRUCTURES}) == 1:
            return launch
        key = replace(launch.key, lanes=1) if self.narrow else launch.key
        return launch._replace(key=key, structure=self.structure, units=self.units)


FIVE = (
    PointwiseBuild("loop", "loop", narrow=True),
    PointwiseBuild("burst", "burst", narrow=True),
    PointwiseBuild("dataflow", "dataflow", narrow=True),
    PointwiseBuild("vectors", "dataflow"),
    PointwiseBuild(f"{UNITS} units", "dataflow", UNITS),
)


@contextmanager
def eagerly() -> Iterator[None]:
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
    """Yields the reports for `--compare`: "steps", "graph", or boards besides that of `first`.

    For "graph", `eager` is the trace of the same program without its graphs. Raises EstimateError
    for an unknown board.
    """
    if eager is not None:
        yield Column("eager", report(eager, first.setup, first.in_flight, None))
        yield Column("graph", report(trace, first.setup, first.in_flight, None))
    if STEPS in what:
        for step in FIVE:
            launches: Counter[KernelLaunch] = Counter()
            for launch, count in trace.launches.items():
                launches[step.of(launch)] += count
            estimated = report(replace(trace, launches=launches), first.setup, first.in_flight, None)
            yield Column(step.title, estimated)
    boards = [find(name) for name in what if name not in (STEPS, GRAPH)]
    if boards:
        yield Column(first.setup.board.title, first)
    for board in boards:
        setup = replace(first.setup, board=board, clock=board.clock.value)
        yield Column(board.title, report(trace, setup, first.in_flight, None))


def text(columns: Sequence[Column]) -> str:
    """Returns the table of the reports."""
    rows: list[tuple[object, ...]] = [("", "kernels ms", "launches ms", "copies ms", "total ms")]
    for column in columns:
        r = column.report
        parts = (r.kernels, r.launch, r.copies + r.settings, r.resident)
        rows.append((column.title, *(fixed(x * 1e3) for x in parts)))
    return f"{HEADING}\n\n{table(rows, indent='')}"
