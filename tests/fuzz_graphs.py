"""The source `graphs` of the fuzz: the programs of `fuzz_programs`, jitted, against eager.

Tensors are made outside. The computing lines are a function of these, and of numbers. It is called
twice eagerly and jitted, each time on new tensors, and again with other numbers. All its results
and writes must have the same bits, or it must raise the same error. Lines that a graph refuses (a
value is read, an argument gets another shape) are removed first.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

import ftensor as ft

from .fuzz_words import NUMBERS, ONE, ROUNDED, TWO, program

# Elementwise lines, which make long kernels.
MORE = (*TWO, *ROUNDED[:5], *ONE[:16])
# Lines with numbers that differ from call to call: used as they are, in arithmetic, and in
# comparisons.
GIVEN = (
    "{a} * p0", "{a} + p1", "p1 - {a}", "{a} / p1", "{a}.add({b}, alpha=p0)", "{a}.clamp(max=p1)",
    "lib.where({a} > p2, {a}, p0)", "lib.full_like({a}, p2)", "{a} * (p0 + 1)", "{a}.sub_(p1)",
    "({a} if p1 > 2 else {a} * p2)", "{a} * p3", "lib.addcmul({a}, {a}, {b}, value=p2)",
)  # fmt: skip
VALUES = (
    {"p0": 0.5, "p1": 2, "p2": -0.0, "p3": 1j},
    {"p0": -1.25, "p1": 3, "p2": float("inf"), "p3": complex(0.0, -0.0)},
    {"p0": 1e39, "p1": -7, "p2": float("nan"), "p3": complex(-0.5, float("inf"))},
    {"p0": 3.0, "p1": 2**53 + 1, "p2": 0.1, "p3": -2 + 0j},
)
# Lines that read a value, and lines that change a tensor's geometry.
READS = re.compile(r"\bnonzero|\[t\d+ [=!><]+ ?\d|\[t\d+ == 0\] = 1|\.t_\(|\.out=|item")


def trial(draw: random.Random) -> str:
    """Returns the difference of a jitted program from the eager program, and the shortest program
    with a difference."""
    lines = [line for line in program(draw) if not READS.search(line)]
    names = [line.split(" = ")[0] for line in lines if re.match(r"t\d+ = lib.tensor", line)]
    for k in range(draw.randrange(12)):
        a, b = draw.choice(names), draw.choice(names)
        expression = draw.choice(GIVEN if draw.random() < 0.3 else MORE).format(a=a, b=b)
        # Equal programs are computed once.
        lines.append(f"m{k} = ({expression}) == ({expression})" if draw.random() < 0.2 else f"m{k} = {expression}")
        names.append(f"m{k}")
    problem = difference(lines)
    if not problem:
        return ""
    for k in reversed(range(len(lines))):
        shorter = lines[:k] + lines[k + 1 :]
        if difference(shorter):
            lines = shorter
    return f"{kind(difference(lines))}\n" + "\n".join(lines)


def kind(text: str) -> str:
    """Returns the kind of a difference, without names."""
    return re.sub(r"\b[tm]\d+\b", "t", text)


def difference(lines: list[str]) -> str:
    """Returns the difference of the jitted program; "" if there is none."""
    creations = [line for line in lines if re.match(r"t\d+ = (lib\.tensor|t\d+\[\d+:\d+\]\.view)", line)]
    rest = [line for line in lines if line not in creations]
    jitted = ft.jit(run)
    for turn, of in enumerate((0, 0, 1, 2, 3)):
        eager = [state(creations, rest, None, VALUES[of]) for _ in range(2)]
        if any(same(*eager)):
            return ""  # uninitialized memory
        got = state(creations, rest, jitted, VALUES[of])
        if isinstance(got, ft.GraphError):
            return ""
        differing = same(eager[0], got)
        if differing:
            return f"call {turn}: {differing[0]}"
    return ""


def run(space: dict[str, Any], numbers: dict[str, Any], *lines: str) -> dict[str, ft.Tensor]:
    """Returns all tensors after some lines."""
    names: dict[str, Any] = {"lib": ft, **NUMBERS, **numbers, **space}
    for line in lines:
        exec(line, names)
    return {k: v for k, v in names.items() if isinstance(v, ft.Tensor)}


def state(creations: list[str], rest: list[str], jitted: Any, numbers: dict[str, Any]) -> Any:
    """Returns the program's final state: bits of all tensors by name, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            space = run({}, {}, *creations)
            tensors = (jitted or run)(space, numbers, *rest)
            tensors |= {f"{name}, an argument": t for name, t in space.items()}
            return {name: bits(t) for name, t in tensors.items()}
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        return error


def bits(t: ft.Tensor) -> Any:
    """Returns a tensor's geometry and its elements' bytes. NaNs are normalized, since compilers
    choose their bits."""
    array = np.array((t.float() if t.dtype is ft.bfloat16 else t).numpy())
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return t.dtype, tuple(t.shape), t.stride(), array.tobytes()


def same(a: Any, b: Any) -> list[str]:
    """Returns the differences."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        # A graph finds an index out of range when it runs, after all errors that a trace finds.
        late = isinstance(a, IndexError) and isinstance(b, Exception)
        alike = late or (type(a) is type(b) and str(a) == str(b))
        return [] if alike else [f"{a!r:.200} and {b!r:.200}"]
    return [name for name in a if name not in b or a[name] != b[name]]
