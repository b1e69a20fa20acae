"""linked: the kernels of a graph that is a kernel for each stage, joined by streams."""

from __future__ import annotations

from collections.abc import Mapping

from ...dtypes import dtype
from ..board_skeleton import BoardSkeleton, board_named
from ..linked import BEGIN, StageKey
from ..skeleton import Parameter, register
from ..staged import LOAD, STORE
from ..words import Argument, Record
from ..work import Access, KernelLaunch, LocalMemory, Loop
from .staged import Staged


class LinkedStage(BoardSkeleton[StageKey]):
    """One of them. Where the host starts it, its launch is that of the whole graph."""

    name = "linked"
    waits = True
    template = "linked.cpp"

    def started(self, key: StageKey) -> bool:
        """By the host, or by what others tell it."""
        return key.serves is not None

    def parameters(self, key: StageKey) -> tuple[Parameter, ...]:
        """Those of a launch of the graph."""
        return _graphs().parameters(key.serves or key.of)

    def compute(self, key: StageKey) -> dtype:
        """As of a graph."""
        return _graphs().compute(key.of)

    def arguments(self, key: StageKey) -> tuple[Argument, ...]:
        """Of the one that begins, numbers and rows; of a port's, its operand, offset and rows. The
        streams are no arguments of a launch."""
        if key.serves is None:
            return ()
        arguments = _graphs().arguments(key.of)
        if key.part == BEGIN:
            return tuple(a for a in arguments if a.what != "*" and not a.name.endswith("_offset"))
        mine = "in_0" if key.part == LOAD else "out0"
        pointer, offset = (
            next(a._replace(of=key.port + a.name.removeprefix(mine)) for a in arguments if a.name == n)
            for n in (mine, f"{mine}_offset")
        )
        return (pointer, offset, arguments[-1])

    def structure(self, lanes: int, asked: str) -> str:
        """That of its graph."""
        return "linked"

    def vitis(self, lanes: int) -> str:
        """A module of its own."""
        return "linked"

    def suffix(self, key: StageKey) -> str:
        """As what runs by itself is called."""
        return key.name

    # The model and the area: what the graph has of this stage

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """Of one stage: the others have theirs."""
        key = launch.key
        if key.part == BEGIN:
            return []
        mine = key.stage.name
        names = (mine, f"{mine}_once", f"{mine}_states", f"{mine}_tree")
        loops = _graphs().loops(launch._replace(key=key.of), unit, widened)
        return [one for one in loops if one.name in names]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """What goes through its port."""
        key = launch.key
        if key.part not in (LOAD, STORE):
            return []
        accesses = _graphs().traffic(launch._replace(key=key.of), widened)
        return [one for one in accesses if one.write == (key.part == STORE)]

    def operators(self, key: StageKey) -> Mapping[tuple[str, str], int]:
        """Of a transform."""
        return {} if key.part == BEGIN else _graphs().operators(key.of)

    def memories(self, key: StageKey, structure: str) -> list[LocalMemory]:
        """What a stage keeps. The FIFOs of streams are those of the graph's `joins`."""
        if key.part == BEGIN:
            return []
        return _graphs().memories(key.of, structure)[len(key.stages.fifos) :]

    def record(self, key: StageKey) -> Record:
        """The graph's, of the kernel that begins it; of others their part of it."""
        if key.part == BEGIN:
            return _graphs().record(key.of)
        record = _graphs().record(key.of)
        return record._replace(op=key.port or key.name)


def _graphs() -> Staged:
    """The skeleton of graphs in one kernel."""
    skeleton = board_named("staged")
    assert isinstance(skeleton, Staged)
    return skeleton


register(LinkedStage())
