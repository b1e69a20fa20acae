"""Graphs that the tests of Intel's images build as kernels of stages. `python -m
tests.flow.intel_graphs` runs them with any number of rows, on a device whose image has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.graph.partition import Exported

from .interrupting import calls_after_interrupts
from .staged_program import distances, drawn, wanted

LANES, STATES = 8, 8  # indices are int64, eight of which fill a port


def folded(x: ft.Tensor, w: ft.Tensor) -> tuple[ft.Tensor, ...]:
    """A sum whose bits depend on its order, elements that depend on it, and every kind of port and
    value."""
    y = x * w
    s = y.sum(-1, keepdim=True)
    return y - s, (s * 0.5).squeeze(-1).to(ft.bfloat16), y > s, y.argmin(-1), y.to(ft.float16)


# Rows of more beats than a reduction has states, and of a part of one; rows in blocks.
CASES: list[tuple[Callable[..., Any], int, int]] = [(folded, 150, 0), (distances, 32, 5)]


def operands(k: int, rows: int) -> list[np.ndarray]:
    """Returns the arguments of a case."""
    _, length, more = CASES[k]
    return [drawn(rows, length), drawn(*([more] if more else []), length)]


def export(folder: Path, k: int) -> Exported:
    """Exports the files of a case."""
    arguments = [ft.from_numpy(a) for a in operands(k, 3)]
    return ft.jit(CASES[k][0]).export(str(folder / CASES[k][0].__name__), *arguments)


def tables(folder: Path) -> str:
    """Returns the inventory tables of all cases; writes their files."""
    files = [export(folder, k) for k in range(len(CASES))]
    return "\n".join(f'[[graph]]\nfile = "{one.graph.name}"\n' for one in files)


def in_states(y: np.ndarray) -> np.ndarray:
    """Sums rows in the order of the stages: beat k is added to state k % 8, a tree adds the states
    after a row's last beats, and a tree adds the lanes."""
    beats = -(-y.shape[1] // LANES)
    filled = np.zeros((y.shape[0], beats * LANES), np.float32)
    filled[:, : y.shape[1]] = y
    totals = [np.zeros((y.shape[0], LANES), np.float32)] * (STATES + beats)
    for k in range(beats):
        totals[STATES + k] = totals[k] + filled[:, k * LANES : (k + 1) * LANES]
    states = totals[-min(STATES, beats) :]
    for half in (4, 2, 1):
        for k in range(half):
            if k + half < len(states):
                states[k] = states[k] + states[k + half]
    sums = states[0]
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    return sums[:, 0]


def expected(name: str, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
    """Returns a case's results computed by NumPy."""
    if name != "folded":
        return wanted(name, x, w)
    y = x * w
    s = in_states(y)[:, None]
    bits = (s[:, 0] * np.float32(0.5)).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to nearest, ties to even
    return y - s, rounded.astype(np.uint16).view(np.int16), y > s, y.argmin(-1), y.astype("f2")


def run() -> None:
    """Runs each case with several numbers of rows, some of which fill a channel more than once."""
    for k, (function, _, _) in enumerate(CASES):
        jitted = ft.jit(function)
        for rows in (2, 3, 7, 400):
            arrays = operands(k, rows)
            arguments = [ft.from_numpy(a) for a in arrays]
            (kernel,) = jitted.graph(*arguments).kernels
            assert kernel.startswith("staged "), kernel
            got = jitted(*arguments)
            got = got if isinstance(got, tuple) else (got,)
            for a, b in zip(got, expected(function.__name__, *arrays), strict=True):
                a = a.view(ft.int16) if a.dtype is ft.bfloat16 else a
                np.testing.assert_array_equal(a.numpy(), b, err_msg=f"{function.__name__} {rows}")
    print("equal")


def signalled() -> None:
    """Sends Ctrl-C while the kernels of a graph are enqueued."""
    rows = 400  # some of these fill a channel more than once
    arguments = [ft.from_numpy(a) for a in operands(1, rows)]
    jitted = ft.jit(CASES[1][0])
    print(set(calls_after_interrupts(lambda: jitted(*arguments))))


if __name__ == "__main__":
    run()
