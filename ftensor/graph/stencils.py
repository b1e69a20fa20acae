"""Stencils of a graph: ops on views of a plane that are shifted by rows and columns become one
kernel, in which windows of rows give each element its neighbours.

All planes of the graph share the rows of the arguments: the element (row, column) of each plane is
in the same beat. A view that begins at (rows, columns) of a plane is the plane's window with this
offset, so the kernel of several time steps is a chain of windows and element functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dtypes import dtype
from ..execute.launch import Launch, Step
from ..iterator.shape import Ints, broadcast_strides
from ..kernels.fused import MAX_OPERANDS, Call
from ..kernels.graph_text import HALO, ONE_ELEMENT, ROWS
from ..kernels.key import Port, lanes_for
from ..kernels.signal_stages import RowFilter, RowTransform
from ..kernels.staged import StagedKey
from ..kernels.stencil_stages import Window, halo_refusal, window, window_refusal
from ..kernels.workload import PORT_BYTES
from .dataflow import refusal_of, stage_body
from .fusion_group import MAX_CALLS, ElementCall, call_sequence
from .ir import Graph, GraphTensor, Node
from .loop_body import AffineAccess, LoopBody

# A memory, and how often it has been written before.
Plane = tuple[int, int]
Offset = tuple[int, int]


class StencilBuilder:
    """Builds one node of dataflow stages with windows from a graph of elementwise ops. `rows` is the
    number of rows of the results; `has_windows` is True if an op reads a shifted view.

    Raises GraphError, which names the op and its line, for a graph with other ops or operands.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.has_windows = False
        self.rows = 0
        self.pitches: dict[int, int] = {}  # row length of each memory
        self.sizes: dict[Plane, Ints] = {}  # (rows, columns) of each plane that the graph computes
        self.versions: dict[int, int] = {}
        self.reads: dict[Plane, set[Offset]] = {}
        self.values: dict[tuple[Plane, Offset], AffineAccess | int] = {}
        self.calls: list[ElementCall] = []

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
        self.versions.clear()
        for body, views in zip(bodies, operands, strict=True):
            self._add(body, views)
        stored = dict.fromkeys(
            self._current(f.region.memory) for f in graph.result_tensors if graph.memories[f.region.memory].is_internal
        )
        sizes = {self.sizes.get(plane, ()) for plane in stored}
        if len(sizes) != 1 or not all(sizes):
            raise refusal_of(graph, last, "its results differ in size, and a kernel with windows has one size")
        ((self.rows, width),) = sizes
        program = call_sequence(self.calls, [self._value(plane, (0, 0)) for plane in stored])
        outs = [AffineAccess(m, 0, graph_dtype(graph, m), _kind(ROWS)) for m, _ in stored]
        ins = program.inputs
        planes = [p for p in ins if p.strides == _kind(ROWS)]
        ports = len(outs) + len(ins) + len(planes)
        if ports > MAX_OPERANDS or len(program.calls) > MAX_CALLS:
            why = (
                f"{ports} operands and {len(program.calls)} ops are more than a kernel's {MAX_OPERANDS} and {MAX_CALLS}"
            )
            raise refusal_of(graph, last, why)
        widest = max((call.function.compute for call in program.calls), key=lambda d: d.itemsize)
        lanes = min(lanes_for([p.dtype for p in (*outs, *ins)], widest, PORT_BYTES), length & -length)

        def moved(values: Ints) -> Ints:
            return tuple([v if v < len(ins) else v + len(planes) for v in values])

        key = StagedKey(
            program.name,
            "staged",
            lanes,
            tuple([Port(p.dtype, ROWS) for p in outs]),
            (*[Port(p.dtype, _layout(p)) for p in ins], *[Port(p.dtype, HALO) for p in planes]),
            tuple([Call(c.function, moved(c.operands), c.scalars) for c in program.calls]),
            moved(program.results),
            tuple(program.argument_dtypes),
            length=length,
            width=width,
        )
        refusals = [window_refusal(f, length) for f in key.functions if isinstance(f, Window)]
        for why in (*refusals, halo_refusal(key.halo)):
            if why:
                raise refusal_of(graph, last, why)
        accesses = (*outs, *ins)
        pointers = (*range(len(accesses)), *[len(outs) + ins.index(p) for p in planes])
        step = Step(key, 1, pointers, pointers, scalars=bool(program.scalars), n=self.rows)
        launch = Launch((step,), len(accesses), scalar_dtypes=tuple(program.scalar_dtypes))
        regions = tuple([self._region(p, width if k < len(outs) else length) for k, p in enumerate(accesses)])
        origins = tuple([body.node.origin for body in bodies])
        return Node(launch, regions, tuple(program.scalars), last.origin, origins)

    def _elementwise(self, node: Node) -> LoopBody:
        body = stage_body(self.graph, node)
        if node.reflected or body.is_fold or isinstance(body.function, (RowTransform, RowFilter)):
            raise refusal_of(self.graph, node, "it is not elementwise, and a kernel with windows has no other op")
        return body

    def _operands(self, body: LoopBody) -> list[tuple[Plane, Offset] | AffineAccess]:
        """Returns each input of a body as a view of a plane, or as the access of a single element.
        Notes the planes' row lengths, sizes and views."""
        node, graph = body.node, self.graph
        out, shape = node.operands[0], node.operands[0].shape
        kept = [k for k, n in enumerate(shape) if n != 1]
        if len(kept) != 2:
            raise refusal_of(graph, node, f"its result of shape {tuple(shape)} is no plane")
        rows, columns = (shape[k] for k in kept)
        regions = node.operands[len(body.outs) :]
        found: list[tuple[Plane, Offset] | AffineAccess] = []
        for p, r in zip(body.ins, regions, strict=True):
            strides = broadcast_strides(r.shape, r.strides, shape)
            down, right = (strides[k] for k in kept)
            internal = graph.memories[p.memory].is_internal
            if (down, right) == (0, 0) and not internal:
                found.append(AffineAccess(p.memory, p.start, p.dtype, _kind(ONE_ELEMENT)))
                continue
            pitch = self.pitches.setdefault(p.memory, down)
            plane = self._current(p.memory)
            offset = divmod(r.offset, max(pitch, 1))
            inside = right == 1 and down == pitch > 1 and offset[1] + columns <= pitch and r.dtype is p.dtype
            if inside and internal:
                size = self.sizes.get(plane, (0, 0))
                inside = offset[0] + rows <= size[0] and offset[1] + columns <= size[1]
            if not inside or p.dtype is not graph_dtype(graph, p.memory, p.dtype):
                raise refusal_of(graph, node, "an operand is no view of a plane's rows")
            self.reads.setdefault(plane, set()).add(offset)
            self.has_windows |= offset != (0, 0)
            found.append((plane, offset))
        for p, r in zip(body.outs, node.operands[: len(body.outs)], strict=True):
            steps = tuple([r.strides[k] for k in kept])
            if r.shape != out.shape or r.offset or steps != (columns, 1) or r.dtype is not p.dtype:
                raise refusal_of(graph, node, "it writes a part of a plane")
            self.versions[p.memory] = self.versions.get(p.memory, 0) + 1
            self.pitches[p.memory] = columns
            self.sizes[self._current(p.memory)] = (rows, columns)
        return found

    def _add(self, body: LoopBody, operands: Sequence[tuple[Plane, Offset] | AffineAccess]) -> None:
        """Adds the call of a body."""
        values = [p if isinstance(p, AffineAccess) else self._read(body, *p) for p in operands]
        first = self._count()
        results = tuple(range(first, first + len(body.outs)))
        self.calls.append(ElementCall(body, tuple(values), results))
        for p, value in zip(body.outs, results, strict=True):
            self.versions[p.memory] = self.versions.get(p.memory, 0) + 1
            self.values[self._current(p.memory), (0, 0)] = value

    def _read(self, body: LoopBody, plane: Plane, offset: Offset) -> AffineAccess | int:
        """Returns the value of a view. The first view of a plane adds the window of all its views."""
        memory, offsets = plane[0], self.reads[plane]
        element = graph_dtype(self.graph, memory)
        whole = self.values.setdefault((plane, (0, 0)), AffineAccess(memory, 0, element, _kind(ROWS)))
        if offsets == {(0, 0)}:
            return whole
        # The window's neighbour (0, 0) is another value than the plane that enters it.
        if (plane, _VIEWED) not in self.values:
            function = window(element, tuple(sorted(offsets)))
            window_body = replace(body, function=function, outs=(), ins=(), scalars=(), scalar_dtypes=())
            first = self._count()
            self.calls.append(ElementCall(window_body, (whole,), tuple(range(first, first + len(offsets)))))
            self.values[plane, _VIEWED] = first
        first_value = self.values[plane, _VIEWED]
        assert isinstance(first_value, int)
        return first_value + sorted(offsets).index(offset)

    def _value(self, plane: Plane, offset: Offset) -> int:
        value = self.values[plane, offset]
        assert isinstance(value, int), "the graph computes its results"
        return value

    def _count(self) -> int:
        return sum(len(call.results) for call in self.calls)

    def _current(self, memory: int) -> Plane:
        return memory, self.versions.get(memory, 0)

    def _region(self, p: AffineAccess, columns: int) -> GraphTensor:
        """Returns an operand as a tensor of the graph."""
        start = p.start // p.dtype.itemsize
        if p.strides == _kind(ONE_ELEMENT):
            return GraphTensor(p.memory, p.dtype, (), (), start)
        return GraphTensor(p.memory, p.dtype, (self.rows, columns), (columns, 1), start)


# In place of an offset: the first value of a plane's window.
_VIEWED = (-1, -1)


def graph_dtype(graph: Graph, memory: int, default: dtype | None = None) -> dtype:
    """Returns the dtype of a memory's elements, which is that of the first node that uses it."""
    for node in graph.nodes:
        for r in node.operands:
            if r.memory == memory:
                return r.dtype
    assert default is not None
    return default


def _kind(kind: str) -> Ints:
    return tuple(map(ord, kind))


def _layout(p: AffineAccess) -> str:
    return "".join(map(chr, p.strides))
