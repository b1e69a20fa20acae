"""A group: one kernel of an image. Its members share ports and are told apart by an opcode."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from ..kernels import ctype, gemm
from ..kernels.gemm import GemmKey
from ..kernels.holes import NAMES, indices, parameters
from ..kernels.key import BY_VALUE, LINEAR, KernelKey, Port
from ..kernels.wanted import PORT_BYTES

# XRT holds "kernel:instance" in 64 bytes, the last one zero.
LONGEST_NAME = 29
# A memory as v++ names it, a range of its banks, or each pointer its own.
BANKS = re.compile(
    r"((DDR|PLRAM|HOST|MC_NOC|LPDDR|HP|HPC|ACP)(\[\d+(:\d+)?\]|\d*)|HBM\[(\d+(:\d+)?|\*)\])?"
)
STRUCTURES = ("dataflow", "burst", "loop")
# Kernels without holes, by their entry: (what, C type, name) of each parameter, as in `holes`.
FIXED = {
    "ft_compact": (
        ("*", "const uchar *", "mask"),
        ("*", "long *", "out"),
        ("*", "const long *", "starts"),
        ("long", "long ", "mask_offset"),
        ("long", "long ", "first"),
        ("int", "int ", "n"),
        ("int", "int ", "count"),
    )
}
# The port by which a matrix product writes results that do not lie on beats; `out` is the other.
ELEMENTS = "out_elements"
# How a scalar becomes the 64 bits of a `long` argument.
BITS = {"float": "f", "double": "d"}

Member = KernelKey | GemmKey | str


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: `what` is "*" or the C name of a scalar, `c` its whole C type."""

    name: str
    what: str
    c: str


@dataclass(frozen=True)
class Group:
    """One kernel of an image.

    `members` are pointwise kernels or reductions of one skeleton and width, each an opcode by its
    position; or a single one with a parameter list of its own (a matrix product, an entry of
    FIXED). `structure` is how a map moves its data: "dataflow" (load, compute and store joined by
    streams), "burst" (blocks in local arrays) or "loop". `units` are compute units. `banks` is
    "" (the platform's choice), one memory such as "DDR[0]", a range such as "HBM[0:31]", or
    "HBM[*]": each pointer argument its own.
    """

    name: str
    members: tuple[Member, ...]
    structure: str = "dataflow"
    units: int = 1
    banks: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or len(self.name) > LONGEST_NAME:
            raise ValueError(
                f"{self.name!r} is no kernel's name: take at most {LONGEST_NAME} letters"
            )
        if self.structure not in STRUCTURES:
            raise ValueError(
                f"kernel {self.name}: structure {self.structure!r} is none of {STRUCTURES}"
            )
        if not self.members:
            raise ValueError(f"kernel {self.name} has no members")
        shapes = {(m.skeleton, m.lanes) for m in self.members if isinstance(m, KernelKey)}
        if len(shapes) > 1 or (len(self.members) > 1 and not shapes):
            raise ValueError(f"kernel {self.name} mixes {sorted(shapes) or 'fixed kernels'}")

    @cached_property
    def keys(self) -> tuple[KernelKey, ...]:
        """The members behind an opcode; empty for a single kernel with its own parameters."""
        return tuple(m for m in self.members if isinstance(m, KernelKey))

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The kernel's arguments; see the function of this name."""
        return _arguments(self)

    @property
    def skeleton(self) -> str:
        """The skeleton that all members share."""
        first = self.members[0]
        return first.removeprefix("ft_") if isinstance(first, str) else first.skeleton

    @property
    def lanes(self) -> int:
        """Elements of one vector access."""
        first = self.members[0]
        return 1 if isinstance(first, str) else first.lanes


def entry(member: Member) -> str:
    """The name under which a launch asks for a member."""
    return member if isinstance(member, str) else member.entry


def launch_parameters(member: Member) -> tuple[tuple[str, str, str], ...]:
    """What a launch of the member passes: (what, C type, name) in order, without the units."""
    if isinstance(member, str):
        return FIXED[member]
    if isinstance(member, GemmKey):
        return gemm.named_parameters(member)
    tail = ("int", "int ", "n") if member.skeleton == "map" else ("*", "const int *", "geometry")
    return (*parameters(member), tail)


def slots(group: Group) -> list[tuple[str, list[tuple[KernelKey, Port]]]]:
    """The pointers of a group's ports by name, each with the members that use it."""
    outs = max(len(k.outs) for k in group.keys)
    ins = max(len(k.ins) for k in group.keys)
    found = []
    for i in range(outs):
        found.append((f"out{i}", [(k, k.outs[i]) for k in group.keys if i < len(k.outs)]))
    for i in range(ins):
        users = [(k, k.ins[i]) for k in group.keys if i < len(k.ins) and k.ins[i].kind != BY_VALUE]
        if users:
            found.append((f"in_{NAMES[i]}", users))
    return found


def word(port: Port) -> str:
    """The C type of one element in memory; a pair of them is one element of a complex dtype."""
    memory = ctype.MEMORY[port.dtype.name]
    return f"ft_c{memory}" if port.dtype.is_complex else memory


def slot_word(users: list[tuple[KernelKey, Port]]) -> str:
    """The element type of a pointer: the one its users share, else raw bits of that width."""
    words = {word(p) for _, p in users}
    if len(words) == 1:
        return words.pop()
    widths = {p.dtype.itemsize for _, p in users}
    if len(widths) > 1:
        names = sorted({p.dtype.name for _, p in users})
        raise ValueError(f"one port can't serve elements of several widths: {names}")
    width = widths.pop()
    return "ft_word128" if width == 16 else f"uint{8 * width}_t"


def values(key: KernelKey) -> list[tuple[str, str]]:
    """The scalars that a member takes by value, as (name, C type): they travel as 64 raw bits."""
    skip = [f"{name}_offset" for name in pointers(key)]
    return [(n, w) for w, _, n in parameters(key) if w != "*" and n not in skip]


def pointers(key: KernelKey) -> list[str]:
    """The names of a member's operands in memory, outputs first, as its geometry lists them."""
    return [n for what, _, n in parameters(key) if what == "*" and n != "bad"]


def arguments(group: Group) -> tuple[Argument, ...]:
    """The kernel's arguments in order, the two of the compute unit included."""
    return group.arguments


def _arguments(group: Group) -> tuple[Argument, ...]:
    units = (Argument("ft_unit", "int", "int"), Argument("ft_units", "int", "int"))
    if not group.keys:
        return (*_own_arguments(group.members[0]), *units)
    found, offsets = [], []
    for name, users in slots(group):
        const = "" if name.startswith("out") else "const "
        of = slot_word(users)
        wide = f"hls::vector<{of}, {group.lanes}>" if is_wide(group, name) else of
        found.append(Argument(name, "*", f"{const}{wide} *"))
        offsets.append(Argument(f"{name}_offset", "long", "long"))
    if any(indices(k) for k in group.keys):
        found.append(Argument("bad", "*", "long *"))
    count = max(len(values(k)) for k in group.keys)
    scalars = [Argument(f"value{i}", "long", "long") for i in range(count)]
    tail = (
        Argument("n", "int", "int")
        if group.skeleton == "map"
        else Argument("geometry", "*", "const int *")
    )
    return (*found, *offsets, *scalars, Argument("opcode", "int", "int"), tail, *units)


def _own_arguments(member: Member) -> list[Argument]:
    """The arguments of a kernel without an opcode, those of the compute unit left out."""
    own = [Argument(n, w, c.strip()) for w, c, n in launch_parameters(member)]
    if not isinstance(member, GemmKey) or member.skeleton == "gemm_direct":
        return own
    # Panels and rows of results move in vectors; results that lie off a beat by another port.
    parts = 2 if member.dtype.is_complex else 1
    step = member.columns * parts
    lanes = {
        "out": member.lanes * parts,
        "a_panels": member.rows * parts,
        "b_panels": min(step, PORT_BYTES * parts // member.dtype.compute.itemsize),
    }
    found = []
    for a in own:
        of = a.c.removeprefix("const ").removesuffix(" *")
        wide = a.c.replace(of, f"hls::vector<{of}, {lanes[a.name]}>") if a.name in lanes else a.c
        found.append(replace(a, c=wide))
    if member.skeleton == "gemm_pack":
        return found
    at = next(k for k, a in enumerate(found) if a.what != "*")
    return [*found[:at], Argument(ELEMENTS, "*", own[0].c), *found[at:]]


def is_wide(group: Group, name: str) -> bool:
    """Whether the port of pointer `name` is a vector of `group.lanes` elements.

    All are in maps and rows, and in reductions the inputs that every member reads in line: a
    launch of more than one lane has its vectors there on 64 bytes. Results of reductions leave
    one by one.
    """
    if group.lanes == 1:
        return False
    if group.skeleton in ("map", "rows"):
        return True
    if not group.skeleton.startswith("reduce") or not name.startswith("in_"):
        return False
    return all(port.kind == LINEAR for _, port in dict(slots(group))[name])


def call(group: Group, opcode: int) -> str:
    """How a launch's arguments become the kernel's, for the member with this opcode.

    A token for each argument but the compute unit's two: "3" is the launch's argument 3, "@0"
    the same buffer as its argument 0 (a port that the member leaves unused), "f3", "d3", "q3" the
    64 bits of its argument 3 as a float (in the low half), a double, an integer, "=7" a constant.
    """
    member = group.members[opcode]
    mine = launch_parameters(member)
    at = {name: i for i, (_, _, name) in enumerate(mine)}
    if not isinstance(member, KernelKey):
        at[ELEMENTS] = 0  # the output's other port
        return " ".join(str(at[a.name]) for a in arguments(group)[:-2])
    scalars = values(member)
    tokens = []
    for argument in arguments(group)[:-2]:
        name = argument.name
        if name == "opcode":
            tokens.append(f"={opcode}")
        elif name in at:
            tokens.append(str(at[name]))
        elif name.startswith("value"):
            k = int(name.removeprefix("value"))
            if k < len(scalars):
                scalar, of = scalars[k]
                tokens.append(f"{BITS.get(of, 'q')}{at[scalar]}")
            else:
                tokens.append("=0")
        else:
            tokens.append("@0" if argument.what == "*" else "=0")
    return " ".join(tokens)
