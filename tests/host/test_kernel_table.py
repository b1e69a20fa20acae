"""The table of kernels stays bounded, keeps kernels in use, and makes each kernel once."""

from __future__ import annotations

import threading

from ftensor.runtime.launch_cache import KernelTable, KeyedLocks


def test_recently_used_kernels_stay() -> None:
    table = KernelTable(lambda: None, most=8)
    for k in range(8):
        table[k] = f"kernel {k}"
    assert table.get(0) == "kernel 0"
    assert table.get("none") is None
    table[8] = "kernel 8"
    assert list(table) == [3, 4, 5, 6, 7, 0, 8]


def test_table_is_bounded() -> None:
    table = KernelTable(lambda: None, most=5)
    for k in range(100):
        table[k] = k
        assert len(table) <= 5 and table.get(k) == k


def test_launches_are_dropped_with_their_kernels() -> None:
    """Launches are dropped before the table is full, and whenever kernels are dropped, so none
    keeps a dropped kernel alive."""
    table = KernelTable(lambda: forgotten.append(list(table)), most=8)
    forgotten: list[list[object]] = []
    for k in range(9):
        table[k] = k
    assert forgotten == [[0, 1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7, 8]]
    table[9] = 9
    assert len(forgotten) == 3  # the table is nearly full again


def test_threads_make_each_kernel_once_and_different_ones_at_once() -> None:
    makers = KeyedLocks()
    order: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with makers.lock_for("a"):
            inside.set()
            go_on.wait()
            order.append("slow")

    def second() -> None:
        with makers.lock_for("a"):
            order.append("second")

    threads = [threading.Thread(target=slow)]
    threads[0].start()
    inside.wait()
    with makers.lock_for("b"):  # would wait forever for "a"
        order.append("other")
    threads.append(threading.Thread(target=second))
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert order == ["other", "slow", "second"]
    assert not makers._making


def test_lock_is_released_if_making_fails() -> None:
    makers = KeyedLocks()
    for _ in range(2):
        try:
            with makers.lock_for("a"):
                raise ValueError
        except ValueError:
            pass
    assert not makers._making
