"""The kernels of a traced program on a board: lanes, layouts and images that fit its area.

A launch takes narrower kernels than its usual ones if an image has no others. So a trace that must
fit narrows kernels, those first that save the most area for the least time, until the area model
places all of them in one image.

If they do not fit in one image, the program has several, or one and a host that computes the rest. A
Kria loads an image in a fraction of a second, and its processor computes a step of a few elements in
microseconds. So the host computes those that save the most area for the least time, if that takes
less time by the model than loads of other images.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeGuard

from ..boards import Board, Link
from ..errors.build import InventoryError
from ..kernels.inventory_terms import InventoryTerms
from ..kernels.key import KernelKey, Key
from ..kernels.network import NetworkKey
from ..kernels.skeleton import board_skeleton_of
from ..kernels.skeletons.feedback import FeedbackKey
from ..kernels.staged import StagedKey, lanes_of
from ..kernels.workload import COMPACT, KernelLaunch
from . import counting
from .area.cores import NAMES
from .area.fit import Fit, area, board_shares, fit
from .folding import SHARE, within_limits
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
    return not usage.crowded and within_limits(usage.shares.values())


def _scarcest(usage: Fit) -> int:
    """Returns the index in NAMES of the resource that is nearest to its limit, or the furthest beyond it."""
    return max(range(len(SHARE)), key=lambda k: usage.shares[NAMES[k]] / SHARE[k])


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
        worst = _scarcest(usage)
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


# Seconds that leaving out a kernel always counts: ties go to the larger area.
LEAST_SECONDS = 1e-5


class Times(NamedTuple):
    """The seconds of a kernel's launches: `board` in its narrowest form, `host` on the host, with
    the copies of operands and results; and the cycles of their loops."""

    board: float
    host: float
    cycles: float


class BoardImages(NamedTuple):
    """The images for a traced program. `switches` counts how often the device loads another one
    while the program runs. `too_large` has the kernels that fit in no image, with their shares,
    `on_host` those that the host computes, with their times. `seconds` is the time of all launches
    and loads."""

    images: tuple[BoardImage, ...]
    switches: int
    too_large: Mapping[Key, Fit]
    on_host: Mapping[Key, Times]
    seconds: float

    @property
    def narrowed(self) -> int:
        """The number of kernels with fewer lanes than the program asked for, or another layout."""
        found = [asked.entry != form.terms.entry for image in self.images for asked, form in image.forms.items()]
        return sum(found)


def images_for(launches: Mapping[KernelLaunch, int], order: Sequence[Key], board: Board) -> BoardImages:
    """Returns the images for a program's launches on a board; `order` are its kernels in the order
    of their launches."""
    found = times(launches, board)
    cycles = {key: one.cycles for key, one in found.items()}
    on_board = sum(one.board for one in found.values())
    for structure in ("dataflow", COMPACT):
        image = narrowed(list(cycles), cycles, board, structure)
        if fits(image.usage):
            return BoardImages((image,), 0, {}, {}, on_board)
    alone = {key: _narrowest([key], board) for key in cycles}
    too_large = {key: usage for key, usage in alone.items() if not fits(usage)}
    used = [key for key in order if key not in too_large]
    sets = _divided(Counter(used), board)
    switches = _switches(used, sets)
    divided = on_board + switches * board.load.value
    kept = kept_on_board([key for key in cycles if key not in too_large], found, board)
    on_host = {key: one for key, one in found.items() if key not in kept and key not in too_large}
    with_host = on_board + sum(one.host - one.board for one in on_host.values())
    if kept and switches and with_host < divided:
        return BoardImages((narrowed(kept, cycles, board, COMPACT),), 0, too_large, on_host, with_host)
    return BoardImages(tuple(narrowed(keys, cycles, board, COMPACT) for keys in sets), switches, too_large, {}, divided)


def times(launches: Mapping[KernelLaunch, int], board: Board) -> dict[Key, Times]:
    """Returns the times of each kernel in all its launches."""
    found: dict[Key, Times] = {}
    for launch, count in launches.items():
        key = launch.key
        before = found.get(key, Times(0.0, 0.0, 0.0))
        cycles = max((loop.cycles for loop in counting.loops(launch, 0)), default=0)
        steps = cycles * key.lanes
        on_board = board.issue.value * 1e-6 + steps / forms(key)[-1].lanes / (board.clock.value * 1e6)
        on_host = steps / (board.host_steps.value * 1e6)
        for access in counting.traffic(launch):
            on_host += _copy_seconds(board.link, access.crossing, access.write) if access.crossing else 0.0
        new = Times(on_board, on_host, cycles)
        found[key] = Times(*(total + count * one for total, one in zip(before, new)))
    return found


def _copy_seconds(link: Link, nbytes: int, result: bool) -> float:
    """Returns the seconds of the copy of an operand to the host, or of a result to the board."""
    if result:
        return link.setup.value * 1e-6 + nbytes / (link.to_board.value * 1e9)
    return (link.setup.value + link.wait.value) * 1e-6 + nbytes / (link.to_host.value * 1e9)


def kept_on_board(asked: Sequence[Key], found: Mapping[Key, Times], board: Board) -> list[Key]:
    """Returns the kernels that one image takes: without those that save the most of the scarcest
    resource for the least time, but with what fits after all. Graphs stay, since the host has none;
    returns no kernels if they do not fit."""
    kept = list(asked)
    while not fits(usage := _narrowest(kept, board)):
        worst = _scarcest(usage)
        removals = [one for group in usage.groups for one in _removals(group, kept, worst)]
        if not removals:
            return []
        _, keys = min(removals, key=lambda one: (_host_seconds(one[1], found) + LEAST_SECONDS) / max(one[0], 1.0))
        kept = [key for key in kept if key not in keys]
    for key in sorted(set(asked).difference(kept), key=lambda k: (-_host_seconds([k], found), k.entry)):
        if fits(_narrowest([*kept, key], board)):
            kept.append(key)
    return [key for key in asked if key in kept]


def _narrowest(asked: Sequence[Key], board: Board) -> Fit:
    return fit(groups_of((key for one in asked for key in forms(one)[-1].keys), COMPACT), board)


def _removals(group: KernelGroup, kept: Sequence[Key], worst: int) -> list[tuple[float, list[Key]]]:
    """Returns (area saved, kernels) of the ways to save area in a kernel of the image: without it,
    or without one of its ops."""
    members = {key: [member for member in forms(key)[-1].keys if member in group.members] for key in kept}
    mine = [key for key in kept if members[key] and not is_graph(key)]
    if not mine:
        return []
    whole = area(group)
    removals = [(whole.whole.values()[worst], mine)]
    for name, resources in whole.ops:
        users = [key for key in mine if any(getattr(member, "name", "") == name for member in members[key])]
        if users and len(users) < len(mine):
            removals.append((resources.values()[worst], users))
    return removals


def _host_seconds(keys: Iterable[Key], found: Mapping[Key, Times]) -> float:
    return sum(found[key].host for key in keys)


def _divided(counts: Mapping[Key, int], board: Board) -> list[list[Key]]:
    """Divides kernels, in the order of their first launches, among as few images as that order
    allows. Each then gets copies of others' kernels while it has room, so that the device switches
    less often."""

    def fit_together(some: Sequence[Key]) -> bool:
        return fits(_narrowest(some, board))

    sets: list[list[Key]] = []
    for key in counts:
        found = next((one for one in sets if fit_together([*one, key])), None)
        if found is None:
            sets.append([key])
        else:
            found.append(key)
    for one in sets:
        for key in sorted(counts, key=lambda k: -counts[k]):
            if key not in one and fit_together([*one, key]):
                one.append(key)
    return sets


def _switches(order: Sequence[Key], sets: Sequence[Sequence[Key]]) -> int:
    """Returns how often a device loads another image for these launches."""
    held = [set(one) for one in sets]
    active, count = 0, 0
    for key in order:
        if key not in held[active]:
            active, count = next(k for k, one in enumerate(held) if key in one), count + 1
    return count
