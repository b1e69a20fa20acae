"""Port reads for which HLS infers no burst, or which it repeats: reads on a condition in a
pipelined loop, and reads of one value of the geometry buffer in each iteration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .directives import NOTHING, directives
from .loops import Loop
from .module import Function, Instruction, call_arguments, is_pointer, value

if TYPE_CHECKING:
    from .findings import Check

# Labels of the loops that may read on a condition, each with the reason.
WITHOUT_BURSTS = {
    "read_pieces": "pieces begin at any beat, so each beat is a request of its own",
    "whole_rows": "the ports that the opcode's member does not use are not read",
    "edge_rows": "the ports that the opcode's member does not use are not read",
    "depth": "eight rows and eight columns take turns, each a beat further",
    "elements": "a beat in sixteen cycles: the requests under way hide the latency",
    "load_line": "a beat in several cycles: the requests under way hide the latency",
    "load_planes": "planes take turns, a beat of each in as many cycles as a beat has elements",
    "load_pixels": "planes take turns, a beat of each in as many cycles as a beat has elements",
    "load_weights": "a beat in eight cycles, and only where the weights changed",
}

# Loads of graphs whose rows overlap, repeat or start inside a beat. They need a new beat only in
# some cycles, and outstanding requests hide the latency.
GRAPH_LOADS = re.compile(r"load_in_\d+")


def conditional(check: Check) -> Iterator[str]:
    """Yields the reads of vector ports that some iterations of a pipelined loop skip."""
    for function, loop, one in _loads(check):
        label = _label(check, loop)
        if "PIPELINE" not in check.pragmas_of(loop) or label in WITHOUT_BURSTS or GRAPH_LOADS.fullmatch(label):
            continue
        beat = max((check.beat(function, memory) for memory in check.accessed(function, one)), default=0)
        if beat > 1 and not check.flows[function.name].always(one.block.name, loop):
            yield check.said(one, "a port is read on a condition in a pipelined loop")


def repeated(check: Check, text: str) -> Iterator[str]:
    """Yields the reads of the geometry buffer at a constant address in a loop. `text` is the
    kernel's source."""
    holders = _holders(check, text)
    for function, _, one in _loads(check):
        memories = {name for _, name in check.accessed(function, one)}
        if memories & holders.get(function.name, set()) and _constant(function, value(one.parts[1])):
            yield check.said(one, "a value of the geometry is read in each iteration")


def _loads(check: Check) -> Iterator[tuple[Function, Loop, Instruction]]:
    """Yields the loads in loops, with each enclosing loop."""
    for name, function in check.functions.items():
        for loop in check.flows[name].loops:
            for block in loop.blocks:
                for one in function.blocks[block].instructions:
                    if one.op == "load":
                        yield function, loop, one


def _holders(check: Check, text: str) -> dict[str, set[str]]:
    """Returns for each function the parameters that point to the geometry buffer."""
    parameters = re.search(rf"void {check.kernel}\(([^)]*)\)", re.sub(r"<[^<>;()]*>", "", text))
    names = [one.split("*")[-1].strip() for one in parameters[1].split(",")] if parameters else []
    if "geometry" not in names:
        return {}
    holders = {check.kernel: {check.functions[check.kernel].parameters[names.index("geometry")]}}
    todo = [check.kernel]
    while todo:
        function = check.functions[todo.pop()]
        for call, name in function.calls():
            inner = check.functions.get(name[1:])
            for k, part in enumerate(call_arguments(call)):
                if inner is None or not is_pointer(part.split(" ")[0]):
                    continue
                pointed = {at for _, at in check.memories(function, value(part))}
                own, to = holders.setdefault(inner.name, set()), inner.parameters[k]
                if pointed & holders[function.name] and to not in own:
                    own.add(to)
                    todo.append(inner.name)
    return holders


def _label(check: Check, loop: Loop) -> str:
    file, line = check.module.loop_place(loop.number)
    return directives(check.folder / file).get(line, NOTHING).label if file else ""


def _constant(function: Function, pointer: str) -> bool:
    """Returns whether a pointer into a parameter has only constant indices."""
    definition = function.values.get(pointer)
    if definition is None:
        return True
    if definition.op != "getelementptr":
        return False
    numbers = all(value(part).lstrip("-").isdigit() for part in definition.parts[2:])
    return numbers and _constant(function, value(definition.parts[1]))
