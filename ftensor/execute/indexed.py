"""Gathers and scatters by index tensors, and the bounds check of indices."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import dtypes, errors
from .._tensor import Tensor
from ..dtypes import dtype, int64
from ..dtypes.limits import integer_limits
from ..errors import view as errors_index
from ..errors.message import levels_to_user, line_of
from ..iterator.plan import coalesce, split
from ..iterator.shape import COUNTED, Ints, contiguous_strides, numel
from ..kernels import select
from ..kernels.key import LOCATED, STRIDED
from ..kernels.skeletons.cpu.take import TakeGeometry, take_key
from ..rows.catalogue import is_op, op_called
from ..rows.copies import COPY
from ..rows.op import Op, refuses_bare
from ..runtime.launch_cache import NEW, is_available
from . import output
from .capture import capturing
from .dispatch import alias_launch, recorder, run
from .keys import located_key
from .launch import Launch, Output, Step
from .pointwise import fill, pointwise

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream


# An error for (index, dim, size).
Refusal = Callable[[int, int, int], Exception]

MODES = ("now", "deferred")
# The most deferred checks per stream; then the stream's table is cleared.
MAX_CALLS = 256
# The largest array, in elements, with its bounds computed at the upload.
MAX_CHECKED_INDICES = 1 << 16

_mode = "now"
_flags = threading.local()
_doubts: WeakKeyDictionary[DeviceStream, dict[tuple[object, ...], IndexDoubt]] = WeakKeyDictionary()


def set_index_check(mode: str) -> None:
    """Sets when an index out of range raises an error, for all threads.

    "now": at the call, as in torch; the call then waits for its kernel. "deferred": at the next
    wait for the stream (`item`, `numpy`, printing, `synchronize`), as an IndexError that names the
    call, the index and the line of the call. Kernels never read or write out of range: the result
    of such an element keeps its old value. A call does not wait for indices with bounds that the
    host knows (fresh from Python numbers or arrays, from `arange`, `argmax` and similar ops).
    Raises ValueError for another mode.
    """
    global _mode
    if mode not in MODES:
        raise errors_index.index_check_mode(mode, MODES)
    _mode = mode


def get_index_check() -> str:
    """Returns when an index out of range raises an error: "now" or "deferred"."""
    return _mode


def record_bounds(index: Tensor, least: int, greatest: int) -> Tensor:
    """Records the bounds of all elements of a fresh integer tensor. Returns the tensor."""
    limits = integer_limits(index._dtype)
    if limits.min <= least and greatest <= limits.max:  # otherwise the numbers wrapped
        index._storage.bounds = (index._dtype, least, greatest)
    return index


def record_array_bounds(index: Tensor, array: np.ndarray[Any, Any]) -> Tensor:
    """Like `record_bounds`, for a small tensor that was uploaded from an array; larger ones are not
    recorded."""
    if array.dtype.kind == "i" and 0 < array.size <= MAX_CHECKED_INDICES:
        record_bounds(index, int(array.min()), int(array.max()))
    return index


def known_bounds(storage: Storage) -> tuple[Any, int, int] | None:
    """Returns (dtype, least, greatest) of a storage's elements; None if unknown. During a
    recording, bounds are known only for storage that the recorder allocated."""
    if storage.backend.executor is not None and capturing(storage.backend) is not None:
        return None  # a replay has other indices
    current = recorder(storage.backend)
    return storage.bounds if current is None or current.is_placeholder(storage) else None


def in_range(index: Tensor, size: int, strict: bool) -> bool:
    """True if all elements are known to be valid indices of a dim; `strict` excludes negative
    indices."""
    return bounds_in_range(known_bounds(index._storage), index._dtype, size, strict)


def bounds_in_range(bounds: tuple[Any, int, int] | None, index_dtype: Any, size: int, strict: bool) -> bool:
    """True if known bounds are valid for a dim, for elements of dtype `index_dtype`."""
    if bounds is None or bounds[0] is not index_dtype:
        return False
    return bounds[1] >= (0 if strict else -size) and bounds[2] < size


@dataclass(frozen=True)
class Flag:
    """The device memory where kernels record a bad index: (set, index tensor, index, size of the
    dim)."""

    tensor: Tensor

    @classmethod
    def fresh(cls, backend: Backend) -> Flag:
        """Returns a cleared flag."""
        flag = cls(Tensor._make(backend.allocate_lasting(32), int64, (4,), (1,)))
        flag._clear()
        return flag

    def _clear(self) -> None:
        storage = self.tensor._storage
        storage.backend.upload(storage, 0, np.zeros(4, np.int64))

    def read_and_clear(self) -> tuple[int, int, int] | None:
        """Returns (index tensor, index, size) of a bad index, and clears the flag; None if no index
        was bad. The kernels must have finished."""
        noted = np.empty(4, np.int64)
        storage = self.tensor._storage
        storage.backend.fetch(storage, 0, noted)
        if not noted[0]:
            return None
        self._clear()
        dim, index, size = noted[1:].tolist()
        return dim, index, size


@dataclass(frozen=True)
class IndexDoubt:
    """A deferred check: launches from one line of a program whose flag was not read yet."""

    flag: Flag
    call: str
    line: str
    dims: tuple[int, ...]
    refusal: Refusal

    def resolve(self) -> Exception | None:
        """Returns the error if an index was out of range, else None."""
        violation = self.flag.read_and_clear()
        if violation is None:
            return None
        dim, index, size = violation
        error = self.refusal(index, self.dims[dim], size)
        return errors_index.found_late(str(error), self.call, self.line)


class Check:
    """The bounds check of one call on a tensor's storage. The call's kernels get `flag`; call
    `finish` after their launches."""

    def __init__(self, on: Storage, dims: Sequence[int], refusal: Refusal, certain: bool) -> None:
        stream = on.backend._current.stream
        self.stream, self.dims, self.refusal = stream, tuple(dims), refusal
        self.certain = certain
        self.recorder = recorder(on.backend)
        self.capture = None if on.backend.executor is None else capturing(on.backend)
        self.doubt = None
        if self.capture is not None and self.recorder is None:
            with self.capture.uncaptured():
                self.flag = Flag.fresh(on.backend)
        elif self.recorder is not None:
            self.flag = Flag.fresh(on.backend)
        elif certain or _mode == "now":
            self.flag = _flag_of_thread(stream.backend)
        else:
            self.doubt = self._doubt()
            self.flag = self.doubt.flag
        self.flag.tensor._storage.device = on.device

    def finish(self, indices: Sequence[Any] = ()) -> None:
        """Waits for the kernels and raises their error, or defers the check. `indices`: the checked
        indices, for a recorder."""
        if self.certain:
            return
        if self.recorder is not None:
            self.recorder.record_check(self.flag, self.dims, self.refusal, indices)
            return
        if self.capture is not None:
            self.capture.record_check(self.flag, self.dims, self.refusal)
            return
        if self.doubt is not None:
            self.stream.doubts[id(self.doubt)] = self.doubt
            return
        self.stream.finish()
        if violation := self.flag.read_and_clear():
            dim, index, size = violation
            raise self.refusal(index, self.dims[dim], size)

    def _doubt(self) -> IndexDoubt:
        """Returns the deferred check for the user's line; calls from the same line, as in a loop,
        share it."""
        level = levels_to_user()
        user, op_frame = sys._getframe(level - 1), sys._getframe(level - 2)
        call, name, number = op_frame.f_code.co_name, user.f_code.co_filename, user.f_lineno
        if not is_op(call):  # such as a jitted op
            call = op_called()[0]
        key = (call, name, number, self.dims, self.refusal)
        pending_doubts = _doubts.setdefault(self.stream, {})
        pending = pending_doubts.get(key)
        if pending is None:
            if len(pending_doubts) >= MAX_CALLS:
                pending_doubts.clear()
            flag = Flag.fresh(self.stream.backend)
            doubt = IndexDoubt(flag, call, line_of(user), self.dims, self.refusal)
            pending = pending_doubts.setdefault(key, doubt)
        return pending


def _flag_of_thread(backend: Backend) -> Flag:
    flags: dict[Backend, Flag] = vars(_flags).setdefault("of", {})
    if backend not in flags:
        flags[backend] = Flag.fresh(backend)
    return flags[backend]


# Kernels have at most 8 inputs, named a to h.
MAX_INPUTS = 8

# Elements of a run that take as long to copy as one element with an index of its own.
RUN_AT_ONCE = 4

ADD_AT = Op("add_at", "values, self", "b + a", bool_="a | b", complex_="ft_cadd(b, a)", located=True, bare="h")


@dataclass(frozen=True)
class Index:
    """An index tensor over the iteration space, and the dim of the located tensor that it
    indexes."""

    tensor: Tensor
    strides: Ints
    size: int
    stride: int
    dim: int  # the dim in error messages
    checked: bool = False  # known to be in range, so the call does not wait for the kernel
    strict: bool = False  # negative indices are out of range, too
    layout: Ints = ()  # strides that decide the memory layout of a selection's result


@dataclass(frozen=True)
class IndexedOperand:
    """A tensor with its strides over the iteration space; the indices address a `located`
    tensor."""

    tensor: Tensor
    strides: Ints
    located: bool = False


def locate(
    op: Op,
    shape: Ints,
    out: IndexedOperand,
    inputs: Sequence[IndexedOperand],
    indices: Sequence[Index],
    ordered: bool = False,
    refusal: Refusal = errors_index.out_of_bounds,
) -> None:
    """Evaluates `op` at every point of `shape` and writes to `out`.

    With `ordered`, one compute unit visits the points in order, so that several writes to one
    element (or sums into it) have a defined result. Raises `refusal(index, dim, size)` for an index
    out of range; its element is not written.
    """
    if not numel(shape):
        return
    for i in indices:
        if not i.size:
            raise refusal(0, i.dim, 0)
    if len(inputs) + len(indices) > MAX_INPUTS:
        indices = [_merged(shape, indices, out.tensor, refusal)]
    if out.tensor._storage.readonly:
        raise errors.read_only(op.name)
    backend = out.tensor._storage.backend
    key = _key(op, shape, [out, *inputs], indices, ordered)
    certain = all(i.checked or in_range(i.tensor, i.size, i.strict) for i in indices)
    check = Check(out.tensor._storage, [i.dim for i in indices], refusal, certain)
    read = [*[o.tensor for o in inputs], *[i.tensor for i in indices], check.flag.tensor]
    scalars = _index_scalars(indices)
    args = (op, shape, out, inputs, indices, ordered, refusal)
    partial_write = out.located or out.tensor.numel() != numel(shape)
    run(backend, key, prepare, locate, args, read, scalars, out.tensor, partial_write)
    check.finish(indices)


def _key(
    op: Op, shape: Ints, operands: Sequence[IndexedOperand], indices: Sequence[Index], ordered: bool
) -> tuple[Any, ...]:
    return (
        op,
        "locate",
        shape,
        ordered,
        tuple([(o.tensor._dtype, o.strides, o.located) for o in operands]),
        tuple([(i.tensor._dtype, i.strides) for i in indices]),
    )


def _index_scalars(indices: Sequence[Index]) -> list[int]:
    return [n for i in indices for n in (-i.size if i.strict else i.size, i.stride)]


def cached_gather(
    call: str,
    source: Tensor,
    index: Tensor,
    dim: int = 0,
    strict: bool = False,
    refusal: Refusal = errors_index.out_of_bounds,
) -> Tensor | None:
    """Returns the gather by one index along a dim, if `cache_gather` stored a launch for these
    geometries; None on a miss."""
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
    check.finish()
    return results[0]


def cache_gather(
    call: str,
    source: Tensor,
    index: Tensor,
    result: Tensor,
    located: IndexedOperand,
    indices: Sequence[Index],
    dim: int = 0,
) -> None:
    """Stores the launch of a `locate` copy, by one index along a dim, for `cached_gather`."""
    key = _key(COPY, result._shape, [IndexedOperand(result, result._strides), located], indices, False)
    outputs = (Output(result._dtype, result._shape, result._strides),)
    alias_launch(
        source._storage.backend,
        key,
        (call, dim, source._key, index._key),
        outputs=outputs,
        fresh=True,
        fixed_scalars=tuple(_index_scalars(indices)),
    )


def prepare(
    op: Op,
    shape: Ints,
    out: IndexedOperand,
    inputs: Sequence[IndexedOperand],
    indices: Sequence[Index],
    ordered: bool,
    refusal: Refusal,
) -> Launch:
    """Returns the launch of an indexed op: one step, or several beyond 32-bit indexing."""
    backend = out.tensor._storage.backend
    operands = [out, *inputs]
    if op.copies_bits:
        bits = output.as_bits([o.tensor for o in operands])
        operands = [replace(o, tensor=t) for o, t in zip(operands, bits)]
    strides = [o.strides for o in operands] + [i.strides for i in indices]
    sizes, steps = coalesce(shape, strides, range(len(shape)))
    launch_steps = _try_take(op, backend, operands, indices, sizes, steps) or [
        _step(op, backend, operands, indices, piece, steps, ordered, moved) for piece, moved in split(sizes, steps)
    ]
    written = Output(out.tensor._dtype, out.tensor._shape, out.tensor._strides)
    return Launch(tuple(launch_steps), len(strides) + 1, (written,), fresh=False)


def _try_take(
    op: Op,
    backend: Backend,
    operands: Sequence[IndexedOperand],
    indices: Sequence[Index],
    shape: Ints,
    strides: Sequence[Ints],
) -> list[Step]:
    """Returns the step of a CPU's vectorized gather by one index; an empty list if that kernel does
    not fit."""
    if op is not COPY or len(strides) != 3 or not backend.target.processor or not shape:
        return []
    (out, source), (index,) = operands, indices
    (out_step, source_step, index_step), n = (s[-1] for s in strides), shape[-1]
    has_runs = (out_step, source_step, index_step) == (1, 1, 0) and n > 1
    same_dtype = out.tensor._dtype is source.tensor._dtype
    if not (has_runs or (out_step, index_step) == (1, 1)) or out.located or not (source.located and same_dtype):
        return []
    key = take_key(out.tensor._dtype, index.tensor._dtype, backend.target, has_runs)
    if key is None or numel(shape) > COUNTED:
        return []
    rows = numel(shape[:-1])
    work = numel(shape) // (RUN_AT_ONCE if has_runs else 1)
    units = select.compute_units(work, backend.units, backend.target, 1)
    parts = max(1, min(-(-units // rows), n // (4 * key.lanes)))
    g = TakeGeometry(n, parts, source_step, shape[:-1], tuple(zip(*[s[:-1] for s in strides])))
    step = Step(key, min(units, g.items), (0, 1, 2), (0, 1, 2), after=(3,), geometry=g.pack(), work=work)
    return [step]


def _step(
    op: Op,
    backend: Backend,
    operands: Sequence[IndexedOperand],
    indices: Sequence[Index],
    shape: Ints,
    strides: Sequence[Ints],
    ordered: bool,
    moved: Ints,
) -> Step:
    dtypes_ = tuple(o.tensor._dtype for o in operands)
    index_dtypes = tuple(i.tensor._dtype for i in indices)
    units = 1 if ordered else backend.units
    geometry, units = select.rows_geometry(shape, strides, units, backend.target)
    compute = dtypes_[0].compute
    if not op.expression(compute):
        raise op.refusal(op.name, dtypes_[0])
    if refuses_bare(op.promote, op.bare, dtypes_[0]):
        raise errors.not_implemented_for(op.name, dtypes_[0])
    kinds = [LOCATED if o.located else select.access_kind(s[-1]) for o, s in zip(operands, strides)]
    index_kinds = [select.access_kind(s[-1]) for s in strides[len(operands) :]]
    key = located_key(op, dtypes_, kinds, index_dtypes, index_kinds)
    if not is_available(backend, key):
        kinds = [LOCATED if o.located else STRIDED for o in operands]
        other = located_key(op, dtypes_, kinds, index_dtypes, [STRIDED] * len(indices))
        key = other if is_available(backend, other) else key
    pointers = tuple(range(len(strides)))
    return Step(
        key,
        units,
        pointers,
        pointers,
        moved if any(moved) else None,
        after=(len(strides),),
        geometry=geometry,
        work=numel(shape),
    )


def _merged(shape: Ints, indices: Sequence[Index], like: Tensor, refusal: Refusal) -> Index:
    """Returns many indices as one index with the combined, checked offsets."""
    flat_index = contiguous_like(shape, dtypes.int64, like)
    steps = contiguous_strides(shape)
    zeros = (0,) * len(shape)
    zero_filled = fill(flat_index.tensor, 0)
    for i in indices:
        # Gathers from a row of all indices, which checks and wraps the index.
        row = np.arange(i.size, dtype=np.int64) * i.stride
        located = IndexedOperand(host_tensor(row, like), zeros, True)
        positions = contiguous_like(shape, dtypes.int64, like)
        locate(COPY, shape, positions, [located], [replace(i, stride=1)], refusal=refusal)
        pointwise(ADD_AT, (positions.tensor, zero_filled), (), zero_filled, True)
    return Index(zero_filled, steps, 2**62, 1, 0, checked=True)


def contiguous_like(shape: Ints, dtype: dtype, like: Tensor) -> IndexedOperand:
    """Returns a fresh contiguous output over the whole iteration space."""
    tensor = output.new(shape, dtype, like._storage.device)
    return IndexedOperand(tensor, contiguous_strides(shape))


def host_tensor(array: np.ndarray[Any, Any], like: Tensor) -> Tensor:
    """Returns a small array's values in a tensor on the device of `like`, in the array's memory
    order."""
    dtype = dtypes.from_numpy_dtype(array.dtype)
    array = array.copy(order="K")
    strides = tuple([s // dtype.itemsize for s in array.strides])
    tensor = output.new(array.shape, dtype, like._storage.device, strides)
    tensor._storage.backend.upload(tensor._storage, 0, array.ravel(order="K"))
    return record_array_bounds(tensor, array)
