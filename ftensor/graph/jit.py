"""`ft.jit`: traces a function once per signature and replays the graph as one launch."""

from __future__ import annotations

import gc
import inspect
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from .._device import default_backend
from .._tensor import Tensor
from ..errors import KernelNotBuilt
from ..errors import graph as errors
from ..errors.message import levels_to_user
from ..execute.dispatch import MissingKernel, recorder
from ..execute.reduce import as_single_ops
from ..execute.scalars import TracedScalar
from ..kernels.skeleton import skeleton_of
from ..runtime import launch_cache
from ..terminal import counted
from .filters import with_filters
from .fusion import fuse_graph
from .guards import GUARD_FAILED, closure_storage
from .ir import Graph, eliminate_dead_nodes
from .lowering import Lowered, lower_graph
from .network import as_network
from .partition import DataflowKernels, Exported, ExportOptions, TracedNetwork, exported
from .report import report, svg
from .signature import ScalarTracing, add_arguments, add_environment, cache_graph, find_specialization, owners_of
from .trace import TraceArguments, fusion_enabled, trace_graph

if TYPE_CHECKING:
    from ..runtime.backend import Backend


MANY_TRACES = 8
_MAX_KEPT_TRACES = 64  # the number of traces whose arguments are kept


class Traces:
    """The arguments of the latest traces of a function."""

    def __init__(self) -> None:
        self._latest: list[dict[str, Any]] = []
        self._warned = False

    def find_varying(self, arguments: Mapping[str, Any]) -> str | None:
        """Returns the name of the number or string argument that is the only difference between
        `MANY_TRACES` traces; else None. Returns a name at most once."""
        leaves = {leaf: type_and_value for name, x in arguments.items() for leaf, type_and_value in _leaves_of(name, x)}
        self._latest = [*self._latest[1 - _MAX_KEPT_TRACES :], leaves]
        for name, value in leaves.items():
            if self._warned or value[0] not in (int, float, complex, str):
                continue
            others = leaves | {name: None}
            values = {trace[name] for trace in self._latest if name in trace and trace | {name: None} == others}
            if len(values) >= MANY_TRACES:
                self._warned = True
                return name
        return None


def _leaves_of(name: str, x: Any) -> Iterator[tuple[str, tuple[type, Any]]]:
    """Yields (name, (type, value)) for each part of an argument."""
    if isinstance(x, Tensor):
        yield name, (Tensor, x._key)
    elif isinstance(x, (tuple, list)):
        for k, part in enumerate(x):
            yield from _leaves_of(f"{name}[{k}]", part)
    elif isinstance(x, dict):
        for key, part in x.items():
            yield from _leaves_of(f"{name}[{key!r}]", part)
    elif type(x) is TracedScalar and not x._read:
        yield name, (TracedScalar, "")  # a free number of the graph
    else:
        yield name, (x.__class__, repr(x))


P = ParamSpec("P")
R = TypeVar("R")

# Functions that write the files of an exported graph; the toolchain, which writes sources, sets the
# list.
writers: list[Callable[[DataflowKernels | TracedNetwork, str, ExportOptions], Exported]] = []


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Returns a function with the results of `function` in few launches.

    The first call of each signature traces: `function` runs without computing, and its launches
    become one. The signature consists of shape, strides, dtype, device and shared memory of each
    tensor (also in lists, tuples and dicts), the type of each number that Python code does not
    read, and type and value of any other argument. Prints, reads of other state and appends in the
    function happen only during the trace. The graph holds captured tensors by reference. Random
    numbers and in-place ops work as without `jit`.

    Raises TypeError for coroutine and generator functions. A call raises GraphError, which names
    the op and the line, if the function reads a value, keeps a tensor that it does not return,
    changes an argument's shape, or uses two devices or another stream. A call raises TypeError for
    an argument that is not hashable. Arguments and generators keep their state then.
    """
    return Jitted(function, Traces())


class Jitted(Generic[P, R]):
    """A jitted function: its graphs, by signature."""

    merges_steps = False  # whether steps are merged if units need not wait between them

    def __init__(self, function: Callable[P, R], traces: Traces | None = None) -> None:
        if not callable(function):
            raise errors.not_a_function(function)
        name = getattr(function, "__qualname__", type(function).__name__)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise errors.no_such_function(name, "a coroutine function")
        if inspect.isgeneratorfunction(function):
            raise errors.no_such_function(name, "a generator function")
        self._function, self.name = function, name
        self.mark = object()  # identifies the function in signatures without keeping it alive
        self._traces = traces  # None: no warning about many traces
        update_wrapper(self, function)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Returns the function bound to `instance`, which becomes the first argument."""
        return self if instance is None else _BoundJitted(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Returns the function's result."""
        tensors: list[Tensor] = []
        key = self.signature(tensors, args, kwargs)
        backend = tensors[0]._storage.backend if tensors else default_backend()
        if backend.executor is not None and recorder(backend) is not None:
            return self._function(*args, **kwargs)  # the outer trace records the ops
        signature = self.full_signature(backend, key, tensors)
        graph: Lowered | None = backend.launches.get(signature) or backend.launches.find(signature)
        result: Any = GUARD_FAILED if graph is None else graph.run(tensors, signature)
        if result is GUARD_FAILED:
            graph = self.graph_for(graph, backend, signature, tensors, args, kwargs)
            result = GUARD_FAILED if graph is None else graph.run(tensors, signature)
            if graph is not None:
                graph.release()
            if result is GUARD_FAILED:
                return self._function(*args, **kwargs)
        return result

    def signature(self, tensors: list[Tensor], args: Any, kwargs: Any) -> list[Any]:
        """Returns the part of a call's signature that depends on its arguments. Appends their
        tensors to `tensors`."""
        signature: list[Any] = [self.mark]
        add_arguments(self.name, args, kwargs, signature, tensors)
        return signature

    def full_signature(self, backend: Backend, signature: list[Any], tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        """Returns the whole signature: `signature`, and the settings that a trace depends on."""
        add_environment(backend, tensors, signature)
        return tuple(signature)

    def graph_for(
        self,
        graph: Lowered | None,
        backend: Backend,
        signature: tuple[Any, ...],
        tensors: Sequence[Tensor],
        args: Any,
        kwargs: Any,
    ) -> Lowered | None:
        """Returns the graph for a call without a valid graph; None if the function itself has to
        run."""
        if graph is not None and not graph.is_dead:
            return None
        return self._build_graph(backend, signature, tensors, args, kwargs)

    def _build_graph(
        self, backend: Backend, signature: tuple[Any, ...], tensors: Sequence[Tensor], args: Any, kwargs: Any
    ) -> Lowered | None:
        """Returns the graph for a new signature. Returns None if fusion is off or the images lack a
        kernel of the graph; then the ops run one by one, on the host if necessary."""
        if not fusion_enabled():
            return None
        graph = find_specialization(backend.launches, signature)
        if graph is not None:
            return graph
        miss_key, images = (MissingKernel, signature), backend.images
        missing: MissingKernel | None = None if images is None else backend.launches.find(miss_key)
        if images is not None and missing is not None and not images.has(missing.error.entry):
            return None
        try:
            return self.lower(backend, signature, tensors, args, kwargs)
        except KernelNotBuilt as error:
            backend.launches.pop(miss_key, None)  # an image that was added may lack another kernel
            backend.launches.keep(miss_key, MissingKernel(error.again()))
            return None

    def lower(
        self, backend: Backend, signature: tuple[Any, ...], tensors: Sequence[Tensor], args: Any, kwargs: Any
    ) -> Lowered:
        """Traces and lowers the graph of a new signature. Raises KernelNotBuilt if the images lack
        one of its kernels."""
        with TraceArguments(tensors, args, kwargs) as trace_arguments:
            scalar_tracing = ScalarTracing(trace_arguments.args, trace_arguments.kwargs, signature)
            graph = (
                self._trace_with_scalars(backend, trace_arguments.tensors, scalar_tracing)
                if scalar_tracing.scalars
                else None
            )
            dynamic_scalars = None if graph is None else scalar_tracing.dynamic_scalars
            graph = graph or self._traced(
                backend, trace_arguments.tensors, trace_arguments.args, trace_arguments.kwargs
            )
        if self._traces is not None:
            call = (scalar_tracing.args, scalar_tracing.kwargs) if dynamic_scalars is not None else (args, kwargs)
            varying = self._traces.find_varying(_arguments_by_name(self._function, *call))
            if varying is not None:
                warnings.warn(errors.many_traces(self.name, MANY_TRACES, varying), stacklevel=levels_to_user())
        graph = _with_fused_kernels(graph, backend)
        owners, captured = [self, *owners_of(signature)], set(closure_storage(self._function))
        for returned in graph.returned_objects:
            returned.resolve_reference(signature, (*owners, self._function), backend.launches.note_dead)
        runnable = lower_graph(graph, backend, tensors, dynamic_scalars, self.merges_steps, owners, captured)
        return cache_graph(backend.launches, signature, runnable)

    def _trace_with_scalars(
        self, backend: Backend, tensors: Sequence[Tensor], scalar_tracing: ScalarTracing
    ) -> Graph | None:
        """Returns the graph of a call with its numbers as kernel arguments. Returns None if the
        function raises an error for these number objects or keeps one; the trace then uses the
        plain numbers."""
        try:
            graph = self._traced(backend, tensors, scalar_tracing.args, scalar_tracing.kwargs)
        except errors.GraphError:
            raise
        except Exception:  # noqa: BLE001 - its own, which it raises again for the numbers
            return None
        graph = scalar_tracing.with_dynamic_scalars(graph)
        if not scalar_tracing.is_released:
            gc.collect()  # an unreachable reference cycle may hold the numbers
        return graph if scalar_tracing.is_released else None

    def graph(self, *args: P.args, **kwargs: P.kwargs) -> Planned:
        """Returns the kernels that a call would run, without running it. Raises the call's
        errors."""
        tensors: list[Tensor] = []
        self.signature(tensors, args, kwargs)
        backend = tensors[0]._storage.backend if tensors else default_backend()
        return Planned(_with_fused_kernels(self._trace_only(backend, tensors, args, kwargs), backend))

    def export(self, name: str, /, *args: P.args, **kwargs: P.kwargs) -> Exported:
        """Writes the call's computation as one dataflow kernel, for an image.

        The files are NAME.json, the graph file; NAME.toml, an inventory for `ftensor build`;
        NAME.cpp, the HLS C++; and NAME.cl, the OpenCL C for Intel's boards, if all stages have an
        OpenCL form. `name` may begin with a folder. On a device whose image has the kernel, a
        jitted call with rows of this length is one launch, for any number of rows.

        Ops that need all their data first (sorts, products, folds across rows) are no stages, nor
        are scans. They cut the graph into kernels NAME_1.json and so on, in one inventory, and the
        ops' own kernels run between these. Scans are the last of these kernels.

        With `target`, a board such as "kv260", the inventory has the lanes and the compute units
        that are fastest on that board, and `Exported.report` is a table of the kernels.

        A chain of layers on an argument, quantized (`ft.quantized.conv2d`, `linear`, their `relu` forms,
        `relu`, `add`; `max_pool2d`) or of float32, and of nothing else, is one kernel: a network
        (docs/networks.md), with NAME.weights in place of NAME.cl. `target` is then "u55c" by default,
        `cycles` the most clock cycles for an image (as few as fit), `fold` the products of layers in a
        cycle, as `{"conv2d_0": (filters, factors)}`, `weights` "text" for constants of the kernel, or
        "loaded" for values that launches bring, `structure` "dataflow" for one kernel, or "linked" for a
        kernel on each die of the chip. `Exported.report` is a table of the layers. These keywords are the
        function's if it has parameters of these names.

        Raises the call's errors. Raises GraphError if no two ops are stages of one kernel (it names
        the first op that is no stage), for fewer than two rows, for as many rows as a row is long,
        for FIFOs beyond a board's memory, and for a `target` that is too small. Raises ValueError
        for an invalid kernel name.
        """
        option_names = [word for word in ExportOptions._fields if word in kwargs and word not in self._parameters]
        option_values: dict[str, Any] = {word: kwargs.pop(word) for word in option_names}
        options = ExportOptions(**option_values)
        tensors: list[Tensor] = []
        self.signature(tensors, args, kwargs)
        backend = tensors[0]._storage.backend if tensors else default_backend()
        with backend.preparing_for(backend.target.as_board(), 1, backend.host_shared), as_single_ops():
            graph = self._trace_only(backend, tensors, args, kwargs)
        return writers[0](exported(graph, options), name, options)

    @property
    def _parameters(self) -> Collection[str]:
        try:
            return inspect.signature(self._function).parameters
        except ValueError:
            return ()

    def _trace_only(self, backend: Backend, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Graph:
        with TraceArguments(tensors, args, kwargs) as trace_arguments:
            return self._traced(backend, trace_arguments.tensors, trace_arguments.args, trace_arguments.kwargs)

    def _traced(self, backend: Backend, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Graph:
        with as_single_ops(backend.images is None and launch_cache.stand_in_build is not None):
            return trace_graph(self.name, backend, lambda: self._function(*args, **kwargs), tensors)


@dataclass(frozen=True, repr=False)
class Planned:
    """The kernels that a call of a jitted function runs."""

    _graph: Graph

    def __repr__(self) -> str:
        kernels = self.kernels
        return f"<graph of {self._graph.name}, {counted(len(kernels), 'kernel')}: {', '.join(kernels)}>"

    @property
    def kernels(self) -> list[str]:
        """Returns each kernel's skeleton and entry name, in execution order."""
        steps = [step for node in self._graph.nodes for step in node.launch.steps]
        return [f"{skeleton_of(s.key).name} {s.key.entry}" for s in steps]

    def report(self) -> str:
        """Returns a table of the kernels: ops, bytes read and written, and the reason why an op is
        not fused."""
        return report(self._graph)

    def svg(self) -> str:
        """Returns an SVG drawing of the kernels and the memories between them. Raises PictureError
        if matplotlib (extra `plot`) is not installed."""
        return svg(self._graph)


class _BoundJitted:
    """A jitted method of an object."""

    def __init__(self, jitted: Jitted[Any, Any], instance: Any) -> None:
        self._jitted, self._instance = jitted, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._jitted(self._instance, *args, **kwargs)

    def export(self, name: str, /, *args: Any, **kwargs: Any) -> Exported:
        """Exports the method; see `Jitted.export`."""
        return self._jitted.export(name, self._instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._jitted, name)
        if not callable(attribute):
            return attribute
        return lambda *args, **kwargs: attribute(self._instance, *args, **kwargs)


def _with_fused_kernels(graph: Graph, backend: Backend) -> Graph:
    """Returns a traced graph after fusion, as the device runs it."""
    network = as_network(graph, backend)
    if network is None and backend.built_ahead:
        graph = with_filters(graph)
    return network or fuse_graph(eliminate_dead_nodes(graph), backend)


def _arguments_by_name(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    """Returns a call's arguments by parameter name, or by position if the signature is unknown."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except ValueError:
        return {f"argument {k + 1}": x for k, x in enumerate(args)} | kwargs
