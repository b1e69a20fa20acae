"""Ops that read and write by index, against torch: every dtype, special values, long inputs."""

from __future__ import annotations

import pytest

import ftensor as ft

from ..oracle import agree_on, torch
from ..row_cases import DTYPES
from ..targets import pairs

# The function's arguments between the input and the source, and whether it takes a source.
INDICES = torch.tensor([[2, 0, 1, 1], [0, 0, 2, 1], [1, 2, 0, 2]])
ROWS = torch.tensor([2, 0, 0])
MASK = torch.tensor([[True, False, True, True], [False] * 4, [True] * 4])
READS = {
    "gather": (1, INDICES),
    "index_select": (0, ROWS),
    "take": (INDICES,),
    "masked_select": (MASK,),
    "flip": ((1,),),
    "roll": (1, 1),
    "tril": (1,),
    "nonzero": (),
    "repeat_interleave": (2, 1),
}
WRITES = {
    "scatter": (0, INDICES % 3),
    "scatter_add": (0, INDICES % 3),
    "masked_scatter": (MASK,),
    "index_add": (0, ROWS),
    "index_copy": (0, torch.tensor([2, 0, 1])),
}


def numbers(dtype: str, start: int) -> torch.Tensor:
    """Returns twelve numbers that are as distinct as the dtype allows."""
    return (torch.arange(start, start + 12) % 127).to(getattr(torch, dtype)).reshape(3, 4)


@pytest.mark.parametrize(("name", "dtype"), pairs([*READS, *WRITES], DTYPES))
def test_every_dtype(name: str, dtype: str) -> None:
    """Compares values, shape and strides."""
    arguments = READS[name] if name in READS else (*WRITES[name], numbers(dtype, 40))
    if name == "scatter":  # of several writes to one element, any may remain
        arguments = (0, torch.tensor([[2, 0, 1, 1], [0, 1, 2, 2], [1, 2, 0, 0]]), arguments[-1])
    assert agree_on(name, numbers(dtype, 0), *arguments)


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
    result = a.scatter_reduce(0, i, s, reduce, include_self=include_self)
    assert torch.equal(result.to_torch().nan_to_num(7), expected.nan_to_num(7))


def test_long_scatter_keeps_the_order() -> None:
    """With many writes to few positions, the last write remains, and every addition counts."""
    n = 100_000
    index = torch.randint(0, 7, (n,))
    src = torch.arange(n)
    a, i, s = ft.zeros(7, dtype=ft.int64), ft.from_torch(index), ft.from_torch(src)
    last = torch.zeros(7, dtype=torch.int64).scatter_reduce(0, index, src, "amax")
    assert torch.equal(a.scatter(0, i, s).to_torch(), last)
    total = torch.zeros(7, dtype=torch.int64).scatter_add(0, index, src)
    assert torch.equal(a.scatter_add(0, i, s).to_torch(), total)
