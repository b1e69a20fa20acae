"""Kernels in Intel's OpenCL C: their parameter lists, one kernel for each stage and unit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from ...image.intel_stages import stages
from ..group import Argument, Group, arguments, slots
from .member import WORDS


def _parameter(argument: Argument, widths: dict[str, int]) -> str:
    """An argument in OpenCL C; a port's elements are words of its width."""
    if argument.what != "*":
        return f"{argument.what} {argument.name}"
    const = "const " if argument.c.startswith("const ") else ""
    if argument.name in widths:
        return f"__global {const}{WORDS[widths[argument.name]]} *{argument.name}"
    of = re.sub(r"hls::vector<(\w+), \d+>", r"\1", argument.c)
    return f"__global {of}{argument.name}"


def widths_of(group: Group) -> dict[str, int]:
    """Bytes of an element of each port; ValueError where the members' differ."""
    by_port = {}
    for name, users in slots(group):
        widths = {port.dtype.itemsize for _, port in users}
        if len(widths) > 1:
            names = sorted({port.dtype.name for _, port in users})
            raise ValueError(f"one port can't serve elements of several widths: {names}")
        by_port[name] = widths.pop()
    return by_port


def _kernel(name: str, parameters: Sequence[str], body: str) -> str:
    wrapped = textwrap.fill(", ".join(parameters), 96, initial_indent="    ", subsequent_indent="    ")
    return f"FT_KERNEL void {name}(\n{wrapped})\n{{\n{textwrap.indent(body, '    ')}\n}}"


def kernels(group: Group, bodies: Callable[[int], Sequence[str]]) -> str:
    """The kernels of every compute unit; `bodies` has a text for each stage of a unit."""
    own, widths = arguments(group), widths_of(group) if group.keys else {}
    texts = []
    for copy in range(group.units):
        names = [a.name for a in own]
        parts = stages(group.name, group.skeleton, group.structure, names, copy)
        for stage, body in zip(parts, bodies(copy), strict=True):
            parameters = [_parameter(a, widths) for a in own if a.name in stage.arguments]
            texts.append(_kernel(stage.name, parameters, body))
    return "\n\n".join(texts)


def switch(calls: Sequence[str], result: str = "") -> str:
    """One of the calls by the opcode; `result` is "return " where they have one."""
    if len(calls) == 1:
        return f"{result}{calls[0]}"
    leave = "" if result else " break;"
    cases = [f"case {k}: {result}{call}{leave}" for k, call in enumerate(calls[:-1])]
    return "\n".join(["switch (opcode) {", *cases, f"default: {result}{calls[-1]}", "}"])
