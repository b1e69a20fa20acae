"""Calls through index tensors: reading and writing where they lead, and finding true elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes, errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..errors import index as errors_index
from ..iterator.plan import coalesce, split
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides
from ..kernels import select
from ..kernels.key import LOCATED, STRIDED
from ..kernels.program import built, kernel, obtain
from ..kernels.source import fixed_program
from ..rows.op import Op
from . import memory
from .fallback import Missing, on_host, prepared
from .index_check import Check, Refusal, in_range, know_bounds, know_bounds_of
from .keys import located_key
from .memory import COPY
from .pointwise import pointwise
from .prepare import geometry_storage

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# A kernel names its inputs a to h.
MOST_INPUTS = 8

ADD_AT = Op("add_at", "add_at(values, self) -> Tensor", "b + a", bool_="a | b",
            complex_="ft_cadd(b, a)", located=True)  # fmt: skip


@dataclass(frozen=True)
class Index:
    """An index tensor over the iteration shape, and the dim of the located tensor it walks."""

    tensor: Tensor
    strides: Ints
    size: int
    stride: int
    dim: int  # as named in an error
    checked: bool = False  # known to be in range, so that nobody has to wait for the kernel's word
    strict: bool = False  # negative indices are out of range too


@dataclass(frozen=True)
class Operand:
    """A tensor with its strides over the iteration shape; `located` ones follow the indices."""

    tensor: Tensor
    strides: Ints
    located: bool = False


def locate(
    op: Op, shape: Ints, out: Operand, inputs: Sequence[Operand], indices: Sequence[Index],
    ordered: bool = False, refusal: Refusal = errors_index.out_of_bounds,
) -> None:  # fmt: skip
    """Evaluate `op` at every point of `shape` and write to `out`.

    `ordered`: one compute unit visits the points in order, so that several writes to one place
    (or sums into it) have a defined result. `refusal(index, dim, size)` is raised for an index out
    of range; what it would have written is left out.
    """
    if not numel(shape):
        return
    for i in indices:
        if not i.size:
            raise refusal(0, i.dim, 0)
    if len(inputs) + len(indices) > MOST_INPUTS:
        indices = [_merged(shape, indices, out.tensor, refusal)]
    if out.tensor._storage.readonly:
        raise errors.read_only(op.name)
    backend = out.tensor._storage.backend
    operands = [out, *inputs]
    tensors = [o.tensor for o in operands] + [i.tensor for i in indices]
    strides = [o.strides for o in operands] + [i.strides for i in indices]
    sizes, steps = coalesce(shape, strides, range(len(shape)))
    # All before the first one runs: a call that falls back half-way would add twice.
    pieces = [
        (_launch(op, backend, operands, indices, piece, steps, ordered), moves)
        for piece, moves in split(sizes, steps)
    ]
    for launch, _ in pieces:
        if type(launch) is Missing:
            partly = out.located or out.tensor.numel() != numel(shape)
            args = (op, shape, out, inputs, indices, ordered, refusal)
            on_host(launch, locate, args, out.tensor, partly)
            return
    stream = backend.current_stream()
    certain = all(i.checked or in_range(i.tensor, i.size, i.strict) for i in indices)
    check = Check(stream, [i.dim for i in indices], refusal, certain)
    for t in tensors:
        if t._storage.stream is not stream:
            stream.use(t._storage)
    numbers = [n for i in indices for n in (-i.size if i.strict else i.size, i.stride)]
    for (run, units, geometry), moves in pieces:
        run(
            stream, units, *[t._storage.handle for t in tensors],
            *[t._offset + m for t, m in zip(tensors, moves)], *numbers, check.flag.storage.handle,
            geometry.handle,
        )  # fmt: skip
    out.tensor._storage.bounds = None
    check.done()


def _launch(
    op: Op, backend: Backend, operands: Sequence[Operand], indices: Sequence[Index],
    shape: Ints, steps: Sequence[Ints], ordered: bool,
) -> Any:  # fmt: skip
    """The prepared kernel of a piece, from the backend's table, or what is Missing."""
    dtypes_ = tuple(o.tensor._dtype for o in operands)
    located = tuple(o.located for o in operands)
    index_dtypes = tuple(i.tensor._dtype for i in indices)
    name = (op, "locate", shape, tuple(steps), dtypes_, located, index_dtypes, ordered)
    found = backend.launches.get(name)
    if found is not None:
        return found
    return prepared(backend, name, _prepare, op, backend, operands, indices, shape, steps, ordered)


def _prepare(
    op: Op, backend: Backend, operands: Sequence[Operand], indices: Sequence[Index],
    shape: Ints, steps: Sequence[Ints], ordered: bool,
) -> Any:  # fmt: skip
    dtypes_ = tuple(o.tensor._dtype for o in operands)
    index_dtypes = tuple(i.tensor._dtype for i in indices)
    units = 1 if ordered else backend.units
    geometry, units = rows_geometry(shape, steps, units, backend.target.grid)
    compute = dtypes_[0].compute
    if not op.expression(compute):
        raise op.refusal(op.name, dtypes_[0])
    kinds = [LOCATED if o.located else select.kind_of(s[-1]) for o, s in zip(operands, steps)]
    index_kinds = [select.kind_of(s[-1]) for s in steps[len(operands) :]]
    key = located_key(op, dtypes_, kinds, index_dtypes, index_kinds)
    if not built(backend, key):
        kinds = [LOCATED if o.located else STRIDED for o in operands]
        other = located_key(op, dtypes_, kinds, index_dtypes, [STRIDED] * len(indices))
        key = other if built(backend, other) else key
    return kernel(backend, key), units, geometry_storage(backend, geometry)


def rows_geometry(shape: Ints, steps: Sequence[Ints], most: int, grid: str) -> tuple[Ints, int]:
    """What the rows skeleton is told, and its compute units."""
    inner, outer = shape[-1], shape[:-1]
    rows = numel(outer)
    units = select.units_for(numel(shape), most, grid, 1)
    chunk = inner if rows >= 4 * units or inner <= select.ROW_CHUNK else select.ROW_CHUNK
    chunks = -(-inner // chunk)
    geometry = (len(outer), inner, chunk, chunks, rows * chunks, *outer)
    for s in steps:
        geometry += tuple(s[:-1])
    return geometry + tuple(s[-1] for s in steps), min(units, rows * chunks)


def _merged(shape: Ints, indices: Sequence[Index], like: Tensor, refusal: Refusal) -> Index:
    """Many indices as one that holds where they lead to, all checked."""
    whole = contiguous_like(shape, dtypes.int64, like)
    steps = contiguous_strides(shape)
    zeros = (0,) * len(shape)
    there = memory.zero_(whole.tensor)
    for i in indices:
        # The index itself, found in a row of all of them: this is what checks and wraps it.
        row = np.arange(i.size, dtype=np.int64) * i.stride
        located = Operand(host_tensor(row, like), zeros, True)
        found = contiguous_like(shape, dtypes.int64, like)
        locate(COPY, shape, found, [located], [replace(i, stride=1)], refusal=refusal)
        pointwise(ADD_AT, (found.tensor, there), (), there, True)
    return Index(there, steps, 2**62, 1, 0, checked=True)


def positions(mask: Tensor) -> Tensor:
    """The linear positions (int64, ascending) of a bool tensor's true elements; waits for it."""
    mask = mask.contiguous()
    n = mask.numel()
    assert n < 2**31, "a mask beyond 32-bit indexing"
    backend, where = mask._storage.backend, mask._storage.device
    units = select.units_for(n, backend.units, "slab", 1)
    run = backend.launches.get("compact") or prepared(backend, "compact", _compact, backend)
    if type(run) is Missing:
        made: Tensor = on_host(run, positions, (mask,))
        return made
    stream = backend.current_stream()
    counts = backend.allocate(8 * units)
    args = (mask._storage.handle, counts.handle, counts.handle, mask._offset, 0, n, 1)
    run(stream, units, *args)
    found = np.empty(units, np.int64)
    backend.download(counts, 0, found)
    total = int(found.sum())
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(found)[:-1]])
    backend.upload(counts, 0, starts)
    result = memory.new((total,), dtypes.int64, where)
    know_bounds(result, 0, n - 1)
    if total:
        args = (mask._storage.handle, result._storage.handle, counts.handle, mask._offset, 0, n, 0)
        run(stream, units, *args)
    return result


def _compact(backend: Backend) -> Any:
    found = backend.kernels.get("ft_compact")
    if found is None:
        found = obtain(
            backend,
            "ft_compact",
            ("*", "*", "*", "long", "long", "int", "int"),
            lambda: fixed_program(
                "ft_compact", "compact", backend.dialect, dtypes.uint8,
                float64=backend.properties.has_float64,
            ),
        )  # fmt: skip
    return found


def contiguous_like(shape: Ints, of: dtype, like: Tensor) -> Operand:
    """A fresh contiguous output over the whole iteration shape."""
    made = memory.new(shape, of, like._storage.device)
    return Operand(made, contiguous_strides(shape))


def host_tensor(array: np.ndarray[Any, Any], like: Tensor) -> Tensor:
    """A small array's values in a tensor on `like`'s device, in the array's memory order."""
    of = dtypes.from_numpy_dtype(array.dtype)
    array = array.copy(order="K")
    strides = tuple([s // of.itemsize for s in array.strides])
    made = memory.new(array.shape, of, like._storage.device, strides)
    made._storage.backend.upload(made._storage, 0, array.ravel(order="K"))
    return know_bounds_of(made, array)
