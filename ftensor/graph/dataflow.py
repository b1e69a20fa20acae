"""A graph as one kernel of dataflow stages, for images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..dtypes import FULL
from ..errors import graph as errors
from ..execute.launch import Launch, Step
from ..iterator.shape import Ints, numel
from ..kernels.fused import MAX_OPERANDS
from ..kernels.graph_text import EVERY_BLOCK, ONE_ELEMENT, PER_BLOCK, PER_ROW, ROWS, SHARED_ROW
from ..kernels.key import Port, lanes_for
from ..kernels.staged import STATES, VECTOR_KINDS, StagedKey
from ..kernels.transform import RowTransform, transform_refusal
from ..kernels.workload import PORT_BYTES
from .fusion_group import MOST_CALLS, ElementCall
from .fusion_group import program as program_of
from .ir import DrawnNumber, Graph, GraphTensor, Node
from .loop_body import (
    AffineAccess,
    LoopBody,
    complex_part,
    in_order,
    is_invariant,
    loop_body_of,
    part_unit,
    single_stage_fold,
    size,
    split,
    transformed,
    walks,
)

if TYPE_CHECKING:
    pass


# Pairs of doubles are wider than half a port's beat of two, and pairs of halves are no op's.
_NO_STAGE = ("complex32", "complex128")


class DataflowBuilder:
    """Builds one node of dataflow stages from a graph. `values` maps each access to the number of
    the value that it holds.

    Raises GraphError, which names the op and its line, for a node that no stage can run: an op that
    needs all its data first, an operand that is not laid out in rows, a written argument, a random
    number.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.points = [stage_body(graph, node) for node in graph.nodes]
        self.length, self.rows = self._sizes()
        self.rank = max(len(r.shape) for node in graph.nodes for r in node.operands)
        self.period = 1  # rows of a block, for operands in blocks
        self.values: dict[AffineAccess, int] = {}  # the number of the value at an access
        self.parts: dict[tuple[AffineAccess | int, str], int] = {}  # of complex values
        self.calls: list[ElementCall] = []

    def _refuse(self, node: Node, why: str) -> errors.GraphError:
        return _refusal(self.graph, node, why)

    def _sizes(self) -> tuple[int, int]:
        """Returns (the length of a row, the number of rows)."""
        transforms = [p for p in self.points if isinstance(p.unit, RowTransform)]
        if transforms:
            length = transforms[0].loops[-1].size
            return length, max(size(p.loops) // length for p in self.points)
        folds = [p for p in self.points if p.folds]
        if folds:
            first = folds[0]
            length = numel(tuple([loop.size for loop in first.loops if loop.folded]))
            return length, numel(tuple([loop.size for loop in first.loops if not loop.folded]))
        regions = [r for node in self.graph.nodes for r in node.operands]
        largest = max(regions, key=lambda r: numel(r.shape))
        length = largest.shape[-1] if largest.shape else 1
        return length, numel(largest.shape) // max(length, 1)

    def node(self) -> Node:
        """Returns the node. Its operands are the outputs, then the inputs."""
        if self.rows * self.length == 0:
            raise self._refuse(self.graph.nodes[0], "there are no elements")
        for point in self.points:
            self._take(point)
        results = [self._stored(f.region) for f in self.graph.result_tensors]
        stored = list(dict.fromkeys([p for p in results if p is not None]))
        whole = program_of(self.calls, [self.values[p] for p in stored])
        places = [*stored, *whole.inputs]
        last = self.graph.nodes[-1]
        if len(places) > MAX_OPERANDS or len(whole.calls) > MOST_CALLS:
            raise self._refuse(
                last,
                f"{len(places)} operands and {len(whole.calls)} ops are more than a kernel's "
                f"{MAX_OPERANDS} and {MOST_CALLS}",
            )
        dtypes = [p.dtype for p in places]
        widest = max([c.unit.compute for c in whole.calls], key=lambda d: d.itemsize)
        lanes = lanes_for(dtypes, widest, PORT_BYTES)
        for point in self.points:
            if isinstance(point.unit, RowTransform) and (why := transform_refusal(self.length, lanes)):
                raise self._refuse(point.node, why)
        places = self._as_beats(places, lanes)
        for p in places:
            if _layout_kind(p) in VECTOR_KINDS and p.start % (lanes * p.dtype.itemsize):
                raise self._refuse(last, f"an operand begins at byte {p.start}, not on a beat")
            if _layout_kind(p) in (PER_BLOCK, EVERY_BLOCK) and self.length % lanes:
                raise self._refuse(last, f"rows of {self.length} in blocks are no whole beats")
        ports = [Port(p.dtype, _layout_kind(p)) for p in places]
        count = len(stored)
        key = StagedKey(
            whole.name,
            "staged",
            lanes,
            tuple(ports[:count]),
            tuple(ports[count:]),
            tuple(whole.calls),
            whole.gives,
            tuple(whole.passed),
            (),
            self.length,
            self.period,
        )
        pointers = tuple(range(len(places)))
        step = Step(key, 1, pointers, pointers, numbers=bool(whole.numbers), n=self.rows)
        launch = Launch((step,), len(places), numbers=tuple(whole.rounded))
        regions = tuple([self._region(p) for p in places])
        parts = tuple([point.node.origin for point in self.points])
        return Node(launch, regions, tuple(whole.numbers), last.origin, parts)

    def _as_beats(self, places: list[AffineAccess], lanes: int) -> list[AffineAccess]:
        """Cuts a single row of elementwise ops into rows of a beat, which compute units can share;
        any number of whole beats then has the same kernel. Returns the operands' places in these
        rows."""
        apart = any(p.folds or isinstance(p.unit, RowTransform) for p in self.points)
        if self.rows > 1 or apart or self.length % lanes or self.length == lanes:
            return places
        self.rows, self.length = self.length // lanes, lanes
        kinds = {SHARED_ROW: ROWS, PER_ROW: ONE_ELEMENT}
        return [_with_layout(p, kinds.get(_layout_kind(p), _layout_kind(p))) for p in places]

    def _take(self, point: LoopBody) -> None:
        """Adds the call of a loop body."""
        parts = [complex_part(p, self.values) for p in point.ins]
        if any(parts):
            wholes = zip(point.ins, parts, strict=True)
            point = replace(point, ins=tuple([p if part is None else part.whole for p, part in wholes]))
        kept = [k for k, loop in enumerate(point.loops) if not loop.folded]
        folded = [k for k, loop in enumerate(point.loops) if loop.folded]
        if folded:
            if self._count(point, folded) != self.length or self._count(point, kept) != self.rows:
                raise self._refuse(point.node, "its rows are others than those before")
            ways = [(in_order(point, kept), in_order(point, folded))]
        elif isinstance(point.unit, RowTransform):
            *over, along = [(k, loop.size, 1) for k, loop in enumerate(point.loops)]
            if along[1] != self.length:
                raise self._refuse(point.node, "its rows are others than those before")
            ways = [(over, [along])]
        else:
            ways = self._loop_splits(point)
        operands = (*point.outs, *point.ins)
        candidates: list[list[str | None]] = []
        for way in ways:
            kinds = [self._operand_layout(p, *way) for p in operands]
            if self.rows == 1:
                kinds = self._as_shaped(kinds, point)
            if point.folds:
                each = [PER_ROW if walks(p, way[0], 1) else None for p in point.outs]
                kinds[: len(each)] = each
            if None not in kinds:
                known = self._layouts_match(operands, kinds)
                candidates.insert(0 if known else len(candidates), kinds)
        if not candidates:
            lies = "an operand does not lie in rows, dense and one after another"
            if folded and any(p.strides[k] == 1 for p in point.ins for k in kept):
                lies = "it folds across rows, which needs all of them first"
            raise self._refuse(point.node, lies)
        kinds = candidates[0]
        places = [_with_layout(p, str(kind)) for p, kind in zip(operands, kinds, strict=True)]
        outs, ins = places[: len(point.outs)], places[len(point.outs) :]
        takes: list[AffineAccess | int] = []
        for p, part in zip(ins, parts, strict=True):
            if p not in self.values and self.graph.memories[p.memory].own:
                raise self._refuse(point.node, "it reads a part, or otherwise than in rows")
            value = self.values.get(p, p)
            takes.append(value if part is None else self._part(point, value, part.which))
        for p, value in zip(outs, self._add_call(point, takes, len(outs)), strict=True):
            for other in [q for q in self.values if q.memory == p.memory]:
                del self.values[other]  # values that this write replaces
            self.values[p] = value

    def _add_call(self, point: LoopBody, takes: Sequence[AffineAccess | int], gives: int) -> Ints:
        first = sum(len(c.gives) for c in self.calls)
        numbers = tuple(range(first, first + gives))
        self.calls.append(ElementCall(point, tuple(takes), numbers))
        return numbers

    def _part(self, point: LoopBody, value: AffineAccess | int, which: str) -> int:
        if (value, which) not in self.parts:
            unit = part_unit(point.ins[0].dtype.to_complex(), which)
            taken = replace(point, unit=unit, outs=(), ins=(), numbers=(), rounded=())
            (self.parts[value, which],) = self._add_call(taken, (value,), 1)
        return self.parts[value, which]

    def _count(self, point: LoopBody, which: Sequence[int]) -> int:
        return numel(tuple([point.loops[k].size for k in which]))

    def _loop_splits(self, point: LoopBody) -> list[tuple[list[Any], list[Any]]]:
        """Returns the ways to split an elementwise node's loops into (loops over rows, loops along
        a row)."""
        sizes = tuple([loop.size for loop in point.loops])
        total, each = numel(sizes), [(k, loop.size, 1) for k, loop in enumerate(point.loops)]
        splits: list[tuple[list[Any], list[Any]]] = []
        if total == self.length * self.rows:
            ways = split(each, self.length)
            if ways is not None:
                splits.append(ways)
        if total == self.rows:
            splits.append((each, []))
        if total == self.length:
            splits.append(([], each))
        if total == self.rows == self.length and point.node.operands[0].shape[-1:] != (1,):
            splits.reverse()  # a value per row has a last dim of one, or comes from a value per row
        if total == 1:
            splits.append(([], []))
        if not splits:
            raise self._refuse(
                point.node, f"it has {total} elements, where there are {self.rows} rows of {self.length}"
            )
        return splits

    def _operand_layout(self, p: AffineAccess, over: Sequence[Any], along: Sequence[Any]) -> str | None:
        """Returns the layout of an operand in loops over rows and along a row; None if no port has
        it."""
        in_line, still = walks(p, along, 1), is_invariant(p, over)
        if along and in_line and walks(p, over, self.length) and (over or self.rows == 1):
            return ROWS
        if along and in_line and still:
            return SHARED_ROW
        if over and is_invariant(p, along) and walks(p, over, 1):
            return PER_ROW
        if still and is_invariant(p, along):
            return ONE_ELEMENT
        return self._in_blocks(p, over) if along and in_line else None

    def _in_blocks(self, p: AffineAccess, over: Sequence[Any]) -> str | None:
        """Returns EACH if a row is shared by a block of rows, AGAIN if blocks repeat, else None.
        Sets `period`."""
        for cut in range(1, len(over)):
            outer, inner = over[:cut], over[cut:]
            each = is_invariant(p, inner) and walks(p, outer, self.length)
            again = is_invariant(p, outer) and walks(p, inner, self.length)
            period = numel(tuple([size for _, size, _ in inner]))
            if (each or again) and self.period in (1, period):
                self.period = period
                return PER_BLOCK if each else EVERY_BLOCK
        return None

    def _as_shaped(self, kinds: Sequence[str | None], point: LoopBody) -> list[str | None]:
        """Returns the layouts for a single row, which equals a row shared by all rows. The number
        of dims of each operand decides between the two."""
        shaped: list[str | None] = []
        operands = point.node.operands[: len(kinds)]  # of a transform without its table
        for kind, r in zip(kinds, operands, strict=True):
            if kind in (ROWS, SHARED_ROW):
                kind = ROWS if len(r.shape) == self.rank else SHARED_ROW
            elif kind in (PER_ROW, ONE_ELEMENT):
                kind = PER_ROW if r.shape else ONE_ELEMENT
            shaped.append(kind)
        return shaped

    def _layouts_match(self, operands: Sequence[AffineAccess], kinds: Sequence[str | None]) -> bool:
        pairs = zip(operands, kinds, strict=True)
        return any(_with_layout(p, str(kind)) in self.values for p, kind in pairs)

    def _stored(self, r: GraphTensor) -> AffineAccess | None:
        """Returns the access of a result's value; None if the result is in an argument's memory."""
        if not self.graph.memories[r.memory].own:
            return None
        places = [p for p in self.values if p.memory == r.memory]
        if not places or _layout_kind(places[0]) not in (ROWS, PER_ROW) or places[0].start:
            raise self._refuse(self.graph.nodes[-1], "a result is neither of rows nor of each")
        return places[0]

    def _region(self, p: AffineAccess) -> GraphTensor:
        """Returns an operand as a tensor of the graph."""
        kind, n, length = _layout_kind(p), self.rows, self.length
        shapes: dict[str, Ints] = {
            ROWS: (n, length),
            PER_ROW: (n,),
            SHARED_ROW: (length,),
            ONE_ELEMENT: (),
            PER_BLOCK: (n // self.period, length),
            EVERY_BLOCK: (self.period, length),
        }
        shape = shapes[kind]
        strides = (length, 1) if len(shape) == 2 else (1,) * len(shape)
        return GraphTensor(p.memory, p.dtype, shape, strides, p.start // p.dtype.itemsize)


def stage_body(graph: Graph, node: Node) -> LoopBody:
    """Returns a node's loop body for a dataflow stage. Raises GraphError if no stage can run the
    node in any graph."""
    if any(isinstance(x, DrawnNumber) for x in node.numbers):
        raise _refusal(graph, node, "it draws random numbers")
    point = loop_body_of(node) or transformed(node)
    if point is None:
        raise _refusal(graph, node, "it is neither elementwise nor a fold, and needs all first")
    of = {p.dtype for p in (*point.outs, *point.ins)}
    for one in sorted(of, key=lambda d: d.name):
        if one not in FULL or one.name in _NO_STAGE:
            raise _refusal(graph, node, f"no stage has elements of {one.name}")
    for p in point.outs:
        if not graph.memories[p.memory].own:
            why = "it writes to an argument, or to what is held outside"
            raise _refusal(graph, node, why)
    return single_stage_fold(point, STATES) if point.folds else point


def _refusal(graph: Graph, node: Node, why: str) -> errors.GraphError:
    error = errors.no_stage(node.origin.op, graph.name, why, node.origin.line)
    error.node, error.why = node, why
    return error


def _layout_kind(p: AffineAccess) -> str:
    return "".join(map(chr, p.strides))


def _with_layout(p: AffineAccess, kind: str) -> AffineAccess:
    return p._replace(strides=tuple(map(ord, kind)))
