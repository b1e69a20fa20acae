"""Loops with feedback: a function of a state and an input becomes one kernel of all steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from ..dtypes import dtype
from ..errors import graph as errors
from ..execute.launch import Launch, Output, Step, check_memory
from ..execute.scalars import values_of
from ..iterator.shape import Ints, contiguous_strides, is_contiguous, numel
from ..kernels.fused import MAX_OPERANDS, Call
from ..kernels.row_loop import row_loop
from ..kernels.select import compute_units
from ..kernels.skeletons.feedback import FeedbackGeometry, feedback_key
from .ir import Graph, GraphTensor, Node, ResultTensor
from .loop_body import loop_body_of, part_function
from .trace import ArgumentStorage, trace_graph

if TYPE_CHECKING:
    from ..runtime.backend import Backend


@dataclass(frozen=True)
class StepFunction:
    """A traced function of one step: calls on values, which are the inputs and then the results of
    calls; the values that it returns; the numbers of the calls."""

    calls: tuple[Call, ...]
    results: Ints
    scalars: tuple[Any, ...]
    scalar_dtypes: tuple[dtype, ...]


def placeholder(t: Tensor, shape: Ints) -> Tensor:
    """Returns a contiguous tensor of a trace, in a memory of its own, for the elements of a step."""
    memory = ArgumentStorage(t._storage)
    return Tensor._make(memory, t._dtype, shape, contiguous_strides(shape))


def trace_step(name: str, backend: Backend, call: Callable[[], Any], tensors: Sequence[Tensor]) -> tuple[Graph, Any]:
    """Returns the graph of one step, and the function's result with a ResultTensor for each
    tensor."""
    graph = trace_graph(name, backend, call, tensors)
    if graph.draws:
        raise errors.scan_random(name)
    return graph, graph.result


def step_function(
    graph: Graph, returned: Sequence[ResultTensor], inputs: Sequence[Tensor], shape: Ints
) -> StepFunction:
    """Returns the calls of a graph of elementwise ops. Raises GraphError for another op, with its
    line."""
    number = _Numbering(graph, shape, [t._dtype for t in inputs])
    for node in graph.nodes:
        number.add(node)
    results = tuple([number.read(r.region, None) for r in returned])
    return StepFunction(tuple(number.calls), results, tuple(number.scalars), tuple(number.scalar_dtypes))


class _Numbering:
    """Numbers the values of a graph's memories in execution order."""

    def __init__(self, graph: Graph, shape: Ints, dtypes: list[dtype]) -> None:
        self.graph, self.shape = graph, shape
        self.dtypes = dtypes
        self.of_memory: dict[int, int] = {}
        for memory, buffer in enumerate(graph.memories):
            if buffer.argument is not None:
                self.of_memory[memory] = buffer.argument  # the first values are the arguments
        self.calls: list[Call] = []
        self.scalars: list[Any] = []
        self.scalar_dtypes: list[dtype] = []

    def add(self, node: Node) -> None:
        """Adds the call of a node."""
        name, origin = self.graph.name, node.origin
        for r in node.writes:
            if not self.graph.memories[r.memory].is_internal:
                raise errors.scan_writes(origin.op, name, origin.line)
        body = loop_body_of(node)
        if body is None or body.is_fold:
            raise errors.scan_no_element(origin.op, name, origin.line)
        outs = len(body.outs)
        operands = tuple([self.read(r, node) for r in node.operands[outs:]])
        function, first = body.function, len(self.scalar_dtypes)
        for number, d in zip(body.scalars, body.scalar_dtypes, strict=True):
            self.scalars += values_of(number, d)
        self.scalar_dtypes += function.passed_dtypes
        self.calls.append(Call(function, operands, tuple(range(first, len(self.scalar_dtypes)))))
        for r, (d, _) in zip(node.operands[:outs], function.outs, strict=True):
            self._check_whole(r, node)
            self.of_memory[r.memory] = len(self.dtypes)
            self.dtypes.append(d)

    def read(self, r: GraphTensor, node: Node | None) -> int:
        """Returns the value of a region: a whole memory, or the real or imaginary parts of one."""
        v = self.of_memory.get(r.memory)
        if v is None:
            raise errors.scan_captured(*self._place(node))
        of = self.dtypes[v]
        if of.is_complex and r.dtype is of.to_real() and self._is_part(r):
            part = "re" if r.offset == 0 else "im"
            self.calls.append(Call(part_function(of, part), (v,)))
            self.dtypes.append(r.dtype)
            return len(self.dtypes) - 1
        self._check_whole(r, node)
        if r.dtype is not of:
            self._refuse(node)
        return v

    def _is_part(self, r: GraphTensor) -> bool:
        """True for the real or the imaginary parts of all elements, in the order of the elements."""
        pairs = tuple([s // 2 for s in r.strides])
        is_even = all(s % 2 == 0 for n, s in zip(r.shape, r.strides) if n > 1)
        return r.offset < 2 and numel(r.shape) == numel(self.shape) and is_even and is_contiguous(r.shape, pairs)

    def _check_whole(self, r: GraphTensor, node: Node | None) -> None:
        is_whole = r.offset == 0 and numel(r.shape) == numel(self.shape) and is_contiguous(r.shape, r.strides)
        if not is_whole:
            self._refuse(node)

    def _refuse(self, node: Node | None) -> None:
        raise errors.scan_no_element(*self._place(node))

    def _place(self, node: Node | None) -> tuple[str, str, str]:
        """Returns the op, the function and the line of an error; None is the function's result."""
        op, line = (node.origin.op, node.origin.line) if node else ("the result", "its return")
        return op, self.graph.name, line


def feedback_launch(
    step: StepFunction, backend: Backend, states: Sequence[Tensor], xs: Sequence[Tensor], steps: int, reverse: bool
) -> Launch:
    """Returns the launch of all steps. Its outputs are the last states, then the results of each
    step."""
    ins, outs = [*states, *xs], len(step.results)
    if len(ins) + outs > MAX_OPERANDS:
        raise errors.scan_operands(len(ins) + outs, MAX_OPERANDS)
    shape, count = states[0]._shape, len(states)
    loop = row_loop(tuple([t._dtype for t in ins]), step.calls, step.results, step.scalar_dtypes, count)
    key = feedback_key(loop)
    dtypes = [p.dtype for p in key.outs]
    outputs = [Output(d, shape, contiguous_strides(shape)) for d in dtypes[:count]]
    outputs += [Output(d, (steps, *shape), contiguous_strides((steps, *shape))) for d in dtypes[count:]]
    check_memory(backend, *outputs)
    items = numel(shape)
    if not items:
        return Launch((), outs + len(ins), tuple(outputs))
    first, stride = ((steps - 1) * items, -items) if reverse else (0, items)
    geometry = FeedbackGeometry(items, steps, first, stride).pack()
    pointers = tuple(range(outs + len(ins)))
    units = compute_units(items, backend.units, backend.target, 1)
    kernel = Step(key, units, pointers, pointers, scalars=bool(step.scalars), geometry=geometry)
    return Launch((kernel,), outs + len(ins), tuple(outputs), fixed_scalars=step.scalars)
