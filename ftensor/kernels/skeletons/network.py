"""network: a chain of layers as one dataflow kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256

from ...dtypes import dtype, int32
from .. import fused
from ..inventory_terms import InventoryTerms, KernelArgument, ManifestTerms
from ..network import BEAT, NetworkKey
from ..network_file import text
from ..network_processes import processes_of
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import Access, KernelLaunch, LocalMemory, PipelinedLoop

# Functions that return a key's HLS C++ with all includes; the toolchain sets the list.
writers: list[Callable[[NetworkKey], str]] = []


class Network(BoardSkeleton[NetworkKey]):
    """A network in one kernel: processes joined by FIFOs, over any number of images."""

    name = "network"
    staged = waits = keeps = True
    template = "network.cpp"

    def parameters(self, key: NetworkKey) -> tuple[Parameter, ...]:
        """Returns operands, offsets and the number of images."""
        passed = [(what, c.replace("FT_GLOBAL ", ""), n) for what, c, n in fused.parameters(key)]  # type: ignore[arg-type]
        return (*passed, ("int", "int ", "n"))

    def compute(self, key: NetworkKey) -> dtype:
        return int32

    def arguments(self, key: NetworkKey) -> tuple[KernelArgument, ...]:
        beat = f"hls::vector<{key.element}, {key.lanes}> *"
        c = {"out0": beat, "in_0": f"const {beat}", "in_1": "const hls::vector<int, 16> *"}
        return tuple(KernelArgument(n, what, c.get(n, of).strip()) for what, of, n in self.parameters(key))

    def structure(self, lanes: int, asked: str) -> str:
        return "dataflow"

    def vitis_module(self, lanes: int) -> str:
        return "network"

    def suffix(self, key: NetworkKey) -> str:
        return key.name[:24]

    def program(self, key: NetworkKey, dialect: str, *, float64: bool, grid: str) -> str:
        assert dialect == "vitis", dialect
        return writers[0](key)

    # The performance model

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop for each process."""
        return [
            PipelinedLoop(p.name, p.trips * launch.n, 1, reads=p.name == "load", stage=p.name)
            for p in processes_of(launch.key).processes
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses of images, results and loaded weights."""
        key, size = launch.key, launch.key.dtype.itemsize
        sizes = zip(("out0", "in_0"), (key.flows[-1].elements, key.flows[0].elements))
        moved = [
            Access(name, name == "out0", n * launch.n * size, -(-n * launch.n // key.lanes), 0, n * launch.n)
            for name, n in sizes
        ]
        # A launch that finds its weights in the kernel reads the first beat.
        return moved + [Access("in_1", False, BEAT, 1, 0, 0)] * key.loaded

    def extent(self, launch: KernelLaunch) -> str:
        return f"{launch.n} images"

    # The area model

    def operators(self, key: NetworkKey) -> Mapping[tuple[str, str], int]:
        counts: Counter[tuple[str, str]] = Counter()
        for process in processes_of(key).processes:
            counts.update(dict(process.operators))
        return counts

    def memories(self, key: NetworkKey, structure: str) -> list[LocalMemory]:
        """Returns the FIFOs and the memories of the processes."""
        of = processes_of(key)
        fifos = [f.memory for f in of.fifos]
        return [*fifos, *(m for p in of.processes for m in p.memories)]

    # In words

    def record(self, key: NetworkKey) -> ManifestTerms:
        of = key.dtype.name
        return ManifestTerms(key.name, (of,), (of,), "vv", of)

    def lines(self, key: NetworkKey) -> tuple[str, ...]:
        """Returns the inventory table that requests the network; it refers to the network's
        file."""
        digest = sha256(text(key).encode()).hexdigest()
        return ("[[graph]]", f'file = "{key.file_name}"', f'sha256 = "{digest}"')

    def in_words(self, key: NetworkKey) -> InventoryTerms:
        words = super().in_words(key)
        return words._replace(op=key.name, layout=self.operands(key))

    def title(self, key: NetworkKey) -> str:
        return f"{key.name} (network)"

    def operands(self, key: NetworkKey) -> str:
        return "images of " + " x ".join(map(str, key.image))


register(Network())
