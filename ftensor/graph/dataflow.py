"""A graph as one kernel of dataflow stages, for images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import graph as errors
from ..iterator.shape import Ints, numel
from ..kernels.graph_text import EVERY_BLOCK, FRAMES, ONE_ELEMENT, PER_BLOCK, PER_ROW, REFLECTED, ROWS, SHARED_ROW, TAPS
from ..kernels.key import Port, lanes_for
from ..kernels.row_loop import RowLoop
from ..kernels.signal_stages import RowFilter, RowTransform, filter_refusal, half_of, transform_refusal
from ..kernels.staged import VECTOR_KINDS, StagedKey, frames_refusal
from ..kernels.workload import PORT_BYTES
from .filters import framed_signals, on_frames, overlaps
from .fusion_group import ElementCall, call_sequence
from .ir import Graph, GraphTensor, Node
from .loop_body import (
    AffineAccess,
    LoopBody,
    complex_part,
    is_contiguous_over,
    is_invariant,
    iteration_count,
    ordered_loops,
    part_function,
    split_at_row,
)
from .row_sizes import row_sizes
from .stage_body import check_size, layout_of, layout_strides, refusal_of, stage_body, stage_node


class DataflowBuilder:
    """Builds one node of dataflow stages from a graph. `values` maps each access to the index of
    the value that it holds.

    Raises GraphError, which names the op and its line, for a node that cannot be a stage: an op
    that needs all its data first, an operand without a layout in rows, a written argument, a random
    number.
    """

    def __init__(self, graph: Graph) -> None:
        # Copies of reflected signals, by memory: frames of a copy are read from the signal.
        self.reflected = {node.operands[0].memory: node for node in graph.nodes if node.reflected}
        memories = [m._replace(argument=0) if k in self.reflected else m for k, m in enumerate(graph.memories)]
        self.graph = graph = replace(
            graph, nodes=tuple([node for node in graph.nodes if not node.reflected]), memories=tuple(memories)
        )
        if not graph.nodes:
            raise refusal_of(graph, next(iter(self.reflected.values())), "no op goes with it")
        kept = frozenset(f.region.memory for f in graph.result_tensors)
        self.bodies = on_frames([stage_body(graph, node) for node in graph.nodes], kept)
        self.filters = [body for body in self.bodies if isinstance(body.function, RowFilter)]
        self.loops = [body for body in self.bodies if isinstance(body.function, RowLoop)]
        self.last_states: set[AffineAccess] = set()
        self.length, self.rows = row_sizes(graph, self.bodies)
        self.row_length = self.length  # row length of the current body
        # The factor by which rows are longer than `length`, 0 for half a spectrum; for taps their
        # number; for frames the distance in elements.
        self.spans: dict[AffineAccess, int] = {}
        self.rank = max(len(r.shape) for node in graph.nodes for r in node.operands)
        self.period = 1  # rows of a block, for operands in blocks, or of a signal
        self.signal: int | None = None  # distance of signals that frames are of; 0 for one signal
        self.values: dict[AffineAccess, int] = {}  # index of the value at an access
        self.part_values: dict[tuple[AffineAccess | int, str], int] = {}  # index of each part of a complex value
        self.calls: list[ElementCall] = []

    def _refuse(self, node: Node, why: str) -> errors.GraphError:
        return refusal_of(self.graph, node, why)

    def _rows_of(self, body: LoopBody) -> int:
        """Returns the row length in a body's loops. Rows before decimating filters are longer."""
        lengths, length = [self.length], self.length
        for one in self.filters[::-1]:
            assert isinstance(one.function, RowFilter)
            length = iteration_count(one.loops) // self.rows
            lengths += [length, length * one.function.stride]
        if any(isinstance(one.function, RowTransform) and one.function.half for one in self.bodies):
            lengths.append(half_of(self.length))
        total = iteration_count(body.loops)
        whole = [n for n in lengths if n * self.rows == total] or [n for n in lengths if n == total]
        return whole[0] if whole else self.length

    def build_node(self) -> Node:
        """Returns the node. Its operands are the outputs, then the inputs."""
        if self.rows * self.length == 0:
            raise self._refuse(self.graph.nodes[0], "there are no elements")
        for body in self.bodies:
            self._add_body(body)
        results = [self._stored(f.region) for f in self.graph.result_tensors]
        stored = list(dict.fromkeys([p for p in results if p is not None]))
        program = call_sequence(self.calls, [self.values[p] for p in stored])
        accesses = [*stored, *program.inputs]
        last = self.graph.nodes[-1]
        check_size(self.graph, len(accesses), len(program.calls))
        dtypes = [p.dtype for p in accesses]
        widest = max([c.function.compute for c in program.calls], key=lambda d: d.itemsize)
        lanes = lanes_for(dtypes, widest, PORT_BYTES)
        frames = [p for p in accesses if layout_of(p) == FRAMES]
        lanes = min([lanes, *(n & -n for n in (self.spans[p] | (self.signal or 0) for p in frames))])  # begin on beats
        for body in self.bodies:
            if isinstance(body.function, RowTransform) and (why := transform_refusal(self.length, lanes)):
                raise self._refuse(body.node, why)
            if isinstance(body.function, RowFilter) and (why := filter_refusal(body.function, self.length, lanes)):
                raise self._refuse(body.node, why)
        for p in accesses[len(stored) :]:
            if not self.spans.get(p, 1) and layout_of(p) != SHARED_ROW:
                raise self._refuse(last, "it reads half a spectrum from memory")
        for p in frames:
            if why := frames_refusal(self.length, self.spans[p], lanes, period=self.period):
                readers = [body.node for body in self.bodies if any(q.memory == p.memory for q in body.ins)]
                raise self._refuse(readers[0], why)
        for p in accesses:
            if p.memory in self.reflected and (why := self._reflection_refusal(p, lanes)):
                raise self._refuse(self.reflected[p.memory], why)
        accesses = self._as_beats(accesses, len(stored), lanes)
        for p in accesses:
            if layout_of(p) in VECTOR_KINDS and p.start % (lanes * p.dtype.itemsize):
                raise self._refuse(last, f"an operand begins at byte {p.start}, not on a beat")
            if layout_of(p) in (PER_BLOCK, EVERY_BLOCK) and self.length % lanes:
                raise self._refuse(last, f"rows of {self.length} in blocks are no whole beats")
        ports = [Port(p.dtype, REFLECTED if p.memory in self.reflected else layout_of(p)) for p in accesses]
        count = len(stored)
        spans = tuple([self.spans.get(p, 1) or 1 for p in accesses[count:]])
        key = StagedKey(
            program.name,
            "staged",
            lanes,
            tuple(ports[:count]),
            tuple(ports[count:]),
            tuple(program.calls),
            program.results,
            tuple(program.argument_dtypes),
            (),
            self.length,
            self.period,
            spans if any(n != 1 for n in spans) else (),
            signal=self.signal or 0,
        )
        regions = [self._region(p) for p in accesses]
        return stage_node(self.graph, key, self.rows, regions, tuple(range(len(regions))), program)

    def _reflection_refusal(self, p: AffineAccess, lanes: int) -> str:
        """Returns the reason why no stage reads an access of a reflected signal; "" if one does."""
        node = self.reflected[p.memory]
        if layout_of(p) != FRAMES or p.start:
            return "a reflected signal is read otherwise than in frames, from the first one on"
        size, hop = numel(node.operands[1].shape), self.spans[p]
        if 2 * node.reflected != self.length:
            return f"{node.reflected} elements are reflected at each end, and a stage reflects half of {self.length}"
        if size != (self.rows - 1) * hop:
            return f"a signal of {size} elements has {self.rows} frames, one each {hop}, and is no multiple of {hop}"
        return frames_refusal(self.length, hop, lanes, True)

    def _as_beats(self, accesses: list[AffineAccess], outputs: int, lanes: int) -> list[AffineAccess]:
        """Cuts a single row of elementwise ops into rows of one beat, which compute units can
        share; the kernel then accepts any number of whole beats. Returns the operands' accesses in
        these rows, those of the `outputs` results first."""
        whole_rows = any(body.is_fold or isinstance(body.function, RowTransform) for body in self.bodies)
        whole_rows |= bool(self.filters or self.loops)
        if self.rows > 1 or whole_rows or self.length % lanes or self.length == lanes:
            return accesses
        if any(layout_of(p) != ROWS for p in accesses[:outputs]):  # no store writes a single element for all rows
            return accesses
        self.rows, self.length = self.length // lanes, lanes
        kinds = {SHARED_ROW: ROWS, PER_ROW: ONE_ELEMENT}
        return [_with_layout(p, kinds.get(layout_of(p), layout_of(p))) for p in accesses]

    def _add_body(self, body: LoopBody) -> None:
        """Adds the call of a loop body."""
        complex_parts = [complex_part(p, self.values) for p in body.ins]
        if any(complex_parts):
            pairs = zip(body.ins, complex_parts, strict=True)
            body = replace(body, ins=tuple([p if part is None else part.access for p, part in pairs]))
        if isinstance(body.function, RowFilter):
            self._add_filter(body, body.function)
            return
        if isinstance(body.function, RowLoop):
            self._add_loop(body, body.function)
            return
        self.row_length = self._rows_of(body)
        row_indices = [k for k, loop in enumerate(body.loops) if not loop.folded]
        folded_indices = [k for k, loop in enumerate(body.loops) if loop.folded]
        if folded_indices:
            if self._count(body, folded_indices) != self.row_length or self._count(body, row_indices) != self.rows:
                raise self._refuse(body.node, "its rows are others than those before")
            if self.row_length < self.length:
                raise self._refuse(body.node, "it folds half a spectrum, and a stage folds whole rows")
            splits = [(ordered_loops(body, row_indices), ordered_loops(body, folded_indices))]
        elif isinstance(body.function, RowTransform):
            *row_loops, element_loop = [(k, loop.size, 1) for k, loop in enumerate(body.loops)]
            if element_loop[1] != self.length:
                raise self._refuse(body.node, "its rows are others than those before")
            splits = [(row_loops, [element_loop])]
        else:
            splits = self._loop_splits(body)
        body_accesses = (*body.outs, *body.ins)
        candidates: list[tuple[list[str | None], list[Any]]] = []
        for loops in splits:
            kinds = [self._operand_layout(p, *loops) for p in body_accesses]
            if isinstance(body.function, RowTransform) and body.function.half:
                self.row_length = half_of(self.length)
                kinds[0] = self._operand_layout(body.outs[0], *loops)
                self.row_length = self.length
            if self.rows == 1:
                kinds = self._single_row_layouts(kinds, body)
            if body.is_fold:
                row_kinds = [PER_ROW if is_contiguous_over(p, loops[0], 1) else None for p in body.outs]
                kinds[: len(row_kinds)] = row_kinds
            if None not in kinds:
                laid = zip(body_accesses, kinds, strict=True)
                matches = any(_with_layout(p, str(kind)) in self.values for p, kind in laid)
                candidates.insert(0 if matches else len(candidates), (kinds, loops[0]))
        if not candidates:
            why = "an operand is not laid out in rows, dense and one after another"
            arguments = [p for p in body_accesses if not self.graph.memories[p.memory].is_internal]
            if folded_indices and any(p.strides[k] == 1 for p in body.ins for k in row_indices):
                why = "it folds across rows, which needs all of them first"
            elif any(overlaps(p, loops, self.row_length) for loops, _ in splits for p in arguments):
                why = "its rows are frames of signals at several distances, and a stage has signals at one"
            raise self._refuse(body.node, why)
        kinds, row_loops = candidates[0]
        accesses = [_with_layout(p, str(kind)) for p, kind in zip(body_accesses, kinds, strict=True)]
        for p, access in zip(body_accesses, accesses, strict=True):
            framed = framed_signals(p, row_loops, self.length) if layout_of(access) == FRAMES else None
            if framed and self.spans.setdefault(access, framed.hop) != framed.hop:
                raise self._refuse(body.node, "frames of one signal have two distances")
        if isinstance(body.function, RowTransform) and body.function.half:
            self._note_lengths(body, accesses[1:])
            self.row_length = half_of(self.length)
            self._note_lengths(body, accesses[:1])
        else:
            self._note_lengths(body, accesses)
        outs, ins = accesses[: len(body.outs)], accesses[len(body.outs) :]
        operands: list[AffineAccess | int] = []
        for p, part in zip(ins, complex_parts, strict=True):
            value = self._value(body, p)
            operands.append(value if part is None else self._part(body, value, part.part))
        self._write(outs, self._add_call(body, operands, len(outs)))

    def _value(self, body: LoopBody, p: AffineAccess) -> AffineAccess | int:
        """Returns the value at an access; for an argument, the access itself. Raises GraphError for a
        value that no stage can pass on."""
        if p not in self.values and self.graph.memories[p.memory].is_internal:
            raise self._refuse(body.node, "it reads a part, or otherwise than in rows")
        if p in self.last_states:
            raise self._refuse(body.node, "it reads a loop's last state, which needs all steps first")
        return self.values.get(p, p)

    def _write(self, outs: Sequence[AffineAccess], values: Ints) -> None:
        for p, value in zip(outs, values, strict=True):
            for replaced in [q for q in self.values if q.memory == p.memory]:
                del self.values[replaced]  # this write replaces the values
            self.values[p] = value

    def _add_filter(self, body: LoopBody, function: RowFilter) -> None:
        """Adds a filter. A signal of the filter may be one row, several rows, or all rows."""
        count, signals = body.loops[-1].size, iteration_count(body.loops[:-1])
        self.row_length = iteration_count(body.loops) // self.rows
        if count % self.row_length:
            raise self._refuse(body.node, f"its signals of {count} results are not whole rows of {self.row_length}")
        rows = 0 if signals == 1 and self.rows > 1 else count // self.row_length
        out, signal, taps = [
            _with_layout(p, kind) for p, kind in zip((*body.outs, *body.ins), (ROWS, ROWS, TAPS), strict=True)
        ]
        self._note_lengths(body, [out])
        self.row_length *= function.stride
        self._note_lengths(body, [signal])
        read = self._value(body, signal)
        if self.graph.memories[taps.memory].is_internal:
            raise self._refuse(body.node, "its taps are computed in the function: pass them, or compute them outside")
        if self.spans.setdefault(taps, function.taps) != function.taps:
            taken = f"the {self.spans[taps]} of another filter"
            raise self._refuse(body.node, f"its {function.taps} taps begin where {taken} do: pass a clone() of one")
        body = replace(body, function=replace(function, rows=rows))
        self._write([out], self._add_call(body, (read, taps), 1))

    def _add_loop(self, body: LoopBody, loop: RowLoop) -> None:
        """Adds a loop with feedback: all rows are one signal, or a row is a step of several signals."""
        total, several = iteration_count(body.loops), loop.signals > 1
        if several and (loop.signals, total) != (self.length, self.rows * self.length):
            why = f"its {loop.signals} signals are no rows of {self.length}, which are steps"
            raise self._refuse(body.node, why)
        if total % self.rows:
            raise self._refuse(body.node, f"its {total} steps are not {self.rows} rows")
        self.row_length = total // self.rows
        accesses = [
            _with_layout(p, ROWS if p.strides[0] else SHARED_ROW if several else ONE_ELEMENT)
            for p in (*body.outs, *body.ins)
        ]
        self._note_lengths(body, accesses)
        outs, ins = accesses[: len(body.outs)], accesses[len(body.outs) :]
        self._write(outs, self._add_call(body, [self._value(body, p) for p in ins], len(outs)))
        self.last_states |= {*outs[: loop.states]}

    def _note_lengths(self, body: LoopBody, accesses: Sequence[AffineAccess]) -> None:
        """Records the row length of each access of a body. Raises GraphError if an access has
        another row length in an earlier body."""
        for p in accesses:
            if layout_of(p) == FRAMES:
                continue
            span = self.row_length // self.length if layout_of(p) in VECTOR_KINDS else 1
            if self.spans.setdefault(p, span) != span:
                raise self._refuse(body.node, "its rows are others than those before")

    def _add_call(self, body: LoopBody, operands: Sequence[AffineAccess | int], result_count: int) -> Ints:
        first = sum(len(c.results) for c in self.calls)
        scalars = tuple(range(first, first + result_count))
        self.calls.append(ElementCall(body, tuple(operands), scalars))
        return scalars

    def _part(self, body: LoopBody, value: AffineAccess | int, part: str) -> int:
        if (value, part) not in self.part_values:
            function = part_function(body.ins[0].dtype.to_complex(), part)
            part_body = replace(body, function=function, outs=(), ins=(), scalars=(), scalar_dtypes=())
            (self.part_values[value, part],) = self._add_call(part_body, (value,), 1)
        return self.part_values[value, part]

    def _count(self, body: LoopBody, indices: Sequence[int]) -> int:
        return numel(tuple([body.loops[k].size for k in indices]))

    def _loop_splits(self, body: LoopBody) -> list[tuple[list[Any], list[Any]]]:
        """Returns the ways to split an elementwise node's loops into (loops over rows, loops along
        a row)."""
        sizes, steps = tuple([loop.size for loop in body.loops]), body.outs[0].strides
        order = sorted(range(len(sizes)), key=lambda k: -abs(steps[k]))  # rows in the order of memory
        total, loops = numel(sizes), [(k, sizes[k], 1) for k in order]
        splits: list[tuple[list[Any], list[Any]]] = []
        if total == self.row_length * self.rows:
            row_split = split_at_row(loops, self.row_length)
            if row_split is not None:
                splits.append(row_split)
        if total == self.rows:
            splits.append((loops, []))
        if total == self.row_length:
            splits.append(([], loops))
        if total == self.rows == self.row_length and body.node.operands[0].shape[-1:] != (1,):
            splits.reverse()  # a per-row value has a last dim of 1, or is computed from per-row values
        if total == 1:
            splits.append(([], []))
        if not splits:
            of = f"{self.rows} rows of {self.row_length}"
            raise self._refuse(body.node, f"it has {total} elements, where there are {of}")
        return splits

    def _operand_layout(self, p: AffineAccess, row_loops: Sequence[Any], element_loops: Sequence[Any]) -> str | None:
        """Returns the layout of an operand for these loops over rows and along a row; None if ports
        support none."""
        is_dense, same_for_all_rows = is_contiguous_over(p, element_loops, 1), is_invariant(p, row_loops)
        if (
            element_loops
            and is_dense
            and is_contiguous_over(p, row_loops, self.row_length)
            and (row_loops or self.rows == 1)
        ):
            return ROWS
        if element_loops and is_dense and same_for_all_rows:
            return SHARED_ROW
        if row_loops and is_invariant(p, element_loops) and is_contiguous_over(p, row_loops, 1):
            return PER_ROW
        if same_for_all_rows and is_invariant(p, element_loops):
            return ONE_ELEMENT
        if not element_loops or not is_dense:
            return None
        return self._in_frames(p, row_loops) or self._in_blocks(p, row_loops)

    def _in_frames(self, p: AffineAccess, row_loops: Sequence[Any]) -> str | None:
        """Returns FRAMES if rows overlap, else None. Sets `signal`, and `period` for several signals."""
        framed = framed_signals(p, row_loops, self.length) if self.row_length == self.length else None
        if framed is None or self.signal not in (None, framed.distance):
            return None
        if framed.distance and self.period not in (1, framed.rows):
            return None
        self.signal, self.period = framed.distance, framed.rows if framed.distance else self.period
        return FRAMES

    def _in_blocks(self, p: AffineAccess, row_loops: Sequence[Any]) -> str | None:
        """Returns PER_BLOCK if all rows of a block read the same row, EVERY_BLOCK if every block
        reads the same rows, else None. Sets `period`, the rows of a block."""
        for cut in range(1, len(row_loops)):
            outer, inner = row_loops[:cut], row_loops[cut:]
            shared = is_invariant(p, inner) and is_contiguous_over(p, outer, self.row_length)
            repeated = is_invariant(p, outer) and is_contiguous_over(p, inner, self.row_length)
            period = numel(tuple([size for _, size, _ in inner]))
            if (shared or repeated) and self.period in (1, period):
                self.period = period
                return PER_BLOCK if shared else EVERY_BLOCK
        return None

    def _single_row_layouts(self, kinds: Sequence[str | None], body: LoopBody) -> list[str | None]:
        """Returns the layouts of operands if there is a single row: it may be a row of its own or
        one that all rows share. The number of dims of each operand decides between the two."""
        layouts: list[str | None] = []
        operands = body.node.operands[: len(kinds)]  # without the table of a transform
        for kind, r in zip(kinds, operands, strict=True):
            if kind in (ROWS, SHARED_ROW):
                kind = ROWS if len(r.shape) == self.rank else SHARED_ROW
            elif kind in (PER_ROW, ONE_ELEMENT):
                kind = PER_ROW if r.shape else ONE_ELEMENT
            layouts.append(kind)
        return layouts

    def _stored(self, r: GraphTensor) -> AffineAccess | None:
        """Returns the access of a result's value; None if the result is in an argument's memory."""
        if not self.graph.memories[r.memory].is_internal:
            return None
        accesses = [p for p in self.values if p.memory == r.memory]
        is_last = accesses and accesses[0] in self.last_states
        kinds = (ONE_ELEMENT, SHARED_ROW) if is_last else (ROWS, PER_ROW)
        if not accesses or layout_of(accesses[0]) not in kinds or accesses[0].start:
            raise self._refuse(self.graph.nodes[-1], "a result is neither of rows nor of each")
        return accesses[0]

    def _region(self, p: AffineAccess) -> GraphTensor:
        """Returns an operand's access as a tensor of the graph."""
        kind, n, span = layout_of(p), self.rows, self.spans.get(p, 1)
        length = self.length * (1 if kind == FRAMES else span) or half_of(self.length)
        shapes: dict[str, Ints] = {
            ROWS: (n, length),
            PER_ROW: (n,),
            SHARED_ROW: (length,),
            ONE_ELEMENT: (),
            PER_BLOCK: (n // self.period, length),
            EVERY_BLOCK: (self.period, length),
            TAPS: (span,),
            FRAMES: (n, length),
        }
        shape = shapes[kind]
        if p.memory in self.reflected:
            signal = self.reflected[p.memory].operands[1]
            return GraphTensor(signal.memory, p.dtype, (numel(signal.shape),), (1,), signal.offset)
        strides = (span if kind == FRAMES else length, 1) if len(shape) == 2 else (1,) * len(shape)
        if kind == FRAMES and self.signal:
            shape, strides = (n // self.period, self.period, length), (self.signal, *strides)
        return GraphTensor(p.memory, p.dtype, shape, strides, p.start // p.dtype.itemsize)


def _with_layout(p: AffineAccess, kind: str) -> AffineAccess:
    return p._replace(strides=layout_strides(kind))
