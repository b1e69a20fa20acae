"""Kernel groups: one kernel of an image. Its members share ports; an opcode selects a member."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from .. import dtypes
from ..image.manifest import LINKED, ArgumentRecord, KernelRecord, MemberRecord
from ..kernels import source
from ..kernels.inventory_terms import KernelArgument
from ..kernels.key import BY_VALUE, LOCATED, KernelKey, Key, Port
from ..kernels.op_skeleton import op_skeleton
from ..kernels.skeleton import BoardSkeleton, Parameter, board_skeleton_of
from ..kernels.source import OPERAND_NAMES, indices, parameters
from ..kernels.workload import COMPACT, SCATTERS
from ..runtime.targets import CSIM

# Letter of a call token by C type: how `call_tokens` packs a scalar into a `long` argument.
BITS = {"float": "f", "double": "d"}


def hardware(key: Key) -> Key:
    """Returns the key whose HLS C++ implements `key`; several keys may share an implementation."""
    return board_skeleton_of(key).hardware(key)


def families(keys: Iterable[Key]) -> list[tuple[Key, ...]]:
    """Groups keys that can share one kernel. Families and members keep the order of first
    appearance."""
    grouped: list[list[Key]] = []
    shapes: list[dict[str, object]] = []
    for key in keys:
        key_shapes = _shapes(key)
        for members, family_shapes in zip(grouped, shapes):
            if _fits(members[0], key, family_shapes, key_shapes):
                members.append(key)
                family_shapes.update(key_shapes)
                break
        else:
            grouped.append([key])
            shapes.append(key_shapes)
    return [tuple(members) for members in grouped]


def _fits(first: Key, key: Key, family_shapes: dict[str, object], key_shapes: dict[str, object]) -> bool:
    """True if `key` can join the family of `first`.

    Template-generated HLS C++ holds exactly one body, so such keys must have equal hardware.
    Otherwise, pointers of equal name must have equal widths: `family_shapes` are those of the
    family, `key_shapes` those of `key`."""
    first_skeleton, skeleton = board_skeleton_of(first), board_skeleton_of(key)
    if first_skeleton.template or skeleton.template:
        return first_skeleton is skeleton and hardware(first) == hardware(key)
    if first_skeleton is not skeleton and not (
        first_skeleton.together and first_skeleton.together == skeleton.together
    ):
        return False
    shapes_match = all(family_shapes[name] == shape for name, shape in key_shapes.items() if name in family_shapes)
    return shapes_match and (bool(first_skeleton.together) or family_shapes.keys() == key_shapes.keys())


def _shapes(key: Key) -> dict[str, object]:
    """Returns, for each pointer by name, the width of its elements, or the C type of its vectors."""
    skeleton = board_skeleton_of(key)
    typed = {a.name: a.c for a in skeleton.arguments(key) if "hls::vector" in a.c}
    return {n: typed.get(n) or _shape(what, c) for what, c, n in skeleton.parameters(key)}


def _shape(what: str, c: str) -> object:
    if what != "*":
        return "number"
    c_type = c.removeprefix("const ").removesuffix("*").strip()
    return source.C_TYPE_BYTES.get(c_type, c_type)


def name(members: Sequence[Key]) -> str:
    """Returns a short name for a kernel with these members: with one body, that body's suffix. Otherwise
    it is the skeleton's word, followed by the compute dtype or the bytes of a real element of that dtype.
    """
    skeleton = board_skeleton_of(members[0])
    bodies = dict.fromkeys(hardware(key) for key in members)
    if len(bodies) == 1:
        return skeleton.suffix(members[0])
    word = skeleton.together or skeleton.name
    compute_dtypes = dict.fromkeys(board_skeleton_of(key).record(key).compute for key in bodies)
    if len(compute_dtypes) == 1:
        return f"{word}_{next(iter(compute_dtypes))}"
    compute_dtype: dtypes.dtype | None = getattr(dtypes, next(iter(compute_dtypes)), None)
    return f"{word}_{compute_dtype.to_real().itemsize}" if compute_dtype else word


def shared_port_arguments(bodies: Sequence[Key]) -> tuple[KernelArgument, ...]:
    """Returns the arguments of a kernel with several bodies, without opcode and compute unit.

    If the element type of a pointer differs between bodies, it points to raw bits of that width. A
    scalar whose type differs is a `long` with the value's 64 bits.
    """
    by_name: dict[str, list[KernelArgument]] = {}
    for key in bodies:
        for one in board_skeleton_of(key).arguments(key):
            by_name.setdefault(one.name, []).append(one)
    merged = [_merged(arguments) for arguments in by_name.values()]
    # Pointers, their offsets, scalars, then the pointer to the geometry buffer.
    kind_order = {"*": 0, "offset": 1, "number": 2, "geometry": 3}
    return tuple(sorted(merged, key=lambda a: kind_order[_kind(a)]))


def _kind(argument: KernelArgument) -> str:
    if argument.name == "geometry":
        return "geometry"
    return "*" if argument.what == "*" else "offset" if argument.name.endswith("_offset") else "number"


def _merged(arguments: Sequence[KernelArgument]) -> KernelArgument:
    first, types = arguments[0], {a.c.removeprefix("const ") for a in arguments}
    const = "const " if all(a.c.startswith("const ") for a in arguments) else ""
    if len(types) == 1:
        return first._replace(c=const + types.pop())
    if first.what == "*":
        return first._replace(c=f"{const}uint{8 * source.width(first.c)}_t *")
    return first._replace(what="long", c="long")


def argument_token(at: int | None, launch: Sequence[Parameter], argument: KernelArgument) -> str:
    """Returns the call token (see `call_tokens`) that turns launch argument `at` into `argument`.

    With `at` None, the launch lacks this argument: a pointer repeats argument 0, a scalar is 0.
    """
    if at is None:
        return "@0" if argument.what == "*" else "=0"
    what = launch[at][0]
    bits = what != argument.what and argument.what == "long"
    return f"{BITS.get(what, 'q')}{at}" if bits else str(at)


# XRT holds "kernel:instance" in 64 bytes, the last one zero.
MAX_NAME_LENGTH = 29
# A memory bank as v++ names it, a range of banks, or "HBM[*]": a bank for each pointer.
BANKS = re.compile(r"((DDR|PLRAM|HOST|MC_NOC|LPDDR|HP|HPC|ACP)(\[\d+(:\d+)?\]|\d*)|HBM\[(\d+(:\d+)?|\*)\])?", re.ASCII)
STRUCTURES = ("dataflow", "burst", "loop")


@dataclass(frozen=True)
class StreamConnection:
    """Two connected stream ports, each as "unit.argument".

    `depth` is the depth of the FIFO between them, 0 for the default. `bits` is the width of its
    data.
    """

    source: str
    to: str
    depth: int = 0
    bits: int = 0


@dataclass(frozen=True)
class KernelGroup:
    """One kernel of an image.

    `members` are keys, of one of two kinds. Either they share a skeleton and a width, and their
    kernels share ports; a member's position is its opcode. Or their skeleton has its own parameter
    list, as a matrix product has; then members of equal hardware share one body, and several bodies
    share ports.

    `structure` says how a map moves data: "dataflow" (load, compute and store joined by streams),
    "burst" (blocks in local arrays) or "loop". "compact" is for kernels of single elements: operands
    of one width share a port. "linked" marks kernels of a graph (linked.py).

    `units` is the number of compute units. `banks` is "" (the platform chooses), one memory such as
    "DDR[0]", a range such as "HBM[0:31]", or "HBM[*]": a bank for each pointer argument. `joins`
    are the stream connections of the graph that begins with this kernel. `die` is the die that the
    kernel is on if the board has it; None if any is possible.
    """

    name: str
    members: tuple[Key, ...]
    structure: str = "dataflow"
    units: int = 1
    banks: str = ""
    joins: tuple[StreamConnection, ...] = ()
    die: int | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or len(self.name) > MAX_NAME_LENGTH:
            raise ValueError(f"{self.name!r} is no kernel's name: take at most {MAX_NAME_LENGTH} letters")
        if self.structure not in (*STRUCTURES, COMPACT, LINKED):
            raise ValueError(f"kernel {self.name}: structure {self.structure!r} is none of {STRUCTURES}, {COMPACT!r}")
        if not self.members:
            raise ValueError(f"kernel {self.name} has no members")
        shapes = {(m.skeleton, m.lanes) for m in self.members}
        is_family = len(shapes) == 1 if self.kind.shares else len(families(self.members)) == 1
        if not is_family:
            raise ValueError(f"kernel {self.name} mixes {sorted(shapes)}")

    @cached_property
    def kind(self) -> BoardSkeleton[Any]:
        """The skeleton of the first member; members behind an opcode all share it."""
        return board_skeleton_of(self.members[0])

    @cached_property
    def keys(self) -> tuple[KernelKey, ...]:
        """The members selected by opcode; empty if the skeleton has its own parameter list."""
        return cast("tuple[KernelKey, ...]", self.members) if self.kind.shares else ()

    @cached_property
    def bodies(self) -> tuple[Key, ...]:
        """The distinct bodies of members that have their own parameter list; empty otherwise."""
        if self.kind.shares:
            return ()
        return tuple(dict.fromkeys(self.body_of(key) for key in self.members))

    def body_of(self, member: Key) -> Key:
        """Returns the hardware key of the body that computes a member with its own parameter
        list."""
        return board_skeleton_of(member).circuit(member, self.members)

    @property
    def shares_ports(self) -> bool:
        """True if an opcode chooses among bodies."""
        return len(self.bodies) > 1

    @property
    def moves(self) -> str:
        """The kernel's data movement in the terms of the performance model."""
        scatters = self.kind.name == "rows" and any(k.outs[0].kind == LOCATED for k in self.keys)
        return SCATTERS if scatters else self.structure

    @property
    def started(self) -> bool:
        """True if the host starts the kernel. A free-running kernel has only stream ports."""
        return self.kind.shares or self.kind.started(self.members[0])

    @cached_property
    def arguments(self) -> tuple[KernelArgument, ...]:
        """The kernel's arguments; see the function `arguments`."""
        return _arguments(self)

    @property
    def skeleton(self) -> str:
        """The skeleton's name."""
        return self.kind.name

    @property
    def lanes(self) -> int:
        """Elements of a vector access."""
        return self.members[0].lanes


def launch_parameters(key: Key) -> tuple[Parameter, ...]:
    """Returns the parameters of a launch in order, without the two of the compute unit."""
    return board_skeleton_of(key).parameters(key)


def port_slots(group: KernelGroup) -> list[tuple[str, list[tuple[KernelKey, Port]]]]:
    """Returns the pointers of a group's ports by name, each with the members that use the
    pointer."""
    outs = max(len(k.outs) for k in group.keys)
    ins = max(len(k.ins) for k in group.keys)
    pointers = []
    for i in range(outs):
        pointers.append((f"out{i}", [(k, k.outs[i]) for k in group.keys if i < len(k.outs)]))
    for i in range(ins):
        users = [(k, k.ins[i]) for k in group.keys if i < len(k.ins) and k.ins[i].kind != BY_VALUE]
        if users:
            pointers.append((f"in_{OPERAND_NAMES[i]}", users))
    return pointers


def element_word(port: Port) -> str:
    """Returns the C type of an element in memory.

    An element of a complex dtype is a pair; a complex32 element is a `uint32_t` with both halves.
    """
    memory = source.MEMORY[port.dtype.name]
    if port.dtype.name == "complex32":
        return "uint32_t"
    return f"ft_c{memory}" if port.dtype.is_complex else memory


def slot_type(users: list[tuple[KernelKey, Port]]) -> str:
    """Returns the element type of a pointer: its users' common type, else raw bits of their width.

    Raises ValueError if the users differ in width.
    """
    words = {element_word(p) for _, p in users}
    if len(words) == 1:
        return words.pop()
    widths = {p.dtype.itemsize for _, p in users}
    if len(widths) > 1:
        names = sorted({p.dtype.name for _, p in users})
        raise ValueError(f"one port can't serve elements of several widths: {names}")
    width = widths.pop()
    return "ft_word128" if width == 16 else f"uint{8 * width}_t"


def values(key: KernelKey) -> list[tuple[str, str]]:
    """Returns (name, C type) of the scalars that a member takes by value, each passed as 64 raw
    bits."""
    of_key = parameters(key)
    offsets = {f"{n}_offset" for w, _, n in of_key if w == "*"}
    return [(n, w) for w, _, n in of_key if w != "*" and n not in offsets]


def pointers(key: KernelKey) -> list[str]:
    """Returns the names of a member's operands in memory, outputs first, as in its geometry
    buffer."""
    return [n for what, _, n in parameters(key) if what == "*" and n != "bad"]


def arguments(group: KernelGroup) -> tuple[KernelArgument, ...]:
    """Returns the kernel's arguments in order, including the two of the compute unit."""
    return group.arguments


def _arguments(group: KernelGroup) -> tuple[KernelArgument, ...]:
    units = (KernelArgument("ft_unit", "int", "int"), KernelArgument("ft_units", "int", "int"))
    if not group.started:
        return ()
    if not group.keys:
        if group.shares_ports:
            return (*shared_port_arguments(group.bodies), KernelArgument("opcode", "int", "int"), *units)
        return (*group.kind.arguments(group.members[0]), *units)
    pointers, offsets = [], []
    for name, users in port_slots(group):
        const = "" if name.startswith("out") else "const "
        element_type = slot_type(users)
        wide = f"hls::vector<{element_type}, {group.lanes}>" if is_wide(group, name) else element_type
        pointers.append(KernelArgument(name, "*", f"{const}{wide} *"))
        offsets.append(KernelArgument(f"{name}_offset", "long", "long"))
    if any(indices(k) for k in group.keys):
        pointers.append(KernelArgument("bad", "*", "long *"))
    count = max(len(values(k)) for k in group.keys)
    scalars = [KernelArgument(f"value{i}", "long", "long") for i in range(count)]
    what, c, name = launch_parameters(group.members[0])[-1]
    tail = KernelArgument(name, what, c.strip())
    return (*pointers, *offsets, *scalars, KernelArgument("opcode", "int", "int"), tail, *units)


def is_wide(group: KernelGroup, name: str) -> bool:
    """True if the port of pointer `name` transfers vectors of `group.lanes` elements."""
    if group.lanes == 1:
        return False
    ports = [port for _, port in dict(port_slots(group))[name]]
    return op_skeleton(group.keys[0]).in_beats(name, ports)


def call_tokens(group: KernelGroup, opcode: int) -> str:
    """Returns the tokens that turn a launch's arguments into the kernel's, for the member `opcode`.

    The text has a token for each kernel argument except the two of the compute unit: "3" is
    argument 3 of the launch; "@0" is the buffer of argument 0, for a port that the member leaves
    unused; "f3", "d3" and "q3" are the 64 bits of argument 3 as a float (in the low half), a double
    or an integer; "=7" is a constant.
    """
    member = group.members[opcode]
    launch_params = launch_parameters(member)
    at = {name: i for i, (_, _, name) in enumerate(launch_params)}
    if not group.keys:
        kernel_arguments = [a for a in arguments(group)[:-2] if a.name != "opcode"]
        tokens_ = [argument_token(at.get(a.of or a.name), launch_params, a) for a in kernel_arguments]
        body = group.bodies.index(group.body_of(member))
        return " ".join([*tokens_, *([f"={body}"] if group.shares_ports else [])])
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
                scalar, c_type = scalars[k]
                tokens.append(f"{BITS.get(c_type, 'q')}{at[scalar]}")
            else:
                tokens.append("=0")
        else:
            tokens.append("@0" if argument.what == "*" else "=0")
    return " ".join(tokens)


# Bytes of an element at each input; None for an input without a port.
Widths = tuple[int | None, ...]
# XRT's limit of compute units in one image, and v++'s limit for one kernel.
MAX_UNITS = 128
MAX_KERNEL_UNITS = 31


@dataclass
class PortGroup:
    """The members of a future kernel, and the element widths of the ports that they need."""

    outs: tuple[int, ...]
    ins: list[int | None]
    members: list[KernelKey] = field(default_factory=list)

    def fits(self, widths: Widths) -> bool:
        """True if each input of a member with these `widths` can use a port of equal width."""
        pairs = zip(self.ins, widths)
        return len(widths) <= len(self.ins) and all(b is None or a in (b, None) for a, b in pairs)

    def add(self, key: KernelKey, widths: Widths) -> None:
        """Adds a member. Ports without a width so far get the widths of its inputs."""
        for k, width in enumerate(widths):
            if self.ins[k] is None:
                self.ins[k] = width
        self.members.append(key)


def widths_of(key: KernelKey) -> Widths:
    """Returns the element width in bytes of each input of a member; None for an input by value."""
    return tuple(None if p.kind == BY_VALUE else p.dtype.itemsize for p in key.ins)


def family(key: KernelKey) -> tuple[object, ...]:
    """Returns the properties that members of one kernel must share, besides their inputs'
    widths."""
    outs = tuple(p.dtype.itemsize for p in key.outs)
    return key.skeleton, key.lanes, op_skeleton(key).family(key), outs


def port_groups(keys: Iterable[KernelKey]) -> list[PortGroup]:
    """Distributes members over few kernels: a member with few inputs joins one with more inputs."""
    order = {key: k for k, key in enumerate(keys)}
    by_family: dict[tuple[object, ...], list[PortGroup]] = {}
    # Members with many inputs first, so that the others can join their kernels.
    for key in sorted(order, key=lambda k: (-_ports(k), -len(k.ins), order[k])):
        widths, family_groups = widths_of(key), by_family.setdefault(family(key), [])
        port_group = next((b for b in family_groups if b.fits(widths)), None)
        if port_group is None:
            port_group = PortGroup(tuple(p.dtype.itemsize for p in key.outs), [None] * len(widths))
            family_groups.append(port_group)
        port_group.add(key, widths)
    kernels = [b for family_groups in by_family.values() for b in family_groups]
    for bundle in kernels:
        bundle.members.sort(key=order.__getitem__)
    return sorted(kernels, key=lambda b: order[b.members[0]])


def _ports(key: KernelKey) -> int:
    return sum(w is not None for w in widths_of(key))


def suffix(bundle: PortGroup) -> str:
    """Returns the part of a port group's kernel name after the skeleton: an unusual number of
    lanes, and element widths in bytes."""
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
    """Returns `name` cut to XRT's limit, with a number appended if the name is taken."""
    free, k = name[:MAX_NAME_LENGTH], 2
    while free in taken:
        tail = f"_{k}"
        free, k = name[: MAX_NAME_LENGTH - len(tail)] + tail, k + 1
    return free


def manifest_record(group: KernelGroup, sha256: str, banks: Mapping[str, str] | None = None) -> KernelRecord:
    """Returns the manifest entry of a kernel; `banks` maps its pointer arguments to memories."""
    memory_of = banks or {}
    return KernelRecord(
        group.name,
        group.skeleton,
        group.structure,
        group.lanes,
        group.units,
        sha256,
        tuple(ArgumentRecord(a.name, a.what, a.c, memory_of.get(a.name, "")) for a in arguments(group)),
        tuple(_member(group, opcode) for opcode in range(len(group.members)) if group.started),
    )


def _member(group: KernelGroup, opcode: int) -> MemberRecord:
    key = group.members[opcode]
    r, how = board_skeleton_of(key).record(key), call_tokens(group, opcode)
    if not group.keys:
        opcode = group.bodies.index(group.body_of(key))
    slabs = board_skeleton_of(key).row_slabs(key)
    rows = (slabs.rows, *slabs.nbytes) if slabs is not None else ()
    return MemberRecord(key.entry, opcode, r.op, r.outs, r.ins, r.kinds, r.compute, how, r.params, rows)
