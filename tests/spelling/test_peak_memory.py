"""An op allocates no more memory than its results, unless its documentation says so."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import ftensor as ft

SIZE = 512


def peak(call: Callable[[], Any]) -> tuple[int, int]:
    """Returns (peak bytes of tensors during a call, beyond those before; bytes of the results)."""
    call()  # creates tables and the flag of index checks
    gc.collect()
    ft.fpga.empty_cache()  # otherwise a larger block may be reused
    before = ft.fpga.memory_allocated()
    ft.fpga.reset_peak_memory_stats()
    result = call()
    ft.synchronize()
    most = ft.fpga.max_memory_allocated() - before
    results = result if isinstance(result, tuple) else (result,)
    return most, sum(x._storage.block.size for x in results)


@pytest.mark.parametrize(
    "text",
    ["a + b", "a < b", "ft.tanh(a)", "ft.pow(a, 2)", "a.t().contiguous()", "a + b.t()", "a.sum(1)",
     "a.amax()", "a.argmax(1)", "a.cumsum(1)", "ft.softmax(a, 1)", "a.index_select(0, i)",
     "a.gather(1, j)", "a.clone()", "a[3:].add_(1)[:0].clone()"],
)  # fmt: skip
@pytest.mark.usefixtures("graphs_at_once")
def test_ops_allocate_only_their_results(text: str) -> None:
    names = {
        "ft": ft,
        "a": ft.randn(SIZE, SIZE),
        "b": ft.randn(SIZE, SIZE),
        "i": ft.arange(SIZE),
        "j": ft.zeros(SIZE, SIZE, dtype=ft.int64),
    }
    most, results = peak(lambda: eval(text, names))
    assert most <= 1.05 * results + 4096


def test_memory_of_sorting_is_as_documented() -> None:
    """Radix sort of long rows takes twice 8 bytes for an element with its index, or twice the
    values."""
    n = 1 << 18
    x = ft.randn(n)
    most, results = peak(x.sort)
    assert most - results <= 1.05 * 2 * (4 + 4) * n + (2 << 20)
    most, results = peak(x.msort)
    assert most - results <= 1.05 * 2 * 4 * n + (2 << 20)
