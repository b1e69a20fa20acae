"""A group: one kernel of an image. Its members share ports and are told apart by an opcode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ..image.manifest import LINKED
from ..kernels import ctype
from ..kernels.board_skeleton import BoardSkeleton, board_skeleton_of
from ..kernels.key import BY_VALUE, LOCATED, KernelKey, Key, Port
from ..kernels.op_skeleton import op_skeleton
from ..kernels.parameters import NAMES, indices, parameters
from ..kernels.skeleton import Parameter
from ..kernels.words import Argument
from ..kernels.work import SCATTERS
from . import joint

# XRT holds "kernel:instance" in 64 bytes, the last one zero.
LONGEST_NAME = 29
# A memory as v++ names it, a range of its banks, or each pointer its own.
BANKS = re.compile(r"((DDR|PLRAM|HOST|MC_NOC|LPDDR|HP|HPC|ACP)(\[\d+(:\d+)?\]|\d*)|HBM\[(\d+(:\d+)?|\*)\])?", re.ASCII)
STRUCTURES = ("dataflow", "burst", "loop")


@dataclass(frozen=True)
class StreamConnection:
    """Two stream ports that are joined: "unit.argument" each. `depth` of the FIFO between them, 0
    for the default, and the `bits` of what goes through."""

    source: str
    to: str
    depth: int = 0
    bits: int = 0


@dataclass(frozen=True)
class Group:
    """One kernel of an image.

    `members` are keys of one skeleton and width whose kernels share ports, each an opcode by its
    position; or keys whose skeleton has a parameter list of its own (such as a matrix product), of
    which those of equal hardware are one body, and several bodies share ports, too (see joint.py).
    `structure` is how a map moves its data: "dataflow" (load, compute and store joined by streams),
    "burst" (blocks in local arrays) or "loop"; "linked" are the kernels of a graph (linked.py).
    `units` are compute units. `banks` is "" (the platform's choice), one memory such as "DDR[0]", a
    range such as "HBM[0:31]", or "HBM[*]": each pointer argument its own. `joins` are the streams
    of the graph that the kernel begins.
    """

    name: str
    members: tuple[Key, ...]
    structure: str = "dataflow"
    units: int = 1
    banks: str = ""
    joins: tuple[StreamConnection, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or len(self.name) > LONGEST_NAME:
            raise ValueError(f"{self.name!r} is no kernel's name: take at most {LONGEST_NAME} letters")
        if self.structure not in (*STRUCTURES, LINKED):
            raise ValueError(f"kernel {self.name}: structure {self.structure!r} is none of {STRUCTURES}")
        if not self.members:
            raise ValueError(f"kernel {self.name} has no members")
        shapes = {(m.skeleton, m.lanes) for m in self.members}
        alike = len(shapes) == 1 if self.kind.shares else len(joint.families(self.members)) == 1
        if not alike:
            raise ValueError(f"kernel {self.name} mixes {sorted(shapes)}")

    @cached_property
    def kind(self) -> BoardSkeleton[Any]:
        """The skeleton that all members share, or the first one's."""
        return board_skeleton_of(self.members[0])

    @cached_property
    def keys(self) -> tuple[KernelKey, ...]:
        """The members behind an opcode; empty for a single kernel with its own parameters."""
        return cast("tuple[KernelKey, ...]", self.members) if self.kind.shares else ()

    @cached_property
    def bodies(self) -> tuple[Key, ...]:
        """What stands in hardware of members with parameter lists of their own, each once."""
        if self.kind.shares:
            return ()
        return tuple(dict.fromkeys(joint.hardware(key) for key in self.members))

    @property
    def joint(self) -> bool:
        """Whether an opcode chooses among bodies."""
        return len(self.bodies) > 1

    @property
    def moves(self) -> str:
        """The structure that launches have to the performance model."""
        scatters = self.kind.name == "rows" and any(k.outs[0].kind == LOCATED for k in self.keys)
        return SCATTERS if scatters else self.structure

    @property
    def started(self) -> bool:
        """Whether the host starts it; else it has streams alone, and runs by itself."""
        return self.kind.shares or self.kind.started(self.members[0])

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The kernel's arguments; see the function of this name."""
        return _arguments(self)

    @property
    def skeleton(self) -> str:
        """The skeleton's name."""
        return self.kind.name

    @property
    def lanes(self) -> int:
        """Elements of one vector access."""
        return self.members[0].lanes


def launch_parameters(key: Key) -> tuple[Parameter, ...]:
    """What a launch passes: (what, C type, name) in order, without the compute unit's two."""
    return board_skeleton_of(key).parameters(key)


def slots(group: Group) -> list[tuple[str, list[tuple[KernelKey, Port]]]]:
    """The pointers of a group's ports by name, each with the members that use it."""
    outs = max(len(k.outs) for k in group.keys)
    ins = max(len(k.ins) for k in group.keys)
    pointers = []
    for i in range(outs):
        pointers.append((f"out{i}", [(k, k.outs[i]) for k in group.keys if i < len(k.outs)]))
    for i in range(ins):
        users = [(k, k.ins[i]) for k in group.keys if i < len(k.ins) and k.ins[i].kind != BY_VALUE]
        if users:
            pointers.append((f"in_{NAMES[i]}", users))
    return pointers


def word(port: Port) -> str:
    """The C type of one element in memory; a pair of them is one element of a complex dtype, and a
    pair of halves the bits of both."""
    memory = ctype.MEMORY[port.dtype.name]
    if port.dtype.name == "complex32":
        return "uint32_t"
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
    if not group.started:
        return ()
    if not group.keys:
        if group.joint:
            return (*joint.arguments(group.bodies), Argument("opcode", "int", "int"), *units)
        return (*group.kind.arguments(group.members[0]), *units)
    pointers, offsets = [], []
    for name, users in slots(group):
        const = "" if name.startswith("out") else "const "
        of = slot_word(users)
        wide = f"hls::vector<{of}, {group.lanes}>" if is_wide(group, name) else of
        pointers.append(Argument(name, "*", f"{const}{wide} *"))
        offsets.append(Argument(f"{name}_offset", "long", "long"))
    if any(indices(k) for k in group.keys):
        pointers.append(Argument("bad", "*", "long *"))
    count = max(len(values(k)) for k in group.keys)
    scalars = [Argument(f"value{i}", "long", "long") for i in range(count)]
    what, c, name = launch_parameters(group.members[0])[-1]
    tail = Argument(name, what, c.strip())
    return (*pointers, *offsets, *scalars, Argument("opcode", "int", "int"), tail, *units)


def is_wide(group: Group, name: str) -> bool:
    """Whether the port of pointer `name` is a vector of `group.lanes` elements."""
    if group.lanes == 1:
        return False
    ports = [port for _, port in dict(slots(group))[name]]
    return op_skeleton(group.keys[0]).in_beats(name, ports)


def call(group: Group, opcode: int) -> str:
    """How a launch's arguments become the kernel's, for the member with this opcode.

    A token for each argument but the compute unit's two: "3" is the launch's argument 3, "@0"
    the same buffer as its argument 0 (a port that the member leaves unused), "f3", "d3", "q3" the
    64 bits of its argument 3 as a float (in the low half), a double, an integer, "=7" a constant.
    """
    member = group.members[opcode]
    mine = launch_parameters(member)
    at = {name: i for i, (_, _, name) in enumerate(mine)}
    if not group.keys:
        own = [a for a in arguments(group)[:-2] if a.name != "opcode"]
        passed = [joint.token(at.get(a.of or a.name), mine, a) for a in own]
        body = group.bodies.index(joint.hardware(member))
        return " ".join([*passed, *([f"={body}"] if group.joint else [])])
    scalars = values(group.keys[opcode])
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
                tokens.append(f"{joint.BITS.get(of, 'q')}{at[scalar]}")
            else:
                tokens.append("=0")
        else:
            tokens.append("@0" if argument.what == "*" else "=0")
    return " ".join(tokens)
