"""`ft.profiler`: its counts and output, and that it leaves no state behind."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.kernels.workload import arithmetic


def taken() -> ft.profiler.profile:
    x, y = ft.ones(64, 32), ft.ones(32, 16)
    with ft.profiler.profile() as p:
        for _ in range(3):
            z = x @ y
        w = z + 1
        w.sum(0)
        w.index_select(0, ft.tensor([1, 5]))
    return p


def test_launches_have_counts_bytes_and_operations() -> None:
    averages = {(a.name, a.kernel): a for a in taken().averages()}
    product = averages["matmul", "matmul"]
    assert product.count == 3
    assert product.flops == 3 * 2 * 64 * 32 * 16
    assert product.nbytes == 3 * 4 * (64 * 32 + 32 * 16 + 64 * 16)
    added = averages["add", "add"]
    assert (added.count, added.flops, added.nbytes) == (1, 64 * 16, 2 * 4 * 64 * 16)
    assert averages["sum", "sum"].nbytes == 4 * (64 * 16 + 16)
    # Two rows are read through the index.
    (selected,) = [a for (name, _), a in averages.items() if name == "index_select"]
    assert 2 * 4 * 2 * 16 <= selected.nbytes < 4 * 64 * 16
    assert all(a.host_time > 0 and a.device_time > 0 and a.limit > 0 for a in averages.values())


def test_averages_by_line_and_by_shape() -> None:
    p = taken()
    first = taken.__code__.co_firstlineno
    lines = {f"test_profiler.py:{first + n}" for n in (4, 5, 6, 7)}
    assert {a.name for a in p.averages("line")} == lines
    assert sum(a.count for a in p.averages("shapes")) == len([e for e in p.events if e.kind == "launch"])


def test_table_is_sorted_and_truncated() -> None:
    p = taken()
    counts = p.table(sort_by="count").splitlines()
    assert counts[0].split()[:2] == ["op", "kernel"]
    assert counts[1].split()[:3] == ["matmul", "matmul", "3"]
    assert "more lines (row_limit)" in p.table(row_limit=1)
    assert "memory: " in counts[-2] or "memory: " in counts[-1] or "memory" in p.table()
    with pytest.raises(ValueError, match="sort_by='tme' is none of device_time"):
        p.table(sort_by="tme")
    with pytest.raises(ValueError, match=r"group_by='ops' is none of op.*did you mean 'op'"):
        p.averages("ops")


def test_memory_is_counted_by_line() -> None:
    held = ft.ones(1000)
    gc.collect()  # memory of other tests
    with ft.profiler.profile() as p:
        a = held + 1  # 4 kB
        b = ft.cat([a, a])  # 8 kB
        del a, b
        held * 2
    before = p.memory.before
    assert before >= 4000
    assert p.memory.peak - before >= 12000
    one, two = sorted(p.memory.by_line.values())
    assert 4000 <= one < 8000 <= two < 16000  # a block is less than twice as large
    assert p.memory.curve[-1][1] == before  # all of it was freed


def test_host_copies_are_events() -> None:
    with ft.profiler.profile() as p:
        x = ft.tensor([[1.0, 2.0, 3.0]])
        x.clone().numpy()
    up = [e for e in p.events if e.kind == "upload"]
    assert sum(e.work.nbytes for e in up) >= 12
    assert "to the device: " in p.table()


def test_trace_separates_host_and_device(tmp_path: Path) -> None:
    p = taken()
    p.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert sorted(names.values()) == ["device", "host"]
    (device,) = [pid for pid, name in names.items() if name == "device"]
    kernels = [e for e in events if e["ph"] == "X" and e["pid"] == device]
    calls = [e for e in events if e["ph"] == "X" and e["pid"] != device and e["cat"] == "launch"]
    assert len(kernels) == len(p.events) - len([e for e in p.events if e.kind != "launch"])
    assert [e["name"] for e in kernels][:4] == ["matmul", "matmul", "matmul", "add"]
    assert len([e for e in calls if e["name"] != "compile"]) == len(kernels)
    arrows = {e["id"]: e for e in events if e["ph"] == "s"}
    assert {e["id"] for e in events if e["ph"] == "f"} == set(arrows)
    assert all(e["dur"] >= 0 for e in kernels + calls)
    assert all(set(e) >= {"ph", "pid", "tid", "name"} for e in events)


def test_roofline_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    taken().plot(tmp_path / "roofline.png")
    assert (tmp_path / "roofline.png").read_bytes()[:4] == b"\x89PNG"


def test_roofline_without_matplotlib_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(RuntimeError, match="drawn by matplotlib"):
        taken().plot("nowhere.png")


def test_profiler_restores_all_state() -> None:
    backend = default_backend()
    p = ft.profiler.profile()
    with pytest.raises(RuntimeError, match="no end yet"):
        p.table()
    with pytest.raises(ZeroDivisionError), p:
        ft.ones(3) + 1
        1 / 0
    assert backend.executor is None
    assert len(p.averages()) == 2  # events until then
    seen = len(p.events)
    ft.ones(3) + 1
    assert len(p.events) == seen
    with pytest.raises(RuntimeError, match="make another one"), p:
        pass
    with ft.profiler.profile() as outer, ft.profiler.profile() as inner:
        ft.ones(3) + 1
    assert len(outer.events) == len(inner.events) == 2


def test_limits_of_recorded_events() -> None:
    assert ft.profiler.limits() == ft.profiler.limits()
    assert min(ft.profiler.limits()) > 0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a", 0),
        ("exp(a)", 1),
        ("a + b * alpha", 2),
        ("-a", 1),
        ("K(0.5) * a", 1),
        ("x / n", 1),
        ("a > b ? a : b", 0),
        ("(a - b) * (a - b)", 3),
        ("K(-1) * erf(a * K(2))", 3),
    ],
)
def test_operations_of_an_expression(text: str, count: int) -> None:
    assert arithmetic(text) == count


# Memory


def test_snapshot_agrees_with_the_counters() -> None:
    def counters() -> tuple[list[dict[str, Any]], int]:
        """Returns the snapshot, and the difference of its blocks from the counters."""
        gc.collect()
        gc.disable()  # nothing is freed between the two
        try:
            blocks, stats = ft.fpga.memory_snapshot(), ft.fpga.memory_stats()
        finally:
            gc.enable()
        held = sum(b["allocated_size"] for b in blocks)
        return blocks, held - stats["allocated_bytes.all.current"]

    backend = ft.ones(1)._storage.backend
    before = counters()[1]  # an interrupted block has no owner
    kept, freed = ft.ones(3000), ft.ones(5000)
    if kept._storage.block.ptr:  # a device's own memory holds no tables
        backend.tables.holding(np.zeros(700))
    del freed
    blocks, beyond = counters()
    assert beyond == before
    states = {b["blocks"][0]["state"] for b in blocks}
    assert states == {"active_allocated", "inactive"}
    assert kept._storage.block.size in {b["allocated_size"] for b in blocks}


def test_free_memory_is_the_rest_of_the_limit() -> None:
    kept = ft.ones(1 << 18)
    free, total = ft.fpga.mem_get_info()
    assert 0 < free <= total - kept.nbytes
    assert total - free == ft.fpga.memory_reserved()


def test_memory_summary() -> None:
    kept = ft.ones(1 << 18)
    text = ft.fpga.memory_summary()
    assert "held by tensors" in text and "blocks of" in text
    assert "blocks of" not in ft.fpga.memory_summary(abbreviated=True)
    del kept
