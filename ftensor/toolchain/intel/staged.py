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
from ...kernels.graph_text import EVERY_BLOCK, FRAMES, HALO, PER_BLOCK, REFLECTED, SHARED_ROW, TAPS
from ...kernels.key import KernelKey
from ...kernels.row_pass_macros import c_functions_with_own_state
from ...kernels.signal_stages import RowTransform
from ...kernels.source import fill
from ...kernels.staged import (
    ELEMENTS,
    FILTER,
    FOLD,
    LOAD,
    LOOP,
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
from ..stage_text import StageText, Values, Words, element_functions
from ..transform_steps import FEW, TransformSteps
from .member import head


class OpenCLSteps(TransformSteps):
    """Memories of a transform in OpenCL C."""

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
_SLAB = ("const int begin = ft_slab(n, ft_unit, ft_units), rows = ft_slab(n, ft_unit + 1, ft_units) - begin;",)

# The same for signals of several rows: `TOGETHER` rows go to one unit.
_SIGNALS_SLAB = (
    "const int begin = ft_slab(n / TOGETHER, ft_unit, ft_units) * TOGETHER;",
    "const int rows = (ft_unit == ft_units - 1 ? n : ft_slab(n / TOGETHER, ft_unit + 1, ft_units) * TOGETHER) - begin;",
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
    signals = key.loops or any(function.rows != 1 for function in key.filters)
    if long_taps or signals:  # whole signals are never cut
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


class _ChannelText(StageText):
    """Fills the templates of a graph's kernels."""

    dialect, own, steps, cleared = "intel", "intel/staged_{}.cl", OpenCLSteps, " = {0}"

    def __init__(self, group: KernelGroup) -> None:
        super().__init__(key_of(group))
        self.group, self.records = group, stages(group)
        self.parameters = {a.name: _parameter(a.what, a.c, a.name) for a in arguments(group)}
        whole_rows = not self.key.loops and all(function.rows == 1 for function in self.key.filters)
        self.slab = _SLAB if whole_rows else _SIGNALS_SLAB

    def vector(self, c_type: str) -> str:
        """Returns the type of a beat. All kernels of an image share a type of the same name."""
        return f"beat{self.key.lanes}_{c_type}"

    def lane(self, vector: str) -> str:
        return f"{vector}.lane[ft_lane]"

    def take(self, fifo: Fifo) -> str:
        return f"read_channel_intel({self._channel(fifo)})"

    def give(self, fifo: Fifo, value: str) -> str:
        return f"write_channel_intel({self._channel(fifo)}, {value});"

    def chosen(self, condition: str, yes: str, no: str) -> str:
        return f"{condition} ? {yes} : {no}"

    def recurs(self, name: str, distance: int) -> str:
        return f"#pragma ivdep array({name}) safelen({distance})"

    def words(self, values: Values) -> Words:
        def loop(counter: str, count: str) -> list[str]:
            variable = counter.split()[1]
            return [*values.get("apart", ()), f"for ({counter} = 0; {variable} < {count}; {variable}++) {{"]

        def span(_: str, ends: str) -> list[str]:
            begin, end = ends.split(", ")
            return [f"for (long v = {begin}; v < {end}; v++) {{"]

        head = f"FT_KERNEL void {values['name']}({values['parameters']})"
        each_lane = ["FT_UNROLL", "for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {"]
        slab = [f"    {line}" for line in (*self.slab, *values.get("offset", ()))]
        words: Words = {
            "FT_STAGE": lambda: [head, "{", *slab],
            "FT_LOOP": loop,
            "FT_EACH_LANE": lambda: each_lane,
            "FT_SPAN": span,
            "FT_INLINE": list,
            "FT_REGISTERS": lambda _: [],
        }
        if "beat" not in values:
            return words
        beat, c_type, taken = values["beat"], values["type"], values["from"]

        def elements(at: str, *lines: str) -> list[str]:
            index = f"const long at = (base + {at}) * LANES + ft_lane;"
            return [*each_lane, *(f"    {line}" for line in (index, *lines)), "}"]

        fetched, stored = f"got.lane[ft_lane] = {values['take']};", f"const {c_type} got = w.lane[ft_lane];"
        return {
            **words,
            "FT_BASE": lambda: ["const long base = offset / LANES;"],
            "FT_BEAT": lambda at: [f"{beat} got;", *elements(at, fetched)],
            "FT_FETCH": lambda at: elements(at, fetched),
            "FT_VALUES": lambda: [f"const {beat} w = got;"],
            "FT_READ_FIFO": lambda: [f"const {beat} w = {taken};"],
            "FT_PUT": lambda at: elements(at, stored, values["give"]),
            "FT_STORE": lambda at: [f"const {beat} w = {taken};", *elements(at, stored, values["give"])],
            "FT_ELEMENT": lambda at: [f"const long at = {at};"],
            "FT_PUT_ELEMENT": lambda at: [f"const long at = {at};", f"const {c_type} got = w;", values["give"]],
            "FT_STORE_ELEMENT": lambda at: [f"const long at = {at};", f"const {c_type} got = {taken};", values["give"]],
        }

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
                "types": [f"typedef struct {{ {t} lane[LANES]; }} {self.vector(t)};" for t in beat_types],
                "channels": [
                    f"channel {self.fifo_type(f.value)} {self._channel(f)} __attribute__((depth({_depth(f)})));"
                    for f in self.stages.fifos
                ],
                "parts": [*self.transforms(), *(source.kernel_file("taps.h") for _ in key.filters[:1])],
                "stages": "\n".join(texts),
            },
        )
        return f"{head(1, _function_keys(key))}\n{source.kernel_file('fused.h')}\n{body}"

    def _stage(self, k: int, stage: DataflowStage) -> str:
        record = self.records[k]
        head = {"name": record.name, "parameters": ", ".join(self.parameters[name] for name in record.arguments)}
        if stage.kind in (LOAD, STORE):
            return self._moves(k, stage, head)
        if stage.kind == FOLD:
            return self.fill("fold", {**head, **self.folded(k, stage, "tree[0][0]")})
        if stage.kind in (ELEMENTS, ROW_VALUES):
            return self.fill(stage.kind, {**head, **self.computed(k, stage)})
        if stage.kind == TRANSFORM and not cast("RowTransform", self.key.calls[stage.calls[0]].function).half:
            return self.fill("transform", {**head, **self.transformed(k, stage)})
        if stage.kind == FILTER and self.stages.filter_schedule(stage).is_even:
            return self.fill("filter", {**head, **self.filtered(k, stage, "(rows > 0 ? {} : 0)")[0]})
        if stage.kind == LOOP:
            return self.fill("scan", {**head, **self.looped(k, stage)})
        raise no_stage_for_intel(stage.name)

    def _moves(self, k: int, stage: DataflowStage, head: dict[str, str]) -> str:
        """Returns a kernel that reads an operand or writes a result."""
        key, load = self.key, stage.kind == LOAD
        p, value = self.port(stage), stage.port if load else stage.inputs[0]
        name, offset, *_ = self.records[k].arguments
        if p.kind in (REFLECTED, HALO) or (p.kind == FRAMES and key.signal):
            raise no_stage_for_intel(stage.name)
        if p.kind == SHARED_ROW and not load and key.length % key.lanes:  # a last row that ends within a beat
            raise no_stage_for_intel(stage.name)
        moved, halves, shape = self.moved(k, stage), p.dtype.name in source.HALF_DTYPES, self.shape(stage)
        before, beats = self.rows_before(p, value, "begin"), moved["beats"]
        cached_beats = key.cached_beats(stage.port) if load else 0
        starts = {PER_BLOCK: "begin % PERIOD", EVERY_BLOCK: f"begin % PERIOD * {beats}"}
        return self.fill(
            "load_kept" if shape == "load_shared" else shape,
            {
                **moved,
                **head,
                "offset": [f"const long offset = {' + '.join([offset, *[before] * bool(before)])};"],
                "beat": self.vector(value_type(p.dtype)),
                "size": str(cached_beats),
                "comment": "one row that is every row's" if p.kind == SHARED_ROW else "its PERIOD rows again and again",
                "start": starts.get(p.kind, "0"),
                "fetches": f"turn == 0 || v < {beats}",
                "open": ["const long base = offset / LANES;", "long next = 0;"],
                "fetch": ["FT_FETCH(next)", "next++;"],
                "take": f"vload_half(at, {name})" if halves else f"{name}[at]",
                "give": f"vstore_half_rte(got, at, {name});" if halves else f"{name}[at] = got;",
                "count": f"(rows > 0 ? {moved['count']} : 0)",
            },
        )

    def _channel(self, f: Fifo) -> str:
        """Returns a channel's name, unique in the image: all its kernels are one program."""
        return f"{self.group.name}_{f.name}"


def _parameter(what: str, c: str, name: str) -> str:
    """Returns an argument in OpenCL C; a port points to elements."""
    if what != "*":
        return f"{c} {name}"
    c_type = re.sub(r"hls::vector<(\w+), \d+>", r"\1", c)
    return f"__global {c_type}{name}"


def _function_keys(key: StagedKey) -> list[KernelKey]:
    return [u.key() for u in element_functions(key)]


def _function_texts(key: StagedKey) -> list[str]:
    """Returns the element functions for one lane, in sections by compute type."""
    texts = [c_functions_with_own_state(u, name) for u, name in element_functions(key).items()]
    return [*element_function.sections(_function_keys(key), lambda k, _: texts[k], "intel")]
