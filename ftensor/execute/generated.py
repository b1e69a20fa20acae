"""Python code written for a form of launch: its operands to its kernels' arguments, in few steps.

A form is all that the code depends on, so that launches of one form share it; what they differ in
is bound to names. In the code, x0, x1, ... are the tensors of a launch, s0, s1, ... their storages,
behind which the temporaries follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from .._tensor import Tensor
from ..iterator.shape import Ints
from .numbers import values_of


class StepForm(NamedTuple):
    """What the code of a step depends on; the names are those of `launch.Step`."""

    pointers: Ints
    offsets: tuple[int | None, ...]
    moved: bool
    numbers: bool | tuple[int, int]
    after: Ints
    last: bool  # a last argument: n, or the geometry


class Form(NamedTuple):
    """What the code of a launch depends on: its steps, and how many it has of what."""

    steps: tuple[StepForm, ...]
    operands: int
    outputs: int
    temporaries: int
    constants: int
    numbers: int | None  # that a call passes to be rounded; None: the launch has its own
    fresh: bool  # whether a call makes the outputs
    arguments: tuple[bool, ...]  # for each of a call's whether it is a tensor


@cache
def enqueuer(form: Form) -> Callable[..., Callable[..., None]]:
    """What makes `enqueue(stream, numbers, *tensors)`, given the values of `_names`."""
    operands = range(form.operands)
    lines = [f"s{k} = x{k}._storage" for k in operands] + _steps(form, operands)
    parameters = ", ".join(["stream", "numbers", *[f"x{k}" for k in operands]])
    return _bound(_names(form), parameters, lines if form.steps else ["pass"])


@cache
def caller(form: Form) -> Callable[..., Callable[..., Any]]:
    """What makes `call(arguments, further numbers, out)`, given the values of `_names`, then what
    gives the constants, then the dtypes of the numbers, or the launch's own ones, and then five
    values for each output: bytes, dtype, shape, strides, key.

    Of several outputs that are given, `out` is a tuple; they share memory as the caller has it.
    """
    fresh, rounding = form.fresh, form.numbers or 0
    operands = range(form.operands)
    results, constants = operands[: form.outputs], operands[form.operands - form.constants :]
    inputs = operands[form.outputs : form.operands - form.constants]
    passed = inputs if fresh else [*results, *inputs]
    left = iter(inputs)
    words = [f"x{next(left)}" if tensor else f"n{i}" for i, tensor in enumerate(form.arguments)]
    numbers = [word for word in words if word[0] == "n"]
    params = [f"p{i}" for i in range(rounding - len(numbers))]
    lines = [f"{', '.join(words)}, = inputs"] if words else []
    lines += [f"{', '.join(params)}, = params"] if params else []
    many = not fresh and form.outputs > 1
    lines += [f"{', '.join(f'x{k}' for k in results)}, = outs"] if many else []
    lines += [f"s{k} = x{k}._storage" for k in passed]
    lines.append(f"device, backend = s{passed[0]}.device, s{passed[0]}.backend")
    looks = ["out is not None"] if fresh else []
    looks += [f"s{k}.device is not device" for k in passed[1:]]
    looks += ["backend.executor is not None"]
    if not fresh:
        looks += [f"s{k}.readonly" for k in results]
        looks += [] if many else [f"s{k} is s0 and x{k} is not x0" for k in inputs]
    lines += [f"if {' or '.join(looks)}: return None", "stream = backend._current.stream"]
    changed = [] if fresh else [f"s{k}.bounds = s{k}.derived = None" for k in results]
    lines += changed
    for k in results if fresh else ():
        lines += [
            f"s{k} = backend.pool.take(nbytes{k}, stream)",
            f"s{k}.device = device",
            f"x{k} = new(Tensor)",
            f"x{k}._storage, x{k}._dtype, x{k}._offset = s{k}, dtype{k}, 0",
            f"x{k}._shape, x{k}._strides, x{k}._key = shape{k}, strides{k}, key{k}",
        ]
    for k in constants:
        lines += [f"x{k} = constant{k}(x{passed[0]})", f"s{k} = x{k}._storage"]
    if rounding:
        rounded = enumerate([*numbers, *params])
        lines.append(f"numbers = {' + '.join(f'values_of({n}, d{i})' for i, n in rounded)}")
    elif form.numbers is not None and any(step.numbers for step in form.steps):
        lines.append("numbers = params")
    lines += _steps(form, [*passed, *constants])
    lines += changed  # by then another thread may have read it, before it was written
    lines.append(f"return ({''.join(f'x{k}, ' for k in results)})")
    names = [*_names(form), *[f"constant{k}" for k in constants]]
    names += ["numbers"] if form.numbers is None else [f"d{i}" for i in range(rounding)]
    for k in range(form.outputs):
        names += [f"nbytes{k}", f"dtype{k}", f"shape{k}", f"strides{k}", f"key{k}"]
    last = "out" if fresh else "outs" if many else "x0"
    return _bound(names, f"inputs, params, {last}", lines)


def _names(form: Form) -> list[str]:
    """A kernel, its units, offsets and last argument for each step; the temporaries' bytes."""
    names = []
    for i in range(len(form.steps)):
        names += [f"k{i}", f"k{i}_units", f"k{i}_moved", f"k{i}_last"]
    return names + [f"bytes{form.operands + i}" for i in range(form.temporaries)]


def _steps(form: Form, storages: Sequence[int]) -> list[str]:
    """Lines that note the use of these storages on the stream, and call every kernel."""
    lines = [f"if s{k}.stream is not stream: stream.use(s{k})" for k in storages]
    lines += [
        f"s{k} = stream.backend.allocate(bytes{k}, stream)"
        for k in range(form.operands, form.operands + form.temporaries)
    ]
    lines += [f"k{i}(stream, k{i}_units, {_arguments(f'k{i}', step)})" for i, step in enumerate(form.steps)]
    # What others see is written, and what others may write is read, when the call returns.
    seen = " or ".join(f"s{k}.visible" for k in storages)
    return [*lines, f"if {seen}: stream.finish()"]


def _arguments(name: str, step: StepForm) -> str:
    words = [f"s{k}.handle" for k in step.pointers]
    for i, k in enumerate(step.offsets):
        start = "0" if k is None else f"x{k}._offset"
        words.append(f"{start} + {name}_moved[{i}]" if step.moved else start)
    if isinstance(step.numbers, tuple):
        words.append("*numbers[{}:{}]".format(*step.numbers))
    elif step.numbers:
        words.append("*numbers")
    words += [f"s{k}.handle" for k in step.after]
    words += [f"{name}_last"] if step.last else []
    return ", ".join(words)


def _bound(names: Sequence[str], parameters: str, lines: Sequence[str]) -> Callable[..., Callable[..., Any]]:
    """What makes the function of these parameters and lines, given the values of the names.

    The values are defaults of further parameters: one tuple, where a closure has a cell for each.
    """
    text = [f"def launch({', '.join([parameters, *names])}, /):", *[f"    {l}" for l in lines]]
    scope: dict[str, Any] = {"new": object.__new__, "Tensor": Tensor, "values_of": values_of}
    exec(compile("\n".join(text), "<ftensor launch>", "exec"), scope)
    code = scope.pop("launch").__code__
    return lambda *values: FunctionType(code, scope, "launch", values)
