"""Embedding bags, segments, triangles and pairwise distances: one kernel on CPUs, several
elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

from ..oracle import ours, same  # noqa: E402

# Widths of a row: one element, less than a vector, vectors that overlap, several groups.
WIDTHS = (1, 3, 16, 37, 130)


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_every_width(mode: str, width: int) -> None:
    """With an empty bag, a padding row, indices after the last bag, and NaN in sums."""
    table, index = numbers(9, width), torch.tensor([3, 8, 0, 1, 1, 7, 2, 2, 5])
    if mode != "max":  # torch's maximum drops a NaN unless it comes first
        table[7] = float("nan")
    end = 9 if mode == "max" else 8  # torch's maximum reads beyond the last offset
    for offsets, last in (([0, 2, 2, 5], False), ([0, 2, 2, end], True)):
        arguments = {"mode": mode, "padding_idx": 1, "include_last_offset": last}
        expected = torch.nn.functional.embedding_bag(index, table, torch.tensor(offsets), **arguments)
        found = ft.nn.functional.embedding_bag(ours(index), ours(table), ft.tensor(offsets), **arguments)
        same(found, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_bags_of_weighted_rows(dtype: torch.dtype) -> None:
    table, index = numbers(9, 20, dtype=dtype), torch.tensor([[3, 8, 0], [1, 1, 7]], dtype=torch.int32)
    weights = numbers(2, 3, dtype=dtype)
    expected = torch.nn.functional.embedding_bag(index, table, per_sample_weights=weights, mode="sum")
    found = ft.nn.functional.embedding_bag(ours(index), ours(table), per_sample_weights=ours(weights), mode="sum")
    same(found, expected)


def test_bag_with_an_index_out_of_range_is_refused() -> None:
    for index in ([0, 3, 9, 1], [0, -1, 2, 3]):
        with pytest.raises(RuntimeError, match=r"9|-1"):
            ft.nn.functional.embedding_bag(ft.tensor(index), ft.ones(9, 4), ft.tensor([0, 2]))


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_segments_of_every_width(reduce: str) -> None:
    lengths = torch.tensor([[2, 0, 5], [1, 3, 3]])
    for width in WIDTHS:
        x = numbers(2, 7, width)
        x[1, 2] = float("nan")
        for initial in (None, 2.5):
            arguments: dict[str, Any] = {"axis": 1, "initial": initial}
            expected = torch.segment_reduce(x, reduce, lengths=lengths, **arguments)
            same(ft.segment_reduce(ours(x), reduce, lengths=ours(lengths), **arguments), expected)


def test_triangles_are_split_between_units() -> None:
    """One of the compute units begins inside a row."""
    for name in ("tril_indices", "triu_indices"):
        for rows, cols, offset in ((300, 301, 0), (500, 90, -70), (90, 500, 30), (1, 40000, 5), (40000, 1, -7)):
            expected = getattr(torch, name)(rows, cols, offset)
            assert torch.equal(torch.from_numpy(getattr(ft, name)(rows, cols, offset).numpy()), expected), (rows, cols)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_pairwise_distances(p: float) -> None:
    for n, d in ((2, 3), (5, 1), (17, 4), (150, 9)):
        x = numbers(n, d)
        x[1] = x[0]
        same(ft.nn.functional.pdist(ours(x), p), torch.nn.functional.pdist(x, p))
    x[3, 0] = float("nan")
    same(ft.nn.functional.pdist(ours(x), p), torch.nn.functional.pdist(x, p))
