"""Calls through index tensors: reading and writing where they lead."""

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
from ..iterator.shape import COUNTED, Ints, numel
from ..iterator.stride import contiguous_strides
from ..kernels import select
from ..kernels.key import LOCATED, STRIDED
from ..kernels.skeletons.cpu.take import TakeGeometry, take_key
from ..rows.copies import COPY
from ..rows.op import Op, refuses_bare
from ..runtime.launch_table import NEW
from ..runtime.program import built
from . import memory
from .copy import fill
from .index_check import Check, Refusal, in_range, know_bounds_of
from .keys import located_key
from .launch import Launch, Output, Step
from .pointwise import pointwise
from .run import also_as, run

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# A kernel names its inputs a to h.
MOST_INPUTS = 8

# Elements of a run that take as long to copy as one that an index of its own leads to.
RUN_AT_ONCE = 4

ADD_AT = Op(
    "add_at", "add_at(values, self) -> Tensor", "b + a", bool_="a | b", complex_="ft_cadd(b, a)", located=True, bare="h"
)


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
    op: Op,
    shape: Ints,
    out: Operand,
    inputs: Sequence[Operand],
    indices: Sequence[Index],
    ordered: bool = False,
    refusal: Refusal = errors_index.out_of_bounds,
) -> None:
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
    key = _key(op, shape, [out, *inputs], indices, ordered)
    certain = all(i.checked or in_range(i.tensor, i.size, i.strict) for i in indices)
    check = Check(out.tensor._storage, [i.dim for i in indices], refusal, certain)
    read = [*[o.tensor for o in inputs], *[i.tensor for i in indices], check.flag.tensor]
    numbers = _numbers(indices)
    args = (op, shape, out, inputs, indices, ordered, refusal)
    partly = out.located or out.tensor.numel() != numel(shape)
    run(backend, key, prepare, locate, args, read, numbers, out.tensor, partly)
    check.done(indices)


def _key(op: Op, shape: Ints, operands: Sequence[Operand], indices: Sequence[Index], ordered: bool) -> tuple[Any, ...]:
    return (
        op,
        "locate",
        shape,
        ordered,
        tuple([(o.tensor._dtype, o.strides, o.located) for o in operands]),
        tuple([(i.tensor._dtype, i.strides) for i in indices]),
    )


def _numbers(indices: Sequence[Index]) -> list[int]:
    return [n for i in indices for n in (-i.size if i.strict else i.size, i.stride)]


def fetch(
    call: str,
    source: Tensor,
    index: Tensor,
    dim: int = 0,
    strict: bool = False,
    refusal: Refusal = errors_index.out_of_bounds,
) -> Tensor | None:
    """What a call takes of a tensor by one index along a dim, where `remember` has seen such; else
    None."""
    if type(source) is not Tensor or type(index) is not Tensor or dim.__class__ is not int:
        return None
    storage = source._storage
    backend, key = storage.backend, (call, dim, source._key, index._key)
    launch = backend.launches[key]
    if launch is NEW:
        return None
    certain = in_range(index, source._shape[dim], strict)
    check = Check(storage, (dim % len(source._shape),), refusal, certain)
    results = launch.call((source, index, check.flag.tensor), (), None)
    if results is None:
        return None
    check.done()
    result: Tensor = results[0]
    return result


def remember(
    call: str, source: Tensor, index: Tensor, result: Tensor, located: Operand, indices: Sequence[Index], dim: int = 0
) -> None:
    """Let `fetch` serve the like of what `locate` has just copied, by one index along a dim."""
    key = _key(COPY, result._shape, [Operand(result, result._strides), located], indices, False)
    outputs = (Output(result._dtype, result._shape, result._strides),)
    also_as(
        source._storage.backend,
        key,
        (call, dim, source._key, index._key),
        outputs=outputs,
        fresh=True,
        own_numbers=tuple(_numbers(indices)),
    )


def prepare(
    op: Op,
    shape: Ints,
    out: Operand,
    inputs: Sequence[Operand],
    indices: Sequence[Index],
    ordered: bool,
    refusal: Refusal,
) -> Launch:
    """The launch of a call through indices: one step, or several beyond 32-bit indexing."""
    backend = out.tensor._storage.backend
    operands = [out, *inputs]
    if op.moves:
        bits = memory.as_bits([o.tensor for o in operands])
        operands = [replace(o, tensor=t) for o, t in zip(operands, bits)]
    strides = [o.strides for o in operands] + [i.strides for i in indices]
    sizes, steps = coalesce(shape, strides, range(len(shape)))
    launch_steps = _taken(op, backend, operands, indices, sizes, steps) or [
        _step(op, backend, operands, indices, piece, steps, ordered, moved) for piece, moved in split(sizes, steps)
    ]
    written = Output(out.tensor._dtype, out.tensor._shape, out.tensor._strides)
    return Launch(tuple(launch_steps), len(strides) + 1, (written,), fresh=False)


def _taken(
    op: Op, backend: Backend, operands: Sequence[Operand], indices: Sequence[Index], shape: Ints, steps: Sequence[Ints]
) -> list[Step]:
    """The step of a processor's copy of what one index leads to, in vectors; none where these do
    not serve."""
    if op is not COPY or len(steps) != 3 or not backend.target.processor or not shape:
        return []
    (out, source), (index,) = operands, indices
    (out_step, source_step, index_step), n = (s[-1] for s in steps), shape[-1]
    runs = (out_step, source_step, index_step) == (1, 1, 0) and n > 1
    same = out.tensor._dtype is source.tensor._dtype
    if not (runs or (out_step, index_step) == (1, 1)) or out.located or not (source.located and same):
        return []
    key = take_key(out.tensor._dtype, index.tensor._dtype, backend.target, runs)
    if key is None or numel(shape) > COUNTED:
        return []
    rows = numel(shape[:-1])
    work = numel(shape) // (RUN_AT_ONCE if runs else 1)
    units = select.units_for(work, backend.units, backend.target, 1)
    parts = max(1, min(-(-units // rows), n // (4 * key.lanes)))
    g = TakeGeometry(n, parts, source_step, shape[:-1], tuple(zip(*[s[:-1] for s in steps])))
    step = Step(key, min(units, g.items), (0, 1, 2), (0, 1, 2), after=(3,), geometry=g.pack(), work=work)
    return [step]


def _step(
    op: Op,
    backend: Backend,
    operands: Sequence[Operand],
    indices: Sequence[Index],
    shape: Ints,
    steps: Sequence[Ints],
    ordered: bool,
    moved: Ints,
) -> Step:
    dtypes_ = tuple(o.tensor._dtype for o in operands)
    index_dtypes = tuple(i.tensor._dtype for i in indices)
    units = 1 if ordered else backend.units
    geometry, units = select.rows_geometry(shape, steps, units, backend.target)
    compute = dtypes_[0].compute
    if not op.expression(compute):
        raise op.refusal(op.name, dtypes_[0])
    if refuses_bare(op.promote, op.bare, dtypes_[0]):
        raise errors.not_implemented_for(op.name, dtypes_[0])
    kinds = [LOCATED if o.located else select.kind_of(s[-1]) for o, s in zip(operands, steps)]
    index_kinds = [select.kind_of(s[-1]) for s in steps[len(operands) :]]
    key = located_key(op, dtypes_, kinds, index_dtypes, index_kinds)
    if not built(backend, key):
        kinds = [LOCATED if o.located else STRIDED for o in operands]
        other = located_key(op, dtypes_, kinds, index_dtypes, [STRIDED] * len(indices))
        key = other if built(backend, other) else key
    pointers = tuple(range(len(steps)))
    return Step(
        key,
        units,
        pointers,
        pointers,
        moved if any(moved) else None,
        after=(len(steps),),
        geometry=geometry,
        work=numel(shape),
    )


def _merged(shape: Ints, indices: Sequence[Index], like: Tensor, refusal: Refusal) -> Index:
    """Many indices as one that holds where they lead to, all checked."""
    whole = contiguous_like(shape, dtypes.int64, like)
    steps = contiguous_strides(shape)
    zeros = (0,) * len(shape)
    there = fill(whole.tensor, 0)
    for i in indices:
        # The index itself, found in a row of all of them: this is what checks and wraps it.
        row = np.arange(i.size, dtype=np.int64) * i.stride
        located = Operand(host_tensor(row, like), zeros, True)
        places = contiguous_like(shape, dtypes.int64, like)
        locate(COPY, shape, places, [located], [replace(i, stride=1)], refusal=refusal)
        pointwise(ADD_AT, (places.tensor, there), (), there, True)
    return Index(there, steps, 2**62, 1, 0, checked=True)


def contiguous_like(shape: Ints, of: dtype, like: Tensor) -> Operand:
    """A fresh contiguous output over the whole iteration shape."""
    tensor = memory.new(shape, of, like._storage.device)
    return Operand(tensor, contiguous_strides(shape))


def host_tensor(array: np.ndarray[Any, Any], like: Tensor) -> Tensor:
    """A small array's values in a tensor on `like`'s device, in the array's memory order."""
    of = dtypes.from_numpy_dtype(array.dtype)
    array = array.copy(order="K")
    strides = tuple([s // of.itemsize for s in array.strides])
    tensor = memory.new(array.shape, of, like._storage.device, strides)
    tensor._storage.backend.upload(tensor._storage, 0, array.ravel(order="K"))
    return know_bounds_of(tensor, array)
