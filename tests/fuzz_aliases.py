"""The source `aliases` of the fuzz: assumptions of a trace, violated on purpose.

A program has memories (tensors, NumPy arrays), captured tensors over them, and a function of two
arguments that reads and writes all of these, seeds generators, and returns other objects besides
tensors. It is called a few times with new tensors, moving windows, the captured tensors, and two
tensors over one array. Between calls, captured tensors are written or get another geometry or
memory, names are bound to other objects, and generators are seeded. Eager and jitted runs each have
their own memories. Results, all memories, generators and errors must be equal. Programs that a
graph refuses are left out.
"""

from __future__ import annotations

import random
import warnings
from typing import Any
from unittest import mock

import numpy as np

import ftensor as ft
from ftensor.graph import jit

# Lines of a function of x and y, which captures g, h and a generator, and returns `out`.
READS = (
    "out.append({a} + 1)", "out.append({a} * {b})", "out.append(({a} * 2).sum())", "out.append({a}[1:] - {b}[:1])",
    "out.append({a})", "out.append({a}[1:])", "out.append(ft.cat([{a}.reshape(-1), {b}.reshape(-1)]))",
    "out.append({a}.expand_as({a}) + {b}.t())", "out.append({a}.view(-1) * p)",
    "out.append(({a} * {b}) + ({a} * {b}))", "out.append(ft.nn.functional.softmax({a} + {b}, -1))",
    "out.append({a} + ft.tensor([1.0, 2.0, 3.0, 4.0]))",
)  # fmt: skip
WRITES = (
    "{a}.add_(1)", "{a}.mul_({b})", "{a}[1:].sub_({b}[:1])", "{a}.copy_({b})", "ft.add({a}, {b}, out={a})",
    "{a}.fill_(p)", "{a}[0] = 7", "ft.neg({b}, out={a})", "{a}.view(-1)[1:3].zero_()", "ft.arange(4.0, out={a})",
    "{a}.clamp_(max=p)",
)  # fmt: skip
DRAWS = (
    "{a}.normal_()", "{a}.uniform_(generator=generator)", "{a}.random_(0, 9)", "{a}.bernoulli_(0.5)",
    "{a}.exponential_()", "ft.rand({a}.shape, out={a})", "ft.randn({a}.shape, generator=generator, out={a})",
    "ft.rand(3)", "ft.randperm(0)", "ft.nn.functional.dropout({a}, 0.5)",
    "out.append(ft.nn.functional.dropout({a}, 0.5))", "{a}[:0].normal_()", "out.append(ft.rand_like({a}))",
    "ft.normal(0.0, 1.0, {a}.shape, out={a})", "{a}.geometric_(0.5)", "{a}.cauchy_()",
)  # fmt: skip
SEEDS = (
    "ft.manual_seed({k})", "ft.manual_seed(int(p))", "generator.manual_seed({k})", "generator.set_offset({k})",
    "with ft.random.fork_rng(): out.append(ft.rand(3))", "out.append(ft.rand(3, generator=generator.clone_state()))",
    "out.append(ft.rand(3, generator=ft.Generator()))", "with ft.random.fork_rng(): ft.manual_seed({k}); {a}.normal_()",
)  # fmt: skip
OBJECTS = (
    "out.append(thing)", "out.append(thing.itself)", "out.append(lambda: thing)", "out.append(box[0])",
    "out.append({{len(out), 7}})", "out.append(frozenset([p]))",
)  # fmt: skip
LAYOUTS = (
    "out.append({a}.view(ft.int32))", "out.append({a}.view(ft.float64))", "{a}.view(ft.int64).fill_(3)",
    "{a}.view(ft.int16)", "out.append(ft.view_as_complex({a}.view(-1, 2)))",
    "out.append({a}.as_strided((2, 2), (1, 1)))", "{a}.view(ft.float64)", "out.append({a}.as_strided((3,), (1,), 2))",
    "{a}.as_strided((2,), (2,), 1).add_(1)", "out.append(p * {a}.storage_offset())",
    "out.append({a}[1:].clone().resize_(5)[:3])", "out.append({a}.as_strided((6,), (1,)))",
    "out.append({a}[:2].t().t_())",
)  # fmt: skip
# Arguments of the calls: x and y, each from one text; k is a number that differs from call to call.
ARGUMENTS = (
    "ft.arange(4.0) + {k}", "base[{k}:{k} + 4]", "base[{k}:{k} + 4]", "g", "h", "g.view(-1)[:4]", "base[8:12]",
    "base[{k} + 2:{k} + 6]", "ft.from_numpy(array[:4])", "ft.from_numpy(array[{k}:{k} + 4])",
    "ft.from_dlpack(array[4:8])", "wide[{k}:{k} + 4]", "ft.from_numpy(array)[{k}:{k} + 4]", "base[{k}:{k} + 8:2]",
    "bytes[4 * {k}:4 * {k} + 16].view(ft.float32)", "base.double()[:4]",
)  # fmt: skip
HELD = (
    "ft.ones(4)", "base[:4]", "base[{k}:{k} + 4]", "ft.from_numpy(array[:4])", "ft.from_numpy(array[{k}:{k} + 4])",
    "base", "ft.arange(4.0).view(2, 2)", "wide[2:6]", "ft.arange(16.0)[:4]",
)  # fmt: skip
CHANGES = (
    "{a}.fill_({k})", "{a}.view(-1)[1] = {k}", "array[{k}] = {k}", "base.add_({k})", "ft.manual_seed({k})",
    "generator.manual_seed({k})", "{a}.t_()", "{a}.unsqueeze_(0)", "{a}.squeeze_()", "{a}.resize_(4)",
    "{a}.resize_(2, 4).fill_({k})", "{a}.resize_(0)", "ft.cat([ft.ones(4), ft.ones(4)], out={a})",
    "{a}.set_(base, {k}, (4,), (1,))", "{a}.as_strided_((4,), (2,), {k})", "ft.rand(2, generator=generator)",
    "{a}[1:].t_()", "thing = Thing({k})", "box[0] = Thing({k})",
)  # fmt: skip
NAMES = ("x", "y", "g", "h")
LINES = (READS, READS, WRITES, WRITES, DRAWS, LAYOUTS, SEEDS, OBJECTS)


class Program:
    """Lines for the captured tensors, the function, and the calls, each after the changes before
    it."""

    def __init__(self, draw: random.Random) -> None:
        self.held = [f"{name} = {_drawn(draw, HELD)}" for name in ("g", "h")]
        self.body = [_drawn(draw, draw.choice(LINES)) for _ in range(draw.randrange(1, 6))]
        self.calls: list[str] = []
        for _ in range(draw.randrange(2, 6)):
            if self.calls and draw.random() < 0.4:
                change = _drawn(draw, CHANGES, ("g", "h"))
                self.calls.append(change)
            if draw.random() < 0.4 and self.calls:
                self.calls.append(next(line for line in self.calls[::-1] if line[:5] == "call("))
            else:
                self.calls.append(
                    f"call({_drawn(draw, ARGUMENTS)}, {_drawn(draw, ARGUMENTS)}, {draw.choice((2.0, 3.0, 0.5))})"
                )

    def text(self) -> str:
        """Returns the program as text."""
        return "\n".join([*self.held, "def function(x, y, p):", *[f"    {line}" for line in self.body], *self.calls])

    def without(self, part: str, k: int) -> Program:
        """Returns the program without a line."""
        other = object.__new__(Program)
        vars(other).update({name: list(lines) for name, lines in vars(self).items()})
        del getattr(other, part)[k]
        return other


def _drawn(draw: random.Random, lines: tuple[str, ...], names: tuple[str, ...] = NAMES) -> str:
    return draw.choice(lines).format(a=draw.choice(names), b=draw.choice(names), k=draw.randrange(5))


def trial(draw: random.Random) -> str:
    """Returns the difference of a jitted program from the eager program, and the shortest program
    with a difference."""
    program = Program(draw)
    problem = difference(program)
    if not problem:
        return ""
    for part in ("calls", "body"):
        for k in reversed(range(len(getattr(program, part)))):
            shorter = program.without(part, k)
            if shorter.body and difference(shorter):
                program = shorter
    return f"{difference(program)}\n{program.text()}"


def difference(program: Program) -> str:
    """Returns the difference of the jitted program; "" if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eager, again = (World(program, jitted=False).run() for _ in range(2))
        if eager != again:
            return ""  # uninitialized memory
        # The kernels of single ops are used; the source `graphs` tests those of graphs.
        with mock.patch.object(jit, "fuse_graph", lambda graph, backend: graph):
            got = World(program, jitted=True).run()
    for k, (one, other) in enumerate(zip(eager, got)):
        if isinstance(other, ft.GraphError):
            return ""
        if one != other:
            return f"step {k}: {_first(one, other)}"
    return ""


def _first(one: Any, other: Any) -> str:
    if type(one) is not dict or type(other) is not dict:
        return f"{one!s:.100} and {other!s:.100}"
    return ", ".join(name for name in one if one[name] != other.get(name)).rstrip("0123456789")


class World:
    """The state of a program: its memories, its function, and its results."""

    def __init__(self, program: Program, jitted: bool) -> None:
        self.program = program
        ft.manual_seed(7)
        self.space: dict[str, Any] = {
            "ft": ft,
            "base": ft.arange(16.0),
            "wide": ft.arange(16.0, dtype=ft.float64),
            "bytes": ft.arange(64).to(ft.uint8),
            "array": np.arange(12, dtype=np.float32),
            "generator": ft.Generator().manual_seed(5),
            "Thing": Thing,
            "thing": Thing(8),
            "box": [Thing(9)],
        }
        text = ["def function(x, y, p):", "    out = []", *[f"    {line}" for line in program.body], "    return out"]
        exec("\n".join(program.held), self.space)
        exec("\n".join(text), self.space)
        function = self.space["function"]
        self.space["call"] = self.call
        self.function = ft.jit(function) if jitted else function
        self.results: Any = None

    def call(self, x: Any, y: Any, p: float) -> None:
        """Calls the function."""
        self.results = None
        self.results = self.function(x, y, p)

    def run(self) -> list[Any]:
        """Returns the result of each step; the error is the last one."""
        left: list[Any] = []
        for line in self.program.calls:
            self.results = None
            try:
                exec(line, self.space)
                left.append(self.state())
            except ft.GraphError as error:
                return [*left, error]
            except Exception as error:  # noqa: BLE001 - which one is what is compared
                # State before the error changes only in eager, since a trace changes nothing. Of
                # several errors a trace may raise another one first.
                return [*left, type(error).__name__]
        return left

    def state(self) -> dict[str, Any]:
        """Returns all observable state."""
        seen = {f"result {k}": _bits(t) for k, t in enumerate(self.results or ())}
        seen |= {name: _bits(self.space[name]) for name in ("base", "wide", "bytes", "g", "h")}
        generators = (self.space["generator"], ft.random.default_generator())
        return seen | {"array": self.space["array"].tobytes(), "drawn": [g.get_state().tolist() for g in generators]}


class Thing:
    """An object that a function captures and returns."""

    def __init__(self, number: int) -> None:
        self.number = number

    def itself(self) -> Thing:
        return self


def _bits(t: Any) -> Any:
    """Returns a tensor's geometry and bytes, or another object's value."""
    if callable(t):
        return "function", _bits(t())
    if isinstance(t, Thing):
        return "thing", t.number
    if not isinstance(t, ft.Tensor):
        return t
    array = np.array(t.numpy())
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return t.dtype, tuple(t.shape), t.stride(), array.tobytes()
