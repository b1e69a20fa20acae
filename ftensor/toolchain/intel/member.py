"""Members of a kernel in Intel OpenCL C: functions of ops, and parameter lists."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

from ...image.file import stages
from ...kernels import element_function, holes, source
from ...kernels.element_function import STATE_NAMES, undefine_lines, with_vector_operands
from ...kernels.holes import hole_definitions
from ...kernels.key import BY_VALUE, KernelKey, Port, describe_operands
from ...kernels.skeleton import board_skeleton_of
from ...kernels.source import OPERAND_NAMES, parameters
from ..group import KernelArgument, KernelGroup, arguments, port_slots, values

PORT_WORDS = {1: "uchar", 2: "ushort", 4: "int", 8: "long", 16: "long"}


def function_name(opcode: int, key: KernelKey) -> str:
    """Returns the name of a member's function."""
    return f"opcode_{opcode}_{key.name}"


def head(lanes: int, keys: Sequence[KernelKey]) -> str:
    """Returns the settings of a file, the dialect, and the helpers of dtypes that are the same in
    all sections."""
    lines = [
        f"#define FT_LANES {lanes}",
        f"#define FT_N {lanes if lanes > 1 else ''}",
        "#define FT_FP64 1",
        f"#define FT_MAX_DIMS {source.MAX_DIMS}",
        *dict.fromkeys(line for key in keys for line in source.port_settings(key)),
    ]
    helper_names = {name for key in keys for name in source.helper_files(key)}
    files = [name for name in element_function.SHARED_HELPERS if name in helper_names]
    return "\n".join([*lines, *map(source.kernel_file, ["dialect/intel.h", *files])])


def sections(keys: Sequence[KernelKey], function: Callable[[int, KernelKey], str]) -> Iterable[str]:
    """Returns the members' functions, grouped by compute type, each group after its helpers.

    `function` returns a member's text; the macros that this text defines are undefined after it.
    """
    return element_function.sections(keys, function, "intel")


def title(opcode: int, key: KernelKey) -> str:
    """Describes a member: opcode, op, dtypes and layout."""
    return f"opcode {opcode}: {key.name} {describe_operands(key)}"


def vector(word: str, lanes: int) -> str:
    """Returns an OpenCL vector type; a scalar type for one lane."""
    return word if lanes == 1 else f"{word}{lanes}"


def beat(width: int, lanes: int) -> str:
    """Returns the type of a port's beat: the bits of `lanes` elements of `width` bytes."""
    return vector(PORT_WORDS[width], lanes * (2 if width == 16 else 1))


def value_line(key: KernelKey, slot: int) -> str:
    """Returns the line that declares the scalar passed as 64 bits in `value<slot>`."""
    name, c = values(key)[slot]
    return f"const {c} {name} = {value_text(c, slot)};"


def value_text(c: str, slot: int) -> str:
    """Returns the expression for the scalar of C type `c` passed as 64 bits in `value<slot>`."""
    casts = {"float": f"as_float((int)value{slot})", "double": f"as_double(value{slot})"}
    return casts.get(c, f"({c})value{slot}")


def inputs_of(key: KernelKey) -> list[str]:
    """Returns the names of a member's inputs in memory."""
    return [f"in_{OPERAND_NAMES[k]}" for k, p in enumerate(key.ins) if p.kind != BY_VALUE]


def beat_function(opcode: int, key: KernelKey) -> str:
    """Returns a pointwise member as a function from beats of its inputs to a beat of its output.

    A single-element input arrives as a beat that repeats the element. Raises ValueError if the
    member has several outputs.
    """
    if len(key.outs) != 1:
        raise ValueError(f"{key.name} has {len(key.outs)} outputs, and a map kernel has one")
    flat = with_vector_operands(key)
    lanes = key.lanes
    parameters = [
        f"{beat(p.dtype.itemsize, lanes)} in_{OPERAND_NAMES[k]}" for k, p in enumerate(key.ins) if p.kind != BY_VALUE
    ]
    parameters += [f"long value{slot}" for slot in range(len(values(key)))]
    if "position.h" in source.helper_files(key):
        parameters += ["int i", "long out0_offset"]
    lines = [value_line(key, slot) for slot in range(len(values(key)))]
    for k, p in enumerate(flat.ins):
        if p.kind != BY_VALUE:
            lines += _from_beat(f"in_{OPERAND_NAMES[k]}", p, lanes)
    opening, result = _to_beat(key.outs[0], lanes)
    lines += [opening, *hole_definitions(flat, False)["FT_COMPUTE"], *result]
    beat_type = beat(key.outs[0].dtype.itemsize, lanes)
    return "\n".join(
        [
            f"// {title(opcode, key)}",
            f"static inline {beat_type} {function_name(opcode, key)}({', '.join(parameters)})",
            "{",
            *(f"    {line}" for line in lines),
            "}",
        ]
    )


def _from_beat(name: str, p: Port, lanes: int) -> list[str]:
    memory = source.MEMORY[p.dtype.name]
    if p.dtype.is_complex:
        real, c_type, part = _pairs(memory, "ft_from_halves")
        pairs = f"{c_type}{2 * lanes}"
        return [
            f"const {pairs} p_{name} = as_{pairs}({name});",
            f"const ft_c{real} w_{name} = FT_PAIR({real}, {part}(p_{name}.even), {part}(p_{name}.odd));",
        ]
    if memory == "ft_half":
        return [f"const {vector('float', lanes)} w_{name} = ft_from_halves({name});"]
    c_type = vector(memory, lanes)
    return [f"const {c_type} w_{name} = as_{c_type}({name});"]


def _pairs(memory: str, halves: str) -> tuple[str, str, str]:
    """Returns the C types of a part of a complex number in a register and on the port, and the
    function that converts between both: `halves` for complex32, whose parts are floats in
    registers."""
    return ("float", "ushort", halves) if memory == "ft_half" else (memory, memory, "")


def _to_beat(p: Port, lanes: int) -> tuple[str, list[str]]:
    memory = source.MEMORY[p.dtype.name]
    bits = f"as_{beat(p.dtype.itemsize, lanes)}"
    if p.dtype.is_complex:
        real, c_type, part = _pairs(memory, "ft_to_halves")
        return f"ft_c{real} w_out0;", [
            f"{c_type}{2 * lanes} p_out0;",
            f"p_out0.even = {part}(w_out0.re);",
            f"p_out0.odd = {part}(w_out0.im);",
            f"return {bits}(p_out0);",
        ]
    if memory == "ft_half":
        return f"{vector('float', lanes)} w_out0;", ["return ft_to_halves(w_out0);"]
    return f"{vector(memory, lanes)} w_out0;", [f"return {bits}(w_out0);"]


def skeleton_function(opcode: int, key: KernelKey) -> str:
    """Returns a member whose skeleton iterates by a geometry buffer, as one function."""
    name = function_name(opcode, key)
    lines = [f"// {title(opcode, key)}"]
    if key.reduction is not None:
        stem = f"opcode_{opcode}"
        lines += [f"#define {word} {stem}_{word.removeprefix('ft_').lower()}" for word in STATE_NAMES]
        lines.append(holes.state_lines(key))
    for word, body in hole_definitions(key, True).items():
        if word != "FT_NAME":
            lines.append(f"#define {word} " + " \\\n    ".join(body))
    skeleton = board_skeleton_of(key).text()
    skeleton = "\n".join(line for line in skeleton.splitlines() if not line.startswith("// "))
    lines.append(skeleton.replace("FT_KERNEL void FT_NAME(", f"static void {name}("))
    text = "\n".join(lines)
    return f"{text}\n{undefine_lines(text)}"


def skeleton_call(opcode: int, key: KernelKey) -> str:
    """Returns the call of `skeleton_function` with the kernel's arguments."""
    slots = {name: slot for slot, (name, _) in enumerate(values(key))}
    args = []
    for what, c, name in parameters(key):
        if what == "*":
            c_type = c.replace("FT_GLOBAL", "__global").strip()
            args.append(name if name == "bad" else f"({c_type}){name}")
        elif name in slots:
            args.append(value_text(what, slots[name]))
        else:
            args.append(name)
    args += ["geometry", "ft_unit", "ft_units"]
    return f"{function_name(opcode, key)}({', '.join(args)});"


def _parameter(argument: KernelArgument, widths: dict[str, int]) -> str:
    """Returns an argument in OpenCL C; a port points to words of its element width."""
    if argument.what != "*":
        return f"{argument.what} {argument.name}"
    const = "const " if argument.c.startswith("const ") else ""
    if argument.name in widths:
        return f"__global {const}{PORT_WORDS[widths[argument.name]]} *{argument.name}"
    c_type = re.sub(r"hls::vector<(\w+), \d+>", r"\1", argument.c)
    return f"__global {c_type}{argument.name}"


def widths_of(group: KernelGroup) -> dict[str, int]:
    """Returns the bytes of an element of each port; raises ValueError if members differ."""
    by_port = {}
    for name, users in port_slots(group):
        widths = {port.dtype.itemsize for _, port in users}
        if len(widths) > 1:
            names = sorted({port.dtype.name for _, port in users})
            raise ValueError(f"one port can't serve elements of several widths: {names}")
        by_port[name] = widths.pop()
    return by_port


def _kernel(name: str, parameters: Sequence[str], body: str) -> str:
    wrapped = textwrap.fill(", ".join(parameters), 96, initial_indent="    ", subsequent_indent="    ")
    return f"FT_KERNEL void {name}(\n{wrapped})\n{{\n{textwrap.indent(body, '    ')}\n}}"


def kernels(group: KernelGroup, bodies: Callable[[int], Sequence[str]]) -> str:
    """Returns the OpenCL C of the kernels of all compute units; `bodies(unit)` returns the body of
    each stage."""
    kernel_arguments, widths = arguments(group), widths_of(group) if group.keys else {}
    texts = []
    for copy in range(group.units):
        names = [a.name for a in kernel_arguments]
        parts = stages(group.name, group.skeleton, group.structure, names, copy)
        for stage, body in zip(parts, bodies(copy), strict=True):
            parameters = [_parameter(a, widths) for a in kernel_arguments if a.name in stage.arguments]
            texts.append(_kernel(stage.name, parameters, body))
    return "\n\n".join(texts)


def switch(calls: Sequence[str], result: str = "") -> str:
    """Returns a switch over the opcode; `result` is "return " if the calls return a value."""
    if len(calls) == 1:
        return f"{result}{calls[0]}"
    leave = "" if result else " break;"
    cases = [f"case {k}: {result}{call}{leave}" for k, call in enumerate(calls[:-1])]
    return "\n".join(["switch (opcode) {", *cases, f"default: {result}{calls[-1]}", "}"])
