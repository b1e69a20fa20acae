"""Nodes that nobody needs leave a graph."""

from __future__ import annotations

from dataclasses import replace

from .node import Graph, Node


def pruned(graph: Graph) -> Graph:
    """The graph without nodes whose results are neither returned nor used."""
    needed = {k for k, m in enumerate(graph.memories) if not m.own}
    needed |= {f.region.memory for f in graph.found}
    kept: list[Node] = []
    for node in graph.nodes[::-1]:
        # Whoever writes a part of a memory leaves the rest as it was, and may read it.
        if node.written & needed:
            needed |= node.touched
            kept.append(node)
    return replace(graph, nodes=tuple(kept[::-1]))
