"""Calls cached by their operands' geometry: an equal call skips the preparation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend
from ftensor.ops.index import gather as of_index
from ftensor.ops.linalg import product as of_products
from ftensor.ops.rearrange import cat as of_cat

Call = Callable[..., Any]

PRODUCTS: dict[str, tuple[Call, tuple[tuple[int, ...], ...]]] = {
    "mm": (lambda t, a, b: t.mm(a, b), ((5, 7), (7, 3))),
    "matmul": (lambda t, a, b: a @ b, ((6, 5), (5, 4))),
    "turned": (lambda t, a, b: a.t() @ b, ((5, 6), (5, 4))),
    "bmm": (lambda t, a, b: t.bmm(a, b), ((2, 3, 5), (2, 5, 4))),
    "batches": (lambda t, a, b: a @ b, ((2, 1, 3, 5), (3, 5, 4))),
    "rows": (lambda t, a, b: a @ b, ((2, 3, 5), (5, 4))),
    "addmm": (lambda t, a, b, c: t.addmm(c, a, b), ((5, 7), (7, 3), (3,))),
    "baddbmm": (lambda t, a, b, c: t.baddbmm(c, a, b), ((2, 3, 5), (2, 5, 4), (1, 3, 4))),
    "linear": (lambda t, a, b, c: t.nn.functional.linear(a, b, c), ((5, 7), (3, 7), (3,))),
    "linear of more dims": (lambda t, a, b, c: t.nn.functional.linear(a, b, c), ((2, 5, 7), (3, 7), (3,))),
    "linear of exchanged dims": (
        lambda t, a, b, c: t.nn.functional.linear(a.transpose(0, 1), b, c),
        ((2, 5, 7), (3, 7), (3,)),
    ),
    "rows of exchanged dims": (lambda t, a, b: a.transpose(0, 1) @ b, ((2, 5, 7), (7, 3))),
}
READS: dict[str, tuple[Call, tuple[int, ...], type[Exception]]] = {
    "index_select": (lambda t, x, i: x.index_select(1, i), (3,), IndexError),
    "index_select from the end": (lambda t, x, i: x.index_select(-1, i), (3,), IndexError),
    "gather": (lambda t, x, i: x.gather(1, i), (4, 2), RuntimeError),
    "gather from the end": (lambda t, x, i: x.gather(-2, i), (2, 5), RuntimeError),
    "rows": (lambda t, x, i: x[i], (2, 3), IndexError),
}


def refused(*args: Any, **kwargs: Any) -> None:
    raise AssertionError("a call that is known was looked at")


@pytest.mark.parametrize("name", PRODUCTS)
def test_cached_product_is_correct(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, shapes = PRODUCTS[name]
    for _ in range(3):
        operands = [torch.randn(shape) for shape in shapes]
        result = call(ft, *[ft.tensor(x.numpy()) for x in operands])
        torch.testing.assert_close(torch.from_numpy(result.numpy()), call(torch, *operands))
        if default_backend().target.unaligned:  # otherwise the operands' alignment matters, too
            monkeypatch.setattr(of_products, "gemm", refused)


def test_cached_addmm_uses_alpha_and_beta() -> None:
    a, b, c = torch.randn(4, 3), torch.randn(3, 5), torch.randn(5)
    mine = [ft.tensor(x.numpy()) for x in (c, a, b)]
    for factors in ({}, {"alpha": 2}, {"beta": 0.5}, {"beta": 0, "alpha": 1.0}, {}):
        result = torch.from_numpy(ft.addmm(*mine, **factors).numpy())
        torch.testing.assert_close(result, torch.addmm(c, a, b, **factors))


@pytest.mark.parametrize("name", READS)
def test_cached_read_is_correct(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, shape, error = READS[name]
    x = torch.randn(4, 5)
    for _ in range(3):
        index = torch.randint(0, 3, shape)
        result = call(ft, ft.tensor(x.numpy()), ft.tensor(index.numpy()))
        assert torch.equal(torch.from_numpy(result.numpy()), call(torch, x, index))
        monkeypatch.setattr(of_index, "locate", refused)
    index[(0,) * len(shape)] = 9
    with pytest.raises(error, match="9"):
        call(ft, ft.tensor(x.numpy()), ft.tensor(index.numpy()))


def test_dim_must_be_an_integer() -> None:
    x, index = ft.randn(4, 5), ft.tensor([[0, 1]])
    x.gather(1, index)
    with pytest.raises(TypeError):
        x.gather(1.0, index)  # type: ignore[arg-type]


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cached_cat_follows_changed_operands(dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views get other offsets, values and dtypes change, and one tensor occurs twice."""
    for k in range(3):
        whole = torch.arange(600).reshape(10, 4, 15) * (k + 1)
        theirs = [whole[k : k + 3, :, 5:10].float(), whole[2:5, :, :5].int(), whole[:3, :, 10:] / 2]
        for parts in (theirs, theirs[:1] * 2):
            result = ft.cat([ft.from_torch(t) for t in parts], dim)
            assert torch.equal(torch.from_numpy(result.numpy()), torch.cat(parts, dim))
        if default_backend().target.unaligned:
            monkeypatch.setattr(of_cat, "result_dtype", refused)
    with pytest.raises(TypeError):
        ft.cat([result, 1], dim)  # type: ignore[list-item]
    with pytest.raises(TypeError):
        ft.cat([result, result], 1.0)  # type: ignore[arg-type]
