"""HLS sources of networks and of their parts: one DATAFLOW region, with the weights as tables of the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from ...kernels.network import DEPTHWISE, NetworkKey, first_sums
from ...kernels.network_depths import FlowFifo, Process
from ...kernels.network_parts import NetworkPart
from ...kernels.network_processes import Processes, processes_of
from ..group import KernelGroup, arguments
from .interface import interfaces, parameter_list, title
from .text import fill

# The kernel's arguments that its processes take, by name.
_TYPES = {
    "in_0": "const hls::vector<T, LANES> *",
    "in_1": "const hls::vector<int, 16> *",
    "out0": "hls::vector<T, LANES> *",
    "in_0_offset": "long ",
    "in_1_offset": "long ",
    "out0_offset": "long ",
}


def source(group: KernelGroup) -> str:
    """Returns the text of a network's kernel, or of a part's."""
    key = cast("NetworkKey | NetworkPart", group.members[0])
    part, layers = (key, key.layers) if isinstance(key, NetworkPart) else (None, key)
    of = processes_of(layers) if part is None else part.processes
    taken = {a.name: _TYPES[a.name] for a in arguments(group) if a.name in _TYPES}
    taken |= {fifo.name: f"hls::stream<{fifo.c_type()}> &" for fifo in _outer(of)}
    c, h, w = layers.image
    slowest = max(p.trips for p in of.processes)
    return fill(
        "network.cpp",
        {
            "title": title(group),
            "comment": f"{layers.name}: images of {c} x {h} x {w}, an image in {slowest} iterations.",
            "element": layers.element,
            "lanes": str(layers.lanes),
            "tables": "\n".join(_tables(layers)),
            "taken": ", ".join([*(f"{c_type}{name}" for name, c_type in taken.items()), "int n"]),
            "fifos": [line for fifo in of.inner_fifos for line in _declared(fifo)],
            "processes": [f"FT_PROCESS(({_call(of, process)}))" for process in of.processes],
            "name": group.name,
            "parameters": parameters(group) if part else parameter_list(group),
            "interfaces": _interfaces(group, part),
            "body": [*_commands(part), f"if (n > 0) run({', '.join([*taken, 'n'])});"],
        },
    )


def parameters(group: KernelGroup) -> str:
    """Returns the parameters of a part's kernel: host arguments, then streams."""
    part = cast("NetworkPart", group.members[0])
    types = {fifo.name: fifo.c_type(part.layers.element) for fifo in _outer(part.processes)}
    streams = [f"hls::stream<{types.get(name, 'int')} > &{name}" for name in part.stream_names]
    return ",\n    ".join([*[parameter_list(group)] * group.started, *streams])


def _outer(of: Processes) -> list[FlowFifo]:
    return [of.fifos[k] for k in (*of.entering, *of.leaving)]


def _interfaces(group: KernelGroup, part: NetworkPart | None) -> list[str]:
    axis = [f"#pragma HLS INTERFACE axis port={name}" for name in (part.stream_names if part else ())]
    return [*axis, *(interfaces(group) if group.started else ["#pragma HLS INTERFACE ap_ctrl_none port=return"])]


def _commands(part: NetworkPart | None) -> list[str]:
    """Returns the lines that pass the number of images to free-running kernels, or receive it."""
    if part is None or part.is_last:
        return []
    if part.is_first:
        return [f"if (n > 0) command_{k}.write(n);" for k in range(part.commands)]
    return ["const int n = command.read();"]


def _declared(fifo: FlowFifo) -> list[str]:
    line = f'hls::stream<{fifo.c_type()}, {fifo.depth}> {fifo.name}("{fifo.name}");'
    return [line, *[f"#pragma HLS BIND_STORAGE variable={fifo.name} type=fifo impl=uram"] * fifo.uram]


def _call(of: Processes, process: Process) -> str:
    """Returns the call of a process: a port or FIFOs, then its further arguments."""
    ports = {"load": ("in_0",), "store": ("out0",), "weights": ("in_1",)}.get(process.name, ())
    reads, writes, loads = ([of.fifos[f].name for f in ends] for ends in (process.reads, process.writes, process.loads))
    ends = [*ports, *writes] if process.name == "load" else [*reads, *writes, *ports]
    sizes = ["T"] * process.typed + [str(size) for size in process.sizes]
    template = f"<{', '.join(sizes)}>" if sizes else ""
    images = ["n"] * process.typed
    return f"{process.function}{template}({', '.join([*ends, *loads, *process.passed, *images])})"


def _tables(key: NetworkKey) -> Iterator[str]:
    """Yields the lines that declare each layer's constants: weights, initial sums, addends and
    factors. The weights are in the order in which the processes read them, one word per iteration.
    """
    if key.loaded:
        return
    for k, (layer, constants) in enumerate(zip(key.layers, key.tables, strict=True)):
        if constants is None:
            continue
        p, s = layer.fold
        groups, steps = layer.channels // p, constants.weights.shape[1] // s
        weights = constants.weights.reshape(groups, p, steps, s)
        # A memory for each filter: a depthwise layer has one step; words of float32 are wide enough.
        banked = layer.kind == DEPTHWISE or key.is_float
        word, order = (s, (1, 2, 0, 3)) if banked else (p * s, (2, 0, 1, 3))
        banks = p if banked else 1
        begin = first_sums(layer, constants)
        words = weights.transpose(order).reshape(banks, steps * groups, word)
        sizes = f"[{banks}][{steps * groups}]"
        of, sums = ("float", "float") if key.is_float else ("signed char", "int")
        yield from _table(f"ft_beat<{of}, {word}>", f"W{k}", words, sizes)
        yield from _table(sums, f"BEGIN{k}", begin.reshape(groups, p))
        if key.is_float:
            continue
        yield from _table("float", f"ADDED{k}", constants.added.reshape(groups, p))
        yield from _table("float", f"FACTOR{k}", constants.factor.reshape(groups, p))


def _table(of: str, name: str, values: np.ndarray, sizes: str = "") -> list[str]:
    each = [f"{float(v).hex()}f" for v in values.flat] if values.dtype == np.float32 else [str(v) for v in values.flat]
    sizes = sizes or "".join(f"[{n}]" for n in values.shape)
    rows = [",".join(each[k : k + 20]) for k in range(0, len(each), 20)]
    return [f"static const {of} {name}{sizes} = {{", *(f"    {row}," for row in rows), "};"]
