"""Elimination of dead nodes, and of nodes that repeat an earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import replace

from .ir import DrawnNumber, Graph, Node


def eliminate_dead_nodes(graph: Graph) -> Graph:
    """Returns the graph without repeated nodes, and without nodes whose results are neither
    returned nor used."""
    graph = eliminate_common_nodes(graph)
    live = live_nodes(graph)
    return replace(graph, nodes=tuple(node for k, node in enumerate(graph.nodes) if k in live), layers=(), filters=())


def live_nodes(graph: Graph) -> set[int]:
    """Returns the numbers of the nodes whose results are returned or used, or are others'
    memory."""
    needed = {k for k, m in enumerate(graph.memories) if not m.is_internal}
    needed |= {f.region.memory for f in graph.result_tensors}
    live: set[int] = set()
    for k in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[k]
        # A node that writes a part of a memory keeps the rest, and may read it.
        if node.written & needed:
            needed |= node.touched
            live.add(k)
    return live


def eliminate_common_nodes(graph: Graph) -> Graph:
    """Returns the graph without nodes that repeat an earlier node while their inputs are unchanged.
    Consumers of a removed node read the earlier node's results. Returned memories, and memories
    written more than once, keep their own nodes."""
    write_counts = Counter(m for node in graph.nodes for m in node.written)
    returned = {f.region.memory for f in graph.result_tensors}
    version: Counter[int] = Counter()
    replacement: dict[int, int] = {}
    seen: dict[Hashable, Node] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        node = _renamed(node, replacement)
        if all(graph.memories[m].is_internal and write_counts[m] == 1 for m in node.written):
            first = seen.setdefault(_value_number(node, graph, version), node)
            if first is not node and not node.written & returned:
                written = zip(node.writes, first.writes, strict=True)
                replacement |= {r.memory: s.memory for r, s in written}
                continue
        version.update(node.written)
        kept.append(node)
    return replace(graph, nodes=tuple(kept))


def _renamed(node: Node, replacement: Mapping[int, int]) -> Node:
    """Returns the node with other numbers of memories."""
    if node.inner:
        node = replace(node, inner=tuple([_renamed(n, replacement) for n in node.inner]))
    if replacement.keys() & node.touched:
        operands = [r._replace(memory=replacement.get(r.memory, r.memory)) for r in node.operands]
        node = replace(node, operands=tuple(operands))
    return node


def _value_number(node: Node, graph: Graph, version: Counter[int]) -> Hashable:
    """Returns a key of a node's computation. Nodes with equal keys write the same bits, to memories
    of equal sizes."""
    launch = node.launch
    if any(isinstance(x, DrawnNumber) for x in node.numbers):
        return node
    written = sorted(node.written)
    operands = [
        (r._replace(memory=-1 - written.index(r.memory)), graph.memories[r.memory].nbytes)
        if r.memory in node.written
        else (r, version[r.memory])
        for r in node.operands
    ]
    # The text of numbers: it differs for -0.0 and 0.0, and is equal for NaNs.
    numbers = tuple([(type(x), repr(x)) for x in (*node.numbers, *(launch.own_numbers or ()))])
    return launch.steps, launch.numbers, launch.temporaries, numbers, tuple(operands)
