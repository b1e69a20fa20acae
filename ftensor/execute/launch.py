"""A launch as data: which kernels run on which operands, and the way by which they are enqueued."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tensor import Tensor, geometry_key
from ..dtypes import dtype
from ..errors import KernelNotBuilt
from ..iterator.shape import Ints, numel
from .numbers import values_of

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend, Kernel
    from ..runtime.storage import Storage

# A launch of one unit over at most so many elements may run in the calling thread, where a device
# has a queue for that: Python waits meanwhile.
INLINE_ELEMENTS = 1 << 16
# Prepared launches a backend keeps; beyond that all are dropped and made again when needed.
MOST_LAUNCHES = 1 << 14


@dataclass(frozen=True)
class Output:
    """A result of a launch, where it is a fresh tensor."""

    dtype: dtype
    shape: Ints
    strides: Ints
    nbytes: int = field(init=False)
    key: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nbytes", numel(self.shape) * self.dtype.itemsize)
        object.__setattr__(self, "key", geometry_key(self.shape, self.strides, self.dtype))

    def make(self, backend: Backend, where: device) -> Tensor:
        """Memory for the result; its values are whatever lies there."""
        storage = backend.allocate(self.nbytes)
        storage.device = where
        made = object.__new__(Tensor)
        made._storage, made._dtype, made._offset = storage, self.dtype, 0
        made._shape, made._strides, made._key = self.shape, self.strides, self.key
        return made


@dataclass(frozen=True, eq=False)
class Step:
    """One kernel of a launch, and what it is called with.

    Operands are named by their place: the launch's outputs, its inputs, and then its temporaries.
    The kernel gets the `pointers`; for each of `offsets` where that tensor begins, and how far this
    step lies beyond (`moved`), or 0 for None; the launch's numbers, if it takes any; the pointers
    `after` them; and last `n`, or the device's copy of `geometry`, if it is told either.
    """

    key: Any  # a KernelKey, a GemmKey, or the entry of a kernel that has no key
    kernel: Kernel
    units: int
    pointers: Ints
    offsets: tuple[int | None, ...]
    moved: Ints | None = None
    numbers: bool = True
    after: Ints = ()
    n: int | None = None
    geometry: Ints = ()
    table: Storage | None = None  # the geometry on the device, where the kernel is told it


@dataclass(frozen=True, eq=False)
class Launch:
    """An op on one combination of geometries, ready to go.

    `plan` is what its steps were made from, `numbers` the dtypes that Python numbers are rounded
    to (none: they are taken as they are), `temporaries` the bytes of each memory that the steps
    share. `enqueue(stream, numbers, *tensors)` puts the steps on a stream.
    """

    steps: tuple[Step, ...]
    operands: int  # tensors that a call passes: outputs, then inputs
    outputs: tuple[Output, ...] = ()
    plan: Any = None
    numbers: tuple[dtype, ...] = ()
    temporaries: Ints = ()
    # What a call passes, where `call` is to serve it: whether its outputs are fresh tensors, and
    # then for each of its arguments whether that is a tensor (else a number).
    form: tuple[bool, ...] | None = None
    enqueue: Callable[..., None] = field(init=False)
    # With `form`, the whole of `call(arguments, further numbers, out)`, which gives the outputs. It
    # gives None, and has done nothing, where there is something to look at first: somebody at the
    # door, memory that may not be written or that an argument shares, several devices.
    call: Callable[..., Any] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "enqueue", _enqueuer(self))
        if self.form is not None:
            object.__setattr__(self, "call", _caller(self, self.form))


class Missing:
    """Stands where a prepared launch would: the images lack one of its kernels."""

    __slots__ = ("error",)

    def __init__(self, error: KernelNotBuilt) -> None:
        self.error = error


def look_up(
    backend: Backend, key: Hashable, prepare: Callable[..., Launch], args: tuple[Any, ...]
) -> Launch | Missing:
    """The launch that `prepare(*args)` makes, or what is Missing for it; remembered under `key`."""
    found: Launch | None = backend.launches.get(key)
    return found or _prepared(backend, key, prepare, args)


def _prepared(
    backend: Backend, key: Hashable, prepare: Callable[..., Launch], args: tuple[Any, ...]
) -> Launch | Missing:
    # Apart from the launches that can run, so that these need not be told from others when found.
    missed = (Missing, key)
    known = backend.launches.get(missed)
    if known is not None and backend.images is not None:
        if not backend.images.has(known.error.entry):
            missing: Missing = known
            return missing
    if len(backend.launches) >= MOST_LAUNCHES:
        backend.forget_launches()
    try:
        launch = prepare(*args)
    except KernelNotBuilt as error:
        missing = backend.launches[missed] = Missing(error.again())
        return missing
    # Another thread may have prepared it meanwhile, and one serves all: what is thrown away here
    # was never launched.
    one: Launch = backend.launches.setdefault(key, launch)
    return one


def enqueue(launch: Launch, tensors: Sequence[Tensor], numbers: Sequence[Any] = ()) -> None:
    """Enqueue a launch on the current stream: the one door that all launches pass.

    `tensors` are the outputs and the inputs, `numbers` kernel arguments.
    """
    backend = tensors[0]._storage.backend
    stream = backend.current_stream()
    if backend.executor is None:
        launch.enqueue(stream, numbers, *tensors)
    else:
        backend.executor.launch(launch, stream, tensors, numbers)


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


def fitting(kernel: Kernel, units: int, elements: int) -> Kernel:
    """The form of a kernel for so much work: in the calling thread where that is soon done."""
    if units == 1 and elements <= INLINE_ELEMENTS:
        return getattr(kernel, "inline", kernel)
    return kernel


def arguments(step: str, of: Step) -> str:
    """The arguments of a step as Python text: x0, s0 are an operand's tensor and storage."""
    words = [f"s{k}.handle" for k in of.pointers]
    for i, k in enumerate(of.offsets):
        start = "0" if k is None else f"x{k}._offset"
        words.append(start if of.moved is None else f"{start} + {step}_moved[{i}]")
    if of.numbers:
        words.append("*numbers")
    words += [f"s{k}.handle" for k in of.after]
    if of.n is not None or of.table is not None:
        words.append(f"{step}_last")
    return ", ".join(words)


def bound(launch: Launch) -> dict[str, Any]:
    """The values of the names that `arguments` and the text around it mean."""
    scope: dict[str, Any] = {}
    for i, step in enumerate(launch.steps):
        scope[f"k{i}"], scope[f"k{i}_units"] = step.kernel, step.units
        scope[f"k{i}_moved"] = step.moved
        scope[f"k{i}_last"] = step.n if step.table is None else step.table.handle
    for k, nbytes in enumerate(launch.temporaries, launch.operands):
        scope[f"bytes{k}"] = nbytes
    return scope


def steps_text(launch: Launch, given: Sequence[int]) -> list[str]:
    """Lines that note the use of the storages `given` on the stream, and call every kernel."""
    lines = [f"if s{k}.stream is not stream: stream.use(s{k})" for k in given]
    lines += [
        f"s{k} = stream.backend.allocate(bytes{k}, stream)"
        for k in range(launch.operands, launch.operands + len(launch.temporaries))
    ]
    lines += [
        f"k{i}(stream, k{i}_units, {arguments(f'k{i}', step)})"
        for i, step in enumerate(launch.steps)
    ]
    # What others see is written, and what others may write is read, when the call returns.
    seen = " or ".join(f"s{k}.visible" for k in given)
    return [*lines, f"if {seen}: stream.finish()"]


def written(parameters: str, lines: Sequence[str], scope: dict[str, Any]) -> Callable[..., Any]:
    """A function of these parameters and lines, in which the names of `scope` have their values."""
    maker = _maker(parameters, tuple(lines), tuple(scope))
    made: Callable[..., Any] = maker(*scope.values())
    return made


@cache
def _maker(parameters: str, lines: tuple[str, ...], names: tuple[str, ...]) -> Callable[..., Any]:
    """What binds the names; one compilation serves all launches of a form."""
    text = [f"def bind({', '.join(names)}):", f"    def launch({parameters}, /):"]
    text += [f"        {line}" for line in lines or ("pass",)]
    text.append("    return launch")
    scope: dict[str, Any] = {}
    exec(compile("\n".join(text), "<ftensor launch>", "exec"), scope)
    made: Callable[..., Any] = scope["bind"]
    return made


def _enqueuer(launch: Launch) -> Callable[..., None]:
    """The function that puts a launch's steps on a stream, written for its form."""
    operands = range(launch.operands)
    lines = [f"s{k} = x{k}._storage" for k in operands] + steps_text(launch, operands)
    parameters = ", ".join(["stream", "numbers", *[f"x{k}" for k in operands]])
    return written(parameters, lines if launch.steps else (), bound(launch))


def _caller(launch: Launch, form: tuple[bool, ...]) -> Callable[..., Any]:
    """The function that checks and does a call, written for its form."""
    fresh, *arguments = form
    operands, count = range(launch.operands), len(launch.outputs)
    results, inputs = operands[:count], operands[count:]
    given = inputs if fresh else operands
    left = iter(inputs)
    names = [f"x{next(left)}" if tensor else f"n{i}" for i, tensor in enumerate(arguments)]
    numbers = [name for name in names if name[0] == "n"]
    params = [f"p{i}" for i in range(len(launch.numbers) - len(numbers))]
    lines = [f"{', '.join(names)}, = inputs"] if names else []
    lines += [f"{', '.join(params)}, = params"] if params else []
    lines += [f"s{k} = x{k}._storage" for k in given]
    lines.append(f"device, backend = s{given[0]}.device, s{given[0]}.backend")
    looks = [f"s{k}.device is not device" for k in given[1:]]
    looks += ["backend.executor is not None"]
    if not fresh:
        looks += ["s0.readonly", *[f"s{k} is s0 and x{k} is not x0" for k in inputs]]
    lines += [f"if {' or '.join(looks)}: return None", "stream = backend._current.stream"]
    scope = bound(launch) | {f"d{i}": d for i, d in enumerate(launch.numbers)}
    scope |= {"new": object.__new__, "Tensor": Tensor, "values_of": values_of}
    if not fresh:
        lines.append("s0.bounds = None")
    for k, out in zip(results if fresh else (), launch.outputs):
        lines += [
            f"s{k} = backend.pool.take(nbytes{k}, stream)",
            f"s{k}.device = device",
            f"x{k} = new(Tensor)",
            f"x{k}._storage, x{k}._dtype, x{k}._offset = s{k}, dtype{k}, 0",
            f"x{k}._shape, x{k}._strides, x{k}._key = shape{k}, strides{k}, key{k}",
        ]
        scope |= {f"nbytes{k}": out.nbytes, f"dtype{k}": out.dtype, f"key{k}": out.key}
        scope |= {f"shape{k}": out.shape, f"strides{k}": out.strides}
    if launch.numbers:
        rounded = enumerate([*numbers, *params])
        lines.append(f"numbers = {' + '.join(f'values_of({n}, d{i})' for i, n in rounded)}")
    elif any(step.numbers for step in launch.steps):
        lines.append("numbers = params")
    lines += steps_text(launch, given)
    lines.append(f"return {', '.join(f'x{k}' for k in results)},")
    return written("inputs, params, x0", lines, scope)
