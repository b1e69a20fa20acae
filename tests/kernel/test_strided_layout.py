"""An image that has only the strided layout of each kernel gives the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend
from ftensor.iterator.shape import numel
from ftensor.kernels.key import BY_VALUE, KernelKey
from ftensor.runtime import launch_cache
from ftensor.runtime.backend import Backend, CompiledKernel

from ..oracle import same
from ..targets import pairs


@pytest.fixture
def strided(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[KernelKey]]:
    def built(backend: Backend, key: KernelKey) -> bool:
        ports = [p for p in key.ins if p.kind != BY_VALUE]
        ports += () if getattr(key, "reduction", None) else key.outs
        return key.lanes == 1 and all(p.kind in ("x", "g") for p in ports)

    yield from with_kernels(monkeypatch, built)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[KernelKey]]:
    yield from with_kernels(monkeypatch, lambda _, key: key.skeleton == "map" and key.lanes in (1, 4))


def with_kernels(
    monkeypatch: pytest.MonkeyPatch, built: Callable[[Backend, KernelKey], bool]
) -> Iterator[list[KernelKey]]:
    """Records the requested keys while the image has only these kernels."""
    backend = default_backend()
    used: list[KernelKey] = []

    def kernel(backend: Backend, key: KernelKey) -> CompiledKernel:
        used.append(key)
        return make(backend, key)

    make: Callable[[Any, Any], Any] = launch_cache.kernel
    for module in ("pointwise", "reduce", "indexed"):
        monkeypatch.setattr(f"ftensor.execute.{module}.is_available", built)
    monkeypatch.setattr("ftensor.execute.dispatch.kernel", kernel)
    kept = dict(backend.launches)
    backend.launches.clear()
    yield used
    backend.launches.clear()
    backend.launches.update(kept)


def test_narrower_kernels_are_used(narrow: list[KernelKey]) -> None:
    """Without full-width kernels, the widest available kernel computes."""
    a, b = torch.randn(100), torch.randn(100)
    x, y = ft.from_torch(a), ft.from_torch(b)
    assert torch.equal((x + y).to_torch(), a + b)
    assert torch.equal((x.double() * 3).to_torch(), a.double() * 3)
    assert {(k.skeleton, k.lanes) for k in narrow} == {("map", 4)}


SHAPES = [(7,), (1,), (3, 5), (2, 3, 4), (130,)]


@pytest.mark.parametrize("shape", SHAPES)
def test_pointwise(strided: list[KernelKey], shape: tuple[int, ...]) -> None:
    a, b = torch.randn(shape), torch.randn(shape[-1:])
    x, y = ft.from_torch(a), ft.from_torch(b)
    assert torch.equal((x + y).to_torch(), a + b)
    assert torch.equal((x * 3).to_torch(), a * 3)
    assert torch.equal((x < y).to_torch(), a < b)
    assert torch.equal(x.transpose(0, -1).neg().to_torch(), -a.transpose(0, -1))
    assert {(k.skeleton, k.lanes) for k in strided} == {("rows", 1)}


@pytest.mark.parametrize(("shape", "dim"), pairs(SHAPES, [None, 0, -1]))
def test_reductions(strided: list[KernelKey], shape: tuple[int, ...], dim: int | None) -> None:
    a = torch.randperm(numel(shape)).reshape(shape)  # no ties, so the index is torch's
    x = ft.from_torch(a)
    assert torch.equal(x.sum(dim).to_torch(), a.sum(dim))
    assert torch.equal(x.argmax(dim).to_torch(), a.argmax(dim))
    dims = () if dim is None else dim
    assert torch.equal(x.amax(dims).to_torch(), a.amax(dims))
    folds = [k for k in strided if getattr(k, "reduction", None)]
    assert {(k.skeleton, k.lanes, k.reduction.vectors) for k in folds} == {("reduce_inner", 1, 1)}


def test_located(strided: list[KernelKey]) -> None:
    a, index = torch.randn(5, 6), torch.tensor([[4, 0, 2, 2, 1, 3]])
    x, at = ft.from_torch(a), ft.from_torch(index)
    assert torch.equal(x.gather(0, at).to_torch(), a.gather(0, index))
    assert torch.equal(x[at[0, :3], 1:].to_torch(), a[index[0, :3], 1:])
    assert torch.equal(x.scatter_add(0, at, x).to_torch(), a.scatter_add(0, index, a))
    assert {k.skeleton for k in strided} - {"take"} == {"rows"}  # a CPU's own kernel, for any layout


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.complex64])
def test_transposed_long_rows(dtype: torch.dtype) -> None:
    """A CPU computes them in tiles, with edges on two sides."""
    x = torch.arange(3 * 37 * 170).remainder(101).reshape(3, 37, 170).to(dtype)
    mine = ft.from_torch(x)
    turned = x.permute(2, 0, 1), mine.permute(2, 0, 1)
    same(turned[1].contiguous(), turned[0].contiguous(), exact=True)
    other = torch.arange(170 * 3 * 37).remainder(7).reshape(170, 3, 37).to(dtype)
    same(ft.from_torch(other).add(turned[1]), other.add(turned[0]), exact=True)
    same(mine.mT.add(mine.mT[:, :1]), x.mT.add(x.mT[:, :1]), exact=True)
    sheet, own = x[0].t().contiguous(), mine[0].t().contiguous()
    own.add_(mine[1].t())
    same(own, sheet.add_(x[1].t()), exact=True)
