"""What a kernel of an image takes of a board, by what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import ceil

from ...kernels.board_skeleton import board_skeleton_of
from ...kernels.linked import BEGIN, StageKey
from ...kernels.staged import StagedKey
from ...kernels.transform import Transform
from ...kernels.work import LocalMemory
from ..group import Group, arguments
from ..vitis import interface, member, reduce
from ..vitis.map import FIFO_DEPTH
from ..vitis.text import identifiers
from ..vitis.words import dropped_bits
from .cores import ARGUMENT, BETWEEN, KERNEL, NONE, PORT, PORT_BIT, PORT_JOINED, PORT_JOINED_BIT, Resources
from .count import Counts, takes
from .helpers import helpers

# What operands and results go through besides the ops.
CONVERSIONS = "conversions"
_BLOCK_BITS, _BLOCK_WORDS = 36, 512  # of a half block RAM
_IN_LOGIC = 32  # words that a LUT of a memory's bit holds


@dataclass(frozen=True)
class Area:
    """What one compute unit of a kernel takes: its ops, dearest first, the skeleton's own
    operators, ports, local memory, and the rest. `lanes` are those of its ops."""

    name: str
    units: int
    lanes: int
    ops: tuple[tuple[str, Resources], ...]
    skeleton: Resources
    ports: Resources
    memories: Resources
    control: Resources

    @property
    def unit(self) -> Resources:
        """One compute unit."""
        parts = (self.skeleton, self.ports, self.memories, self.control)
        return sum(parts, sum((r for _, r in self.ops), NONE))

    @property
    def whole(self) -> Resources:
        """All compute units."""
        return self.unit * self.units


@cache
def area(group: Group) -> Area:
    """What a kernel takes. ValueError for a helper that the model cannot read."""
    ops: dict[str, Resources] = {}
    for name, counts, times in _functions(group):
        total = _between(takes(counts)) * times
        ops[name] = ops.get(name, NONE) + total
    key = group.members[0]
    # Members behind an opcode share a skeleton's operators; bodies have each their own.
    each = [(board_skeleton_of(m), m) for m in group.bodies or group.members]
    counted = [Counts(dict(skeleton.operators(m))) for skeleton, m in each]
    own = sum(counted, Counts()) if group.joint else max(counted, key=lambda c: c.total())
    held = [skeleton.memories(m, group.structure) for skeleton, m in each]
    memories = max(held, key=lambda needed: sum(m.words * m.bits * m.copies for m in needed))
    if group.joint:
        memories = [m for needed in held for m in needed]
    memories = [*memories, *(LocalMemory(j.depth, j.bits) for j in group.joins)]
    bundles = interface.bundles(group)
    if interface.structure(group) == "dataflow":
        memories = [*memories, *(LocalMemory(FIFO_DEPTH, b.bits) for b in bundles)]
    return Area(
        group.name,
        group.units,
        key.lanes,
        tuple(sorted(ops.items(), key=lambda one: -one[1].lut)),
        _between(takes(own)),
        sum((_port(b) for b in bundles), NONE),
        sum((_memory(m) for m in memories), NONE),
        KERNEL + ARGUMENT * len(arguments(group)),
    )


def _between(resources: Resources) -> Resources:
    """With what stands between operators."""
    return Resources(*(x * y for x, y in zip(resources.values(), BETWEEN.values())))


def _functions(group: Group) -> Iterator[tuple[str, Counts, int]]:
    """The functions that a kernel has in hardware: the op, its operators, and how often."""
    for key in group.bodies:
        graph = key.of if isinstance(key, StageKey) and key.part != BEGIN else key
        if isinstance(graph, StagedKey):
            for one in _calls(graph):
                yield from _functions(one)
    if not group.keys:
        return
    if group.kind.folds:  # type: ignore[attr-defined]
        yield from _folds(group)
        return
    units, ops = member.units_of(group)
    for unit in units:
        if unit.shared:
            continue
        texts = [line for text in ops[unit.space].values() for line in text]
        known = helpers(unit.key.compute, dropped_bits(unit.key))
        counting = known.counting("\n".join([*texts, *unit.text]), {})
        times = group.kind.copies(unit.key)["body"]  # type: ignore[attr-defined]
        rest = Counts(counting.of(unit.name))
        called = identifiers(" ".join(unit.lines))
        for function in [name for name in ops[unit.space] if name in called]:
            rest.subtract(counting.of(function))
            yield function.rpartition(f"_{unit.key.compute.name}")[0], counting.of(function), times
        yield CONVERSIONS, +rest, times


def _calls(key: StagedKey) -> Iterator[Group]:
    """A graph's calls as kernels of their own: what is of elements in each lane, what is of a row
    once."""
    for call in key.calls:
        unit = call.unit
        if isinstance(unit, Transform):  # the skeleton's own
            continue
        row = unit.reduction is None and all(key.of_row[v] for v in call.takes)
        of = unit.key(1 if row else key.lanes)
        if unit.reduction is not None:
            of = replace(of, skeleton="reduce_inner")
        for out, text in zip(of.outs, of.body, strict=True):
            yield Group("call", (replace(of, outs=(out,), body=(text,)),))


def _folds(group: Group) -> Iterator[tuple[str, Counts, int]]:
    """The same of reductions."""
    parts = reduce.parts_of(group)
    firsts = reduce.shared(parts)
    structs = {reduce.state_name(key): reduce.struct_of(key) for key in group.keys}
    for part in parts:
        key = group.keys[part.opcode]
        if firsts[part] is not part or part.what == "identity":
            continue
        text = "\n".join(reduce.function_text(part))
        counts = helpers(key.compute, dropped_bits(key)).counting(text, structs).of(part.name)
        times = group.kind.copies(key)[part.what]  # type: ignore[attr-defined]
        yield group.kind.op(key.name), counts, times


def _memory(memory: LocalMemory) -> Resources:
    """In LUTs where it is shallow, else in block RAM."""
    if memory.words <= _IN_LOGIC or memory.words * memory.bits <= 1024:
        return Resources(lut=memory.bits * ceil(memory.words / _IN_LOGIC) * memory.copies)
    return Resources(bram=blocks(memory.words, memory.bits) * memory.copies)


def blocks(words: int, bits: int) -> float:
    """Block RAMs of 36 Kb that hold so many words."""
    return ceil(bits / _BLOCK_BITS) * ceil(words / _BLOCK_WORDS) / 2


def _port(bundle: interface.Bundle) -> Resources:
    """An adapter with what it keeps under way (UG1399: bursts x beats x width, for reading
    and for writing), and the way from there to a memory."""
    total = PORT + PORT_BIT * bundle.bits + PORT_JOINED + PORT_JOINED_BIT * bundle.bits
    for beats, bursts in (bundle.reads, bundle.writes):
        if beats:
            total += _memory(LocalMemory(beats * bursts, bundle.bits))
    return total
