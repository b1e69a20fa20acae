"""Which nodes become one kernel: each joins those that it needs, or that need what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..iterator.plan import Plan
from ..kernels import select
from .cluster import MOST_OPERANDS, MOST_VALUES, Cluster, cluster_of
from .cut import in_stages
from .emit import emitted
from .node import Graph, Node
from .point import Place, Point, point_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend


class Group:
    """A cluster, or a node that is none, and the nodes in it."""

    def __init__(self, nodes: list[Node], cluster: Cluster | None) -> None:
        self.nodes, self.cluster = nodes, cluster

    def meets(self, other: Group) -> bool:
        """Whether the order of both matters."""
        return any(a.meets(b) for a in self.nodes for b in other.nodes)


def clustered(graph: Graph, backend: Backend, passes: bool | None = None) -> Graph:
    """The graph with what can be computed together in one kernel each. `passes`: whether several
    folds of the same rows are, by default where a unit is no single work-item."""
    if not backend.target.unaligned or backend.images is not None:
        return in_stages(graph, backend)  # a board's kernels are built ahead
    if passes is None:
        passes = backend.target.grid != "stride"
    groups: list[Group] = []
    for node in graph.nodes:
        _join(groups, node, passes)
    needed = {k for k, m in enumerate(graph.memories) if not m.own}
    needed |= {f.region.memory for f in graph.result_tensors}
    return replace(graph, nodes=tuple(_nodes_of_all(groups, needed, backend)))


def _nodes_of_all(groups: Sequence[Group], needed: set[int], backend: Backend) -> list[Node]:
    """The nodes of groups, which leave what lies in these memories and what others of them use."""
    nodes: list[Node] = []
    for k, group in enumerate(groups):
        others = [n for j, g in enumerate(groups) if j != k for n in g.nodes]
        nodes += _nodes_of(group, needed | {m for n in others for m in n.touched}, backend)
    return nodes


def _nodes_of(group: Group, touched: set[int], backend: Backend) -> list[Node]:
    """The nodes of a group: one kernel, as long as there is one for all of it."""
    cluster = group.cluster
    if cluster is None or len(group.nodes) == 1:
        return group.nodes
    stored = [p for p in cluster.outputs if p.memory in touched]
    if not stored:
        return []
    node = emitted(cluster, stored, backend)
    if node is not None:
        return [node]
    # With fewer operands, and if that was tried, without folds.
    apart = _joined(group.nodes, cluster.passes, cluster.most > MOST_OPERANDS)
    if len(apart) == 1:
        apart = _joined(group.nodes, cluster.passes, False)
    if len(apart) == 1:  # what a kernel is handed more than once counts each time, there alone
        half = len(group.nodes) // 2
        halves = group.nodes[:half], group.nodes[half:]
        apart = [one for nodes in halves for one in _joined(nodes, cluster.passes, False)]
    return _nodes_of_all(apart, touched, backend)


def _joined(nodes: Sequence[Node], passes: bool, folds: bool) -> list[Group]:
    groups: list[Group] = []
    for node in nodes:
        _join(groups, node, passes, folds, MOST_OPERANDS)
    return groups


def _join(groups: list[Group], node: Node, passes: bool, folds: bool = True, most: int = MOST_VALUES) -> None:
    """Put a node where it can be computed with others, else behind all."""
    point = point_of(node)
    single = Group([node], None)
    alone = point is None or (point.folds and not folds)
    if alone or point is None or select.pieces_needed(_plan(point)):
        groups.append(single)
        return
    before = [k for k, g in enumerate(groups) if g.meets(single)]
    last = before[-1] if before else 0
    # Where all that it needs is there.
    for k in range(len(groups) - 1, last - 1, -1):
        if _with(groups[k], point, node):
            _absorb(groups, k, before)
            return
    # Or behind all, with what can wait that long.
    for k in before[::-1]:
        group = groups[k]
        if not any(group.meets(g) for g in groups[k + 1 :]) and _with(group, point, node):
            groups.append(groups.pop(k))
            _absorb(groups, len(groups) - 1, [b - (b > k) for b in before if b != k])
            return
    single.cluster = Cluster(point if point.folds else None, passes, most).with_point(point)
    groups.append(single)


def _with(group: Group, point: Point, node: Node) -> bool:
    """Put a node into a group, if it fits."""
    cluster = group.cluster and group.cluster.with_point(point)
    if not cluster:
        return False
    group.cluster = cluster
    group.nodes.append(node)
    return True


def _absorb(groups: list[Group], at: int, before: Sequence[int]) -> None:
    """Let a cluster take in those that it follows, where these can wait for it."""
    for k in sorted([b for b in before if b < at], reverse=True):
        group, mine = groups[k], groups[at]
        if group.cluster is None or any(group.meets(g) for g in groups[k + 1 : at]):
            continue
        assert mine.cluster is not None
        points = [*group.cluster.points, *mine.cluster.points]
        whole = cluster_of(points, mine.cluster.passes, mine.cluster.most)
        if whole is not None:
            mine.cluster, mine.nodes = whole, [*group.nodes, *mine.nodes]
            del groups[k]
            at -= 1


def _plan(point: Point) -> Plan:
    """The loops of a point."""
    places: tuple[Place, ...] = (*point.outs, *point.ins)
    shape = tuple([loop.size for loop in point.loops])
    return Plan(shape, tuple([p.strides for p in places]), shape, ())
