"""Loops with a remainder: every size up to a few vectors, from an unaligned offset.

A compiler that miscounts a remainder gives wrong values for some sizes only, or reads outside the
tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

from ..oracle import from_element_9, same  # noqa: E402

SIZES = range(71)


def positive_definite(n: int) -> torch.Tensor:
    """Returns two positive definite matrices (2, n, n)."""
    x = torch.randn(2, n, n)
    return x @ x.mT + n * torch.eye(n)


def rows(n: int) -> torch.Tensor:
    return torch.randn(3, n)


def with_ties(n: int) -> torch.Tensor:
    """Returns numbers with many ties."""
    return torch.randint(-4, 5, (3, n))


CASES: dict[str, tuple[Callable[[int], torch.Tensor], Callable[[Any, Any], Any]]] = {
    "sort": (with_ties, lambda L, x: L.sort(x, dim=-1, stable=True)),
    "largest": (rows, lambda L, x: L.topk(x, x.shape[1] // 3, -1)),
    "ranked": (with_ties, lambda L, x: L.kthvalue(x, x.shape[1] // 2 + 1, -1).values),
    "median": (rows, lambda L, x: L.median(x, -1)),
    "compact": (with_ties, lambda L, x: L.nonzero(x > 0)),
    "search": (rows, lambda L, x: L.searchsorted(L.sort(x, -1).values, x.contiguous())),
    "scan": (with_ties, lambda L, x: L.cumsum(x, -1)),
    "scan of columns": (with_ties, lambda L, x: L.cumsum(x.t().contiguous(), 0)),
    "sum": (with_ties, lambda L, x: L.sum(x, -1)),
    "softmax": (rows, lambda L, x: L.softmax(x, -1)),
    "cholesky": (positive_definite, lambda L, x: L.linalg.cholesky(x)),
    "singular values": (positive_definite, lambda L, x: L.linalg.svdvals(x)),
    "eigenvalues": (positive_definite, lambda L, x: L.linalg.eigvalsh(x)),
    "solve": (positive_definite, lambda L, x: L.linalg.solve(x, x[..., :3] + 1)),
    "reflections": (positive_definite, lambda L, x: L.linalg.householder_product(*L.geqrf(x))),
    "transform": (rows, lambda L, x: L.fft.rfft(x, dim=-1)),
    "transform of columns": (rows, lambda L, x: L.fft.fft(x.t(), dim=0)),
    "product": (rows, lambda L, x: x @ x.t()),
    "pooling": (rows, lambda L, x: L.nn.functional.max_pool1d(x.unsqueeze(0), 3, 2, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_remainder_of_any_size(case: str) -> None:
    torch.manual_seed(0)
    make, call = CASES[case]
    for n in SIZES:
        x = make(n)
        for step in (1, 3) if n < 20 else (1,):
            try:
                theirs = call(torch, x)
            except (RuntimeError, IndexError):  # empty input
                assert n < 2
                continue
            mine = call(ft, from_element_9(x, step))
            same(mine, theirs, strides=False, rtol=1e-3, atol=1e-3)
