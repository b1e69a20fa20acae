"""C++ that connects the kernels of linked graphs and networks for g++, as link.cfg does for v++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from ..image.manifest import JOINED
from ..kernels.linked_keys import BEGIN, LinkedGraph, StageKey
from ..kernels.network_parts import LinkedKey, NetworkPart, streams_of
from ..kernels.source import fill
from .group import KernelGroup, arguments
from .vitis import linked, network
from .vitis.interface import parameter_list
from .vitis.staged import Text
from .vitis.text import file_settings


class _Stream(NamedTuple):
    """A stream of a C type between the ports (kernel, port)."""

    name: str
    c: str
    source: tuple[int, str]
    target: tuple[int, str]


class _Joined(NamedTuple):
    """The kernels of a graph or a network, the streams between them, and the text that includes the
    types of their elements. `parameters` returns those of a kernel as C++."""

    name: str
    groups: tuple[KernelGroup, ...]
    streams: tuple[_Stream, ...]
    headers: list[str]
    parameters: Callable[[KernelGroup], str]


def sources(groups: Sequence[KernelGroup]) -> dict[str, str]:
    """Returns the text of a file for each linked graph, by the name of the graph's first kernel."""
    by_name = {group.name: group for group in groups}
    return {group.name: _source(group, by_name) for group in groups if group.joins}


def _source(begin: KernelGroup, by_name: dict[str, KernelGroup]) -> str:
    joined = _graph(begin, by_name) if begin.skeleton == StageKey.skeleton else _network(begin, by_name)
    names: dict[int, dict[str, str]] = {}
    for stream in joined.streams:
        for k, port in (stream.source, stream.target):
            names.setdefault(k, {})[port] = stream.name
    declared, wrappers, free_running = [], [], []
    for k, group in enumerate(joined.groups):
        ends = [names[k][port] for port in cast("LinkedKey", group.members[0]).stream_names]
        declared.append(f'extern "C" void {group.name}(\n    {joined.parameters(group)});')
        if not group.started:
            call = f"{group.name}({', '.join(f'all.{name}' for name in ends)});"
            free_running.append(f"region.process_alone([&] {{ {call} }});")
            continue
        operands = [*(a.name for a in arguments(group)), *(f"at->{name}" for name in ends)]
        wrappers += [
            f'extern "C" void {group.name}{JOINED}(\n    {parameter_list(group)})',
            "{",
            f"    meeting.start([=] {{ {group.name}({', '.join(operands)}); }}, run);",
            "}",
        ]
    depths = [join.depth for join in begin.joins]
    return fill(
        "standin/joined.cpp",
        {
            "graph": joined.name,
            "headers": joined.headers,
            "declared": list(dict.fromkeys(declared)),
            "fifos": [
                f'hls::stream<{one.c}, {depth}> {one.name}{{"{one.name}"}};'
                for one, depth in zip(joined.streams, depths, strict=True)
            ],
            "started": str(sum(group.started for group in joined.groups)),
            "alone": free_running,
            "wrappers": wrappers,
        },
    )


def _graph(begin: KernelGroup, by_name: dict[str, KernelGroup]) -> _Joined:
    key = cast("StageKey", begin.members[0]).graph
    graph, graph_text = LinkedGraph(key), Text(KernelGroup("graph", (key,)))
    kernels = {0: begin}
    for edge, stream in zip(graph.edges, begin.joins, strict=True):
        for (k, _), unit in ((edge.source, stream.source), (edge.target, stream.to)):
            kernels[k] = by_name[_kernel_of(unit)]
    headers = file_settings(begin, begin.members[0])
    headers += [f'#include "ftensor/{name}.h"' for name in ("vitis/process", "dialect/vitis", "fused")]
    c_type = lambda value: linked.WORD if value < 0 else graph_text.fifo_type(value)  # noqa: E731
    streams = tuple(_Stream(edge.name, c_type(edge.value), edge.source, edge.target) for edge in graph.edges)

    def parameters(group: KernelGroup) -> str:
        stage = cast("StageKey", group.members[0]).graph
        return linked.parameters(group, Text(KernelGroup("stage", (stage,))))

    groups = tuple(kernels[k] for k in range(len(graph.kernels)))
    return _Joined(begin.name.removesuffix(f"_{BEGIN}"), groups, streams, headers, parameters)


def _network(begin: KernelGroup, by_name: dict[str, KernelGroup]) -> _Joined:
    names = dict.fromkeys(_kernel_of(unit) for join in begin.joins for unit in (join.source, join.to))
    groups = tuple(sorted((by_name[name] for name in names), key=lambda group: group.die or 0))
    parts = [cast("NetworkPart", group.members[0]) for group in groups]
    streams = tuple(_Stream(one.name, one.c, one.source, one.target) for one in streams_of(parts))
    headers = [f'#include "ftensor/vitis/{name}.h"' for name in ("process", "network")]
    return _Joined(begin.name, groups, streams, headers, network.parameters)


def _kernel_of(unit: str) -> str:
    return unit.partition(".")[0].rpartition("_")[0]
