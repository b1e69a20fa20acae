"""HLS sources of graphs as a DATAFLOW region of dataflow stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...dtypes import dtype
from ...kernels import element_function, fused
from ...kernels import source as ctype
from ...kernels import source as kernel_source
from ...kernels.byte_tables import ENTRIES, byte_tables
from ...kernels.graph_text import REFLECTED, TAPS
from ...kernels.row_pass_macros import c_functions_with_own_state
from ...kernels.signal_stages import RowTransform, half_of
from ...kernels.staged import (
    ELEMENTS,
    FILTER,
    FOLD,
    LOAD,
    LOOP,
    ROW_VALUES,
    SCATTER,
    TRANSFORM,
    VECTOR_KINDS,
    WINDOW,
    DataflowStage,
    Fifo,
    StagedKey,
    value_type,
)
from ..group import KernelGroup, arguments, element_word
from ..stage_text import StageText, Values, Words, element_functions
from ..transform_steps import FEW, TransformSteps
from .interface import interfaces, parameter_list, title
from .stencil import scatter_stage, window_stage
from .text import file_settings, fill


class HlsSteps(TransformSteps):
    """Memories of a transform in HLS C++."""

    def halves(self, name: str, delay: int) -> None:
        """Declares the delay memory of an exchange of halves: `delay` beats, one bank for each
        lane. Each iteration reads a word and writes a new word to the same address."""
        self.memories.append(f"{self.of} {name}[{delay}][{self.course.lanes // 2}];")
        which = "complete dim=0" if delay <= FEW else "dim=2 complete"
        self.memories.append(f"#pragma HLS ARRAY_PARTITION variable={name} {which}")
        if delay > FEW:
            self.apart.append(f"#pragma HLS DEPENDENCE variable={name} inter RAW distance={delay} true")

    def rows(self, name: str) -> None:
        """Declares a double buffer of rows, one bank for each lane."""
        self.memories.append(f"{self.of} {name}[2][BEATS][LANES];")
        self.memories.append(f"#pragma HLS ARRAY_PARTITION variable={name} dim=3 complete")

    def table(self, name: str, size: str, rows: Sequence[str]) -> None:
        self.tables += [f"static const {self.of} {name}{size} = {{"]
        self.tables += [*(f"    {{{row}}}," for row in rows), "};"]
        self.tables.append(f"#pragma HLS ARRAY_PARTITION variable={name} dim=2 complete")


# Types of elements in a port's beat: a pair of floats is one number there.
_PORT_WORDS = {"ft_half": "uint16_t", "ft_cfloat": "uint64_t"}


def source(group: KernelGroup) -> str:
    """Returns the text of a graph's kernel."""
    return Text(group).source()


class Text(StageText):
    """Fills the templates of a graph's kernel, and of single dataflow stages."""

    dialect, own, steps, cleared = "vitis", "vitis/staged_{}.cpp", HlsSteps, "{}"

    def __init__(self, group: KernelGroup) -> None:
        super().__init__(cast("StagedKey", group.members[0]))
        self.group = group
        self.scalars = [
            (c, name) for what, c, name in fused.parameters(self.key) if what != "*" and not name.endswith("_offset")
        ]

    def vector(self, c_type: str) -> str:
        return f"ft_vec<{c_type}>"

    def lane(self, vector: str) -> str:
        return f"{vector}[ft_lane]"

    def take(self, fifo: Fifo) -> str:
        return f"{fifo.name}.read()"

    def give(self, fifo: Fifo, value: str) -> str:
        return f"{fifo.name}.write({value});"

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"ft_select({condition}, {yes}, {no})"

    def recurs(self, name: str, distance: int) -> str:
        return f"#pragma HLS DEPENDENCE variable={name} inter RAW distance={distance} true"

    def words(self, values: Values) -> Words:
        name = values["name"]

        def loop(counter: str, count: str) -> list[str]:
            variable = counter.split()[1]
            head = f"for ({counter} = 0; {variable} < {count}; {variable}++) {{"
            bounds = [] if count.isdigit() else ["#pragma HLS LOOP_TRIPCOUNT min=1 max=65536"]
            pipeline = f"#pragma HLS PIPELINE II={values.get('interval', 1)}"
            return [f"{name}:", head, pipeline, *bounds, *values.get("apart", ())]

        def span(label: str, ends: str) -> list[str]:
            begin, end = ends.split(", ")
            head = f"for (long v = {begin}; v < {end}; v++) {{"
            bounds = [] if end.isdigit() else ["#pragma HLS LOOP_TRIPCOUNT min=0 max=65536"]
            return [f"{name}_{label}:", head, "#pragma HLS PIPELINE II=1", *bounds]

        each_lane = ["for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {"]
        words: Words = {
            "FT_STAGE": lambda: [f"static void {name}({values['parameters']})", "{"],
            "FT_LOOP": loop,
            "FT_SPAN": span,
            "FT_EACH_LANE": lambda: each_lane,
            "FT_INLINE": lambda: ["#pragma HLS INLINE"],
            "FT_UNROLL": list,
            "FT_REGISTERS": lambda array: [f"#pragma HLS ARRAY_PARTITION variable={array} complete"],
        }
        if "beat" not in values:
            return words
        beat, c_type, taken = values["beat"], values["type"], values["from"]
        base = f"{beat} *to" if taken else f"const {beat} *from"
        unpacked = [*each_lane, f"    w[ft_lane] = {values['take']};", "}"]
        packed = [f"{beat} got;", *each_lane, f"    got[ft_lane] = {values['give']};", "}"]
        result = [f"const ft_vec<{c_type}> w = {taken};", *packed]
        return {
            **words,
            "FT_BASE": lambda: [f"{base} = port + offset / LANES;"],
            "FT_BEAT": lambda at: [f"const {beat} got = from[{at}];"],
            "FT_FETCH": lambda at: [f"got = from[{at}];"],
            "FT_VALUES": lambda: [f"ft_vec<{c_type}> w;", *unpacked],
            "FT_RESULT": lambda: result,
            "FT_READ_FIFO": lambda: result[:1],
            "FT_PUT": lambda at: [*packed, f"to[{at}] = got;"],
            "FT_STORE": lambda at: [*result, f"to[{at}] = got;"],
            "FT_ELEMENT": lambda at: [f"const {values['element']} got = port[{at}];"],
            "FT_PUT_ELEMENT": lambda at: [f"port[{at}] = {values['give']};"],
            "FT_STORE_ELEMENT": lambda at: [f"const {c_type} w = {taken};", f"port[{at}] = {values['give']};"],
        }

    def source(self) -> str:
        """Returns the text of the whole kernel."""
        key, group = self.key, self.group
        args = [a for a in arguments(group) if a.name not in ("ft_unit", "ft_units")]
        pointers = [f"{self._pointer(a.c)}{a.name}" for a in args if a.what == "*"]
        scalars = [f"{a.c} {a.name}" for a in args if a.what != "*"]
        passed = [self._of_unit(a.name) for a in args]
        if REFLECTED in {p.kind for p in key.ins} or key.scatters:
            scalars, passed = [*scalars, "int first", "int total"], [*passed, "begin", "n"]
        fifos = [f'hls::stream<{self.fifo_type(f.value)}, {f.depth}> {f.name}("{f.name}");' for f in self.stages.fifos]
        texts, calls, more = self.transforms(), [], []
        for k, stage in enumerate(self.stages.stages):
            text, stage_calls, stage_fifos = self.stage(k, stage)
            texts.append(text)
            calls += [f"FT_PROCESS({call})" for call in stage_calls]
            more += stage_fifos
        return fill(
            "staged.cpp",
            {
                "title": title(group),
                "comment": f"A graph over rows of {key.length} elements in beats of {key.lanes}.",
                "headers": headers(key),
                "settings": file_settings(group, key),
                "units": "\n\n".join(namespaced_functions(key)),
                "length": str(key.length),
                "lanes": str(key.lanes),
                "beats": str(key.beats),
                "states": str(key.states),
                "period": str(key.period),
                "stages": "\n".join(texts),
                "pointers": ", ".join(pointers),
                "scalars": ", ".join(scalars),
                "fifos": fifos + more,
                "processes": calls,
                "name": group.name,
                "parameters": parameter_list(group),
                "interfaces": interfaces(group),
                "together": str(key.together),
                "passed": ", ".join(passed),
            },
        )

    def _of_unit(self, name: str) -> str:
        """Returns the expression of a kernel argument that selects the rows of a compute unit."""
        if name == "n":
            return f"end - begin + {self.key.halo}" if self.key.width else "end - begin"
        ports = {f"out{k}_offset": (p, v) for k, (p, v) in enumerate(zip(self.key.outs, self.key.results))}
        ports |= {f"in_{k}_offset": (p, k) for k, p in enumerate(self.key.ins)}
        before = self.rows_before(*ports[name], "begin") if name in ports else ""
        return f"{name} + {before}" if before else name

    def stage(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns the functions of a dataflow stage, its calls, and the declarations of its own
        FIFOs."""
        if stage.kind in (ELEMENTS, ROW_VALUES):
            return self._computes(k, stage)
        if stage.kind == FOLD:
            return self._folds(k, stage)
        if stage.kind == TRANSFORM:
            return self._transforms(k, stage)
        if stage.kind == FILTER:
            return self._filters(k, stage)
        if stage.kind == LOOP:
            return self._joined(k, stage, "scan", self.looped(k, stage))
        if stage.kind == WINDOW:
            return window_stage(self, k, stage)
        if stage.kind == SCATTER:
            return scatter_stage(self, k, stage)
        return self._moves(k, stage)

    # Ports

    def _moves(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that reads an operand or writes a result."""
        key, load = self.key, stage.kind == LOAD
        port, fifos = self.port(stage), self.moved_fifos(k, stage)
        wide, c_type, moved = port.kind in VECTOR_KINDS, element_word(port), self.moved(k, stage)
        element = _PORT_WORDS.get(c_type, c_type) if wide or c_type == "ft_half" else c_type
        beat, name = f"hls::vector<{element}, {key.lanes}>", moved["port"]
        half = wide and key.is_half[stage.port if load else stage.inputs[0]]
        halo, taps, reflected = load and wide and key.width > 0, port.kind == TAPS, port.kind == REFLECTED
        template, memory = self.shape(stage), f"{beat if wide else element} *port"
        around = halo and bool(key.scatters)
        if halo or (not load and (half or key.width)):
            template = "load_halo" if load else "store_pieces"
        others = ["next"] * halo + ["previous"] * around
        sources = ["const " * load + memory, *(f"const {beat} *{other}" for other in others)]
        offsets = ["long offset", *(f"long {other}_offset" for other in others)]
        rows = [] if taps else ["int rows", *["int first", "int total"] * around]
        lane = "[ft_lane]" if wide else ""
        if reflected:
            sources, offsets = [f"hls::stream<{beat} > &signal"], []
        texts: dict[str, Any] = {
            **moved,
            "name": stage.name,
            "parameters": ", ".join([*sources, self.streams(fifos), *offsets, *rows]),
            "beat": beat,
            "element": element,
            "take": _from_port(f"got{lane}", port.dtype, element),
            "give": _to_port(f"w{lane}", port.dtype, element),
            "start": "0",
            "size": f"PERIOD * {moved['beats']}",
            "comment": "its PERIOD rows again and again",
            "fetches": "turn == 0",
            "open": [] if reflected else [f"const {beat} *from = port + offset / LANES;", "long next = 0;"],
            "fetch": ["got = signal.read();" if reflected else "got = from[next++];"],
            "signal_beats": str(key.signal // key.lanes),
            "halo": str(key.halo),
            "above": str(key.above // key.lanes),
            "unread": str(key.unread_beats(stage.port)) if halo else "",
            "once": f"{stage.name}_once",
            "signal": f"{stage.name}_signal",
            **self._pieces(half, moved["length"]),
            **self._kept(stage, half),
        }
        if halo:
            rows_end, unread = f"(long)rows * {moved['beats']}", texts["unread"]
            before = kernel_source.fill("vitis/staged_above.cpp", texts).splitlines()
            texts["before"] = before if around else f"const long last = {rows_end} - {unread};"
            texts["end"] = f"{rows_end} - {texts['above']}" if around else rows_end
        text, places = self.fill(template, texts), [name]
        places += [f"in_{key.halo_of(stage.port)}"] if halo else []
        places += [f"in_{key.above_of(stage.port)}"] if around else []
        calls = [*places, *(f.name for f in fifos), *(f"{one}_offset" for one in places), *["n"] * (not taps)]
        calls += ["first", "total"] * around
        if not reflected:
            return text, [f"{stage.name}({', '.join(calls)})"], []
        fifo = f"{stage.name}_beats"
        return (
            self.fill("load_reflected", texts) + text,
            [
                f"{texts['signal']}({name}, {fifo}, {name}_offset, n, first, total)",
                f"{stage.name}({', '.join([fifo, *(f.name for f in fifos), 'n'])})",
            ],
            [f'hls::stream<{beat}, 32> {fifo}("{fifo}");'],
        )

    def _pieces(self, half: bool, length: str) -> dict[str, str]:
        """Returns the template's texts for a store of rows that are no whole beats, or of the first
        elements of each row: how many elements the row has from `column` on."""
        if not half and not self.key.width:
            return {
                "joined": "rows whose length is not a multiple of the lanes",
                "sizes": f"left = {length} - column, size = left < LANES ? left : LANES",
                "ends": "left <= LANES",
            }
        size = half_of(self.key.length) if half else self.key.width
        left = f"{size} - column"
        if self.key.width:
            left = f"(v < (long)(rows - {self.key.halo}) * BEATS ? {left} : 0)"
        return {
            "joined": f"the first {size} elements of each row",
            "sizes": f"left = {left}, most = left < LANES ? left : LANES, size = most > 0 ? most : 0",
            "ends": f"column == {length} - LANES",
        }

    def _kept(self, stage: DataflowStage, half: bool) -> dict[str, str]:
        """Returns the template's texts for the beats of a row that a load keeps for all rows."""
        if not (half and stage.kind == LOAD):
            return {"kept_beats": self.row(stage)["beats"], "kept_beat": "column"}
        beats = self.key.cached_beats(stage.port)
        return {"kept_beats": str(beats), "kept_beat": f"column < {beats} ? column : 0"}

    # Arithmetic

    def computed(self, k: int, stage: DataflowStage) -> dict[str, Any]:
        values = super().computed(k, stage)
        return {**values, "kept": [*self._tables(stage), *values["kept"]]}

    def calls(self, stage: DataflowStage) -> list[str]:
        """Returns the lines of the calls for each element, and the reads of tables in place of others."""
        tables, lines = byte_tables(self.key, stage), []
        for c in stage.calls:
            v = self.key.first_value(c)
            if v in tables.bytes_of:
                c_type = value_type(self.key.dtypes[v])
                lines.append(f"const {c_type} v{v} = table_v{v}[ft_lane / 2][v{tables.bytes_of[v]}];")
            elif c in tables.element_calls:
                lines += self.call(c)
        return lines

    def _tables(self, stage: DataflowStage) -> list[str]:
        """Returns the lines that declare and fill a stage's tables of bytes, all in one loop."""
        key, tables = self.key, byte_tables(self.key, stage)
        if not tables.bytes_of:
            return []
        copies, lines = (key.lanes + 1) // 2, []
        for v in tables.bytes_of:
            lines.append(f"{value_type(key.dtypes[v])} table_v{v}[{copies}][{ENTRIES}];")
            lines.append(f"#pragma HLS ARRAY_PARTITION variable=table_v{v} dim=1 complete")
        lines += [f"{stage.name}_tables:", f"for (int byte = 0; byte < {ENTRIES}; byte++) {{"]
        lines.append("#pragma HLS PIPELINE II=1")
        for v in dict.fromkeys(tables.bytes_of.values()):
            c_type = value_type(key.dtypes[v])
            lines.append(f"    const {c_type} v{v} = ({c_type})byte;")
        lines += [f"    {line}" for c in tables.entry_calls for line in self.call(c)]
        for v in tables.bytes_of:
            lines.append(f"    for (int copy = 0; copy < {copies}; copy++) table_v{v}[copy][byte] = v{v};")
        return [*lines, "}"]

    def _computes(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that calls element functions, on each element or on the values of a row."""
        return self._joined(k, stage, stage.kind, self.computed(k, stage))

    def _joined(self, k: int, stage: DataflowStage, template: str, values: Values) -> tuple[str, list[str], list[str]]:
        fifos = [*self.stages.input_fifos(k), *(f for _, some in self.outputs(k, stage) for f in some)]
        head = {"name": stage.name, "parameters": f"{self.streams(fifos)}, {self._scalars(stage)}"}
        return self.fill(template, {**values, **head}), [self._call(stage.name, [f.name for f in fifos], stage)], []

    def _folds(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns two stages that fold rows: parallel states, and a tree that combines them."""
        into = self.stages.input_fifos(k)
        out = [f for _, some in self.outputs(k, stage) for f in some]
        folded, scalars, states = self.folded(k, stage, "sum[0][0]"), self._scalars(stage), f"{stage.name}_now"
        item = f"hls::stream<ft_vec<{folded['state']}>"
        text = self.fill(
            "fold",
            {
                **folded,
                "name": f"{stage.name}_states",
                "parameters": f"{self.streams(into)}, {item} > &to, {scalars}",
                "name_of_tree": f"{stage.name}_tree",
                "trees": f"{item} > &from, {self.streams(out)}, {scalars}",
                "apart": ["#pragma HLS DEPENDENCE variable=sum inter RAW distance=8 true"],
            },
        )
        return (
            text,
            [
                self._call(f"{stage.name}_states", [*(f.name for f in into), states], stage),
                self._call(f"{stage.name}_tree", [states, *(f.name for f in out)], stage),
            ],
            [f'{item}, 32> {states}("{states}");'],
        )

    def _transforms(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that transforms rows."""
        function, texts = self.key.calls[stage.calls[0]].function, self.transformed(k, stage)
        assert isinstance(function, RowTransform)
        if function.half:
            texts["reads"] = _real_beat(self.stages.input_fifos(k)[0].name)
        return self._joined(k, stage, "transform", texts)

    def _filters(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that filters rows."""
        values, fifos = self.filtered(k, stage, "{}")
        is_even = self.stages.filter_schedule(stage).is_even
        head = {"name": stage.name, "parameters": f"{self.streams(fifos)}, int rows"}
        text = self.fill("filter" if is_even else "decimate", {**values, **head})
        return text, [self._call(stage.name, [f.name for f in fifos], stage)], []

    def _scalars_of(self, stage: DataflowStage) -> list[tuple[str, str]]:
        """Returns the (C type, name) of the scalars that a stage uses."""
        used = {name for c in stage.calls for name in fused.call_scalars(self.key, c)}
        return [one for one in self.scalars if one[1] in used]

    def _scalars(self, stage: DataflowStage) -> str:
        return ", ".join([*(f"{c}{name}" for c, name in self._scalars_of(stage)), "int rows"])

    def _call(self, name: str, fifos: Sequence[str], stage: DataflowStage) -> str:
        args = [*fifos, *(name for _, name in self._scalars_of(stage)), "n"]
        return f"{name}({', '.join(args)})"

    def streams(self, fifos: Sequence[Fifo]) -> str:
        """Returns the parameters of a stage's FIFOs."""
        return ", ".join(f"hls::stream<{self.fifo_type(f.value)} > &{f.name}" for f in fifos)

    def _pointer(self, c: str) -> str:
        """Returns a pointer's type as the kernel declares it."""
        return c.replace("ft_half", "uint16_t").replace("<ft_cfloat,", "<uint64_t,")


def _real_beat(fifo: str) -> list[str]:
    """Returns the lines that read a beat of real numbers as complex ones."""
    return [f"const ft_vec<float> got = {fifo}.read();", "for (int l = 0; l < LANES; l++) w[l].re = got[l];"]


def _from_port(text: str, dtype: dtype, element: str) -> str:
    if dtype.name in ctype.HALF_DTYPES:
        return f"ft_from_half({text})"
    return f"ft_bits<{value_type(dtype)}>({text})" if element == "uint64_t" else text


def _to_port(text: str, dtype: dtype, element: str) -> str:
    if dtype.name in ctype.HALF_DTYPES:
        return f"ft_to_half({text})"
    return f"ft_bits<uint64_t>({text})" if element == "uint64_t" else text


def headers(key: StagedKey) -> list[str]:
    """Returns the include lines that stages need besides the common ones."""
    return ['#include "ftensor/taps.h"' for _ in key.filters[:1]]


def namespaced_functions(key: fused.FusedKey) -> list[str]:
    """Returns the element functions, in a namespace for each compute type."""
    each = element_functions(key)
    keys = [u.key(key.lanes) for u in each]
    helper_names = {name for k in keys for name in kernel_source.helper_files(k)}
    texts = [c_functions_with_own_state(u, name) for u, name in each.items()]
    files = [f'#include "ftensor/{name}"' for name in element_function.SHARED_HELPERS if name in helper_names]
    return [*files, *element_function.namespaces(keys, lambda k, _: texts[k])]
