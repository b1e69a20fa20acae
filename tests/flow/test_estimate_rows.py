"""Estimates, reports and areas of jitted programs on rows of every length near a beat: no
exception, no NaN."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from ftensor.estimate import report

from ..fuzz_estimates import DTYPES, traced, wrong_in

MADE = ["a = made('{of}', 6, {{n}})", "b = made('{of}', 6, {{n}} + 1)[:, 1:]"]
# A reduction of rows and its use, passes over rows, elementwise ops.
PROGRAMS = {
    "mean": ["t0 = a.mean(-1)", "t1 = t0 * 2 + 1"],
    "softmax": ["t0 = (a * b).softmax(-1)"],
    "normalized": ["t0 = ft.nn.functional.layer_norm(a, a.shape[-1:])", "t1 = t0 + b"],
    "elements": ["t0 = a == b", "t1 = t0.to(ft.float32)"],
}

# The mean is one kernel for each length, so its lengths are near powers of two, and a few others.
LENGTHS = {"mean": (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40)}

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the C simulation needs g++")


def made(of: str) -> list[str]:
    return [line.format(of=of) for line in MADE]


@pytest.mark.parametrize("program", PROGRAMS)
def test_rows_of_every_length_near_a_beat(program: str) -> None:
    lengths = LENGTHS.get(program, range(41))
    assert not [(n, problem) for n in lengths for problem in wrong_in(made("float32"), PROGRAMS[program], n)]


@pytest.mark.parametrize("of", DTYPES)
def test_rows_of_every_dtype(of: str) -> None:
    found = [traced(made(of), PROGRAMS["elements"], n) for n in (3, 17)]
    assert None not in found
    for lines in (PROGRAMS["mean"], PROGRAMS["elements"]):
        assert not [(n, problem) for n in (3, 17) for problem in wrong_in(made(of), lines, n)]


def test_graphs_are_kernels_of_stages() -> None:
    found = traced(made("float32"), PROGRAMS["mean"], 3)
    assert found is not None and [type(launch.key).__name__ for launch in found[0].launches] == ["StagedKey"]


def test_nan_estimate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = report.estimate
    monkeypatch.setattr(report, "estimate", lambda *of: replace(plain(*of), kernel=float("nan")))
    assert next(wrong_in(made("float32"), PROGRAMS["mean"], 5)) == "kernel of nan s on u55c"
