"""HLS sources of linked graphs: a kernel for each dataflow stage, between stream ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...kernels import fused
from ...kernels.linked_keys import BEGIN, StageKey
from ...kernels.staged import FOLD, TRANSFORM, StagedKey
from ...terminal import counted
from ..group import KernelGroup
from .interface import interfaces, parameter_list, title
from .staged import Text, headers, namespaced_functions
from .text import file_settings, fill

WORD = "uint64_t"  # element type of the streams that carry the row count and scalars to kernels


def source(group: KernelGroup) -> str:
    """Returns the text of a kernel of a linked graph."""
    key = cast("StageKey", group.members[0])
    stages = Text(KernelGroup("stage", (key.graph,)))
    unit_graph = key.graph if key.kind != BEGIN else _empty_graph(key.graph)
    text, calls, fifos = "", list[str](), list[str]()
    if key.kind != BEGIN:
        text, calls, fifos = stages.stage(key.stage_index, key.stage)
    if key.kind == TRANSFORM:
        text = "\n".join([*stages.transforms(), text])
    if key.kind == FOLD:
        text, calls = f"{text}\n{_region(key, stages, calls, fifos)}", [_region_call(key)]
    if key.kind == BEGIN:
        body = [
            f"command_{k}.write({word});"
            for k, scalars in enumerate(key.scalars_per_kernel)
            for word in ["n", *_packed_scalars(key.graph, scalars)]
        ]
        comment = f"Tells {counted(len(key.scalars_per_kernel), 'kernel')} how many rows there are."
    elif key.launched_graph is not None:
        body, comment = [f"if (n > 0) {call};" for call in calls], "Between memory and streams."
    else:
        body = [*_read_scalars(key.graph), *(f"{call};" for call in calls)]
        comment = "Runs by itself: waits for a command with a number of rows, processes them, and waits again."
    return fill(
        "linked.cpp",
        {
            "title": title(group),
            "comment": comment,
            "settings": file_settings(group, key),
            "headers": headers(unit_graph),
            "units": "\n\n".join(namespaced_functions(unit_graph)),
            "length": str(key.graph.length),
            "lanes": str(key.lanes),
            "beats": str(key.graph.beats),
            "states": str(key.graph.states),
            "period": str(key.graph.period),
            "stage": text,
            "name": group.name,
            "parameters": parameters(group, stages),
            "interfaces": [*_axis(key), *(interfaces(group) if group.started else _free_running_interface())],
            "body": body,
        },
    )


def parameters(group: KernelGroup, stages: Text) -> str:
    """Returns the kernel's parameters: host arguments, then streams."""
    of_host = [parameter_list(group)] if group.started else []
    return ",\n    ".join([*of_host, *streams(group, stages)])


def streams(group: KernelGroup, stages: Text) -> list[str]:
    """Returns the parameters of a kernel's stream ports. `stages` is the text of the stage as a
    graph of its own."""
    key = cast("StageKey", group.members[0])
    values = {f.name: f.value for f in key.streams}
    types = [stages.fifo_type(values[n]) if n in values else WORD for n in key.stream_names]
    return [f"hls::stream<{c} > &{name}" for c, name in zip(types, key.stream_names, strict=True)]


def _axis(key: StageKey) -> list[str]:
    return [f"#pragma HLS INTERFACE axis port={name}" for name in key.stream_names]


def _free_running_interface() -> list[str]:
    return ["#pragma HLS INTERFACE ap_ctrl_none port=return"]


def _empty_graph(key: StagedKey) -> StagedKey:
    return StagedKey("stage", "staged", key.lanes, (), (), (), (), length=key.length)


def _scalar_variables(key: StagedKey, indices: Sequence[int]) -> list[tuple[str, str]]:
    """Returns (C type, name) of the scalars `indices`; a complex scalar has two parts."""
    names = {f"n{k}" for k in indices}
    scalars = [(c, name) for what, c, name in fused.parameters(key) if what != "*"]
    named = [(c.strip(), n) for c, n in scalars if n.rpartition("_")[0] in names]
    return sorted(named, key=lambda one: [f"n{k}" for k in indices].index(one[1].rpartition("_")[0]))


def _packed_scalars(key: StagedKey, indices: Sequence[int]) -> list[str]:
    return [
        f"ft_bits<uint>({name})" if c == "float" else f"ft_bits<{WORD}>({name})" if c == "double" else f"({WORD}){name}"
        for c, name in _scalar_variables(key, indices)
    ]


def _read_scalars(key: StagedKey) -> list[str]:
    """Returns lines that read the row count and then the scalars from the stream."""
    lines = ["const int n = (int)command.read();"]
    for c, name in _scalar_variables(key, range(len(key.scalar_dtypes))):
        read = "command.read()"
        if c == "float":
            read = f"ft_bits<float>((uint){read})"
        else:
            read = f"ft_bits<double>({read})" if c == "double" else f"({c}){read}"
        lines.append(f"const {c} {name} = {read};")
    return lines


def _region(key: StageKey, stages: Text, calls: Sequence[str], fifos: Sequence[str]) -> str:
    """Returns a dataflow region in which the two processes of a fold run."""
    taken = [f"hls::stream<{stages.fifo_type(f.value)} > &{f.name}" for f in key.streams]
    scalars = [f"{c} {name}" for c, name in _scalar_variables(key.graph, range(len(key.graph.scalar_dtypes)))]
    return fill(
        "linked_region.cpp",
        {
            "parameters": ", ".join([*taken, *scalars, "int n"]),
            "fifos": list(fifos),
            "processes": [f"FT_PROCESS({call})" for call in calls],
        },
    )


def _region_call(key: StageKey) -> str:
    scalars = [name for _, name in _scalar_variables(key.graph, range(len(key.graph.scalar_dtypes)))]
    return f"run({', '.join([*(f.name for f in key.streams), *scalars, 'n'])})"
