"""`ftensor build --subnormals flush`: the C simulation agrees with a model of flushing."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor
from ftensor.runtime.targets import csim_compiler

from .. import forked

pytestmark = [pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")]
INVENTORY = """
[[kernel]]
ops = ["add", "sub", "mul", "true_divide", "sqrt", "ceil", "neg", "copy"]
dtypes = ["float32"]
layouts = ["linear"]
[[kernel]]
ops = ["eq", "lt"]
dtypes = ["float32"]
layouts = ["linear"]
[[kernel]]
ops = ["sum"]
dtypes = ["float32"]
layouts = ["outer"]
[[kernel]]
ops = ["mul", "copy"]
dtypes = ["float16"]
layouts = ["linear"]
[[kernel]]
ops = ["copy"]
dtypes = ["float16"]
to = ["float32"]
layouts = ["linear"]
"""
# The computation, on tensors in the program below and on arrays in the model, which flushes
# intermediate values.
CALLS = {
    "a + b": lambda a, b, between: a + b,
    "a - b": lambda a, b, between: a - b,
    "a * b": lambda a, b, between: a * b,
    "a / b": lambda a, b, between: a / b,
    "(a * a).sqrt()": lambda a, b, between: np.sqrt(between(a * a)),
    "a.ceil()": lambda a, b, between: np.ceil(a),
    "a == b": lambda a, b, between: a == b,
    "a < b": lambda a, b, between: a < b,
    "a.reshape(8, -1).sum(0)": lambda a, b, between: running_sum(a.reshape(8, -1), between),
}
PROGRAM = f"""
import sys, numpy as np, ftensor as ft
given = np.load(sys.argv[1])
a, b, h = (ft.tensor(given[name]) for name in "abh")
made = {{text: eval(text) for text in {list(CALLS)}}}
made |= {{"-a": -a, "a.clone()": a.clone(), "h.float()": h.float(), "h * h": h * h}}
np.savez(sys.argv[2], **{{text: t.numpy() for text, t in made.items()}})
"""


def flushed(x: np.ndarray) -> np.ndarray:
    """Returns numbers with subnormals replaced by zeros of the same sign."""
    if x.dtype.kind != "f":
        return x
    small = np.abs(x) < np.finfo(x.dtype).tiny
    return np.where(small, np.copysign(np.zeros_like(x), x), x)


def running_sum(rows: np.ndarray, between: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Returns the sum of rows added one after another."""
    total = np.zeros_like(rows[0])
    for row in rows:
        total = between(total + row)
    return total


def operands() -> dict[str, np.ndarray]:
    """Returns numbers near the smallest normal one, ordinary and special ones, and every
    float16."""
    rng = np.random.default_rng(5)
    arrays = {}
    for name in "ab":
        small = rng.standard_normal(4096) * np.exp2(rng.integers(-140, -120, 4096))
        large = rng.standard_normal(4096) * np.exp2(rng.integers(-70, 70, 4096))
        special = rng.choice([0.0, -0.0, np.inf, 1e-45, -1e-45, 1e-38, 1.0], 4096)
        which = rng.integers(0, 3, 4096)
        arrays[name] = np.choose(which, [small, large, special]).astype(np.float32)
    arrays["b"][::7] = arrays["a"][::7]
    return arrays | {"h": np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)}


def command(*words: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs `python ...` with ftensor importable."""
    path = str(Path(ftensor.__file__).parent.parent)
    return forked.run(*words, env=os.environ | {"PYTHONPATH": path} | settings)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Returns the results of an image of a kind, "keep" or "flush"."""
    folder = tmp_path_factory.mktemp("subnormals")
    (folder / "ops.toml").write_text(INVENTORY)
    (folder / "program.py").write_text(PROGRAM)
    np.savez(folder / "given.npz", **operands())

    @functools.cache
    def computed(way: str) -> dict[str, Any]:
        options = ("--inventory", folder / "ops.toml", "--target", "csim", "--subnormals", way)
        built = command("-m", "ftensor", "build", *options, "--out", folder / way)
        assert built.returncode == 0, built.stderr
        out = folder / f"{way}.npz"
        ran = command(
            folder / "program.py",
            folder / "given.npz",
            out,
            FTENSOR_DEVICE="csim",
            FTENSOR_IMAGE=str(folder / way),
            FTENSOR_FALLBACK="error",
        )
        assert ran.returncode == 0, ran.stderr
        return dict(np.load(out))

    return computed


@pytest.mark.parametrize("text", CALLS)
def test_flushed_results_agree_with_the_model(answers: Callable[[str], dict[str, Any]], text: str) -> None:
    """Operands are flushed, then results. Both have an effect."""
    arrays = operands()
    with np.errstate(all="ignore"):
        model = flushed(CALLS[text](flushed(arrays["a"]), flushed(arrays["b"]), flushed))
        kept = CALLS[text](arrays["a"], arrays["b"], lambda x: x)
    mine = answers("flush")[text]
    np.testing.assert_array_equal(mine, model)
    if mine.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(model))
    assert not np.array_equal(kept, model, equal_nan=mine.dtype.kind == "f")


@pytest.mark.long
@pytest.mark.parametrize("text", CALLS)
def test_image_that_keeps_subnormals_differs(answers: Callable[[str], dict[str, Any]], text: str) -> None:
    kept, mine = answers("keep")[text], answers("flush")[text]
    assert not np.array_equal(kept, mine, equal_nan=mine.dtype.kind == "f")


def test_copies_keep_subnormals(answers: Callable[[str], dict[str, Any]]) -> None:
    """Copies and sign changes are no arithmetic."""
    a = operands()["a"]
    for text, wanted in (("-a", -a), ("a.clone()", a)):
        assert np.array_equal(answers("flush")[text].view(np.uint32), wanted.view(np.uint32)), text


@pytest.mark.parametrize("way", [pytest.param("keep", marks=pytest.mark.long), "flush"])
def test_float16_keeps_its_subnormals(answers: Callable[[str], dict[str, Any]], way: str) -> None:
    """They are normal numbers in float32, in which kernels compute."""
    h = operands()["h"]
    with np.errstate(all="ignore"):
        products = (h.astype(np.float32) * h.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(answers(way)["h.float()"], h.astype(np.float32))
    np.testing.assert_array_equal(answers(way)["h * h"], products)


def test_flushing_is_only_for_the_c_simulation(tmp_path: Path) -> None:
    """Other targets have no such setting."""
    options = ("--inventory", "minimal", "--target", "hw", "--subnormals", "flush")
    process = command("-m", "ftensor", "build", *options, "--out", tmp_path, "--dry-run")
    assert process.returncode == 1 and "--subnormals flush is for --target csim" in process.stderr
