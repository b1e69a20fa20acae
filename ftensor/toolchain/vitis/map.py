"""HLS sources of map groups: whole beats of contiguous operands, in one of three structures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...kernels.key import BY_VALUE, SINGLE, KernelKey
from ...kernels.source import OPERAND_NAMES
from ...kernels.workload import PORT_BYTES, block_beats
from ..group import KernelGroup, is_wide, port_slots
from .interface import interfaces, parameter_list, structure, title
from .member import function_unit, function_unit_parameters, members_of, sections
from .text import element, fill, port_words, table

# Beats in a FIFO between two dataflow stages: enough to absorb different latencies.
FIFO_DEPTH = 32


def source(group: KernelGroup) -> str:
    """Returns the text of a map group's kernel. Raises ValueError for a beat above 512 bits."""
    kernel, values = map_text(group)
    values |= {"headers": [], "tables": kernel.tables(), "inputs": kernel.masks_now()}
    values |= kernel.dataflow() if group.structure == "dataflow" else {}
    values |= kernel.burst() if group.structure == "burst" else {}
    compute = ["map_compute.cpp"] * (group.structure == "dataflow")
    parts = ("map_head.cpp", "map_beat.cpp", *compute, f"map_{group.structure}.cpp")
    return "\n".join(fill(part, values) for part in parts)


def map_text(group: KernelGroup) -> tuple[MapText, dict[str, str | list[str]]]:
    """Returns the `MapText` of a group, and the template values that follow from them."""
    for name, users in port_slots(group):
        width = users[0][1].dtype.itemsize * group.lanes
        if width > PORT_BYTES:
            raise ValueError(
                f"kernel {group.name}: {group.lanes} lanes of {name} are {8 * width} bits, "
                f"and a port is at most {8 * PORT_BYTES} bits wide"
            )
    members, ops = members_of(group)
    kernel = MapText(group, tuple(function_unit_parameters(group, members)))
    return kernel, {
        "title": title(group),
        "types": kernel.types(),
        "units": [*sections(members, ops), *function_unit(group, members)],
        "name": group.name,
        "parameters": parameter_list(group),
        "interfaces": interfaces(group),
        "lanes": kernel.lanes(),
        "receive": kernel.receive(),
        "beat_parameters": kernel.beat_parameters(),
        "beat_arguments": kernel.beat_arguments(),
    }


@dataclass(frozen=True)
class MapText:
    """Generates the template texts that depend on a group's operands."""

    group: KernelGroup
    passed: tuple[str, ...]  # arguments of the function unit besides the opcode

    @property
    def structure(self) -> str:
        """The structure by which the kernel moves data."""
        return structure(self.group)

    @cached_property
    def beats(self) -> list[str]:
        """The names of the inputs that have a port."""
        return [name for name, _ in port_slots(self.group) if name in self.passed]

    @cached_property
    def scalars(self) -> list[str]:
        """The names of the scalars that the opcodes take by value."""
        return [name for name in self.passed if name.startswith("value")]

    @cached_property
    def placed(self) -> bool:
        """True if an op uses its elements' positions."""
        return "position" in self.passed

    def types(self) -> list[str]:
        """Returns the beat type of each port, and static assertions on them."""
        lines = [f"static const int LANES = {self.group.lanes};"]
        names = []
        for name, word in port_words(self.group).items():
            element_type = element(word)
            beat = f"hls::vector<{element_type}, LANES>" if is_wide(self.group, name) else element_type
            lines.append(f"typedef {beat} {name}_beat;")
            names.append(f"sizeof({name}_beat) <= {PORT_BYTES}")
        power = "LANES > 0 && (LANES & (LANES - 1)) == 0"
        lines.append(f'static_assert({power}, "a power of two, so that an offset is a shift");')
        for width_text in names:
            lines.append(f'static_assert({width_text}, "a port is at most {8 * PORT_BYTES} bits wide");')
        return lines

    def masks(self) -> dict[str, list[int]]:
        """Returns bit masks over inputs by opcode: READS for inputs read, SINGLES for single
        elements."""
        return {
            name: [sum(has_bit(key, n) << k for k, n in enumerate(self.beats)) for key in self.keys]
            for name, has_bit in {"READS": _reads, "SINGLES": _single}.items()
        }

    @property
    def keys(self) -> tuple[KernelKey, ...]:
        """The members, by opcode."""
        return self.group.keys

    def tables(self) -> list[str]:
        """Returns the tables of those masks in which the opcodes differ."""
        lines = []
        legend = ", ".join(f"bit {k}: {n}" for k, n in enumerate(self.beats))
        comments = {
            "READS": "Which inputs each opcode reads",
            "SINGLES": "Which inputs are a single element that all lanes share",
        }
        for name, masks in self.masks().items():
            if len(set(masks)) > 1:
                mask_type = f"ap_uint<{len(self.beats)}>"
                lines.append(f"// {comments[name]} ({legend}).")
                lines += table(mask_type, name, [f"{m:#x}" for m in masks])
        return lines

    def masks_now(self) -> list[str]:
        """Returns the C line that reads the current opcode's masks from the tables."""
        if not self.beats:
            return []
        values = [
            f"{name}[opcode]" if len(set(masks)) > 1 else f"{masks[0]:#x}" for name, masks in self.masks().items()
        ]
        return [f"const {self.inputs[0]} = {{{', '.join(values)}}};"]

    @property
    def inputs(self) -> list[str]:
        """The masks as a parameter; empty without inputs."""
        return [f"ft_input_use<{len(self.beats)}> inputs"] if self.beats else []

    def lanes(self) -> list[str]:
        """Returns lines that compute a beat of results: each lane by a function unit."""
        wide = is_wide(self.group, "out0")
        lane = {n: f"{n}[lane]" for n in self.beats} | {"position": "position + lane"}
        names = [lane.get(n, n) if wide else n for n in self.passed]
        call = f"function_unit({', '.join(['opcode', *names])});"
        if not wide:
            return [f"result = {call}"]
        return [
            "lanes:",
            "for (int lane = 0; lane < LANES; lane++) {",
            "#pragma HLS UNROLL",
            f"    result[lane] = {call}",
            "}",
        ]

    def beat_parameters(self) -> str:
        """Returns the parameters of the function over a beat."""
        beats = [f"const {n}_beat &{n}" for n in self.beats]
        scalars = [f"long {n}" for n in self.scalars] + ["long position"] * self.placed
        return ", ".join(["int opcode", *beats, *scalars])

    def beat_arguments(self) -> str:
        """Returns the arguments of the function over a beat, in the loop over beats `v`."""
        form = {"dataflow": "{}", "loop": "{}_now", "burst": "{}_block[v]"}[self.structure]
        first = "first + block" if self.structure == "burst" else "first"
        position = [f"out0_offset + ({first} + (long)v) * LANES"] * self.placed
        beats = [form.format(n) for n in self.beats]
        return ", ".join(["opcode", *beats, *self.scalars, *position])

    def receive(self) -> list[str]:
        """Returns lines that read a beat of each input; none for "burst", where blocks hold the
        beats."""
        lines = []
        for k, n in enumerate(self.beats):
            if self.structure == "loop":
                call = f"ft_read_beat<LANES, {k}>({n}, inputs, {n}_offset, first + v)"
                lines.append(f"const {n}_beat {n}_now = {call};")
            elif all(_reads(key, n) for key in self.keys):
                lines.append(f"const {n}_beat {n} = {n}_from.read();")
            else:
                lines += [f"{n}_beat {n}{{}};", f"if (inputs.reads[{k}]) {n} = {n}_from.read();"]
        return [] if self.structure == "burst" else lines

    @property
    def compute_parameters(self) -> list[str]:
        """The parameters of the compute stage besides FIFOs and the number of beats."""
        return ["int opcode", *(f"long {n}" for n in self.scalars), *self.inputs]

    def dataflow(self) -> dict[str, str | list[str]]:
        """Returns the template values of the dataflow stages and their FIFOs."""
        names = [*self.beats, "out0"]
        inputs = ["inputs"] * bool(self.beats)
        placed = ["out0_offset", "first"] * self.placed
        streams = [f"hls::stream<{n}_beat> &{n}_from" for n in self.beats]
        fifos = []
        for n in names:
            fifos.append(f'hls::stream<{n}_beat> {n}_fifo("{n}");')
            fifos.append(f"#pragma HLS STREAM variable={n}_fifo depth={FIFO_DEPTH}")
        offsets = [f"{n}_offset" for n in ["out0", *self.beats]]
        compute = self.compute_parameters
        return {
            "compute_streams": ", ".join([*streams, "hls::stream<out0_beat> &out0_to"]),
            "compute_scalars": ", ".join([*compute, *["long out0_offset", "int first"] * self.placed, "int count"]),
            "compute_arguments": ", ".join(
                [f"{n}_fifo" for n in names] + ["opcode", *self.scalars, *inputs, *placed, "total"]
            ),
            "run_pointers": ", ".join(["out0_beat *out0", *(f"const {n}_beat *{n}" for n in self.beats)]),
            "run_offsets": ", ".join(f"long {n}" for n in offsets),
            "run_scalars": ", ".join([*compute, "int first, int count, int rest, int total"]),
            "run_arguments": ", ".join(
                ["out0", *self.beats, *offsets, "opcode", *self.scalars, *inputs]
                + ["first", "count", "rest", "count + (rest > 0)"]
            ),
            "streams": fifos,
            "reads": [
                f"ft_read_port<LANES, {k}>({n}, {n}_fifo, inputs, {n}_offset, first, total);"
                for k, n in enumerate(self.beats)
            ],
            "writes": ["ft_write_port<LANES>(out0, out0_fifo, out0_offset, first, count, rest);"],
        }

    def burst(self) -> dict[str, str | list[str]]:
        """Returns the template values of the blocks in local memory."""
        at = "first + block"
        widest = max(users[0][1].dtype.itemsize for _, users in port_slots(self.group))
        return {
            "block": str(block_beats(widest, self.group.lanes)),
            "buffers": [f"{n}_beat {n}_block[BLOCK];" for n in [*self.beats, "out0"]],
            "reads": [
                f"ft_read_block<LANES, {k}>({n}, {n}_block, inputs, {n}_offset, {at}, total);"
                for k, n in enumerate(self.beats)
            ],
            "writes": [f"ft_write_block<LANES>(out0, out0_block, out0_offset, {at}, whole, tail);"],
        }


def _reads(key: KernelKey, name: str) -> bool:
    k = OPERAND_NAMES.index(name.removeprefix("in_"))
    return k < len(key.ins) and key.ins[k].kind != BY_VALUE


def _single(key: KernelKey, name: str) -> bool:
    return _reads(key, name) and key.ins[OPERAND_NAMES.index(name.removeprefix("in_"))].kind == SINGLE
