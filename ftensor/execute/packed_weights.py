"""Cached tensors: packed weights, valid until the weight is written; and constants, computed once
per device and shared by calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from ..iterator.shape import Ints
from ..kernels.skeletons.conv import ConvKey, ConvPackGeometry
from .capture import capturing
from .dispatch import MissingKernel, geometry_storage, look_up, recorder
from .indexed import host_tensor, record_array_bounds
from .launch import Launch, Output, Step, enqueue

if TYPE_CHECKING:
    from ..runtime.pool import Storage

# The smallest storage, in bytes, with cached tensors, and the most keys per storage.
LEAST, MOST = 1 << 14, 64


class Derived(NamedTuple):
    """Tensors computed from a storage, and possibly from a second storage whose contents `mark`
    identifies."""

    tensors: tuple[Tensor, ...]
    mark: object


class DerivedTensors:
    """The tensors derived from one storage, by key. `mark` identifies the contents of the storage
    at that time. A key that was requested once has None: only a second request derives tensors."""

    __slots__ = ("__weakref__", "entries", "mark")

    def __init__(self) -> None:
        self.entries: dict[Hashable, Derived | None] = {}
        self.mark = object()

    def note(self, key: Hashable, derived: Derived | None) -> None:
        """Stores derived tensors under a key, or None to note the request."""
        if len(self.entries) >= MOST:
            self.entries.clear()
        self.entries[key] = derived

    def drop(self) -> bool:
        """Removes all entries. Returns True if an entry held tensors."""
        had_entries = any(self.entries.values())
        self.entries.clear()
        return had_entries


def can_cache(storage: Storage) -> bool:
    """True if tensors derived from the storage may be cached: the library sees every write to the
    storage."""
    if storage.nbytes < LEAST or storage.owner is not None or storage.exposed:
        return False
    if storage.backend.executor is not None and capturing(storage.backend) is not None:
        return False  # replays would use the old panels after the weight has changed
    return not storage.visible


def derived_tensors(storage: Storage) -> DerivedTensors:
    """Returns the derived tensors of a storage that passes `can_cache`."""
    kept: DerivedTensors | None = storage.derived
    if kept is None:
        kept = storage.derived = DerivedTensors()
    return kept


def valid_tensors(derived: Derived | None, storage: Storage) -> tuple[Tensor, ...] | None:
    """Returns the derived tensors, ready for the current stream; None if the contents of `storage`
    have changed."""
    if derived is None or storage.derived is None or storage.derived.mark is not derived.mark:
        return None
    stream, origin = storage.backend._current.stream, derived.tensors[0]._storage.stream
    if origin is not stream:
        stream.wait_stream(origin)
    return derived.tensors


# A launch's operands: those of `conv.prepare`, and their packed forms. With cached panels,
# these come before the planes, and read-only operands after them.
OUT, X, WEIGHT, BIAS, PLANES, PANELS = range(6)
PACKING = ("conv_pack", "conv_bytes_pack")


def has_packing(launch: Launch) -> bool:
    """True if a launch of `conv.prepare` packs panels."""
    return len(launch.temporaries) > 1


def call_of(call: Hashable, weight: Tensor, addend: Tensor) -> Hashable:
    """Returns the key under which the weight's storage caches its packed panels for a call."""
    return call, weight._offset, addend._offset


def panels(launch: Launch, call: Hashable, x: Tensor, weight: Tensor, addend: Tensor) -> tuple[Tensor, ...] | None:
    """Returns the panels that `launch` packs, cached or packed now; `addend` is the bias, or the
    weight if there is none. Returns None at the first request for a weight, if writes to it may be
    invisible, and while this thread records launches."""
    storage, addend_storage = weight._storage, addend._storage
    if not has_packing(launch) or not can_cache(storage) or recorder(storage.backend) is not None:
        return None
    if addend_storage is not storage and (
        addend_storage.owner is not None or addend_storage.exposed or addend_storage.visible
    ):
        return None
    steps = _panel_steps(launch)
    key = (tuple([(s.key, s.geometry) for s in steps]), weight._offset, addend._offset)
    at = None if call is None else call_of(call, weight, addend)
    kept, mark = derived_tensors(storage), derived_tensors(addend_storage).mark
    entry = kept.entries.get(key)
    if entry is None or (tensors := valid_tensors(entry, addend_storage)) is None:
        if key not in kept.entries and at not in kept.entries:
            kept.note(key, None)
            return None
        tensors = _make_panels(launch, steps, (x, weight, addend))
        if tensors is None:
            return None
        kept.drop()  # panels packed with another bias
        entry = Derived(tensors, mark)
        kept.note(key, entry)
        storage.backend.track_cache(kept)
    if at is not None:
        kept.note(at, entry)
    return tensors


def _make_panels(launch: Launch, steps: list[Step], inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
    storage = inputs[1]._storage
    backend = storage.backend
    key = ("conv panels", tuple([(s.key, s.units, s.geometry) for s in steps]))
    packing = look_up(backend, key, _panel_launch, (launch, steps))
    if isinstance(packing, MissingKernel):
        return None
    tensors = tuple([output.make(backend, storage.device) for output in packing.outputs])
    enqueue(packing, (*tensors, *inputs))
    return tensors


def _panel_steps(launch: Launch) -> list[Step]:
    """Returns the launch's packing steps, changed so that they pack the weight's panels but no
    input planes."""
    steps = []
    for step in launch.steps:
        if step.key.skeleton in PACKING:
            g = ConvPackGeometry.unpack(step.geometry)
            if g.panels:
                nothing = replace(
                    g,
                    batch=0,
                    channels=1,
                    plane=1,
                    part=(1,) * 3,
                    step=(1,) * 3,
                    input=(1,) * 3,
                    x=(0,) * 5,
                    deep=(0,),
                    high=(0,),
                    wide=(0,),
                )
                units = min(step.units, nothing.of_panels)
                steps.append(replace(step, units=units, geometry=nothing.pack()))
    return steps


def _panel_launch(launch: Launch, steps: list[Step]) -> Launch:
    """Returns a launch that only packs panels, into one tensor for each group of results."""
    count = len(steps)
    operands = {X: count, WEIGHT: count + 1, BIAS: count + 2, PLANES: count + 3}
    operands |= {PANELS + k: k for k in range(count)}
    key = steps[0].key
    assert isinstance(key, ConvKey)
    dtype = key.dtype.compute
    outputs = [Output(dtype, (nbytes // dtype.itemsize,), (1,)) for nbytes in launch.temporaries[1:]]
    return Launch(tuple([_relocated(s, operands) for s in steps]), count + 3, tuple(outputs), temporaries=(64,))


def without_packing(launch: Launch) -> Launch:
    """Returns a convolution's launch without the steps that pack its weights: the cached panels
    become inputs instead of temporaries."""
    count = len(launch.temporaries) - 1
    unused = PLANES + count + 1
    operands = {OUT: OUT, X: X, WEIGHT: WEIGHT, BIAS: BIAS, PLANES: PLANES + count}
    operands |= {PANELS + k: PLANES + k for k in range(count)}
    steps = []
    for step in launch.steps:
        if step.key.skeleton not in PACKING:
            steps.append(_relocated(step, operands))
            continue
        g = ConvPackGeometry.unpack(step.geometry)
        if g.batch:
            units = min(step.units, g.of_planes)
            packed = replace(step, units=units, geometry=replace(g, panels=0).pack())
            steps.append(_relocated(packed, {**operands, **{PANELS + k: unused for k in range(count)}}))
    return replace(launch, steps=tuple(steps), operands=PLANES + count, temporaries=(launch.temporaries[0], 64))


def _relocated(step: Step, operands: dict[int, int]) -> Step:
    starts = tuple([None if k is None else operands[k] for k in step.offsets])
    return replace(step, pointers=_mapped(step.pointers, operands), offsets=starts)


def _mapped(operands: Ints, mapping: dict[int, int]) -> Ints:
    return tuple([mapping[k] for k in operands])


# The largest array, in bytes, that is cached by its contents; the bytes of a cache entry.
MAX_CACHED_BYTES, OVERHEAD = 1 << 16, 1 << 10


class _Constant(NamedTuple):
    """Cache entry of a constant tensor among a device's launches; unused entries are evicted."""

    tensor: Tensor

    @property
    def kept_bytes(self) -> int:
        """Returns the bytes of the tensor and of its key, which may hold the same bytes."""
        return 2 * self.tensor._storage.nbytes + OVERHEAD


def constant(key: Hashable, like: Tensor, make: Callable[[], np.ndarray[Any, Any]]) -> Tensor:
    """Returns the contiguous read-only tensor of the array that `make()` returns, on the device of
    `like`. Cached by `key`."""
    storage = like._storage
    launches, entry_key = storage.backend.launches, (_Constant, storage.device, key)
    entry: _Constant | None = launches.find(entry_key)
    if entry is None:
        array = np.ascontiguousarray(make())
        memory = geometry_storage(storage.backend, array.ravel().tolist(), array.dtype)
        memory.device = storage.device
        strides = tuple([s // array.itemsize for s in array.strides])
        tensor = Tensor._make(memory, dtypes.from_numpy_dtype(array.dtype), array.shape, strides)
        entry = launches.keep(entry_key, _Constant(record_array_bounds(tensor, array)))
    return entry.tensor


def constant_of(array: np.ndarray[Any, Any], like: Tensor) -> Tensor:
    """Like `constant`, for an array that each call computes. Arrays of up to `MAX_CACHED_BYTES`
    bytes with equal contents share a tensor."""
    if not 0 < array.nbytes <= MAX_CACHED_BYTES:
        return host_tensor(array, like)
    key = array.dtype.char, array.shape, array.tobytes()
    return constant(key, like, lambda: array)
