"""Every dtype on its way to a board: traced, built and run. This includes dtypes with few ops,
which no built-in inventory has.

One program fills, copies, converts, compares and writes parts of tensors of every dtype. The
inventory of its trace gives one image for each flow, which then has every kernel that the program
launches.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from ftensor.runtime.intel import emulator

from .. import forked
from ..made_images import require_xrt
from ..oracle import torch
from .dtypes_program import DTYPES, VALUES

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("dtypes_program.py")
# Dtypes with few ops, for which no built-in inventory has a kernel.
BARE = ("uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "complex32")


def run(folder: Path, *words: str | Path, **settings: str) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("FTENSOR_IMAGE")}
    env |= {"PYTHONPATH": str(ROOT), "FTENSOR_FALLBACK": "error", **settings}
    done = forked.run(*words, env=env, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def trace(folder: Path, inventory: str, out: str, *names: str) -> None:
    """Writes the inventory of the program, and the results of the traced run."""
    words = ("-m", "ftensor", "kernels", "--write", inventory, "--trace", PROGRAM, out, *names)
    run(folder, *words, FTENSOR_DEVICE="csim")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program's inventory, and the results of the traced run."""
    folder = tmp_path_factory.mktemp("dtypes")
    trace(folder, "every.toml", "traced.npz")
    return folder


@pytest.fixture(scope="module")
def image(folder: Path) -> Path:
    run(folder, "-m", "ftensor", "build", "--target", "csim", "--inventory", "every.toml", "--out", "csim")
    return folder / "csim" / "every.xclbin"


def expected(name: str) -> dict[str, torch.Tensor]:
    """Returns the program's results in a dtype, computed from stored values."""
    of = getattr(torch, name)
    held = [min(v, 1) for v in VALUES] if of is torch.bool else VALUES
    rolled = [held[-1], *held[:-1]]
    listed = {
        "fill": [2] * 6,
        "zeros": [0] * 6,
        "copy": VALUES,
        "strided copy": [[a, b] for a, b in zip(VALUES[:4], VALUES[4:])],
        "from float32": VALUES,
        "from int64": [0, 1, 2, 3],
        "setitem of a number": [*VALUES[:2], 1, *VALUES[3:]],
        "setitem of a steps": [0, 0, 2, 0, 3, 0, 2, 1],
        "setitem of a part": [*VALUES[4:], *VALUES[4:]],
        "setitem of a list": [VALUES[2], *VALUES[1:3], VALUES[3], *VALUES[4:]],
    }
    others = {
        "to float32": torch.tensor(held, dtype=torch.float32),
        "to bool": torch.tensor([v != 0 for v in held]),
        "compare": torch.tensor([a == b for a, b in zip(held, rolled)]),
        "compare with a number": torch.tensor([v != 1 for v in held]),
    }
    if name in ("uint16", "uint32", "uint64"):
        top = 2 ** (8 * of.itemsize) - 1
        sums = [sum(VALUES[: k + 1]) for k in range(len(VALUES))]
        others |= {
            "arithmetic": torch.tensor([((v * 3 - 1) & top) >> 1 for v in VALUES], dtype=of),
            "amax": torch.tensor([top], dtype=torch.uint64).to(of),
            "cumsum": torch.tensor(sums, dtype=of),
            "sort": torch.tensor(sorted((v - 1) & top for v in VALUES), dtype=torch.uint64).to(of),
        }
    return others | {what: torch.tensor(v, dtype=torch.float32).to(of) for what, v in listed.items()}


def is_right(file: Path, names: tuple[str, ...] = DTYPES) -> None:
    """Checks that every result of the program exists and has torch's bits."""
    assert set(DTYPES) > set(BARE)
    wanted = {f"{name}, {what}": t for name in names for what, t in expected(name).items()}
    with np.load(file) as found:
        assert set(found.files) == set(wanted)
        wrong = [name for name, t in wanted.items() if not np.array_equal(found[name], t.view(torch.uint8).numpy())]
    assert not wrong


def test_trace_computes_every_dtype(folder: Path) -> None:
    is_right(folder / "traced.npz")
    text = (folder / "every.toml").read_text()
    assert not [name for name in DTYPES if f"{name}(" not in text]


def test_the_image_of_the_trace_has_every_kernel(folder: Path, image: Path) -> None:
    run(folder, PROGRAM, "image.npz", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    is_right(folder / "image.npz")


def test_the_image_computes_the_same_under_xrt(folder: Path, image: Path) -> None:
    require_xrt()
    run(folder, "-m", "ftensor", "emulate", "--image", image, "--", sys.executable, PROGRAM, "xrt.npz")
    is_right(folder / "xrt.npz")


@pytest.mark.long
def test_kernels_on_request_for_dtypes_with_few_ops(folder: Path, tmp_path: Path) -> None:
    """One dtype of each kind; the image above has all of them under XRT, too."""
    require_xrt()
    names = ("uint32", "float8_e4m3fn", "complex32")
    words = ("-m", "ftensor", "emulate", "--", sys.executable, PROGRAM, "request.npz", *names)
    run(folder, *words, FTENSOR_CACHE_DIR=str(tmp_path))
    is_right(folder / "request.npz", names)


@pytest.mark.long
def test_intels_emulator_with_dtypes_with_few_ops(folder: Path) -> None:
    """Kernel tests run the other dtypes on this emulator."""
    if emulator.driver() is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "Intel's FPGA emulator is not here"
        pytest.skip(f"Intel's FPGA emulator is not in {emulator.default_folder()}")
    trace(folder, "bare.toml", "bare.npz", *BARE)
    run(folder, "-m", "ftensor", "build", "--target", "intel-emulator", "--inventory", "bare.toml", "--out", "intel")
    (image,) = (folder / "intel").glob("*.aocx")
    words = ("-m", "ftensor", "emulate", "--intel", "--image", image, "--", sys.executable, PROGRAM, "intel.npz", *BARE)
    run(folder, *words)
    is_right(folder / "intel.npz", BARE)
