"""Text of dataflow stages: templates in words that HLS C++ and OpenCL C both have (hls/staged/)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..kernels import fused, source
from ..kernels.element_function import ElementFunction
from ..kernels.graph_text import (
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
from ..kernels.key import Port
from ..kernels.row_loop import RowLoop
from ..kernels.signal_stages import RowFilter, RowTransform
from ..kernels.skeletons.feedback import feedback_key, stage_interval
from ..kernels.skeletons.fused import functions, spelled
from ..kernels.staged import ELEMENTS, FOLD, LOAD, DataflowStage, Fifo, StagedKey, Stages, stage_kind, value_type
from .transform_steps import TransformSteps

Values = Mapping[str, Any]  # a text or a list of lines for each placeholder
Words = Mapping[str, Callable[..., Sequence[str]]]
# A word alone on its line, with arguments, or before the brace of its block.
_WORD = re.compile(r"( *)(FT_\w+)(?:\((.*)\))?(?: \{)?")


class StageText(ABC):
    """Fills the templates of a graph's stages in one language.

    A template's words are lines of their own: FT_STAGE (the head of a stage), FT_LOOP (a pipelined
    loop), FT_SPAN (the same with a label, from one beat to another), FT_EACH_LANE, FT_BASE (the
    port's first beat), FT_BEAT and FT_FETCH (a beat from memory), FT_VALUES (its values),
    FT_RESULT, FT_STORE, FT_ELEMENT and FT_STORE_ELEMENT.
    """

    dialect: str
    own: str  # the path of a template that only this language has
    steps: type[TransformSteps]
    cleared: str  # the initializer of zeros

    def __init__(self, key: StagedKey) -> None:
        self.key, self.stages, self.functions = key, Stages(key), functions(key, self.dialect)

    @abstractmethod
    def vector(self, c_type: str) -> str:
        """Returns the type of a beat of values in a FIFO."""

    @abstractmethod
    def lane(self, vector: str) -> str:
        """Returns the current lane of a vector."""

    @abstractmethod
    def take(self, fifo: Fifo) -> str:
        """Returns the expression that reads a FIFO."""

    @abstractmethod
    def give(self, fifo: Fifo, value: str) -> str:
        """Returns the statement that writes a value to a FIFO."""

    @abstractmethod
    def chosen(self, condition: str, yes: str, no: str) -> str:
        """Returns the expression of one of two values, both of which are read."""

    @abstractmethod
    def recurs(self, name: str, distance: int) -> str:
        """Returns the pragma of a loop that reads what it wrote to a memory `distance` iterations before."""

    @abstractmethod
    def words(self, values: Values) -> Words:
        """Returns the words' lines in this language, for a stage whose template has `values`."""

    def fill(self, template: str, values: Values) -> str:
        """Returns a template with its placeholders and words replaced: this language's own, if it
        has one of this name, else that of hls/staged/. Labels and pragmas begin in the first
        column."""
        own, words, lines = self.own.format(template), self.words(values), list[str]()
        path = own if (source.hls_root() / own).exists() else f"staged/{template}.h"
        for line in source.fill(path, values).splitlines():
            match = _WORD.fullmatch(line)
            if match is None or match[2] not in words:
                lines.append(line)
                continue
            for new in words[match[2]](*(match[3].split(", ", 1) if match[3] else ())):
                lines.append(new if new.startswith("#") or new.endswith(":") else match[1] + new)
        return "\n".join(lines) + "\n"

    def fifo_type(self, value: int) -> str:
        """Returns the C type of a FIFO's element."""
        c_type = value_type(self.key.dtypes[value])
        return c_type if self.key.is_per_row[value] else self.vector(c_type)

    def rows_before(self, port: Port, value: int, row: str) -> str:
        """Returns the elements before row `row` of a port's operand; "" if the port reads the same
        elements for every row."""
        key = self.key
        own = key.is_half[value] or key.width
        length = str(key.row_length(value)) if own else times("LENGTH", key.factors[value])
        each = {
            ROWS: f"(long){row} * {length}",
            HALO: f"(long){row} * {length}",
            ABOVE: f"(long){row} * {length}",
            PER_ROW: row,
            PER_BLOCK: f"(long){row} / PERIOD * {length}",
            FRAMES: f"(long){row} * {key.hop_of(value)}" if port.kind == FRAMES else "",
        }
        if key.signal:
            each[FRAMES] = f"(long){row} / PERIOD * {key.signal}"
        return each.get(port.kind, "")

    def row(self, stage: DataflowStage) -> dict[str, str]:
        """Returns a template's texts for the row sizes of a stage, whose rows may be longer than
        the shortest rows."""
        factor = self.stages.factor_of(stage)
        states = self.key.states_of(factor)
        return {
            "length": times("LENGTH", factor),
            "beats": times("BEATS", factor),
            "state_count": "STATES" if states == self.key.states else str(states),
            "states": str(states),
        }

    def port(self, stage: DataflowStage) -> Port:
        """Returns the operand that a stage reads, or the result that it writes."""
        return (self.key.ins if stage.kind == LOAD else self.key.outs)[stage.port]

    def moved_fifos(self, k: int, stage: DataflowStage) -> list[Fifo]:
        """Returns the FIFOs of a stage that reads an operand or writes a result."""
        load = stage.kind == LOAD
        return self.stages.output_fifos(k, stage.port) if load else self.stages.input_fifos(k)

    def shape(self, stage: DataflowStage) -> str:
        """Returns the name of the template of a stage that reads an operand or writes a result."""
        key, load, port = self.key, stage.kind == LOAD, self.port(stage)
        return (
            f"{stage.kind}_"
            + {
                ROWS: "rows" if key.length % key.lanes == 0 else "pieces",
                SHARED_ROW: "shared",
                PER_ROW: "of_row",
                ONE_ELEMENT: "one",
                PER_BLOCK: "each",
                EVERY_BLOCK: "kept" if load and key.cached_beats(stage.port) else "again",
                TAPS: "taps",
                FRAMES: "signals" if key.signal else "frames",
                REFLECTED: "frames",
            }[port.kind]
        )

    def moved(self, k: int, stage: DataflowStage) -> dict[str, Any]:
        """Returns a template's texts for a stage that reads an operand or writes a result."""
        key, load, port, fifos = self.key, stage.kind == LOAD, self.port(stage), self.moved_fifos(k, stage)
        framed = port.kind in (FRAMES, REFLECTED)
        return {
            "port": f"in_{stage.port}" if load else f"out{stage.port}",
            "type": value_type(port.dtype),
            "from": "" if load else self.take(fifos[0]),
            "writes": [self.give(f, "w") for f in fifos] if load else [],
            "count": str(key.taps_of(stage.port)) if port.kind == TAPS else "",
            "hop": str(key.hop_of(stage.port) // key.lanes) if framed else "",
            **self.row(stage),
        }

    def outputs(self, k: int, stage: DataflowStage) -> list[tuple[int, list[Fifo]]]:
        """Returns the values of a stage that other stages read, each with its FIFOs."""
        out = [(v, self.stages.output_fifos(k, v)) for v in stage.outputs]
        return [(v, fifos) for v, fifos in out if fifos]

    def computed(self, k: int, stage: DataflowStage) -> dict[str, Any]:
        """Returns a template's texts for a stage that calls element functions, on each element or
        on the values of a row."""
        key, wide, used = self.key, stage.kind == ELEMENTS, self.outputs(k, stage)
        kept, reads, named = self.reads(k, wide)
        lines = [*named, *self.calls(stage)]
        if wide:
            lines += [f"{self.lane(f'w_v{v}')} = v{v};" for v, _ in used]
        names = ", ".join(key.calls[c].function.name for c in stage.calls)
        return {
            "comment": f"{names}: {'each element' if wide else 'what is of a row'}.",
            "kept": kept,
            "reads": reads,
            "results": [f"{self.vector(value_type(key.dtypes[v]))} w_v{v};" for v, _ in used],
            "computed": lines,
            "writes": [self.give(f, f"{'w_' if wide else ''}v{v}") for v, some in used for f in some],
            **self.row(stage),
        }

    def calls(self, stage: DataflowStage) -> list[str]:
        """Returns the lines that call the element functions of a stage."""
        return [line for c in stage.calls for line in self.call(c)]

    def call(self, c: int) -> list[str]:
        """Returns the lines of call `c`."""
        args = [*fused.call_operands(self.key, c), *fused.call_scalars(self.key, c)]
        return fused.call_lines(self.key, c, self.functions[c], args)

    def folded(self, k: int, stage: DataflowStage, result: str) -> dict[str, Any]:
        """Returns a template's texts for a stage that folds rows; `result` is the folded state."""
        key, (c,) = self.key, stage.calls
        kept, reads, named = self.reads(k, True)
        function, scalars = self.functions[c], fused.call_scalars(key, c)
        args = [*fused.call_operands(key, c), *scalars, "column * LANES + ft_lane", "&lifted"]
        return {
            "comment": key.calls[c].function.name,
            "state": f"{function}_s",
            "identity": f"{function}_identity",
            "combine": f"{function}_combine",
            "kept": kept,
            "reads": reads,
            "values": named,
            "lift": f"{function}_lift({', '.join(args)});",
            "finished": fused.call_lines(key, c, f"{function}_finish", [result, *scalars]),
            "writes": [self.give(f, f"v{v}") for v, some in self.outputs(k, stage) for f in some],
            **self.row(stage),
        }

    def transforms(self) -> list[str]:
        """Returns the functions that the graph's transforms call."""
        key = self.key
        if not key.transforms:
            return []
        course, head = key.transform_schedule, {"name": "", "parameters": ""}
        bits = {"bits": str(course.beat_bits), "lane_bits": str(course.lanes.bit_length() - 1)}
        texts = [self.fill("reversed_bits", head)]
        for c_type in dict.fromkeys(value_type(one.compute) for one in key.transforms):
            real = "double" if c_type == "ft_cdouble" else "float"
            texts.append(
                self.fill(
                    "transform_parts", {**head, **bits, "of": c_type, "real": real, "vector": self.vector(c_type)}
                )
            )
        return texts

    def transformed(self, k: int, stage: DataflowStage) -> dict[str, Any]:
        """Returns a template's texts for a stage that transforms rows."""
        key, (c,) = self.key, stage.calls
        function, course = key.calls[c].function, key.transform_schedule
        assert isinstance(function, RowTransform)
        (into,) = self.stages.input_fifos(k)
        c_type = value_type(function.outs[0][0] or function.compute)
        steps = self.steps(function, course, c_type, fused.call_scalars(key, c))
        return {
            "comment": f"{function.name} of rows of {course.points}",
            "tables": steps.tables,
            "memories": steps.memories,
            "behind": str(course.startup_beats),
            "apart": steps.apart,
            "cleared": f"{self.vector(c_type)} w{self.cleared};",
            "reads": [f"w = {self.take(into)};"],
            "steps": steps.lines,
            "writes": [self.give(f, "w") for _, some in self.outputs(k, stage) for f in some],
        }

    def filtered(self, k: int, stage: DataflowStage, count: str) -> tuple[dict[str, Any], list[Fifo]]:
        """Returns a template's texts for a stage that filters rows, and its FIFOs. `count` has a
        placeholder: the iterations of a loop that a stage without rows leaves out."""
        key, (c,) = self.key, stage.calls
        function, schedule = key.calls[c].function, self.stages.filter_schedule(stage)
        assert isinstance(function, RowFilter)
        signal, taps = (next(f for f in self.stages.input_fifos(k) if f.value == v) for v in key.calls[c].operands)
        out = [f for _, some in self.outputs(k, stage) for f in some]
        row, sample, products = (
            self.row(stage),
            value_type(key.dtypes[signal.value]),
            schedule.places // schedule.phases,
        )
        values: dict[str, Any] = {
            **row,
            "comment": f"{function.name}: sums of {function.taps} products, for each {function.stride} samples",
            "type": sample,
            "tap": value_type(key.dtypes[taps.value]),
            "vector": self.vector(sample),
            "cleared": self.cleared,
            "count": count.format(function.taps),
            "behind": count.format(schedule.delay),
            "samples": f"(long){function.rows or 'rows'} * {row['length']}",
            "read": self.take(signal),
            "read_tap": self.take(taps),
            "writes": [self.give(f, "w") for f in out],
            "stride": str(function.stride),
            "before": str(schedule.first + function.before),
            "products": str(products),
            "spacing": str(schedule.apart),
            "levels": str((products // schedule.step).bit_length() - 1),
            "cell_levels": str(schedule.cell.bit_length() - 1),
            **dict(zip(("entered", "at"), ("line", "at") if schedule.is_even else ("shifted", "at + first"))),
        }
        words = ("places", "cell", "step", "phases", "results", "delay", "first", "line")
        values |= {word: str(getattr(schedule, word)) for word in words}
        for hole, name in (("head", "head"), ("enter", "beat"), ("sums", "sums")):
            values[hole] = source.fill(f"staged/filter_{name}.h", values).splitlines()
        return values, [signal, taps, *out]

    def looped(self, k: int, stage: DataflowStage) -> dict[str, Any]:
        """Returns a template's texts for a stage that is a loop with feedback. A step takes a lane of
        each beat."""
        key, (c,) = self.key, stage.calls
        call, names = key.calls[c], element_functions(key)
        loop = call.function
        assert isinstance(loop, RowLoop)
        calls = [replace(one, scalars=tuple(call.scalars[n] for n in one.scalars)) for one in loop.calls]
        own = replace(feedback_key(loop), calls=tuple(calls), scalar_dtypes=key.scalar_dtypes)
        used, own_calls = fused.producers(own, own.results)
        types = [value_type(d) for d in own.dtypes]
        several = loop.signals > 1
        state = [f"state{n}[column]" if several else f"state{n}" for n in range(loop.states)]
        size = f"[{loop.signals}]" if several else ""
        kept = [f"{types[n]} state{n}{size}{self.cleared};" for n in range(loop.states)]
        begins = {}
        reads, computed, writes = [], [], []
        for f in self.stages.input_fifos(k):
            begun = [n for n, v in enumerate(call.operands[: loop.states]) if v == f.value]
            if key.is_per_row[f.value] and several:
                kept.append(f"{types[begun[0]]} begin_v{f.value}{self.cleared};")
                reads.append(f"if (column == 0) begin_v{f.value} = {self.take(f)};")
                begins[f.value] = f"begin_v{f.value}"
            elif begun and not several:
                reads += ["if (column == 0) {", f"    const {types[begun[0]]} begin = {self.take(f)};"]
                reads += [*(f"    if (v == 0) state{n} = begin;" for n in begun), "}"]
            else:
                kept.append(f"{self.fifo_type(f.value)} in_v{f.value}{self.cleared};")
                reads.append(f"if (ft_lane == 0) in_v{f.value} = {self.take(f)};")
        for n in used:
            given = call.operands[n]
            taken = begins.get(given, self.lane(f"in_v{given}"))
            if n >= loop.states or not several:
                computed.append(f"const {types[n]} v{n} = {state[n] if n < loop.states else taken};")
                continue
            computed.append(f"const {types[n]} v{n} = {self.chosen(f'v < {loop.signals}', taken, state[n])};")
        for n in own_calls:
            function = own.calls[n].function
            arguments = [*fused.call_operands(own, n), *fused.call_scalars(own, n)]
            computed += fused.call_lines(own, n, spelled(function, names[function], self.dialect), arguments)
        for v in dict.fromkeys(own.results):
            if v >= len(own.ins) and v not in own.call_operands:
                computed += fused.round_to_memory(v, own.dtypes[v])
        computed += [f"{state[n]} = v{own.results[n]};" for n in range(loop.states)]
        for n, v in enumerate(stage.outputs):
            fifos = self.stages.output_fifos(k, v)
            if n < loop.states and not several:
                writes += [f"if (ends) {self.give(f, f'state{n}')}" for f in fifos]
            elif fifos:
                kept.append(f"{self.fifo_type(v)} w_v{v}{self.cleared};")
                computed.append(f"{self.lane(f'w_v{v}')} = v{own.results[n]};")
                writes += [f"if (ends_beat) {self.give(f, f'w_v{v}')}" for f in fifos]
        return {
            "comment": f"{loop.name}: a loop with feedback, a step for each element, whose states stay in registers.",
            "interval": str(stage_interval(loop)),
            "apart": [self.recurs(f"state{n}", loop.signals) for n in range(loop.states) if several],
            "kept": kept,
            "reads": reads,
            "computed": computed,
            "writes": writes,
            **self.row(stage),
        }

    def reads(self, k: int, wide: bool) -> tuple[list[str], list[str], list[str]]:
        """Returns three lists of lines for the loop of a stage: declarations of values that last a
        row, reads of its FIFOs, and definitions of a lane's values.

        wide: an item of a FIFO is a vector.
        """
        kept, reads, named = [], [], []
        for f in self.stages.input_fifos(k):
            v, c_type = f.value, value_type(self.key.dtypes[f.value])
            if not wide:
                reads.append(f"const {c_type} v{v} = {self.take(f)};")
            elif self.key.is_per_row[v]:
                kept.append(f"{c_type} w_v{v}{self.cleared};")
                reads.append(f"if (column == 0) w_v{v} = {self.take(f)};")
                named.append(f"const {c_type} v{v} = w_v{v};")
            else:
                reads.append(f"const {self.vector(c_type)} in_v{v} = {self.take(f)};")
                named.append(f"const {c_type} v{v} = {self.lane(f'in_v{v}')};")
        return kept, reads, named


def element_functions(key: fused.FusedKey) -> dict[ElementFunction, str]:
    """Returns the C name of each function of elements, or fold, that a kernel calls; those of steps of
    loops with feedback come last."""
    names = {u: fused.function_name(key, u) for u in key.functions if stage_kind(u) in (ELEMENTS, FOLD)}
    for loop in key.functions:
        for call in loop.calls if isinstance(loop, RowLoop) else ():
            names.setdefault(call.function, f"step_{len(names)}_{call.function.name}")
    return names


def times(size: str, factor: int) -> str:
    """Returns the C text of `factor` times `size`."""
    return size if factor == 1 else f"({factor} * {size})"
