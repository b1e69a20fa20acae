"""Inventories contain the kernels that launches on a board need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import Observer, observed
from ftensor.kernels.key import KernelKey
from ftensor.kernels.skeletons.gemm import GemmKey
from ftensor.toolchain import trace
from ftensor.toolchain.inventory.keys import fallback_key
from ftensor.toolchain.inventory.read import expand, read

from ..host.test_inventory import keys


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[KernelKey | GemmKey | str]]:
    """Returns the keys of launches on a target with aligned vectors."""
    backend = default_backend()
    if backend.target.grid != "slab" or backend.target.lanes_bytes != 64:
        pytest.skip("the device's launches are cut for a GPU, not for compute units")
    if backend.images is not None:
        pytest.skip("the device's kernels come from an image, which determines the requested keys")
    noted: list[Any] = []

    class Asked(Observer):
        def launch(self, launch: Any, stream: Any, tensors: Any, numbers: Any) -> None:
            noted.extend(s.key for s in launch.steps if s.key not in noted)
            super().launch(launch, stream, tensors, numbers)

    with backend.preparing_for(backend.target.as_board(), 1, backend.host_shared), observed(backend, Asked()):
        yield noted


FULL: dict[str, Any] = {}


def full() -> set[Any]:
    """Returns the members of `full`."""
    if not FULL:
        FULL["members"] = {m for g in expand(read("full")) for m in g.members}
    members: set[Any] = FULL["members"]
    return members


def without_kernel(keys: list[Any], held: set[Any]) -> list[Any]:
    """Returns the keys for which neither their own layout nor the strided one exists."""
    return [key for key in keys if key not in held and not (isinstance(key, KernelKey) and fallback_key(key) in held)]


def arange(n: int, of: Any = None) -> Any:
    return ft.arange(n, dtype=of or ft.float32)


CALLS: dict[str, Any] = {
    "add": lambda: arange(64) + arange(64),
    "number": lambda: 2 - arange(64) * 0.5,
    "lifted": lambda: ft.arange(64) * 0.5,
    "int to float": lambda: ft.exp(ft.arange(64)),
    "compare": lambda: arange(64) < 3,
    "in place": lambda: arange(64).lt_(3),
    "convert": lambda: arange(64).to(ft.bfloat16).to(ft.float64).to(ft.uint8),
    "strided": lambda: arange(64).reshape(8, 8).t() + arange(8),
    "where": lambda: ft.where(arange(64) < 3, arange(64), 0.0),
    "ranges": lambda: (ft.linspace(0, 1, 5), ft.ones(3), ft.zeros(3, dtype=ft.bool)),
    "sum": lambda: (arange(4096).sum(), arange(4096).reshape(4, 1024).sum(0), ft.arange(9).sum()),
    "mean": lambda: (arange(64).mean(), arange(64).std(), arange(64).reshape(8, 8).var(0)),
    "extremes": lambda: (arange(64).max(), arange(64).argmax(), arange(64).reshape(8, 8).min(1)),
    "truth": lambda: ((arange(64) > 3).any(), arange(64).all(), arange(64).count_nonzero()),
    "norm": lambda: ft.linalg.vector_norm(arange(64)) + arange(64).norm(3),
    "softmax": lambda: ft.softmax(arange(64).reshape(8, 8), 1).logsumexp(0),
    "complex": lambda: (arange(64).to(ft.complex64) * 1j).exp().abs().sum(),
    "dot": lambda: (arange(64).dot(arange(64)), ft.arange(64).dot(ft.arange(64))),
    "matmul": lambda: (arange(64).reshape(8, 8) @ arange(8), ft.ones(99, 99) @ ft.ones(99, 99)),
    "batched": lambda: ft.ones(3, 4, 5) @ ft.ones(3, 5, 6),
    "gather": lambda: arange(64)[ft.tensor([3, 1])],
    "scatter": lambda: ft.zeros(8).index_add_(0, ft.tensor([3, 1]), ft.ones(2)),
    "mask": lambda: (arange(64)[arange(64) > 60], (arange(64) > 60).nonzero()),
    "activation": lambda: ft.nn.functional.gelu(arange(64)) + ft.nn.functional.relu(arange(64)),
}


@pytest.mark.parametrize("name", CALLS)
def test_full_inventory_has_kernels_for_each_op(asked: list[Any], name: str) -> None:
    CALLS[name]()
    assert asked
    assert without_kernel(asked, full()) == []


def test_the_minimal_inventory_has_the_launched_keys(asked: list[Any]) -> None:
    arange(64).add(arange(64)).sum()
    arange(64).reshape(8, 8) @ arange(64).reshape(8, 8)
    own = expand(read("minimal"))
    assert not without_kernel(asked[1:], {m for g in own for m in g.members})  # the first one is arange
    exact = {m for g in own for m in g.members} & set(asked)
    assert {type(m) for m in exact} == {KernelKey, GemmKey}


@pytest.mark.parametrize(
    ("held", "call", "taken"),
    [
        # Columns: eight parallel vectors of results would be usable, and the image has four.
        ("radio", lambda: ft.ones(32, 1024).mean(0), "reduce_outer 16 4"),
        # Rows: narrower than a launch could use, and with fewer parallel sums than is best.
        ("cnn", lambda: ft.ones(8, 4096).sum(1), "reduce_inner 8 1"),
        ("cnn", lambda: ft.ones(1000, 512) @ ft.ones(512), "reduce_inner 16 8"),
    ],
)
def test_reduction_uses_the_best_available_kernel(held: str, call: Any, taken: str) -> None:
    members = {key.entry for group in expand(read(held)) for key in group.members}
    with trace.recording(1, members) as seen:
        call()
    folds = [x.key for x in seen.launches if isinstance(x.key, KernelKey) and x.key.reduction]
    assert [f"{k.skeleton} {k.lanes} {k.reduction.vectors}" for k in folds] == [taken]
    assert all(k.entry in members for k in folds)


def test_two_stages(asked: list[Any]) -> None:
    backend = default_backend()
    backend.units = 2
    ft.ones(1 << 16).sum()
    stages = [k for k in asked if isinstance(k, KernelKey) and k.reduction]
    assert [k.reduction.stage for k in stages if k.reduction] == ["first", "second"]
    text = 'ops = ["sum"]\nlayouts = ["inner", "strided"]\nunits = 2'
    assert without_kernel(stages, set(keys(text))) == []
