"""float32 networks: one kernel, whose sums have the stated order, and the networks that are
refused."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

import ftensor as ft
from ftensor import boards
from ftensor.errors.build import InventoryError
from ftensor.kernels.network import STATES, Fold, NetworkKey, buffer_of
from ftensor.kernels.network_processes import interval, processes_of
from ftensor.toolchain.folding import fold_network
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked, fuzz_float_networks, fuzz_networks
from ..fuzz_float_networks import key_of
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host
from .float_network_program import images, network
from .network_cycles import counted_cycles

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.float_network_program")
F = ft.nn.functional
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*words: str, **env: str) -> list[str]:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image of the network with its weights in the text, built for C simulation."""
    folder = tmp_path_factory.mktemp("floats")
    run("build", str(folder), FTENSOR_DEVICE="csim")
    return folder / "floats.xclbin"


@needs
def test_a_float_network_is_one_launch(image: Path) -> None:
    assert run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))[3:] == ["close", "one"]


@needs
@pytest.mark.long
def test_the_software_device_and_loaded_weights_give_the_same_bits(image: Path, tmp_path: Path) -> None:
    require_xrt()
    wanted = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    done = forked.run(*command, *PROGRAM, "run", env=emulation_host.environment(), cwd=ROOT)
    assert (done.returncode, done.stdout.split()) == (0, wanted), done.stderr
    run("build", str(tmp_path), "loaded", FTENSOR_DEVICE="csim")
    assert run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(tmp_path / "floats.xclbin")) == wanted


def tree(x: np.ndarray) -> np.ndarray:
    """Sums along the last dim by halves, the first of which is larger."""
    n = x.shape[-1]
    return x[..., 0] if n == 1 else tree(x[..., : (n + 1) // 2]) + tree(x[..., (n + 1) // 2 :])


@needs
@pytest.mark.parametrize(
    ("fold", "loaded"), [(Fold(12, 4), False), (Fold(4, 8), True), (Fold(1, 3), False), (Fold(12, 24), True)]
)
def test_a_sum_has_the_stated_order(fold: Fold, loaded: bool) -> None:
    """Bits follow from the order: trees within steps, partial sums in turn, and a tree over
    these."""
    of = np.random.default_rng(1)
    weight, bias, x = (of.normal(size=s).astype(np.float32) for s in ((12, 24), (12,), (5, 24)))
    held = ft.tensor(weight), ft.tensor(bias)
    key = key_of(lambda x: F.linear(x, *held), ft.tensor(x)).folded([fold])
    states = min(-(-STATES // (12 // fold.filters)), 24 // fold.factors)
    steps = tree((x[:, None] * weight).reshape(5, 12, -1, fold.factors))
    sums = np.zeros((5, 12, states), np.float32)
    sums[..., 0] = bias
    for k in range(steps.shape[-1]):
        sums[..., k % states] += steps[..., k]
    # In the order of their last steps.
    order = [k % states for k in range(steps.shape[-1] - states, steps.shape[-1])]
    words = buffer_of(key) if loaded else None
    (got,), stuck = fuzz_networks.runs(key.without_constants() if loaded else key, x, 60, [words])
    assert stuck == "" and (got.view(np.float32).reshape(5, 12) == tree(sums[..., order])).all()


@needs
@pytest.mark.parametrize("seed", [3, *(pytest.param(k, marks=pytest.mark.long) for k in (0, 9, 17, 21, 30))])
def test_random_float_networks_by_gpp(seed: int) -> None:
    assert fuzz_float_networks.trial(Random(seed)) == ""


@needs
def test_pools_propagate_nan_and_infinity() -> None:
    """This holds at padded edges too, as in eager ops."""
    pixels = np.full((1, 1, 4, 4), -np.inf, np.float32)
    pixels[0, 0, 1, 1], pixels[0, 0, 3, 3] = np.nan, np.inf
    x = ft.tensor(pixels)
    key = key_of(lambda x: F.max_pool2d(x, 3, 2, 1), x)
    (got,), stuck = fuzz_networks.runs(key, pixels, 4, [None])
    assert stuck == "" and np.array_equal(
        got.view(np.float32), F.max_pool2d(x, 3, 2, 1).numpy().ravel(), equal_nan=True
    )


@needs
def test_cycles_and_sources_of_a_float_network(tmp_path: Path) -> None:
    """The clocks agree with the iterations of the slowest process, and each loop starts one in a
    cycle."""
    key = key_of(network(), images(1))
    folded = fold_network(key, boards.find("u55c"), cycles=1000).key
    assert counted_cycles(folded, 6) == pytest.approx(interval(folded), rel=0.03)
    exported = ft.jit(network()).export(str(tmp_path / "floats"), images(2), target="u55c", cycles=1000)
    copy_headers(tmp_path)
    assert not findings(exported.source, "floats")
    for line in ("depthwise_3", "softmax_9", "images/s", "DSP"):
        assert line in exported.report
    (group,) = expand(read(exported.inventory))
    assert isinstance(group.members[0], NetworkKey) and group.members[0].is_float
    text = exported.graph.read_text()
    for change, said in (
        (('"relu": 6', '"relu": 2'), "relu of layer 2 is 2"),
        (('"zero": 0', '"zero": 3'), "zero of layer 0 is 3, not one from 0 to 0"),
        (('"kind": "softmax"', '"kind": "linear"'), "its constants|bytes of constants"),
    ):
        exported.graph.write_text(text.replace(*change))
        exported.inventory.write_text('[[graph]]\nfile = "floats.json"\n')
        with pytest.raises(InventoryError, match=said):
            read(exported.inventory)


@needs
def test_passes_of_softmax_drain() -> None:
    """A softmax passes over a row three times, and each pass ends before the next one starts."""
    held = ft.ones(8, 2)
    key = key_of(lambda x: F.softmax(F.linear(x, held), 1), ft.ones(2, 2))
    assert interval(key) > 3 * 8 + 60 and fuzz_networks.cycles(key) == ""


def test_number_of_partial_sums_is_minimal() -> None:
    held = ft.ones(16, 12)
    key = key_of(lambda x: F.linear(x, held), ft.ones(2, 12))
    for fold, states in ((Fold(1, 1), 1), (Fold(2, 2), 2), (Fold(16, 3), 4), (Fold(16, 12), 1)):
        (process,) = [p for p in processes_of(key.folded([fold])).processes if p.function == "products"]
        assert process.sizes[-2] == states


X, W, EVEN = ft.zeros(2, 3, 8, 8), ft.ones(3, 3, 3, 3), ft.ones(3, 3, 2, 2)
NONE, ONE = ft.zeros(3), ft.ones(3)
REFUSED: dict[str, tuple[Callable[[ft.Tensor], object], str]] = {
    "dilation": (lambda x: F.conv2d(x, W, dilation=2), r"its dilation \(2, 2\)"),
    "uneven padding": (lambda x: F.conv2d(x, EVEN, padding="same"), r"its padding is \(0, 0\) before"),
    "a batch norm without weights before it": (
        lambda x: F.conv2d(F.batch_norm(x, NONE, ONE), W),
        "batch_norm is no layer .* does not follow a conv2d or depthwise or linear",
    ),
    "a batch norm behind a relu": (lambda x: F.batch_norm(F.relu(F.conv2d(x, W)), NONE, ONE), "it follows a relu"),
    "a softmax of images": (lambda x: F.softmax(F.conv2d(x, W), 1), "its dim is 1"),
    "two divisors": (lambda x: F.avg_pool2d(F.conv2d(x, W), 2, 2, 1, count_include_pad=False), "several divisors"),
    "an infinite weight": (lambda x: F.conv2d(x, W * ft.inf), "no layer of a network"),
    "a dtype that changes": (lambda x: F.conv2d(F.conv2d(x, W).double(), W.double()), "no process computes it"),
    "another op": (lambda x: F.conv2d(x, W).sin(), "sin is no layer"),
    "an argument that is written": (lambda x: x.add_(F.conv2d(x, W, padding=1)), "no process computes it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unsupported_float_layers_are_refused(tmp_path: Path, case: str) -> None:
    function, said = REFUSED[case]
    with pytest.raises(ft.GraphError, match=said):
        ft.jit(function).export(str(tmp_path / "no"), X, target="u55c", weights="text")
    assert not list(tmp_path.iterdir())
