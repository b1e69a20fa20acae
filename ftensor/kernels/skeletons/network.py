"""network, network_part: a chain of layers as one dataflow kernel, or a part of it in a linked kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256

from ...dtypes import dtype, int32
from .. import fused
from ..inventory_terms import InventoryTerms, KernelArgument, ManifestTerms
from ..network import BEAT, NetworkKey
from ..network_file import text
from ..network_parts import NetworkPart
from ..network_processes import Processes, processes_of
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
        return (*fused.parameters(key, ""), ("int", "int ", "n"))  # type: ignore[arg-type]

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
        if dialect != "vitis":
            raise ValueError("networks have a form in HLS C++ for Xilinx's boards only; take the ops, or export stages")
        return writers[0](key)

    # The performance model

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        return _loops(processes_of(launch.key), launch.n)

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
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
        return _operators(processes_of(key))

    def memories(self, key: NetworkKey, structure: str) -> list[LocalMemory]:
        return _memories(processes_of(key))

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


_network = Network()
register(_network)


def _loops(of: Processes, images: int) -> list[PipelinedLoop]:
    """Returns a loop for each process."""
    return [PipelinedLoop(p.name, p.trips * images, 1, reads=p.name == "load", stage=p.name) for p in of.processes]


def _operators(of: Processes) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for process in of.processes:
        counts.update(dict(process.operators))
    return counts


def _memories(of: Processes) -> list[LocalMemory]:
    return [*(f.memory for f in of.inner_fifos), *(m for p in of.processes for m in p.memories)]


class PartOfNetwork(BoardSkeleton[NetworkPart]):
    """Layers of a network as a kernel between streams. The first part and the last one share the
    launch of the network."""

    name = "network_part"
    waits = keeps = True
    template = "network.cpp"

    def started(self, key: NetworkPart) -> bool:
        return key.whole is not None

    def parameters(self, key: NetworkPart) -> tuple[Parameter, ...]:
        return _network.parameters(key.whole or key.layers)

    def compute(self, key: NetworkPart) -> dtype:
        return int32

    def arguments(self, key: NetworkPart) -> tuple[KernelArgument, ...]:
        if key.whole is None:
            return ()
        of_part = {"in_0", "in_1"} if key.is_first else {"out0"}
        arguments = _network.arguments(key.whole)
        return tuple(a for a in arguments if a.name == "n" or a.name.removesuffix("_offset") in of_part)

    def structure(self, lanes: int, requested: str) -> str:
        return "linked"

    def vitis_module(self, lanes: int) -> str:
        return "network"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        return _loops(launch.key.processes, launch.n)

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        names = {a.name for a in self.arguments(launch.key)}
        accesses = _network.traffic(launch._replace(key=launch.key.whole), widened) if names else []
        return [one for one in accesses if one.name in names]

    def operators(self, key: NetworkPart) -> Mapping[tuple[str, str], int]:
        return _operators(key.processes)

    def memories(self, key: NetworkPart, structure: str) -> list[LocalMemory]:
        return _memories(key.processes)

    def record(self, key: NetworkPart) -> ManifestTerms:
        """Returns the network's record for the first part; other parts have an op name of their own."""
        record = _network.record(key.whole or key.layers)
        return record if key.is_first else record._replace(op="out0" if key.whole else key.entry)


register(PartOfNetwork())
