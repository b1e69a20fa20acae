"""Any nonzero byte of a bool tensor is true, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft

BYTES = np.resize(np.array([0, 1, 2, 255, 128, 0, 4], np.uint8), 1000)

# a: the bool tensor of these bytes, b: one of bytes 0 and 1, c: floats.
OPS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "sum": lambda m, a, b, c: a.sum(),
    "sum_rows": lambda m, a, b, c: a.reshape(20, 50).sum(0),
    "sum_columns": lambda m, a, b, c: a.reshape(20, 50).sum(1),
    "count_nonzero": lambda m, a, b, c: m.count_nonzero(a),
    "prod": lambda m, a, b, c: a[1:5].prod(),
    "any": lambda m, a, b, c: a.reshape(200, 5).any(1),
    "all": lambda m, a, b, c: a[1:5].all(),
    "amax": lambda m, a, b, c: a.amax(),
    "invert": lambda m, a, b, c: ~a,
    "eq": lambda m, a, b, c: a == b,
    "eq_true": lambda m, a, b, c: a == True,  # noqa: E712
    "lt": lambda m, a, b, c: a < b,
    "and": lambda m, a, b, c: a & b,
    "or": lambda m, a, b, c: a | b,
    "xor": lambda m, a, b, c: a ^ b,
    "strided": lambda m, a, b, c: a[::3] ^ b[::3],
    "float32": lambda m, a, b, c: a.to(m.float32),
    "float16": lambda m, a, b, c: a.to(m.float16),
    "int64": lambda m, a, b, c: a.to(m.int64),
    "complex64": lambda m, a, b, c: a.to(m.complex64),
    "add": lambda m, a, b, c: a + b,
    "mul": lambda m, a, b, c: a * c,
    "where": lambda m, a, b, c: m.where(a, c, -c),
    "masked_fill": lambda m, a, b, c: c.masked_fill(a, 3.0),
    "masked_select": lambda m, a, b, c: c.masked_select(a),
    "index": lambda m, a, b, c: c[a],
    "nonzero": lambda m, a, b, c: a.nonzero(),
    "gather": lambda m, a, b, c: a[m.tensor([0, 3, 2])] ^ b[:3],
    "item": lambda m, a, b, c: [int(a[3]), float(a[2]), bool(a[0]), a[3].item()],
    "tolist": lambda m, a, b, c: a.tolist(),
}


@pytest.mark.parametrize("name", OPS)
def test_any_nonzero_byte_is_true(name: str) -> None:
    proper, floats = BYTES[::-1] % 2 == 1, np.linspace(-1, 1, 1000, dtype=np.float32)
    results = []
    for m, make in ((ft, ft.from_numpy), (torch, torch.from_numpy)):
        a = make(BYTES.copy()).view(m.bool)
        result = OPS[name](m, a, make(proper.copy()), make(floats))
        results.append(result.tolist() if hasattr(result, "tolist") else result)
    assert results[0] == results[1]
