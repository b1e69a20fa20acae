"""Functions of a byte in graphs for boards: a chain of ops whose only operand is a byte has 256
results. Where it calls an expensive function, a stage computes these once, in one lane, and each
lane reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from .select import STEEP
from .staged import ELEMENTS, DataflowStage, StagedKey, stage_kind
from .workload import LocalMemory

ENTRIES = 256


class ByteTables(NamedTuple):
    """The tables of a stage: the byte that each table's value depends on, by value; the calls that
    compute entries, and those that remain for each element."""

    bytes_of: dict[int, int]
    entry_calls: tuple[int, ...]
    element_calls: tuple[int, ...]

    def memories(self, key: StagedKey) -> list[LocalMemory]:
        """Returns the tables' memories. A memory has two ports, so two lanes share a copy."""
        return [LocalMemory(ENTRIES, 8 * key.dtypes[v].itemsize, -(-key.lanes // 2)) for v in self.bytes_of]


def byte_tables(key: StagedKey, stage: DataflowStage) -> ByteTables:
    """Returns the tables of a stage of element functions."""
    if stage.kind != ELEMENTS or key.lanes <= 2:  # an entry's lane would cost as much as it saves
        return ByteTables({}, (), stage.calls)
    byte_of = _byte_of(key)
    outer = {v for c in stage.calls if key.first_value(c) not in byte_of for v in key.calls[c].operands}
    elsewhere = {v for k, c in enumerate(key.calls) if k not in stage.calls for v in c.operands} | set(key.results)
    tables = {
        v: byte
        for v, byte in byte_of.items()
        if v in stage.outputs and v in outer | elsewhere and _is_steep(key, stage, v)
    }
    used = elsewhere.intersection(stage.outputs) | set(tables.values())
    return ByteTables(tables, _calls_before(key, stage, tables, ()), _calls_before(key, stage, used, tables))


def _byte_of(key: StagedKey) -> dict[int, int]:
    """Returns the values that depend on a single byte, each with this byte's value."""
    byte_of: dict[int, int] = {}
    for k, call in enumerate(key.calls):
        v, function = key.first_value(k), call.function
        bytes_ = {
            byte_of.get(u, u if key.dtypes[u].name == "uint8" and not key.is_per_row[u] else -1) for u in call.operands
        }
        if stage_kind(function) == ELEMENTS and len(function.outs) == len(bytes_) == 1 and -1 not in bytes_:
            byte_of[v] = bytes_.pop()
    return byte_of


def _is_steep(key: StagedKey, stage: DataflowStage, value: int) -> bool:
    calls = _calls_before(key, stage, (value,), ())
    return any(STEEP.search(text) for k in calls for text in key.calls[k].function.body)


def _calls_before(
    key: StagedKey, stage: DataflowStage, values: Iterable[int], boundary: Collection[int]
) -> tuple[int, ...]:
    """Returns the calls of a stage that `values` depend on, without those behind `boundary`."""
    needed, found = set(values) - set(boundary), []
    for k in stage.calls[::-1]:
        results = range(key.first_value(k), key.first_value(k) + len(key.calls[k].function.outs))
        if needed.intersection(results):
            needed |= set(key.calls[k].operands) - set(boundary)
            found.append(k)
    return tuple(found[::-1])
