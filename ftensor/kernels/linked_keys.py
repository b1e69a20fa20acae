"""Keys of the kernels of a graph that has a kernel for each stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from .fused import Call
from .graph_text import EVERY_BLOCK, PER_BLOCK, PER_ROW, ROWS, text
from .key import Port
from .staged import LOAD, STORE, DataflowStage, Fifo, StagedKey, Stages

BEGIN = "begin"
# Least and most depth of a FIFO between kernels, a power of two (PG085, AXI4-Stream FIFO).
MIN_DEPTH, MAX_DEPTH = 16, 1 << 15


@dataclass(frozen=True)
class StageKey:
    """A dataflow stage as a kernel.

    graph: the stage as a graph whose row operands are streams; for the BEGIN kernel the whole graph
    kind: the kind of the stage, or BEGIN
    scalars_per_kernel: in the BEGIN kernel, for each computing kernel its scalar arguments
    launched_graph: the graph of a kernel that the host starts; None for a free-running kernel
    port: the argument of the launched graph that the kernel reads or writes
    """

    graph: StagedKey
    kind: str
    scalars_per_kernel: tuple[tuple[int, ...], ...] = ()
    launched_graph: StagedKey | None = None
    port: str = ""

    skeleton = "linked"

    @property
    def lanes(self) -> int:
        """Lanes of a beat."""
        return self.graph.lanes

    @cached_property
    def entry(self) -> str:
        """The kernel's name in images: the graph's entry for the BEGIN kernel; that entry and
        "/port" for other kernels that the host starts; "ft_" and `name` for free-running ones."""
        if self.launched_graph is None:
            return f"ft_{self.name}"
        return self.launched_graph.entry + (f"/{self.port}" if self.port else "")

    @cached_property
    def name(self) -> str:
        """The name of a free-running kernel: its part, and a digest of part and graph text."""
        return f"{self.kind}_{sha256((self.kind + text(self.graph)).encode()).hexdigest()[:12]}"

    @cached_property
    def stages(self) -> Stages:
        """The dataflow stages of the graph that this kernel is part of."""
        return Stages(self.graph)

    @cached_property
    def stage_index(self) -> int:
        """The index of this kernel's stage in `stages`."""
        stages = self.stages.stages
        return next(k for k, stage in enumerate(stages) if self.kind == stage.kind)

    @property
    def stage(self) -> DataflowStage:
        """The dataflow stage that this kernel computes."""
        return self.stages.stages[self.stage_index]

    @cached_property
    def streams(self) -> tuple[Fifo, ...]:
        """The FIFOs that the kernel reads, then the FIFOs that it writes, in the order of
        values."""
        if self.kind == BEGIN:
            return ()
        outputs = [f for v in self.stage.outputs for f in self.stages.output_fifos(self.stage_index, v)]
        return (*self.stages.input_fifos(self.stage_index), *outputs)

    @property
    def stream_names(self) -> tuple[str, ...]:
        """The names of the stream ports; the port for row count and scalars is first."""
        if self.kind == BEGIN:
            return tuple(f"command_{k}" for k in range(len(self.scalars_per_kernel)))
        first = () if self.launched_graph is not None else ("command",)
        return (*first, *(f.name for f in self.streams))


class StreamEdge(NamedTuple):
    """A connection of two stream ports, each as (kernel index, port name). The stream carries
    `value` (-1: row count and scalars). `name` is the name of the FIFO in the graph."""

    name: str
    source: tuple[int, str]
    target: tuple[int, str]
    depth: int
    value: int


@dataclass(frozen=True)
class LinkedGraph:
    """A graph as kernels: the BEGIN kernel, then one kernel for each stage, in stage order."""

    key: StagedKey

    @cached_property
    def stages(self) -> Stages:
        """The stages of the whole graph."""
        return Stages(self.key)

    @cached_property
    def compute_stages(self) -> tuple[int, ...]:
        """The indices of the stages without a memory port."""
        return tuple(k for k, s in enumerate(self.stages.stages) if s.kind not in (LOAD, STORE))

    @cached_property
    def kernels(self) -> tuple[StageKey, ...]:
        """The kernels, in the order of the class."""
        scalars = tuple(self._scalars_of(self.stages.stages[k]) for k in self.compute_stages)
        begin = StageKey(self.key, BEGIN, scalars, self.key)
        return (begin, *(self._kernel(k) for k in range(len(self.stages.stages))))

    def _scalars_of(self, stage: DataflowStage) -> tuple[int, ...]:
        return tuple(dict.fromkeys(n for c in stage.calls for n in self.key.calls[c].scalars))

    def _kernel(self, k: int) -> StageKey:
        key, stage = self.key, self.stages.stages[k]
        stream_port = lambda v: Port(key.dtypes[v], PER_ROW if key.is_per_row[v] else ROWS)  # noqa: E731
        outputs = [(v, f) for v in stage.outputs for f in self.stages.output_fifos(k, v)]
        if stage.kind == LOAD:
            port = key.ins[stage.port]
            ports = [stream_port(v) for v, _ in outputs]
            graph = self._subgraph((port,), ports, (), (0,) * len(outputs), key.spans[stage.port : stage.port + 1])
            return StageKey(graph, LOAD, (), key, f"in_{stage.port}")
        if stage.kind == STORE:
            port, (v,) = key.outs[stage.port], stage.inputs
            graph = self._subgraph((stream_port(v),), (port,), (), (0,), (key.factors[v],))
            return StageKey(graph, STORE, (), key, f"out{stage.port}")
        local = {v: n for n, v in enumerate((*stage.inputs, *stage.outputs))}
        scalars = self._scalars_of(stage)
        calls = tuple(
            Call(
                key.calls[c].function,
                tuple(local[v] for v in key.calls[c].operands),
                tuple(scalars.index(n) for n in key.calls[c].scalars),
            )
            for c in stage.calls
        )
        graph = self._subgraph(
            [stream_port(v) for v in stage.inputs],
            [stream_port(v) for v, _ in outputs],
            calls,
            tuple(local[v] for v, _ in outputs),
            tuple(key.factors[v] for v in stage.inputs),
        )
        graph = replace(graph, scalar_dtypes=tuple(key.scalar_dtypes[n] for n in scalars))
        return StageKey(graph, stage.kind)

    def _subgraph(
        self,
        ins: Sequence[Port],
        outs: Sequence[Port],
        calls: tuple[Call, ...],
        results: tuple[int, ...],
        spans: tuple[int, ...],
    ) -> StagedKey:
        key = self.key
        blocks = any(p.kind in (PER_BLOCK, EVERY_BLOCK) for p in ins)
        return StagedKey(
            "stage",
            "staged",
            key.lanes,
            tuple(outs),
            tuple(ins),
            calls,
            results,
            length=key.length,
            period=key.period if blocks else 1,
            spans=spans if any(n != 1 for n in spans) else (),
        )

    @cached_property
    def edges(self) -> tuple[StreamEdge, ...]:
        """Connections from the BEGIN kernel to computing kernels, then the graph's FIFOs in
        order."""
        edges = [
            StreamEdge(f"command_{self.stages.stages[k].name}", (0, f"command_{n}"), (k + 1, "command"), MIN_DEPTH, -1)
            for n, k in enumerate(self.compute_stages)
        ]
        for f in self.stages.fifos:
            outputs, inputs = self.stages.stages[f.source].outputs, self.stages.stages[f.target].inputs
            fifos_out = [fifo for v in outputs for fifo in self.stages.output_fifos(f.source, v)]
            source, target = self.kernels[f.source + 1], self.kernels[f.target + 1]
            input_count = len(source.stages.input_fifos(source.stage_index))
            source_port = source.streams[input_count + fifos_out.index(f)].name
            target_port = target.streams[inputs.index(f.value)].name
            ports = (f.source + 1, source_port), (f.target + 1, target_port)
            edges.append(StreamEdge(f.name, *ports, fifo_depth(f), f.value))
        return tuple(edges)


def fifo_depth(fifo: Fifo) -> int:
    """Returns the depth of a FIFO between kernels: `fifo.depth` rounded up to a power of two."""
    return max(MIN_DEPTH, 1 << (fifo.depth - 1).bit_length())
