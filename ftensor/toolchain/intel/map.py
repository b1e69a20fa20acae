"""Maps in Intel's OpenCL C: whole beats in one loop, or in three kernels connected by channels."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from ...image.file import CHANNEL_DEPTH, copy_name, uses_channels
from ...kernels import source
from ...kernels.key import BY_VALUE, SINGLE, KernelKey
from ..group import KernelGroup, port_slots, values
from .member import (
    PORT_WORDS,
    beat,
    beat_function,
    function_name,
    head,
    inputs_of,
    kernels,
    sections,
    switch,
    widths_of,
)


def text(group: KernelGroup) -> str:
    """Returns the functions and kernels of a map group."""
    widths = widths_of(group)
    parts = [head(group.lanes, group.keys), *sections(group.keys, beat_function)]
    parts += [_beat_words(width, group.lanes) for width in sorted(set(widths.values()))]
    parts += [_table(group, "READS", inputs_of), _table(group, "SINGLES", _singles)]
    parts.append(_function_unit(group, widths))
    if uses_channels(group.skeleton, group.structure):
        parts += [_channel_lines(group, widths), kernels(group, lambda c: _stage_bodies(group, c))]
    else:
        parts.append(kernels(group, lambda copy: [_loop_body(group)]))
    return "\n\n".join(part for part in parts if part)


def _inputs(group: KernelGroup) -> list[str]:
    return [name for name, _ in port_slots(group) if name.startswith("in_")]


def _singles(key: KernelKey) -> list[str]:
    named = dict(zip(inputs_of(key), [p for p in key.ins if p.kind != BY_VALUE]))
    return [name for name, port in named.items() if port.kind == SINGLE]


def _masks(group: KernelGroup, input_names: Callable[[KernelKey], list[str]]) -> list[int]:
    inputs = _inputs(group)
    return [sum(1 << inputs.index(name) for name in input_names(key)) for key in group.keys]


def _table(group: KernelGroup, what: str, input_names: Callable[[KernelKey], list[str]]) -> str:
    """Returns a bit mask over inputs for each opcode; "" if all opcodes agree.

    The bits of `what` "READS" mark the inputs that an opcode reads, those of "SINGLES" its
    single-element inputs.
    """
    masks = _masks(group, input_names)
    if len(set(masks)) == 1:
        return ""
    comment = "Inputs that an opcode reads" if what == "READS" else "Inputs that are a single element"
    bits = ", ".join(f"bit {k}: {name}" for k, name in enumerate(_inputs(group)))
    rows = ", ".join(f"{mask:#x}" for mask in masks)
    return f"// {comment} ({bits}).\n__constant uchar {group.name}_{what}[] = {{{rows}}};"


def _flag(group: KernelGroup, what: str, input_names: Callable[[KernelKey], list[str]], name: str) -> str | bool:
    """Returns the condition that an opcode's mask has the bit of an input; a bool if it is the same
    for all opcodes."""
    masks, bit = _masks(group, input_names), _inputs(group).index(name)
    bits = {mask >> bit & 1 for mask in masks}
    if len(bits) == 1:
        return bool(bits.pop())
    return f"({group.name}_{what}[opcode] & {1 << bit:#x})"


def _beat_words(width: int, lanes: int) -> str:
    """Returns functions that read and write `m` elements of a beat; only a map's last beat is
    partial."""
    word, beat_type, words_per_element = PORT_WORDS[width], beat(width, lanes), 2 if width == 16 else 1
    count = lanes * words_per_element
    if count == 1:
        return f"#define ft_load_beat{width}(p, m) (*(p))\n#define ft_store_beat{width}(v, p, m) (*(p) = (v))"
    texts = {"width": str(width), "word": word, "beat": beat_type, "count": str(count)}
    texts["words"] = f"{words_per_element} * m" if words_per_element > 1 else "m"
    return source.fill("intel/beats.cl", texts).rstrip("\n")


def _unit_parameters(group: KernelGroup, widths: dict[str, int]) -> list[tuple[str, str]]:
    """Returns (C type, name) of the function unit's parameters besides the opcode."""
    parameters = [(beat(widths[name], group.lanes), name) for name in _inputs(group)]
    count = max(len(values(key)) for key in group.keys)
    parameters += [("long", f"value{slot}") for slot in range(count)]
    return parameters + ([("int", "i"), ("long", "out0_offset")] if _placed(group) else [])


def _placed(group: KernelGroup) -> bool:
    """True if a member's op depends on its elements' positions."""
    return any("position.h" in source.helper_files(key) for key in group.keys)


def _function_unit(group: KernelGroup, widths: dict[str, int]) -> str:
    calls = []
    for opcode, key in enumerate(group.keys):
        args = [*inputs_of(key), *(f"value{slot}" for slot in range(len(values(key))))]
        args += ["i", "out0_offset"] if "position.h" in source.helper_files(key) else []
        calls.append(f"{function_name(opcode, key)}({', '.join(args)});")
    parameters = [("int", "opcode"), *_unit_parameters(group, widths)]
    parameter_list = ", ".join(f"{c} {name}" for c, name in parameters)
    c_type = beat(widths["out0"], group.lanes)
    body = textwrap.indent(switch(calls, "return "), "    ")
    return (
        "// One beat through the function unit of the opcode.\n"
        f"static inline {c_type} function_unit({parameter_list})\n{{\n{body}\n}}"
    )


SLAB = """\
const int vectors = n / FT_LANES, rest = n % FT_LANES;
const int begin = ft_slab(vectors, ft_unit, ft_units);
const int end = ft_slab(vectors, ft_unit + 1, ft_units) + (rest > 0 && ft_unit == ft_units - 1);"""
# Beats do not overlap, so an iteration never waits for the previous one: the loop starts one
# every cycle.
LOOP = "#pragma ivdep\nfor (int v = begin; v < end; v++) {"
PLACE = "const int i = v * FT_LANES, m = v < vectors ? FT_LANES : rest;"


def _single_lines(group: KernelGroup, widths: dict[str, int]) -> list[str]:
    """Returns lines that read single-element inputs before the loop, as beats that repeat the
    element."""
    lines = []
    for name in _inputs(group):
        single = _flag(group, "SINGLES", _singles, name)
        if single is False:
            continue
        c_type, at = beat(widths[name], group.lanes), f"{name}[{name}_offset]"
        if widths[name] == 16:
            pair = f"(long2)({name}[2 * {name}_offset], {name}[2 * {name}_offset + 1])"
            at = f"({c_type})({', '.join([pair] * group.lanes)})"
        else:
            at = f"({c_type})({at})"
        value = at if single is True else f"{single} ? {at} : ({c_type})(0)"
        lines.append(f"const {c_type} single_{name} = {value};")
    return lines


def _take(group: KernelGroup, widths: dict[str, int], name: str) -> str:
    """Returns the C expression that reads an input's beat, from memory or from a channel."""
    per = "2 * " if widths[name] == 16 else ""
    address = f"{name} + {per}({name}_offset + i)"
    single = _flag(group, "SINGLES", _singles, name)
    take_call = f"ft_load_beat{widths[name]}({address}, m)"
    if single is True:
        return f"single_{name}"
    return take_call if single is False else f"{single} ? single_{name} : {take_call}"


def _give(widths: dict[str, int], value: str) -> str:
    per = "2 * " if widths["out0"] == 16 else ""
    return f"ft_store_beat{widths['out0']}({value}, out0 + {per}(out0_offset + i), m);"


def _block(lines: Sequence[str]) -> str:
    return "\n".join([LOOP, *(f"    {line}" for line in lines), "}"])


def _unit_call(group: KernelGroup, widths: dict[str, int], prefix: str = "") -> str:
    inputs = _inputs(group)
    names = [name for _, name in _unit_parameters(group, widths)]
    args = ["opcode", *(prefix + name if name in inputs else name for name in names)]
    return f"function_unit({', '.join(args)})"


def _loop_body(group: KernelGroup) -> str:
    """Returns the loop that reads, computes and writes."""
    widths = widths_of(group)
    lines = [PLACE]
    for name in _inputs(group):
        c_type, reads = beat(widths[name], group.lanes), _flag(group, "READS", inputs_of, name)
        taken = _take(group, widths, name)
        guarded = taken if reads is True else f"{reads} ? ({taken}) : ({c_type})(0)"
        lines.append(f"const {c_type} beat_{name} = {guarded};")
    lines.append(_give(widths, _unit_call(group, widths, "beat_")))
    return "\n".join([SLAB, *_single_lines(group, widths), _block(lines)])


def _channel(group: KernelGroup, copy: int, name: str) -> str:
    return f"{copy_name(group.name, copy)}_{name}"


def _channel_lines(group: KernelGroup, widths: dict[str, int]) -> str:
    lines = []
    for copy in range(group.units):
        for name in [*_inputs(group), "out0"]:
            c_type = beat(widths[name], group.lanes)
            depth = f"__attribute__((depth({CHANNEL_DEPTH})))"
            lines.append(f"channel {c_type} {_channel(group, copy, name)}_beats {depth};")
    return "\n".join(lines)


def _stage_bodies(group: KernelGroup, copy: int) -> list[str]:
    """Returns the loops of load, compute and store; no load for a kernel without inputs."""
    widths = widths_of(group)
    load, compute = [PLACE], []
    for name in _inputs(group):
        c_type, reads = beat(widths[name], group.lanes), _flag(group, "READS", inputs_of, name)
        channel = f"{_channel(group, copy, name)}_beats"
        guard = "" if reads is True else f"if ({reads}) "
        load.append(f"{guard}write_channel_intel({channel}, {_take(group, widths, name)});")
        zero = "" if reads is True else f" = ({c_type})(0)"
        compute.append(f"{c_type} {name}{zero};")
        compute.append(f"{guard}{name} = read_channel_intel({channel});")
    result = f"{_channel(group, copy, 'out0')}_beats"
    place = [PLACE.split(",")[0] + ";"] if _placed(group) else []
    compute = [*place, *compute, f"write_channel_intel({result}, {_unit_call(group, widths)});"]
    store = [PLACE, _give(widths, f"read_channel_intel({result})")]
    bodies = [
        "\n".join([SLAB, *_single_lines(group, widths), _block(load)]),
        "\n".join([SLAB, _block(compute)]),
        "\n".join([SLAB, _block(store)]),
    ]
    return bodies if _inputs(group) else bodies[1:]
