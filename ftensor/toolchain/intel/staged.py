"""OpenCL C of graphs for Intel FPGAs: a kernel per dataflow stage, connected by channels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ...errors.build import no_stage_for_intel
from ...image.file import CHANNEL_DEPTH
from ...image.manifest import KernelRecord, StageRecord
from ...kernels import element_function, fused, source
from ...kernels.element_function import ElementFunction
from ...kernels.graph_text import EVERY_BLOCK, FRAMES, ONE_ELEMENT, PER_BLOCK, PER_ROW, ROWS, SHARED_ROW, TAPS
from ...kernels.key import KernelKey
from ...kernels.row_pass_macros import c_functions_with_own_state
from ...kernels.signal_stages import RowFilter, RowTransform
from ...kernels.skeletons.fused import functions
from ...kernels.source import fill
from ...kernels.staged import (
    ELEMENTS,
    FILTER,
    FOLD,
    LOAD,
    ROW_VALUES,
    STORE,
    TRANSFORM,
    DataflowStage,
    Fifo,
    StagedKey,
    Stages,
    value_type,
)
from ..group import KernelGroup, arguments
from ..transform_steps import FEW, TransformSteps
from .member import head

# Number of constants that each function takes as arguments; the others follow from the beat's type.
_PASSED = {"crossed": 1, "lane_butterflies": 1, "sorted": 2}


class OpenCLSteps(TransformSteps):
    """Steps as functions of hls/intel/transform.cl, which the compiler inlines."""

    def called(self, word: str, constants: Sequence[int | str], arguments: Sequence[str]) -> str:
        return f"ft_{word}({', '.join([*arguments, *map(str, constants[: _PASSED.get(word, 0)])])})"

    def halves(self, name: str, delay: int) -> None:
        """Declares the delay memory of an exchange of halves: `delay` beats. Each iteration reads a
        word and writes a new word to the same address."""
        self.memories.append(f"{self.of} {name}[{delay}][LANES / 2];")
        if delay > FEW:
            self.apart.append(f"#pragma ivdep array({name}) safelen({delay})")

    def rows(self, name: str) -> None:
        """Declares a double buffer of rows: one row is written while the other is read."""
        self.memories.append(f"{self.of} {name}[2][BEATS][LANES];")

    def table(self, name: str, size: str, rows: Sequence[str]) -> None:
        self.tables += [f"const {self.of} {name}{size} = {{"]
        self.tables += [*(f"    {{{row}}}," for row in rows), "};"]


UNITS = ("n", "ft_unit", "ft_units")
# Computes the rows of a compute unit.
_SLAB = "const int first = ft_slab(n, ft_unit, ft_units), rows = ft_slab(n, ft_unit + 1, ft_units) - first;"

# The same for signals of several rows: `TOGETHER` rows go to one unit.
_SIGNALS_SLAB = (
    "const int first = ft_slab(n / TOGETHER, ft_unit, ft_units) * TOGETHER;\n"
    "const int rows = (ft_unit == ft_units - 1 ? n : ft_slab(n / TOGETHER, ft_unit + 1, ft_units) * TOGETHER) - first;"
)


def with_stages(record: KernelRecord, group: KernelGroup) -> KernelRecord:
    """Returns the manifest entry of a group; for a graph, completed with its stages."""
    if not isinstance(group.members[0], StagedKey):
        return record
    return replace(record, stages=stages(group), held=channel_rows(group))


def stages(group: KernelGroup) -> tuple[StageRecord, ...]:
    """Returns the kernels of a graph in dataflow order: each after its producers."""
    graph_stages = Stages(key_of(group))
    return tuple(
        StageRecord(f"{group.name}_{stage.name}", (*_takes(graph_stages.key, stage), *UNITS))
        for stage in graph_stages.stages
    )


def channel_rows(group: KernelGroup) -> int:
    """Returns how many whole rows every channel can hold; 0 if a channel holds less than a row."""
    graph_stages = Stages(key_of(group))
    key = graph_stages.key
    long_taps = any(p.kind == TAPS and key.taps_of(k) > CHANNEL_DEPTH - 2 for k, p in enumerate(key.ins))
    if long_taps or any(function.rows != 1 for function in key.filters):  # or whole signals, which are never cut
        return 0
    beats = [1 if per_row else key.beats * factor for per_row, factor in zip(key.is_per_row, key.factors, strict=True)]
    return min((_depth(f) - 2) // beats[f.value] for f in graph_stages.fifos)


def text(group: KernelGroup) -> str:
    """Returns the functions, channels and kernels of a graph. Raises ValueError for a stage that
    Intel's boards do not support."""
    return _ChannelText(group).text()


def key_of(group: KernelGroup) -> StagedKey:
    """Returns the group's only member."""
    return cast("StagedKey", group.members[0])


def _takes(key: StagedKey, stage: DataflowStage) -> tuple[str, ...]:
    """Returns the names of the kernel arguments that a stage uses, besides the row count and the
    compute unit."""
    if stage.kind in (LOAD, STORE):
        port = f"in_{stage.port}" if stage.kind == LOAD else f"out{stage.port}"
        return (port, f"{port}_offset")
    return tuple(dict.fromkeys(name for c in stage.calls for name in fused.call_scalars(key, c)))


def _depth(f: Fifo) -> int:
    """Returns the depth of a channel: the computed depth, at least that of one block memory."""
    return max(CHANNEL_DEPTH, f.depth)


class _ChannelText:
    """Fills the templates of a graph's kernels."""

    def __init__(self, group: KernelGroup) -> None:
        self.group, self.key = group, key_of(group)
        self.stages, self.functions = Stages(self.key), functions(self.key, "intel")
        self.records = stages(group)
        self.parameters = {a.name: _parameter(a.what, a.c, a.name) for a in arguments(group)}

    def text(self) -> str:
        """Returns the whole text."""
        key = self.key
        texts = [self._stage(k, stage) for k, stage in enumerate(self.stages.stages)]
        beat_types = dict.fromkeys(value_type(d) for d, row in zip(key.dtypes, key.is_per_row) if not row)
        body = fill(
            "intel/staged.cl",
            {
                "units": "\n\n".join(_function_texts(key)),
                "length": str(key.length),
                "lanes": str(key.lanes),
                "beats": str(key.beats),
                "states": str(key.states),
                "period": str(key.period),
                "together": str(key.together),
                "types": [f"typedef struct {{ {t} lane[LANES]; }} {self._beat(t)};" for t in beat_types],
                "channels": [
                    f"channel {self._travels(f.value)} {self._channel(f)} __attribute__((depth({_depth(f)})));"
                    for f in self.stages.fifos
                ],
                "parts": self._parts(),
                "stages": "\n".join(texts),
            },
        )
        return f"{head(1, _function_keys(key))}\n{source.kernel_file('fused.h')}\n{body}"

    def _parts(self) -> list[str]:
        """Returns the OpenCL C functions that the transform and filter stages call."""
        beats = [self._beat(value_type(u.compute)) for u in self.key.transforms[:1]]
        parts = [fill("intel/transform.cl", {"beat": beat}) for beat in beats]
        return parts + [fill("intel/filter.cl", {}) for _ in self.key.filters[:1]]

    def _stage(self, k: int, stage: DataflowStage) -> str:
        record = self.records[k]
        places = {
            "name": record.name,
            "slab": _SLAB if all(function.rows == 1 for function in self.key.filters) else _SIGNALS_SLAB,
            "parameters": ", ".join(self.parameters[name] for name in record.arguments),
        }
        if stage.kind in (LOAD, STORE):
            return self._moves(k, stage, places)
        if stage.kind == FOLD:
            return self._folds(k, stage, places)
        if stage.kind in (ELEMENTS, ROW_VALUES):
            return self._computes(k, stage, places)
        if stage.kind == TRANSFORM:
            return self._transforms(k, stage, places)
        if stage.kind == FILTER:
            return self._filters(k, stage, places)
        raise no_stage_for_intel(stage.name)

    # Ports

    def _moves(self, k: int, stage: DataflowStage, places: dict[str, str]) -> str:
        """Returns a kernel that reads an operand or writes a result."""
        key, load = self.key, stage.kind == LOAD
        p = (key.ins if load else key.outs)[stage.port]
        name, offset, *_ = self.records[k].arguments
        whole_beats, c_type = key.length % key.lanes == 0, value_type(p.dtype)
        cached_beats = key.cached_beats(stage.port) if load else 0
        shape = {
            ROWS: "" if whole_beats else "_pieces",
            PER_ROW: "_of_row",
            ONE_ELEMENT: "_one",
            PER_BLOCK: "_each",
            SHARED_ROW: "_kept",
            EVERY_BLOCK: "_kept" if cached_beats else "_again",
            TAPS: "_taps",
            FRAMES: "_frames",
        }.get(p.kind)
        if shape is None:
            raise no_stage_for_intel(stage.name)
        halves = p.dtype.name in source.HALF_DTYPES
        fifos = self.stages.output_fifos(k, stage.port) if load else self.stages.input_fifos(k)
        return fill(
            f"intel/staged_{'load' if load else 'store'}{shape}.cl",
            {
                **places,
                "port": name,
                "offset": offset,
                "type": c_type,
                "beat": self._beat(c_type),
                "size": str(cached_beats),
                "comment": "one row that is every row's" if p.kind == SHARED_ROW else "its PERIOD rows again and again",
                "take": f"vload_half(at, {name})" if halves else f"{name}[at]",
                "give": f"vstore_half_rte(got, at, {name});" if halves else f"{name}[at] = got;",
                "writes": [self._write(f, "w") for f in fifos],
                "read": "" if load else self._read(fifos[0]),
                "count": str(key.taps_of(stage.port)) if p.kind == TAPS else "",
                "hop": str(key.hop_of(stage.port) // key.lanes) if p.kind == FRAMES else "",
                **self._row(stage),
            },
        )

    def _row(self, stage: DataflowStage) -> dict[str, str]:
        """Returns the template's texts for the row sizes of a stage, whose rows may be longer than
        the shortest rows."""
        factor = self.stages.factor_of(stage)
        states = self.key.states_of(factor)
        return {
            "length": "LENGTH" if factor == 1 else f"({factor} * LENGTH)",
            "beats": "BEATS" if factor == 1 else f"({factor} * BEATS)",
            "state_count": "STATES" if states == self.key.states else str(states),
        }

    # Arithmetic

    def _computes(self, k: int, stage: DataflowStage, places: dict[str, str]) -> str:
        """Returns a kernel that calls element functions, on each element or on the values of a row."""
        key, wide = self.key, stage.kind == ELEMENTS
        out = {v: fifos for v in stage.outputs if (fifos := self.stages.output_fifos(k, v))}
        kept, reads, named = self._reads(k, wide)
        lines = list(named)
        for c in stage.calls:
            args = [*fused.call_operands(key, c), *fused.call_scalars(key, c)]
            lines += fused.call_lines(key, c, self.functions[c], args)
        if wide:
            lines += [f"w_v{v}.lane[ft_lane] = v{v};" for v in out]
        variable = "w_v" if wide else "v"
        return fill(
            f"intel/staged_{stage.kind}.cl",
            {
                **places,
                **self._row(stage),
                "comment": ", ".join(key.calls[c].function.name for c in stage.calls),
                "kept": kept,
                "reads": reads,
                "computed": lines,
                "results": [f"{self._travels(v)} w_v{v};" for v in out],
                "writes": [self._write(f, f"{variable}{v}") for v, some in out.items() for f in some],
            },
        )

    def _folds(self, k: int, stage: DataflowStage, places: dict[str, str]) -> str:
        """Returns a kernel that folds rows: parallel states, and a tree that combines them."""
        key, (c,) = self.key, stage.calls
        kept, reads, named = self._reads(k, True)
        function, scalars = self.functions[c], fused.call_scalars(key, c)
        args = [*fused.call_operands(key, c), *scalars, "column * LANES + ft_lane", "&lifted"]
        return fill(
            "intel/staged_fold.cl",
            {
                **places,
                **self._row(stage),
                "comment": key.calls[c].function.name,
                "state": f"{function}_s",
                "identity": f"{function}_identity",
                "combine": f"{function}_combine",
                "kept": kept,
                "reads": reads,
                "values": named,
                "lift": f"{function}_lift({', '.join(args)});",
                "finished": fused.call_lines(key, c, f"{function}_finish", ["tree[0][0]", *scalars]),
                "writes": [self._write(f, f"v{v}") for v in stage.outputs for f in self.stages.output_fifos(k, v)],
            },
        )

    def _transforms(self, k: int, stage: DataflowStage, places: dict[str, str]) -> str:
        """Returns a kernel that transforms rows."""
        key, (c,) = self.key, stage.calls
        function, course = key.calls[c].function, key.transform_schedule
        assert isinstance(function, RowTransform)
        if function.half:
            raise no_stage_for_intel(stage.name)
        (into,) = self.stages.input_fifos(k)
        c_type = value_type(key.dtypes[into.value])
        steps = OpenCLSteps(function, course, c_type, fused.call_scalars(key, c))
        return fill(
            "intel/staged_transform.cl",
            {
                **places,
                "comment": f"{function.name} of rows of {course.points}",
                "tables": steps.tables,
                "memories": steps.memories,
                "apart": steps.apart,
                "behind": str(course.startup_beats),
                "beat": self._beat(c_type),
                "read": self._read(into),
                "steps": steps.lines,
                "writes": [self._write(f, "w") for v in stage.outputs for f in self.stages.output_fifos(k, v)],
            },
        )

    def _filters(self, k: int, stage: DataflowStage, places: dict[str, str]) -> str:
        """Returns a kernel that filters rows."""
        key, (c,) = self.key, stage.calls
        function, schedule = key.calls[c].function, self.stages.filter_schedule(stage)
        assert isinstance(function, RowFilter)
        signal, taps = (next(f for f in self.stages.input_fifos(k) if f.value == v) for v in key.calls[c].operands)
        sample, tap = value_type(key.dtypes[signal.value]), value_type(key.dtypes[taps.value])
        row = self._row(stage)
        kinds = ("tap_complex" if tap != "float" else "tap_real") if sample != "float" else "tap_float"
        return fill(
            "intel/staged_filter.cl",
            {
                **places,
                "comment": f"{function.name}: sums of {function.taps} products, for each {function.stride} samples",
                "type": sample,
                "tap": tap,
                "count": str(function.taps),
                "places": str(schedule.places),
                "stride": str(function.stride),
                "step": str(schedule.step),
                "phases": str(schedule.phases),
                "results": str(schedule.results),
                "delay": str(schedule.delay),
                "first": str(schedule.first),
                "line": str(schedule.line),
                "ahead": str(schedule.first + function.before),
                "samples": f"(long){function.rows or 'rows'} * {row['length']}",
                "product": f"ft_{kinds}_product",
                "sum": f"ft_tap_sum_{'complex' if sample != 'float' else 'float'}",
                "plain": f"ft_plain_zero_{'complex' if sample != 'float' else 'float'}",
                "beat": self._beat(sample),
                "read": self._read(signal),
                "read_tap": self._read(taps),
                "writes": [self._write(f, "packed") for v in stage.outputs for f in self.stages.output_fifos(k, v)],
                **row,
            },
        )

    def _reads(self, k: int, wide: bool) -> tuple[list[str], list[str], list[str]]:
        """Returns three lists of lines: declarations of values that last for a row, reads of
        channels, and definitions of a lane's values."""
        kept, reads, named = [], [], []
        for f in self.stages.input_fifos(k):
            v, c_type = f.value, value_type(self.key.dtypes[f.value])
            if not wide:
                reads.append(f"const {c_type} v{v} = {self._read(f)};")
            elif self.key.is_per_row[v]:
                kept.append(f"{c_type} w_v{v};")
                reads.append(f"if (column == 0) w_v{v} = {self._read(f)};")
                named.append(f"const {c_type} v{v} = w_v{v};")
            else:
                reads.append(f"const {self._beat(c_type)} in_v{v} = {self._read(f)};")
                named.append(f"const {c_type} v{v} = in_v{v}.lane[ft_lane];")
        return kept, reads, named

    # Channels

    def _travels(self, value: int) -> str:
        c_type = value_type(self.key.dtypes[value])
        return c_type if self.key.is_per_row[value] else self._beat(c_type)

    def _beat(self, c_type: str) -> str:
        """Returns the type of a beat. All kernels of an image share a type of the same name."""
        return f"beat{self.key.lanes}_{c_type}"

    def _channel(self, f: Fifo) -> str:
        """Returns a channel's name, unique in the image: all its kernels are one program."""
        return f"{self.group.name}_{f.name}"

    def _read(self, f: Fifo) -> str:
        return f"read_channel_intel({self._channel(f)})"

    def _write(self, f: Fifo, value: str) -> str:
        return f"write_channel_intel({self._channel(f)}, {value});"


def _parameter(what: str, c: str, name: str) -> str:
    """Returns an argument in OpenCL C; a port points to elements."""
    if what != "*":
        return f"{c} {name}"
    c_type = re.sub(r"hls::vector<(\w+), \d+>", r"\1", c)
    return f"__global {c_type}{name}"


def _elementwise(key: StagedKey) -> list[ElementFunction]:
    return [u for u in key.functions if not isinstance(u, (RowTransform, RowFilter))]


def _function_keys(key: StagedKey) -> list[KernelKey]:
    return [u.key() for u in _elementwise(key)]


def _function_texts(key: StagedKey) -> list[str]:
    """Returns the element functions for one lane, in sections by compute type."""
    texts = [c_functions_with_own_state(u, fused.function_name(key, u)) for u in _elementwise(key)]
    return [*element_function.sections(_function_keys(key), lambda k, _: texts[k], "intel")]
