"""The kernels of graphs that are one for each stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ...errors import inventory as errors
from ...image.manifest import LINKED
from ...kernels.linked import MOST_DEPTH, Linked, StageKey
from ..group import LONGEST_NAME, Group, StreamConnection
from ..grouping import free_name
from .graphs import GraphFile

_LONGEST_PART = len("_begin")
_TOLD_BITS = 64


def linked(graphs: Iterable[GraphFile], taken: Sequence[str]) -> tuple[Group, ...]:
    """The kernels of graphs, each graph's own first, and then those that run by themselves: equal
    stages of several graphs are units of one kernel. InventoryError for FIFOs that are too deep.

    Within a graph each stage has a kernel, since no kernel may feed itself.
    """
    own: list[Group] = []
    alone: dict[tuple[StageKey, int], int] = {}
    for graph in graphs:
        name = free_name(graph.name[: LONGEST_NAME - _LONGEST_PART], [*taken, *_names(own)])
        network, seen, units = Linked(graph.key), Counter[StageKey](), list[str]()
        for part in network.parts:
            if part.serves is not None:
                units.append(f"{name}_{_word(part)}_1")
                continue
            same = part, seen[part]
            seen[part] += 1
            alone[same] = alone.get(same, 0) + 1
            units.append(f"{_name(*same)}_{alone[same]}")
        joins = []
        for join in network.joins:
            if join.depth > MOST_DEPTH:
                raise errors.too_deep(graph.where, name, join.depth, MOST_DEPTH)
            (a, source), (b, target) = join.source, join.target
            bits = network.stages.bits(join.value) if join.value >= 0 else _TOLD_BITS
            joins.append(StreamConnection(f"{units[a]}.{source}", f"{units[b]}.{target}", join.depth, bits))
        for k, part in enumerate(network.parts):
            if part.serves is not None:
                joined = () if k else tuple(joins)
                kernel = f"{name}_{_word(part)}"
                own.append(Group(kernel, (part,), LINKED, banks=graph.banks, joins=joined))
    rest = [Group(_name(*same), (same[0],), LINKED, units) for same, units in alone.items()]
    return (*own, *rest)


def _names(groups: Iterable[Group]) -> list[str]:
    """What graphs are called so far: a name of one is free if its kernels' are."""
    return [name for g in groups for name in (g.name, g.name.rpartition("_")[0])]


def _word(part: StageKey) -> str:
    """What tells a graph's kernels from each other: begin, in0, out0."""
    return part.port.replace("_", "") or part.part


def _name(part: StageKey, again: int) -> str:
    return f"ft_{part.name}" + (f"x{again + 1}" if again else "")
