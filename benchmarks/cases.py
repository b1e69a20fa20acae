"""The measured cases, one row each: operands, and the same call in each library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

MILLION = 1 << 20
Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """A case. Operands a, b, ... are texts ("f 4M" is normal float32, "u 4M" uniform, "i 4M<9"
    int64 below 9). `call` runs in ftensor and torch (of a module t), `numpy` in NumPy (np), and
    optionally `other` in pyopencl.array and tinygrad (of operands only). `jitted`: ftensor runs a
    graph, torch runs eagerly."""

    group: str
    name: str
    operands: tuple[str, ...]
    call: str
    numpy: str = ""
    other: str = ""
    jitted: bool = False

    def arrays(self) -> list[np.ndarray]:
        """Returns the operands' values, equal in each run."""
        rng = np.random.default_rng(1)
        operands = []
        for text in self.operands:
            kind, size = text.split()
            size, _, below = size.partition("<")
            shape = tuple(int(n[:-1]) * MILLION if n[-1] == "M" else int(n) for n in size.split("x"))
            if kind == "i":
                operands.append(rng.integers(0, int(below), shape))
            elif kind == "u":
                operands.append(rng.random(shape, np.float32) + np.float32(0.5))
            else:
                operands.append(rng.standard_normal(shape, np.float32))
        return operands

    def calls(self, libraries: tuple[str, ...]) -> dict[str, Call]:
        """Returns the call in each of these libraries that supports it. The call waits for its
        result."""
        arrays = self.arrays()
        by_name = {name: LIBRARIES[name](self, arrays) for name in libraries}
        return {name: call for name, call in by_name.items() if call is not None}


def _ops(group: str, size: str, square: str) -> list[Case]:
    """Returns elementwise ops, reductions and ops that move elements, of one size."""
    n = int(square.split("x")[0])
    two, vector = (f"f {size}", f"f {size}"), f"f {size}"
    return [
        Case(group, "add", two, "a + b", "a + b", "a + b"),
        Case(group, "mul", two, "a * b", "a * b", "a * b"),
        Case(group, "lt", two, "a < b", "a < b"),
        Case(group, "where", two, "t.where(a < 0, a, b)", "np.where(a < 0, a, b)"),
        Case(group, "exp", (vector,), "t.exp(a)", "np.exp(a)"),
        Case(group, "tanh", (vector,), "t.tanh(a)", "np.tanh(a)"),
        Case(group, "sin", (vector,), "t.sin(a)", "np.sin(a)"),
        Case(group, "pow", (f"u {size}", f"u {size}"), "t.pow(a, b)", "np.power(a, b)"),
        Case(group, "a + 2 b sin(a)", two, "a + 2 * b * t.sin(a)", "a + 2 * b * np.sin(a)"),
        Case(group, "transposed copy", (f"f {square}",), "a.t().contiguous()", "np.ascontiguousarray(a.T)"),
        Case(group, "add transposed", (f"f {square}", f"f {square}"), "a + b.t()", "a + b.T"),
        Case(group, "sum", (vector,), "a.sum()", "a.sum()"),
        Case(group, "sum(1)", (f"f {square}",), "a.sum(1)", "a.sum(1)"),
        Case(group, "max", (vector,), "a.amax()", "a.max()"),
        Case(group, "argmax", (vector,), "a.argmax()", "a.argmax()"),
        Case(group, "cumsum", (vector,), "a.cumsum(0)", "a.cumsum()"),
        Case(group, "softmax", (f"f {square}",), "t.softmax(a, 1)"),
        Case(group, "sort", (vector,), "a.sort()", "np.sort(a)"),
        Case(group, "msort", (vector,), "t.msort(a)", "np.sort(a)"),
        Case(group, "index_select rows", (f"f {square}", f"i {n}<{n}"), "a.index_select(0, b)", "a.take(b, 0)"),
        Case(group, "gather", (f"f {square}", f"i {square}<{n}"), "a.gather(1, b)", "np.take_along_axis(a, b, 1)"),
    ]


def _products() -> list[Case]:
    squares = []
    for n, group in ((64, "medium"), (256, "medium"), (512, "large"), (1024, "large")):
        both = (f"f {n}x{n}", f"f {n}x{n}")
        squares.append(Case(group, f"matmul {n}", both, "a @ b", "a @ b", "a @ b"))
    return [
        *squares,
        Case("medium", "bmm 64x128x128", ("f 64x128x128", "f 64x128x128"), "a @ b", "a @ b"),
        Case("large", "matvec 2048", ("f 2048x2048", "f 2048"), "a @ b", "a @ b"),
        Case("large", "conv2d 8x16x64x64 32", ("f 8x16x64x64", "f 32x16x3x3"), "t.nn.functional.conv2d(a, b)"),
    ]


def _graphs() -> list[Case]:
    """Returns functions of several ops, as separate calls and as graphs, and norms, which are
    graphs internally."""
    chain = "t.tanh(a * b + a) * t.exp(-b) + 0.5"
    steps = "(" * 10 + "a" + " * 1.01 + 0.5)" * 10
    square, image = "f 1024x1024", ("f 8x32x32x32", "u 32", "u 32")
    several = [
        Case("graphs", "tanh(a b + a) exp(-b) + 0.5, 4M", ("f 4M", "f 4M"), chain),
        Case("small", "tanh(a b + a) exp(-b) + 0.5, 65536", ("f 65536", "f 65536"), chain),
        Case("small", "20 ops of 16", ("f 16",), steps),
        Case("graphs", "softmax(x s + mask)", (square, square), "t.softmax(a * 0.125 + b, 1)"),
        Case(
            "graphs",
            "silu(rms_norm(x) w) g",
            (square, "u 1024", square),
            "t.nn.functional.silu(t.nn.functional.rms_norm(a, a.shape[-1:]) * b) * c",
        ),
    ]
    return [
        *several,
        *[replace(case, name=f"{case.name}, jitted", jitted=True) for case in several],
        Case(
            "graphs",
            "layer_norm 1024x1024",
            (square, "u 1024", "u 1024"),
            "t.nn.functional.layer_norm(a, a.shape[-1:], b, c)",
        ),
        Case("graphs", "softmax 1024x1024", (square,), "t.softmax(a, 1)"),
        Case("graphs", "log_softmax 4096x16", ("f 4096x16",), "t.log_softmax(a, 1)"),
        Case("small", "softmax 4x4", ("f 4x4",), "t.softmax(a, 1)"),
        Case("small", "softmax 4096x10", ("f 4096x10",), "t.softmax(a, 1)"),
        Case(
            "small", "layer_norm 4x16", ("f 4x16", "u 16", "u 16"), "t.nn.functional.layer_norm(a, a.shape[-1:], b, c)"
        ),
        Case("graphs", "batch_norm", image, "t.nn.functional.batch_norm(a, None, None, b, c, True)"),
        Case("graphs", "group_norm", image, "t.nn.functional.group_norm(a, 8, b, c)"),
        Case("graphs", "instance_norm", image, "t.nn.functional.instance_norm(a, None, None, b, c)"),
    ]


CASES = (
    *_ops("large", "4M", "2048x2048"),
    *[c for c in _ops("large 16 M", "16M", "4096x4096") if c.name in ("add", "mul", "exp")],
    *_ops("medium", "65536", "256x256"),
    Case("small", "add", ("f 16", "f 16"), "a + b", "a + b", "a + b"),
    *_products(),
    *_graphs(),
)
GROUPS = tuple(dict.fromkeys(case.group for case in CASES))


# How a library makes a call of a case; None if it cannot.


def _function(text: str, **names: Any) -> Call:
    call: Call = eval(f"lambda: {text}", names)
    return call


def _ftensor(case: Case, arrays: list[np.ndarray]) -> Call:
    import ftensor as ft

    names = _named([ft.tensor(x) for x in arrays])
    if case.jitted:
        graph = ft.jit(eval(f"lambda {', '.join(names)}: {case.call}", {"t": ft}))
        call: Call = partial(graph, *names.values())
    else:
        call = _function(case.call, t=ft, **names)

    def waited() -> object:
        result = call()
        ft.synchronize()
        return result

    return waited


def _torch(case: Case, arrays: list[np.ndarray]) -> Call:
    import torch

    return _function(case.call, t=torch, **_named([torch.from_numpy(x) for x in arrays]))


def _numpy(case: Case, arrays: list[np.ndarray]) -> Call | None:
    return _function(case.numpy, np=np, **_named(arrays)) if case.numpy else None


def _pyopencl(case: Case, arrays: list[np.ndarray]) -> Call | None:
    """Returns the call in pyopencl.array, on ftensor's device with its own queue. It has no matrix
    products."""
    if not case.other or "@" in case.other:
        return None
    import pyopencl as cl
    import pyopencl.array as cl_array

    from ftensor._device import default_backend

    queue = cl.CommandQueue(default_backend().context)  # type: ignore[attr-defined]
    call = _function(case.other, **_named([cl_array.to_device(queue, x) for x in arrays]))

    def waited() -> object:
        result = call()
        queue.finish()
        return result

    return waited


def _tinygrad(case: Case, arrays: list[np.ndarray]) -> Call | None:
    """Returns the call in tinygrad, on its own device: DEV=CL in the environment selects OpenCL."""
    if not case.other:
        return None
    from tinygrad import Device, Tensor

    call = _function(case.other, **_named([Tensor(x).realize() for x in arrays]))

    def waited() -> object:
        result: Any = call()
        result.realize()
        Device[Device.DEFAULT].synchronize()
        return result

    return waited


def _named(operands: list[Any]) -> dict[str, Any]:
    return dict(zip("abc", operands))


LIBRARIES: dict[str, Callable[[Case, list[np.ndarray]], Call | None]] = {
    "ftensor": _ftensor,
    "torch": _torch,
    "numpy": _numpy,
    "pyopencl": _pyopencl,
    "tinygrad": _tinygrad,
}
