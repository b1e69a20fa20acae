"""Keys of graphs as dataflow stages, in one kernel or in a kernel per stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm

from ..dtypes import dtype
from .element_function import ElementFunction
from .fused import FusedKey
from .graph_text import (
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
    digest,
)
from .holes import wide_of
from .key import LINEAR, Port
from .row_loop import RowLoop
from .signal_stages import (
    FilterSchedule,
    RowFilter,
    RowTransform,
    SliceScatter,
    TransformSchedule,
    Window,
    WindowSchedule,
    half_of,
    transform_refusal,
)

# Access kinds that ports transfer in beats.
VECTOR_KINDS = (ROWS, SHARED_ROW, PER_BLOCK, EVERY_BLOCK, FRAMES, HALO, ABOVE, REFLECTED)
# Parallel states of a fold, so that an addition to a state ends before the next addition to it.
STATES = 8
# Most bytes of a block's rows in local memory; every block reads larger operands again.
MAX_CACHED_BYTES = 1 << 20
# Most frames of each of several signals, as of rows in a block of a graph file.
MAX_PERIOD = 1 << 20
# FIFO depth in beats beyond the reader's delay; latency of a stage.
SLACK, STAGE_LATENCY = 32, 16
LOAD, ELEMENTS, ROW_VALUES, FOLD, STORE = "load", "elements", "of_rows", "fold", "store"
TRANSFORM, FILTER, LOOP, WINDOW, SCATTER = "transform", "filter", "scan", "window", "scatter"
# The rows that compute units share if all rows of a launch are one signal, which is never split.
ONE_SIGNAL = 1 << 30


@dataclass(frozen=True)
class StagedKey(FusedKey):
    """A graph over any number of rows of `length` elements. With operands of kind PER_BLOCK or
    EVERY_BLOCK, `period` rows form a block.

    The ports have the access kinds of graph_text.py, which also decide which values are per row.
    Element functions compute per element or per row, transform whole rows (signal_stages.py), or fold
    rows. A fold adds beat k of a row to state k % 8, so its order differs from that of other
    kernels.

    All rows are one signal of a loop with feedback (row_loop.py), or each is a step of several signals.
    An output of kind ONE_ELEMENT or SHARED_ROW is a loop's last state.

    Filters shorten rows (signal_stages.py); `length` is that of the shortest rows. `spans` is empty,
    or has a number for each input: the factor by which its rows are longer; for kind TAPS the
    number of taps; for kind FRAMES the distance between frames in elements. If `signal` is not 0,
    frames are of several signals that lie `signal` elements apart, `period` frames of each.

    With windows (signal_stages.py), results have the first `width` elements of their rows, and
    stages compute `halo` rows more than results have. Each input of kind ROWS then has another of
    kind HALO, behind all inputs, which reads these rows from the next compute unit's slab. With writes
    to parts of planes (`SliceScatter`), stages begin `above` elements before a unit's rows. Inputs then
    have a third operand, of kind ABOVE, which reads these from the slab before.
    """

    length: int = 1
    period: int = 1
    spans: tuple[int, ...] = ()
    width: int = 0
    above: int = 0
    signal: int = 0

    @cached_property
    def entry(self) -> str:
        """The kernel's name in images: the key's name and the digest of the graph file."""
        return f"ft_{self.name}_staged_{digest(self)[:16]}"

    @property
    def file_name(self) -> str:
        """The name of the JSON file that `export` writes the graph to by default."""
        return f"{self.name[:16]}_{digest(self)[:8]}.json"

    def cached_beats(self, k: int) -> int:
        """Returns the beats of input k that local memory keeps for reuse."""
        p, factor = self.ins[k], self.factors[k]
        if p.kind == SHARED_ROW and self.is_half[k]:
            return -(-half_of(self.length) // self.lanes)
        if p.kind in (SHARED_ROW, PER_BLOCK, FRAMES, REFLECTED):
            return self.beats * factor
        block_beats = self.period * self.beats * factor
        fits = block_beats * self.lanes * p.dtype.itemsize <= MAX_CACHED_BYTES
        return block_beats if p.kind == EVERY_BLOCK and fits else 0

    @property
    def beats(self) -> int:
        """Beats of a row."""
        return -(-self.length // self.lanes)

    @property
    def together(self) -> int:
        """The smallest number of rows that begin and end on beats and on blocks, and that are no
        fewer than a halo, which so lies in one slab. Compute units share rows in multiples of it."""
        if self.loops or any(not function.rows for function in self.filters):
            return ONE_SIGNAL
        lengths = [self.length, *(self.row_length(v) for v in self.results if self.is_half[v] or self.width)]
        beats = [self.lanes // gcd(length, self.lanes) for length in lengths]
        together = lcm(*beats, self.period, *(function.rows for function in self.filters))
        rows = max(self.halo, -(-self.above // self.length))
        return together * max(1, -(-rows // together))

    @cached_property
    def is_half(self) -> tuple[bool, ...]:
        """For each value, True if its rows are halves of spectra: FIFOs carry the whole spectrum,
        and stores write the first half. A shared row is one if such rows are combined with it."""
        halves = [False] * len(self.ins)
        for k, call in enumerate(self.calls):
            half = any(halves[v] for v in call.operands) or (
                isinstance(call.function, RowTransform) and call.function.half
            )
            for v in call.operands if half else ():
                halves[v] |= v < len(self.ins) and self.ins[v].kind == SHARED_ROW
            halves += [half and not self.is_per_row[v] for v in self.results_of_call(k)]
        return tuple(halves)

    @property
    def has_linked_form(self) -> bool:
        """True if each stage can be a kernel of its own."""
        return not (
            any(self.is_half) or self.width or self.signal or self.loops or REFLECTED in {p.kind for p in self.ins}
        )

    def row_length(self, v: int) -> int:
        """Returns the elements of a row of value v in memory."""
        if self.width and v >= len(self.ins):
            return self.width
        return half_of(self.length) if self.is_half[v] else self.length * self.factors[v]

    @property
    def states(self) -> int:
        """Parallel states of a fold of the shortest rows."""
        return self.states_of(1)

    def states_of(self, factor: int) -> int:
        """Returns the number of parallel states of a fold of rows that are `factor` times as long
        as the shortest."""
        return min(STATES, self.beats * factor)

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """For each value, the factor by which its rows are longer than the shortest; 1 for a value
        per row."""
        spans = self.spans or (1,) * len(self.ins)
        factors = [
            1 if p.kind in (PER_ROW, ONE_ELEMENT, TAPS, FRAMES, REFLECTED) else n for p, n in zip(self.ins, spans)
        ]
        for k, call in enumerate(self.calls):
            factor = max((factors[v] for v in call.operands), default=1)
            if isinstance(call.function, RowFilter):
                factor //= call.function.stride
            factors += [1 if self.is_per_row[v] else factor for v in self.results_of_call(k)]
        return tuple(factors)

    def taps_of(self, k: int) -> int:
        """Returns the elements of input k, of kind TAPS."""
        return self.spans[k]

    def hop_of(self, k: int) -> int:
        """Returns the distance in elements between the starts of two frames of input k, of kind
        FRAMES or REFLECTED."""
        return self.spans[k]

    @cached_property
    def is_per_row(self) -> tuple[bool, ...]:
        """For each value, True if it has one element per row."""
        rows = [p.kind in (PER_ROW, ONE_ELEMENT, TAPS) for p in self.ins]
        for call in self.calls:
            per_row = call.function.reduction is not None or all(rows[v] for v in call.operands)
            function = call.function
            states = function.states if isinstance(function, RowLoop) and function.signals == 1 else 0
            rows += [True] * states + [per_row] * (len(call.function.outs) - states)
        return tuple(rows)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """For each value, the number of folds, transforms, filters and loops with feedback on the longest
        path from the inputs to it."""
        levels = [0] * len(self.ins)
        for call in self.calls:
            level = max((levels[v] for v in call.operands), default=0)
            levels += [level + (stage_kind(call.function) != ELEMENTS)] * len(call.function.outs)
        return tuple(levels)

    @cached_property
    def halo(self) -> int:
        """Rows of inputs beyond the rows of results; 0 without windows."""
        if not self.width:
            return 0
        farthest = max((row * self.length + column for (_, row), column in self.reached.items()), default=0)
        return (farthest + self.width - 1) // self.length

    @cached_property
    def reached(self) -> Mapping[tuple[int, int], int]:
        """Of a graph with windows: the elements that a result depends on, as the farthest column to
        the right for each (input, rows below)."""
        reached: list[dict[tuple[int, int], int]] = [{(k, 0): 0} for k in range(len(self.ins))]
        for call in self.calls:
            of: dict[tuple[int, int], int] = {}
            for v in call.operands:
                of |= {at: max(column, of.get(at, 0)) for at, column in reached[v].items()}
            windows = (
                call.function.offsets if isinstance(call.function, Window) else ((0, 0),) * len(call.function.outs)
            )
            reached += [{(k, row + r): column + c for (k, row), column in of.items()} for r, c in windows]
        whole: dict[tuple[int, int], int] = {}
        for v in self.results:
            whole |= {at: max(column, whole.get(at, 0)) for at, column in reached[v].items()}
        return whole

    def unread_beats(self, k: int) -> int:
        """Returns how many of the last beats of input k, halo included, no result depends on."""
        farthest = max(row * self.length + column for (i, row), column in self.reached.items() if i == k)
        return ((self.halo + 1) * self.length - farthest - self.width) // self.lanes

    def halo_of(self, k: int) -> int:
        """Returns the input of kind HALO for input k, of kind ROWS, of a graph with windows."""
        return self._beside(k, HALO)

    def above_of(self, k: int) -> int:
        """Returns the input of kind ABOVE for input k, of kind ROWS, of a graph with scatters."""
        return self._beside(k, ABOVE)

    def _beside(self, k: int, kind: str) -> int:
        rows, others = ([j for j, p in enumerate(self.ins) if p.kind == one] for one in (ROWS, kind))
        return others[rows.index(k)]

    @property
    def scatters(self) -> list[SliceScatter]:
        """The functions that write to a part of a plane."""
        return [u for u in self.functions if isinstance(u, SliceScatter)]

    @property
    def transforms(self) -> list[RowTransform]:
        """The functions that transform rows."""
        return [u for u in self.functions if isinstance(u, RowTransform)]

    @property
    def filters(self) -> list[RowFilter]:
        """The functions that filter rows."""
        return [u for u in self.functions if isinstance(u, RowFilter)]

    @property
    def loops(self) -> list[RowLoop]:
        """The loops with feedback."""
        return [u for u in self.functions if isinstance(u, RowLoop)]

    @cached_property
    def last_states(self) -> frozenset[int]:
        """The values that are states of loops after each row, of which the last ones count."""
        calls = [(k, c.function) for k, c in enumerate(self.calls)]
        return frozenset(v for k, f in calls if isinstance(f, RowLoop) for v in self.results_of_call(k)[: f.states])

    @property
    def transform_schedule(self) -> TransformSchedule:
        """Beat schedule of the transforms."""
        return TransformSchedule(self.length, self.lanes)


def lanes_of(key: StagedKey) -> tuple[int, ...]:
    """Returns the lane counts with which a graph can be built: the key's own, then smaller ones."""
    lanes = [key.lanes >> k for k in range(key.lanes.bit_length())]
    if any(p.kind == REFLECTED for p in key.ins):
        lanes = [n for n in lanes if n > 1]
    return tuple(n for n in lanes if not key.transforms or not transform_refusal(key.length, n))


def frames_refusal(length: int, hop: int, lanes: int, reflected: bool = False, period: int = 1) -> str:
    """Returns the reason why no stage reads frames of `length` elements, one each `hop` elements, of a
    signal that may be `reflected` at its ends, or of signals of `period` frames; "" if a stage does."""
    if period > MAX_PERIOD:
        return f"its signals have {period} frames each, and stages take at most {MAX_PERIOD} of several signals"
    if not 0 < hop < length:
        return f"its frames of {length} elements, one each {hop}, do not overlap"
    if length % lanes or hop % lanes:
        return f"its frames of {length} elements, one each {hop}, are no whole beats of {lanes}"
    if reflected and (lanes < 2 or length % (2 * lanes)):
        return f"half a frame of {length} elements is no whole beats of {lanes}, two at least"
    return ""


def above_refusal(key: StagedKey) -> str:
    """Returns the reason why results with written parts do not begin so far above the rows that the
    stages read; "" if they do."""
    fits = key.above <= key.halo * key.length
    return "" if fits else f"it begins {key.above} elements above its rows, and reads {key.halo} rows around them"


def stage_kind(function: ElementFunction) -> str:
    """Returns the kind of the dataflow stage that calls `function`: TRANSFORM, FILTER, LOOP, WINDOW,
    SCATTER, ELEMENTS or FOLD."""
    if isinstance(function, RowTransform):
        return TRANSFORM
    if isinstance(function, RowFilter):
        return FILTER
    if isinstance(function, RowLoop):
        return LOOP
    if isinstance(function, Window):
        return WINDOW
    if isinstance(function, SliceScatter):
        return SCATTER
    return ELEMENTS if function.reduction is None else FOLD


@dataclass(frozen=True)
class DataflowStage:
    """A dataflow stage: computes `calls` (indices of the key's calls), or loads or stores the
    operand `port`. FIFOs carry the values `inputs` in and the values `outputs` out."""

    name: str
    kind: str
    calls: tuple[int, ...] = ()
    port: int = -1
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Fifo:
    """A FIFO that carries a value from stage `source` to stage `target`. `depth` counts beats; for
    a per-row value it counts rows."""

    value: int
    source: int
    target: int
    depth: int
    name: str


@dataclass(frozen=True)
class Stages:
    """The dataflow stages of a key, in topological order."""

    key: StagedKey

    @cached_property
    def stages(self) -> tuple[DataflowStage, ...]:
        """The dataflow stages: loads, computing stages, stores."""
        key = self.key
        loads = [
            DataflowStage(f"load_in_{k}", LOAD, port=k, outputs=(k,))
            for k, p in enumerate(key.ins)
            if p.kind not in (HALO, ABOVE)
        ]
        stores = [DataflowStage(f"store_out{k}", STORE, port=k, inputs=(v,)) for k, v in enumerate(key.results)]
        return (*loads, *self._compute_stages(), *stores)

    def _compute_stages(self) -> Iterator[DataflowStage]:
        key = self.key
        level = [key.levels[key.first_value(k)] for k in range(len(key.calls))]
        kinds = [stage_kind(call.function) for call in key.calls]
        is_per_row = [key.is_per_row[key.first_value(k)] for k in range(len(key.calls))]
        for n in range(max(level, default=0) + 1):
            at_level = [k for k, level_k in enumerate(level) if level_k == n]
            for k in at_level:
                if kinds[k] != ELEMENTS:
                    function = key.calls[k].function
                    yield self._stage(f"{kinds[k]}_{k}_{function.name}", kinds[k], (k,))
            for kind, per_row in ((ROW_VALUES, True), (ELEMENTS, False)):
                calls = [k for k in at_level if kinds[k] == ELEMENTS and is_per_row[k] == per_row]
                factors = [key.factors[key.first_value(k)] for k in calls]
                for m, factor in enumerate(dict.fromkeys(factors)):  # rows of one length for each stage
                    own = tuple([k for k, f in zip(calls, factors, strict=True) if f == factor])
                    yield self._stage(f"{kind}_{n}_{m}" if m else f"{kind}_{n}", kind, own)

    def _stage(self, name: str, kind: str, calls: tuple[int, ...]) -> DataflowStage:
        key = self.key
        outputs = [v for k in calls for v in self.key.results_of_call(k)]
        inputs = [v for k in calls for v in key.calls[k].operands if v not in outputs]
        return DataflowStage(name, kind, calls, -1, tuple(dict.fromkeys(inputs)), tuple(outputs))

    @cached_property
    def fifos(self) -> tuple[Fifo, ...]:
        """One FIFO for each value and each stage that reads the value; the depth covers the delay
        of the reader. A load with a single reader stalls with the reader and adds no delay."""
        key, fifos, longest = self.key, [], max(self.key.factors, default=1)
        producer = {v: k for k, stage in enumerate(self.stages) for v in stage.outputs}
        readers = Counter(v for stage in self.stages for v in stage.inputs)
        delays = [0] * len(self.stages)  # beats of the longest rows before the first output beat
        for k, stage in enumerate(self.stages):
            start = max((delays[producer[v]] for v in stage.inputs), default=0)
            delays[k] = start + STAGE_LATENCY * (stage.kind != LOAD)
            delays[k] += self._output_delay(stage, longest)
            for v in stage.inputs:
                stalls = readers[v] == 1 and self.stages[producer[v]].kind == LOAD
                wait = 0 if stalls else start - delays[producer[v]]
                wait = -(-wait * key.factors[v] // (longest * (key.beats if key.is_per_row[v] else 1)))
                name = f"v{v}_{stage.name}"
                fifos.append(Fifo(v, producer[v], k, wait + SLACK, name))
        return tuple(fifos)

    def _output_delay(self, stage: DataflowStage, longest: int) -> int:
        """Returns the delay of a stage's first output beat in beats of the longest rows, besides
        STAGE_LATENCY."""
        key, apart = self.key, -(-longest // self.factor_of(stage))
        if stage.kind == FOLD:
            return key.beats * longest + self.tree_cycles(stage)
        if stage.kind == TRANSFORM:
            return key.transform_schedule.startup_beats * apart + key.transform_schedule.latency
        if stage.kind == FILTER:
            schedule = self.filter_schedule(stage)
            return (schedule.delay + schedule.row_filter.stride) * apart + schedule.latency
        if stage.kind == WINDOW:
            return self.window_schedule(stage).ahead
        return 0

    def factor_of(self, stage: DataflowStage) -> int:
        """Returns the factor by which the rows that a stage reads (a load: writes) are longer than
        the shortest."""
        return max(self.key.factors[v] for v in stage.inputs or stage.outputs)

    def filter_schedule(self, stage: DataflowStage) -> FilterSchedule:
        """Returns the beat schedule of a FILTER stage."""
        function = self.key.calls[stage.calls[0]].function
        assert isinstance(function, RowFilter)
        return FilterSchedule(function, self.key.lanes)

    def window_schedule(self, stage: DataflowStage) -> WindowSchedule:
        """Returns the beat schedule of a WINDOW stage."""
        function = self.key.calls[stage.calls[0]].function
        assert isinstance(function, Window)
        return WindowSchedule(function.offsets, self.key.beats, self.key.lanes)

    def tree_cycles(self, stage: DataflowStage) -> int:
        """Returns the cycles to combine the states of a row in a FOLD stage."""
        states = self.key.states_of(self.factor_of(stage))
        return states + 8 * ((states - 1).bit_length() + (self.key.lanes - 1).bit_length())

    def input_fifos(self, k: int) -> list[Fifo]:
        """Returns the FIFOs that stage k reads."""
        return [f for f in self.fifos if f.target == k]

    def output_fifos(self, k: int, value: int) -> list[Fifo]:
        """Returns the FIFOs that stage k writes `value` to."""
        return [f for f in self.fifos if f.source == k and f.value == value]

    def bits(self, value: int) -> int:
        """Returns the bits of a FIFO word of `value`."""
        size = 8 * _fifo_itemsize(self.key.dtypes[value])
        return size if self.key.is_per_row[value] else size * self.key.lanes

    @property
    def fifo_bytes(self) -> int:
        """Capacity of all FIFOs in bytes."""
        return sum(f.depth * self.bits(f.value) for f in self.fifos) // 8


def _fifo_itemsize(dtype: dtype) -> int:
    """Returns the bytes of an element in a FIFO; float16 elements are floats there."""
    return max(dtype.itemsize, 4) if dtype.name == "float16" else dtype.itemsize


def value_type(dtype: dtype) -> str:
    """Returns the C type of a value in a FIFO."""
    port = Port(dtype, LINEAR)
    return f"ft_c{wide_of(port)}" if dtype.is_complex else wide_of(port)
