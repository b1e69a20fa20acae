"""Program of the tests of windows of rows as stages: "export FOLDER", "build FOLDER", "run",
which prints a digest of each result, and "banks", which also prints the banks of each operand to
stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.kernels.staged import StagedKey
from ftensor.toolchain.group import KernelGroup


@dataclass(frozen=True)
class Stencil:
    """A function of planes of `columns` elements, and their NumPy dtype. Each function also works
    on NumPy arrays."""

    name: str
    columns: int
    function: Callable[..., Any]
    dtypes: tuple[str, ...] = ("f4",)
    narrower: int = 0  # how often the number of lanes is halved
    copies: int = 0  # arguments that are written

    def planes(self, rows: int) -> list[np.ndarray]:
        random = np.random.default_rng(self.columns + rows)
        drawn = [random.integers(-50, 50, (rows, self.columns)) for _ in self.dtypes]
        return [(a / 8 if dtype[0] == "f" else a).astype(dtype) for a, dtype in zip(drawn, self.dtypes, strict=True)]

    @cached_property
    def jitted(self) -> Any:
        function = ft.jit(lambda *planes: self.function(*planes))
        function.name = self.name
        return function


def heat(p: Any) -> Any:
    for _ in range(3):
        inner = p[1:-1, 1:-1]
        p = inner + 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * inner)
    return p


def far(p: Any, q: Any) -> Any:
    """Neighbours beyond a beat, several rows away; a plane that is not shifted; two results."""
    gap = p[:-5, :-37] - p[5:, 37:]
    return gap * q[:-5, :-37], gap + p[3:-2, 20:-17]


def erode(p: Any) -> Any:
    """Only the columns differ, so no rows are buffered."""
    return (p[:, :-2] & p[:, 1:-1]) | p[:, 2:]


def below(p: Any) -> Any:
    """Only the rows differ, so results are whole rows."""
    p = p * 2
    return p[2:] - p[:-2]


def heat_in_place(p: Any) -> Any:
    """The edges are unchanged."""
    p = p + 0
    for _ in range(3):
        p[1:-1, 1:-1] += 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * p[1:-1, 1:-1])
    return p


def written(p: Any) -> Any:
    """Writes the argument, and the result is a part of it."""
    for _ in range(2):
        p[1:-1, 1:-1] += 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1])
    return p[1:]


def parts(p: Any, q: Any) -> Any:
    """Writes to other parts of two planes: one value, neighbours below and before, a view of the
    same plane."""
    a, b = p + q, q * 2
    a[2:-4, 40:] = 7
    b[:-3, :-5] = a[3:, 5:] + b[:-3, :-5]
    a[4:, 3:] = a[:-4, :-3] + b[4:, 1:-2]
    return a + b, b - a


def edged(p: Any) -> Any:
    """Fills a plane with one value and writes a part of it."""
    a = p * 0 + 3
    a[1:, 1:-2] = p[:-1, 3:] - p[1:, 1:-2]
    return a


STENCILS = (
    Stencil("heat", 64, heat),
    Stencil("far", 80, far, ("f4", "f4")),
    Stencil("erode", 96, erode, ("i4",), narrower=1),
    Stencil("below", 32, below, ("i2",)),
    Stencil("odd", 36, heat),  # four lanes
    Stencil("heat_in_place", 64, heat_in_place),
    Stencil("written", 64, written, copies=1),
    Stencil("parts", 80, parts, ("f4", "f4"), narrower=1),
    Stencil("edged", 24, edged, ("i2",)),
)


# Fewer rows than units, a remainder, and enough rows for slabs.
ROWS = (12, 27, 1030)


def key_of(stencil: Stencil, folder: str) -> StagedKey:
    from ftensor.toolchain.inventory.read import expand, read

    (group,) = expand(read(f"{folder}/{stencil.name}.toml"))
    return group.members[0]


def arguments(stencil: Stencil, rows: int) -> list[ft.Tensor]:
    return [ft.from_numpy(plane) for plane in stencil.planes(rows)]


def export(folder: str) -> None:
    for stencil in STENCILS:
        files = stencil.jitted.export(f"{folder}/{stencil.name}", *arguments(stencil, 12))
        assert len(files.apart) == stencil.copies, files.apart
        print(files.entry)


def build(folder: str) -> None:
    """Builds one image of all stencils with three compute units, two of which are near the same
    channels, and of the copy of written arguments."""
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.inventory.read import expand, read
    from ftensor.toolchain.jobs.progress import Progress
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as make

    copy = Path(folder) / "copy.toml"
    copy.write_text('[[kernel]]\nops = ["copy"]\ndtypes = ["float32"]\nlayouts = ["linear"]\n')
    groups = list(expand(read(copy)))
    for stencil in STENCILS:
        key = key_of(stencil, folder)
        key = replace(key, lanes=key.lanes >> stencil.narrower)
        groups.append(KernelGroup(stencil.name, (key,), units=3, banks="HBM[0:7]"))
    done = make(Request("stencils", tuple(groups), "", Path(folder)), CSim(), Progress())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run(banks: bool = False) -> None:
    for stencil in STENCILS:
        for n in ROWS:
            tensors, planes = arguments(stencil, n), stencil.planes(n)
            kernels = stencil.jitted.graph(*tensors).kernels
            words = ["staged", *["map"] * stencil.copies]
            assert [kernel.split()[0] for kernel in kernels] == words, (stencil.name, kernels)
            got, wanted = stencil.jitted(*tensors), stencil.function(*planes)
            results = [t.numpy() for t in (*(got if isinstance(got, tuple) else (got,)), *tensors)]
            if banks:
                shown = ", ".join(t._storage.handle.bank for t in tensors)
                print(f"bank of {stencil.name} {n}: {shown}", file=sys.stderr)
            expected = (*(wanted if isinstance(wanted, tuple) else (wanted,)), *planes)
            for a, b in zip(results, expected, strict=True):
                np.testing.assert_array_equal(a, b.astype(a.dtype))  # few bits, so that nothing is rounded
            print(stencil.name, n, sha256(b"".join(a.tobytes() for a in results)).hexdigest()[:16])


if __name__ == "__main__":
    word, *rest = sys.argv[1:] or ["run"]
    {"export": export, "build": build, "run": run, "banks": lambda: run(True)}[word](*rest)
