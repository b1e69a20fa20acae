"""Calls at their limits: many dims, huge and empty shapes, sizes larger than any memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

import ftensor as ft
from ftensor.execute import scan

from ..oracle import agree, torch

MANY = [1] * 64 + [2, 3]


@pytest.mark.parametrize(
    "call",
    [
        "x.sum()", "x.mean()", "x.max()", "x.argmax()", "x.prod()", "x.norm()", "x.sum(0)",
        "x.sum((0, 65))", "x.amax(3)", "x.tolist()", "x.nonzero().shape", "x[x > 2]", "x + x",
        "x.transpose(0, 65)", "x.to(m.int32)", "m.tensor(x.tolist())", "repr(x)", "str(x[0])",
        "repr(x.reshape([1] * 70 + [6]).expand([1] * 69 + [400, 6]))", "x.numpy()",
        "repr(x.permute(*range(65, -1, -1)))", "x.count_nonzero()",
    ],
)  # fmt: skip
def test_more_dims_than_numpy_has(call: str) -> None:
    """It is printed, converted to lists and reduced. A dim beyond the limit can't be named."""

    def evaluated(m: Any) -> Any:
        x = m.arange(6.0).reshape(MANY)
        result = eval(call, {"m": m, "x": x})
        return result.tolist() if hasattr(result, "tolist") else result

    agree(lambda: evaluated(ft), lambda: evaluated(torch))


@pytest.mark.parametrize("shape", [(0, 2**40), (0, 2**62), (2**62, 0), (3, 0, 2**60), (0,)])
def test_huge_shapes_without_elements(shape: tuple[int, ...]) -> None:
    assert repr(ft.empty(shape)) == repr(torch.empty(shape))
    assert ft.empty(shape).sum().item() == 0
    if not shape[0]:
        assert ft.empty(shape).tolist() == []


@pytest.mark.parametrize("shape", [(7,), (3, 5), (1, 4, 3), (1, 1, 13), (2, 1, 7)])
def test_masks_too_large_for_one_search(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is small instead of 2^31 elements, and the positions of all parts are right."""
    monkeypatch.setattr(scan, "COUNTED", 2)
    torch.manual_seed(0)
    theirs = torch.randint(0, 2, shape).bool()
    mine = ft.from_torch(theirs)
    for a, b in ((mine, theirs), (mine.transpose(0, -1), theirs.transpose(0, -1)), (~mine, ~theirs)):
        assert a.nonzero().tolist() == b.nonzero().tolist()
        values = torch.arange(b.numel()).reshape(b.shape)
        assert ft.from_torch(values)[a].tolist() == values[b].tolist()
    some, all_ = ft.tensor([True]), torch.tensor([True])
    assert some.expand(9).nonzero().tolist() == all_.expand(9).nonzero().tolist()


IMPOSSIBLE = [
    "ft.ones(1).expand(2**45) + 1",
    "ft.ones(1).expand(2**45).sin()",
    "ft.ones(1).expand(2**45).sort()",
    "ft.ones(1, 1, 1).expand(2**20, 2**25, 1).amax(-1)",
    "ft.ones(1, 1).expand(2**45, 1).cummax(-1)",
    "ft.ones(1).expand(2**34).cumsum(0)",
    "ft.fft.fft(ft.ones(1, 1).expand(2**40, 8))",
    "ft.combinations(ft.ones(100_000), 3)",
    "ft.ones(1).expand(2**45).unbind()",
    "ft.ones(1).expand(2**45).split(2)",
    "ft.ones(0).chunk(2**45)",
    "ft.ones(4).tensor_split(2**45)",
    "ft.ones(1).expand(2**45).tolist()",
    "ft.ones(1).expand(2**45).nonzero()",
    "ft.repeat_interleave(ft.ones(4), ft.tensor([2**45, 0, 0, 0]))",
    "ft.nn.functional.one_hot(ft.zeros(1, dtype=ft.int64).expand(2**40))",
    "ft.bincount(ft.zeros(1, dtype=ft.int64).expand(2**40))",
    "ft.histc(ft.ones(1).expand(2**40))",
    "ft.multinomial(ft.ones(1).expand(2**40), 4)",
    "ft.cov(ft.ones(1).expand(2**20, 2**20))",
    "ft.float_power(ft.ones(1).expand(2**20, 1), ft.ones(1).expand(2**40))",
    "ft.nn.functional.layer_norm(ft.ones(1).expand(2**40), (2**40,))",
    "ft.nn.functional.normalize(ft.ones(1).expand(2**40), dim=0)",
    "ft.pca_lowrank(ft.ones(1).expand(2**40, 4))",
    "ft.stft(ft.ones(1).expand(2**40), 16, return_complex=True)",
    "ft.signal.periodogram(ft.ones(1).expand(2**40))",
    "ft.linalg.svd(ft.ones(1).expand(2**20, 2**20))",
    "ft.mvlgamma(ft.ones(1), 10**12)",
    *[
        f"{F}.interpolate(ft.ones(1, 1, 2, 2), (2**30, 2**30), mode='{mode}')"
        for F in ("ft.nn.functional",)
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")
    ],
    "ft.nn.functional.adaptive_avg_pool2d(ft.ones(1, 1, 2, 2), 2**31)",
    "ft.nn.functional.adaptive_max_pool2d(ft.ones(1, 1, 2, 2), 2**31)",
    "ft.nn.functional.affine_grid(ft.ones(1, 2, 3), (1, 1, 2**31, 2**31), False)",
]


@pytest.mark.parametrize("call", IMPOSSIBLE)
def test_impossible_sizes_are_refused_before_any_work(call: str) -> None:
    """No table on the host and no kernel is made for the elements."""
    tracemalloc.start()
    try:
        with pytest.raises(ft.OutOfMemoryError, match="bytes"):
            eval(call)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_high_order_of_polygamma_takes_no_longer() -> None:
    want = torch.polygamma(2**31 - 1, torch.tensor([1.5, 300.0]))
    result = ft.polygamma(2**31 - 1, ft.tensor([1.5, 300.0])).to_torch()
    torch.testing.assert_close(result, want, equal_nan=True)
