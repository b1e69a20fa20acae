"""Look-up of launches: from the cache, or prepared and bound to kernels of a device."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..errors import KernelNotBuilt
from ..kernels.skeleton import skeleton_of
from ..runtime.program import kernel
from .keys import MOST_KEYS
from .launch import LAUNCH_BYTES, Bound, Launch, Step
from .observe import recorder

if TYPE_CHECKING:
    from ..kernels.key import Key
    from ..runtime.backend import Backend
    from ..runtime.interfaces import CompiledKernel
    from ..runtime.launch_cache import SharedTable
    from ..runtime.storage import Storage
    from ..runtime.targets import Target

# `prepare` may decline and return None.
L = TypeVar("L", Launch, Launch | None)


class MissingKernel:
    """Cache entry of a call whose kernels the images lack."""

    __slots__ = ("error",)

    def __init__(self, error: KernelNotBuilt) -> None:
        self.error = error

    @property
    def kept_bytes(self) -> int:
        """Returns about how many bytes of host memory the entry takes."""
        return LAUNCH_BYTES


def look_up(backend: Backend, key: Hashable, prepare: Callable[..., L], args: tuple[Any, ...]) -> L | MissingKernel:
    """Returns the launch cached under `key`, or prepared by `prepare(*args)`; a MissingKernel if
    the images lack a kernel; None if `prepare` declines."""
    launch: L | MissingKernel | None = backend.launches.find(key)
    if launch is None and (who := recorder(backend)) is not None:
        launch = who.launches.get(key)
    return launch or _prepared(backend, key, prepare, args)


def _prepared(backend: Backend, key: Hashable, prepare: Callable[..., L], args: tuple[Any, ...]) -> L | MissingKernel:
    # Under another key than launches, so that a look-up of a launch needs no type check.
    missed, who = (MissingKernel, key), recorder(backend)
    if backend.images is not None and who is None:
        known: MissingKernel | None = backend.launches.find(missed)
        if known is not None and not backend.images.has(known.error.entry):
            return known
    try:
        launch = prepare(*args)
        if launch is not None and who is None:
            launch.bind(bound_to(backend, launch.steps))
    except KernelNotBuilt as error:
        backend.launches.pop(missed, None)  # an image that was added may lack another kernel
        return backend.launches.keep(missed, MissingKernel(error.again()))
    if launch is None:
        return launch
    if who is not None:  # the launch has no kernels, and its graph alone needs it
        who.launches[key] = launch
        return launch
    # Another thread may have prepared it meanwhile, and one serves all: what is thrown away here
    # was never launched.
    return backend.launches.keep(key, launch)


def bound_to(backend: Backend, steps: Sequence[Step]) -> tuple[Bound, ...]:
    """Returns the kernels and geometry buffers that run the steps on a device. Raises
    KernelNotBuilt if its images lack a kernel."""
    kernels = [_fitting(kernel(backend, step.key), step, backend.target) for step in steps]
    return tuple([Bound(run, _table(backend, step)) for run, step in zip(kernels, steps)])


def _fitting(run: CompiledKernel, step: Step, target: Target) -> CompiledKernel:
    """Returns the kernel's inline form, which runs in the calling thread, for small work of one
    unit; else the kernel."""
    if step.units == 1 and step.work is not None and step.work <= target.inline_elements:
        return getattr(run, "inline", run)
    return run


def _table(backend: Backend, step: Step) -> Storage | SharedTable | None:
    of = _geometry_dtype(step.key) if step.geometry else None
    if of is None:
        return None
    if backend.host_shared and backend.executor is None:
        return backend.tables.sharing(np.array(step.geometry, of))
    return geometry_storage(backend, step.geometry, of)


@lru_cache(MOST_KEYS)
def _geometry_dtype(key: Key) -> type | None:
    """Returns the dtype of the kernel's geometry buffer; None if the kernel has none."""
    for _, word, name in skeleton_of(key).parameters(key):
        if name == "geometry":
            return np.int64 if "long" in word else np.int32
    return None


def geometry_storage(backend: Backend, geometry: Sequence[int], of: Any = np.int32) -> Storage:
    """Returns a small device buffer with a launch's loop sizes and strides."""
    array = np.array(geometry, of)
    if backend.host_shared and backend.executor is None:
        return backend.tables.holding(array)
    storage = backend.allocate_lasting(array.nbytes)
    backend.upload(storage, 0, array)
    if len(backend.streams) > 1:
        # The prepared launch is everybody's, and the upload may still be queued behind this
        # stream's work when another stream launches it.
        backend.current_stream().finish()
    return storage
