"""A program of docs/figures.md: data, and a function for torch and one for ftensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Data = dict[str, np.ndarray]
# Takes the library, and its tensors by name.
Function = Callable[[Any, dict[str, Any]], Any]


@dataclass(frozen=True)
class Program:
    """A program's data by name, the names of its arguments (the others are fixed), and its
    functions."""

    data: Data
    arguments: tuple[str, ...]
    torch: Function
    ftensor: Function


@dataclass(frozen=True)
class Maker:
    """A program's title, and the function that makes it."""

    title: str
    make: Callable[[], Program]

    def __call__(self) -> Program:
        return self.make()


def same(data: Data, function: Function, arguments: tuple[str, ...] = ()) -> Program:
    """Returns a program with one function for both libraries."""
    return Program(data, arguments or tuple(data), function, function)


def normal(*shape: int) -> np.ndarray:
    """Returns normal float32 numbers. The shape is the seed."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
