"""Program of the tests of linked graphs. "run" prints a digest of each result; "threads",
"interrupted", "signalled" and "stuck" run these cases."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np

import ftensor as ft
from ftensor._device import default_backend
from ftensor.image.manifest import JOINED
from ftensor.runtime.csim.backend import CSimImages

from .interrupting import calls_after_interrupts

LENGTH = 600  # in rows of 38 beats, the last one padded


def centred(x: ft.Tensor) -> ft.Tensor:
    """A reduction, whose order is the kernel's own and which takes a number, and elementwise ops
    after it."""
    return x - x.mean(-1, keepdim=True)


def drawn(rows: int) -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, LENGTH)).astype(np.float32)


def run() -> None:
    jitted = ft.jit(centred)
    for rows in (1, 2, 9):
        x = drawn(rows)
        (kernel,) = jitted.graph(ft.from_numpy(x)).kernels
        assert kernel.startswith("staged "), kernel
        got = jitted(ft.from_numpy(x)).numpy()
        np.testing.assert_allclose(got, x - x.mean(-1, keepdims=True), rtol=1e-4, atol=1e-6)
        print(rows, sha256(got.tobytes()).hexdigest())


def threads() -> None:
    """Launches from several threads, each in its own stream."""
    jitted, each = ft.jit(centred), [drawn(rows) for rows in (5, 6, 7, 8)]
    wanted = [jitted(ft.from_numpy(x)).numpy().tobytes() for x in each]

    def several(k: int) -> bool:
        with ft.fpga.stream(ft.fpga.Stream()):
            x = ft.from_numpy(each[k])
            return all(jitted(x).numpy().tobytes() == wanted[k] for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        print(list(pool.map(several, range(4))))


def interrupted() -> None:
    """Interrupts a launch after its first kernel. The next launch must be right."""
    jitted, x = ft.jit(centred), ft.from_numpy(drawn(3))
    held = [jitted(x)]  # so that no other result uses this memory
    images = default_backend().images
    assert isinstance(images, CSimImages) and images.active is not None
    (first, *_) = images.active.file.manifest.kernels
    library = images.active.program
    library.ft_starts_all(1)
    getattr(library, first.name + JOINED)(*[0] * len(first.arguments))
    library.ft_starts_all(0)
    held += [jitted(x) for _ in range(2)]
    print([ft.equal(one, held[0]) for one in held[1:]])


def signalled() -> None:
    """Sends Ctrl-C while the kernels are started one by one."""
    jitted, x = ft.jit(centred), ft.from_numpy(drawn(3))
    print(calls_after_interrupts(lambda: jitted(x)))


def stuck() -> None:
    x = ft.from_numpy(drawn(3))
    for _ in range(2):
        try:
            ft.jit(centred)(x)
        except RuntimeError as error:
            print(error)


if __name__ == "__main__":
    programs = (run, threads, interrupted, signalled, stuck)
    {program.__name__: program for program in programs}[sys.argv[1]]()
