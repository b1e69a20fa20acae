"""Processes and FIFOs of a network's kernel, and the depths of the FIFOs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from .network import Flow
from .workload import LocalMemory

# Usual depth of a FIFO in beats, so that a pause of one of its processes does not stop the other.
NETWORK_FIFO_DEPTH = 32
# Latency of a process in iterations, for FIFOs that bypass other processes.
PROCESS_LATENCY = 16
# Images in the analysis of FIFOs: the first fills the line buffers, the second shows the period.
IMAGES = 3

# ((operator, dtype), count) for the area model.
Operators = tuple[tuple[tuple[str, str], int], ...]
# needs(n)[i]: beats of an input that are read before beat i of n images is written.
Needs = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Process:
    """A process: a call of `function`, a template of hls/vitis/network.h.

    The template arguments are the element type (unless `typed` is False), then `sizes`. The call's
    arguments are FIFOs, then `passed`. FIFOs are indices: those that the process `reads` and
    `writes`, and in `loads` those through which loaded weights enter and leave it.

    `trips` is its iterations per image, `layer` is the index of its layer (-1: none). `operators`
    and `memories` are for the area model. FIFO depths follow from `needs`, a function for each
    input, from `burst`, the beats that the process may read before it needs them, and from
    `latency`, its pipeline's iterations.
    """

    name: str
    function: str
    sizes: tuple[int, ...]
    trips: int
    layer: int = -1
    passed: tuple[str, ...] = ()
    operators: Operators = ()
    memories: tuple[LocalMemory, ...] = ()
    needs: tuple[Needs, ...] = field(default=(), repr=False)
    burst: int = 0
    latency: int = PROCESS_LATENCY
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    loads: tuple[int, ...] = ()
    typed: bool = True


@dataclass
class FlowFifo:
    """A FIFO: its flow, the C type of its elements ("T" is the network's), its depth in beats, the
    process that writes it, and whether it is in UltraRAM."""

    name: str
    flow: Flow
    element: str
    source: int
    depth: int = NETWORK_FIFO_DEPTH
    uram: bool = False

    @property
    def memory(self) -> LocalMemory:
        """The memory of the beats."""
        return LocalMemory(self.depth, self.flow.wide * (self.flow.bits if self.element == "T" else 32), 1, self.uram)

    def c_type(self, element: str = "T") -> str:
        """Returns the C type of a beat; `element` is the type of the network's elements."""
        return f"ft_beat<{element if self.element == 'T' else self.element}, {self.flow.wide}>"


def same(flow: Flow) -> Needs:
    """Returns the `needs` of a process that writes one beat for each beat that it reads."""
    return lambda n: np.arange(1, n * flow.beats + 1)


def parts_of(pixels: int, mine: int, begin: int, both: int) -> Needs:
    """Returns the `needs` of a process that writes pixels of `both` beats, of which `mine` from the
    beat `begin` on come from this input."""

    def needs(n: int) -> np.ndarray:
        beats = np.clip(np.arange(1, both + 1) - begin, 0, mine)
        return (np.arange(n * pixels)[:, None] * mine + beats).ravel()

    return needs


def deepen(processes: Sequence[Process], fifos: Sequence[FlowFifo]) -> None:
    """Sets FIFO depths after a fork whose branches meet in a join with different delays, so that
    processes never wait for each other in a circle, and run at full speed."""
    for process in processes:
        if len(process.reads) < 2:
            continue
        first, second = (_sources(processes, fifos, fifo) for fifo in process.reads)
        fork = max(first & second)
        of_fork = _reads_of(processes, fork, max(fifos[fifo].source for fifo in process.reads))
        reads = [of_fork[fifo][need(IMAGES) - 1] for fifo, need in zip(process.reads, process.needs)]
        for branch, sources in enumerate((first, second)):
            ahead = int((reads[1 - branch] - reads[branch]).max())
            if ahead <= 0:
                continue
            others = (second, first)[branch]
            held = sum(processes[k].latency + processes[k].burst for k in others if k > fork)
            for fifo in processes[fork].writes:
                if process.reads[branch] == fifo or any(fifo in processes[k].reads for k in sources):
                    fifos[fifo].depth = max(fifos[fifo].depth, ahead + 1 + NETWORK_FIFO_DEPTH + held)


def _sources(processes: Sequence[Process], fifos: Sequence[FlowFifo], fifo: int) -> set[int]:
    """Returns the processes on which a FIFO depends."""
    found = {fifos[fifo].source}
    for k in range(fifos[fifo].source, -1, -1):
        if k in found:
            found |= {fifos[f].source for f in processes[k].reads}
    return found


def _reads_of(processes: Sequence[Process], fork: int, last: int) -> dict[int, np.ndarray]:
    """Returns, for each FIFO that depends on a fork and is written up to process `last`, and each
    of its beats, the beats of the fork that are read before it is written."""
    (need,) = processes[fork].needs  # a fork writes its input's beats to all outputs
    of_fork = dict.fromkeys(processes[fork].writes, need(IMAGES))
    for process in processes[fork + 1 : last + 1]:
        inputs = [(need, of_fork[f]) for f, need in zip(process.reads, process.needs) if f in of_fork]
        if inputs:
            reads = np.maximum.reduce([before[need(IMAGES) - 1] for need, before in inputs])
            for f in process.writes:
                of_fork[f] = reads
    return of_fork


@cache
def divisors(n: int) -> tuple[int, ...]:
    """Returns the divisors of n, in order."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)
