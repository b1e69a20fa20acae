"""Gradients of a convolution's weights and bias, computed in one launch if planes are small."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

from ftensor._device import default_backend  # noqa: E402
from ftensor.ops.gradients.spatial import weight_gradient  # noqa: E402

from ..oracle import ours, same  # noqa: E402
from .processors import processors  # noqa: E402

# Rows and filters that fill panels and vectors or not. Positions summed in several parts, positions
# of several samples at once, and rows in parts. Strides that skip some of the input.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "one channel": ((19, 1, 8, 8), (16, 1, 3, 3), {"padding": (1, 1)}),
    "rows of 4": ((37, 16, 4, 4), (32, 16, 3, 3), {"padding": (1, 1)}),
    "many positions": ((3, 2, 19, 17), (9, 2, 3, 2), {}),
    "many rows": ((5, 40, 5, 4), (20, 40, 3, 3), {"padding": (1, 0)}),
    "stride, dilation": ((4, 3, 14, 13), (8, 3, 2, 3), {"stride": (3, 2), "dilation": (1, 2)}),
    "groups": ((4, 6, 7, 9), (18, 3, 3, 3), {"groups": 2, "padding": (2, 1)}),
    "few filters": ((4, 3, 9, 9), (2, 3, 3, 3), {}),
    "1-d": ((9, 5, 30), (7, 5, 5), {"stride": (2,), "padding": (3,)}),
    "3-d": ((2, 3, 5, 6, 4), (6, 3, 3, 2, 2), {"padding": (1, 0, 1)}),
}


def check(case: str, dtype: torch.dtype = torch.float32, last: bool = False) -> None:
    """Compares both gradients with torch's, whose sums have another order."""
    shape, kernel, more = CASES[case]
    n = len(shape) - 2
    where = [more.get(word, (k,) * n) for word, k in (("stride", 1), ("padding", 0), ("dilation", 1))]
    groups = more.get("groups", 1)
    torch.manual_seed(0)
    x, weight = torch.randn(shape, dtype=dtype), torch.randn(kernel, dtype=dtype)
    if last:
        x = x.to(memory_format=torch.channels_last)
    result = getattr(torch, f"conv{n}d")(x, weight, None, *where, groups)
    grad = torch.randn(result.shape, dtype=dtype)
    theirs = torch.ops.aten.convolution_backward(
        grad, x, weight, [kernel[0]], *where, False, [0] * n, groups, [False, True, True]
    )
    gradient, sums = weight_gradient(ours(grad), ours(x), kernel, *where, groups, True)
    same(gradient, theirs[1].contiguous(), rtol=1e-4, atol=1e-3)
    if sums is not None:
        same(sums, theirs[2], rtol=1e-4, atol=1e-3)


CORE = {"one channel", "rows of 4", "many positions", "groups"}


@pytest.mark.parametrize("case", [pytest.param(c, marks=[pytest.mark.core] if c in CORE else []) for c in CASES])
def test_gradients_of_weights(case: str) -> None:
    for processor in processors():
        with processor:
            check(case)


@pytest.mark.parametrize("case", ["one channel", "many rows"])
def test_other_layouts_and_dtypes(case: str) -> None:
    check(case, last=True)
    if default_backend().properties.has_float64:
        check(case, torch.float64)


def test_samples_are_split_between_units() -> None:
    backend = default_backend()
    with backend.preparing_for(backend.target, 8, backend.host_shared):
        check("one channel")
        check("rows of 4")
