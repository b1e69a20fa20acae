"""C++ that connects the kernels of linked graphs for g++, as link.cfg does for v++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...image.manifest import JOINED
from ...kernels import source as kernel_source
from ...kernels.staged import BEGIN, LinkedGraph, StageKey
from ..filling import fill
from ..group import KernelGroup, arguments
from .interface import parameter_list
from .linked import WORD, parameters
from .staged import Text


def sources(groups: Sequence[KernelGroup]) -> dict[str, str]:
    """Returns the text of a file for each linked graph, by the name of the graph's first kernel."""
    by_name = {group.name: group for group in groups}
    return {group.name: _source(group, by_name) for group in groups if begins(group)}


def begins(group: KernelGroup) -> bool:
    """True if a kernel is the first kernel of a linked graph."""
    key = group.members[0]
    return isinstance(key, StageKey) and key.kind == BEGIN


def _source(begin: KernelGroup, by_name: dict[str, KernelGroup]) -> str:
    key = cast("StageKey", begin.members[0]).graph
    graph, graph_text = LinkedGraph(key), Text(KernelGroup("graph", (key,)))
    kernels, edge_names = {0: begin.name}, dict[int, dict[str, str]]()
    for edge, stream in zip(graph.edges, begin.joins, strict=True):
        for (k, port), unit in ((edge.source, stream.source), (edge.target, stream.to)):
            kernels[k] = unit.partition(".")[0].rpartition("_")[0]
            edge_names.setdefault(k, {})[port] = edge.name
    declared, wrappers, free_running = [], [], []
    for k, part in enumerate(graph.kernels):
        group = by_name[kernels[k]]
        streams = [edge_names[k][port] for port in part.stream_names]
        text = parameters(group, Text(KernelGroup("stage", (part.graph,))))
        declared.append(f'extern "C" void {group.name}(\n    {text});')
        if not group.started:
            call = f"{group.name}({', '.join(f'all.{name}' for name in streams)});"
            free_running.append(f"region.process_alone([&] {{ {call} }});")
            continue
        operands = [*(a.name for a in arguments(group)), *(f"at->{name}" for name in streams)]
        wrappers += [
            f'extern "C" void {group.name}{JOINED}(\n    {parameter_list(group)})',
            "{",
            f"    meeting.start([=] {{ {group.name}({', '.join(operands)}); }}, run);",
            "}",
        ]
    fifos = []
    for edge, stream in zip(graph.edges, begin.joins, strict=True):
        c_type = WORD if edge.value < 0 else graph_text.fifo_type(edge.value)
        fifos.append(f'hls::stream<{c_type}, {stream.depth}> {edge.name}{{"{edge.name}"}};')
    compute = begin.kind.compute(begin.members[0])
    settings = kernel_source.settings(compute, key.lanes, True, "slab")
    return fill(
        "standin/joined.cpp",
        {
            "graph": begin.name.removesuffix(f"_{BEGIN}"),
            "settings": [line for line in settings if line.split()[1] != "FT_GRID_STRIDE"],
            "declared": list(dict.fromkeys(declared)),
            "fifos": fifos,
            "started": str(len(graph.kernels) - len(graph.compute_stages)),
            "alone": free_running,
            "wrappers": wrappers,
        },
    )
