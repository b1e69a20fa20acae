"""Calls that ftensor computes on an image without kernels, and torch computes for comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def arange(m: Any, *shape: int, dtype: str = "float32") -> Any:
    """Returns 0.0, 0.5, 1.0, ... as a tensor of either library."""
    values = np.arange(int(np.prod(shape))).reshape(shape) / (1 if "int" in dtype else 2)
    return m.from_numpy(values.astype(dtype)).clone()


def written(target: Any, action: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Returns the tensor after a function has changed it, and the function's result."""
    result = action(target)
    return target, result


# The computation by the library, then the ops that must have fallen back.
CASES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "exp": (lambda m: arange(m, 3, 4).exp(), "exp"),
    "of a transposed": (lambda m: arange(m, 3, 4).t().exp(), "exp"),
    "of a broadcast": (lambda m: arange(m, 3, 1) + arange(m, 4), "add"),
    "of 0-d": (lambda m: arange(m, 3, 4)[1, 2].exp(), "exp"),
    "of none": (lambda m: arange(m, 0, 4).sum(0) + 1, "add"),
    "with a number": (lambda m: 2 - arange(m, 5) * 3, "sub"),
    "of bool and half": (lambda m: (arange(m, 9).half() > 1, arange(m, 9).half() * 3), "copy"),
    "of complex": (lambda m: m.complex(arange(m, 5), arange(m, 5)) * 2j, "mul"),
    "of int64": (lambda m: arange(m, 5, dtype="int64") // 3, "floor_divide"),
    "two results": (lambda m: arange(m, 3, 4).max(1), "max"),
    "in place": (lambda m: written(arange(m, 3, 4), lambda t: t.exp_()), "exp"),
    "in place, a column": (lambda m: written(arange(m, 40, 4), lambda t: t[:, 1].exp_()), "exp"),
    "in place, a slice": (lambda m: written(arange(m, 9), lambda t: t[2:7:2].mul_(-1)), "mul"),
    "in place, rows": (lambda m: written(arange(m, 30, 4), lambda t: t[::2, 1:3].neg_()), "neg"),
    "in place, of itself": (lambda m: written(arange(m, 4, 4), lambda t: t[0].add_(t[3])), "add"),
    "a number written": (lambda m: written(arange(m, 4, 4), lambda t: t[:, 2].fill_(7)), "fill"),
    "a slice written": (lambda m: written(arange(m, 4, 4), lambda t: t.__setitem__(slice(1, 3), 5.0)), "fill"),
    "out=": (lambda m: written(m.empty(3, 4), lambda t: m.exp(arange(m, 3, 4), out=t)), "exp"),
    "out= resized": (lambda m: written(m.empty(0), lambda t: m.exp(arange(m, 3), out=t)), "exp"),
    "out= strided": (lambda m: written(arange(m, 3, 8), lambda t: m.exp(arange(m, 3, 4), out=t[:, ::2])), "exp"),
    "sum": (lambda m: arange(m, 3, 4).sum(), "sum"),
    "mean of a dim": (lambda m: arange(m, 3, 4, 5).mean((0, 2), keepdim=True), "mean"),
    "argmax": (lambda m: arange(m, 3, 4).argmax(1), "argmax"),
    "softmax": (lambda m: arange(m, 3, 4).softmax(1), "softmax"),
    "any": (lambda m: (arange(m, 3, 4) > 5).any(1), "any"),
    "matmul": (lambda m: arange(m, 3, 4) @ arange(m, 4, 2), "matmul"),
    "a larger matmul": (lambda m: arange(m, 130, 120) @ arange(m, 120, 110), "matmul"),
    "batched": (lambda m: arange(m, 2, 3, 4) @ arange(m, 4, 2), "matmul"),
    "addmm": (lambda m: m.addmm(arange(m, 2), arange(m, 3, 4), arange(m, 4, 2), beta=2), "matmul"),
    "addmm_": (
        lambda m: written(arange(m, 3, 5)[:, 1:4], lambda t: t.addmm_(arange(m, 3, 4), arange(m, 4, 3))),
        "matmul",
    ),
    "indexed": (lambda m: arange(m, 5, 3)[m.tensor([4, 0, -1])], "copy"),
    "indexed twice": (lambda m: arange(m, 5, 3)[m.tensor([4, 0]), m.tensor([1, 2])], "copy"),
    "gather": (lambda m: arange(m, 2, 3).gather(1, m.tensor([[0, 2], [1, 1]])), "copy"),
    "written by index": (lambda m: written(arange(m, 9), lambda t: t.__setitem__(m.tensor([1, -1]), 0.25)), "copy"),
    "index_add_": (
        lambda m: written(arange(m, 4, 2), lambda t: t.index_add_(0, m.tensor([1, 1, 3]), arange(m, 3, 2))),
        "add_at",
    ),
    "scatter_": (lambda m: written(arange(m, 2, 3), lambda t: t.scatter_(1, m.tensor([[2], [0]]), -1.0)), "copy"),
    "nonzero": (lambda m: (arange(m, 3, 4) % 2).nonzero(), "compact"),
    "nonzero of none": (lambda m: m.zeros(3).nonzero(), "compact"),
    "masked": (lambda m: arange(m, 3, 4)[arange(m, 3, 4) > 2], "compact"),
    "cumsum": (lambda m: arange(m, 3, 4).cumsum(0), "cumsum"),
    "cummax": (lambda m: arange(m, 3, 4).cummax(1)[1], "cummax"),
    "sort": (lambda m: (arange(m, 3, 4) % 5).sort(0)[0], "sort"),
    "searchsorted": (lambda m: m.searchsorted(arange(m, 4), arange(m, 3) + 0.5), "search"),
    "written by mask": (lambda m: written(arange(m, 9), lambda t: t.__setitem__(t > 2, 9.0)), "merge"),
    "where": (lambda m: m.where(arange(m, 4) > 1, arange(m, 4), -1.0), "where"),
    "cat": (lambda m: m.cat([arange(m, 2, 3), arange(m, 1, 3)]), "copy"),
    "stack": (lambda m: m.stack([arange(m, 3), arange(m, 3)], 1), "copy"),
    "contiguous": (lambda m: arange(m, 3, 4).t().contiguous(), "copy"),
    "flip": (lambda m: arange(m, 3, 4).flip(1), "copy"),
    "to": (lambda m: arange(m, 3, 4).t().to(m.int32), "copy"),
    "to cpu": (lambda m: arange(m, 3, 4)[1:].to("cpu") * 1, "mul"),
    "made": (lambda m: (m.arange(5), m.zeros(2, 2), m.eye(3), m.linspace(0, 1, 5)), "fill"),
}


def same(got: Any, want: Any) -> None:
    """Asserts equal values, dtype and strides, on the device of the arguments."""
    if isinstance(want, tuple):
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    if want is None:
        assert got is None
        return
    assert got.shape == want.shape
    assert str(got.dtype).split(".")[-1] == str(want.dtype).split(".")[-1]
    assert got.stride() == want.stride() or not want.numel()
    np.testing.assert_allclose(got.numpy(force=True), want.numpy(), rtol=1e-5)
