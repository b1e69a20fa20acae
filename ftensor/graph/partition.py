"""Partitioning for boards: a graph is cut into kernels of dataflow stages, and exported for
images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from ..boards import BOARDS
from ..dtypes import int8, uint8
from ..errors import graph as errors
from ..kernels.network import NetworkKey
from ..kernels.select import compute_units
from ..kernels.skeletons.feedback import FeedbackKey
from ..kernels.staged import StagedKey, Stages, lanes_of
from ..runtime import launch_cache
from .dataflow import DataflowBuilder
from .filters import with_filters, without_filters
from .ir import Graph, Node, ResultTensor, eliminate_dead_nodes
from .network import NetworkBuilder
from .stage_body import stage_body
from .stencils import StencilBuilder
from .written_arguments import on_copies

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# Bytes of a block RAM; its words have 32 bits, without parity.
_BLOCK = 4096


class Segment(NamedTuple):
    """Consecutive nodes that become one node of dataflow stages. `node` is None if the nodes keep
    separate kernels: they cannot be stages (`refusal`), or there is a single op, whose kernel of
    stages would move the same bytes."""

    nodes: tuple[Node, ...]
    node: Node | None
    rows: int
    refusal: errors.GraphError | None

    @property
    def key(self) -> StagedKey:
        """Returns the kernel key of the segment's stages."""
        assert self.node is not None
        return cast("StagedKey", self.node.launch.steps[0].key)

    def on_board(self, key: StagedKey, backend: Backend) -> Node:
        """Returns the node with `key`, which may have fewer lanes, on a number of the device's
        compute units that suits the number of rows."""
        assert self.node is not None
        launch = self.node.launch
        (step,) = launch.steps
        most = min(backend.units, max(self.rows // key.together, 1))
        units = compute_units(self.rows * key.length, most, backend.target, key.lanes)
        return replace(self.node, launch=replace(launch, steps=(replace(step, key=key, units=units),)))

    @property
    def separate_nodes(self) -> list[Node]:
        """Returns the original nodes, each with the reason why it is a separate kernel."""
        why = self.refusal.why if self.refusal is not None else ""
        return [replace(node, stage_refusal=why) for node in without_filters(self.nodes)]


class DataflowKernels(NamedTuple):
    """The kernels of stages of a graph, for each op outside them a line with the reason, and its
    loops with feedback that are kernels of their own."""

    keys: tuple[StagedKey, ...]
    apart: tuple[str, ...]
    loops: tuple[FeedbackKey, ...] = ()

    @property
    def kernels(self) -> tuple[StagedKey | FeedbackKey, ...]:
        """Returns all kernels, those of loops last."""
        return (*self.keys, *self.loops)


class TracedNetwork(NamedTuple):
    """A traced network with the smallest folds, and for each layer the line of the user's program."""

    key: NetworkKey
    lines: tuple[str, ...]


# The board that a network is exported for by default.
DEFAULT_BOARD = "u55c"


class ExportOptions(NamedTuple):
    """The keywords of `export`: the name of the board; for a network also the maximum of cycles per
    image, the folds of layers by name, whether its weights are constants in the text or loaded by
    launches, and whether it is one kernel or a kernel on each die of the chip."""

    target: str | None = None
    cycles: int | None = None
    fold: Mapping[str, tuple[int, int]] | None = None
    weights: str | None = None
    structure: str | None = None


NO_OPTIONS = ExportOptions()


class Exported(NamedTuple):
    """The files of an exported graph, and the kernel's entry in images. `source` is HLS C++.
    `opencl` is OpenCL C for Intel's boards, None if a stage has no OpenCL form.

    If the graph was cut, these files are the first kernel's, `kernels` has all kernels, those of
    loops with feedback last, and `apart` has a line for each op between them. `constants` is the
    file of a network's weights. `report` is a table of its layers, or of the kernels of a graph
    that is exported for a board."""

    graph: Path
    inventory: Path
    source: Path
    opencl: Path | None
    entry: str
    kernels: tuple[Exported, ...] = ()
    apart: tuple[str, ...] = ()
    constants: Path | None = None
    report: str = ""


def as_dataflow(graph: Graph, backend: Backend) -> Graph:
    """Returns the graph with dataflow kernels where the device's images have these kernels or build
    them on request; otherwise unchanged.

    An emulated image compiles any kernel on demand, but dataflow kernels only in HLS C++.
    """
    if not graph.nodes or backend.dialect not in ("vitis", "intel"):
        return replace(graph, nodes=without_filters(graph.nodes))
    if backend.images is None and (launch_cache.stand_in_build is None or backend.dialect == "intel"):
        return replace(graph, nodes=without_filters(graph.nodes))
    for segments in _ways(graph):
        keys = [None if segment.node is None else _in_images(backend, segment.key) for segment in segments]
        if all(key is not None or _are_available(backend, segment) for segment, key in zip(segments, keys)):
            break
    nodes: list[Node] = []
    for segment, key in zip(segments, keys, strict=True):
        nodes += segment.separate_nodes if key is None else [segment.on_board(key, backend)]
    return replace(graph, nodes=tuple(nodes))


def _are_available(backend: Backend, segment: Segment) -> bool:
    steps = [step for node in segment.nodes for step in node.launch.steps]
    return segment.node is None and all(launch_cache.is_available(backend, step.key) for step in steps)


def _in_images(backend: Backend, key: StagedKey) -> StagedKey | None:
    """Returns the key with the most lanes that an image has; the key itself if images are built on
    request; else None."""
    for lanes in lanes_of(key):
        fewer = replace(key, lanes=lanes)
        if launch_cache.in_image(backend, fewer):
            return fewer
    return key if backend.images is not None and backend.images.has(key.entry) else None


def exported(graph: Graph, options: ExportOptions = NO_OPTIONS) -> DataflowKernels | TracedNetwork:
    """Returns a traced graph's kernels for images: a network if it consists of layers, else stages.

    Raises GraphError if it is neither: as `NetworkBuilder` does if there are layers, else as
    `dataflow_kernels` does. Also raises it if the graph is no network, and `options` are those of
    networks; every option is for a graph of quantized layers.
    """
    if not graph.layers:
        return dataflow_kernels(eliminate_dead_nodes(with_filters(graph)))
    try:
        network = NetworkBuilder(graph)
    except errors.GraphError as refused:
        quantized = any(r.dtype in (uint8, int8) for call in graph.layers for r in call.inputs)
        if options._replace(target=options.target if quantized else None) != NO_OPTIONS:
            raise
        try:
            return dataflow_kernels(eliminate_dead_nodes(with_filters(graph)))
        except errors.GraphError:
            raise refused from None
    return TracedNetwork(network.key, tuple([call.origin.line for call in network.calls]))


def dataflow_kernels(graph: Graph) -> DataflowKernels:
    """Returns a graph's kernels of stages and its loops with feedback that are no stages.

    Raises GraphError if no two ops are stages of one kernel (it names the first op that is no
    stage) and there is no such loop, if there are too few rows to distinguish a value per row from a
    row, and if the FIFOs exceed every board's memory.
    """
    segments, *others = _ways(graph)
    keys, apart, loops = [], [], []
    problem = None if others else _try_dataflow(graph).refusal
    for segment in segments:
        if segment.node is None:
            why = segment.refusal.why if segment.refusal is not None else ""
            loops += _loops_of(segment)
            apart += [_refusal_text(node, why) for node in segment.nodes if why or _loop_of(node) is None]
        elif segment.rows < 2 or segment.rows == segment.key.length:
            error = errors.few_rows(graph.name, segment.rows, segment.key.length)
            problem = problem or error
            loops += _loops_of(segment)
            apart.append(str(error))
        else:
            keys.append(segment.key)
    if not keys and not loops:
        assert problem is not None
        raise problem
    for key in keys:
        needed, available = Stages(key).fifo_bytes, int(max(b.chip.bram for b in BOARDS) * _BLOCK)
        if needed > available:
            raise errors.too_deep(graph.name, needed, key.length, available)
    return DataflowKernels(tuple(dict.fromkeys(keys)), tuple(dict.fromkeys(apart)), tuple(dict.fromkeys(loops)))


def _loops_of(segment: Segment) -> list[FeedbackKey]:
    """Returns the kernels of a segment's loops with feedback, each alone."""
    return [loop for node in segment.nodes if (loop := _loop_of(node)) is not None]


def _loop_of(node: Node) -> FeedbackKey | None:
    """Returns the kernel of a loop with feedback; None for other nodes."""
    return next((step.key for step in node.launch.steps if isinstance(step.key, FeedbackKey)), None)


def _refusal_text(node: Node, why: str) -> str:
    return f"{node.origin.op} ({node.origin.line}): {why or 'no other op goes with it'}"


def _ways(graph: Graph) -> list[list[Segment]]:
    """Returns the segments of a graph. If they are fewer kernels with writes to arguments on copies,
    returns these segments before."""
    segments, copied = dataflow_segments(graph), on_copies(graph)
    ways = [segments] if copied is None else [dataflow_segments(copied), segments]
    return ways if _kernels(ways[0]) < _kernels(segments) else [segments]


def _kernels(segments: Sequence[Segment]) -> int:
    return sum(1 if segment.node is not None else len(segment.nodes) for segment in segments)


def dataflow_segments(graph: Graph) -> list[Segment]:
    """Cuts a graph at ops that cannot be stages. The order of the segments keeps dependencies."""
    if not graph.nodes:
        raise errors.no_stages(graph.name)
    single = _try_dataflow(graph)
    if single.node is not None:
        return [single]
    nodes, has_no_stage = _by_level(graph)
    order = _Order(graph, nodes)
    segments: list[Segment] = []
    begin = 0
    while begin < len(nodes):
        end = begin + 1
        while not has_no_stage[begin] and end < len(nodes) and not has_no_stage[end]:
            end += 1
        segments.append(order.longest_segment(begin, end))
        begin += len(segments[-1].nodes)
    return segments


def _by_level(graph: Graph) -> tuple[list[Node], list[bool]]:
    """Returns the nodes, sorted by the number of non-stage ops on the path to them, and for each
    node True if it is no stage."""
    level: list[int] = []
    has_no_stage = [_has_no_stage(graph, node) for node in graph.nodes]
    for k, node in enumerate(graph.nodes):
        producers = [j for j in range(k) if graph.nodes[j].conflicts_with(node)]
        level.append(max([level[j] + (has_no_stage[j] and not has_no_stage[k]) for j in producers], default=0))
    order = sorted(range(len(level)), key=lambda k: (level[k], has_no_stage[k], k))
    return [graph.nodes[k] for k in order], [has_no_stage[k] for k in order]


def _has_no_stage(graph: Graph, node: Node) -> bool:
    try:
        stage_body(graph, node)
    except errors.GraphError:
        return True
    return False


class _Order:
    """The nodes of a graph in execution order, with the node that first writes and the node that
    last uses each memory."""

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self.graph, self.nodes = graph, nodes
        self.first_write = {m: k for k in range(len(nodes))[::-1] for m in nodes[k].written}  # first
        self.last_use = {m: k for k, node in enumerate(nodes) for m in node.touched}  # last
        self.last_use |= {f.region.memory: len(nodes) for f in graph.result_tensors}
        self.refused: dict[int, errors.GraphError] = {}  # the reason why a node is not behind those before it

    def longest_segment(self, begin: int, end: int) -> Segment:
        """Returns the longest segment from `begin` that is one kernel; if the first node is no
        stage, that node alone."""
        refusal: errors.GraphError | None = None
        while True:
            segment = _try_dataflow(self._subgraph(begin, end))
            if end - begin == 1:
                copied = self.nodes[begin].reflected and refusal is not None
                why = refusal if copied else segment.refusal or self.refused.get(id(self.nodes[begin]))
                return segment._replace(node=None, refusal=why)
            if segment.refusal is None:
                return segment
            refusal = segment.refusal
            self.refused[id(refusal.node)] = refusal
            candidates, node = self.nodes[begin:end], refusal.node
            index = next((k for k, n in enumerate(candidates) if n is node), len(candidates) - 1)
            end = begin + max(index, 1)

    def _subgraph(self, begin: int, end: int) -> Graph:
        """Returns the subgraph of some nodes. Memories written earlier become arguments; memories
        that later nodes use become results."""
        memories = list(self.graph.memories)
        members = self.nodes[begin:end]
        for m in {m for node in members for m in node.touched}:
            if self.first_write.get(m, end) < begin:
                memories[m] = memories[m]._replace(argument=0)
        result = {r.memory: r for node in members for r in node.writes if self.last_use[r.memory] >= end}
        results = [ResultTensor(r) for r in result.values()]
        return Graph(self.graph.name, tuple(members), tuple(memories), results)


def _try_dataflow(graph: Graph) -> Segment:
    """Returns a graph as one node of stages; or no node and the GraphError with the reason."""
    nodes = graph.nodes
    try:
        builder = DataflowBuilder(graph)
        node = builder.build_node()
    except errors.GraphError as error:
        return _try_stencil(graph, error)
    return Segment(nodes, node, builder.rows, None)


def _try_stencil(graph: Graph, refusal: errors.GraphError) -> Segment:
    """Returns a graph that is refused as stages without windows as one node of stages with windows.
    If that is refused as well, returns no node, and that reason if the graph reads windows."""
    builder = StencilBuilder(graph)
    try:
        node = builder.build_node()
    except errors.GraphError as error:
        return Segment(graph.nodes, None, 0, error if builder.has_windows else refusal)
    return Segment(graph.nodes, node, builder.rows, None)
