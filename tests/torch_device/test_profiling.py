"""torch.profiler.profile shows the device's kernels, times and memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile


def test_profile_has_kernels_and_memory(tmp_path: Path) -> None:
    x = torch.randn(64, 64, device="fpga")
    (x @ x).relu()  # compiled
    both = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
    with profile(activities=both, profile_memory=True) as p:
        kept = (x @ x).relu()
    rows = {row.key: row for row in p.key_averages()}
    assert rows["aten::mm"].device_time_total > 0
    assert rows["aten::matmul"].device_time_total >= rows["aten::mm"].device_time_total
    # The size of a block, which is larger if a larger block is free.
    assert 4 * 64 * 64 <= rows["aten::mm"].self_device_memory_usage < 2 * 4 * 64 * 64
    assert rows["relu"].self_device_time_total > 0
    assert rows["relu"].self_device_time_total == pytest.approx(rows["aten::relu"].self_device_time_total)
    assert "FPGA total" in p.key_averages().table(sort_by="device_time_total")
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    kernels = [e["name"] for e in events if e.get("pid") == "fpga" and e["ph"] == "X"]
    assert kernels == ["matmul", "relu"]
    assert kept.shape == (64, 64)


def test_host_profile_does_not_trace_the_device() -> None:
    x = torch.ones(8, device="fpga")
    with profile(activities=[ProfilerActivity.CPU]) as p:
        x + 1
    assert {"aten::add", "add"} & {row.key for row in p.key_averages()} == {"aten::add"}
