"""Parts of a network as kernels of their own, joined by streams, so that each can be on another die."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from .linked_keys import MIN_DEPTH, StageKey
from .network import Constants, NetworkKey, constant_bytes, words_of
from .network_file import text
from .network_processes import Processes, part_processes

COMMAND_BITS = 32  # of a stream that carries the number of images


@dataclass(frozen=True)
class NetworkPart:
    """Consecutive layers of a network as a kernel.

    layers: the part's layers as a network of the images that enter it
    whole: the network whose launches start the kernel, the first part or the last; None for a
        free-running kernel between these
    wide: channels in a beat of the stream of images that enters; 0 for the first part
    words: words of loaded weights that the first part reads for all parts
    commands: the free-running kernels; the first part sends each the number of images
    """

    layers: NetworkKey
    whole: NetworkKey | None
    wide: int = 0
    words: int = 0
    commands: int = 0

    skeleton = "network_part"

    @property
    def lanes(self) -> int:
        """Elements of a port's beat."""
        return self.layers.lanes

    @property
    def is_first(self) -> bool:
        """True for the part that reads images from memory."""
        return self.wide == 0

    @property
    def is_last(self) -> bool:
        """True for the part that writes results to memory."""
        return self.whole is not None and not self.is_first

    @cached_property
    def entry(self) -> str:
        """The kernel's name in images: the network's entry for the first part; that entry and "/out0"
        for the last part; "ft_" and a digest for others."""
        if self.whole is None:
            return f"ft_network_{sha256(f'{self.wide} {text(self.layers)}'.encode()).hexdigest()[:16]}"
        return self.whole.entry + ("" if self.is_first else "/out0")

    @cached_property
    def processes(self) -> Processes:
        """The processes of the kernel."""
        return part_processes(self.layers, self.words, self.wide, self.is_last)

    @property
    def stream_names(self) -> tuple[str, ...]:
        """The names of the stream ports."""
        of = self.processes
        commands = [f"command_{k}" for k in range(self.commands)] if self.is_first else ["command"] * (not self.whole)
        return (*commands, *(of.fifos[k].name for k in (*of.entering, *of.leaving)))


# Kernels that streams connect.
LinkedKey = StageKey | NetworkPart


class PartStream(NamedTuple):
    """A connection of two stream ports, each as (index of the part, port name). `c` is the C type of
    its elements, `bits` their width."""

    name: str
    source: tuple[int, str]
    target: tuple[int, str]
    c: str
    bits: int
    depth: int


def cuts_of(key: NetworkKey) -> list[int]:
    """Returns the layers at which another kernel may begin: all layers from there on read only one
    value of the layers before, or of each other."""
    return [k for k in range(1, len(key.layers)) if all(min(one.inputs) >= k for one in key.layers[k:])]


def parts_of_network(key: NetworkKey, cuts: Sequence[int]) -> tuple[NetworkPart, ...]:
    """Returns the parts of a network, of which the second and later ones begin at the layers `cuts`."""
    bounds = [0, *cuts, len(key.layers)]
    tables: tuple[Constants | None, ...] = () if key.loaded else key.tables
    parts: list[NetworkPart] = []
    for begin, end in pairwise(bounds):
        flow = key.flows[begin]
        layers = tuple(replace(one, inputs=tuple(v - begin for v in one.inputs)) for one in key.layers[begin:end])
        constants = constant_bytes([one for one in tables[begin:end] if one is not None])
        image = flow.channels, flow.height, flow.width
        network = replace(key, image=image, layers=layers, constants=constants)
        started = key if begin == 0 or end == bounds[-1] else None
        if begin == 0:
            words = words_of(key) if key.loaded else 0
            parts.append(NetworkPart(network, started, words=words, commands=max(len(cuts) - 1, 0)))
        else:
            before = parts[-1].processes
            parts.append(NetworkPart(network, started, before.fifos[before.leaving[0]].flow.wide))
    return tuple(parts)


def streams_of(parts: Sequence[NetworkPart]) -> list[PartStream]:
    """Returns the connections of the parts of a network: numbers of images, then for each part what
    it passes to the next one."""
    streams = [
        PartStream(f"command_{k}", (0, f"command_{k}"), (k + 1, "command"), "int", COMMAND_BITS, MIN_DEPTH)
        for k in range(parts[0].commands)
    ]
    for k, (before, after) in enumerate(pairwise(parts)):
        for leaving, entering in zip(before.processes.leaving, after.processes.entering, strict=True):
            fifo, name = before.processes.fifos[leaving], after.processes.fifos[entering].name
            memory = fifo.memory
            depth = max(MIN_DEPTH, 1 << (memory.words - 1).bit_length())
            c = fifo.c_type(before.layers.element)
            streams.append(PartStream(f"{name}_{k + 1}", (k, fifo.name), (k + 1, name), c, memory.bits, depth))
    return streams
