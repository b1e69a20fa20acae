"""Replays: the generated function of a graph that checks its guards and runs its launch.

It has one line for each thing that the graph needs, so a call pays for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from .guards import GUARD_FAILED, CapturedStorage, GuardCode
from .ir import ResultTensor, ReturnedMethod, ReturnedObject, unflatten

if TYPE_CHECKING:
    from .._tensor import Tensor
    from .lowering import Lowered

# Called with a call's tensors and its signature. Returns the result, or GUARD_FAILED.
Replay = Callable[[Sequence["Tensor"], Sequence[Any]], Any]
ResultMaker = Callable[[Sequence["Tensor"], Sequence["Tensor"]], "Tensor"]
_MAX_INLINE_PARTS = 16  # parts of a result


class ReturnedArgument(NamedTuple):
    """A tensor of the result that is tensor `position` of the call."""

    position: int


# A tensor of the result: the index of the launch's output that it is, an argument, or a function
# that makes it of the outputs and the call's tensors.
ResultPart = int | ReturnedArgument | ResultMaker


def replay(graph: Lowered) -> Replay:
    """Returns the generated function that runs a graph for a call: it checks the guards, runs the
    launch and builds the result."""
    guarded_captures = () if graph.guards is None else graph.guards.captured
    captured = list(dict.fromkeys([*guarded_captures, *graph.captured]))
    names = {storage: f"h{k}" for k, storage in enumerate(captured)}
    values: dict[str, Any] = {"GUARD_FAILED": GUARD_FAILED}
    live_names: list[str] = []
    for storage, name in names.items():
        if storage.owned is None:
            values[f"{name}_reference"] = storage.reference
            live_names.append(name)
        else:
            values[name] = storage.owned
    code = (
        GuardCode(set(), [], {})
        if graph.guards is None
        else graph.guards.generate_code([names[storage] for storage in guarded_captures])
    )
    result = _result(graph, values)
    returned = {part.position for part in graph.result_parts if isinstance(part, ReturnedArgument)}
    inputs = {*graph.arguments, *graph.written_arguments, *[k for k, _ in graph.reinterpreted]}
    lines = [f"x{k} = tensors[{k}]" for k in sorted(code.tensors | inputs | returned)]
    lines += [f"s{k} = x{k}._storage" for k in sorted(code.tensors | {*graph.written_arguments})]
    for j, obj in enumerate(graph.graph.returned_objects):
        if obj.can_expire:
            values[f"o{j}_reference"] = obj.current
            live_names.append(f"o{j}")
    lines += [f"{name} = {name}_reference()" for name in live_names]
    failures = [f"{name} is None" for name in live_names] + code.failures
    lines += [f"if {' or '.join(failures)}: return GUARD_FAILED"] if failures else []
    lines += _launch(graph, names, values)
    lines += [f"return {result}"]
    return _function(lines, values | code.values)


def _launch(graph: Lowered, names: Mapping[CapturedStorage, str], values: dict[str, Any]) -> list[str]:
    """Returns the code lines that run the launch. Adds the objects that these lines use to
    `values`, by name."""
    lines: list[str] = []
    values["numbers"] = graph.numbers
    if graph.takes_call_numbers:
        values["call_numbers"] = graph._with_call_numbers
        lines.append("numbers = call_numbers(signature)")
    if graph.graph.draws:
        values["draw"] = graph._draw_numbers
        lines.append("numbers = draw(numbers)")
    if graph.launch is None:
        return [*lines, "results = ()"]
    values |= {"call": graph.launch.call, "enqueued": graph._run_observed}
    inputs = [f"x{k}" for k in graph.arguments]
    for j, (k, dtype) in enumerate(graph.reinterpreted):
        values |= {"seen_as": graph._reinterpret, f"dtype{j}": dtype}
        lines.append(f"y{j} = seen_as(x{k}, dtype{j})")
        inputs.append(f"y{j}")
    tensors = list(inputs)
    for storage in graph.captured:
        values[f"{names[storage]}_whole"] = storage.as_bytes
        tensors.append(f"{names[storage]}_whole()")
    inputs += [names[storage] for storage in graph.captured]
    written = [*[names[storage] for storage in graph.written_captures], *[f"s{k}" for k in graph.written_arguments]]
    invalidations = [f"{name}.bounds = {name}.derived = None" for name in written]
    # A launch without outputs returns (), so None alone says that it did not run.
    lines += [*invalidations, f"results = call(({_list(inputs)}), numbers, None)"]
    lines += [f"if results is None: results = enqueued(({_list(tensors)}), numbers)"]
    lines += invalidations  # by then another thread may have read it
    if graph.graph.checks:
        values["check"] = graph._check_indices
        lines.append("check(tensors)")
    return lines


def _list(names: Iterable[str]) -> str:
    return "".join([f"{name}, " for name in names])


def _result(graph: Lowered, values: dict[str, Any]) -> str:
    """Returns the code of the function's result. Adds the objects that it uses to `values`, by
    name."""
    parts: list[str] = []
    for j, part in enumerate(graph.result_parts):
        if isinstance(part, int):
            parts.append(f"results[{part}]")
        elif isinstance(part, ReturnedArgument):
            parts.append(f"x{part.position}")
        else:
            values[f"part{j}"] = part
            parts.append(f"part{j}(results, tensors)")
    result = graph.graph.result
    if isinstance(result, ResultTensor):
        return parts[0]
    if result is None:
        return "None"
    if type(result) is tuple and graph.launch is not None and all(isinstance(x, ResultTensor) for x in result):
        if graph.result_parts == tuple(range(len(graph.launch.outputs))):
            return "results"
    flat = type(result) in (tuple, list) and not any(isinstance(x, (tuple, list, dict)) for x in result)
    if flat and len(result) <= _MAX_INLINE_PARTS:
        body = _list(_part_expressions(result, parts, values))
        return f"({body})" if type(result) is tuple else f"[{body}]"
    values |= {"unflatten": unflatten, "structure": result}
    return f"unflatten(structure, [{_list(parts)}], signature)"


def _part_expressions(result: Sequence[Any], parts: Sequence[str], values: dict[str, Any]) -> Iterator[str]:
    """Yields the code of each part of a flattened result. Adds the objects that it uses to
    `values`, by name."""
    remaining = iter(parts)
    for j, x in enumerate(result):
        if isinstance(x, ResultTensor):
            yield next(remaining)
        elif x is None:
            yield "None"
        elif isinstance(x, (ReturnedObject, ReturnedMethod)):
            values[f"object{j}"] = x.get
            yield f"object{j}(signature)"
        else:
            values[f"value{j}"] = x
            yield f"value{j}"


def _function(lines: Sequence[str], values: Mapping[str, Any]) -> Replay:
    """Returns the function with these lines. `values` become defaults of further parameters: one
    tuple, whereas a closure has a cell for each."""
    code = _compiled(f"def replay({', '.join(['tensors', 'signature', *values])}, /):\n    " + "\n    ".join(lines))
    return FunctionType(code, {}, "replay", tuple(values.values()))


@lru_cache(1 << 10)
def _compiled(text: str) -> CodeType:
    """Returns the code of a function. Graphs of one form share it."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<ftensor graph>", "exec"), scope)
    code: CodeType = scope["replay"].__code__
    return code
