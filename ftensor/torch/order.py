"""The order of a captured graph's nodes: what computes on ftensor's tensors comes in long runs."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch.fx import Node

from . import memory as m
from .calls import VIEWS, direct
from .schema import qualified

Item: TypeAlias = Node | Sequence[Node]  # a node, or a run of them
# More are several runs: what a trace costs grows with the square of its nodes.
MOST_NODES = 512


def tensors_in(val: Any) -> bool:
    """Whether a value is a tensor, or holds some."""
    return isinstance(val, torch.Tensor) or (isinstance(val, (tuple, list)) and any(tensors_in(v) for v in val))


def is_here(node: Node) -> bool:
    """Whether a node is a call on ftensor's tensors: all that it takes and gives lies on the
    device, but for numbers of the host that it takes."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return isinstance(node.args[0], Node) and is_here(node.args[0])
    value = node.meta.get("val")
    if not isinstance(node.target, torch._ops.OpOverload) or not tensors_in(value):
        return False
    results = _leaves(value)
    taken = [v for n in node.all_input_nodes for v in _leaves(n.meta.get("val"))]
    if not all(m.is_here(v) for v in (*results, *[v for v in taken if v.dim()])):
        return False
    if not all(v.dtype in m.TO_FT for v in (*results, *taken)):
        return False
    return direct(node, node.target) is not None


def dispatched_here(node: Node) -> bool:
    """Whether torch would ask the device's kernel for a call: if a tensor that it takes lies there,
    or, where it takes none, if its result does."""
    taken = [v for n in node.all_input_nodes for v in _leaves(n.meta.get("val"))]
    return any(m.is_here(v) for v in taken or _leaves(node.meta.get("val")))


def _leaves(val: Any) -> list[torch.Tensor]:
    if isinstance(val, torch.Tensor):
        return [val]
    return [t for v in val for t in _leaves(v)] if isinstance(val, (tuple, list)) else []


def worth_a_run(nodes: Sequence[Node]) -> bool:
    """Whether several of the nodes compute."""
    return sum(map(_computes, nodes)) > 1


def _computes(node: Node) -> bool:
    op = node.target
    return isinstance(op, torch._ops.OpOverload) and qualified(op._schema) not in VIEWS


def ordered(nodes: Sequence[Node]) -> list[Item]:
    """Nodes behind what they need: runs as long as they get, and all others.

    The host's nodes have the number of the run before which they come, those of a run its number.
    Whoever writes stays behind all before it and before all behind it, random numbers keep their
    order.
    """
    level: dict[Node, int] = {}
    here = {n: is_here(n) for n in nodes}

    def behind(node: Node, others: Sequence[Node]) -> int:
        return max((level[n] + (here[n] and not here[node]) for n in others), default=0)

    wrote: list[Node] = []  # the last one that did
    drew: list[Node] = []
    for k, node in enumerate(nodes):
        needs = [n for n in node.all_input_nodes if n in level] + wrote
        if _writes(node):
            needs, wrote = list(nodes[:k]), [node]
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            needs, drew = needs + drew, [node]
        level[node] = behind(node, needs)
    items: list[Item] = []
    for number in range(max(level.values(), default=0) + 1):
        items += [n for n in nodes if level[n] == number and not here[n]]
        run = [n for n in nodes if level[n] == number and here[n]]
        for k in range(0, len(run), MOST_NODES):
            part = run[k : k + MOST_NODES]
            items += [part] if worth_a_run(part) else part
    return items


def _writes(node: Node) -> bool:
    """Whether a node may do more than give its result."""
    op = node.target
    if isinstance(op, torch._ops.OpOverload):
        return bool(op._schema.is_mutable) or not op._schema.returns
    plain = getattr(op, "__module__", "") in ("_operator", "math", "torch", "torch.fx")
    return node.op == "call_function" and not plain
