"""Nodes that nobody needs leave a graph, and those that compute again what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

from .node import DrawnNumber, Graph, Node


def pruned(graph: Graph) -> Graph:
    """The graph without nodes whose results are neither returned nor used, or are there already."""
    graph = _without_equals(graph)
    needed = {k for k, m in enumerate(graph.memories) if not m.own}
    needed |= {f.region.memory for f in graph.result_tensors}
    kept: list[Node] = []
    for node in graph.nodes[::-1]:
        # Whoever writes a part of a memory leaves the rest as it was, and may read it.
        if node.written & needed:
            needed |= node.touched
            kept.append(node)
    return replace(graph, nodes=tuple(kept[::-1]))


def _without_equals(graph: Graph) -> Graph:
    """The graph without nodes that do what an earlier one has done, on memory that nobody has
    written between; their readers read that one's results. What is returned keeps its own memory,
    as does what is written more than once."""
    times = Counter(m for node in graph.nodes for m in node.written)
    returned = {f.region.memory for f in graph.result_tensors}
    version: Counter[int] = Counter()
    same: dict[int, int] = {}
    seen: dict[Hashable, Node] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        if same.keys() & node.touched:
            moved = [r._replace(memory=same.get(r.memory, r.memory)) for r in node.operands]
            node = replace(node, operands=tuple(moved))
        if all(graph.memories[m].own and times[m] == 1 for m in node.written):
            first = seen.setdefault(_done(node, graph, version), node)
            if first is not node and not node.written & returned:
                written = zip(node.writes, first.writes, strict=True)
                same |= {r.memory: s.memory for r, s in written}
                continue
        version.update(node.written)
        kept.append(node)
    return replace(graph, nodes=tuple(kept))


def _done(node: Node, graph: Graph, version: Counter[int]) -> Hashable:
    """What a node does: two that are equal here leave the same bits, in memories of one size."""
    launch = node.launch
    if any(isinstance(x, DrawnNumber) for x in node.numbers):
        return node
    own = sorted(node.written)
    operands = [
        (r._replace(memory=-1 - own.index(r.memory)), graph.memories[r.memory].nbytes)
        if r.memory in node.written
        else (r, version[r.memory])
        for r in node.operands
    ]
    # By their text, which tells -0.0 from 0.0 and finds NaN equal.
    numbers = tuple([(type(x), repr(x)) for x in (*node.numbers, *(launch.own_numbers or ()))])
    return launch.steps, launch.numbers, launch.temporaries, numbers, tuple(operands)
