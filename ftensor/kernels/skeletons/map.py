"""map: every operand is one contiguous run, or a single value (hls/skeleton/map.h)."""

from __future__ import annotations

from ..inventory_terms import LINEAR as RUNS
from ..key import BY_VALUE, LINEAR, SINGLE, KernelKey
from ..op_skeleton import OpSkeleton, memory_operands
from ..skeleton import register
from ..source import is_positional
from ..workload import Access, KernelLaunch, LocalMemory, PipelinedLoop, block_beats


class Map(OpSkeleton):
    """Contiguous runs of n elements, in vectors; n is a kernel argument."""

    name = "map"
    walks = False
    layouts = (RUNS,)

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        return LINEAR * (outs + ins) if word == RUNS.word else None

    def serves(self, kinds: str, outs: int) -> str:
        """Returns the layout, which names the access kinds if operands are single values."""
        return self.layout(kinds, outs)

    def asked_further(self, key: KernelKey, layout: str) -> list[str]:
        """Returns the layout and lanes for ops that depend on the position: only linear layouts."""
        if is_positional(key.body, key.lets):
            return [f'layouts = ["{RUNS.word}"]', f"lanes = {key.lanes}"]
        return super().asked_further(key, layout)

    def structure(self, lanes: int, requested: str) -> str:
        return requested

    def vitis(self, lanes: int) -> str:
        return "map"

    def intel(self) -> str:
        return "map"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop for each input and one each for arithmetic and writes; with structure
        "loop", a single loop."""
        key: KernelKey = launch.key
        beats, rest = divmod(launch.n, key.lanes)
        begin, end = launch.slab(beats, unit)
        # The last compute unit reads and computes the elements of a partial beat as one more beat,
        # and writes them one by one outside the loop.
        count, part = end - begin, int(unit == launch.units - 1 and rest > 0)
        if launch.structure == "loop":
            return [PipelinedLoop("each_beat", count, 1)]
        total = count + part
        blocks = -(-total // _block(key)) if launch.structure == "burst" else 1
        names = {LINEAR: "read", SINGLE: "repeat"}
        inputs = [p for p in key.ins if p.kind != BY_VALUE]
        loops = [PipelinedLoop(names[p.kind], total, blocks, 1, True, False) for p in inputs]
        loops += [
            PipelinedLoop("compute", total, blocks, 1, False, True),
            PipelinedLoop("write", count, blocks, 1, False, False),
        ]
        if launch.structure == "dataflow":
            loops = [loop._replace(stage=f"{loop.name}{k}") for k, loop in enumerate(loops)]
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns one access for each operand, in whole beats."""
        key: KernelKey = launch.key
        accesses = []
        for name, p, write in memory_operands(key):
            size = p.dtype.itemsize
            many = p.kind == LINEAR
            n = launch.n if many else 1
            beats = -(-n // key.lanes)
            burst = min(_block(key), beats) if launch.structure == "burst" else 0
            if launch.structure == "loop" and not many:
                # A single value is read again for every beat in this loop.
                beats, burst = -(-launch.n // key.lanes), 1
            accesses.append(Access(name, write, n * size, beats, burst if many else 1, n * size))
        return accesses

    def memories(self, key: KernelKey, structure: str) -> list[LocalMemory]:
        """Returns a block for each operand with structure "burst", else none."""
        if structure != "burst":
            return []
        sizes = [p.dtype.itemsize for _, p, _ in memory_operands(key)]
        return [LocalMemory(_block(key), 8 * size * key.lanes) for size in sizes]


def _block(key: KernelKey) -> int:
    """Returns the beats of a block in local memory, as if the kernel had no other op."""
    return block_beats(max(p.dtype.itemsize for _, p, _ in memory_operands(key)), key.lanes)


register(Map())
