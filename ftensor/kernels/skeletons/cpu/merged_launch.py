"""series: several kernels in one launch, without synchronization of compute units between them
(hls/skeleton/series.h)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from ....dtypes import dtype, int32
from ....iterator.shape import Ints
from ... import source
from ...element_function import undefine_lines
from ...key import Key
from ...skeleton import Parameter, Skeleton, register, skeleton_of

# Names in a kernel text that another kernel text may define, too.
_LOCAL_NAME = re.compile(r"\b(?:ft[a-z]?_\w+|FT_[CSX](?:_\w+)?|unit_\d\w*|pass_\d\w*)\b")


class MergedKernel(NamedTuple):
    """A kernel of a merged launch. `pointers` and `offsets` are indices of the launch's arguments
    (None: the offset is 0), `scalar_count` is the count of its scalars. `each` is True if every compute
    unit runs the whole kernel."""

    key: Key
    pointers: Ints
    offsets: tuple[int | None, ...]
    scalar_count: int
    each: bool


@dataclass(frozen=True)
class MergedLaunchKey:
    """Kernels that one launch runs, in execution order.

    Each compute unit has its own copy of the memory behind the pointers `copied`: the copies are
    adjacent, and the argument points to the first. With `shared`, all kernels get the same scalars.
    """

    members: tuple[MergedKernel, ...]
    copied: Ints = ()
    shared: bool = False
    skeleton = "series"
    lanes = 1

    @cached_property
    def entry(self) -> str:
        """The kernel's name in the program."""
        entries = [(m.key.entry, *m[1:]) for m in self.members]
        identity = repr((entries, self.copied, self.shared))
        return f"ft_series_{sha256(identity.encode()).hexdigest()[:12]}"

    @property
    def name(self) -> str:
        """Names of the members, joined."""
        names = [getattr(m.key, "name", m.key.skeleton) for m in self.members]
        return "_".join(dict.fromkeys(names))


class MemberParameters(NamedTuple):
    """Parameters of a member by kind."""

    pointers: list[Parameter]
    offsets: list[Parameter]
    scalars: list[Parameter]
    last: Parameter | None  # the member's n, or its geometry buffer


def parameters_of(member: MergedKernel) -> MemberParameters:
    """Returns a member's parameters by kind."""
    parameters = list(skeleton_of(member.key).parameters(member.key))
    last = parameters.pop() if len(parameters) > _count(member) else None
    pointers = [p for p in parameters if p[0] == "*"]
    scalars = [p for p in parameters if p[0] != "*"]
    cut = len(member.offsets)
    return MemberParameters(pointers, scalars[:cut], scalars[cut:], last)


def _count(member: MergedKernel) -> int:
    return len(member.pointers) + len(member.offsets) + member.scalar_count


def merged_geometry(
    units: Sequence[int], copies: Sequence[int], parts: Sequence[Sequence[int]], wide: Sequence[bool | None]
) -> Ints:
    """Returns the geometry buffer of a merged launch: the compute units of each kernel, the index
    at which each kernel's part begins, the sizes of the copied memories in bytes, and the parts.
    `wide` is, for each part, True for longs, False for ints, None for a single number."""
    head, tail = list(units), [int(n) for n in copies]
    offset = 2 * len(units) + len(copies)
    starts: list[int] = []
    rest: list[int] = []
    for part, is_long in zip(parts, wide, strict=True):
        if is_long is None:
            starts.append(part[0] if part else 0)
            continue
        starts.append(offset + len(rest))
        rest += list(part) if is_long else _in_pairs(part)
    return (*head, *starts, *tail, *rest)


def _in_pairs(part: Sequence[int]) -> list[int]:
    """Returns ints packed in pairs into longs, as in memory."""
    array = np.array([*part, *(0,) * (len(part) % 2)], np.int32)
    return [int(n) for n in array.view(np.int64)]


class MergedLaunch(Skeleton[MergedLaunchKey]):
    """A C function for each member, and a kernel that calls them."""

    name = "series"

    def parameters(self, key: MergedLaunchKey) -> tuple[Parameter, ...]:
        words: dict[int, str] = {}
        offsets: set[int] = set()
        scalars: list[Parameter] = []
        for member in key.members:
            called = parameters_of(member)
            for k, (_, word, _) in zip(member.pointers, called.pointers, strict=True):
                merged_type = words.get(k, word)
                words[k] = merged_type if "const" not in merged_type else word
            offsets |= {k for k in member.offsets if k is not None}
            if not (key.shared and scalars):
                scalars += called.scalars
        return (
            *(("*", words[k], f"p{k}") for k in sorted(words)),
            *(("long", "long ", f"at{k}") for k in sorted(offsets)),
            *((what, word, f"n{k}") for k, (what, word, _) in enumerate(scalars)),
            ("*", "const long *", "geometry"),
        )

    def compute(self, key: MergedLaunchKey) -> dtype:
        """Returns int32: the kernel around the members computes nothing."""
        return int32

    def title(self, key: MergedLaunchKey) -> str:
        titles = [skeleton_of(m.key).title(m.key) for m in key.members]
        return " ".join(dict.fromkeys(titles))

    def located(self, key: MergedLaunchKey) -> tuple[int, ...]:
        pointers = [m.pointers[k] for m in key.members for k in skeleton_of(m.key).located(m.key)]
        return tuple(dict.fromkeys(pointers))

    def flops(self, key: MergedLaunchKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        parts = zip(key.members, _member_geometries(key, geometry), strict=True)
        return sum(skeleton_of(m.key).flops(m.key, part, shapes) for m, part in parts)

    def program(self, key: MergedLaunchKey, dialect: str, *, float64: bool, grid: str) -> str:
        """Returns each member's program as a function with prefixed names, then the kernel."""
        names = {k: f"m{n}_" for n, k in enumerate(dict.fromkeys(m.key for m in key.members))}
        texts = []
        for member, prefix in names.items():
            text = skeleton_of(member).program(member, dialect, float64=float64, grid=grid)
            text = f"#define FT_MEMBER 1\n{text}"
            texts += [_LOCAL_NAME.sub(rf"{prefix}\g<0>", text), undefine_lines(text)]
        lines = source.settings(int32, 1, float64, grid)
        dialect_text = source.kernel_file(f"dialect/{dialect}.h")
        params = ", ".join(f"{_with_address_space(word)}{name}" for _, word, name in self.parameters(key)[:-1])
        calls = " \\\n    ".join(_calls(key, names))
        words = [f"#define FT_NAME {key.entry}", f"#define FT_PARAMS {params}", f"#define FT_MEMBERS {calls}"]
        return "\n".join([*texts, *lines, dialect_text, *words, self.text()])


def _with_address_space(word: str) -> str:
    return word if "*" not in word or word.startswith("FT_GLOBAL") else f"FT_GLOBAL {word}"


def _calls(key: MergedLaunchKey, names: dict[Key, str]) -> list[str]:
    """Returns the lines that call the members."""
    count = len(key.members)
    of_copy = {k: 2 * count + n for n, k in enumerate(key.copied)}
    lines, count_before = [], 0
    for k, member in enumerate(key.members):
        called = parameters_of(member)
        words = []
        for at, (_, word, _) in zip(member.pointers, called.pointers, strict=True):
            text = f"p{at}"
            if at in of_copy:
                text = f"((FT_GLOBAL char *)p{at} + FT_UNIT * g[{of_copy[at]}])"
            words.append(f"({_with_address_space(word)}){text}")
        scalars = [
            *("0" if at is None else f"at{at}" for at in member.offsets),
            *(f"n{count_before + n}" for n in range(member.scalar_count)),
        ]
        count_before += 0 if key.shared else member.scalar_count
        args = _arguments_in_order(member, words, scalars)
        if called.last is not None:
            what, word, _ = called.last
            start = f"g[{count + k}]"
            args.append(f"({_with_address_space(word)})(g + {start})" if what == "*" else f"({word}){start}")
        args += ["0", "1"] if member.each else ["FT_UNIT", f"(int)g[{k}]"]
        call = f"{names[member.key]}{member.key.entry}({', '.join(args)});"
        lines.append(call if member.each else f"if (FT_UNIT < (int)g[{k}]) {call}")
    return lines


def _arguments_in_order(member: MergedKernel, pointers: list[str], scalars: list[str]) -> list[str]:
    parameters = list(skeleton_of(member.key).parameters(member.key))[: _count(member)]
    some, rest = iter(pointers), iter(scalars)
    return [next(some if what == "*" else rest) for what, _, _ in parameters]


def _member_geometries(key: MergedLaunchKey, table: Ints) -> list[Ints]:
    """Returns each kernel's part of a merged launch's geometry buffer."""
    count = len(key.members)
    starts = table[count : 2 * count]
    last_parameters = [parameters_of(m).last for m in key.members]
    geometry_starts = [
        s
        for s, last_parameter in zip(starts, last_parameters)
        if last_parameter is not None and last_parameter[0] == "*"
    ] + [len(table)]
    parts: list[Ints] = []
    for start, last_parameter in zip(starts, last_parameters, strict=True):
        if last_parameter is None or last_parameter[0] != "*":
            parts.append(() if last_parameter is None else (start,))
            continue
        part = table[start : geometry_starts[geometry_starts.index(start) + 1]]
        if "long" not in last_parameter[1]:
            part = tuple(np.array(part, np.int64).view(np.int32).tolist())
        parts.append(part)
    return parts


register(MergedLaunch())
