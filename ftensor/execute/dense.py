"""Launches of factors and solutions: matrices in place, column after column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import errors
from .._tensor import Tensor
from ..kernels.skeletons.dense import dense_key
from ..runtime.program import kernel
from .copy import clone, copy
from .fallback import on_host
from .launch import Launch, Missing, Step, enqueue, fitting, look_up

if TYPE_CHECKING:
    from ..dtypes import dtype
    from ..runtime.backend import Backend

# The products that a compute unit of its own is worth.
UNIT_PRODUCTS = 1 << 12


def dense(
    kind: str, of: dtype, tensors: Sequence[Tensor], numbers: Sequence[int], work: int
) -> None:
    """Run a kernel of `kernels/skeletons/dense.py` on its operands, some of which it changes.

    `numbers` are the kernel's, the items first; an item takes about `work` products.
    """
    if of.bare:
        raise errors.not_implemented_for(f"linalg {kind}", of)
    items = numbers[0]
    if not items:
        return
    backend = tensors[-1]._storage.backend
    units = max(1, min(items, backend.units, items * work // UNIT_PRODUCTS))
    key = ("dense", kind, of, units, tuple(numbers), work)
    launch = look_up(
        backend, key, _prepare, (backend, kind, of, len(tensors), units, tuple(numbers), work)
    )
    if isinstance(launch, Missing):
        _by_host(launch, kind, of, tensors, numbers, work)
        return
    enqueue(launch, tensors, numbers)


def _prepare(
    backend: Backend, kind: str, of: dtype, count: int, units: int, numbers: tuple[int, ...],
    work: int,
) -> Launch:  # fmt: skip
    target = backend.target
    key = dense_key(kind, of, target, target.unaligned)
    found = fitting(kernel(backend, key), units, numbers[0] * work)
    all_ = tuple(range(count))
    return Launch((Step(key, found, units, all_, all_, geometry=(*numbers, work, 1)),), count)


def _by_host(
    missing: Missing, kind: str, of: dtype, tensors: Sequence[Tensor], numbers: Sequence[int],
    work: int,
) -> None:  # fmt: skip
    """On the host's device, whose copies of the operands come back."""

    def run(*given: Tensor) -> tuple[Tensor, ...]:
        mine = tuple([clone(t) for t in given])
        dense(kind, of, mine, numbers, work)
        return mine

    for to, made in zip(tensors, on_host(missing.error, run, tuple(tensors))):
        copy(made, to)
