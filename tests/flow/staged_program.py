"""What the tests of kernels of stages run: "export FOLDER", "build FOLDER", "run", which prints a
digest of each result, and "stuck"."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.kernels.staged import Fifo, Stages


def softmax(x: ft.Tensor) -> ft.Tensor:
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def several(x: ft.Tensor, w: ft.Tensor) -> tuple[ft.Tensor, ...]:
    y = (x * w).to(ft.float16)
    return y > 0, x.argmax(-1), ft.complex(x, w * 0).abs().amax(-1) + 1, y


def shallow(x: ft.Tensor) -> ft.Tensor:
    return x - x.amin(-1, keepdim=True)


def distances(x: ft.Tensor, w: ft.Tensor) -> ft.Tensor:
    d = x[:, None] - w
    return (d * d).amax(-1)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


# Rows of many beats and a part of one; of fewer beats than a fold has states; in blocks; of whole
# beats. The last number is of rows of a second operand, 0 for one that all share.
CASES: list[tuple[Callable[..., Any], int, int | None]] = [
    (softmax, 150, None), (several, 20, 0), (distances, 32, 5), (shallow, 640, None),
]  # fmt: skip


def given(length: int, rows: int, more: int | None) -> list[np.ndarray]:
    if more is None:
        return [drawn(rows, length)]
    return [drawn(rows, length), drawn(more, length) if more else drawn(length)]


def wanted(name: str, x: np.ndarray, w: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """By NumPy."""
    if name == "softmax":
        e = np.exp((x - x.max(-1, keepdims=True)).astype(np.float64))
        return ((e / e.sum(-1, keepdims=True)).astype(np.float32),)
    assert w is not None
    if name == "distances":
        return (((x[:, None] - w) ** 2).max(-1),)
    y = (x * w).astype(np.float16)
    return y > 0, x.argmax(-1), np.abs(x).max(-1) + 1, y


def export(folder: str) -> None:
    for function, length, more in CASES:
        arguments = [ft.from_numpy(a) for a in given(length, 3, more)]
        print(ft.jit(function).export(f"{folder}/{function.__name__}", *arguments).entry)


def build(folder: str) -> None:
    """One image of all; the FIFOs of `shallow` hold 4 beats where 104 are needed."""
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.inventory.read import expand, read
    from ftensor.toolchain.jobs.progress import Quiet
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as made

    whole = Stages.fifos.func

    def fifos(self: Stages) -> tuple[Fifo, ...]:
        found: tuple[Fifo, ...] = whole(self)
        return tuple(replace(f, depth=4) for f in found) if self.key.length == 640 else found

    Stages.fifos = cached_property(fifos)  # type: ignore[assignment]
    Stages.fifos.__set_name__(Stages, "fifos")
    groups = [g for f, _, _ in CASES for g in expand(read(f"{folder}/{f.__name__}.toml"))]
    done = made(Request("staged", tuple(groups), "", Path(folder)), CSim(), Quiet())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run() -> None:
    for function, length, more in CASES[:3]:
        jitted = ft.jit(function)
        for rows in (2, 3, 7) if more else (1, 2, 7, length):
            arrays = given(length, rows, more)
            arguments = [ft.from_numpy(a) for a in arrays]
            (kernel,) = jitted.graph(*arguments).kernels
            assert kernel.startswith("staged "), kernel
            got = jitted(*arguments)
            for a, b in zip(
                got if isinstance(got, tuple) else (got,),
                wanted(function.__name__, *arrays), strict=True,
            ):  # fmt: skip
                if function is softmax:
                    np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-9)
                else:
                    np.testing.assert_array_equal(a.numpy(), b)
                print(function.__name__, rows, sha256(a.numpy().tobytes()).hexdigest())


def stuck() -> None:
    """The kernel whose FIFOs are too shallow is reported, again and again, and others go on."""
    x = ft.from_numpy(drawn(3, 640))
    for _ in range(2):
        try:
            ft.jit(shallow)(x)
        except RuntimeError as error:
            print(error)
    run()


if __name__ == "__main__":
    word, *rest = sys.argv[1:] or ["run"]
    {"export": export, "build": build, "run": run, "stuck": stuck}[word](*rest)
