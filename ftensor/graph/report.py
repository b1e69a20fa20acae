"""A graph's kernels in words: what each computes, reads and writes, and what stays apart."""

from __future__ import annotations

from math import prod

from ..kernels.skeleton import skeleton_of
from ..table import counted, size, table
from .node import Graph, Node, Region
from .point import point_of


def report(graph: Graph) -> str:
    """A line for each kernel, in their order, below one that counts them."""
    ops = sum(len(node.parts) or 1 for node in graph.nodes)
    steps = sum(len(node.launch.steps) for node in graph.nodes)
    moved = sum(moved_bytes(r) for node in graph.nodes for r in node.operands)
    head = f"{graph.name}: {counted(ops, 'launch')} as {counted(steps, 'kernel')}, {size(moved)}"
    rows = [("kernel", "computes", "reads", "writes", "")]
    for node in graph.nodes:
        for step in node.launch.steps:
            parts = " ".join(part.op for part in node.parts or (node.origin,))
            read, written = (sum(map(moved_bytes, side)) for side in (node.reads, node.writes))
            kernel = skeleton_of(step.key).name
            rows.append((kernel, parts, size(read), size(written), _apart(node)))
    return f"{head}\n{table(rows)}" if graph.nodes else head


def moved_bytes(r: Region) -> int:
    """What a kernel moves of a tensor: each element once."""
    return prod(n for n, s in zip(r.shape, r.strides, strict=True) if s) * r.dtype.itemsize


def _apart(node: Node) -> str:
    """Why a node is a kernel of its own."""
    if node.parts or node.apart:
        return node.apart
    point = point_of(node)
    if point is None:
        return "neither elementwise nor a fold"
    if point.stages > 1:
        return "its rows are cut, and others read what it folds"
    return "no neighbour has its loops"
