"""The one way from an op's call to its launch: looked up or prepared, enqueued, or on the host."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from .fallback import on_host
from .launch import Launch, Missing, enqueue, look_up
from .numbers import values_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def run(
    backend: Backend, key: Hashable, prepare: Callable[..., Launch],
    entry: Callable[..., Any], args: tuple[Any, ...],
    outs: Sequence[Tensor | None], inputs: Sequence[Tensor], numbers: Sequence[Any] = (),
    written: Tensor | None = None, partly: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Run the launch that `prepare(*args)` makes and `key` stands for; its outputs.

    `outs` has a tensor for each output that is not to be a fresh one. Where an image lacks a
    kernel, the host does `entry(*args)`, in which all of `written` is written, or a part of it.
    """
    launch = look_up(backend, key, prepare, args)
    if isinstance(launch, Missing):
        result = on_host(launch.error, entry, args, written, partly)
        return result if isinstance(result, tuple) else (result,)
    made = tuple(
        [
            launch.outputs[k].make(backend, inputs[0]._storage.device) if out is None else out
            for k, out in enumerate(outs)
        ]
    )
    for out in made:
        out._storage.bounds = None
    if launch.numbers:
        numbers = [v for x, d in zip(numbers, launch.numbers) for v in values_of(x, d)]
    enqueue(launch, (*made, *inputs), numbers)
    return made
