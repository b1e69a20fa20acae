"""The order of sorted elements compared with torch's and NumPy's: NaN, both zeros, infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import ftensor as ft

SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45, 2.0], np.float32)
LENGTHS = (1, 2, 17, 100, 1000, 70_001)

# Calls whose results have torch's bits, with indices where these are defined: stable sorts.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sort": lambda lib, x: lib.sort(x, stable=True),
    "sort, falling": lambda lib, x: lib.sort(x, stable=True, descending=True),
    "argsort": lambda lib, x: (lib.argsort(x, stable=True),),
    "argsort, falling": lambda lib, x: (lib.argsort(x, stable=True, descending=True),),
    "topk": lambda lib, x: (lib.topk(x, min(9, x.shape[0])).values,),
    "topk, smallest": lambda lib, x: (lib.topk(x, min(9, x.shape[0]), largest=False).values,),
    "unique": lambda lib, x: _unique(*lib.unique(x, return_inverse=True, return_counts=True)),
}


def _unique(values: Any, places: Any, counts: Any) -> Any:
    """Returns results of `unique` in a comparable form. NaNs differ from each other, and torch
    sorts them in any order, so the element at each index is compared."""
    return values, values[places], counts


def same(mine: Any, theirs: Any) -> bool:
    """Returns whether two results are equal. A NaN equals a NaN, and zeros are equal whatever their
    sign."""
    return all(np.array_equal(np.asarray(a.cpu().numpy()), b.numpy(), equal_nan=True) for a, b in zip(mine, theirs))


def disagreements() -> list[str]:
    """Returns a line for each call that differs."""
    rng, found = np.random.default_rng(13), []
    for length in LENGTHS:
        x = rng.choice(SPECIAL, length)
        for name, call in CALLS.items():
            if not same(call(ft, ft.tensor(x)), call(torch, torch.from_numpy(x))):
                found.append(f"{name} of {length} elements differs from torch's")
        places = ft.argsort(ft.tensor(x), stable=True).numpy()
        if not np.array_equal(places, np.argsort(x, kind="stable")):
            found.append(f"argsort of {length} elements differs from NumPy's")
    return found
