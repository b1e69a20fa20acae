"""Which kernels share a kernel of the image: those whose ports have the same widths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..kernels.key import BY_VALUE, KernelKey
from ..kernels.op_skeleton import op_skeleton
from ..runtime.targets import CSIM
from .group import LONGEST_NAME

# Bytes of an element at each input; None where no member has a port.
Widths = tuple[int | None, ...]
# XRT's limit of compute units in one image.
MOST_UNITS = 128


@dataclass
class PortGroup:
    """Members that will be one kernel, and the ports they need."""

    outs: tuple[int, ...]
    ins: list[int | None]
    members: list[KernelKey] = field(default_factory=list)

    def fits(self, widths: Widths) -> bool:
        """Whether a member with these inputs finds a port of its width for each."""
        pairs = zip(self.ins, widths)
        return len(widths) <= len(self.ins) and all(b is None or a in (b, None) for a, b in pairs)

    def add(self, key: KernelKey, widths: Widths) -> None:
        """Take a member in; ports that nobody needed so far become its own."""
        for k, width in enumerate(widths):
            if self.ins[k] is None:
                self.ins[k] = width
        self.members.append(key)


def widths_of(key: KernelKey) -> Widths:
    """The widths of a member's inputs, by position."""
    return tuple(None if p.kind == BY_VALUE else p.dtype.itemsize for p in key.ins)


def family(key: KernelKey) -> tuple[object, ...]:
    """What all members of one kernel have in common besides the widths of their inputs."""
    outs = tuple(p.dtype.itemsize for p in key.outs)
    return key.skeleton, key.lanes, op_skeleton(key).family(key), outs


def port_groups(keys: Iterable[KernelKey]) -> list[PortGroup]:
    """The fewest kernels for these members: one with few inputs joins one that has more."""
    order = {key: k for k, key in enumerate(keys)}
    by_family: dict[tuple[object, ...], list[PortGroup]] = {}
    # Those with many inputs first, so that the others find a place.
    for key in sorted(order, key=lambda k: (-_ports(k), -len(k.ins), order[k])):
        widths, mine = widths_of(key), by_family.setdefault(family(key), [])
        home = next((b for b in mine if b.fits(widths)), None)
        if home is None:
            home = PortGroup(tuple(p.dtype.itemsize for p in key.outs), [None] * len(widths))
            mine.append(home)
        home.add(key, widths)
    kernels = [b for mine in by_family.values() for b in mine]
    for bundle in kernels:
        bundle.members.sort(key=order.__getitem__)
    return sorted(kernels, key=lambda b: order[b.members[0]])


def _ports(key: KernelKey) -> int:
    return sum(w is not None for w in widths_of(key))


def suffix(bundle: PortGroup) -> str:
    """What tells a bundle's kernel from its neighbours: skeleton, lanes and widths in bytes."""
    key = bundle.members[0]
    ins = "x".join(str(w or 0) for w in bundle.ins)
    text = op_skeleton(key).short(key)
    if key.lanes not in (_usual_lanes(key), 1):
        text += f"_l{key.lanes}"
    return f"{text}_{'x'.join(map(str, bundle.outs))}" + (f"_{ins}" if ins else "")


def _usual_lanes(key: KernelKey) -> int:
    widest = max(p.dtype.itemsize for p in (*key.outs, *key.ins))
    return max(1, min(16, CSIM.lanes_bytes // widest))


def free_name(name: str, taken: Sequence[str]) -> str:
    """`name` within what XRT holds, with a number where it is taken."""
    free, k = name[:LONGEST_NAME], 2
    while free in taken:
        tail = f"_{k}"
        free, k = name[: LONGEST_NAME - len(tail)] + tail, k + 1
    return free
