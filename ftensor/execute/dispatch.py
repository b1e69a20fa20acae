"""Finds or prepares the launch of a call and enqueues it, or lets the host compute the call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..errors import KernelNotBuilt
from ..kernels.skeleton import skeleton_of
from ..rows.catalogue import op_called
from ..rows.copies import COPY, FILL
from ..runtime.launch_cache import kernel
from .fallback import run_on_host
from .keys import MAX_KEYS
from .launch import LAUNCH_BYTES, Bound, Launch, Output, Step, enqueue
from .scalars import CapturedRandom, check_values, values_of

if TYPE_CHECKING:
    from ..kernels.key import Key
    from ..runtime.backend import Backend, Executor
    from ..runtime.interfaces import CompiledKernel
    from ..runtime.launch_cache import SharedTable
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream
    from ..runtime.targets import Target


class Observer:
    """Passes every call on; a subclass overrides the calls that it observes or replaces.

    Copies between tensors and fills are launches. `upload` and `download` are copies from and to
    the host. On a device that shares the host's memory, reading a value is no download.
    """

    inner: Executor | None = None  # the next observer

    def called(self) -> None:
        """Called at an op's call, before its launch is looked up or prepared."""
        if self.inner is not None:
            self.inner.called()

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        """Runs a launch on a stream. `tensors` are its outputs and inputs, `scalars` the scalar
        kernel arguments."""
        if self.inner is None:
            launch.enqueue(stream, scalars, *tensors)
        else:
            self.inner.launch(launch, stream, tensors, scalars)

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies an array to a storage."""
        if self.inner is None:
            storage.backend._upload(storage, byte_offset, array)
        else:
            self.inner.upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies a storage to an array, after the storage's pending work has finished."""
        if self.inner is None:
            storage.backend._download(storage, byte_offset, array)
        else:
            self.inner.download(storage, byte_offset, array)

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        """Returns memory; `lasting` memory serves all calls."""
        if self.inner is None:
            private = None if lasting else backend._current.private  # lasting memory is all calls'
            storage = (private or backend.pool).take(nbytes, stream)
        else:
            storage = self.inner.allocate(backend, nbytes, stream, lasting)
        self.allocated(storage)
        return storage

    def allocated(self, storage: Storage) -> None:
        """Called after memory was allocated."""

    def read(self, storage: Storage) -> None:
        """Called before the host reads or writes shared memory."""
        if self.inner is not None:
            self.inner.read(storage)

    def reshaped(self, tensor: Tensor) -> None:
        """Called before a tensor gets another geometry or other memory."""
        if self.inner is not None:
            self.inner.reshaped(tensor)

    def start_read(self, tensor: Tensor, multiple: int) -> None:
        """Called when code depends on a tensor's offset: modulo `multiple` bytes, or, if `multiple`
        is 0, exactly and with the size of its memory."""
        if self.inner is not None:
            self.inner.start_read(tensor, multiple)


class LaunchRecorder(Observer):
    """Records the launches of the thread that creates it instead of running them. Recorded launches
    need no kernels. Calls of other threads pass through."""

    def __init__(self) -> None:
        self.thread = get_ident()
        # The launches that were prepared for the recording, by key; they have no kernels.
        self.launches: dict[Hashable, Launch] = {}

    @property
    def is_current_thread(self) -> bool:
        """True if the calling thread is recorded."""
        return get_ident() == self.thread

    @abstractmethod
    def is_placeholder(self, storage: Storage) -> bool:
        """True if this recorder allocated the storage, so that only recorded launches write to it."""

    @abstractmethod
    def record_check(self, flag: Any, dims: Sequence[int], refusal: Any, indices: Sequence[Any]) -> None:
        """Records that a launch sets `flag` if one of `indices` is out of range. During the
        recording no code waits for the flag."""

    @abstractmethod
    def record_draw(self, generator: Any, words: Callable[[int, int], Any]) -> tuple[Any, ...]:
        """Returns the numbers that `words` computes from a draw of a generator. Each run of the
        recorded launches draws anew."""

    @abstractmethod
    def record_seeding(self, apply: Callable[[], object], undo: Callable[[], object]) -> None:
        """Runs `apply`, which changes the state of generators, as will each run of the recorded
        launches. `undo` restores the states from before the recording."""

    @abstractmethod
    def refuse_state_read(self) -> None:
        """Raises an error: Python code reads the state of a generator, which differs in later runs."""

    def layer(
        self, kind: str, inputs: Sequence[Tensor], settings: Mapping[str, Any], compute: Callable[[], Tensor]
    ) -> Tensor:
        """Returns `compute()`; a subclass may record its launches as one layer (layers.py)."""
        return compute()


def find_observer(backend: Backend, matches: Callable[[Any], bool]) -> Any:
    """Returns the innermost observer of a device for which `matches` is True; None if there is
    none."""
    observer: Any = backend.executor
    while observer is not None and not matches(observer):
        observer = getattr(observer, "inner", None)
    return observer


def recorder(backend: Backend) -> LaunchRecorder | None:
    """Returns the LaunchRecorder of this thread on a device; None if there is none."""
    return find_observer(backend, lambda one: isinstance(one, LaunchRecorder) and one.is_current_thread)


def thread_recorder() -> LaunchRecorder | None:
    """Returns the innermost LaunchRecorder of this thread, whatever its device; None if there is
    none."""
    return next((at for at in reversed(_recorders) if at.is_current_thread), None)


@contextmanager
def observed(backend: Backend, observer: Observer) -> Iterator[None]:
    """Puts `observer` before a device's other observers. Observers may be removed in any order."""
    with _observers_lock:
        observer.inner, backend.executor = backend.executor, observer
        if isinstance(observer, LaunchRecorder):
            _recorders.append(observer)
    try:
        yield
    finally:
        with _observers_lock:
            _leave(backend, observer)
            if isinstance(observer, LaunchRecorder):
                _recorders.remove(observer)


_observers_lock = RLock()
_recorders: list[LaunchRecorder] = []  # of all devices and threads


def _leave(backend: Backend, observer: Observer) -> None:
    if backend.executor is observer:
        backend.executor = observer.inner
        return
    previous: Any = backend.executor
    while previous.inner is not observer:
        previous = previous.inner
    previous.inner = observer.inner


# `prepare` may decline and return None.
L = TypeVar("L", Launch, Launch | None)


class MissingKernel:
    """Cache entry of a call whose kernels the images lack."""

    __slots__ = ("error",)

    def __init__(self, error: KernelNotBuilt) -> None:
        self.error = error

    @property
    def kept_bytes(self) -> int:
        """Returns the approximate host memory of the entry in bytes."""
        return LAUNCH_BYTES


def look_up(
    backend: Backend, call_key: Hashable, prepare: Callable[..., L], args: tuple[Any, ...]
) -> L | MissingKernel:
    """Returns the launch cached under `call_key`, or prepared by `prepare(*args)`; a MissingKernel if
    the images lack a kernel; None if `prepare` declines."""
    launch: L | MissingKernel | None = backend.launches.find(call_key)
    if launch is None and (current := recorder(backend)) is not None:
        launch = current.launches.get(call_key)
    return launch or _prepared(backend, call_key, prepare, args)


def _prepared(
    backend: Backend, call_key: Hashable, prepare: Callable[..., L], args: tuple[Any, ...]
) -> L | MissingKernel:
    # Not the launch's key, so that a look-up of a launch needs no type check.
    miss_key, current = (MissingKernel, call_key), recorder(backend)
    if backend.images is not None and current is None:
        missing: MissingKernel | None = backend.launches.find(miss_key)
        if missing is not None and not backend.images.has(missing.error.entry):
            return missing
    try:
        launch = prepare(*args)
        if launch is not None and current is None:
            launch.bind(bound_to(backend, launch.steps))
    except KernelNotBuilt as error:
        backend.launches.pop(miss_key, None)  # an image that was added may lack another kernel
        return backend.launches.keep(miss_key, MissingKernel(error.again()))
    if launch is None:
        return launch
    if current is not None:  # a recorded launch is used by its graph only
        current.launches[call_key] = launch
        return launch
    # Another thread may have prepared it meanwhile. The first one is kept; the other was never
    # launched.
    return backend.launches.keep(call_key, launch)


def bound_to(backend: Backend, steps: Sequence[Step]) -> tuple[Bound, ...]:
    """Returns the kernels and geometry buffers that run the steps on a device. Raises
    KernelNotBuilt if its images lack a kernel."""
    kernels = [_inline_or_kernel(kernel(backend, step.key), step, backend.target) for step in steps]
    return tuple([Bound(run, _geometry_table(backend, step)) for run, step in zip(kernels, steps)])


def _inline_or_kernel(run: CompiledKernel, step: Step, target: Target) -> CompiledKernel:
    """Returns the kernel's inline form, which runs in the calling thread, if one compute unit has
    little work; else the kernel."""
    if step.units == 1 and step.work is not None and step.work <= target.inline_elements:
        return getattr(run, "inline", run)
    return run


def _geometry_table(backend: Backend, step: Step) -> Storage | SharedTable | None:
    dtype = _geometry_dtype(step.key) if step.geometry else None
    if dtype is None:
        return None
    if backend.host_shared and backend.executor is None:
        return backend.tables.sharing(np.array(step.geometry, dtype))
    return geometry_storage(backend, step.geometry, dtype)


@lru_cache(MAX_KEYS)
def _geometry_dtype(key: Key) -> type | None:
    """Returns the dtype of the kernel's geometry buffer; None if the kernel has none."""
    for _, word, name in skeleton_of(key).parameters(key):
        if name == "geometry":
            return np.int64 if "long" in word else np.int32
    return None


def geometry_storage(backend: Backend, geometry: Sequence[int], dtype: Any = np.int32) -> Storage:
    """Returns a small device buffer with a launch's loop sizes and strides."""
    array = np.array(geometry, dtype)
    if backend.host_shared and backend.executor is None:
        return backend.tables.holding(array)
    storage = backend.allocate_lasting(array.nbytes)
    backend.upload(storage, 0, array)
    if len(backend.streams) > 1:
        # All streams share the prepared launch, and the upload may still be queued behind this
        # stream's work when another stream launches it.
        backend.current_stream().finish()
    return storage


# A call's output arguments: None if all outputs are fresh, the single output, or a sequence of all
# outputs with None for each fresh output.
Out = Tensor | Sequence[Tensor | None] | None


def run(
    backend: Backend,
    call_key: Hashable,
    prepare: Callable[..., Launch],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    scalars: Sequence[Any] = (),
    out: Out = None,
    partial_write: bool = False,
) -> tuple[Tensor, ...]:
    """Runs the launch that is cached under `call_key`, or that `prepare(*args)` returns. Returns its
    outputs.

    If an image lacks a kernel, the host fallback calls `function(*args)`, which writes `out` if that
    is a tensor (`partial_write`: only a part of it). Raises RuntimeError for tensors on different
    devices.
    """
    results: tuple[Tensor, ...] | None = backend.launches[call_key].call(inputs, scalars, out)
    if results is None:
        results = run_uncached(backend, call_key, prepare, function, args, inputs, scalars, out, partial_write)
    return results


def try_run(
    backend: Backend,
    call_key: Hashable,
    prepare: Callable[..., Launch | None],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    scalars: Sequence[Any] = (),
) -> tuple[Tensor, ...] | None:
    """Like `run`, but returns None if `prepare` declines or the operands are on several devices."""
    results: tuple[Tensor, ...] | None = backend.launches[call_key].call(inputs, scalars, None)
    device = inputs[0]._storage.device
    if results is None and all(x._storage.device is device for x in inputs):
        results = run_uncached(backend, call_key, prepare, function, args, inputs, scalars)
    return results


def run_uncached(
    backend: Backend,
    call_key: Hashable,
    prepare: Callable[..., Launch | None],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Sequence[Tensor],
    scalars: Sequence[Any] = (),
    out: Out = None,
    partial_write: bool = False,
) -> Any:
    """Like `run`, for a call that the cached launch does not handle: a new key, or a call that
    needs checks. Returns None if `prepare` declines."""
    written: Any = (out,) if type(out) is Tensor else out or ()
    tensors = [x for x in (*inputs, *written) if x is not None]
    device = tensors[0]._storage.device
    if any(x._storage.device is not device for x in tensors):
        raise errors.different_devices(op_called()[0], [x.device for x in tensors])
    if backend.executor is not None:
        backend.executor.called()
    launch = look_up(backend, call_key, prepare, args)
    if launch is None:
        return None
    if isinstance(launch, MissingKernel):
        host_out = out if type(out) is Tensor else None
        result = run_on_host(launch.error, function, args, host_out, partial_write)
        return result if isinstance(result, tuple) else (result,)
    destinations = written or (None,) * len(launch.outputs)
    outputs = tuple(
        [output.make(backend, device) if x is None else x for output, x in zip(launch.outputs, destinations)]
    )
    for x in outputs:
        x._storage.changed()
    if launch.fixed_scalars is not None:
        scalars = launch.fixed_scalars
    elif recorder(backend) is not None:
        # An observer may record where each number comes from.
        for x, d in zip(scalars, launch.scalar_dtypes):
            check_values(x, d)
    elif launch.scalar_dtypes:
        scalars = _rounded(launch, scalars)
    constants = [constant(inputs[0]) for constant in launch.constants]
    enqueue(launch, (*outputs, *inputs, *constants), scalars)
    for x in outputs:
        x._storage.changed()  # only now: another thread may have read the memory before the write
    return outputs


def _rounded(launch: Launch, scalars: Sequence[Any]) -> list[Any]:
    """Returns a call's Python numbers rounded to the dtypes in which the launch passes them."""
    values: list[Any] = []
    for x, d in zip(scalars, launch.scalar_dtypes):
        if type(x) is CapturedRandom:
            x.capture.record_use(launch, len(values), d, x)
        values += values_of(x, d)
    return values


def never_on_host(*args: object) -> Any:
    """Placeholder for `entry` in calls whose kernel is known to be built. Raises AssertionError."""
    raise AssertionError("the kernel is held")


def alias_launch(backend: Backend, key: Hashable, alias: Hashable, **changes: Any) -> None:
    """Stores the launch cached under `key` also under `alias`, a key that a caller can form before
    it computes the operands. `changes` are fields to replace in the stored copy."""
    launch = backend.launches.get(key)
    if launch is None:  # the host computed it, or a trace recorded it
        return
    if changes:
        bound, launch = launch.bound, replace(launch, **changes)
        launch.bind(bound)
    backend.launches.keep(alias, launch)


MAX_COPIES = 8  # in one launch


def cached_result(call: Hashable, *inputs: Any) -> Tensor | None:
    """Returns the result of a call whose launch `cache_result` stored under this key; None on a
    miss."""
    for x in inputs:
        if type(x) is not Tensor:
            return None
    call_key = (call, *[x._key for x in inputs])
    results = inputs[0]._storage.backend.launches[call_key].call(inputs, (), None)
    return None if results is None else results[0]


def cache_result(
    call: Hashable, inputs: Sequence[Tensor], result: Tensor, launch: Hashable, scalars: Sequence[Any]
) -> None:
    """Stores the launch of a call for `cached_result`. The launch is cached under its own key and
    wrote `result`, a fresh tensor. `inputs` have the offsets and the order of the operands that it
    reads; `scalars` are its scalar kernel arguments."""
    backend = result._storage.backend
    call_key = (call, *[x._key for x in inputs])
    if not backend.target.is_board and call_key not in backend.launches:
        output = Output(result._dtype, result._shape, result._strides)
        alias_launch(backend, launch, call_key, outputs=(output,), fresh=True, fixed_scalars=tuple(scalars))


def cache_copies(
    call: Hashable, inputs: Sequence[Tensor], result: Tensor, pieces: Sequence[Tensor], zeros: bool = False
) -> None:
    """Stores one launch for `cached_result` that copies each of `inputs` to its piece of a fresh
    result. `zeros`: the pieces don't cover the result, which `FILL` has set to an int 0 before."""
    launches = result._storage.backend.launches
    key = (call, *[x._key for x in inputs])
    if result._storage.backend.target.is_board or key in launches or len(inputs) > MAX_COPIES:
        return
    steps: list[Step] = []
    bound: list[Bound] = []
    scalars: tuple[Any, ...] = ()
    if zeros:
        fill = launches.get((FILL, result._key, int))
        if type(fill) is not Launch or fill.bound is None or fill.temporaries:
            return
        steps, bound, scalars = [*fill.steps], [*fill.bound], values_of(0, *fill.scalar_dtypes)
    for k, (x, piece) in enumerate(zip(inputs, pieces), 1):
        copy_launch = launches.get((COPY, piece._key, x._key))
        if type(copy_launch) is not Launch or copy_launch.bound is None or copy_launch.temporaries:
            return
        for step in copy_launch.steps:
            if 0 not in step.offsets:
                return
            moved = step.moved or (0,) * len(step.offsets)
            moved = tuple([m + piece._offset * (o == 0) for o, m in zip(step.offsets, moved)])
            # The copy's operand 0 is the piece and operand 1 is the source.
            pointers = tuple([p and k for p in step.pointers])
            offsets = tuple([o and k for o in step.offsets])
            steps.append(replace(step, pointers=pointers, offsets=offsets, moved=moved))
        bound += copy_launch.bound
    output = Output(result._dtype, result._shape, result._strides)
    launch = Launch(tuple(steps), 1 + len(inputs), (output,), fixed_scalars=scalars)
    launch.bind(tuple(bound))
    launches.keep(key, launch)
