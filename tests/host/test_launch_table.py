"""The table of prepared launches is limited in bytes and drops the least recently used."""

from __future__ import annotations

from dataclasses import dataclass

from ftensor.runtime.launch_cache import LaunchTable


@dataclass(eq=False)
class Made:
    """Replaces a launch."""

    number: int
    kept_bytes: int = 10


def table(most: int, waits: list[int] | None = None) -> LaunchTable:
    return LaunchTable(lambda: None if waits is None else waits.append(1), most)


def numbers(launches: LaunchTable) -> set[int]:
    return {key for key in range(1000) if key in launches or key in launches._older}


def test_no_more_bytes_than_allowed_are_held() -> None:
    launches = table(100)
    for k in range(1000):
        launches.keep(k, Made(k))
        held = [*launches.values(), *launches._older.values()]
        assert sum(launch.kept_bytes for launch in held) <= 100
        assert launches.find(k).number == k
    assert len(numbers(launches)) >= 5


def test_what_is_used_stays() -> None:
    launches = table(100)
    for k in range(200):
        launches.keep(k, Made(k))
        if k:
            assert launches.find(0).number == 0
    assert 0 in numbers(launches) and 100 not in numbers(launches)


def test_a_large_one_is_held_until_the_next() -> None:
    launches = table(100)
    assert launches.keep(1, Made(1, 1000)).number == 1
    assert launches.find(1).number == 1
    for k in range(2, 14):
        launches.keep(k, Made(k))
    assert 1 not in numbers(launches)


def test_the_device_is_waited_for_before_launches_go() -> None:
    waits: list[int] = []
    launches = table(100, waits)
    for k in range(6):
        launches.keep(k, Made(k))
    assert not waits  # the first ones are the older ones now, and nothing has gone
    for k in range(6, 12):
        launches.keep(k, Made(k))
    assert len(waits) == 1


def test_one_of_two_that_were_made_at_once_serves_all() -> None:
    launches = table(100)
    first, second = Made(1), Made(2)
    assert launches.keep("key", first) is first
    assert launches.keep("key", second) is first
    assert launches.newer_bytes == first.kept_bytes


def test_nothing_is_left_when_all_are_dropped() -> None:
    launches = table(100)
    for k in range(8):
        launches.keep(k, Made(k))
    launches.clear()
    assert not numbers(launches) and launches.newer_bytes == 0
    assert launches.find(7) is None
