"""Kernels of linked graphs and networks, and the streams between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...errors import build as errors
from ...image.manifest import LINKED
from ...kernels.linked_keys import MAX_DEPTH, LinkedGraph, StageKey
from ...kernels.network import NetworkKey
from ...kernels.network_parts import parts_of_network, streams_of
from ...kernels.skeletons.feedback import FeedbackKey
from ...kernels.staged import StagedKey
from ..group import MAX_NAME_LENGTH, KernelGroup, StreamConnection, free_name

GraphKey = StagedKey | NetworkKey | FeedbackKey


@dataclass(frozen=True)
class GraphFile:
    """A [[graph]] table: the name of its kernel, the graph, and its memories.

    `structure` is "dataflow" for one kernel, or "linked" for a kernel per dataflow stage, or for the
    parts of a network, of which all but the first begin at the layers `cuts`. `units` are the compute
    units, which share a graph's rows."""

    name: str
    key: GraphKey
    banks: str
    structure: str = "dataflow"
    where: str = ""
    units: int = 1
    cuts: tuple[int, ...] = ()


_LONGEST_PART = len("_begin")
_TOLD_BITS = 64


def linked(graphs: Iterable[GraphFile], taken: Sequence[str]) -> tuple[KernelGroup, ...]:
    """Returns the kernels of linked graphs: each graph's own kernels, then free-running kernels.

    Equal stages of several graphs are compute units of one free-running kernel. Within a graph each
    stage has its own kernel, since no kernel may feed itself. Raises InventoryError for a FIFO that
    is too deep.
    """
    graph_groups: list[KernelGroup] = []
    free_running: dict[tuple[StageKey, int], int] = {}
    for graph in graphs:
        name = free_name(graph.name[: MAX_NAME_LENGTH - _LONGEST_PART], [*taken, *_names(graph_groups)])
        if isinstance(graph.key, NetworkKey):
            graph_groups += _parts(graph, graph.key, name)
            continue
        assert isinstance(graph.key, StagedKey), graph
        network, seen, units = LinkedGraph(graph.key), Counter[StageKey](), list[str]()
        for part in network.kernels:
            if part.launched_graph is not None:
                units.append(f"{name}_{_word(part)}_1")
                continue
            stage_name = part, seen[part]
            seen[part] += 1
            free_running[stage_name] = free_running.get(stage_name, 0) + 1
            units.append(f"{_name(*stage_name)}_{free_running[stage_name]}")
        joins = []
        for join in network.edges:
            if join.depth > MAX_DEPTH:
                raise errors.too_deep(graph.where, name, join.depth, MAX_DEPTH)
            (a, source), (b, target) = join.source, join.target
            bits = network.stages.bits(join.value) if join.value >= 0 else _TOLD_BITS
            joins.append(StreamConnection(f"{units[a]}.{source}", f"{units[b]}.{target}", join.depth, bits))
        for k, part in enumerate(network.kernels):
            if part.launched_graph is not None:
                joined = () if k else tuple(joins)
                kernel = f"{name}_{_word(part)}"
                graph_groups.append(KernelGroup(kernel, (part,), LINKED, banks=graph.banks, joins=joined))
    rest = [
        KernelGroup(_name(*stage_name), (stage_name[0],), LINKED, units) for stage_name, units in free_running.items()
    ]
    return (*graph_groups, *rest)


def _parts(graph: GraphFile, key: NetworkKey, name: str) -> Iterator[KernelGroup]:
    """Yields the kernels of the parts of a network."""
    parts = parts_of_network(key, graph.cuts)
    units = [f"{name}_{k + 1}_1" for k in range(len(parts))]
    joins = []
    for stream in streams_of(parts):
        if stream.depth > MAX_DEPTH:
            raise errors.too_deep(graph.where, name, stream.depth, MAX_DEPTH)
        (a, source), (b, target) = stream.source, stream.target
        joins.append(StreamConnection(f"{units[a]}.{source}", f"{units[b]}.{target}", stream.depth, stream.bits))
    for k, part in enumerate(parts):
        joined = () if k else tuple(joins)
        banks = graph.banks if part.whole else ""
        yield KernelGroup(f"{name}_{k + 1}", (part,), LINKED, banks=banks, joins=joined, die=k)


def _names(groups: Iterable[KernelGroup]) -> list[str]:
    """Returns the names that graphs use. A new graph's name is free if the names of its kernels
    are, too."""
    return [name for g in groups for name in (g.name, g.name.rpartition("_")[0])]


def _word(part: StageKey) -> str:
    """Returns the short name of a stage's kernel within its graph, such as "begin", "in0" or
    "out0"."""
    return part.port.replace("_", "") or part.kind


def _name(part: StageKey, number: int) -> str:
    return f"ft_{part.name}" + (f"x{number + 1}" if number else "")
