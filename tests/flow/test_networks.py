"""Networks are exported, built into an image, and run as one launch with the bits of eager ops."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import ftensor as ft
from ftensor import boards
from ftensor.errors.build import InventoryError
from ftensor.execute.packed_weights import derived_tensors
from ftensor.graph.guards import CapturedValues
from ftensor.graph.network import NetworkBuilder
from ftensor.graph.partition import Exported
from ftensor.kernels.network import MAX_TERMS, Flow, NetworkKey, NetworkLayer, check_layer
from ftensor.kernels.network_processes import interval, processes_of
from ftensor.toolchain.folding import fold_network
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked, fuzz_networks
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host, known_networks
from .network_cycles import counted_cycles
from .network_program import digits, images

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.network_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*words: str, **env: str) -> str:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image of the network, exported in C simulation."""
    folder = tmp_path_factory.mktemp("network")
    run("build", str(folder), FTENSOR_DEVICE="csim")
    return folder / "digits.xclbin"


@needs
def test_network_is_one_launch_with_the_bits_of_eager_ops(image: Path) -> None:
    """For any number of images. Weights that are changed later are never stale."""
    wanted = [hashlib.sha256(digits()(images(n)).numpy().tobytes()).hexdigest() for n in (1, 2, 5)]
    printed = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image)).split()
    assert printed == [*wanted, "one", "fresh"]


@needs
@pytest.mark.long
def test_the_software_device_gives_the_same_bits(image: Path) -> None:
    require_xrt()
    wanted = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    done = forked.run(*command, *PROGRAM, "run", env=emulation_host.environment(), cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr


@pytest.fixture
def exported(tmp_path: Path) -> Exported:
    return ft.jit(digits()).export(str(tmp_path / "digits"), images(2), target="kv260")


def test_the_files_of_a_network(exported: Exported) -> None:
    """The entry does not depend on the folding. The inventory has the digest of the file, and the
    file that of the weights."""
    (group,) = expand(read(exported.inventory))
    key = group.members[0]
    assert isinstance(key, NetworkKey) and exported.constants is not None and group.members[0].entry == exported.entry
    assert hashlib.sha256(exported.graph.read_bytes()).hexdigest() in exported.inventory.read_text()
    assert key.digest in exported.graph.read_text() and key.constants == exported.constants.read_bytes()
    slow = ft.jit(digits()).export(str(exported.graph.with_name("slow")), images(2), cycles=5000)
    assert slow.entry == exported.entry and slow.graph.read_bytes() != exported.graph.read_bytes()
    (other,) = expand(read(slow.inventory))
    assert interval(key) < interval(other.members[0]) <= 5000  # type: ignore[arg-type]
    for line in ("conv2d_0", "network_program.py:", "images/s"):
        assert line in exported.report


def test_the_sources_have_no_finding(exported: Exported) -> None:
    """Every loop starts an iteration each cycle, and v++ refuses nothing in the source."""
    copy_headers(exported.source.parent)
    assert not findings(exported.source, "digits")


def test_folding_of_a_named_layer(tmp_path: Path) -> None:
    jitted, x = ft.jit(digits()), images(1)
    exported = jitted.export(str(tmp_path / "one"), x, fold={"conv2d_0": (2, 3)})
    (group,) = expand(read(exported.inventory))
    key = group.members[0]
    assert isinstance(key, NetworkKey) and key.layers[0].fold == (2, 3)
    for fold, said in (
        ({"conv9": (1, 1)}, "has no layer 'conv9'; fold= names one of conv2d_0, "),
        ({"conv2d_0": (3, 3)}, "its fold is 3 x 3 of 4 filters and 9 factors"),
        ({"conv2d_0": (0, 3)}, "its numbers are positive"),
        ({"conv2d_0": "many"}, "it is no pair of integers"),
    ):
        with pytest.raises(ValueError, match=said):
            jitted.export(str(tmp_path / "one"), x, fold=fold)
    for cycles in (0, "few"):
        with pytest.raises(ValueError, match="cycles= is a positive int"):
            jitted.export(str(tmp_path / "one"), x, cycles=cycles)
    with pytest.raises(ft.GraphError, match=r"can't take an image in 10 cycles: \w+ needs \d+"):
        jitted.export(str(tmp_path / "one"), x, cycles=10)


# Refused networks, and the reason.
X = ft.zeros(2, 3, 8, 8, dtype=ft.uint8)
WEIGHT, ONE_BY_ONE = ft.ones(3, 3, 3, 3, dtype=ft.int8), ft.ones(3, 3, 1, 1, dtype=ft.int8)
INFINITE = ft.full((3,), ft.inf)
SCALES = {"input_scale": 0.1, "weight_scale": 0.1}


def conv(x: ft.Tensor, weight: ft.Tensor = WEIGHT, **more: object) -> ft.Tensor:
    return ft.quantized.conv2d(x, weight, **SCALES, **more)  # type: ignore[arg-type]


REFUSED: dict[str, tuple[Callable[[ft.Tensor], object], str]] = {
    "dilation": (lambda x: conv(x, dilation=2), "conv2d is no layer .* its dilation .2, 2."),
    "padding beyond a line buffer": (lambda x: conv(x, padding=2), "padding up to kernel / 2"),
    "a stride beyond the kernel": (lambda x: conv(x, stride=4), "stride up to kernel"),
    "a weight that is computed": (lambda x: conv(x, WEIGHT.neg()), "no layer of a network"),
    "another geometry": (
        lambda x: conv(conv(x).view(2, 3, 4, 9), ONE_BY_ONE),
        r"shape \(2, 3, 4, 9\), and the layer before it gives \(2, 3, 6, 6\)",
    ),
    "terms in two orders": (
        lambda x: ft.quantized.add(conv(x).flatten(1), conv(x).flatten(1), 0.1, 0, input_scale=0.1, other_scale=0.1),
        "the layer before it gives",
    ),
    "a number that is not finite": (
        lambda x: conv(x, bias=INFINITE),
        "its bias or its scales are not finite in float32",
    ),
    "two results": (lambda x: (conv(x), conv(x, ONE_BY_ONE)), "only result|reads its result"),
    "a part of a result": (lambda x: conv(conv(x)[:, :, 1:]), "reads a part|not contiguous"),
    "means of several sizes": (
        lambda x: ft.quantized.adaptive_avg_pool2d(conv(x), 4),
        "windows of its result have several",
    ),
    "several divisors": (lambda x: ft.quantized.avg_pool2d(conv(x), 2, 1, 1, False, False), "several divisors"),
    "means beyond the image": (lambda x: ft.quantized.avg_pool2d(conv(x), 4, ceil_mode=True), "ceil_mode"),
    "images that are joined": (lambda x: ft.quantized.cat([conv(x)] * 2, 0, input_scales=0.1), "along dim 0"),
    "images of two sizes": (
        lambda x: ft.quantized.add(conv(x, padding=1)[:, :, 1:], x[:, :, 1:], 1.0, 0, input_scale=0.1, other_scale=0.1),
        "reads a part|not contiguous",
    ),
    "windows beyond the image": (lambda x: ft.nn.functional.max_pool2d(conv(x), 4, ceil_mode=True), "ceil_mode"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unsupported_layers_are_refused(tmp_path: Path, case: str) -> None:
    function, said = REFUSED[case]
    with pytest.raises(ft.GraphError, match=said):
        ft.jit(function).export(str(tmp_path / "no"), X, target="u55c")
    assert not list(tmp_path.iterdir())


def test_unused_ops_are_not_part_of_a_network(tmp_path: Path) -> None:
    """Unused ops and layers are dropped, so the bits and the kernel are those without them."""

    def network(x: ft.Tensor) -> ft.Tensor:
        return conv(conv(x), ONE_BY_ONE)

    def unused(x: ft.Tensor) -> ft.Tensor:
        x.float().sum()
        y = conv(x)
        conv(y, padding=1)
        y.float()
        return conv(y, ONE_BY_ONE)

    entries = [ft.jit(f).export(str(tmp_path / f.__name__), X).entry for f in (network, unused)]
    assert entries[0] == entries[1]


# A change of a network's file, and the error.
BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "another name": (lambda t: t.replace('"name": "', '"name": "a(){}'), "its name is 'a(){}"),
    "code as a kind": (lambda t: t.replace('"kind": "linear"', '"kind": "linear>();"'), "the kind of layer"),
    "text as a number": (lambda t: t.replace('"channels": 4', '"channels": "4"'), "channels of layer 0 is '4'"),
    "a float as a number": (lambda t: t.replace('"channels": 4', '"channels": 4.0'), "channels of layer 0 is 4.0"),
    "a zero point beyond the dtype": (lambda t: t.replace('"zero_in": 3', '"zero_in": 300'), "300, not one from 0"),
    "a later value": (
        lambda t: t.replace('"inputs": [\n    0\n', '"inputs": [\n    9\n', 1),
        "an input of layer 0 is 9",
    ),
    "another dtype": (lambda t: t.replace('"uint8"', '"int16"'), "its dtype is 'int16'"),
    "another digest": (lambda t: t.replace('"sha256": "', '"sha256": "0'), "its constants' SHA-256 is"),
    "a field too many": (lambda t: t.replace('"channels": 4', '"body": "x", "channels": 4'), "has the fields"),
    "another spelling": (lambda t: t.replace("\n", "\n "), "not the one that its network is written as"),
    "a large image": (lambda t: t.replace('"image": [\n  1', '"image": [\n  100000'), "100000, not one from 1"),
    "no constants": (lambda t: json.dumps({"format": "ftensor network 4"}), "it has no 'constants'"),
    "a wide fold": (lambda t: t.replace('"fold": [\n    ', '"fold": [\n    7', 1), "its fold is 7"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_malformed_network_file_is_refused(exported: Exported, case: str) -> None:
    change, said = BROKEN[case]
    text = exported.graph.read_text()
    changed = change(text)
    assert changed != text
    exported.graph.write_text(changed)
    exported.inventory.write_text('[[graph]]\nfile = "digits.json"\n')
    with pytest.raises(InventoryError) as caught:
        read(exported.inventory)
    assert said in str(caught.value) and "digits.json is no graph file" in str(caught.value)


@pytest.mark.parametrize("case", ["flipped", "short", "long", "missing"])
def test_weights_of_another_network_are_refused(exported: Exported, case: str) -> None:
    """Their digest is checked before anything is built."""
    assert exported.constants is not None
    data = exported.constants.read_bytes()
    if case == "missing":
        exported.constants.unlink()
    else:
        changed = {"flipped": bytes([data[0] ^ 1]) + data[1:], "short": data[:-1], "long": data + b"0"}
        exported.constants.write_bytes(changed[case])
    said = "can't be read" if case == "missing" else "its constants' SHA-256 is"
    with pytest.raises(InventoryError, match=said):
        read(exported.inventory)


@needs
def test_groups_of_channels() -> None:
    """Each filter reads only the channels of its group. The zeros for other channels add
    nothing."""
    of = np.random.default_rng(2)
    weight, pixels = of.integers(-128, 128, (6, 2, 3, 3), np.int8), of.integers(0, 256, (2, 4, 5, 5), np.uint8)
    held, x = ft.tensor(weight), ft.tensor(pixels)

    def network(x: ft.Tensor) -> ft.Tensor:
        return ft.quantized.conv2d(x, held, None, 1, 1, 1, 2, 5.0, 100, input_zero_point=7, **SCALES)

    wanted = network(x).numpy()
    key = NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    got, stuck = fuzz_networks.run(key, pixels, wanted.size)
    assert stuck == "" and (got.reshape(wanted.shape) == wanted).all() and len(np.unique(wanted)) > 50


@needs
def test_too_shallow_fifo_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It bypasses a convolution, and the text has another depth than the computed one."""
    x = images(2)
    key = NetworkBuilder(ft.jit(digits())._trace_only(x._storage.backend, [x], (x,), {})).key
    program = fuzz_networks.program
    monkeypatch.setattr(
        fuzz_networks, "program", lambda key: re.sub(r"\d+> (from_max_pool2d_1_fork_0)", r"2> \1", program(key))
    )
    _, stuck = fuzz_networks.run(key, x.numpy(), 20)
    assert "from_max_pool2d_1_fork_0 2 of 2, its writer waits" in stuck


@needs
@pytest.mark.parametrize("seed", [64, *(pytest.param(k, marks=pytest.mark.long) for k in (7, 14, 51, 52, 92, 95))])
def test_random_networks_by_gpp(seed: int) -> None:
    """`make fuzz` draws others."""
    assert fuzz_networks.trial(Random(seed)) == ""


def test_layers_keep_no_values_of_a_call() -> None:
    """They keep neither tensors that the function computes nor numbers that a call passes."""
    bias = ft.ones(4)

    def network(x: ft.Tensor, weight: ft.Tensor, k: float) -> ft.Tensor:
        calls.append(None)
        q = ft.quantized.quantize_per_tensor(weight, 0.01, 0, -128, 127, ft.int8)
        y = ft.quantized.linear(x, q, bias, 0.5, 3, input_scale=0.1, weight_scale=0.01)
        return y.to(ft.float32) * k

    calls: list[None] = []
    jitted, x, weight = ft.jit(network), ft.arange(12, dtype=ft.uint8).view(2, 6), ft.linspace(-1, 1, 24).view(4, 6)
    for k in (1.5, 2.5, 3.5):
        assert ft.equal(jitted(x, weight, k), network(x, weight, k))
    assert len(calls) == 4  # one trace, and three eager calls of the function


def test_changed_values_are_seen_at_each_call() -> None:
    """This holds even if reading the values does not access the storage, as on a device with its
    own memory."""
    weight = ft.ones(8)
    values = CapturedValues([weight])
    assert not values.find_changes()
    storage = weight._storage
    weight.add_(1)
    derived_tensors(storage)
    assert values.find_changes() and values.find_changes() and values.is_changed


def test_depth_of_a_shortcut_fifo() -> None:
    """A FIFO that bypasses two convolutions holds what they read ahead: two rows and two pixels
    each. It is in UltraRAM if it fills that well."""
    weight = ft.ones(2, 2, 3, 3, dtype=ft.int8)

    def block(x: ft.Tensor) -> ft.Tensor:
        y = conv(conv(x, weight, padding=1), weight, padding=1)
        return ft.quantized.add(y, x, 0.1, 0, input_scale=0.1, other_scale=0.1)

    def twice(x: ft.Tensor) -> ft.Tensor:
        y = conv(x, weight, padding=1)
        for other in (conv(x, weight, padding=1), x):
            y = ft.quantized.add(y, other, 0.1, 0, input_scale=0.1, other_scale=0.1)
        return y

    x = ft.zeros(1, 2, 12, 40, dtype=ft.uint8)
    other = NetworkBuilder(ft.jit(twice)._trace_only(x._storage.backend, [x], (x,), {})).key
    assert max(fifo.depth for fifo in processes_of(other).fifos) > 40 + 2
    key = NetworkBuilder(ft.jit(block)._trace_only(x._storage.backend, [x], (x,), {})).key
    fork = next(p for p in processes_of(key).processes if p.function == "fork")
    depths = [processes_of(key).fifos[f].depth for f in fork.writes]
    assert max(depths) > 2 * (40 + 1) + 1 and min(depths) == 32
    wide = ft.zeros(1, 2, 12, 4000, dtype=ft.uint8)
    key = NetworkBuilder(ft.jit(block)._trace_only(wide._storage.backend, [wide], (wide,), {})).key
    (deep,) = [fifo.name for fifo in processes_of(key).fifos if fifo.uram]
    assert f"#pragma HLS BIND_STORAGE variable={deep} type=fifo impl=uram" in fuzz_networks.program(key)


@needs
def test_windows_of_many_channels() -> None:
    """Rows are in a ring buffer, with strides, padding and a residual connection."""
    for k, (h, stride, padding) in enumerate(((5, 1, 1), (3, 2, 1), (6, 3, 0))):
        assert fuzz_networks.deep(h, stride, padding, k) == ""


KINDS = [(kind, signed) for kind in ("linear", "conv2d", "depthwise", "rows") for signed in (False, True)]
SHORT = [("linear", False), ("depthwise", True)]


@needs
@pytest.mark.parametrize(
    ("kind", "signed"), [*SHORT, *(pytest.param(*k, marks=pytest.mark.long) for k in KINDS if k not in SHORT)]
)
def test_sums_of_extreme_values_are_exact(kind: str, signed: bool) -> None:
    """Weights are all -128 or 127, inputs are all the least or the largest byte, and mixtures, in
    four pairs that one accumulator adds. NumPy's int64 is the reference."""
    assert fuzz_networks.extremes(kind, signed) == ""


def test_number_of_terms_is_limited_by_int32() -> None:
    """The limit covers the products and the share of the zero point, with the largest weights and
    bytes."""
    worst = MAX_TERMS * (128 * 255 + 128 * 255)
    assert worst < 1 << 31 <= worst + 2 * 128 * 255
    image = Flow(1, 1, MAX_TERMS + 1, 1)
    assert "terms, of at most" in check_layer(NetworkLayer("linear", (0,), 1), image)
    assert check_layer(NetworkLayer("linear", (0,), 1), image._replace(channels=MAX_TERMS)) == ""


def test_too_large_network_is_refused_with_numbers(tmp_path: Path) -> None:
    """The error also names the part of it that fits."""
    x = known_networks.images(1, 3, 64, 64)
    jitted = ft.jit(known_networks.resnet(4, 2))
    with pytest.raises(
        ft.GraphError, match=r"even with products one by one: LUT .*its first (\d+) layers do, up to"
    ) as caught:
        jitted.export(str(tmp_path / "large"), x, target="kv260", weights="text")
    count = int(str(caught.value).partition("its first ")[2].split()[0])
    key = NetworkBuilder(jitted._trace_only(x._storage.backend, [x], (x,), {})).key
    fitting = fold_network(replace(key, layers=key.layers[:count]), boards.find("kv260"))
    assert fitting.fits and key.layers[count - 1].kind in ("add", "max_pool2d")


# Networks and boards: a chain, branches that are joined, and residual connections with two windows
# that read rows.
CLOCKED = {
    "digits": (digits, (1, 10, 10), "kv260"),
    "keyword spotting": (lambda: known_networks.ds_cnn(16), (1, 49, 10), "kv260"),
    "two stages": (lambda: known_networks.resnet(2, 4), (3, 32, 32), "u55c"),
}


@needs
@pytest.mark.parametrize("case", ["digits", *(pytest.param(k, marks=pytest.mark.long) for k in list(CLOCKED)[1:])])
def test_cycles_agree_with_the_report(case: str) -> None:
    """The processes' clocks, which wait for each other at FIFOs of the computed depths, agree with
    the iterations of the slowest process within 3 %."""
    make, shape, board = CLOCKED[case]
    x = known_networks.images(1, *shape)
    key = NetworkBuilder(ft.jit(make())._trace_only(x._storage.backend, [x], (x,), {})).key
    folded = fold_network(key, boards.find(board)).key
    assert counted_cycles(folded, 6) == pytest.approx(interval(folded), rel=0.03)


@needs
@pytest.mark.parametrize("case", [pytest.param(k, marks=pytest.mark.long) for k in list(CLOCKED)[1:]])
def test_known_networks_by_gpp(case: str) -> None:
    """The folding is a board's, the bits are equal, and FIFOs have exactly the computed depths."""
    make, shape, board = CLOCKED[case]
    network, x = make(), known_networks.images(2, *shape)
    wanted = network(x).numpy()
    key = NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    got, stuck = fuzz_networks.run(fold_network(key, boards.find(board)).key, x.numpy(), wanted.size)
    assert stuck == "" and (got.reshape(wanted.shape) == wanted).all()
    assert len(set(wanted.ravel().tolist())) > 5
