"""Positions of the true elements of a bool tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from ..iterator.shape import COUNTED, numel
from ..kernels.skeletons.compact import CompactKey
from ..rows.copies import COPY
from ..rows.op import Op
from . import output
from .fallback import run_on_host
from .indexed import record_bounds
from .launch import Launch, Step, enqueue
from .look_up import MissingKernel, look_up
from .pointwise import pointwise

if TYPE_CHECKING:
    from ..runtime.backend import Backend

SHIFTED = Op("shifted", "shifted(position) -> Tensor", "a + by", params=("by",), only=("int64",))


def positions(mask: Tensor) -> Tensor:
    """Returns the linear positions (int64, ascending) of a bool tensor's true elements. Waits for
    the result.

    Splits a mask beyond 32-bit indexing into halves.
    """
    n = mask.numel()
    mask._storage.backend.pool.ask(n)  # also for an expanded mask, which is made contiguous
    if n > COUNTED:
        return _of_halves(mask)
    mask = mask.contiguous()
    backend = mask._storage.backend
    launch = look_up(backend, ("compact", n), _compact, (backend, n))
    if isinstance(launch, MissingKernel):
        from_host: Tensor = run_on_host(launch.error, positions, (mask,))
        return from_host
    units = launch.steps[0].units
    counts = output.new_like(mask, (units,), dtypes.int64)
    enqueue(launch, (counts, mask, counts), (n, 1))
    totals = np.empty(units, np.int64)
    backend.download(counts._storage, 0, totals)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(totals)[:-1]])
    backend.upload(counts._storage, 0, starts)
    result = output.new_like(mask, (int(totals.sum()),), dtypes.int64)
    record_bounds(result, 0, n - 1)
    if result.numel():
        enqueue(launch, (result, mask, counts), (n, 0))
    return result


def _of_halves(mask: Tensor) -> Tensor:
    """Returns `positions` of a mask's two halves as one tensor."""
    dim = next(d for d, size in enumerate(mask._shape) if size > 1)
    size, step = mask._shape[dim], mask._strides[dim]
    halves = []
    for begin, end in ((0, size // 2), (size // 2, size)):
        shape = (*mask._shape[:dim], end - begin, *mask._shape[dim + 1 :])
        part = positions(mask._view(shape, mask._strides, mask._offset + begin * step))
        before = begin * numel(mask._shape[dim + 1 :])
        halves.append(pointwise(SHIFTED, (part,), (before,)) if before else part)
    first, second = [f._shape[0] for f in halves]
    result = output.new_like(mask, (first + second,), dtypes.int64)
    pointwise(COPY, (halves[0],), (), result._view((first,), (1,), 0), True)
    pointwise(COPY, (halves[1],), (), result._view((second,), (1,), first), True)
    return record_bounds(result, 0, mask.numel() - 1)


def _compact(backend: Backend, n: int) -> Launch:
    """Returns the launch that counts the true elements of each compute unit's part, and then writes
    their positions. Operands: output, mask and counts. Numbers: n, and 1 to count or 0 to write."""
    key = CompactKey()
    units = max(1, min(backend.units, n // backend.target.unit_elements))
    return Launch((Step(key, units, (1, 0, 2), (1, 0), geometry=(n,), work=n),), 3)
