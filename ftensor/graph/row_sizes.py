"""The rows of a graph of dataflow stages: their length and their number."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ..iterator.shape import numel
from ..kernels.row_loop import RowLoop
from ..kernels.signal_stages import RowFilter, RowTransform
from .ir import Graph
from .loop_body import LoopBody, iteration_count
from .stage_body import refusal_of

# The longest row that a signal without other rows is cut into, and the shortest if there is another way.
MAX_PART, MIN_PART = 1024, 16


def row_sizes(graph: Graph, bodies: Sequence[LoopBody]) -> tuple[int, int]:
    """Returns the row length and the number of rows of a graph with these loop bodies. Raises
    GraphError for filters whose results are no such rows."""
    filters = [body for body in bodies if isinstance(body.function, RowFilter)]
    return _filtered_sizes(graph, bodies, filters) if filters else _sizes(graph, bodies)


def _sizes(graph: Graph, bodies: Sequence[LoopBody]) -> tuple[int, int]:
    """Returns the row length and the number of rows of a graph without filters. Rows are those
    of a transform, else those of the first fold, else parts of a loop's signal, else the last dim
    of the largest operand."""
    transforms = [p for p in bodies if isinstance(p.function, RowTransform)]
    if transforms:
        length = transforms[0].loops[-1].size
        return length, max(iteration_count(p.loops) // length for p in bodies)
    folds = [p for p in bodies if p.is_fold]
    if folds:
        first = folds[0]
        length = numel(tuple([loop.size for loop in first.loops if loop.folded]))
        return length, numel(tuple([loop.size for loop in first.loops if not loop.folded]))
    scans = [(body, body.function) for body in bodies if isinstance(body.function, RowLoop)]
    if scans:
        body, loop = scans[0]
        total = iteration_count(body.loops)
        if loop.signals > 1:
            return loop.signals, total // loop.signals
        part = _part(total)
        if part < MIN_PART:  # beats need not be whole
            part = max(
                (n for n in range(2, MAX_PART + 1) if total % n == 0 and n not in (total, total // n)), default=part
            )
        return part, total // part
    regions = [r for node in graph.nodes for r in node.operands]
    largest = max(regions, key=lambda r: numel(r.shape))
    length = largest.shape[-1] if largest.shape else 1
    return length, numel(largest.shape) // max(length, 1)


def _filtered_sizes(graph: Graph, bodies: Sequence[LoopBody], filters: Sequence[LoopBody]) -> tuple[int, int]:
    """Like `_sizes`, for a graph with filters, whose rows have several lengths: returns the
    shortest. Rows are those of a transform or a fold, else whole signals; a single signal is
    cut into rows."""
    scans = any(isinstance(body.function, RowLoop) for body in bodies)
    totals = [iteration_count(body.loops) for body in filters]
    first = next((b for b in bodies if isinstance(b.function, RowTransform)), None)
    first = first or next((b for b in bodies if b.is_fold), None)
    if first is None:
        rows = min(iteration_count(body.loops[:-1]) for body in filters)
        rows = min(totals) // _part(min(totals)) if rows == 1 or scans else rows
    elif first.is_fold:
        rows = numel(tuple([loop.size for loop in first.loops if not loop.folded]))
    else:
        rows = iteration_count(first.loops[:-1])
    for body, total in zip(filters, totals, strict=True):
        if total % (min(totals) // rows * rows):
            raise refusal_of(graph, body.node, f"its {total} results are not {rows} rows")
    return min(totals) // rows, rows


def _part(total: int) -> int:
    """Returns the length of the rows that a signal of `total` elements is cut into: two at least, and
    not as many as a row is long."""
    part = gcd(total, MAX_PART)
    return part // 2 if part > 1 and part in (total, total // part) else part
