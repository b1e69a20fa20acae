"""Program of the tests of staged kernels: "export FOLDER", "build FOLDER", "run", which prints a
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


def detector(x: ft.Tensor, h: ft.Tensor) -> tuple[ft.Tensor, ...]:
    y = ft.fft.ifft(ft.fft.fft(x) * h)
    return (y.abs().square() > 0.5).sum(-1), x - y


def spectrum(x: ft.Tensor) -> ft.Tensor:
    return ft.fft.fft(x, norm="ortho")


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


# Rows of many beats and a part of one; of fewer beats than a reduction has states; in blocks;
# transformed rows, also of fewer beats than lanes; of whole beats. The last number counts the rows
# of a second operand, 0 if all share one row. The last two cases have FIFOs that are too shallow.
CASES: list[tuple[Callable[..., Any], int, int | None]] = [
    (softmax, 150, None),
    (several, 20, 0),
    (distances, 32, 5),
    (detector, 64, 0),
    (spectrum, 16, None),
    (shallow, 640, None),
    (detector, 128, 0),
]
SHALLOW = 2
OF_PAIRS = (detector, spectrum)


def file(k: int) -> str:
    """Returns the base name of a case's files."""
    function, length, _ = CASES[k]
    return f"{function.__name__}_{length}"


def operands(k: int, rows: int) -> list[np.ndarray]:
    """Returns the arguments of a case."""
    function, length, more = CASES[k]
    shapes = [(rows, length)]
    if more is not None:
        shapes.append((more, length) if more else (length,))
    if function in OF_PAIRS:
        return [drawn(*shape[:-1], 2 * length).view(np.complex64) for shape in shapes]
    return [drawn(*shape) for shape in shapes]


def wanted(name: str, x: np.ndarray, w: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """Returns a case's results computed by NumPy."""
    if name == "softmax":
        e = np.exp((x - x.max(-1, keepdims=True)).astype(np.float64))
        return ((e / e.sum(-1, keepdims=True)).astype(np.float32),)
    if name == "spectrum":
        return (np.fft.fft(x.astype(np.complex128), norm="ortho"),)
    assert w is not None
    if name == "detector":
        z = np.fft.ifft(np.fft.fft(x.astype(np.complex128)) * w)
        return (abs(z) ** 2 > 0.5).sum(-1), x - z
    if name == "distances":
        return (((x[:, None] - w) ** 2).max(-1),)
    y = (x * w).astype(np.float16)
    return y > 0, x.argmax(-1), np.abs(x).max(-1) + 1, y


def export(folder: str) -> None:
    for k, (function, _, _) in enumerate(CASES):
        arguments = [ft.from_numpy(a) for a in operands(k, 3)]
        print(ft.jit(function).export(f"{folder}/{file(k)}", *arguments).entry)


def build(folder: str) -> None:
    """Builds one image of all cases. The FIFOs of the last hold 4 beats where at least 104 are
    needed."""
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.inventory.read import expand, read
    from ftensor.toolchain.jobs.progress import Progress
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as make

    whole, those = Stages.fifos.func, [length for _, length, _ in CASES[-SHALLOW:]]

    def fifos(self: Stages) -> tuple[Fifo, ...]:
        planned: tuple[Fifo, ...] = whole(self)
        return tuple(replace(f, depth=4) for f in planned) if self.key.length in those else planned

    Stages.fifos = cached_property(fifos)  # type: ignore[assignment]
    Stages.fifos.__set_name__(Stages, "fifos")
    groups = [g for k in range(len(CASES)) for g in expand(read(f"{folder}/{file(k)}.toml"))]
    done = make(Request("staged", tuple(groups), "", Path(folder)), CSim(), Progress())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run() -> None:
    for k, (function, length, more) in enumerate(CASES[:-SHALLOW]):
        jitted = ft.jit(function)
        for rows in (2, 3, 7) if more else (1, 2, 7, length):
            arrays = operands(k, rows)
            arguments = [ft.from_numpy(a) for a in arrays]
            (kernel,) = jitted.graph(*arguments).kernels
            assert kernel.startswith("staged "), kernel
            got = jitted(*arguments)
            for a, b in zip(got if isinstance(got, tuple) else (got,), wanted(function.__name__, *arrays), strict=True):
                if a.dtype is ft.complex64:
                    np.testing.assert_allclose(a.numpy(), b, atol=1e-6 * abs(b).max())
                elif function is softmax:
                    np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-9)
                else:
                    np.testing.assert_array_equal(a.numpy(), b)
                print(function.__name__, rows, sha256(a.numpy().tobytes()).hexdigest())


def stuck() -> None:
    """Checks that kernels with too shallow FIFOs are reported repeatedly, and that other kernels
    continue."""
    for k in range(len(CASES))[-SHALLOW:]:
        arguments = [ft.from_numpy(a) for a in operands(k, 3)]
        for _ in range(2):
            try:
                ft.jit(CASES[k][0])(*arguments)
            except RuntimeError as error:
                print(error)
    run()


if __name__ == "__main__":
    word, *rest = sys.argv[1:] or ["run"]
    {"export": export, "build": build, "run": run, "stuck": stuck}[word](*rest)
