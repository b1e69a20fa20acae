"""Graphs on boards: one kernel of stages, or where ops need all their data first, several with the
single kernels of these ops between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from ..boards import BOARDS
from ..errors import graph as errors
from ..kernels.staged import StagedKey, Stages
from ..runtime import program
from .node import Graph, Node, ResultTensor
from .staged import Staging, point_in_stages

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# Bytes of a block RAM, whose words have 32 bits and some for parity.
_BLOCK = 4096


class Segment(NamedTuple):
    """Nodes that follow each other, as one of stages; or one that stands alone: it is none, for a
    reason, or no other goes with it, and then its own kernel moves as much."""

    nodes: tuple[Node, ...]
    node: Node | None
    rows: int
    refused: errors.GraphError | None

    @property
    def key(self) -> StagedKey:
        """That of a piece of stages."""
        assert self.node is not None
        return cast("StagedKey", self.node.launch.steps[0].key)

    @property
    def apart(self) -> list[Node]:
        """The nodes as they were, with what keeps them apart."""
        why = self.refused.why if self.refused is not None else ""
        return [replace(node, apart=why) for node in self.nodes]


class Streams(NamedTuple):
    """The kernels of stages that a graph becomes, and its other ops: each with why it is none."""

    keys: tuple[StagedKey, ...]
    apart: tuple[str, ...]


class Exported(NamedTuple):
    """The files of a graph that was exported, and the entry by which images have it: `source` is
    its HLS C++, `opencl` its OpenCL C for Intel's boards, None where a stage has none.

    Of a graph that is cut these are the first kernel's, `kernels` has all of them, and `apart` says
    of the ops between why they are kernels of their own."""

    graph: Path
    inventory: Path
    source: Path
    opencl: Path | None
    entry: str
    kernels: tuple[Exported, ...] = ()
    apart: tuple[str, ...] = ()


def in_stages(graph: Graph, backend: Backend) -> Graph:
    """The graph in kernels of stages, where the device's images hold these, or build them when they
    are asked for; else as it is.

    What stands for an image of any kernels compiles them when they are needed, which makes one
    function of stages in HLS C++ alone.
    """
    if not graph.nodes or backend.dialect not in ("vitis", "intel"):
        return graph
    if backend.images is None and (program.offered is None or backend.dialect == "intel"):
        return graph
    nodes: list[Node] = []
    for piece in pieces(graph):
        held = piece.node is not None and _held(backend, piece.key)
        nodes += [piece.node] if held and piece.node is not None else piece.apart
    return replace(graph, nodes=tuple(nodes))


def _held(backend: Backend, key: StagedKey) -> bool:
    asked = backend.images is not None and backend.images.has(key.entry)
    return asked or program.held(backend, key)


def exported(graph: Graph) -> Streams:
    """The kernels of stages of a graph, for images.

    GraphError for a graph of which no two ops are stages of one, which names the first op that is
    none; for too few rows to tell a row's values from a row, and for FIFOs that no board holds.
    """
    parts = pieces(graph)
    keys, apart = [], []
    problem = _tried(graph).refused
    for piece in parts:
        if piece.node is None:
            apart += [_said(node) for node in piece.apart]
        elif piece.rows < 2 or piece.rows == piece.key.length:
            few = errors.few_rows(graph.name, piece.rows, piece.key.length)
            problem = problem or few
            apart.append(str(few))
        else:
            keys.append(piece.key)
    if not keys:
        assert problem is not None
        raise problem
    for key in keys:
        needed, most = Stages(key).fifo_bytes, int(max(b.chip.bram for b in BOARDS) * _BLOCK)
        if needed > most:
            raise errors.too_deep(graph.name, needed, key.length, most)
    return Streams(tuple(dict.fromkeys(keys)), tuple(dict.fromkeys(apart)))


def _said(node: Node) -> str:
    """An op that is a kernel of its own, and why."""
    return f"{node.origin.op} ({node.origin.line}): {node.apart or 'no other op goes with it'}"


def pieces(graph: Graph) -> list[Segment]:
    """A graph cut where an op is no stage, in an order that keeps what depends on each other."""
    if not graph.nodes:
        raise errors.no_stages(graph.name)
    whole = _tried(graph)
    if whole.node is not None:
        return [whole]
    nodes, alone = _by_level(graph)
    order = _Order(graph, nodes)
    parts: list[Segment] = []
    begin = 0
    while begin < len(nodes):
        end = begin + 1
        while not alone[begin] and end < len(nodes) and not alone[end]:
            end += 1
        parts.append(order.piece(begin, end))
        begin += len(parts[-1].nodes)
    return parts


def _by_level(graph: Graph) -> tuple[list[Node], list[bool]]:
    """The nodes in the order of how many ops that are no stages come before them, and of each
    whether it is such an op."""
    level: list[int] = []
    alone = [_is_none(graph, node) for node in graph.nodes]
    for k, node in enumerate(graph.nodes):
        before = [j for j in range(k) if graph.nodes[j].meets(node)]
        level.append(max([level[j] + (alone[j] and not alone[k]) for j in before], default=0))
    order = sorted(range(len(level)), key=lambda k: (level[k], alone[k], k))
    return [graph.nodes[k] for k in order], [alone[k] for k in order]


def _is_none(graph: Graph, node: Node) -> bool:
    try:
        point_in_stages(graph, node)
    except errors.GraphError:
        return True
    return False


class _Order:
    """The nodes of a graph in the order in which they run."""

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self.graph, self.nodes = graph, nodes
        self.written = {m: k for k in range(len(nodes))[::-1] for m in nodes[k].written}  # first
        self.used = {m: k for k, node in enumerate(nodes) for m in node.touched}  # last
        self.used |= {f.region.memory: len(nodes) for f in graph.result_tensors}

    def piece(self, begin: int, end: int) -> Segment:
        """As many of these nodes as are stages of one kernel, or the first, which is none."""
        while True:
            piece = _tried(self._part(begin, end))
            if end - begin == 1:
                return piece._replace(node=None)
            if piece.refused is None:
                return piece
            mine, node = self.nodes[begin:end], piece.refused.node
            at = next((k for k, n in enumerate(mine) if n is node), len(mine) - 1)
            end = begin + max(at, 1)

    def _part(self, begin: int, end: int) -> Graph:
        """The graph of some nodes: what was written before is given to them, and what others need
        of what they write is their result."""
        memories = list(self.graph.memories)
        mine = self.nodes[begin:end]
        for m in {m for node in mine for m in node.touched}:
            if self.written.get(m, end) < begin:
                memories[m] = memories[m]._replace(argument=0)
        result = {r.memory: r for node in mine for r in node.writes if self.used[r.memory] >= end}
        results = [ResultTensor(r) for r in result.values()]
        return Graph(self.graph.name, tuple(mine), tuple(memories), results)


def _tried(part: Graph) -> Segment:
    """A graph as one node of stages, or why it is none."""
    nodes = part.nodes
    try:
        staging = Staging(part)
        node = staging.node()
    except errors.GraphError as error:
        return Segment(nodes, None, 0, error)
    return Segment(nodes, node, staging.rows, None)
