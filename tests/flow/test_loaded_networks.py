"""Networks whose launches load the weights: one kernel for all weights, no stale weights, the bits
of eager ops."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from random import Random

import pytest

import ftensor as ft
from ftensor.boards import find
from ftensor.errors.build import InventoryError
from ftensor.graph.partition import Exported
from ftensor.kernels.network import NetworkKey, buffer_of, words_of
from ftensor.kernels.network_file import parse_network
from ftensor.kernels.network_file import text as network_text
from ftensor.kernels.network_processes import processes_of
from ftensor.toolchain.folding import fold_network
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked, fuzz_networks
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host, known_networks
from .network_program import digits, images

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.network_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*words: str, **env: str) -> str:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["linked", pytest.param("dataflow", marks=pytest.mark.long)])
def image(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """An image of the network with loaded weights, in three kernels or in one, built for C
    simulation."""
    folder = tmp_path_factory.mktemp("loaded")
    run("build", str(folder), "loaded", request.param, FTENSOR_DEVICE="csim")
    return folder / "digits.xclbin"


def shared() -> str:
    """Returns the output of `network_program.share` computed by eager ops, without the kernels."""
    networks, x = (digits(), digits(4)), images(3)

    def digest(k: int) -> str:
        return hashlib.sha256(networks[k](x).numpy().tobytes()).hexdigest()

    first, second = digest(0), digest(1)
    networks[1].bias.add_(40.0)  # type: ignore[attr-defined]
    other = digest(1)
    assert len({first, second, other}) == 3
    return "\n".join([" ".join(line) for line in ((first, second, second, first), (other, first, other))])


@needs
def test_two_networks_share_a_kernel_with_the_bits_of_eager_ops(image: Path) -> None:
    """They alternate, also after a weight is changed, and in two concurrent threads."""
    *lines, threads, kernels = run("share", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image)).splitlines()
    assert "\n".join(lines) == shared()
    assert threads.split() == sorted({*lines[1].split()})
    (entry,) = json.loads(json.dumps(kernels.removeprefix("network "))).split()
    assert entry == export(image.parent / "again", 4).entry


@needs
def test_any_number_of_images(image: Path) -> None:
    wanted = [hashlib.sha256(digits()(images(n)).numpy().tobytes()).hexdigest() for n in (1, 2, 5)]
    printed = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image)).split()
    assert printed == [*wanted, "one", "fresh"]


@needs
def test_traced_call_uses_the_kernel_of_an_inventory(image: Path) -> None:
    """`ftensor estimate --inventory` can then estimate it. Its buffer lives as long as the
    graph."""
    entry = export(image.parent / "traced").entry
    assert run("trace", entry, FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image)).split() == [entry]


@needs
@pytest.mark.long
def test_the_software_device_gives_the_same_bits(image: Path) -> None:
    require_xrt()
    wanted = run("share", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    done = forked.run(*command, *PROGRAM, "share", env=emulation_host.environment(), cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr


def export(folder: Path, seed: int = 3, **options: object) -> Exported:
    options = {"target": "kv260", "weights": "loaded"} | options
    return ft.jit(digits(seed)).export(str(folder / "digits"), images(2), **options)


def test_kernel_depends_only_on_shapes(tmp_path: Path) -> None:
    """The kernel's text has no weights, biases, scales or folding."""
    one, two, slow = export(tmp_path / "1"), export(tmp_path / "2", 4), export(tmp_path / "3", cycles=2000)
    assert one.entry == two.entry == slow.entry and one.source.read_bytes() == two.source.read_bytes()
    assert one.constants is not None and two.constants is not None
    assert one.constants.read_bytes() != two.constants.read_bytes()
    text = export(tmp_path / "4", weights="text")
    assert text.entry != one.entry and "in the text" in text.report and "loaded by launches" in one.report
    (first,), (other,) = (expand(read(files.inventory)) for files in (one, two))
    key = first.members[0]
    assert isinstance(key, NetworkKey) and key.loaded and not key.constants and key == other.members[0]
    for files in (one, two):
        text = files.graph.read_text()
        with pytest.raises(ValueError, match="its constants' SHA-256 is"):
            parse_network(json.loads(text), text.encode(), b"")
    bare = network_text(key)
    assert parse_network(json.loads(bare), bare.encode(), b"") == key
    with pytest.raises(ValueError, match='weights= is "text" or "loaded", not \'fast\''):
        export(tmp_path / "5", weights="fast")


@pytest.mark.parametrize("case", ["flipped", "short", "of another network", "of another word"])
def test_weights_of_another_network_are_refused(tmp_path: Path, case: str) -> None:
    files, other = export(tmp_path / "1"), export(tmp_path / "2", 4)
    assert files.constants is not None and other.constants is not None
    data, said = files.constants.read_bytes(), "its constants' SHA-256 is"
    if case == "of another word":
        text = files.graph.read_text().replace('"weights": "loaded"', '"weights": "text"')
        files.graph.write_text(text)
        files.inventory.write_text('[[graph]]\nfile = "digits.json"\n')
        said = "its weights are 'text', not \"loaded\""
    else:
        changed = {"flipped": bytes([data[0] ^ 1]) + data[1:], "short": data[:-1]}
        files.constants.write_bytes(changed.get(case) or other.constants.read_bytes())
    with pytest.raises(InventoryError, match=said):
        read(files.inventory)


def test_buffer_starts_with_its_digest(tmp_path: Path) -> None:
    x = images(1)
    key = fuzz_networks.NetworkBuilder(ft.jit(digits())._trace_only(x._storage.backend, [x], (x,), {})).key
    words = buffer_of(key)
    assert words[:8].tobytes() == hashlib.sha256(words[16:].tobytes()).digest() and not words[10:16].any()
    assert words.size == 16 + -(-2 * words_of(key) // 16) * 16


def test_the_sources_have_no_finding(tmp_path: Path) -> None:
    files = export(tmp_path)
    copy_headers(tmp_path)
    assert not findings(files.source, "digits")


@needs
@pytest.mark.parametrize("seed", [7, *(pytest.param(k, marks=pytest.mark.long) for k in (14, 51, 64, 92, 95))])
def test_random_networks_by_gpp(seed: int) -> None:
    """The kernel loads other weights, then its own, and keeps these."""
    assert fuzz_networks.trial(Random(seed), loaded=True) == ""


@needs
@pytest.mark.long
def test_two_stages_of_resnet_by_gpp() -> None:
    """The folding is a board's, the bits are equal, and FIFOs have exactly the computed depths."""
    network, x = known_networks.resnet(2, 4), known_networks.images(2, 3, 32, 32)
    wanted = network(x).numpy()
    key = fuzz_networks.NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    folded = fold_network(key.without_constants(), find("u55c")).key
    (got,), stuck = fuzz_networks.runs(folded, x.numpy(), wanted.size, [buffer_of(key)])
    assert stuck == "" and (got.reshape(wanted.shape) == wanted).all() and len(set(wanted.ravel().tolist())) > 5


def test_memories_of_weights_are_balanced() -> None:
    """UltraRAM and block RAM are used to about the same share. The memory that uses UltraRAM least
    efficiently is in block RAM."""
    x = ft.zeros(1, 64, 8, 8, dtype=ft.uint8)
    weights = [ft.ones(o, 64, 3, 3, dtype=ft.int8) for o in (64, 64, 64)]

    def network(x: ft.Tensor) -> ft.Tensor:
        for weight in weights:
            x = ft.quantized.conv2d(x, weight, padding=1, input_scale=0.1, weight_scale=0.1)
        return x

    key = fuzz_networks.NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    folds = [fuzz_networks.Fold(8, 8), fuzz_networks.Fold(4, 4), fuzz_networks.Fold(8, 4)]
    products = [p for p in processes_of(key.without_constants().folded(folds)).processes if "products" in p.function]
    assert [p.memories[0].words for p in products] == [576, 2304, 1152]
    assert [p.function for p in products] == ["loaded_products", "uram_products", "loaded_products"]
