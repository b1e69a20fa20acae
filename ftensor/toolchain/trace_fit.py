"""The kernels of a traced program on a board: lanes, layouts and images that fit its area.

A launch takes narrower kernels than its usual ones if an image has no others. So a trace that must
fit narrows kernels, those first that save the most area for the least time, until the area model
places all of them in one image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeGuard

from ..boards import Board
from ..errors.build import InventoryError
from ..kernels.feedback import FeedbackKey
from ..kernels.inventory_terms import InventoryTerms
from ..kernels.key import KernelKey, Key
from ..kernels.network import NetworkKey
from ..kernels.skeleton import board_skeleton_of
from ..kernels.staged import StagedKey, lanes_of
from .area.cores import NAMES
from .area.fit import Fit, area, board_shares, fit
from .folding import SHARE
from .group import KernelGroup, free_name
from .inventory.keys import fallback_key, row_named
from .inventory.read import keys_of_spec, parse, parts

# Of a board, the most that one kernel takes that has no narrower form, as a convolution: a larger
# one leaves no room for others. Launches then use other kernels, if there are any. Each number is
# for another run of the program, if its kernels do not fit in one image after the run before.
MOST_ALONE = (0.5, 0.05)
SMALL_LUTS = 30000  # kernels that every board may have
# Time that narrowing always counts, as a share of the program's: it makes ties go to large kernels.
LEAST_TIME = 0.01


class Form(NamedTuple):
    """One form of a kernel: the inventory table that asks for it, and the keys that come of it."""

    terms: InventoryTerms
    keys: tuple[Key, ...]
    lanes: int


class BoardImage(NamedTuple):
    """An image for a traced program: the form of each kernel that the program asked for, what they
    take of the board, and the structure of its inventory."""

    forms: Mapping[Key, Form]
    usage: Fit
    structure: str = "dataflow"


def accepts(board: Board, most_alone: float = MOST_ALONE[0]) -> Callable[[Key], bool]:
    """Returns a function that is True for kernels which an image for `board` may have beside
    others. Kernels with narrower forms all may."""

    @cache
    def accepted(key: Key) -> bool:
        if isinstance(key, (KernelKey, StagedKey, NetworkKey, FeedbackKey)):
            return True
        takes = area(KernelGroup("alone", (key,))).unit
        return takes.lut <= SMALL_LUTS or max(board_shares(takes, board)) <= most_alone

    return accepted


@cache
def forms(key: Key) -> tuple[Form, ...]:
    """Returns the forms of a kernel that serve the same launches, each narrower than the one
    before."""
    words: InventoryTerms = board_skeleton_of(key).in_words(key)
    if isinstance(key, StagedKey):
        return tuple(_graph_form(key, words, lanes) for lanes in lanes_of(key))
    if not isinstance(key, KernelKey):
        return (
            Form(
                words, (key,) if isinstance(key, (NetworkKey, FeedbackKey)) else _keys(words.lines) or (key,), key.lanes
            ),
        )
    words, lanes, narrow = _exact(words, key), key.lanes, fallback_key(key)
    keys = _keys(words.lines)
    # A layout without a word of its own is served by the kernel for any strides.
    found = [Form(words, keys, lanes)] if key in keys else []
    if key.skeleton == "map" and key.reduction is None and found:
        lines = [line for line in words.lines if not line.startswith("lanes = ")]
        while (lanes := lanes // 2) >= (1 if narrow is None else 2):
            fewer = replace(key, lanes=lanes)
            table = (*lines, f"lanes = {lanes}")
            found.append(Form(words._replace(entry=fewer.entry, lines=table), _keys(table), lanes))
    if (narrow is not None and narrow != key) or not found:
        least = narrow or key
        words = _exact(board_skeleton_of(least).in_words(least), least)
        found.append(Form(words, _keys(words.lines), 1))
    return tuple(found)


def _graph_form(key: StagedKey, words: InventoryTerms, lanes: int) -> Form:
    built = replace(key, lanes=lanes)
    lines = words.lines if lanes == key.lanes else (*words.lines, f"lanes = {lanes}")
    return Form(words._replace(entry=built.entry, lines=lines), (built,), lanes)


def _exact(words: InventoryTerms, key: KernelKey) -> InventoryTerms:
    """Returns the terms with the op's parameters, if other ops share its name: "add()"."""
    if len(row_named(words.op)) < 2:
        return words
    spelled = f"{words.op}({', '.join(key.params)})"
    return words._replace(lines=tuple(line.replace(f'"{words.op}"', f'"{spelled}"') for line in words.lines))


@cache
def _keys(lines: tuple[str, ...]) -> tuple[Key, ...]:
    """Returns the keys for which an inventory table asks; none for a layout that has no table."""
    try:
        table = parse("\n".join(lines).encode(), Path("trace.toml"))
    except InventoryError:
        return ()
    return tuple(key for spec in table.kernels for key in keys_of_spec(spec))


def is_graph(key: Key) -> TypeGuard[StagedKey | NetworkKey | FeedbackKey]:
    """True for a graph, a network and a loop with feedback, which have a file each."""
    return isinstance(key, (StagedKey, NetworkKey, FeedbackKey))


def groups_of(keys: Iterable[Key], structure: str = "dataflow") -> tuple[KernelGroup, ...]:
    """Returns the kernels of an image with these keys, as an inventory of this structure groups
    them."""
    keys = list(dict.fromkeys(keys))
    graphs = [key for key in keys if is_graph(key)]
    groups: list[KernelGroup] = []
    for part, members in parts([key for key in keys if key not in graphs], "shared"):
        name = free_name(f"ft_{part}", [g.name for g in groups])
        built = board_skeleton_of(members[0]).structure(members[0].lanes, structure)
        groups.append(KernelGroup(name, members, built))
    for key in graphs:
        groups.append(KernelGroup(free_name(key.file_name.partition(".")[0], [g.name for g in groups]), (key,)))
    return tuple(groups)


def fits(usage: Fit) -> bool:
    """True if the tools place an image without a warning: shares as of graphs, ports as of images."""
    return not usage.crowded and all(part <= most for part, most in zip(usage.shares.values(), SHARE))


def narrowed(
    asked: Sequence[Key], cycles: Mapping[Key, float], board: Board, structure: str = "dataflow"
) -> BoardImage:
    """Returns an image with the fastest forms of these kernels that fit; with the narrowest ones if
    none fit."""
    level = dict.fromkeys(asked, 0)
    least = LEAST_TIME * sum(cycles.values()) or 1.0
    while True:
        now = {key: forms(key)[level[key]] for key in asked}
        groups = groups_of((key for form in now.values() for key in form.keys), structure)
        usage = fit(groups, board)
        if fits(usage):
            return BoardImage(now, usage, structure)
        worst = max(range(len(SHARE)), key=lambda k: usage.shares[NAMES[k]] / SHARE[k])
        steps: list[tuple[float, list[Key]]] = []
        for group in groups:
            members = set(group.members)
            mine = [key for key in asked if level[key] + 1 < len(forms(key)) and not members.isdisjoint(now[key].keys)]
            if mine:
                lost = sum(cycles[key] * (now[key].lanes / forms(key)[level[key] + 1].lanes - 1) for key in mine)
                steps.append((area(group).whole.values()[worst] / (least + lost), mine))
        if not steps:
            return BoardImage(now, usage, structure)
        for key in max(steps, key=lambda step: step[0])[1]:
            level[key] += 1
