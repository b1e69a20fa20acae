"""Random trials against torch: `make fuzz`, for a given time.

    python tests/fuzz.py [--seconds 60] [--sources programs,...] [--seed N] [--first K] [--trials N]

A source draws a case, runs it and compares (`SOURCES`, one module each, which lists its exclusions
and their reasons). The sources share the time. On devices that compute in the host's memory, every
buffer is between guard bytes that must not change. FTENSOR_DEVICE selects the device.

The seed differs from run to run and is printed. A trial depends only on the seed, its source and
its number. Each kind of disagreement is printed once, with a program that shows it, and the exit
status is then 1. If the process itself dies, the file named by --log has the trials that were
running.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import random
import re
import secrets
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.runtime.csim import backend as csim
from ftensor.runtime.opencl import backend as opencl

SOURCES = (
    "programs",
    "convolutions",
    "files",
    "inputs",
    "torch_device",
    "graphs",
    "aliases",
    "estimates",
    "networks",
    "float_networks",
    "linked_networks",
    "captures",
    "loops",
    "exports",
)


class Guards:
    """Guard bytes around the buffers of a device that computes in the host's memory."""

    SLACK, MARK = 4096, 0xA5

    def __init__(self) -> None:
        self.around: list[tuple[Any, int, int]] = []
        self.behind: list[tuple[Any, int, int]] = []

    def install(self) -> None:
        """Guards all buffers that are made from now on."""
        from ftensor.runtime import backend, pool

        taken = pool.MemoryPool.take

        def memory(nbytes: int) -> tuple[int, np.ndarray]:
            buffer = np.full(nbytes + 3 * self.SLACK, self.MARK, np.uint8)
            start = self.SLACK + -buffer.ctypes.data % self.SLACK
            self.around.append((buffer, start, start + nbytes))
            return buffer.ctypes.data + start, buffer[start : start + nbytes]

        def take(self_: pool.MemoryPool, nbytes: int, stream: Any) -> Any:
            storage = taken(self_, nbytes, stream)
            if storage.ptr is not None:
                first = (nbytes + 63) & -64  # kernels may fill the vector in which they end
                count = storage.block.size + pool.VECTOR - first
                stream.finish()
                backend.host_bytes(storage.ptr + first, count)[:] = self.MARK
                self.behind.append((weakref.ref(storage), storage.ptr + first, count))
            return storage

        pool.MemoryPool.take = take  # type: ignore[method-assign]
        for module in (opencl, csim):
            module.host_memory = memory  # type: ignore[attr-defined]

    def broken(self) -> str:
        """Returns the writes outside buffers, and repairs them for the next program; "" if there
        are none."""
        from ftensor.runtime.backend import host_bytes

        self.behind = [guard for guard in self.behind if guard[0]() is not None]
        bands = [band for buffer, start, end in self.around for band in (buffer[:start], buffer[end:])]
        bands += [host_bytes(ptr, count) for _, ptr, count in self.behind]
        wrong = [band for band in bands if (band != self.MARK).any()]
        for band in wrong:
            band[:] = self.MARK
        return f"bytes outside of {len(wrong)} buffers were written" if wrong else ""


GUARDS = Guards()


def trial(source: str, seed: int, number: int) -> str:
    """Returns the disagreement of a trial, with its kind in the first line; "" if there is none."""
    module = importlib.import_module(f"tests.fuzz_{source}")
    problem: str = module.trial(random.Random(f"{seed}:{source}:{number}"))
    ft.synchronize()
    return problem or GUARDS.broken()


def main() -> int:
    """Returns exit status 1 if a trial disagrees."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--trials", type=int, default=10**9, help="of a source, at most")
    parser.add_argument("--sources", default=",".join(SOURCES), help=f"of {', '.join(SOURCES)}")
    parser.add_argument("--seed", type=int, help="the seed that an earlier run printed")
    parser.add_argument("--first", type=int, default=0, help="the number of the first trial")
    parser.add_argument("--log", type=Path, help="a file for the trial that is under way")
    options = parser.parse_args()
    sources = options.sources.split(",")
    if unknown := set(sources) - set(SOURCES):
        parser.error(f"there is no source {sorted(unknown)}; there are {', '.join(SOURCES)}")
    seed = secrets.randbits(32) if options.seed is None else options.seed
    GUARDS.install()
    print(f"seed {seed} on {ft.fpga.get_device_name()}", flush=True)
    end = time.monotonic() + options.seconds
    said: collections.Counter[tuple[str, str]] = collections.Counter()
    spent = dict.fromkeys(sources, 0.0)
    done = dict.fromkeys(sources, 0)
    while time.monotonic() < end and min(done.values()) < options.trials:
        source = min((s for s in sources if done[s] < options.trials), key=lambda s: spent[s])
        number, begun = options.first + done[source], time.monotonic()
        if options.log:
            options.log.write_text(f"--seed {seed} --sources {source} --first {number} --trials 1")
        if problem := trial(source, seed, number):
            kind = source, re.sub(r"\bt\d+", "t", problem.partition("\n")[0])
            said[kind] += 1
            if said[kind] == 1:
                print(f"\n# seed {seed}, {source}, trial {number}: {problem}", flush=True)
        done[source] += 1
        spent[source] += time.monotonic() - begun
    for source in sources:
        wrong = sum(count for (of, _), count in said.items() if of == source)
        print(f"{source}: {done[source]} trials, {wrong} disagree; seed {seed}", flush=True)
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
