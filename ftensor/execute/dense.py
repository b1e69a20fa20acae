"""Launches of factors and solutions: matrices in place, column after column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import errors
from .._tensor import Tensor
from ..kernels.skeletons.dense import dense_key
from .copy import clone, copy
from .launch import Launch, Step
from .run import run

if TYPE_CHECKING:
    from ..dtypes import dtype

PRODUCTS = 4  # elements that take as long as a product of one step


def dense(kind: str, of: dtype, tensors: Sequence[Tensor], numbers: Sequence[int], work: int) -> None:
    """Run a kernel of `kernels/skeletons/dense.py` on its operands, some of which it changes.

    `numbers` are the kernel's, the items first; an item takes about `work` products.
    """
    if of.bare:
        raise errors.not_implemented_for(f"linalg {kind}", of)
    if not numbers[0]:
        return
    key, args = ("dense", kind, of, tuple(numbers), work), (kind, of, tensors, numbers, work)
    backend = tensors[-1]._storage.backend
    results = run(backend, key, _prepare, _on_copies, args, tensors, numbers)
    for to, result in zip(tensors, results):  # the host's; a launch has none
        copy(result, to)


def _prepare(kind: str, of: dtype, tensors: Sequence[Tensor], numbers: Sequence[int], work: int) -> Launch:
    backend, items = tensors[-1]._storage.backend, numbers[0]
    units = max(1, min(items, backend.units, PRODUCTS * items * work // backend.target.unit_elements))
    key = dense_key(kind, of, backend.target, backend.target.unaligned)
    all_, geometry = tuple(range(len(tensors))), (*numbers, work, 1)
    step = Step(key, units, all_, all_, geometry=geometry, work=items * work)
    return Launch((step,), len(all_))


def _on_copies(
    kind: str, of: dtype, tensors: Sequence[Tensor], numbers: Sequence[int], work: int
) -> tuple[Tensor, ...]:
    """What the operands are afterwards, as tensors of their own."""
    mine = tuple([clone(t) for t in tensors])
    dense(kind, of, mine, numbers, work)
    return mine
