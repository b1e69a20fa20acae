"""The fuzz command itself: the same program for a seed, and a wrong result that is found."""

from __future__ import annotations

import random

import pytest

import ftensor as ft

from .. import fuzz

LINES = [
    "t0 = lib.tensor([1.0, -2.0])",
    "t1 = t0 * 2",
    "t2 = t0[1:]",
    "t2.neg_()",
    "t3 = t1 + 1",
]


def test_a_seed_gives_one_program() -> None:
    programs = [fuzz.program(random.Random(f"7:{k}")) for k in range(50)]
    assert programs == [fuzz.program(random.Random(f"7:{k}")) for k in range(50)]
    assert len({"\n".join(lines) for lines in programs}) == 50


def test_a_wrong_result_is_found_and_shortened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is what is needed to see it, and runs by itself."""
    assert fuzz.disagreement(LINES) == ""
    monkeypatch.setattr(ft.Tensor, "neg_", lambda self: self)
    assert "t2.neg_()" in fuzz.disagreement(LINES)
    assert fuzz.shortened(LINES) == [LINES[0], LINES[2], LINES[3]]
    fuzz.report(7, 3, LINES)
    text = capsys.readouterr().out
    assert "seed 7, program 3" in text
    exec(text, {})
    assert "tensor([-2.])" in (said := capsys.readouterr().out) and "tensor([2.])" in said


def test_a_refusal_of_one_side_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: ft.Tensor) -> ft.Tensor:
        raise TypeError("no")

    monkeypatch.setattr(ft.Tensor, "neg_", refused)
    assert fuzz.disagreement(LINES) == "t2.neg_(): torch computes, ftensor raises TypeError"
