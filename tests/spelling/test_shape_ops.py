"""Index and shape-making ops against torch: layout, dtype, values, the class of what is raised."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import ftensor as ft

from .shape_cases import INDEX, SHAPE


def outcome(case: str, lib: Any) -> Any:
    """What a case gives with a library, in terms that both share."""
    torch.manual_seed(0)
    t = torch.arange(12.0).reshape(3, 4)
    x4 = torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    if lib is ft:
        t, x4 = ft.from_torch(t), ft.from_torch(x4)
    names = {"lib": lib, "t": t, "x4": x4, "i": lambda *a: lib.tensor(a)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(eval(case, names))
        except (IndexError, RuntimeError, TypeError, ValueError) as e:
            return type(e)


def described(found: Any) -> Any:
    """Shape, strides where they matter, dtype and values."""
    if isinstance(found, (tuple, list)):
        return [described(one) for one in found]
    strides = [s for s, n in zip(found.stride(), found.shape) if n > 1] if found.numel() else None
    dtype = str(found.dtype).partition(".")[2]
    return tuple(found.shape), strides, dtype, found.tolist()


@pytest.mark.parametrize("case", INDEX + SHAPE)
def test_as_torch(case: str) -> None:
    expected = outcome(case, torch)
    assert outcome(case, ft) == expected


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (5, 3), (2, 4, 4), (2, 0, 3), (2, 3, 17, 33)])
def test_triangles(name: str, shape: tuple[int, ...]) -> None:
    t = torch.randn(shape)
    for diagonal in (-40, -4, -1, 0, 1, 2, 40):
        expected = getattr(torch, name)(t, diagonal)
        assert torch.equal(getattr(ft, name)(ft.from_torch(t), diagonal).to_torch(), expected)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amin", "amax"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce_of_special_values(reduce: str, include_self: bool) -> None:
    t = torch.tensor([1.0, float("nan"), -0.0, float("inf")])
    src = torch.tensor([float("nan"), 2.0, float("-inf"), 3.0, 4.0])
    index = torch.tensor([0, 1, 3, 2, 2])
    expected = t.scatter_reduce(0, index, src, reduce, include_self=include_self)
    a, i, s = map(ft.from_torch, (t, index, src))
    found = a.scatter_reduce(0, i, s, reduce, include_self=include_self)
    assert torch.equal(found.to_torch().nan_to_num(7), expected.nan_to_num(7))


def test_a_long_scatter_keeps_the_order() -> None:
    """Many writes to few places: the last one stays, and every addition counts."""
    n = 100_000
    index = torch.randint(0, 7, (n,))
    src = torch.arange(n)
    a, i, s = ft.zeros(7, dtype=ft.int64), ft.from_torch(index), ft.from_torch(src)
    last = torch.zeros(7, dtype=torch.int64).scatter_reduce(0, index, src, "amax")
    assert torch.equal(a.scatter(0, i, s).to_torch(), last)
    total = torch.zeros(7, dtype=torch.int64).scatter_add(0, index, src)
    assert torch.equal(a.scatter_add(0, i, s).to_torch(), total)
