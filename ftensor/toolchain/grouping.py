"""Which kernels share a kernel of the image: those whose ports have the same widths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..kernels.gemm import GemmKey
from ..kernels.key import BY_VALUE, LINEAR, KernelKey, Port
from ..runtime.targets import CSIM
from .group import LONGEST_NAME, Member

# Bytes of an element at each input; None where no member has a port.
Widths = tuple[int | None, ...]
# XRT's limit of compute units in one image.
MOST_UNITS = 128


@dataclass
class Bundle:
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
    located = joins = False
    if any(p.sees == "J" for p in key.ins):
        # Writes that join what is there go in order, one after another; plain ones needn't.
        located, joins = True, len(_values(key)) > 1
    folded: tuple[object, ...] = ()
    r = key.reduction
    if r is not None:
        folded = (r.vectors, r.stage)
    outs = tuple(p.dtype.itemsize for p in key.outs)
    return key.skeleton, key.lanes, folded, located, joins, outs


def bundles(keys: Iterable[KernelKey]) -> list[Bundle]:
    """The fewest kernels for these members: one with few inputs joins one that has more."""
    order = {key: k for k, key in enumerate(keys)}
    found: dict[tuple[object, ...], list[Bundle]] = {}
    # Those with many inputs first, so that the others find a place.
    for key in sorted(order, key=lambda k: (-_ports(k), -len(k.ins), order[k])):
        widths, mine = widths_of(key), found.setdefault(family(key), [])
        home = next((b for b in mine if b.fits(widths)), None)
        if home is None:
            home = Bundle(tuple(p.dtype.itemsize for p in key.outs), [None] * len(widths))
            mine.append(home)
        home.add(key, widths)
    made = [b for mine in found.values() for b in mine]
    for bundle in made:
        bundle.members.sort(key=order.__getitem__)
    return sorted(made, key=lambda b: order[b.members[0]])


def _ports(key: KernelKey) -> int:
    return sum(w is not None for w in widths_of(key))


def _values(key: KernelKey) -> list[Port]:
    """The inputs that take part in the expression."""
    return [p for p in key.ins if p.sees != "J"]


_SHORT = {"map": "map", "rows": "rows", "reduce_inner": "inner", "reduce_outer": "outer"}


def suffix(bundle: Bundle) -> str:
    """What tells a bundle's kernel from its neighbours: skeleton, lanes and widths in bytes."""
    key = bundle.members[0]
    ins = "x".join(str(w or 0) for w in bundle.ins)
    text = "wide" if key.skeleton == "rows" and key.lanes > 1 else _SHORT[key.skeleton]
    if key.reduction is not None:
        of = {"whole": "", "first": "a", "second": "b"}[key.reduction.stage]
        text += of if key.reduction.vectors == 1 else f"{of}{key.reduction.vectors}"
        strided = any(p.kind not in (LINEAR, "s") for p in key.ins)
        text += "s" if strided else ""
    located = [p for p in key.ins if p.sees == "J"]
    if located:
        text = "join" if len(_values(key)) > 1 else "move"
    usual = _usual_lanes(key)
    if key.lanes not in (usual, 1):
        text += f"_l{key.lanes}"
    return f"{text}_{'x'.join(map(str, bundle.outs))}" + (f"_{ins}" if ins else "")


def _usual_lanes(key: KernelKey) -> int:
    widest = max(p.dtype.itemsize for p in (*key.outs, *key.ins))
    return max(1, min(16, CSIM.lanes_bytes // widest))


def free_name(name: str, taken: Sequence[str]) -> str:
    """`name` within what XRT holds, with a number where it is taken."""
    found, k = name[:LONGEST_NAME], 2
    while found in taken:
        tail = f"_{k}"
        found, k = name[: LONGEST_NAME - len(tail)] + tail, k + 1
    return found


def gemm_suffix(key: GemmKey) -> str:
    """A matrix product's name within its table."""
    return f"{key.skeleton}_{key.dtype.name}" + ("" if key.fused else "_r")


def single_suffix(key: KernelKey) -> str:
    """The name of a kernel that computes one thing: its op, dtypes, and layout where unusual."""
    outs = "_".join(p.dtype.name for p in key.outs)
    values = "k" if any(p.kind == BY_VALUE for p in key.ins) else ""
    rows = "x" if key.lanes == 1 else "w"
    layout = {"map": "", "rows": rows, "reduce_inner": "i", "reduce_outer": "o"}[key.skeleton]
    vectors = key.reduction.vectors if key.reduction is not None else 1
    tail = layout + values + (str(vectors) if vectors > 1 else "")
    name = key.name.removesuffix("_whole") + "".join(f"_{p}" for p in key.params[:1])
    return f"{name}_{outs}" + (f"_{tail}" if tail else "")


def member_suffix(member: Member) -> str:
    """The name, within its table, of a kernel that holds one member."""
    if isinstance(member, GemmKey):
        return gemm_suffix(member)
    return member.removeprefix("ft_") if isinstance(member, str) else single_suffix(member)
