"""softmax and norms, for which boards have a kernel for whole rows, as stages of a graph."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import ftensor as ft

from .. import forked

nn = ft.nn.functional
OPS = {
    "softmax": (lambda x: nn.softmax(x * 2, -1), "ft_mul_amax_softmax_staged"),
    "log_softmax": (lambda x: nn.log_softmax(x * 2, -1), "ft_mul_amax_log_softmax_staged"),
    "layer_norm": (lambda x: nn.layer_norm(x * 2, (48,)), "ft_mul_mean_var_staged"),
}
TRACED = """
import numpy as np
import ftensor as ft
x = ft.from_numpy(np.ones((40, 64), np.float32))
ft.jit(lambda x: ft.fft.rfft(x * 2).abs() + 1)(x)
ft.jit(lambda x: ft.nn.functional.softmax(x * 2, -1))(x)
"""
RUN = """
import ftensor as ft
call = ft.jit(lambda x: ft.nn.functional.softmax(x * 2, -1))
x = ft.linspace(-3, 3, 11 * 48).reshape(11, 48)
terms = (x * 2).exp()
apart = (call(x) - terms / terms.sum(-1, True)).abs().max().item()
print(call.graph(x).kernels[0].split()[0], apart < 1e-6)
"""


@pytest.mark.parametrize("name", OPS)
def test_row_ops_are_fused_with_surrounding_ops(name: str, tmp_path: Path) -> None:
    function, entry = OPS[name]
    x = ft.randn(100, 48)
    function(x)  # as single calls, before and after
    files = ft.jit(function).export(str(tmp_path / "graph"), x)
    assert files.entry.rpartition("_")[0] == entry and not files.apart
    function(x)


def test_traced_program_has_kernels_of_stages(tmp_path: Path) -> None:
    """An image may have any kernel, so the trace has neither whole-row kernels nor streamed
    transforms."""
    (tmp_path / "program.py").write_text(TRACED)
    words = ("--trace", str(tmp_path / "program.py"), "--write", str(tmp_path / "mine.toml"))
    env = {name: value for name, value in os.environ.items() if name != "FTENSOR_DEVICE"}  # any board
    done = forked.run("-m", "ftensor", "kernels", *words, env=env)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "mine.toml").read_text()
    assert text.count("[[graph]]") == 2 and "[[kernel]]" not in text, text


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_image_with_the_graph_runs_it(tmp_path: Path) -> None:
    files = ft.jit(OPS["softmax"][0]).export(str(tmp_path / "graph"), ft.randn(100, 48))
    build = ("-m", "ftensor", "build", "--inventory", str(files.inventory), "--target", "csim", "--out", str(tmp_path))
    done = forked.run(*build, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    (image,) = tmp_path.glob("*.xclbin")
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(image), "FTENSOR_FALLBACK": "silent"}
    done = forked.run("-c", RUN, env=env)
    assert done.stdout == "staged True\n", done.stdout + done.stderr
