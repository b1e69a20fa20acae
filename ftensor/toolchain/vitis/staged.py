"""HLS sources of graphs as a DATAFLOW region of dataflow stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...dtypes import dtype
from ...kernels import element_function, fused
from ...kernels import source as ctype
from ...kernels import source as kernel_source
from ...kernels.graph_text import (
    ABOVE,
    EVERY_BLOCK,
    FRAMES,
    HALO,
    ONE_ELEMENT,
    PER_BLOCK,
    PER_ROW,
    REFLECTED,
    ROWS,
    SHARED_ROW,
    TAPS,
)
from ...kernels.row_pass_macros import c_functions_with_own_state
from ...kernels.signal_stages import RowFilter, RowTransform, half_of
from ...kernels.skeletons.fused import functions
from ...kernels.staged import (
    ELEMENTS,
    FILTER,
    FOLD,
    LOAD,
    ROW_VALUES,
    SCATTER,
    TRANSFORM,
    VECTOR_KINDS,
    WINDOW,
    DataflowStage,
    Fifo,
    StagedKey,
    Stages,
    value_type,
)
from ...kernels.stencil_stages import SliceScatter, Window
from ..group import KernelGroup, arguments, element_word
from ..transform_steps import FEW, TransformSteps
from .frames import frames_text
from .interface import interfaces, parameter_list, title
from .stencil import scatter_stage, window_stage
from .text import fill


class HlsSteps(TransformSteps):
    """Steps as functions of hls/vitis/transform.h; constants are template arguments."""

    def called(self, word: str, constants: Sequence[int | str], arguments: Sequence[str]) -> str:
        return f"ft_{word}<{', '.join(map(str, constants))}>({', '.join(arguments)})"

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


class Text:
    """Fills the templates of a graph's kernel, and of single dataflow stages."""

    def __init__(self, group: KernelGroup) -> None:
        self.group, self.key = group, cast("StagedKey", group.members[0])
        self.stages, self.functions = Stages(self.key), functions(self.key, "vitis")
        self.scalars = [
            (c, name) for what, c, name in fused.parameters(self.key) if what != "*" and not name.endswith("_offset")
        ]

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
        settings = kernel_source.settings(group.kind.compute(key), key.lanes, True, "slab")
        texts, calls, more = [], [], []
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
                "settings": [line for line in settings if line.split()[1] != "FT_GRID_STRIDE"],
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
        factors = self.key.factors
        ports = {f"out{k}_offset": (p, v) for k, (p, v) in enumerate(zip(self.key.outs, self.key.results))}
        ports |= {f"in_{k}_offset": (p, k) for k, p in enumerate(self.key.ins)}
        if name not in ports:
            return name
        p, value = ports[name]
        if p.kind == FRAMES:
            return f"{name} + (long)begin * {self.key.hop_of(int(name.split('_')[1]))}"
        own = self.key.is_half[value] or self.key.width
        length = str(self.key.row_length(value)) if own else _times("LENGTH", factors[value])
        each = {
            ROWS: f"(long)begin * {length}",
            HALO: f"(long)begin * {length}",
            ABOVE: f"(long)begin * {length}",
            PER_ROW: "begin",
            PER_BLOCK: f"(long)begin / PERIOD * {length}",
        }
        of = each.get(p.kind)
        return f"{name} + {of}" if of else name

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
        if stage.kind == WINDOW:
            return window_stage(self, k, stage)
        if stage.kind == SCATTER:
            return scatter_stage(self, k, stage)
        return self._moves(k, stage)

    # Ports

    def _moves(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that reads an operand or writes a result."""
        key, load = self.key, stage.kind == LOAD
        port = (key.ins if load else key.outs)[stage.port]
        name = f"in_{stage.port}" if load else f"out{stage.port}"
        fifos = self._out(k, stage.port) if load else self.stages.input_fifos(k)
        wide, c_type = port.kind in VECTOR_KINDS, element_word(port)
        element = _PORT_WORDS.get(c_type, c_type) if wide or c_type == "ft_half" else c_type
        beat = f"hls::vector<{element}, {key.lanes}>"
        shape = {
            ROWS: "" if key.length % key.lanes == 0 else "_pieces",
            SHARED_ROW: "_every_row",
            PER_ROW: "_of_row",
            ONE_ELEMENT: "_one",
            PER_BLOCK: "_each",
            EVERY_BLOCK: "_again_kept" if load and key.cached_beats(stage.port) else "_again",
            TAPS: "_taps",
            FRAMES: "_frames",
            REFLECTED: "_frames",
        }[port.kind]
        half = wide and key.is_half[stage.port if load else stage.inputs[0]]
        if not load and (half or key.width):
            shape = "_half"
        halo = load and wide and key.width > 0
        shape = ("_around" if key.scatters else "_halo") if halo else shape
        lane = "[ft_lane]" if wide else ""
        texts = {
            **frames_text(stage.name, beat, port.kind == REFLECTED),
            "name": stage.name,
            "once": f"{stage.name}_once",
            "port": name,
            "beat": beat,
            "element": element,
            "type": value_type(port.dtype),
            "streams": self._streams(fifos),
            "from": fifos[0].name if fifos else "",
            "take": _from_port(f"got{lane}", port.dtype, element),
            "give": _to_port(f"w{lane}", port.dtype, element),
            "writes": [f"{f.name}.write(w);" for f in fifos],
            "count": str(key.taps_of(stage.port)) if port.kind == TAPS else "",
            "hop": str(key.hop_of(stage.port) // key.lanes) if port.kind in (FRAMES, REFLECTED) else "",
            **self._row(stage),
            **self._stored(half),
            "halo": str(key.halo),
            "unread": str(key.unread_beats(stage.port)) if halo else "",
            "behind": f"{stage.name}_behind",
            "above": str(key.above // key.lanes),
            "before": f"{stage.name}_before",
            "none": f"{stage.name}_none",
            "rest": f"{stage.name}_rest",
            **self._kept(stage, half),
        }
        text = fill(f"staged_{'load' if load else 'store'}{shape}.cpp", texts)
        places = [name, f"in_{key.halo_of(stage.port)}"] if halo else [name]
        places += [f"in_{key.above_of(stage.port)}"] if halo and key.scatters else []
        offsets = [f"{one}_offset" for one in places]
        args = [*places, *(f.name for f in fifos), *offsets, *(["n"] if port.kind != TAPS else [])]
        args += ["first", "total"] if halo and key.scatters else []
        if port.kind == REFLECTED:
            fifo = f"{stage.name}_beats"
            calls = [
                f"{stage.name}_signal({name}, {fifo}, {name}_offset, n, first, total)",
                f"{stage.name}({', '.join([fifo, *(f.name for f in fifos), 'n'])})",
            ]
            return (
                fill("staged_load_reflected.cpp", texts) + text,
                calls,
                [f'hls::stream<{beat}, 32> {fifo}("{fifo}");'],
            )
        return text, [f"{stage.name}({', '.join(args)})"], []

    def _row(self, stage: DataflowStage) -> dict[str, str]:
        """Returns the template's texts for the row sizes of a stage, whose rows may be longer than
        the shortest rows."""
        factor = self.stages.factor_of(stage)
        states = self.key.states_of(factor)
        return {
            "length": _times("LENGTH", factor),
            "beats": _times("BEATS", factor),
            "state_count": "STATES" if states == self.key.states else str(states),
            "states": str(states),
        }

    def _stored(self, half: bool) -> dict[str, str]:
        """Returns the template's texts for a store of the first elements of each row: how many, and
        how many of them the row has from `column` on."""
        size = half_of(self.key.length) if half else self.key.width
        left = f"{size} - column"
        if self.key.width:
            left = f"(v < (long)(rows - {self.key.halo}) * BEATS ? {left} : 0)"
        return {"size": str(size), "left": left}

    def _kept(self, stage: DataflowStage, half: bool) -> dict[str, str]:
        """Returns the template's texts for the beats of a row that a load keeps for all rows."""
        if not (half and stage.kind == LOAD):
            return {"kept_beats": self._row(stage)["beats"], "kept_beat": "column"}
        beats = self.key.cached_beats(stage.port)
        return {"kept_beats": str(beats), "kept_beat": f"column < {beats} ? column : 0"}

    # Arithmetic

    def _computes(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that calls element functions, on each element or on the values of a row."""
        key, wide = self.key, stage.kind == ELEMENTS
        into = self.stages.input_fifos(k)
        out = [(v, self._out(k, v)) for v in stage.outputs]
        kept, reads, named = self.reads(into, wide)
        lines = list(named)
        for c in stage.calls:
            args = [*fused.call_operands(key, c), *fused.call_scalars(key, c)]
            lines += fused.call_lines(key, c, self.functions[c], args)
        used = [(v, fifos) for v, fifos in out if fifos]
        if wide:
            lines += [f"w_v{v}[ft_lane] = v{v};" for v, _ in used]
        fifos = [*into, *(f for _, some in used for f in some)]
        names = ", ".join(key.calls[c].function.name for c in stage.calls)
        text = fill(
            f"staged_{stage.kind}.cpp",
            {
                "comment": f"{names}: {'each element' if wide else 'what is of a row'}.",
                "name": stage.name,
                "streams": self._streams(fifos),
                "scalars": self._scalars(stage),
                "kept": kept,
                "reads": reads,
                "results": [f"ft_vec<{value_type(key.dtypes[v])}> w_v{v};" for v, _ in used],
                "computed": lines,
                "writes": [f"{f.name}.write({'w_' if wide else ''}v{v});" for v, some in used for f in some],
                **self._row(stage),
            },
        )
        return text, [self._call(stage.name, [f.name for f in fifos], stage)], []

    def _folds(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns two stages that fold rows: parallel states, and a tree that combines them."""
        key, (c,) = self.key, stage.calls
        into = self.stages.input_fifos(k)
        out = [f for v in stage.outputs for f in self._out(k, v)]
        kept, reads, named = self.reads(into, True)
        function, scalars = self.functions[c], fused.call_scalars(key, c)
        states = f"{stage.name}_now"
        args = [*fused.call_operands(key, c), *scalars, "column * LANES + ft_lane", "&lifted"]
        text = fill(
            "staged_fold.cpp",
            {
                "comment": key.calls[c].function.name,
                "name_of_states": f"{stage.name}_states",
                "name_of_tree": f"{stage.name}_tree",
                "state": f"{function}_s",
                "identity": f"{function}_identity",
                "combine": f"{function}_combine",
                "streams": self._streams(into),
                "trees": self._streams(out),
                "scalars": self._scalars(stage),
                "kept": kept,
                "reads": reads,
                "values": named,
                "lift": f"{function}_lift({', '.join(args)});",
                **self._row(stage),
                "finished": fused.call_lines(key, c, f"{function}_finish", ["sum[0][0]", *scalars]),
                "writes": [f"{f.name}.write(v{f.value});" for f in out],
            },
        )
        return (
            text,
            [
                self._call(f"{stage.name}_states", [*(f.name for f in into), states], stage),
                self._call(f"{stage.name}_tree", [states, *(f.name for f in out)], stage),
            ],
            [f'hls::stream<ft_vec<{function}_s>, 32> {states}("{states}");'],
        )

    def _transforms(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that transforms rows."""
        key, (c,) = self.key, stage.calls
        function, course = key.calls[c].function, key.transform_schedule
        assert isinstance(function, RowTransform)
        (into,) = self.stages.input_fifos(k)
        out = [f for v in stage.outputs for f in self._out(k, v)]
        c_type = value_type(function.outs[0][0] or function.compute)
        steps = HlsSteps(function, course, c_type, fused.call_scalars(key, c))
        comment = f"{function.name} of rows of {course.points}"
        text = fill(
            "staged_transform.cpp",
            {
                "comment": comment,
                "name": stage.name,
                "streams": self._streams([into, *out]),
                "scalars": self._scalars(stage),
                "tables": steps.tables,
                "memories": steps.memories,
                "behind": str(course.startup_beats),
                "apart": steps.apart,
                "type": c_type,
                "reads": _real_beat(into.name) if function.half else [f"w = {into.name}.read();"],
                "steps": steps.lines,
                "writes": [f"{f.name}.write(w);" for f in out],
            },
        )
        return text, [self._call(stage.name, [f.name for f in (into, *out)], stage)], []

    def _filters(self, k: int, stage: DataflowStage) -> tuple[str, list[str], list[str]]:
        """Returns a stage that filters rows."""
        key, (c,) = self.key, stage.calls
        function = key.calls[c].function
        assert isinstance(function, RowFilter)
        signal, taps = (next(f for f in self.stages.input_fifos(k) if f.value == v) for v in key.calls[c].operands)
        out = [f for v in stage.outputs for f in self._out(k, v)]
        sample, tap = value_type(key.dtypes[signal.value]), value_type(key.dtypes[taps.value])
        row = self._row(stage)
        constants = (sample, tap, "LANES", function.taps, function.stride, function.before)
        text = fill(
            "staged_filter.cpp",
            {
                "comment": f"{function.name}: sums of {function.taps} products, for each {function.stride} samples",
                "name": stage.name,
                "streams": self._streams([signal, taps, *out]),
                "scalars": "int rows",
                "constants": ", ".join(map(str, constants)),
                "type": sample,
                "tap": tap,
                "entering": f"{stage.name}_taps",
                "taps": taps.name,
                "samples": f"(long){function.rows or 'rows'} * {row['length']}",
                "from": signal.name,
                "writes": [f"{f.name}.write(w);" for f in out],
                **row,
            },
        )
        return text, [self._call(stage.name, [f.name for f in (signal, taps, *out)], stage)], []

    def reads(self, into: Sequence[Fifo], wide: bool) -> tuple[list[str], list[str], list[str]]:
        """Returns three lists of lines for the loop of a stage: declarations of values that last a
        row, reads of the FIFOs `into`, and definitions of a lane's values.

        wide: an item of a FIFO is a vector.
        """
        kept, reads, named = [], [], []
        for f in into:
            v, c_type = f.value, value_type(self.key.dtypes[f.value])
            if not wide:
                reads.append(f"const {c_type} v{v} = {f.name}.read();")
            elif self.key.is_per_row[v]:
                kept.append(f"{c_type} w_v{v}{{}};")
                reads.append(f"if (column == 0) w_v{v} = {f.name}.read();")
                named.append(f"const {c_type} v{v} = w_v{v};")
            else:
                reads.append(f"const ft_vec<{c_type}> in_v{v} = {f.name}.read();")
                named.append(f"const {c_type} v{v} = in_v{v}[ft_lane];")
        return kept, reads, named

    def _scalars_of(self, stage: DataflowStage) -> list[tuple[str, str]]:
        """Returns the (C type, name) of the scalars that a stage uses."""
        used = {name for c in stage.calls for name in fused.call_scalars(self.key, c)}
        return [one for one in self.scalars if one[1] in used]

    def _scalars(self, stage: DataflowStage) -> str:
        return ", ".join([*(f"{c}{name}" for c, name in self._scalars_of(stage)), "int rows"])

    def _call(self, name: str, fifos: Sequence[str], stage: DataflowStage) -> str:
        args = [*fifos, *(name for _, name in self._scalars_of(stage)), "n"]
        return f"{name}({', '.join(args)})"

    def _out(self, k: int, value: int) -> list[Fifo]:
        return self.stages.output_fifos(k, value)

    def fifo_type(self, value: int) -> str:
        """Returns the C type of a FIFO's element."""
        c_type = value_type(self.key.dtypes[value])
        return c_type if self.key.is_per_row[value] else f"ft_vec<{c_type}>"

    def _streams(self, fifos: Sequence[Fifo]) -> str:
        return ", ".join(f"hls::stream<{self.fifo_type(f.value)} > &{f.name}" for f in fifos)

    def _pointer(self, c: str) -> str:
        """Returns a pointer's type as the kernel declares it."""
        return c.replace("ft_half", "uint16_t").replace("<ft_cfloat,", "<uint64_t,")


def _real_beat(fifo: str) -> list[str]:
    """Returns the lines that read a beat of real numbers as complex ones."""
    lines = [f"const ft_vec<float> got = {fifo}.read();", "for (int l = 0; l < LANES; l++) {", "#pragma HLS UNROLL"]
    return [*lines, "    w[l].re = got[l];", "}"]


def _times(size: str, factor: int) -> str:
    return size if factor == 1 else f"({factor} * {size})"


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
    includes = ['#include "ftensor/vitis/transform.h"' for _ in key.transforms[:1]]
    return includes + ['#include "ftensor/vitis/filter.h"' for _ in key.filters[:1]]


def namespaced_functions(key: fused.FusedKey) -> list[str]:
    """Returns the element functions, in a namespace for each compute type."""
    each = tuple([u for u in key.functions if not isinstance(u, (RowTransform, RowFilter, Window, SliceScatter))])
    keys = [u.key(key.lanes) for u in each]
    helper_names = {name for k in keys for name in kernel_source.helper_files(k)}
    texts = [c_functions_with_own_state(u, fused.function_name(key, u)) for u in each]
    files = [f'#include "ftensor/{name}"' for name in element_function.SHARED_HELPERS if name in helper_names]
    return [*files, *element_function.namespaces(keys, lambda k, _: texts[k])]
