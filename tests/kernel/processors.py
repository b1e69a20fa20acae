"""Prepares launches on the default device as if it were another device of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from ftensor._device import default_backend


def family(units: int | None = None, **fields: Any) -> AbstractContextManager[None]:
    """Context manager: the device has `units` compute units, and its family has these fields."""
    backend = default_backend()
    other = replace(backend.target, **fields)
    return backend.preparing_for(other, units or backend.units, backend.host_shared)


def processors(**fields: Any) -> Iterator[AbstractContextManager[None]]:
    """Yields a context for each tile size of CPUs, in which launches are prepared for it. Other
    devices get a single context. The family has these `fields`, too."""
    target = default_backend().target
    for registers in (8, 32) if target.kind == "cpu" else (target.registers,):
        yield family(registers=registers, **fields)
