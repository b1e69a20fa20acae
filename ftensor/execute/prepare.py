"""Preparing a launch: dtypes, plan and kernels of an op on one combination of operands."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._tensor import Tensor, geometry_key
from ..dtypes import can_cast, dtype, result_dtype, scalar_dtype
from ..iterator.plan import Plan, plan_map, split
from ..iterator.shape import Ints, broadcast_shapes, numel
from ..kernels import select
from ..kernels.key import lanes_for
from ..kernels.program import built, kernel
from ..rows.op import Op, dtypes_through
from .keys import op_key

if TYPE_CHECKING:
    from ..runtime.backend import Backend, Kernel
    from ..runtime.storage import Storage

# Prepared launches a backend keeps; beyond that all are dropped and made again when needed.
MOST_LAUNCHES = 1 << 14
prepare_lock = threading.RLock()


class Launch:
    """One pointwise op on one combination of geometries, ready to go: plan, kernels, output."""

    __slots__ = ("compute", "numbers", "dtype", "shape", "strides", "nbytes", "key", "pieces")

    def __init__(
        self,
        compute: dtype,
        numbers: dtype,
        out: tuple[dtype, Ints, Ints],
    ) -> None:
        self.compute = compute
        self.numbers = numbers  # the dtype that Python numbers are rounded to
        self.dtype, self.shape, self.strides = out
        self.nbytes = numel(self.shape) * self.dtype.itemsize
        self.key = geometry_key(self.shape, self.strides, self.dtype)
        # kernel, units, offsets to add per pointer, n or the geometry's handle, and its keeper
        self.pieces: list[tuple[Kernel, int, Ints | None, Any, Storage | None]] = []


def keep(backend: Backend, key: Any, launch: Any) -> None:
    """Remember a prepared launch; a full table starts again."""
    if len(backend.launches) >= MOST_LAUNCHES:
        backend.forget_launches()
    backend.launches[key] = launch


def common_dtype(op: Op, inputs: Sequence[Any]) -> dtype:
    """The dtype that the inputs promote to; masks (`sees` M) don't take part."""
    sees = op.sees or "V" * len(inputs)
    return result_dtype(
        [
            (x._dtype, 0 if x._shape else 1) if type(x) is Tensor else (scalar_dtype(x), 2)
            for x, s in zip(inputs, sees)
            if s == "V"
        ]
    )


def prepare(
    op: Op,
    backend: Backend,
    inputs: Sequence[Any],
    params: Sequence[Any],
    out: Tensor | None,
    inplace: bool,
) -> Launch:
    """Plan a pointwise call and get its kernels."""
    with prepare_lock:
        return _prepare(op, backend, inputs, params, out, inplace)


def _prepare(
    op: Op,
    backend: Backend,
    inputs: Sequence[Any],
    params: Sequence[Any],
    out: Tensor | None,
    inplace: bool,
) -> Launch:
    if any(s == "V" for s in op.sees or "V" * len(inputs)):
        common = common_dtype(op, inputs)
    else:
        assert out is not None
        common = out._dtype
    for k in op.tensors:
        if type(inputs[k]) is not Tensor:
            raise errors.not_a_tensor(op.name, k + 1, inputs[k])
    if op.check is not None:
        op.check(op, inputs, params, common)
    compute, result = dtypes_through(op.promote, common, backend.properties.has_float64)
    if not op.expression(compute) or common.name in op.refuses:
        raise op.refusal(op.name, common)
    written = result
    if out is not None:
        written = out._dtype
        if not op.any_out and not can_cast(result, written):
            raise errors.cannot_cast_result(op.name, result, written)
    tensors = [x for x in inputs if type(x) is Tensor]
    shapes, strides = [x._shape for x in tensors], [x._strides for x in tensors]
    plan = _plan(op, shapes, strides, out, inplace, len(tensors) < len(inputs))
    numbers = common if op.round_numbers and common.compute is compute else compute
    launch = Launch(compute, numbers, (written, plan.out_shape, plan.out_strides))
    dtypes = [written] + [x._dtype for x in tensors]
    for d in [*dtypes, compute]:
        if d.name in ("float64", "complex128") and not backend.properties.has_float64:
            raise errors.no_float64(d, backend.properties.name)
    launch.pieces = pieces(op, backend, inputs, out, plan, compute, dtypes)
    return launch


def _plan(
    op: Op, shapes: Any, strides: Any, out: Tensor | None, inplace: bool, scalars: bool
) -> Plan:
    if out is None:
        return plan_map(shapes, strides, scalars=scalars)
    if not shapes:
        return plan_map([], [], out=(out._shape, out._strides))
    wanted = broadcast_shapes(*shapes)
    if wanted != out._shape and not inplace:
        return plan_map(shapes, strides, scalars=scalars)  # the caller resizes `out`, then returns
    return plan_map(shapes, strides, out=(out._shape, out._strides))


def pieces(
    op: Op,
    backend: Backend,
    inputs: Sequence[Any],
    out: Tensor | None,
    plan: Plan,
    compute: dtype,
    dtypes: list[dtype],
) -> list[Any]:
    """The launches that visit a plan: one, unless it is empty or beyond 32-bit indexing."""
    if plan.shape == (0,):
        return []
    target = backend.target
    lanes = lanes_for(dtypes, compute, target.lanes_bytes)
    operands = [x._dtype if type(x) is Tensor else None for x in inputs]
    found = []
    parts: Sequence[tuple[Ints, Ints | None]] = [(plan.shape, None)]
    if select.pieces_needed(plan):
        parts = split(plan.shape, plan.strides)
    for shape, steps in parts:
        n_lanes = lanes
        if not target.unaligned and not _in_beats(
            inputs, out, dtypes, shape, plan.strides, steps, lanes
        ):
            n_lanes = 1  # a wide port would read the wrong data
        choice = select.choose_map(shape, plan.strides, backend.units, target.grid, n_lanes)
        key = op_key(op, choice.skeleton, compute, n_lanes, dtypes[0], operands, choice.kinds)
        narrow = n_lanes
        while narrow > 1 and not built(backend, key):
            # An image may have narrower ports than a launch fills, as some boards do.
            narrow //= 2
            other = op_key(op, choice.skeleton, compute, narrow, dtypes[0], operands, choice.kinds)
            key = other if built(backend, other) else key
        if not built(backend, key):
            strided = select.choose_strided(shape, plan.strides, backend.units, target.grid)
            others = [(strided, 1)]
            if n_lanes > 1 and _whole_rows(inputs, out, shape, n_lanes):
                others.insert(0, (select.in_rows(strided), n_lanes))
            for held, width in others:
                other = op_key(op, "rows", compute, width, dtypes[0], operands, held.kinds)
                if built(backend, other):
                    key, choice = other, held
                    break
        run = kernel(backend, key)
        keeper, tail = None, choice.n
        if choice.geometry is not None:
            keeper = geometry_storage(backend, choice.geometry)
            tail = keeper.handle
        found.append((run, choice.units, steps, tail, keeper))
    return found


def geometry_storage(backend: Backend, geometry: Sequence[int], of: Any = np.int32) -> Storage:
    """A small device buffer with a launch's loop sizes and strides."""
    array = np.array(geometry, of)
    storage = backend.allocate(array.nbytes)
    backend.upload(storage, 0, array)
    if len(backend.streams) > 1:
        # The prepared launch is everybody's, and the upload may still be queued behind this
        # stream's work when another stream launches it.
        storage.synchronize()
    return storage


def in_order(inputs: Sequence[Any], out: Tensor) -> bool:
    """Whether the order matters: an input may lie where other elements of `out` are written."""
    place = out._offset, out._key
    return any(
        type(x) is Tensor and x._storage is out._storage and (x._offset, x._key) != place
        for x in inputs
    )


def _whole_rows(inputs: Sequence[Any], out: Tensor | None, shape: Ints, lanes: int) -> bool:
    """Whether vectors may go row by row: rows are whole ones, and may be read ahead."""
    return shape[-1] % lanes == 0 and (out is None or not in_order(inputs, out))


def _in_beats(
    inputs: Sequence[Any], out: Tensor | None, dtypes: list[dtype], shape: Ints,
    strides: Sequence[Ints], steps: Ints | None, lanes: int,
) -> bool:  # fmt: skip
    """Whether vectors serve this plan on targets that keep them to their alignment.

    All operands begin on 64 bytes, and so do their rows, which lie in line and are whole vectors.
    One element that a row repeats may lie anywhere.
    """
    if len(shape) > 1 and not _whole_rows(inputs, out, shape, lanes):
        return False
    offsets = [0 if out is None else out._offset] + [x._offset for x in inputs if type(x) is Tensor]
    for k, (d, offset) in enumerate(zip(dtypes, offsets)):
        *outer, inner = strides[k]
        if inner == 0:
            continue
        start = offset + (steps[k] if steps else 0)
        if inner != 1 or start * d.itemsize % 64 or any(s % lanes for s in outer):
            return False
    return True
