"""Stencils of a graph: ops on views of a plane that are shifted by rows and columns become one
kernel, in which windows of rows give each element its neighbours.

All planes of the graph share the rows of the arguments: the element (row, column) of each plane is
in the same beat. A view that begins at (rows, columns) of a plane is the plane's window with this
offset, so the kernel of several time steps is a chain of windows and element functions. A write to a
part of a plane is a select between the new value and the old one, by the element's position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..dtypes import dtype
from ..iterator.shape import Ints, broadcast_strides
from ..kernels.element_function import ElementFunction
from ..kernels.fused import Call
from ..kernels.graph_text import ABOVE, HALO, ONE_ELEMENT, ROWS
from ..kernels.key import Port, lanes_for
from ..kernels.row_loop import RowLoop
from ..kernels.signal_stages import (
    RowFilter,
    RowTransform,
    SliceScatter,
    Window,
    halo_refusal,
    slice_scatter,
    window,
    window_refusal,
)
from ..kernels.staged import StagedKey, above_refusal
from ..kernels.workload import PORT_BYTES
from .fusion_group import ElementCall, call_sequence
from .ir import Graph, GraphTensor, Node
from .loop_body import AffineAccess, LoopBody
from .stage_body import check_size, layout_of, layout_strides, refusal_of, stage_body, stage_node

# A memory, and how often it has been written before.
Plane = tuple[int, int]
Offset = tuple[int, int]


class StencilBuilder:
    """Builds one node of dataflow stages with windows from a graph of elementwise ops. `rows` is the
    number of rows of the results; `has_windows` is True if an op reads a shifted view.

    Each plane has an anchor: its element that is in the beat of element (0, 0) of the arguments. An
    op on views has the anchor of its planes. A write to a part of a plane makes a new plane of two
    others, the op's result and the plane before, and needs both at one element, so the new plane's
    anchor is that much further.

    Raises GraphError, which names the op and its line, for a graph with other ops or operands.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.has_windows = False
        self.rows = 0
        self.pitches: dict[int, int] = {}  # row length of each memory
        self.ends: dict[int, int] = {}  # rows of each memory that the graph reads
        self.sizes: dict[Plane, Ints] = {}  # (rows, columns) of each plane that the graph computes
        self.anchors: dict[Plane, Offset] = {}
        self.versions: dict[int, int] = {}
        self.reads: dict[Plane, set[Offset]] = {}
        self.values: dict[tuple[Plane, Offset], AffineAccess | int] = {}
        self.calls: list[ElementCall] = []
        self.constants: set[AffineAccess | int] = set()  # values that are the same for all elements
        self.scatters: dict[Plane, _Scatter] = {}

    def build_node(self) -> Node:
        """Returns the node. Its operands are the outputs, then the inputs."""
        graph = self.graph
        bodies = [self._elementwise(node) for node in graph.nodes]
        operands = [self._operands(body) for body in bodies]
        last = graph.nodes[-1]
        lengths = {n for m, n in self.pitches.items() if not graph.memories[m].is_internal}
        if not self.has_windows or len(lengths) != 1:
            raise refusal_of(
                graph, last, f"its operands have rows of {sorted(lengths)} elements, and not of one length"
            )
        (length,) = lengths
        stored = dict.fromkeys(
            self._current(f.region.memory) for f in graph.result_tensors if graph.memories[f.region.memory].is_internal
        )
        sizes = {self.sizes.get(plane, ()) for plane in stored}
        if len(sizes) != 1 or not all(sizes):
            raise refusal_of(graph, last, "its results differ in size, and a kernel with windows has one size")
        ((self.rows, width),) = sizes
        if why := self._size_refusal(length):
            raise refusal_of(graph, last, why)
        anchor = self._result_anchor(tuple(stored), length & -length)
        results = [(plane, self._note_read(plane, anchor)) for plane in stored]
        for body, (views, written) in zip(bodies, operands, strict=True):
            self._add(body, views, written)
        program = call_sequence(self.calls, [self._value(bodies[-1], *result) for result in results])
        outs = [AffineAccess(m, 0, graph_dtype(graph, m), layout_strides(ROWS)) for m, _ in stored]
        ins = program.inputs
        planes = [p for p in ins if p.strides == layout_strides(ROWS)]
        kinds = (HALO, ABOVE) if self.scatters else (HALO,)
        beside = len(kinds) * len(planes)
        check_size(graph, len(outs) + len(ins) + beside, len(program.calls))
        widest = max((call.function.compute for call in program.calls), key=lambda d: d.itemsize)
        lanes = min(lanes_for([p.dtype for p in (*outs, *ins)], widest, PORT_BYTES), length & -length)

        def moved(values: Ints) -> Ints:
            return tuple([v if v < len(ins) else v + beside for v in values])

        key = StagedKey(
            program.name,
            "staged",
            lanes,
            tuple([Port(p.dtype, ROWS) for p in outs]),
            (*[Port(p.dtype, layout_of(p)) for p in ins], *[Port(p.dtype, kind) for kind in kinds for p in planes]),
            tuple([Call(c.function, moved(c.operands), c.scalars) for c in program.calls]),
            moved(program.results),
            tuple(program.argument_dtypes),
            length=length,
            width=width,
            above=anchor[0] * length + anchor[1],
        )
        refusals = [window_refusal(f, length) for f in key.functions if isinstance(f, Window)]
        refusals += [halo_refusal(key.halo), self._rows_refusal(), _start_refusal(planes, lanes), above_refusal(key)]
        for why in refusals:
            if why:
                raise refusal_of(graph, last, why)
        pointers = (*range(len(outs) + len(ins)), *[len(outs) + ins.index(p) for _ in kinds for p in planes])
        regions = [self._region(p, width) for p in outs] + [self._region(p, length) for p in ins]
        return stage_node(graph, key, self.rows, regions, pointers, program)

    def _size_refusal(self, length: int) -> str:
        """Returns the reason why the planes that the graph computes do not fit those that it reads, with
        rows of `length`; "" if they do. Only planes with written parts may be larger."""
        widest = max(columns for _, columns in self.sizes.values())
        if widest > length:
            return f"it computes rows of {widest} elements, longer than its operands' of {length}"
        behind = max([scatter.end[0] for scatter in self.scatters.values()], default=0)
        if behind > self.rows:
            return f"it writes up to row {behind} of a plane, and its results have {self.rows}"
        return ""

    def _rows_refusal(self) -> str:
        """Returns the reason why a kernel with writes to parts, which reads as many rows of each argument
        as its results have, does not read the arguments; "" if it does."""
        ends = {end for m, end in self.ends.items() if not self.graph.memories[m].is_internal}
        others = sorted(ends - {self.rows})
        if not self.scatters or not others:
            return ""
        return f"it reads {others[-1]} rows of an argument, and writes to parts of {self.rows}"

    def _elementwise(self, node: Node) -> LoopBody:
        body = stage_body(self.graph, node)
        if node.reflected or body.is_fold or isinstance(body.function, (RowTransform, RowFilter, RowLoop)):
            raise refusal_of(self.graph, node, "it is not elementwise, and a kernel with windows has no other op")
        return body

    def _operands(self, body: LoopBody) -> tuple[list[tuple[Plane, Offset] | AffineAccess], list[Plane]]:
        """Returns each input of a body as an element beside a plane's, or as the access of a single
        element; and the planes after the body's writes. Notes the planes' row lengths, sizes and
        reads."""
        node, graph = body.node, self.graph
        shape = node.operands[0].shape
        kept = [k for k, n in enumerate(shape) if n != 1]
        if len(kept) != 2:
            raise refusal_of(graph, node, f"its result of shape {tuple(shape)} is no plane")
        sizes = (shape[kept[0]], shape[kept[1]])
        regions = node.operands[len(body.outs) :]
        views: list[tuple[Plane, Offset] | AffineAccess] = []
        for p, r in zip(body.ins, regions, strict=True):
            strides = broadcast_strides(r.shape, r.strides, shape)
            steps = tuple([strides[k] for k in kept])
            if steps == (0, 0) and not graph.memories[p.memory].is_internal:
                views.append(AffineAccess(p.memory, p.start, p.dtype, layout_strides(ONE_ELEMENT)))
                continue
            offset = self._offset(p, r, steps, sizes)
            if offset is None:
                raise refusal_of(graph, node, "an operand is no view of a plane's rows")
            views.append((self._current(p.memory), offset))
        anchor = _furthest(self.anchors.get(v[0], (0, 0)) for v in views if not isinstance(v, AffineAccess))
        found: list[tuple[Plane, Offset] | AffineAccess] = []
        for view in views:
            if isinstance(view, AffineAccess):
                found.append(view)
                continue
            plane, offset = view
            self.has_windows |= offset != (0, 0)
            found.append((plane, self._note_read(plane, _plus(anchor, offset))))
        outs = zip(body.outs, node.operands[: len(body.outs)], strict=True)
        return found, [self._written(node, p, r, sizes, tuple([r.strides[k] for k in kept]), anchor) for p, r in outs]

    def _offset(self, p: AffineAccess, r: GraphTensor, steps: Ints, sizes: Offset) -> Offset | None:
        """Returns the rows and columns of a plane before a view of it; None if an operand is no view."""
        (down, right), (rows, columns) = steps, sizes
        pitch = self.pitches.setdefault(p.memory, down)
        offset = divmod(r.offset - self._start(p.memory) // p.dtype.itemsize, max(pitch, 1))
        inside = right == 1 and down == pitch > 1 and offset[1] + columns <= pitch and r.dtype is p.dtype
        inside &= offset[0] >= 0
        self.ends[p.memory] = max(self.ends.get(p.memory, 0), offset[0] + rows)
        if inside and self.graph.memories[p.memory].is_internal:
            size = self.sizes.get(self._current(p.memory), (0, 0))
            inside = offset[0] + rows <= size[0] and offset[1] + columns <= size[1]
        return offset if inside and p.dtype is graph_dtype(self.graph, p.memory, p.dtype) else None

    def _written(
        self, node: Node, p: AffineAccess, r: GraphTensor, sizes: Offset, steps: Ints, anchor: Offset
    ) -> Plane:
        """Returns the plane after a write of `sizes` elements, whose first is `anchor`. A write to a part
        of a plane becomes a scatter."""
        before, (rows, columns) = self._current(p.memory), sizes
        dense = not r.offset and steps == (columns, 1) and r.dtype is p.dtype
        whole = dense and self.graph.memories[p.memory].nbytes == rows * columns * p.dtype.itemsize
        start = (0, 0) if whole else self._offset(p, r, steps, sizes) if before in self.sizes else None
        if start is None or r.shape != node.operands[0].shape:
            raise refusal_of(self.graph, node, "it writes a part of a plane that no op before wrote as a whole")
        self.versions[p.memory] = self.versions.get(p.memory, 0) + 1
        plane = self._current(p.memory)
        if whole:
            self.pitches[p.memory] = columns
            self.sizes[plane], self.anchors[plane] = sizes, anchor
            return plane
        part = (~p.memory, self.versions[p.memory])
        self.anchors[part], self.sizes[plane] = anchor, self.sizes[before]
        at = self.anchors[plane] = _furthest((_plus(anchor, start), self.anchors[before]))
        offsets = self._note_read(part, (at[0] - start[0], at[1] - start[1])), self._note_read(before, at)
        self.scatters[plane] = _Scatter(part, before, offsets, start, _plus(start, sizes))
        self.has_windows = True
        return plane

    def _note_read(self, plane: Plane, at: Offset) -> Offset:
        """Notes that the element `at` of a plane is read in the beat of element (0, 0) of the arguments.
        Returns its distance from the plane's anchor."""
        anchor = self.anchors.get(plane, (0, 0))
        offset = (at[0] - anchor[0], at[1] - anchor[1])
        self.reads.setdefault(plane, set()).add(offset)
        return offset

    def _result_anchor(self, stored: Sequence[Plane], beat: int) -> Offset:
        """Returns the anchor of results, so far that their rows begin with a beat."""
        rows, columns = _furthest(self.anchors[plane] for plane in stored)
        beat = min(beat, _MOST_LANES)
        return rows, -(-columns // beat) * beat

    def _add(
        self, body: LoopBody, operands: Sequence[tuple[Plane, Offset] | AffineAccess], written: Sequence[Plane]
    ) -> None:
        """Adds the call of a body, and of the scatters of its results."""
        values = [p if isinstance(p, AffineAccess) else self._read(body, *p) for p in operands]
        results = self._call(body, values, len(body.outs))
        for plane, value in zip(written, results, strict=True):
            scatter = self.scatters.get(plane)
            if scatter is None:
                self.values[plane, (0, 0)] = value
                continue
            self.values[scatter.part, (0, 0)] = value
            pairs = zip((scatter.part, scatter.before), scatter.offsets, strict=True)
            (top, left), (bottom, right) = scatter.start, scatter.end
            function = slice_scatter(
                graph_dtype(self.graph, plane[0]), self.anchors[plane], (top, self.rows - bottom), (left, right)
            )
            values = [self._read(body, *pair) for pair in pairs]
            (self.values[plane, (0, 0)],) = self._call(_without_operands(body, function), values, 1)

    def _read(self, body: LoopBody, plane: Plane, offset: Offset) -> AffineAccess | int:
        """Returns the value of a plane `offset` from its anchor. The first read of a plane adds the
        window of all its reads."""
        memory, offsets = plane[0], self.reads[plane]
        element = graph_dtype(self.graph, memory if memory >= 0 else ~memory)
        start = self._start(memory) if memory >= 0 else 0
        whole = self.values.setdefault((plane, (0, 0)), AffineAccess(memory, start, element, layout_strides(ROWS)))
        if offsets == {(0, 0)} or whole in self.constants:
            return whole
        # The window's neighbour (0, 0) is another value than the plane that enters it.
        if (plane, _VIEWED) not in self.values:
            function = window(element, tuple(sorted(offsets)))
            self.values[plane, _VIEWED] = self._call(_without_operands(body, function), (whole,), len(offsets))[0]
        first_value = self.values[plane, _VIEWED]
        assert isinstance(first_value, int)
        return first_value + sorted(offsets).index(offset)

    def _call(self, body: LoopBody, operands: Sequence[AffineAccess | int], count: int) -> Ints:
        """Adds a call. Returns its results. Those of a call that reads no plane are the same for all
        elements, so no window needs to move them."""
        first = sum(len(call.results) for call in self.calls)
        results = tuple(range(first, first + count))
        self.calls.append(ElementCall(body, tuple(operands), results))
        planes = [p for p in operands if not (isinstance(p, AffineAccess) and p.strides == layout_strides(ONE_ELEMENT))]
        if self.constants.issuperset(planes):
            self.constants.update(results)
            if isinstance(body.function, SliceScatter):
                raise refusal_of(self.graph, body.node, "it writes one value to a part of a plane of one value")
        return results

    def _value(self, body: LoopBody, plane: Plane, offset: Offset) -> int:
        value = self._read(body, plane, offset)
        assert isinstance(value, int), "the graph computes its results"
        if value in self.constants:
            raise refusal_of(self.graph, body.node, "a result has one value for all elements")
        return value

    def _start(self, memory: int) -> int:
        """Returns the byte of a memory at which its planes begin: an argument's own offset."""
        return self.graph.memories[memory].offset

    def _current(self, memory: int) -> Plane:
        return memory, self.versions.get(memory, 0)

    def _region(self, p: AffineAccess, columns: int) -> GraphTensor:
        """Returns an operand as a tensor of the graph."""
        start = p.start // p.dtype.itemsize
        if p.strides == layout_strides(ONE_ELEMENT):
            return GraphTensor(p.memory, p.dtype, (), (), start)
        return GraphTensor(p.memory, p.dtype, (self.rows, columns), (columns, 1), start)


# In place of an offset: the first value of a plane's window.
_VIEWED = (-1, -1)
_MOST_LANES = 16  # as `lanes_for`


class _Scatter(NamedTuple):
    """A write to a part of a plane: the part and the plane before with the offsets from their anchors,
    the part's first element and its end."""

    part: Plane
    before: Plane
    offsets: tuple[Offset, Offset]
    start: Offset
    end: Offset


def _start_refusal(planes: Sequence[AffineAccess], lanes: int) -> str:
    starts = [p.start for p in planes if p.start % (lanes * p.dtype.itemsize)]
    return f"an operand begins at byte {starts[0]}, not on a beat" if starts else ""


def _without_operands(body: LoopBody, function: ElementFunction) -> LoopBody:
    return replace(body, function=function, outs=(), ins=(), scalars=(), scalar_dtypes=())


def _plus(a: Offset, b: Offset) -> Offset:
    return a[0] + b[0], a[1] + b[1]


def _furthest(offsets: Iterable[Offset]) -> Offset:
    rows, columns = zip((0, 0), *offsets)
    return max(rows), max(columns)


def graph_dtype(graph: Graph, memory: int, default: dtype | None = None) -> dtype:
    """Returns the dtype of a memory's elements, which is that of the first node that uses it."""
    for node in graph.nodes:
        for r in node.operands:
            if r.memory == memory:
                return r.dtype
    assert default is not None
    return default
