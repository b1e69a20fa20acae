"""staged, linked: a graph as dataflow stages in one kernel, or as a kernel per stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ...dtypes import dtype
from .. import fused
from ..byte_tables import ENTRIES, byte_tables
from ..channels import RowSlabs
from ..graph_text import (
    ABOVE,
    EVERY_BLOCK,
    FRAMES,
    HALO,
    ONE_ELEMENT,
    PER_BLOCK,
    REFLECTED,
    ROWS,
    SHARED_ROW,
    TAPS,
    digest,
)
from ..inventory_terms import InventoryTerms, KernelArgument, ManifestTerms
from ..linked_keys import BEGIN, StageKey
from ..row_loop import RowLoop
from ..signal_stages import FilterSchedule, RowFilter, RowTransform, SliceScatter
from ..skeleton import BoardSkeleton, Parameter, board_named, register
from ..source import scalar
from ..staged import (
    ELEMENTS,
    FILTER,
    FOLD,
    LOAD,
    LOOP,
    ROW_VALUES,
    SCATTER,
    STORE,
    TRANSFORM,
    VECTOR_KINDS,
    WINDOW,
    StagedKey,
    Stages,
)
from ..workload import Access, KernelLaunch, LocalMemory, PipelinedLoop
from .feedback import stage_interval

# Functions that return a key's HLS C++ with all includes; the toolchain sets the list.
writers: list[Callable[[StagedKey], str]] = []


class Staged(BoardSkeleton[StagedKey]):
    """A graph in one kernel: dataflow stages, joined by FIFOs, over any number of rows."""

    name = "staged"
    staged = waits = True
    template = "staged.cpp"

    def parameters(self, key: StagedKey) -> tuple[Parameter, ...]:
        return (*fused.parameters(key, ""), ("int", "int ", "n"))

    def compute(self, key: StagedKey) -> dtype:
        """Returns the compute dtype of the first function; each section sets its own."""
        return next((u.compute for u in key.functions), key.outs[0].dtype.compute)

    def arguments(self, key: StagedKey) -> tuple[KernelArgument, ...]:
        kinds = {f"out{k}": p for k, p in enumerate(key.outs)} | dict(fused.input_names(key))
        arguments = []
        for what, c, name in self.parameters(key):
            p = kinds.get(name)
            if p is not None:
                const, c_type = "const " * c.startswith("const "), _word(c, p.dtype)
                c_type = f"hls::vector<{c_type}, {key.lanes}>" if p.kind in VECTOR_KINDS else c_type
                c = f"{const}{c_type} *"
            arguments.append(KernelArgument(name, what, c.strip()))
        return tuple(arguments)

    def row_slabs(self, key: StagedKey) -> RowSlabs:
        each = {ROWS: key.together, HALO: key.together, ABOVE: key.together, PER_BLOCK: key.together // key.period}
        ports = zip((*key.outs, *key.ins), _row_lengths(key), strict=True)
        return RowSlabs(key.together, tuple(each.get(p.kind, 0) * length * p.dtype.itemsize for p, length in ports))

    def structure(self, lanes: int, requested: str) -> str:
        return "dataflow"

    def vitis_module(self, lanes: int) -> str:
        return "staged"

    def intel_module(self) -> str:
        return "staged"

    def suffix(self, key: StagedKey) -> str:
        return f"{key.name[:16]}_{key.length}"

    def program(self, key: StagedKey, dialect: str, *, float64: bool, grid: str) -> str:
        assert dialect == "vitis", dialect
        return writers[0](key)

    # The performance model

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop for each stage; folds, and loads of a row for all rows, have two."""
        key, (begin, end) = launch.key, _rows(launch, unit)
        if end == begin:
            return []
        rows = end - begin + key.halo
        loops = []
        stages = Stages(key)
        for one in stages.stages:
            port = (*key.ins, *key.outs)[one.port + len(key.ins) * (one.kind == STORE)]
            wide = one.kind in (ELEMENTS, FOLD, TRANSFORM, FILTER, LOOP, WINDOW, SCATTER)
            wide |= one.kind != ROW_VALUES and port.kind in VECTOR_KINDS
            beats = key.beats * stages.factor_of(one)
            trips, name = rows * beats if wide else rows, one.name
            if one.kind == LOAD and port.kind == TAPS:
                loops.append(PipelinedLoop(name, key.taps_of(one.port), 1, computes=False, stage=name))
            elif one.kind == LOAD and port.kind == SHARED_ROW:
                loops.append(PipelinedLoop(f"{name}_once", key.cached_beats(one.port), 1, computes=False, stage=name))
                loops.append(PipelinedLoop(name, trips, 1, reads=False, computes=False, stage=name))
            elif one.kind == LOAD and port.kind == REFLECTED:
                beats_read = ((rows - 1) * key.hop_of(one.port) + key.length) // key.lanes
                loops.append(PipelinedLoop(f"{name}_signal", beats_read, 1, computes=False, stage=f"{name}_signal"))
                loops.append(PipelinedLoop(name, trips, 1, reads=False, computes=False, stage=name))
            elif one.kind in (LOAD, STORE):
                reads = one.kind == LOAD
                loops.append(PipelinedLoop(name, trips, 1, reads=reads, computes=False, stage=name))
            elif one.kind == FOLD:
                states, tree = f"{name}_states", f"{name}_tree"
                loops.append(PipelinedLoop(states, trips, 1, reads=False, stage=states))
                loops.append(
                    PipelinedLoop(tree, rows, 1, key.states_of(stages.factor_of(one)), reads=False, stage=tree)
                )
            elif one.kind == LOOP:
                steps, loop = rows * key.length * stages.factor_of(one), key.calls[one.calls[0]].function
                assert isinstance(loop, RowLoop)
                loops.append(PipelinedLoop(name, steps, 1, stage_interval(loop), reads=False, stage=name))
            else:
                if one.kind == TRANSFORM:  # `TransformSchedule` needs rows of at least a beat
                    trips += key.transform_schedule.startup_beats
                if one.kind == FILTER:
                    schedule = stages.filter_schedule(one)
                    taps = f"{name}_taps"
                    loops.append(
                        PipelinedLoop(taps, schedule.row_filter.taps, 1, reads=False, computes=False, stage=name)
                    )
                    trips += schedule.delay
                if one.kind == WINDOW:
                    trips += stages.window_schedule(one).ahead
                if byte_tables(key, one).bytes_of:
                    loops.append(PipelinedLoop(f"{name}_tables", ENTRIES, 1, reads=False, stage=name))
                loops.append(PipelinedLoop(name, trips, 1, reads=False, stage=name))
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses of inputs and outputs; intermediate values stay in FIFOs. Each
        compute unit reads the rows that all rows share."""
        key, accesses = launch.key, []
        working = sum(end > begin for begin, end in (_rows(launch, unit) for unit in range(launch.units)))
        hops = [0] * len(key.outs) + [
            key.hop_of(k) if p.kind in (FRAMES, REFLECTED) else 0 for k, p in enumerate(key.ins)
        ]
        ports = [(f"out{k}", True, p, 0) for k, p in enumerate(key.outs)]
        cached = [key.cached_beats(k) for k in range(len(key.ins))]
        ports += [(name, False, p, beats) for (name, p), beats in zip(fused.input_names(key), cached, strict=True)]
        for (name, write, p, kept), length, hop in zip(ports, _row_lengths(key), hops, strict=True):
            wide, rows, again = p.kind in VECTOR_KINDS, launch.n, 1
            if p.kind in (SHARED_ROW, ONE_ELEMENT, TAPS):
                rows, again = 1, working
            elif p.kind == PER_BLOCK:
                rows //= key.period
            elif p.kind == EVERY_BLOCK and kept:
                rows, again = min(rows, key.period), working
            count = rows * (length if wide or p.kind == TAPS else 1)
            if p.kind == HALO:
                count = working * key.halo * length
            if p.kind == ABOVE:
                count = working * key.above
            if key.signal and p.kind == FRAMES:
                count = launch.n // key.period * ((key.period - 1) * hop + length)
            elif p.kind in (FRAMES, REFLECTED):  # the overlap of two compute units is read by both
                count = launch.n * hop + working * (length - hop)
            beats = -(-count // key.lanes) if wide else count
            nbytes = count * p.dtype.itemsize
            accesses.append(Access(name, write, nbytes * again, beats * again, 0, nbytes))
        return accesses

    def extent(self, launch: KernelLaunch) -> str:
        return f"{launch.n}x{launch.key.length}"

    # The area model

    def operators(self, key: StagedKey) -> Mapping[tuple[str, str], int]:
        """Returns the operators of transforms and filters, and those that choose a loop's lane, which
        the area model of ops does not cover."""
        counts: Counter[tuple[str, str]] = Counter()
        for call in key.calls:
            if isinstance(call.function, RowTransform):
                counts.update(key.transform_schedule.operators(call.function.scaled))
            if isinstance(call.function, RowFilter):
                counts.update(FilterSchedule(call.function, key.lanes).operators())
            if isinstance(call.function, RowLoop):  # the lane of a step
                for d, _ in (*call.function.ins, *call.function.outs):
                    counts["choose", scalar(d or call.function.compute)] += key.lanes
            if isinstance(call.function, SliceScatter):
                counts["choose", scalar(call.function.compute)] += key.lanes
        return counts

    def memories(self, key: StagedKey, structure: str) -> list[LocalMemory]:
        stages = Stages(key)
        memories = [LocalMemory(f.depth, stages.bits(f.value)) for f in stages.fifos]
        for k, p in enumerate(key.ins):
            if key.cached_beats(k):
                memories.append(LocalMemory(key.cached_beats(k), 8 * p.dtype.itemsize * key.lanes))
        for stage in stages.stages:
            memories += byte_tables(key, stage).memories(key)
            if stage.kind == FOLD:
                size = 8 * key.calls[stage.calls[0]].function.compute.itemsize
                memories.append(LocalMemory(8, size, key.lanes))
            if stage.kind == LOOP:
                loop = key.calls[stage.calls[0]].function
                assert isinstance(loop, RowLoop)
                sizes = [8 * key.dtypes[v].itemsize for v in stage.outputs[: loop.states]]
                memories += [LocalMemory(loop.signals, size) for size in sizes if loop.signals > 1]
            if stage.kind == TRANSFORM:
                memories += key.transform_schedule.memories(8 * key.calls[stage.calls[0]].function.compute.itemsize)
            if stage.kind == WINDOW:
                memories += stages.window_schedule(stage).memories(stages.bits(stage.inputs[0]) // key.lanes)
        return memories

    # In words

    def record(self, key: StagedKey) -> ManifestTerms:
        outs, ins = (tuple(p.dtype.name for p in ports) for ports in (key.outs, key.ins))
        kinds = "".join(p.kind for p in (*key.outs, *key.ins))
        return ManifestTerms(key.name, outs, ins, kinds, self.compute(key).name)

    def title(self, key: StagedKey) -> str:
        return f"{key.name} (graph)"

    def operands(self, key: StagedKey) -> str:
        return f"rows of {key.length}"

    def lines(self, key: StagedKey) -> tuple[str, ...]:
        """Returns the inventory table that requests the graph; it refers to the graph file."""
        return ("[[graph]]", f'file = "{key.file_name}"', f'sha256 = "{digest(key)}"')

    def in_words(self, key: StagedKey) -> InventoryTerms:
        words = super().in_words(key)
        return words._replace(op=key.name, layout=f"rows of {key.length}")


def _rows(launch: KernelLaunch, unit: int) -> tuple[int, int]:
    """Returns the rows [begin, end) of a compute unit, as the kernel computes them."""
    together = launch.key.together
    begin, end = launch.slab(launch.n // together, unit)
    return begin * together, launch.n if unit == launch.units - 1 else end * together


def _row_lengths(key: StagedKey) -> list[int]:
    """Returns, for each operand (outputs first), the elements of a row; for taps their number."""
    lengths = [key.row_length(v) for v in (*key.results, *range(len(key.ins)))]
    for k, p in enumerate(key.ins, len(key.outs)):
        lengths[k] = key.taps_of(k - len(key.outs)) if p.kind == TAPS else lengths[k]
    return lengths


def _word(c: str, dtype: dtype) -> str:
    memory = c.removeprefix("const ").removesuffix("*").strip()
    return f"ft_c{memory}" if dtype.is_complex else memory


register(Staged())


class LinkedStage(BoardSkeleton[StageKey]):
    """One stage of a graph as a kernel. Kernels that the host starts share the launch of the
    graph."""

    name = "linked"
    waits = True
    template = "linked.cpp"

    def started(self, key: StageKey) -> bool:
        return key.launched_graph is not None

    def parameters(self, key: StageKey) -> tuple[Parameter, ...]:
        return _graphs().parameters(key.launched_graph or key.graph)

    def compute(self, key: StageKey) -> dtype:
        return _graphs().compute(key.graph)

    def arguments(self, key: StageKey) -> tuple[KernelArgument, ...]:
        """Returns the kernel arguments: scalars and row count for the BEGIN kernel; operand, offset
        and row count for a load or store; none for free-running kernels. Streams are no
        arguments."""
        if key.launched_graph is None:
            return ()
        arguments = _graphs().arguments(key.graph)
        if key.kind == BEGIN:
            return tuple(a for a in arguments if a.what != "*" and not a.name.endswith("_offset"))
        local_name = "in_0" if key.kind == LOAD else "out0"
        pointer, offset = (
            next(a._replace(of=key.port + a.name.removeprefix(local_name)) for a in arguments if a.name == n)
            for n in (local_name, f"{local_name}_offset")
        )
        return (pointer, offset, arguments[-1])

    def structure(self, lanes: int, requested: str) -> str:
        return "linked"

    def vitis_module(self, lanes: int) -> str:
        return "linked"

    def suffix(self, key: StageKey) -> str:
        return key.name

    # The performance and area models: the part of the graph's figures for this stage

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key = launch.key
        if key.kind == BEGIN:
            return []
        stage_name = key.stage.name
        names = (stage_name, f"{stage_name}_once", f"{stage_name}_states", f"{stage_name}_tree", f"{stage_name}_tables")
        loops = _graphs().loops(launch._replace(key=key.graph), unit, widened)
        return [one for one in loops if one.name in names]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        key = launch.key
        if key.kind not in (LOAD, STORE):
            return []
        accesses = _graphs().traffic(launch._replace(key=key.graph), widened)
        return [one for one in accesses if one.write == (key.kind == STORE)]

    def operators(self, key: StageKey) -> Mapping[tuple[str, str], int]:
        return {} if key.kind == BEGIN else _graphs().operators(key.graph)

    def memories(self, key: StageKey, structure: str) -> list[LocalMemory]:
        """Returns the memories without FIFOs; `LinkedGraph.edges` of the graph has the FIFOs."""
        if key.kind == BEGIN:
            return []
        return _graphs().memories(key.graph, structure)[len(key.stages.fifos) :]

    def record(self, key: StageKey) -> ManifestTerms:
        """Returns the graph's record for the BEGIN kernel; other kernels have their own op name."""
        if key.kind == BEGIN:
            return _graphs().record(key.graph)
        record = _graphs().record(key.graph)
        return record._replace(op=key.port or key.name)

    def lines(self, key: StageKey) -> tuple[str, ...]:
        return ()


def _graphs() -> Staged:
    skeleton = board_named("staged")
    assert isinstance(skeleton, Staged)
    return skeleton


register(LinkedStage())
