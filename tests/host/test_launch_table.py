"""The table of prepared launches is bounded in bytes and drops the least recently used."""

from __future__ import annotations

from dataclasses import dataclass

from ftensor.runtime.launch_cache import LaunchTable


@dataclass(eq=False)
class Made:
    """Stands in for a launch."""

    number: int
    kept_bytes: int = 10


def table(most: int, waits: list[int] | None = None) -> LaunchTable:
    return LaunchTable(lambda: None if waits is None else waits.append(1), most)


def numbers(launches: LaunchTable) -> set[int]:
    return {key for key in range(1000) if key in launches or key in launches._older}


def test_table_is_bounded_in_bytes() -> None:
    launches = table(100)
    for k in range(1000):
        launches.keep(k, Made(k))
        held = [*launches.values(), *launches._older.values()]
        assert sum(launch.kept_bytes for launch in held) <= 100
        assert launches.find(k).number == k
    assert len(numbers(launches)) >= 5


def test_used_launches_stay() -> None:
    launches = table(100)
    for k in range(200):
        launches.keep(k, Made(k))
        if k:
            assert launches.find(0).number == 0
    assert 0 in numbers(launches) and 100 not in numbers(launches)


def test_oversized_launch_stays_until_the_next() -> None:
    launches = table(100)
    assert launches.keep(1, Made(1, 1000)).number == 1
    assert launches.find(1).number == 1
    for k in range(2, 14):
        launches.keep(k, Made(k))
    assert 1 not in numbers(launches)


def test_launches_are_dropped_after_a_synchronization() -> None:
    waits: list[int] = []
    launches = table(100, waits)
    for k in range(6):
        launches.keep(k, Made(k))
    assert not waits  # the first launches are the least recently used, and none has been dropped yet
    for k in range(6, 12):
        launches.keep(k, Made(k))
    assert len(waits) == 1


def test_of_two_concurrent_launches_one_is_kept() -> None:
    launches = table(100)
    first, second = Made(1), Made(2)
    assert launches.keep("key", first) is first
    assert launches.keep("key", second) is first
    assert launches.newer_bytes == first.kept_bytes


def test_drop_all_empties_the_table() -> None:
    launches = table(100)
    for k in range(8):
        launches.keep(k, Made(k))
    launches.clear()
    assert not numbers(launches) and launches.newer_bytes == 0
    assert launches.find(7) is None
