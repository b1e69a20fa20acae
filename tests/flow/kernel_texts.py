"""Kernel sources of every skeleton in every dialect, without a device that compiles them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import ftensor as ft
from ftensor._device import default_backend
from ftensor.kernels.skeleton import skeleton_of
from ftensor.kernels.skeletons.conv import ConvKey
from ftensor.kernels.skeletons.cpu.max_pool import MaxPoolKey
from ftensor.kernels.skeletons.cpu.recurrent import RecurrentKey
from ftensor.kernels.skeletons.nll import NllKey
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.intel.target import source as intel_source
from ftensor.toolchain.inventory.read import builtin_inventories, expand, read
from ftensor.toolchain.vitis.source import source as vitis_source
from ftensor.warm.command import noting

from . import filter_program, network_program, staged_program
from .test_hls_text import some_groups

functional = ft.nn.functional


def calls() -> Iterator[Callable[[], object]]:
    """Yields calls that need a kernel of each skeleton of CPUs."""
    x, y, image = ft.empty(256, 256), ft.empty(256, 256), ft.empty(2, 8, 40, 40)
    index, classes = ft.zeros(256, dtype=ft.int64), ft.zeros(256, dtype=ft.int64)
    z, h = x.to(ft.complex64), x.to(ft.bfloat16)
    positive = x @ x.t()
    yield from (
        lambda: x + y, lambda: x.t() + y, lambda: z * 2 + z.t(), lambda: h.t() * h, lambda: x[:, 1:].exp(),
        lambda: x.to(ft.uint32) + 1, lambda: x.to(ft.float8_e5m2), lambda: x.double().t().lgamma(),
        lambda: ft.special.bessel_j0(x), lambda: ft.special.hermite_polynomial_h(x, 3), lambda: ft.rand(64, 64),
        lambda: x.sum(1), lambda: x.sum(0), lambda: z.mean(0), lambda: x.std(1), lambda: x[:, :3].sum(1),
        lambda: h.amax(1), lambda: h.amax(0), lambda: x.argmax(1), lambda: x.max(1), lambda: x.sum(),
        lambda: x.softmax(1), lambda: x.softmax(0), lambda: functional.layer_norm(h, (256,)),
        lambda: (x @ y), lambda: z @ z, lambda: h @ h, lambda: x[:8] @ y, lambda: x[:2] @ y.t(),
        lambda: functional.conv2d(image, ft.empty(16, 8, 3, 3), padding=1),
        lambda: functional.conv2d(image, ft.empty(16, 8, 5, 5), stride=2),
        lambda: functional.conv2d(image, ft.empty(8, 1, 3, 3), groups=8),
        lambda: functional.conv2d(ft.empty(2, 64, 64, 64), ft.empty(64, 64, 3, 3)),
        lambda: ft.nn.grad.conv2d_weight(image, (16, 8, 3, 3), ft.empty(2, 16, 38, 38)),
        lambda: functional.max_pool2d(image, 2), lambda: functional.max_pool2d(image, 3, return_indices=True),
        lambda: functional.avg_pool2d(image, 3, padding=1),
        lambda: functional.cross_entropy(x, classes), lambda: functional.nll_loss(x, classes),
        lambda: functional.glu(x), lambda: functional.glu(x.t()), lambda: functional.cross_entropy(x, y),
        lambda: functional.cosine_similarity(x, y, 0), lambda: functional.pairwise_distance(x.t(), y.t()),
        lambda: x.cumsum(1), lambda: z.cumprod(0), lambda: x.cummax(1), lambda: x.logcumsumexp(0),
        lambda: x.sort(1), lambda: x.flatten().sort(), lambda: x.flatten().int().argsort(), lambda: x.median(1),
        lambda: x.topk(5), lambda: ft.searchsorted(x, y), lambda: x.nonzero(), lambda: x[x > 0], lambda: x[index],
        lambda: x.index_select(1, index), lambda: x.gather(1, index[:, None]), lambda: x.index_add(0, index, y),
        lambda: ft.fft.fft(z), lambda: ft.fft.rfft(x), lambda: ft.fft.irfft(z), lambda: ft.fft.fft(z[:, :60], dim=0),
        lambda: functional.embedding_bag(index[:8], x, index[:1]), lambda: functional.pdist(x),
        lambda: ft.segment_reduce(x, "max", lengths=index + 1), lambda: ft.tril_indices(256, 256),
        lambda: ft.randperm(1 << 18),
        lambda: ft.linalg.lu_factor(x), lambda: ft.linalg.cholesky(positive), lambda: ft.linalg.qr(x),
        lambda: ft.linalg.svd(x), lambda: ft.linalg.eigh(x[:8, :8]), lambda: ft.linalg.svd(z[:8, :8]),
        lambda: ft.linalg.solve_triangular(x, y, upper=True), lambda: ft.linalg.solve(z, z),
    )  # fmt: skip


F, H = ft.float32, ft.float16
# Kernels of gradients, which torch's device calls.
GRADIENTS = (
    *(MaxPoolKey("max_pool_back", d, 8, 2, 3, row) for d in (F, H) for row in (2, 8)),
    *(NllKey("nll_input", d, 8) for d in (F, H)),
    *(RecurrentKey("recurrent", cell, F, 8, 2, saved) for cell in ("lstm", "gru") for saved in (False, True)),
    *(RecurrentKey("recurrent_back", cell, F, 8, 2) for cell in ("lstm", "gru")),
    *(ConvKey(name, F, 8, 6, 1, 2) for name in ("conv_direct", "conv_weight")),
)


@cache
def keys() -> tuple[Any, ...]:
    """Returns the keys of the kernels of `calls` on the default device, and of gradients."""
    backend = default_backend()
    found = dict.fromkeys(GRADIENTS)
    for call in calls():
        with noting(backend), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Exception):  # no kernel has written the values that an op reads
                call()
            found |= dict.fromkeys(backend.kernels)
    return tuple(found)


def groups(shares_ports: bool) -> Iterator[KernelGroup]:
    """Yields groups of images: of every skeleton, layout and number of lanes."""
    seen: set[tuple[Any, ...]] = set()
    for path in builtin_inventories().values():
        for group in expand(read(path), shares_ports=shares_ports):
            kind = (group.skeleton, group.structure, group.lanes, group.kind.vitis_module(group.lanes))
            if kind not in seen:
                yield group
            seen.add(kind)


@cache
def graphs() -> list[KernelGroup]:
    """Returns groups of stages: reductions, transforms, filters, linked kernels, a network."""
    exported = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(5):
            function = ft.jit(staged_program.CASES[k][0])
            exported.append(
                function.export(str(folder / f"staged_{k}"), *map(ft.from_numpy, staged_program.operands(k, 3)))
            )
        for chain in filter_program.chains()[:5]:
            arguments = map(ft.from_numpy, chain.operands(6))
            exported.append(chain.function.export(str(folder / chain.name), *arguments))
        network = ft.jit(network_program.digits())
        exported.append(network.export(str(folder / "digits"), network_program.images(2), target="kv260"))
        linked = folder / "linked.toml"
        linked.write_text('[[graph]]\nfile = "staged_0.json"\nstructure = "linked"\n')
        return [group for path in (*(e.inventory for e in exported), linked) for group in expand(read(path))]


# Skeletons whose kernels only Vitis builds.
VITIS = ("linked", "network")


class KernelText(NamedTuple):
    """A kernel's source. The dialects are "opencl", "intel", "vitis" (the C simulation's programs)
    and "hls" (sources for v++)."""

    name: str
    dialect: str
    skeleton: str
    structure: str
    text: str


@cache
def texts() -> tuple[KernelText, ...]:
    """Returns the texts of `keys` and `groups`."""
    found = []

    def add(key: Any, dialect: str) -> None:
        text = skeleton_of(key).program(key, dialect, float64=True, grid="slab")
        found.append(KernelText(key.entry, dialect, key.skeleton, "", text))

    for key in keys():
        add(key, "opencl")
    for group in (*some_groups(), *groups(True), *graphs()):
        structure = f"{group.structure} {group.kind.vitis_module(group.lanes)}"
        found.append(KernelText(group.name, "hls", group.skeleton, structure, vitis_source(group)))
        if group.skeleton not in VITIS:
            for key in group.keys[:1]:
                add(key, "vitis")
    for group in (*some_groups(), *groups(False), *graphs()):
        if group.skeleton not in VITIS:
            found.append(KernelText(group.name, "intel", group.skeleton, group.structure, intel_source(group)))
    return tuple(found)
