"""Graphs with an op that needs all its data first: it runs between two kernels of stages."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.emulation.environment import available
from ftensor.toolchain.inventory.read import expand, read

from .. import forked
from . import cut_program
from .cut_program import attended

PROGRAM = str(Path(cut_program.__file__))
FTENSOR = ("-m", "ftensor")


def test_kernels_before_and_after_the_op_are_exported(tmp_path: Path) -> None:
    """They are kernels of one inventory, which names the op between them and its line."""
    x, w = map(ft.from_numpy, cut_program.operands())
    files = ft.jit(attended).export(str(tmp_path / "attended"), x, w)
    first, second = files.kernels
    assert files.entry == first.entry and first.graph.name == "attended_1.json"
    assert first.entry.startswith("ft_amax_sub_square_") and "amin_sub_mul" in second.entry
    groups = expand(read(files.inventory))
    assert [g.members[0].entry for g in groups] == [first.entry, second.entry]
    assert [g.members[0].length for g in groups] == [40, 48]  # type: ignore[attr-defined]
    # The largest absolute value does not depend on the product.
    assert [len(g.members[0].outs) for g in groups] == [2, 1]  # type: ignore[attr-defined]
    (line,) = files.apart
    assert line.startswith("gemm") and "cut_program.py:" in line and "needs all first" in line
    assert f"# A kernel of its own: {line}" in files.inventory.read_text()


def several(x: ft.Tensor) -> ft.Tensor:
    y = (x * 2 + 1).sort(-1).values
    z = (y.abs() - y.amax(-1, keepdim=True)).sum(0)
    return z + ft.rand(40)


def test_each_op_between_is_named(tmp_path: Path) -> None:
    """A sort, a reduction across rows and random numbers. A single op makes no kernel of stages."""
    x = ft.ones(3, 40)
    files = ft.jit(several).export(str(tmp_path / "several"), x)
    reasons = {one.partition(" ")[0]: one.rpartition(": ")[2] for one in files.apart}
    assert reasons == {
        "sort": "it is neither elementwise nor a fold, and needs all first",
        "random_uniform": "it draws random numbers",
        "sum": "it folds across rows, which needs all of them first",
        "add": "no other op goes with it",
    }
    assert [k.entry.rpartition("_staged_")[0] for k in files.kernels] == ["ft_mul_add", "ft_abs_amax_sub"]
    with pytest.raises(ft.GraphError, match="scan is no stage"):
        ft.jit(lambda x: x.exp().cumsum(-1)).export(str(tmp_path / "one"), x)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_call_uses_the_kernels_of_an_image(tmp_path: Path) -> None:
    """It is traced, built, and run in C simulation and by XRT with the same bits. If an image lacks
    the op between the kernels, the host computes it with a warning."""

    def run(*words: str, **settings: str) -> str:
        done = forked.run(*words, env={**os.environ, **settings}, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run(*FTENSOR, "kernels", "--write", "mine.toml", "--trace", PROGRAM, FTENSOR_DEVICE="csim")
    run(*FTENSOR, "build", "--inventory", "mine.toml", "--target", "csim", "--out", "mine")
    image = str(tmp_path / "mine" / "mine.xclbin")
    on = {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": image}
    output = run(PROGRAM, FTENSOR_FALLBACK="error", **on)
    assert output.startswith("staged gemm") and output.split()[2] == "staged"
    if not available():
        emulated = ("emulate", "--image", image, "--", sys.executable, PROGRAM)
        assert run(*FTENSOR, *emulated, FTENSOR_FALLBACK="error") == output
    said = run(PROGRAM, "ranked", **on)
    assert "FallbackWarning" in said and "scan" in said
