"""The source `exports` of the fuzz: random graphs of stages with windows, filters, transforms and
folds, against eager ops, and their exported files, read back.

A function computes on two planes. In C simulation it is jitted as for a board. Its results must be
those of the eager function within the tolerance of sums in another order, and the inventory and
the graphs that `export` writes must be read without an error.

Planes that are as many rows as elements are left out: a shape does not say which dim is the row.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import warnings
from typing import Any

import numpy as np

import ftensor as ft
from ftensor._device import default_backend
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.trace import recording

from .fuzz_estimates import simulated

EACH = (
    "{a} + {b}",
    "{a} * {b} * 0.5",
    "{a} - 0.25",
    "ft.maximum({a}, {b})",
    "{a}.abs()",
    "ft.where({a} > {b}, {a}, {b})",
)
ROWS = ("{a} - {a}.mean(-1, keepdim=True)", "{a} * 0.1 + {b}.amax(-1, keepdim=True)", "ft.fft.fft({a}).abs() * 0.1")
# Neighbours in rows and columns: of padded planes, of parts, of taps that are a part of `taps`.
WINDOWS = (
    "pad({a}, (1, 1))[:, 2:] + {b}",
    "pad({a}, (0, 2))[:, 2:] - {a}",
    "pad({a}, (2, 1))[:, :-3] * 0.5",
    "pad({a}, (1, 1, 1, 1))[2:, 1:-1] + {b}",
    "pad({a}, (0, 0, 1, 0))[:-1] + {a}",
    "conv1d({a}[:, None], taps[None, None, :3], padding=1)[:, 0]",
    "conv1d({a}[:, None], taps[None, None, :7], padding=3)[:, 0] + {b}",
    "conv1d({a}[:, None], taps[None, None, 1:6], padding=2)[:, 0]",
    "written({a}, {b})",
)
FUNCTIONS = """
pad, conv1d = ft.nn.functional.pad, ft.nn.functional.conv1d
def written(a, b):
    plane = a.clone()
    plane[1:-1, 1:-1] += 0.5 * b[2:, 1:-1] - a[1:-1, :-2]
    return plane
"""


def program(draw: random.Random) -> str:
    """Returns the text of `chain` and of the arguments' shape and seed."""
    rows, length = draw.randrange(3, 14), draw.choice((16, 20, 32, 33, 64, 128))
    names, body = ["x", "w"], []
    for k in range(draw.randrange(2, 7)):
        kind = draw.random()
        text = draw.choice(WINDOWS if kind < 0.45 else ROWS[: 2 + (length & length - 1 == 0)] if kind < 0.6 else EACH)
        body.append(f"v{k} = {text.format(a=draw.choice(names[-2:]), b=draw.choice(names))}")
        names.append(f"v{k}")
    results = [names[-1], *draw.sample(names[2:-1], min(len(names) - 3, draw.randrange(2)))]
    if draw.random() < 0.3:
        results.append(f"{names[-1]}.amax(-1)")
    text = ["def chain(x, w, taps):", *(f"    {line}" for line in body), f"    return ({', '.join(results)},)"]
    return "\n".join([*text, f"rows, length, seed = {rows}, {length}, {draw.randrange(1 << 20)}"])


def difference(text: str, folder: str) -> str:
    """Returns how the graph on a board differs from the ops, or why its files can't be read; "" if
    neither is so."""
    scope: dict[str, Any] = {"ft": ft}
    exec(FUNCTIONS + text, scope)
    numbers = np.random.default_rng(scope["seed"])
    shapes = ((scope["rows"], scope["length"]), (scope["rows"], scope["length"]), (8,))
    with simulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operands = [ft.from_numpy(numbers.standard_normal(shape).astype(np.float32)) for shape in shapes]
        wanted = [t.numpy().copy() for t in scope["chain"](*operands)]
        jitted = ft.jit(scope["chain"])
        expand(read(jitted.export(f"{folder}/graph", *operands).inventory))
        with recording(1):
            report = jitted.graph(*operands).report()
            got = [t.numpy().copy() for t in jitted(*operands)]
        default_backend().kernels.clear()
    size = max(float(abs(a).max()) for a in wanted) + 1
    differing = [
        k for k, (a, b) in enumerate(zip(wanted, got, strict=True)) if not np.allclose(a, b, 1e-4, 1e-5 * size)
    ]
    return f"results {differing} differ:\n{report}" if differing else ""


def trial(draw: random.Random) -> str:
    """Returns a difference, and the program that has it; "" if there is none."""
    if shutil.which("g++") is None:
        return ""
    text = program(draw)
    try:
        with tempfile.TemporaryDirectory() as folder:
            problem = difference(text, folder)
    except ft.GraphError:
        return ""  # `export` names the op that no graph of a board has
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        problem = f"{type(error).__name__}: {error}"
    return f"{problem}\n{text}" if problem else ""
