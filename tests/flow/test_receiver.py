"""The radio receiver: its error rate agrees with theory, with the same bits as a graph and on an
image."""

from __future__ import annotations

import os
import shutil
import sys
from math import erfc, sqrt
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ftensor as ft
from ftensor.emulation.environment import available
from ftensor.kernels.staged import stage_kind
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked
from ..ir.findings import findings

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program as a module."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import receiver

    return receiver


def test_bit_error_rate_agrees_with_theory(example: ModuleType) -> None:
    """Eager calls, the graph and NumPy give the same bits. 24,576 bits give the rate within 1 in
    10, and without noise none is wrong."""
    of, graph = example.radio(), ft.jit(example.receive)
    rows = [ft.tensor(row) for row in of[:3]]
    for decibels in (2, 100):
        samples, bits = example.sent(of, 64, decibels, 5)
        x = ft.tensor(samples)
        calls, decided = ([part.numpy() for part in f(x, *rows)] for f in (example.receive, graph))
        numpys = example.receive(samples, *of[:3], fft=np.fft)
        for a, b, c in zip(calls, decided, numpys, strict=True):
            np.testing.assert_array_equal(a, b)
            assert (a != c).mean() < 1e-4  # of numbers that are nearly zero
        wrong, count = example.errors(of, decided, bits)
        assert count == 64 * 2 * 192
        assert abs(wrong / count - erfc(sqrt(10 ** (decibels / 10))) / 2) < 0.004


def test_receiver_is_one_kernel_of_stages(example: ModuleType, tmp_path: Path) -> None:
    """It has two transforms and a reduction, and v++ refuses nothing in its source."""
    rows = [ft.tensor(row) for row in example.radio()[:3]]
    x = ft.zeros(3, example.SAMPLES, dtype=ft.complex64)
    files = ft.jit(example.receive).export(str(tmp_path / "receiver"), x, *rows)
    (group,) = expand(read(files.inventory))
    (key,) = group.members
    kinds = [stage_kind(call.function) for call in key.calls]  # type: ignore[attr-defined]
    assert (kinds.count("transform"), kinds.count("fold")) == (2, 1)
    copy_headers(tmp_path)
    assert not findings(files.source, "receiver")


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_commands_of_the_page_make_and_run_the_image(tmp_path: Path) -> None:
    """The program is traced, built, run on the image alone in C simulation and by XRT with the same
    bits, and compared by the model: at most a quarter of the bytes is moved, in half the time."""
    program = (str(EXAMPLES / "receiver.py"), "--bursts", "8", "--once")
    kept = {k: v for k, v in os.environ.items() if k not in ("FTENSOR_DEVICE", "FTENSOR_IMAGE")}

    def run(*words: str, **settings: str) -> str:
        done = forked.run(*words, env=kept | {"PYTHONPATH": str(EXAMPLES.parent), **settings}, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = ("-m", "ftensor")
    run(*command, "kernels", "--write", "mine.toml", "--trace", *program)
    assert (tmp_path / "mine.toml").read_text().count("[[graph]]") == 1
    run(*command, "build", "--inventory", "mine.toml", "--target", "csim", "--out", "mine")
    image = str(tmp_path / "mine" / "mine.xclbin")
    alone = {"FTENSOR_FALLBACK": "error"}
    lines = run(*program, FTENSOR_DEVICE="csim", FTENSOR_IMAGE=image, **alone).splitlines()[1:]
    assert len(lines) == 6 and run(*program).splitlines()[1:] == lines
    if not available():
        emulated = ("emulate", "--image", image, "--", sys.executable)
        assert run(*command, *emulated, *program, **alone).splitlines()[1:] == lines
    table = run(*command, "estimate", "--compare", "graph", *program)
    eager, graph = (float(line.split()[1]) for line in table.splitlines()[-2:])
    assert graph < eager / 2
