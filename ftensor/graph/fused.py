"""`@fused` and `@fused_foreach`: composite ops that run as graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .._tensor import Tensor
from ..errors.graph import GraphError
from ..execute.dispatch import recorder
from .guards import GUARD_FAILED
from .ir import Graph
from .jit import Jitted
from .launch_merging import MAX_SAME_KERNEL
from .lowering import Lowered
from .signature import add_arguments, add_settings, argument_types, find_specialization, signature_functions
from .trace import fusion_enabled

P = ParamSpec("P")
R = TypeVar("R")

# From this number of graphs on, an op traces a signature only at its second call. Growing sizes,
# such as those of attention keys, never recur, and a trace takes longer than the ops.
MAX_EAGER_GRAPHS = 32


# After this number of refusals a call is not traced again. The first refusal may come from state
# that the call itself sets up, such as a shared table.
MAX_REFUSALS = 2


class _NotTraced:
    """Cache entry of a signature without a graph. Counts the failed traces."""

    kept_bytes = 1 << 10

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals


def fused(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates an op that runs as a graph on devices that compile kernels on demand.

    The result, errors and writes are those of `function`. Calls run `function` itself on boards,
    inside other graphs, if it reads a value, and if its tensors are on several devices.
    """
    op = _Fused(function)
    name, mark = op.name, op.mark

    def general(args: Any, kwargs: Any) -> tuple[list[Tensor], tuple[Any, ...] | None]:
        tensors: list[Tensor] = []
        signature: list[Any] = [op.mark]
        try:
            add_arguments(name, args, kwargs, signature, tensors)
        except TypeError:
            return tensors, None
        add_settings(tensors, signature)
        return tensors, tuple(signature)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        pair = signature_functions[argument_types(args, kwargs)](mark, (*args, *kwargs.values()) if kwargs else args)
        tensors, signature = pair or general(args, kwargs)
        if signature is None:  # the op's own check raises the error for the argument
            return function(*args, **kwargs)
        backend = tensors[0]._storage.backend if tensors else None
        if backend is None or backend.built_ahead:
            return function(*args, **kwargs)
        if backend.executor is not None and recorder(backend) is not None:
            return function(*args, **kwargs)
        graph: Any = backend.launches.get(signature)
        result: Any = graph.run(tensors, signature) if type(graph) is Lowered else GUARD_FAILED
        if result is GUARD_FAILED:
            graph = op.graph_for(graph if type(graph) is Lowered else None, backend, signature, tensors, args, kwargs)
            result = GUARD_FAILED if graph is None else graph.run(tensors, signature)
            if result is GUARD_FAILED:
                return function(*args, **kwargs)
        return result

    return call


class _Fused(Jitted[..., Any]):
    """The graphs of one fused op."""

    graph_count = 0  # graphs created
    merges_steps = True

    def _build_graph(
        self, backend: Any, signature: tuple[Any, ...], tensors: Sequence[Tensor], args: Any, kwargs: Any
    ) -> Lowered | None:
        """Returns the graph for a call that is not in the latest cache entries; None if the call
        must run its ops one by one."""
        if not fusion_enabled():
            return None
        cached = backend.launches.find(signature)
        if type(cached) is Lowered:
            if not cached.is_dead:
                return cached
            cached = None  # the next graph replaces this dead one
        if cached is None:
            graph = find_specialization(backend.launches, signature)
            if graph is not None:
                return graph
            if self.graph_count >= MAX_EAGER_GRAPHS:
                backend.launches.keep(signature, _NotTraced(0))
                return None
        refusals = 0 if cached is None else cached.refusals
        if refusals == MAX_REFUSALS:
            return None
        if cached is not None:
            backend.launches.pop(signature, None)
        try:
            runnable = self.lower(backend, signature, tensors, args, kwargs)
        except GraphError:
            backend.launches.keep(signature, _NotTraced(refusals + 1))
            return None
        self.graph_count += 1
        return runnable if type(runnable) is Lowered else None

    def _traced(self, backend: Any, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Graph:
        """Traces the op. Calls from other lines use the graph too, so its index checks name no
        line."""
        graph = super()._traced(backend, tensors, args, kwargs)
        return replace(graph, checks=tuple([check._replace(origin=None) for check in graph.checks]))


ListOrNone = TypeVar("ListOrNone", None, list[Tensor] | None)


def fused_foreach(function: Callable[P, ListOrNone]) -> Callable[P, ListOrNone]:
    """Decorates an op on lists of tensors that writes to them or returns a list. Each list is empty
    or as long as the first. On devices that compile kernels on demand, calls run as graphs of up to
    `MAX_SAME_KERNEL` list items each.

    `function` is called on slices of the lists, so items must be independent.
    """
    op: Callable[..., Any] = fused(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        lists: Any = args
        results: list[Tensor] = []
        for k in range(0, len(lists[0]), MAX_SAME_KERNEL):
            part = op(*[x[k : k + MAX_SAME_KERNEL] if type(x) is list else x for x in lists], **kwargs)
            results += part or ()
        return results or None

    return call
