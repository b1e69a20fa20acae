"""Calls that are known by what they are given, before an op has looked at it.

An op that checks its operands, makes a result and finds its launch by the geometry of all of them
does so at each call, for the same launch. It can let the call be known, by the geometry of its
tensors alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from .._tensor import Tensor
from ..rows.copies import COPY
from .launch import Bound, Launch, Output, Step
from .run import also_as

MOST_COPIES = 8  # of one launch


def known(call: Hashable, *inputs: Any) -> Tensor | None:
    """The result of a call that `know` has seen the like of; else None, and nothing is done."""
    for x in inputs:
        if type(x) is not Tensor:
            return None
    key = (call, *[x._key for x in inputs])
    results = inputs[0]._storage.backend.launches[key].call(inputs, (), None)
    return None if results is None else results[0]


def know(call: Hashable, inputs: Sequence[Tensor], result: Tensor, launch: Hashable, numbers: Sequence[Any]) -> None:
    """Let `known` serve the like of a call whose `result`, a fresh tensor, is what the launch
    kept under a key of its own has written. `inputs` begin where the tensors do that it reads, in
    their order; `numbers` are what its kernels get."""
    backend = result._storage.backend
    key = (call, *[x._key for x in inputs])
    if backend.target.unaligned and key not in backend.launches:
        output = Output(result._dtype, result._shape, result._strides)
        also_as(backend, launch, key, outputs=(output,), fresh=True, own_numbers=tuple(numbers))


def know_copies(call: Hashable, inputs: Sequence[Tensor], result: Tensor, pieces: Sequence[Tensor]) -> None:
    """Let `known` serve the like of a call that has copied each of its `inputs` to one of the
    `pieces` of a fresh result, in one launch."""
    launches = result._storage.backend.launches
    key = (call, *[x._key for x in inputs])
    if not result._storage.backend.target.unaligned or key in launches or len(inputs) > MOST_COPIES:
        return
    steps: list[Step] = []
    bound: list[Bound] = []
    for k, (x, piece) in enumerate(zip(inputs, pieces), 1):
        one = launches.get((COPY, piece._key, x._key))
        if type(one) is not Launch or one.bound is None or one.temporaries:
            return
        for step in one.steps:
            if 0 not in step.offsets:
                return
            moved = step.moved or (0,) * len(step.offsets)
            moved = tuple([m + piece._offset * (o == 0) for o, m in zip(step.offsets, moved)])
            # The copy's operands are 0, the piece, and 1, what is copied.
            pointers = tuple([p and k for p in step.pointers])
            offsets = tuple([o and k for o in step.offsets])
            steps.append(replace(step, pointers=pointers, offsets=offsets, moved=moved))
        bound += one.bound
    output = Output(result._dtype, result._shape, result._strides)
    launch = Launch(tuple(steps), 1 + len(inputs), (output,), own_numbers=())
    launch.bind(tuple(bound))
    launches.keep(key, launch)
