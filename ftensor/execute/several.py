"""Pointwise rows with several results, in one launch: for devices that compile any kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.plan import coalesce
from ..iterator.shape import numel
from ..iterator.stride import broadcast_strides, loop_order
from ..kernels import select
from ..kernels.key import KernelKey, Port, lanes_for
from .launch import Launch, Output, Step
from .output import check_place
from .run import launched


@dataclass(frozen=True, eq=False)
class Several:
    """Results of inputs a, b, c, ... and of `params`: an expression for each in `bodies`, which may
    use the `lets` before them. All real."""

    name: str
    bodies: tuple[str, ...]
    params: tuple[str, ...] = ()
    lets: tuple[tuple[str, str], ...] = ()


def several(
    row: Several, inputs: Sequence[Tensor], params: tuple[float, ...], outs: Sequence[Tensor],
    compute: dtype,
) -> None:  # fmt: skip
    """Write the results of a row to `outs`, of one shape, to which the inputs broadcast.

    An output may be an input, and shares no memory with others. The device compiles kernels when
    they are needed (`choices.specializes`).
    """
    storage = outs[0]._storage
    backend = storage.backend
    key = (row, compute, *[x._key for x in outs], *[x._key for x in inputs])
    if backend.launches[key].call(inputs, params, outs) is None:
        for out in outs:
            check_place(row.name, out, storage.device)
        args = (row, inputs, params, outs, compute)
        launched(backend, key, _prepare, several, args, inputs, params, outs)


def _prepare(
    row: Several, inputs: Sequence[Tensor], params: tuple[float, ...], outs: Sequence[Tensor],
    compute: dtype,
) -> Launch:  # fmt: skip
    backend, shape = outs[0]._storage.backend, outs[0]._shape
    target = backend.target
    assert target.specializes, row.name
    operands = [*outs, *inputs]
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in operands]
    sizes, steps = coalesce(shape, strides, loop_order(shape, strides))
    numbers = (compute,) * len(row.params)
    results = tuple([Output(x._dtype, x._shape, x._strides) for x in outs])
    if not numel(shape):
        return Launch((), len(operands), results, numbers, fresh=False)
    assert all(numel(x._shape) < 2**31 for x in operands), row.name
    lanes = lanes_for([x._dtype for x in operands], compute, target.lanes_bytes)
    if target.grid == "slab":
        sizes, steps = select.long_rows(sizes, steps, lanes)
    choice = select.choose_map(sizes, steps, backend.units, target, lanes)
    ports = tuple(Port(x._dtype, kind) for x, kind in zip(operands, choice.kinds))
    named = KernelKey(
        row.name, choice.skeleton, compute, lanes, ports[: len(outs)], ports[len(outs) :],
        row.bodies, params=row.params, lets=row.lets,
    )  # fmt: skip
    pointers, told = tuple(range(len(operands))), choice.geometry
    step = Step(
        named, choice.units, pointers, pointers, numbers=bool(row.params),
        n=choice.n if told is None else None, geometry=told or (), work=numel(shape),
    )  # fmt: skip
    return Launch((step,), len(operands), results, numbers, fresh=False)
