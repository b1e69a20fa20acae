"""Writes to arguments as stages: a graph computes on a copy of the argument, and its last launch
copies the result back.

A kernel of stages streams its operands, so none may be written while others are read. The trace
records both copies, with the guards that they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .._tensor import Tensor
from ..execute.output import new
from ..execute.pointwise import pointwise
from ..rows.copies import COPY

if TYPE_CHECKING:
    from .ir import Graph, GraphTensor, Node
    from .trace import Tracer


class ArgumentCopy(NamedTuple):
    """The copies of an argument's elements to a memory of the graph and back."""

    load: Node
    store: Node

    @property
    def argument(self) -> GraphTensor:
        """Returns the argument, whose elements are contiguous."""
        return self.store.operands[0]

    def moved(self, r: GraphTensor) -> GraphTensor:
        """Returns a part of the argument as the part of the copy; other tensors unchanged."""
        if r.memory != self.argument.memory:
            return r
        return r._replace(memory=self.load.operands[0].memory, offset=r.offset - self.argument.offset)


def record_copies(tracer: Tracer, tensors: Sequence[Tensor]) -> tuple[ArgumentCopy, ...]:
    """Returns the copies of the arguments that the traced nodes write, outside the tracer's nodes.

    Leaves out arguments that are not contiguous, and memory that nodes also access by another dtype
    or beyond the argument.
    """
    copies: dict[int, ArgumentCopy] = {}
    nodes = list(tracer.nodes)
    last = {r.memory: node for node in nodes for r in node.writes}
    for t in tensors:
        region = tracer.region(t)
        memory = region.memory
        if memory not in last or memory in copies or not t.numel() or not t.is_contiguous():
            continue
        (first, end), dtype = region.span, region.dtype
        used = [r for node in nodes for r in node.operands if r.memory == memory]
        if not all(r.dtype is dtype and first <= r.span[0] and r.span[1] <= end for r in used):
            continue
        copy = new(t._shape, t._dtype, t.device)
        pointwise(COPY, (t,), (), copy, True)
        pointwise(COPY, (copy,), (), t, True)
        origin = last[memory].origin._replace(op="copy")
        recorded = [replace(node, origin=origin) for node in tracer.nodes[len(nodes) :]]
        tracer.nodes[len(nodes) :] = []
        if len(recorded) != 2:
            continue  # `register_kernel` has put a user's kernel in place of the copy, which launches otherwise
        load, store = recorded
        copies[memory] = ArgumentCopy(load, replace(store, stage_refusal="it copies the result back to the argument"))
    return tuple(copies.values())


def on_copies(graph: Graph) -> Graph | None:
    """Returns the graph with its writes to arguments on copies of these; None if it writes none, or
    if a node or a check is bound to the argument's memory."""
    copies = graph.argument_copies
    memories = {c.argument.memory for c in copies}
    bound = any((node.inner or node.reflected) and node.touched & memories for node in graph.nodes)
    bound |= any(r.memory in memories for check in graph.checks for r, *_ in check.indices)
    if not copies or bound:
        return None
    nodes = list(graph.nodes)
    for c in copies:
        nodes = [replace(node, operands=tuple([c.moved(r) for r in node.operands])) for node in nodes]
    nodes = [*(c.load for c in copies), *nodes, *(c.store for c in copies)]
    return replace(graph, nodes=tuple(nodes), argument_copies=())
