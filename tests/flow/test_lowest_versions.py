"""ftensor works with the lowest versions of its dependencies in pyproject.toml."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import numpy as np, pyopencl, ftensor as ft
pyopencl.get_platforms()
x = ft.arange(6.0).reshape(2, 3)
assert (np.ones(3, np.float32) + x).tolist() == [[1, 2, 3], [4, 5, 6]]
assert type(np.exp(x)) is ft.Tensor and np.dtype(x.dtype) == np.float32
assert np.zeros(2, dtype=ft.int8).dtype == np.int8
assert (x @ x.t()).tolist() == [[5, 14], [14, 50]]
assert np.from_dlpack(x).shape == (2, 3) and x.__array_namespace__().sum(x).item() == 15
"""


def lowest() -> list[str]:
    """Returns the dependencies in their lowest versions, for every Python."""
    text = (ROOT / "pyproject.toml").read_text()
    named = re.search(r"^dependencies = \[(.*?)^\]", text, re.M | re.S)
    assert named
    words = re.findall(r'^    "([\w-]+)>=([\d.]+)(;[^"]*)?"', named[1], re.M)
    assert len(words) == named[1].count(">=")
    return [f"{name}=={version}{condition}" for name, version, condition in words]


@pytest.mark.long
def test_the_lowest_versions_work(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--target", str(tmp_path), "--quiet"]
    if sys.version_info >= (3, 13):
        pytest.skip("the lowest versions have no wheels for this Python")
    done = subprocess.run([*pip, *lowest()], capture_output=True, text=True)
    if done.returncode and re.search(r"from versions: none|onnection|resolve host", done.stderr):
        pytest.skip(f"no registry can be reached: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}", "FTENSOR_DEVICE": "csim"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
