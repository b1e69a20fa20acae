"""CPUs of few and of many registers: their kernels have tiles and vectors of different sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from ftensor._device import default_backend


def processors() -> Iterator[AbstractContextManager[None]]:
    """For each size of a CPU's tiles a block in which launches are prepared so; one elsewhere."""
    backend = default_backend()
    target = backend.target
    for registers in (8, 32) if target.kind == "cpu" else (target.registers,):
        other = replace(target, registers=registers)
        yield backend.preparing_for(other, backend.units, backend.host_shared)
