"""Tensors to exchange with torch and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from ftensor._device import default_backend

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
NUMPY_DTYPES = tuple(name for name in DTYPES if name != "bfloat16")

shared_memory = pytest.mark.skipif(not default_backend().host_shared, reason="the device has memory of its own")


def numbered(dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Returns a torch tensor whose elements are as distinct as the dtype allows."""
    count = int(np.prod(shape))
    return torch.arange(count).remainder(2 if dtype == "bool" else 127).to(getattr(torch, dtype)).reshape(shape)


@st.composite
def torch_tensors(draw: st.DrawFn, dtypes: tuple[str, ...] = DTYPES) -> torch.Tensor:
    """Draws any dtype with 0 to 4 dims, also empty, strided, permuted, offset and expanded
    tensors."""
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    steps = [draw(st.integers(1, 3)) for _ in shape]
    starts = [draw(st.integers(0, 2)) for _ in shape]
    big = tuple(s + n * k for n, k, s in zip(shape, steps, starts))
    t = numbered(draw(st.sampled_from(dtypes)), big)
    for dim, (n, k, s) in enumerate(zip(shape, steps, starts)):
        t = t[(slice(None),) * dim + (slice(s, s + n * k, k),)]
    t = t.permute(draw(st.permutations(range(len(shape)))))
    if draw(st.booleans()):
        t = t[None].expand(draw(st.integers(0, 3)), *t.shape)
    return t


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Returns whether dtype, shape and all elements are equal."""
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
