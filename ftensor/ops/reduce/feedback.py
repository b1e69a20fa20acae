"""`scan`: loops with feedback, such as IIR filters, gain controls and phase-locked loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from ..._tensor import Tensor
from ...errors import graph as errors
from ...errors.message import line_of_code
from ...execute.dispatch import run
from ...graph.feedback import feedback_launch, placeholder, step_function, trace_step
from ...graph.ir import ResultTensor
from ..create.sizes import full

# An object for each function, by which its launches are found again.
_marks: WeakKeyDictionary[Any, object] = WeakKeyDictionary()
_structures: WeakKeyDictionary[object, dict[Any, Any]] = WeakKeyDictionary()


class _Mark:
    """Identifies a function in the table of launches without keeping it alive."""


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, reverse: bool = False) -> tuple[Any, Any]:
    """Returns (the last state, the results of all steps) of a loop with feedback, in one kernel.

    `f(state, x)` returns `(state, result)` of one step; `xs` have the steps in dim 0, as `torch.scan`
    of its higher-order ops and `jax.lax.scan`. States, inputs and results are tensors, or tuples,
    lists and dicts of them; a result may be None. `init` may have numbers, which start each signal.
    `f` is traced: it computes elements from elements, with `ft.where` for choices, and its state
    keeps dtype and shape. With `reverse` the loop begins with the last step.

    Signals (the other dims) run in parallel, their steps one after the other. Raises GraphError,
    with the line, if `f` reads a value, writes to a tensor, or calls an op that is not elementwise;
    ValueError for a state that changes dtype or shape and for unequal lengths; TypeError for other
    arguments, RuntimeError on a board whose images lack the loop's kernel.
    """
    inputs = list(_leaves(xs, "xs"))
    if not inputs or any(type(x) is not Tensor for x in inputs):
        raise errors.scan_arguments("xs", next((x for x in inputs if type(x) is not Tensor), xs))
    if not all(x._shape for x in inputs):
        raise errors.scan_no_steps()
    lengths = [x._shape[0] for x in inputs]
    shape = inputs[0]._shape[1:]
    if len(set(lengths)) > 1:
        raise errors.scan_lengths(lengths)
    for k, x in enumerate(inputs):
        if x._shape[1:] != shape:
            raise errors.scan_shape(f"of input {k}", x._shape[1:], shape)
    steps, backend, device = lengths[0], inputs[0]._storage.backend, inputs[0]._storage.device
    name = getattr(f, "__qualname__", type(f).__name__)
    states = [_state(value, k, shape, device) for k, value in enumerate(_leaves(init, "init"))]
    if not states:
        raise errors.scan_arguments("init", init)
    inputs = [x.contiguous() for x in inputs]
    try:
        mark = _marks.setdefault(f, _Mark())
    except TypeError:  # a bound method has no life of its own
        mark = _Mark()
    known = _structures.setdefault(mark, {})
    key = ("scan", mark, reverse, repr(_shape_of(init)), repr(_shape_of(xs)), *[t._key for t in (*states, *inputs)])
    if key not in known:
        known[key] = _traced(f, name, init, xs, states, inputs, shape)
    step, template = known[key]
    arguments = (step, backend, states, inputs, steps, reverse)

    def refuse(*_: Any) -> Any:  # the host has no kernel that computes a step
        raise errors.scan_boards(backend.properties.name, name)

    tensors = run(backend, key, feedback_launch, refuse, arguments, [*states, *inputs])
    last = _filled(init, iter(tensors[: len(states)]))
    return last, _filled(template, iter(tensors[len(states) :]))


def _state(value: Any, k: int, shape: tuple[int, ...], device: Any) -> Tensor:
    if type(value) is not Tensor:
        if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
            raise errors.scan_arguments("init", value)
        return full(shape, value, device=device)
    if value._shape == ():
        value = value.expand(shape)
    if value._shape != shape:
        raise errors.scan_shape(f"{k}", value._shape, shape)
    return value.contiguous()


def _traced(
    f: Any, name: str, init: Any, xs: Any, states: Sequence[Tensor], inputs: Sequence[Tensor], shape: tuple[int, ...]
) -> tuple[Any, Any]:
    """Returns the function of a step, and the structure of its result."""
    backend = inputs[0]._storage.backend
    traced = [placeholder(t, shape) for t in (*states, *inputs)]
    parts = iter(traced)
    state, x = _filled(init, parts), _filled(xs, parts)
    graph, result = trace_step(name, backend, lambda: f(state, x), traced)
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise errors.scan_result(name, type(result).__name__)
    after, template = result
    if _shape_of(after) != _shape_of(init):
        raise errors.scan_result(name, f"a state of another structure ({_shape_of(after)})")
    returned = [*_leaves(after, ""), *_leaves(template, "")]
    for part in returned:
        if not isinstance(part, ResultTensor):
            raise errors.scan_result(name, "a number or another object")
    for k, (t, part) in enumerate(zip(states, returned, strict=False)):
        region = part.region
        if (region.dtype, region.shape) != (t._dtype, shape):
            raise errors.scan_state(name, k, t._dtype, shape, region.dtype, region.shape, line_of_code(f))
    for part in returned[len(states) :]:
        if part.region.shape != shape:
            raise errors.scan_result(name, f"a result of shape {part.region.shape}; a step has {shape}")
    return step_function(graph, returned, traced, shape), template


# Structures of tuples, lists and dicts


def _leaves(tree: Any, name: str) -> Iterator[Any]:
    if isinstance(tree, (tuple, list)):
        for part in tree:
            yield from _leaves(part, name)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from _leaves(part, name)
    elif tree is not None:
        yield tree


def _filled(tree: Any, leaves: Iterator[Any]) -> Any:
    """Returns a structure like `tree` with other leaves."""
    if isinstance(tree, (tuple, list)):
        parts = [_filled(part, leaves) for part in tree]
        return tree._make(parts) if hasattr(tree, "_make") else type(tree)(parts)
    if isinstance(tree, dict):
        return {key: _filled(part, leaves) for key, part in tree.items()}
    return None if tree is None else next(leaves)


def _shape_of(tree: Any) -> Any:
    """Returns the structure without its leaves."""
    return _filled(tree, iter(lambda: "x", None))
