"""The fuzz command itself: programs are reproducible, and a wrong result is detected."""

from __future__ import annotations

import ctypes
import random
import sys

import pytest

import ftensor as ft
from ftensor.runtime.pool import MemoryPool

from .. import fuzz, fuzz_programs
from ..fuzz_words import program

LINES = ["t0 = lib.tensor([1.0, -2.0])", "t1 = t0 * 2", "t2 = t0[1:]", "t2.neg_()", "t3 = t1 + 1"]


def test_seed_determines_the_program() -> None:
    programs = [program(random.Random(f"7:{k}")) for k in range(50)]
    assert programs == [program(random.Random(f"7:{k}")) for k in range(50)]
    assert len({"\n".join(lines) for lines in programs}) == 50


def test_wrong_result_is_found_and_shortened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is a minimal program that runs by itself."""
    assert fuzz_programs.disagreement(LINES) == ""
    monkeypatch.setattr(ft.Tensor, "neg_", lambda self: self)
    assert "t2.neg_()" in fuzz_programs.disagreement(LINES)
    assert fuzz_programs.shortened(LINES) == [LINES[0], LINES[2], LINES[3]]
    exec(fuzz_programs.shown(fuzz_programs.shortened(LINES)), {})
    assert "tensor([-2.])" in (said := capsys.readouterr().out) and "tensor([2.])" in said


def test_error_of_one_library_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: ft.Tensor) -> ft.Tensor:
        raise TypeError("no")

    monkeypatch.setattr(ft.Tensor, "neg_", refused)
    assert fuzz_programs.disagreement(LINES) == "t2.neg_(): torch computes, ftensor raises TypeError"


def test_sources_share_a_run_and_report_disagreements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz.GUARDS, "install", lambda: None)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--seed", "7", "--trials", "3"])
    monkeypatch.setattr(fuzz, "trial", lambda source, seed, number: f"{source} t{number}\nx")
    assert fuzz.main() == 1
    said = capsys.readouterr().out
    for source in fuzz.SOURCES:
        assert said.count(f", {source}, trial ") == 1  # of the three that are of one kind
        assert f"{source}: 3 trials, 3 disagree; seed 7" in said


def test_write_outside_a_buffer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = ft.empty(1)._storage.backend
    if not backend.host_shared:
        pytest.skip("the device has memory of its own, whose surroundings nobody sees")
    guards = fuzz.Guards()
    monkeypatch.setattr(MemoryPool, "take", MemoryPool.take)  # undone after the test
    for module in (fuzz.opencl, fuzz.csim):
        monkeypatch.setattr(module, "host_memory", module.host_memory)
    guards.install()
    ft.fpga.empty_cache()
    x = ft.zeros(7)
    y = ft.zeros(77_777)  # a block allocated for it
    assert (x + 1).sum().item() == 7 and not y.any().item() and not guards.broken()
    ptr = x._storage.ptr
    assert ptr is not None
    ctypes.memset(ptr + 64, 0, 1)
    assert guards.broken() == "bytes outside of 1 buffers were written"
    assert not guards.broken()
    buffer, start, end = guards.around[-1]
    for at in (start - 1, end):
        buffer[at] = 0
        assert "1 buffers" in guards.broken()
