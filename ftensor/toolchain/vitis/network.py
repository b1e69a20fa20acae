"""HLS sources of networks: one DATAFLOW region, with the weights as tables of the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from ...kernels.network import DEPTHWISE, NetworkKey, first_sums
from ...kernels.network_depths import FlowFifo, Process
from ...kernels.network_processes import Processes, interval, processes_of
from ..group import KernelGroup
from .interface import interfaces, parameter_list, title
from .text import fill


def source(group: KernelGroup) -> str:
    """Returns the text of a network's kernel."""
    key = cast("NetworkKey", group.members[0])
    of = processes_of(key)
    fifos = [line for fifo in of.fifos for line in _declared(fifo)]
    calls = [f"FT_PROCESS(({_call(of, process)}))" for process in of.processes]
    c, h, w = key.image
    return fill(
        "network.cpp",
        {
            "title": title(group),
            "comment": f"{key.name}: images of {c} x {h} x {w}, an image in {interval(key)} iterations.",
            "element": key.element,
            "lanes": str(key.lanes),
            "weights": " const hls::vector<int, 16> *in_1, long in_1_offset," if key.loaded else "",
            "passed": " in_1, in_1_offset," if key.loaded else "",
            "tables": "\n".join(_tables(key)),
            "fifos": fifos,
            "processes": calls,
            "name": group.name,
            "parameters": parameter_list(group),
            "interfaces": interfaces(group),
        },
    )


def _declared(fifo: FlowFifo) -> list[str]:
    """Returns the lines that declare a FIFO."""
    line = f'hls::stream<ft_beat<{fifo.element}, {fifo.flow.wide}>, {fifo.depth}> {fifo.name}("{fifo.name}");'
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
