"""The source `loops` of the fuzz: random loops with feedback as stages of a kernel, against the
ops.

A function has elementwise ops, one or two scans of a random step, of one signal or of each column,
further ops, and at times a reduction of rows. In C simulation it is jitted as for a board, into one
kernel of stages. Results and last states must have the bits of the eager function, whose ops are
separate kernels.

Rows of one element, whose layout is ambiguous, are left out, and sums of floats along rows, whose
order differs.
"""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import ftensor as ft
from ftensor._device import default_backend
from ftensor.toolchain.trace import recording

from .fuzz_estimates import simulated

# Lines of a step and of the ops around it; `c` is a number.
FLOATS = ("{a} + {b}", "{a} * {b} * 0.5", "{a} - {c}", "{c} * {a}", "{a}.sin()", "ft.maximum({a}, {b})", "-{a}",
          "ft.where({a} > {b}, {a}, {b} * {c})", "{a}.abs().sqrt()", "ft.clamp({a}, -2, 2)")  # fmt: skip
INTEGERS = ("{a} + {b}", "{a} * {b}", "{a} - 3", "ft.where({a} > {b}, {a}, {b} - 7)", "{a} & {b}", "{a} ^ 5", "-{a}")
COMPLEX = ("{a} + {b}", "{a} * {b} * 0.25", "{a} - {c}", "{c} * {a}", "{a}.conj()", "{a} * {b}.real", "-{a}",
           "ft.where({a}.real > {b}.imag, {a}, {b} * {c})", "ft.complex({b}.imag, {a}.real)")  # fmt: skip
LINES = {"float32": FLOATS, "float16": FLOATS, "int32": INTEGERS, "uint8": INTEGERS[:4], "complex64": COMPLEX}


def lines(draw: random.Random, of: str, names: list[str], count: int, prefix: str) -> Iterator[str]:
    """Yields random lines that compute from `names` and from one another. Adds the new names to
    `names`."""
    for k in range(count):
        a, b = draw.choice(names), draw.choice(names)
        text = draw.choice(LINES[of]).format(a=a, b=b, c=draw.choice((0.75, -0.3, 1.5)))
        names.append(f"{prefix}{k}")
        yield f"{names[-1]} = {text}"


def program(draw: random.Random) -> str:
    """Returns the text of `chain`, with its steps, and of the arguments that it is called with."""
    of, rows, length = draw.choice(list(LINES)), draw.randrange(2, 9), draw.choice((5, 16, 20, 33, 64))
    length += length == rows
    text, values, several = [], ["x", "w"], draw.random() < 0.4
    first = "starts" if several else "start"
    body = ["x, w = x + 1, w * 0.5"] if of == "complex64" else []  # a part of an argument is no row
    body += lines(draw, of, values, draw.randrange(3), "p")
    results = []
    for n in range(draw.choice((1, 1, 2))):
        states, inputs = draw.randint(1, 3), draw.randint(1, 2)
        names = [*(f"s{k}" for k in range(states)), *(f"i{k}" for k in range(inputs))]
        step = [*lines(draw, of, names, draw.randrange(6), "t")]
        after, given = (draw.choices(names, k=k) for k in (states, draw.randint(1, 2)))
        unpacked = [f"({', '.join(names[:states])},), ({', '.join(names[states : states + inputs])},) = s, i"]
        text += [f"def step{n}(s, i):", *(f"    {line}" for line in unpacked + step)]
        text += [f"    return ({', '.join(after)},), ({', '.join(given)},)"]
        starts = ", ".join(draw.choice((first, first, f"{first} * 2" if of != "uint8" else first)) for _ in after)
        taken = ", ".join(draw.choice(values) + ("" if several else ".view(-1)") for _ in range(inputs))
        made = [f"y{n}_{k}" for k in range(len(given))]
        body.append(f"last{n}, ({', '.join(made)},) = ft.scan(step{n}, ({starts},), ({taken},))")
        body += [f"{name} = {name}.view({rows}, {length})" for name in made]
        values += made
        results += [f"*last{n}", *draw.sample(made, draw.randint(0, len(made)))]
    body += [*lines(draw, of, values, draw.randrange(3), "q")]
    if of in ("float32", "int32") and draw.random() < 0.4:
        body.append(f"folded = {values[-1]}.{draw.choice(('amax', 'amin'))}(-1)")
        results.append("folded")
    results.append(values[-1])
    text += [
        "def chain(x, w, start, starts):",
        *(f"    {line}" for line in body),
        f"    return ({', '.join(results)},)",
    ]
    seed = draw.randrange(1 << 20)
    return "\n".join([*text, f"of, shape, seed = {of!r}, {(rows, length)}, {seed}"])


def arguments(scope: dict[str, Any]) -> list[ft.Tensor]:
    """Returns x, w and the initial states of loops, for one signal and for several."""
    shapes = (scope["shape"], scope["shape"], (), scope["shape"][1:])
    numbers, of = np.random.default_rng(scope["seed"]), scope["of"]
    drawn = [numbers.standard_normal((*shape, 2)) * 2 for shape in shapes]
    if of == "complex64":
        return [ft.from_numpy(np.array((z[..., 0] + 1j * z[..., 1]).astype(of))) for z in drawn]
    return [ft.from_numpy(np.array(abs(z[..., 0]) if of == "uint8" else z[..., 0]).astype(of)) for z in drawn]


def bits(results: tuple[ft.Tensor, ...]) -> list[Any]:
    """Returns each result's shape and bytes; NaNs are normalized."""
    arrays = [np.array(t.numpy()) for t in results]
    for array in arrays:
        if array.dtype.kind in "fc":
            parts = array.reshape(-1).view(array.real.dtype)
            parts[np.isnan(parts)] = np.nan
    return [(array.shape, array.tobytes()) for array in arrays]


def difference(text: str) -> str:
    """Returns how the kernel of stages differs from the ops; "" if it does not."""
    scope: dict[str, Any] = {"ft": ft}
    exec(text, scope)
    with simulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operands = arguments(scope)
        wanted = bits(scope["chain"](*operands))
        jitted = ft.jit(scope["chain"])
        with recording(1):
            report = jitted.graph(*operands).report()
            got = bits(jitted(*operands))
        default_backend().kernels.clear()
    if not any("staged" in line and "scan" in line for line in report.splitlines()):
        return f"no stage is a loop:\n{report}"
    differing = [k for k, (one, other) in enumerate(zip(wanted, got, strict=True)) if one != other]
    return f"results {differing} differ:\n{report}" if differing else ""


def trial(draw: random.Random) -> str:
    """Returns a difference, and the program that has it; "" if there is none."""
    if shutil.which("g++") is None:
        return ""
    text = program(draw)
    try:
        problem = difference(text)
    except ft.GraphError as refused:
        return f"{refused}\n{text}"
    return f"{problem}\n{text}" if problem else ""
