"""A launch as data: kernels, their operands, and the generated code that enqueues them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from .._tensor import Tensor, geometry_key
from ..dtypes import dtype
from ..iterator.shape import Ints, numel
from ..kernels.skeleton import skeleton_of
from .scalars import values_of

if TYPE_CHECKING:
    from .._device import device
    from ..kernels.key import Key
    from ..runtime.backend import Backend
    from ..runtime.interfaces import CompiledKernel
    from ..runtime.launch_cache import SharedTable
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream


class StepForm(NamedTuple):
    """The parts of a `Step` on which its generated code depends; the fields are those of `Step`."""

    pointers: Ints
    offsets: tuple[int | None, ...]
    moved: bool
    scalars: bool | tuple[int, int]
    after: Ints
    has_last: bool  # True if n or a geometry buffer is the last argument


class LaunchForm(NamedTuple):
    """The parts of a launch on which its generated code depends: its steps, and the counts of its
    operands."""

    steps: tuple[StepForm, ...]
    operands: int
    outputs: int
    temporaries: int
    constants: int
    scalar_count: int | None  # numbers that a call passes for rounding; None: the launch has its own
    fresh: bool  # True if a call allocates the outputs
    arguments: tuple[bool, ...]  # for each argument of a call, True for a tensor
    storages: int  # the count of last inputs that a call passes as storages


@cache
def enqueuer(form: LaunchForm) -> Callable[..., Callable[..., None]]:
    """Returns a factory for `enqueue(stream, scalars, *tensors)`. Its arguments are the values of
    `_names`."""
    operands = range(form.operands)
    lines = [f"s{k} = x{k}._storage" for k in operands] + _steps(form, operands)
    parameters = ", ".join(["stream", "scalars", *[f"x{k}" for k in operands]])
    return _bound(_names(form), parameters, lines if form.steps else ["pass"])


@cache
def caller(form: LaunchForm) -> Callable[..., Callable[..., Any]]:
    """Returns a factory for `call(arguments, further scalars, out)`. Its arguments are the values
    of `_names`, the functions that return the constants, the dtypes of the scalars or the launch's
    own scalars, and five values for each output: bytes, dtype, shape, strides, key.

    If the caller passes several outputs, `out` is a tuple. The generated code does not check
    whether these overlap.
    """
    fresh, rounding = form.fresh, form.scalar_count or 0
    operands = range(form.operands)
    results, constants = operands[: form.outputs], operands[form.operands - form.constants :]
    inputs = operands[form.outputs : form.operands - form.constants]
    call_tensors = inputs if fresh else [*results, *inputs]
    remaining = iter(inputs)
    words = [f"x{next(remaining)}" if tensor else f"n{i}" for i, tensor in enumerate(form.arguments)]
    scalars = [word for word in words if word[0] == "n"]
    params = [f"p{i}" for i in range(rounding - len(scalars))]
    lines = [f"{', '.join(words)}, = inputs"] if words else []
    lines += [f"{', '.join(params)}, = params"] if params else []
    has_outs_tuple = not fresh and form.outputs > 1
    lines += [f"{', '.join(f'x{k}' for k in results)}, = outs"] if has_outs_tuple else []
    tensors = len(call_tensors) - form.storages
    lines += [f"s{k} = x{k}._storage" for k in call_tensors[:tensors]] + [
        f"s{k} = x{k}" for k in call_tensors[tensors:]
    ]
    lines.append(f"device, backend = s{call_tensors[0]}.device, s{call_tensors[0]}.backend")
    checks = ["out is not None"] if fresh else []
    checks += [f"s{k}.device is not device" for k in call_tensors[1:]]
    checks += ["backend.executor is not None"]
    if not fresh:
        checks += [f"s{k}.readonly" for k in results]
        checks += [] if has_outs_tuple else [f"s{k} is s0 and x{k} is not x0" for k in inputs]
    lines += [f"if {' or '.join(checks)}: return None", "stream = backend._current.stream"]
    invalidations = [] if fresh else [f"s{k}.bounds = s{k}.derived = None" for k in results]
    lines += invalidations
    for k in results if fresh else ():
        lines += [
            f"s{k} = backend.pool.take(nbytes{k}, stream)",
            f"s{k}.device = device",
            f"x{k} = new(Tensor)",
            f"x{k}._storage, x{k}._dtype, x{k}._offset = s{k}, dtype{k}, 0",
            f"x{k}._shape, x{k}._strides, x{k}._key = shape{k}, strides{k}, key{k}",
        ]
    for k in constants:
        lines += [f"x{k} = constant{k}(x{call_tensors[0]})", f"s{k} = x{k}._storage"]
    if rounding:
        rounded = enumerate([*scalars, *params])
        lines.append(f"scalars = {' + '.join(f'values_of({n}, d{i})' for i, n in rounded)}")
    elif form.scalar_count is not None and any(step.scalars for step in form.steps):
        lines.append("scalars = params")
    lines += _steps(form, [*call_tensors, *constants])
    lines += invalidations  # only now: another thread may have read the memory before the write
    lines.append(f"return ({''.join(f'x{k}, ' for k in results)})")
    names = [*_names(form), *[f"constant{k}" for k in constants]]
    names += ["scalars"] if form.scalar_count is None else [f"d{i}" for i in range(rounding)]
    for k in range(form.outputs):
        names += [f"nbytes{k}", f"dtype{k}", f"shape{k}", f"strides{k}", f"key{k}"]
    last = "out" if fresh else "outs" if has_outs_tuple else "x0"
    return _bound(names, f"inputs, params, {last}", lines)


def _names(form: LaunchForm) -> list[str]:
    """Returns the parameter names of a launch's generated function: for each step its kernel,
    units, moved offsets and last argument; for each temporary its size in bytes."""
    names = []
    for i in range(len(form.steps)):
        names += [f"k{i}", f"k{i}_units", f"k{i}_moved", f"k{i}_last"]
    return names + [f"bytes{form.operands + i}" for i in range(form.temporaries)]


def _steps(form: LaunchForm, storages: Sequence[int]) -> list[str]:
    """Returns the lines that record the use of these storages on the stream and call every
    kernel."""
    lines = [f"if s{k}.stream is not stream: stream.use(s{k})" for k in storages]
    lines += [
        f"s{k} = stream.backend.allocate(bytes{k}, stream)"
        for k in range(form.operands, form.operands + form.temporaries)
    ]
    lines += [f"k{i}(stream, k{i}_units, {_arguments(f'k{i}', step)})" for i, step in enumerate(form.steps)]
    # Memory that other code sees must be up to date when the call returns.
    seen = " or ".join(f"s{k}.visible" for k in storages)
    return [*lines, f"if {seen}: stream.finish()"]


def _arguments(name: str, step: StepForm) -> str:
    words = [f"s{k}.handle" for k in step.pointers]
    for i, k in enumerate(step.offsets):
        start = "0" if k is None else f"x{k}._offset"
        words.append(f"{start} + {name}_moved[{i}]" if step.moved else start)
    if isinstance(step.scalars, tuple):
        words.append("*scalars[{}:{}]".format(*step.scalars))
    elif step.scalars:
        words.append("*scalars")
    words += [f"s{k}.handle" for k in step.after]
    words += [f"{name}_last"] if step.has_last else []
    return ", ".join(words)


def _bound(names: Sequence[str], parameters: str, lines: Sequence[str]) -> Callable[..., Callable[..., Any]]:
    """Compiles a function with these parameters and lines. Returns a factory that takes the values
    of `names` and returns the function with these values bound.

    The values are defaults of further parameters, which take less memory than a closure.
    """
    text = [f"def launch({', '.join([parameters, *names])}, /):", *[f"    {l}" for l in lines]]
    scope: dict[str, Any] = {"new": object.__new__, "Tensor": Tensor, "values_of": values_of}
    exec(compile("\n".join(text), "<ftensor launch>", "exec"), scope)
    code = scope.pop("launch").__code__
    return lambda *values: FunctionType(code, scope, "launch", values)


# The bytes of a prepared launch and of each of its steps (Python's keys, tuples and functions), and
# of a geometry buffer without its scalars, mostly the OpenCL runtime's data for a buffer.
LAUNCH_BYTES, STEP_BYTES, TABLE_BYTES = 1 << 11, 1 << 10, 5 << 9


@dataclass(frozen=True, slots=True)
class Output:
    """The geometry of a fresh result tensor."""

    dtype: dtype
    shape: Ints
    strides: Ints
    nbytes: int = field(init=False)
    key: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nbytes", numel(self.shape) * self.dtype.itemsize)
        object.__setattr__(self, "key", geometry_key(self.shape, self.strides, self.dtype))

    def make(self, backend: Backend, device: device) -> Tensor:
        """Returns an uninitialized tensor for the result."""
        storage = backend.allocate(self.nbytes)
        storage.device = device
        tensor = object.__new__(Tensor)
        tensor._storage, tensor._dtype, tensor._offset = storage, self.dtype, 0
        tensor._shape, tensor._strides, tensor._key = self.shape, self.strides, self.key
        return tensor


def check_memory(backend: Backend, *outputs: Output) -> tuple[Output, ...]:
    """Returns the outputs. Raises OutOfMemoryError if they do not fit, before anything is
    allocated."""
    backend.pool.check_capacity(sum([out.nbytes for out in outputs]))
    return outputs


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """One kernel of a launch and its arguments, as data; `dispatch.bound_to` finds the kernel.

    `pointers`, `offsets` and `after` name operands by number: the launch's outputs, then its
    inputs, then its temporaries. The kernel's arguments are, in order:

        the `pointers`
        for each entry of `offsets` the tensor's offset plus `moved`, or 0 for None
        the launch's scalars, if the kernel takes any
        the pointers `after`, such as the flag of an index check
        `n` or the geometry buffer, if the kernel takes one
    """

    key: Key
    units: int
    pointers: Ints
    offsets: tuple[int | None, ...]
    moved: Ints | None = None
    scalars: bool | tuple[int, int] = True  # a tuple is the range [begin, end) of them
    after: Ints = ()
    n: int | None = None
    geometry: Ints = ()
    # The most elements of a step that may run in the calling thread; None: never.
    work: int | None = None

    @property
    def written(self) -> tuple[int, ...]:
        """Returns the numbers of the operands that the kernel may write."""
        parameters = skeleton_of(self.key).parameters(self.key)
        pointers = [word for kind, word, name in parameters if kind == "*" and name != "geometry"]
        operands = zip(self.pointers + self.after, pointers, strict=True)
        return tuple([k for k, word in operands if "const" not in word])


class Bound(NamedTuple):
    """The kernel that runs a step on a device, and its geometry buffer, if it has one."""

    kernel: CompiledKernel
    table: Storage | SharedTable | None


def _unbound(inputs: Any, scalars: Any, out: Any) -> None:
    """The `call` of a launch that has no kernels yet: returns None, so that the caller prepares
    it."""


@dataclass(frozen=True, eq=False, slots=True)
class Launch:
    """An op prepared for one combination of geometries.

    `scalar_dtypes`: the dtypes that Python scalars are rounded to (empty: scalars pass unchanged).
    `temporaries`: the bytes of each temporary that the steps share.
    """

    steps: tuple[Step, ...]
    # number of tensor arguments of kernels: outputs, then a call's inputs, then constants
    operands: int
    outputs: tuple[Output, ...] = ()
    scalar_dtypes: tuple[dtype, ...] = ()
    temporaries: Ints = ()
    fresh: bool = True  # True if a call allocates its outputs, False if it passes them
    arguments: tuple[bool, ...] | None = None  # for each argument of a call, True for a tensor; None: all are tensors
    storages: int = 0  # the count of last inputs that `call` gets as storages, without offsets
    fixed_scalars: tuple[Any, ...] | None = None  # the kernels' scalars if calls pass none
    # Functions that return the constant tensors, given a tensor on the device.
    constants: tuple[Callable[[Tensor], Tensor], ...] = ()

    # The kernels of the steps, set by `bind`; a launch without them is data alone.
    bound: tuple[Bound, ...] | None = field(init=False, default=None)
    # `call(arguments, further scalars, out)` returns the outputs. It does nothing and returns None
    # if the call needs checks first: an observer is active, an output is read-only or shares memory
    # with an argument, operands are on several devices, or the caller passes an output where
    # outputs are fresh.
    call: Callable[..., tuple[Tensor, ...] | None] = field(init=False, default=_unbound)
    # The generated function of `enqueue`, cached from its second call on.
    _enqueue: Callable[..., None] | None = field(init=False, default=None)
    _has_enqueued: bool = field(init=False, default=False)

    def bind(self, bound: tuple[Bound, ...]) -> None:
        """Binds the launch to the kernels that run its steps."""
        object.__setattr__(self, "bound", bound)
        values = self._values + list(self.constants)
        values += self.scalar_dtypes if self.fixed_scalars is None else [self.fixed_scalars]
        for out in self.outputs:
            values += [out.nbytes, out.dtype, out.shape, out.strides, out.key]
        object.__setattr__(self, "call", caller(self._form)(*values))

    def enqueue(self, stream: DeviceStream, scalars: Sequence[Any], *tensors: Tensor) -> None:
        """Enqueues the steps on a stream. `tensors` are the outputs and the inputs, `scalars` the
        scalar kernel arguments."""
        function = self._enqueue
        if function is None:
            function = enqueuer(self._form)(*self._values)
            if self._has_enqueued:
                object.__setattr__(self, "_enqueue", function)
            object.__setattr__(self, "_has_enqueued", True)
        function(stream, scalars, *tensors)

    def collect(self, collecting: Callable[[CompiledKernel], Any], stream: Any, *values: Any) -> None:
        """Calls `collecting(kernel)(stream, units, *arguments)` for each step instead of its
        kernel. `values` are the scalars and the tensors of `enqueue`."""
        replaced = self._values
        kernels = slice(0, 4 * len(self.steps), 4)
        replaced[kernels] = map(collecting, replaced[kernels])
        enqueuer(self._form)(*replaced)(stream, *values)

    @property
    def kept_bytes(self) -> int:
        """Returns the approximate host memory of the cached launch in bytes."""
        tables = [step.table for step in self.bound or ()]
        sizes = [table.nbytes + TABLE_BYTES for table in tables if table is not None]
        return LAUNCH_BYTES + STEP_BYTES * len(self.steps) + sum(sizes)

    @property
    def written(self) -> frozenset[int]:
        """Returns the numbers of the operands that a call may write."""
        return frozenset(k for s in self.steps for k in s.written if k < self.operands)

    @property
    def _bound(self) -> tuple[Bound, ...]:
        assert self.bound is not None, "a launch that nobody has bound to a device"
        return self.bound

    @property
    def _form(self) -> LaunchForm:
        steps = [
            StepForm(
                s.pointers,
                s.offsets,
                s.moved is not None,
                s.scalars,
                s.after,
                s.n is not None or step_bound.table is not None,
            )
            for s, step_bound in zip(self.steps, self._bound)
        ]
        inputs = self.operands - len(self.outputs) - len(self.constants)
        return LaunchForm(
            tuple(steps),
            self.operands,
            len(self.outputs),
            len(self.temporaries),
            len(self.constants),
            None if self.fixed_scalars is not None else len(self.scalar_dtypes),
            self.fresh,
            (True,) * inputs if self.arguments is None else self.arguments,
            self.storages,
        )

    @property
    def _values(self) -> list[Any]:
        values: list[Any] = []
        for s, (run, table) in zip(self.steps, self._bound):
            values += [run, s.units, s.moved, s.n if table is None else table.handle]
        return values + list(self.temporaries)


def enqueue(launch: Launch, tensors: Sequence[Tensor], scalars: Sequence[Any] = ()) -> None:
    """Enqueues a launch on the current stream, or passes it to the device's observer.

    `tensors` are the outputs and the inputs, `scalars` the scalar kernel arguments.
    """
    backend = tensors[0]._storage.backend
    stream = backend.current_stream()
    if backend.executor is None:
        launch.enqueue(stream, scalars, *tensors)
    else:
        backend.executor.launch(launch, stream, tensors, scalars)
