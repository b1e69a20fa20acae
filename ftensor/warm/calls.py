"""Which kernels ops ask for: their calls on operands as programs have them, without computing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype
from ..errors import warm as errors
from ..rows.catalogue import ENTRIES
from ..runtime.launch_table import LaunchTable

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.parts import KernelSource

SIDE = 256  # of a matrix: long enough for all units, and for vectors side by side


@contextmanager
def noting(backend: Backend) -> Iterator[list[KernelSource]]:
    """Inside the block kernels are noted; nothing is compiled, and no op computes."""
    kept = backend.kernels, backend.launches
    backend.kernels, backend.noted = {}, []
    backend.launches = LaunchTable(backend.synchronize)
    try:
        yield backend.noted
    finally:
        backend.synchronize()
        backend.noted = None
        backend.kernels, backend.launches = kept


def wanted(backend: Backend, ops: Sequence[Callable[..., Any]], dtypes: Sequence[dtype]) -> list[KernelSource]:
    """The programs that these ops ask for, each once."""
    import ftensor as ft

    with noting(backend) as noted, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of calls that nobody made
        for of in dtypes:
            for op in ops:
                for arguments in _operands(ft, of):  # fresh ones: an op may change its operands
                    # A guess that is no call of this op, or whose results would have to be read.
                    with suppress(Exception):
                        op(*arguments)
    return list({program.source: program for program in noted}.values())


def everything() -> list[Callable[..., Any]]:
    """All ops of the catalogue."""
    return [entry.call for entry in ENTRIES.values() if not entry.prop]


def named(name: str) -> Callable[..., Any]:
    """The function or the method of this name; WarmError where there is none."""
    import ftensor as ft

    target: Any = ft
    for part in name.split("."):
        target = getattr(target, part, None) or getattr(ft.Tensor, part, None)
        if target is None:
            raise errors.no_such_op(name, ENTRIES)
    return target


def _operands(ft: Any, of: dtype) -> list[tuple[Any, ...]]:
    """Arguments of calls: whole, transposed, broadcast and sliced matrices, numbers, dims."""
    x, y, z = (ft.empty(SIDE, SIDE, dtype=of) for _ in range(3))
    row, column = x[0], y[:, :1]
    small, index = z[:8, :8].contiguous(), ft.zeros(SIDE, dtype=ft.int64)
    others = [ft.float32, ft.int64, ft.bool]
    return [
        (x,), (x.t(),), (x[:, 1:],), (row,), (x, y), (x, y.t()), (x, row), (x, column),
        (x, row[:1]), (x, 2), (x, 0), (x, 1), (2, x), (x, 0.5), (x, y, z), (x, 0, 1),
        (x > y, x, y), (x, x > y), (x, 0, index), (x, 0, index.expand(SIDE, SIDE)),
        (small, small), (x, row, 1), (x, (0, 1)), ([x, y],), ([x, y], 1),
        *((x, other) for other in others),
    ]  # fmt: skip
