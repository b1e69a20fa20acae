"""Kernels with parameter lists of their own that become one: those whose ports are alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import dtypes
from ..kernels import ctype
from ..kernels.board_skeleton import board_skeleton_of
from ..kernels.key import Key
from ..kernels.skeleton import Parameter
from ..kernels.words import Argument

# How a scalar becomes the 64 bits of a `long` argument.
BITS = {"float": "f", "double": "d"}


def hardware(key: Key) -> Key:
    """The key whose HLS C++ stands for this one."""
    twin: Key = board_skeleton_of(key).hardware(key)
    return twin


def families(keys: Iterable[Key]) -> list[tuple[Key, ...]]:
    """The keys, those that can be one kernel together, in the order of the first ones."""
    grouped: list[list[Key]] = []
    shapes: list[dict[str, object]] = []
    for key in keys:
        mine = _shapes(key)
        for members, known in zip(grouped, shapes):
            if _fits(members[0], key, known, mine):
                members.append(key)
                known.update(mine)
                break
        else:
            grouped.append([key])
            shapes.append(mine)
    return [tuple(members) for members in grouped]


def _fits(first: Key, key: Key, known: dict[str, object], mine: dict[str, object]) -> bool:
    """Whether a key joins those of `first`. HLS C++ that is made from a template holds one body."""
    one, other = board_skeleton_of(first), board_skeleton_of(key)
    if one.template or other.template:
        return one is other and hardware(first) == hardware(key)
    if one is not other and not (one.together and one.together == other.together):
        return False
    alike = all(known[name] == shape for name, shape in mine.items() if name in known)
    return alike and (bool(one.together) or known.keys() == mine.keys())


def _shapes(key: Key) -> dict[str, object]:
    """The widths of pointers, by name; of vectors by their type what this is."""
    skeleton = board_skeleton_of(key)
    typed = {a.name: a.c for a in skeleton.arguments(key) if "hls::vector" in a.c}
    return {n: typed.get(n) or _shape(what, c) for what, c, n in skeleton.parameters(key)}


def _shape(what: str, c: str) -> object:
    if what != "*":
        return "number"
    of = c.removeprefix("const ").removesuffix("*").strip()
    return ctype.WIDTHS.get(of, of)


def name(members: Sequence[Key]) -> str:
    """What tells a kernel from its neighbours: as its only body is called; else the skeleton's
    word, and its dtype or the bytes of a number."""
    skeleton = board_skeleton_of(members[0])
    bodies = dict.fromkeys(hardware(key) for key in members)
    if len(bodies) == 1:
        return skeleton.suffix(members[0])
    word = skeleton.together or skeleton.name
    of = dict.fromkeys(board_skeleton_of(key).record(key).compute for key in bodies)
    if len(of) == 1:
        return f"{word}_{next(iter(of))}"
    known: dtypes.dtype | None = getattr(dtypes, next(iter(of)), None)
    return f"{word}_{known.to_real().itemsize}" if known else word


def arguments(bodies: Sequence[Key]) -> tuple[Argument, ...]:
    """The arguments of a kernel of several bodies, without opcode and units: a pointer whose
    element is not of one type is one to raw bits, and such a number comes as 64 of them."""
    by_name: dict[str, list[Argument]] = {}
    for key in bodies:
        for one in board_skeleton_of(key).arguments(key):
            by_name.setdefault(one.name, []).append(one)
    merged = [_merged(same) for same in by_name.values()]
    # Pointers, their offsets, numbers, and the geometry's pointer at last.
    places = {"*": 0, "offset": 1, "number": 2, "geometry": 3}
    return tuple(sorted(merged, key=lambda a: places[_kind(a)]))


def _kind(argument: Argument) -> str:
    if argument.name == "geometry":
        return "geometry"
    return "*" if argument.what == "*" else "offset" if argument.name.endswith("_offset") else "number"


def _merged(same: Sequence[Argument]) -> Argument:
    one, types = same[0], {a.c.removeprefix("const ") for a in same}
    const = "const " if all(a.c.startswith("const ") for a in same) else ""
    if len(types) == 1:
        return one._replace(c=const + types.pop())
    if one.what == "*":
        return one._replace(c=f"{const}uint{8 * ctype.width(one.c)}_t *")
    return one._replace(what="long", c="long")


def token(at: int | None, launch: Sequence[Parameter], argument: Argument) -> str:
    """How argument `at` of a launch becomes the kernel's, as `group.call` spells it; None for what
    the launch does not have."""
    if at is None:
        return "@0" if argument.what == "*" else "=0"
    what = launch[at][0]
    bits = what != argument.what and argument.what == "long"
    return f"{BITS.get(what, 'q')}{at}" if bits else str(at)
