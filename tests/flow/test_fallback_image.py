"""A program with an image that was built without one of its ops."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ftensor.runtime import targets

from .. import forked

pytestmark = [pytest.mark.skipif(targets.csim_compiler() is None, reason="no C++ compiler")]

INVENTORY = """
[[kernel]]
ops = ["add", "copy"]
dtypes = ["float32"]
layouts = ["linear", "strided"]
"""
ON_HOST = """
[[host]]
op = "exp"
dtypes = "float32(float32)"
layout = "map vv"
"""
PROGRAM = """
import ftensor as ft
x = ft.tensor([[0.0, 1.0], [2.0, 3.0]])
for _ in range(3):
    y = (x + x).exp()
assert y.device == ft.device("fpga:0")
print([round(v, 3) for v in y.t().reshape(-1).tolist()])
print([(row.op, row.calls, row.copies) for row in ft.fallback_report()])
"""
# The host's limits do not apply to the device, and the image's kernels are measured.
LIMITS = """
import ftensor as ft
with ft.profiler.profile() as p:
    x = ft.tensor([1.0])
    x + x
text = p.table()
found = ft.profiler.limits()
print(found.bandwidth > 0 and found.flops != found.flops,
      " GB/s, no GFLOP/s as the images lack matmul" in text, tuple(ft.fallback_report()))
"""


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with these arguments in a new process."""
    return forked.run(*arguments, env=os.environ | env, cwd=folder)


def test_program_runs_without_exp_in_the_image(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(INVENTORY)
    (tmp_path / "program.py").write_text(PROGRAM)
    build = ("-m", "ftensor", "build", "--target", "csim", "--inventory", "plain.toml")
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    process = run(tmp_path, *build, "--out", "image", PYTHONPATH=path)
    assert process.returncode == 0, process.stderr
    image = {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": "image/plain.xclbin", "PYTHONPATH": path}

    done = run(tmp_path, "program.py", **image, FTENSOR_FALLBACK="warn")
    assert done.returncode == 0, done.stderr
    values, report = done.stdout.splitlines()
    assert values == "[1.0, 54.598, 7.389, 403.429]" and report == "[('exp', 3, 6)]"
    assert done.stderr.count("FallbackWarning") == 1
    assert "program.py:5: FallbackWarning: exp of float32 runs on the host" in done.stderr

    refused = run(tmp_path, "program.py", **image, FTENSOR_FALLBACK="error")
    assert refused.returncode == 1 and not refused.stdout
    assert "KernelNotBuilt: the device's image has no kernel for exp" in refused.stderr

    limits = run(tmp_path, "-c", LIMITS, **image, FTENSOR_FALLBACK="warn")
    assert (limits.stdout, limits.stderr) == ("True True ()\n", "")
    (tmp_path / "plain.toml").write_text(INVENTORY + ON_HOST)
    assert run(tmp_path, *build, "--out", "image", PYTHONPATH=path).returncode == 0
    for policy in ("error", "warn"):
        left = run(tmp_path, "program.py", **image, FTENSOR_FALLBACK=policy)
        assert (left.returncode, left.stdout, left.stderr) == (0, done.stdout, "")
    refused = run(tmp_path, "-c", "import ftensor as ft; ft.ones(3).sinh()", **image, FTENSOR_FALLBACK="error")
    assert "KernelNotBuilt: the device's image has no kernel for fill" in refused.stderr
    shown = run(tmp_path, "-m", "ftensor", "image", "info", "image", PYTHONPATH=path).stdout
    assert "Steps on the host\n  exp  float32(float32)  map vv\n" in shown

    silent = run(tmp_path, "program.py", **image, FTENSOR_FALLBACK="silent")
    assert silent.returncode == 0 and silent.stdout == done.stdout and "Warning" not in silent.stderr


FACTORS = """
[[kernel]]
ops = ["copy"]
dtypes = ["float32", "complex64"]
layouts = ["linear", "strided"]

[[kernel]]
ops = ["dense_cholesky", "dense_lu"]
dtypes = ["float32", "complex64"]

[[kernel]]
ops = ["sort"]
dtypes = ["float32", "int32"]

[[kernel]]
ops = ["scan"]
dtypes = ["float32", "complex64"]
scans = ["cumsum", "cumprod"]
"""
FACTORING = """
import ftensor as ft
x = ft.tensor([[4.0, 2.0], [2.0, 10.0]])
print(ft.linalg.cholesky(x).tolist())
print(ft.cholesky_solve(ft.tensor([[8.0], [22.0]]), ft.linalg.cholesky(x)).tolist())
print(ft.linalg.eigvals(ft.tensor([[3.0, 0.0], [0.0, 4.0]])).real.tolist())
found = {row.op: (row.calls, row.copies) for row in ft.fallback_report()}
ft.set_fallback("error")
print(ft.linalg.lu_factor(x)[0].tolist(), ft.linalg.cholesky(ft.tensor([[4j / 1j]])).tolist())
print(ft.sort(x[1]).values.tolist(), ft.sort(ft.tensor([3, -1], dtype=ft.int32)).values.tolist())
print(ft.cumprod(x[1], 0).tolist(), ft.cumsum(ft.tensor([1j, 2.0]), 0).tolist())
print([found.get(op) for op in ("dense_cholesky", "dense_solve", "linalg.eigvals")])
"""


def test_factorizations_with_an_image(tmp_path: Path) -> None:
    """The image has Cholesky factorization. The missing triangular solves and NumPy's part are
    counted. Bodies of one kernel differ by dtype, op, and real or complex."""
    (tmp_path / "factors.toml").write_text(FACTORS)
    (tmp_path / "program.py").write_text(FACTORING)
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    build = ("-m", "ftensor", "build", "--target", "csim", "--inventory", "factors.toml")
    process = run(tmp_path, *build, "--out", "image", PYTHONPATH=path)
    assert process.returncode == 0, process.stderr
    image = {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": "image/factors.xclbin"}
    done = run(tmp_path, "program.py", **image, FTENSOR_FALLBACK="silent", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[[2.0, 0.0], [1.0, 3.0]]",
        "[[1.0], [2.0]]",
        "[3.0, 4.0]",
        "[[4.0, 2.0], [0.5, 9.0]] [[(2+0j)]]",
        "[2.0, 10.0] [-1, 3]",
        "[2.0, 20.0] [1j, (2+1j)]",
        "[None, (2, 8), (1, 2)]",
    ]
