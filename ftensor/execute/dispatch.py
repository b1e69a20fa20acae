"""Dispatch: a call's launch is found in the cache or prepared, then enqueued, or the host computes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..rows.catalogue import op_called
from ..rows.copies import COPY
from .fallback import run_on_host
from .launch import Bound, Launch, Output, Step, enqueue
from .look_up import MissingKernel, look_up
from .observe import recorder
from .scalars import check_values, values_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# A call's output arguments: None if all outputs are fresh, the single output, or a sequence of all
# outputs with None for each fresh output.
Out = Tensor | Sequence[Tensor | None] | None


def run(
    backend: Backend,
    key: Hashable,
    prepare: Callable[..., Launch],
    entry: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    numbers: Sequence[Any] = (),
    out: Out = None,
    partly: bool = False,
) -> tuple[Tensor, ...]:
    """Runs the launch that is cached under `key`, or that `prepare(*args)` returns. Returns its
    outputs.

    If an image lacks a kernel, the host fallback calls `entry(*args)`, which writes `out` if that
    is a tensor (`partly`: only a part of it). Raises RuntimeError for tensors on different devices.
    """
    results: tuple[Tensor, ...] | None = backend.launches[key].call(inputs, numbers, out)
    if results is None:
        results = run_uncached(backend, key, prepare, entry, args, inputs, numbers, out, partly)
    return results


def try_run(
    backend: Backend,
    key: Hashable,
    prepare: Callable[..., Launch | None],
    entry: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    numbers: Sequence[Any] = (),
) -> tuple[Tensor, ...] | None:
    """Like `run`, but returns None if `prepare` declines or the operands are on several devices."""
    results: tuple[Tensor, ...] | None = backend.launches[key].call(inputs, numbers, None)
    if results is not None:
        return results
    where = inputs[0]._storage.device
    if any(x._storage.device is not where for x in inputs):
        return None
    return _run_uncached(backend, key, prepare, entry, args, inputs, numbers)


def run_uncached(
    backend: Backend,
    key: Hashable,
    prepare: Callable[..., Launch],
    entry: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    numbers: Sequence[Any] = (),
    out: Out = None,
    partly: bool = False,
) -> tuple[Tensor, ...]:
    """Like `run`, for a call that the cached launch does not handle: a new key, or a call that
    needs checks."""
    results = _run_uncached(backend, key, prepare, entry, args, inputs, numbers, out, partly)
    assert results is not None, key
    return results


def _run_uncached(
    backend: Backend,
    key: Hashable,
    prepare: Callable[..., Launch | None],
    entry: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    numbers: Sequence[Any] = (),
    out: Out = None,
    partly: bool = False,
) -> tuple[Tensor, ...] | None:
    written: Any = (out,) if type(out) is Tensor else out or ()
    tensors = [x for x in (*inputs, *written) if x is not None]
    where = tensors[0]._storage.device
    if any(x._storage.device is not where for x in tensors):
        raise errors.different_devices(op_called()[0], [x.device for x in tensors])
    if backend.executor is not None:
        backend.executor.called()
    launch = look_up(backend, key, prepare, args)
    if launch is None:
        return None
    if isinstance(launch, MissingKernel):
        whole = out if type(out) is Tensor else None
        result = run_on_host(launch.error, entry, args, whole, partly)
        return result if isinstance(result, tuple) else (result,)
    destinations = written or (None,) * len(launch.outputs)
    outputs = tuple([of.make(backend, where) if x is None else x for of, x in zip(launch.outputs, destinations)])
    for x in outputs:
        x._storage.changed()
    if launch.own_numbers is not None:
        numbers = launch.own_numbers
    elif recorder(backend) is not None:
        # Whoever notes the launch may want to know where a number comes from.
        for x, d in zip(numbers, launch.numbers):
            check_values(x, d)
    elif launch.numbers:
        numbers = [v for x, d in zip(numbers, launch.numbers) for v in values_of(x, d)]
    constants = [constant(inputs[0]) for constant in launch.constants]
    enqueue(launch, (*outputs, *inputs, *constants), numbers)
    for x in outputs:
        x._storage.changed()  # by then another thread may have read it, before it was written
    return outputs


def never_on_host(*args: object) -> Any:
    """Placeholder for `entry` in calls whose kernel is known to be built. Raises AssertionError."""
    raise AssertionError("the kernel is held")


def alias_launch(backend: Backend, key: Hashable, other: Hashable, **changes: Any) -> None:
    """Stores the launch cached under `key` under `other`, too: a key that a caller knows before it
    computes the operands. `changes` are the fields that differ in the stored launch."""
    launch = backend.launches.get(key)
    if launch is None:  # the host fallback may have run, or the launch is a trace's
        return
    if changes:
        bound, launch = launch.bound, replace(launch, **changes)
        launch.bind(bound)
    backend.launches.keep(other, launch)


MOST_COPIES = 8  # of one launch


def cached_result(call: Hashable, *inputs: Any) -> Tensor | None:
    """Returns the result of a call whose launch `cache_result` stored under this key; None on a miss."""
    for x in inputs:
        if type(x) is not Tensor:
            return None
    key = (call, *[x._key for x in inputs])
    results = inputs[0]._storage.backend.launches[key].call(inputs, (), None)
    return None if results is None else results[0]


def cache_result(
    call: Hashable, inputs: Sequence[Tensor], result: Tensor, launch: Hashable, numbers: Sequence[Any]
) -> None:
    """Stores the launch of a call for `cached_result`. The launch is cached under its own key and wrote
    `result`, a fresh tensor. `inputs` have the offsets and the order of the operands that it reads;
    `numbers` are its scalar kernel arguments."""
    backend = result._storage.backend
    key = (call, *[x._key for x in inputs])
    if not backend.target.is_board and key not in backend.launches:
        output = Output(result._dtype, result._shape, result._strides)
        alias_launch(backend, launch, key, outputs=(output,), fresh=True, own_numbers=tuple(numbers))


def cache_copies(call: Hashable, inputs: Sequence[Tensor], result: Tensor, pieces: Sequence[Tensor]) -> None:
    """Stores one launch for `cached_result` that copies each of `inputs` to its piece of a fresh result."""
    launches = result._storage.backend.launches
    key = (call, *[x._key for x in inputs])
    if result._storage.backend.target.is_board or key in launches or len(inputs) > MOST_COPIES:
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
            # The copy's operand 0 is the piece and operand 1 is the source.
            pointers = tuple([p and k for p in step.pointers])
            offsets = tuple([o and k for o in step.offsets])
            steps.append(replace(step, pointers=pointers, offsets=offsets, moved=moved))
        bound += one.bound
    output = Output(result._dtype, result._shape, result._strides)
    launch = Launch(tuple(steps), 1 + len(inputs), (output,), own_numbers=())
    launch.bind(tuple(bound))
    launches.keep(key, launch)
