"""`make bench`: its gate between two checkouts, and a run of every case."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from .. import forked

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
import cases  # noqa: E402
import gate  # noqa: E402

# A checkout whose tensors are NumPy arrays; `times` is the number of additions.
FAKE = """
import numpy as np

class Tensor(np.ndarray):
    def __add__(self, other):
        for _ in range({times}):
            made = np.ndarray.__add__(self, other)
        return made

def tensor(x):
    return x.view(Tensor)

def synchronize():
    pass
"""
PARTS = 5  # of the cases; every run has the first
ADD = next(k for k, c in enumerate(cases.CASES) if (c.group, c.name) == ("large", "add"))


def checkout(folder: Path, times: int) -> Path:
    (folder / "ftensor").mkdir(parents=True)
    (folder / "ftensor" / "__init__.py").write_text(FAKE.format(times=times))
    return folder


@pytest.mark.parametrize(("times", "lost"), [(1, False), (9, True)])
def test_gate_detects_slower_cases(tmp_path: Path, times: int, lost: bool) -> None:
    """Nine times the work is reported as slower. Equal work is not, whatever else runs on the
    machine."""
    mine, base = checkout(tmp_path / "mine", times), checkout(tmp_path / "base", 3)
    (compared,) = gate.run(mine, base, [ADD], 5)
    assert compared.name == "large add" and compared.base is not None
    assert (compared.ratio > gate.ALLOWED) is lost


def test_case_missing_in_the_base_is_listed(tmp_path: Path) -> None:
    tanh = next(k for k, c in enumerate(cases.CASES) if (c.group, c.name) == ("medium", "tanh"))
    mine, base = checkout(tmp_path / "mine", 1), checkout(tmp_path / "base", 1)
    with (mine / "ftensor" / "__init__.py").open("a") as file:
        file.write("\ntanh = np.tanh\n")
    (compared,) = gate.run(mine, base, [tanh], 2)
    assert compared.base is None and compared.ratio == 1


@pytest.mark.parametrize("part", [pytest.param(n, marks=[pytest.mark.long] if n else []) for n in range(PARTS)])
def test_every_case_is_one_call_in_each_library(part: int) -> None:
    """With few elements, both libraries compute the same."""
    for case in cases.CASES[part::PARTS]:
        small = tuple(
            text.replace("16M", "64")
            .replace("4M", "64")
            .replace("65536", "64")
            .replace("4096", "16")
            .replace("2048", "16")
            .replace("1024", "16")
            .replace("512", "16")
            .replace("256", "16")
            for text in case.operands
        )
        few = replace(case, operands=small, other="")
        results = {name: call() for name, call in few.calls(("ftensor", "torch", "numpy")).items()}
        first = {name: np.asarray(x[0] if isinstance(x, tuple) else x) for name, x in results.items()}
        for name, x in first.items():
            assert x.shape == first["torch"].shape, (case.name, name)
            np.testing.assert_allclose(x, first["torch"], 1e-3, 1e-4, err_msg=case.name)


def test_help_names_the_gate() -> None:
    said = forked.run(BENCHMARKS / "bench.py", "--help").stdout
    assert "--gate" in said and "--base" in said
