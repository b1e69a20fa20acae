"""An example of each op: a call that is tried until one is accepted, and what it printed."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from written import WRITTEN

import ftensor as ft

# What examples compute on, shown at the top of each page.
NAMES = {
    "x": "ft.tensor([0.5, 2.0, 0.25])",
    "y": "ft.tensor([1.0, 3.0, 0.5])",
    "m": "ft.tensor([[2.0, 1.0], [1.0, 3.0]])",
    "i": "ft.tensor([1, 0, 1])",
    "b": "ft.tensor([True, False, True])",
    "z": "ft.tensor([3 + 4j, 1j])",
    "c": "ft.arange(16.0).reshape(1, 1, 4, 4)",
}
_PICTURES = ["ft.arange(8.0).reshape(1, 1, 8)", "c", "ft.arange(8.0).reshape(1, 1, 2, 2, 2)"]
_TENSORS = ["x", "m", "i", "b", "z", *_PICTURES, "ft.arange(8)"]
# What is tried for a parameter of a name, where it has no default.
_TRIED: dict[str, list[str]] = {
    "input": _TENSORS,
    "self": _TENSORS,
    "other": ["y", "m", "i", "2", "c"],
    "tensors": ["[x, y]", "[m, m]"],
    "dim": ["0", "(0, 1)"],
    "dims": ["(0,)", "(1, 0)", "1"],
    "index": ["i", "ft.tensor([[0, 1], [1, 0]])", "ft.tensor([1, 0])", "0"],
    "indices": ["ft.tensor([0, 1])", "(ft.tensor([0, 1]),)", "0"],
    "source": ["y", "m", "ft.tensor([5.0, 6.0])"],
    "src": ["m", "y", "5.0"],
    "mask": ["b", "m > 1"],
    "condition": ["b"],
    "weight": ["m", "ft.ones(1, 1, 3)", "ft.ones(1, 1, 3, 3)", "ft.ones(1, 1, 2, 2, 2)", "y",
               "ft.tensor([0.25])"],
    "target": ["y", "i", "ft.tensor([1, 0])", "m", "ft.tensor([1.0, -1.0, 1.0])"],
    "kernel_size": ["2"],
    "output_size": ["2", "(4, 4)", "8"],
    "size": ["(2, 3)", "2", "(4,)"],
    "shape": ["(3, 1)", "(-1,)", "(2, 2)"],
    "sizes": ["(3, 1)"],
    "repeats": ["2", "(2, 1)"],
    "n": ["2", "4"],
    "k": ["1"],
    "start": ["0", "1"],
    "end": ["3", "2"],
    "steps": ["4"],
    "step": ["2"],
    "length": ["2"],
    "fill_value": ["7.0"],
    "value": ["9.0", "y"],
    "data": ["[[1, 2], [3, 4]]"],
    "n_fft": ["4"],
    "p": ["2", "0.5"],
    "num_classes": ["3"],
    "num_samples": ["2"],
    "low": ["0"],
    "high": ["10"],
    "exponent": ["2"],
    "min": ["0.4"],
    "max": ["0.6"],
    "N": ["4"],
    "M": ["5"],
    "q": ["0.5"],
    "lambd": ["1.0"],
    "equation": ["'ij,jk->ik'"],
    "operands": ["m, m"],
    "matrices": ["m, m"],
    "scale_factor": ["2"],
    "upscale_factor": ["2"],
    "downscale_factor": ["2"],
    "pad": ["(1, 1)"],
    "groups": ["1", "2"],
    "normalized_shape": ["(2,)", "(3,)"],
    "boundaries": ["ft.tensor([0.4, 1.0])"],
    "sorted_sequence": ["ft.tensor([0.0, 1.0, 2.0])"],
    "dtype": ["ft.float64"],
    "diagonal": ["0"],
    "offset": ["0"],
    "split_size": ["2"],
    "split_size_or_sections": ["2"],
    "indices_or_sections": ["3", "2", "1"],
    "sections": ["3"],
    "chunks": ["2"],
    "shifts": ["1"],
    "window_length": ["5"],
    "rnn": ["4"],
    "positive": ["y"], "negative": ["x + 1"], "anchor": ["x"],
    "input1": ["x", "m"], "input2": ["y", "m"], "x1": ["m"], "x2": ["m"],
    "var": ["y"], "mean": ["x"], "std": ["y"],
    "batch1": ["c[0]"], "batch2": ["c[0]"], "mat1": ["m"], "mat2": ["m", "c[0]"],
    "vec": ["ft.tensor([1.0, 2.0])"], "vec1": ["x"], "vec2": ["y"],
    "tensor1": ["x"], "tensor2": ["y"], "A": ["m"], "B": ["m"], "C": ["m"],
    "L": ["ft.linalg.cholesky(m)"], "LU": ["ft.linalg.lu_factor(m)[0]"],
    "query": ["c"], "key": ["c"], "key_": ["c"],
    "real": ["x"], "imag": ["y"], "abs": ["x"], "angle": ["y"],
    "running_mean": ["None", "ft.zeros(2)"], "running_var": ["None", "ft.ones(2)"],
    "log_input": ["True"], "theta": ["ft.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])"],
    "grid": ["ft.zeros(1, 2, 2, 2)"], "align_corners": ["False"], "upper": ["False"],
    "dim0": ["0"], "dim1": ["1", "0"], "dim_": ["0"], "axis0": ["0"], "axis1": ["1"],
    "a": ["m", "x"], "v": ["ft.tensor([1.0, 2.0])"], "alpha": ["0.5"], "beta": ["0.5"],
    "total_length": ["3"], "x": ["x", "m"], "y": ["y"], "func": ["lambda v: v * 2"],
    "memory_format": ["ft.channels_last"], "reduce": ["'sum'", "'amax'"], "ord": ["2"],
    "margin": ["1.0"], "bins": ["4"], "fc": ["0.25"], "sigma": ["1.0"], "std_": ["1.0"],
    "log_probs": ["ft.zeros(4, 1, 3).log_softmax(2)"], "targets": ["ft.tensor([[1, 2]])"],
    "input_lengths": ["ft.tensor([4])"], "target_lengths": ["ft.tensor([2])"],
    "tau": ["ft.tensor([1.5, 1.2])"], "ndim": ["2"], "source_": ["0"], "destination": ["1", "0"],
    "accumulate": ["False"], "values": ["(ft.tensor([5.0, 6.0]))", "ft.tensor(5.0)"],
}  # fmt: skip
MOST_TRIES, MOST_LINES = 400, 7


def names() -> dict[str, Any]:
    """What examples compute on, made anew: an op in place must not change the next example."""
    values: dict[str, Any] = {"ft": ft}
    for name, text in NAMES.items():
        values[name] = eval(text, values)
    return values


def example(name: str, call: Callable[..., Any], method: bool = False) -> tuple[str, str] | None:
    """(a call, what it gives) of a function by its name behind `ft`, or of a method; None where no
    call that is tried is accepted."""
    scope = names()
    calls = (WRITTEN[name],) if name in WRITTEN else _calls(name, call, method)
    for text in itertools.islice(calls, MOST_TRIES):
        ft.manual_seed(0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shown = repr(eval(text, scope))
        except Exception:  # noqa: BLE001, S112
            # Refused: whatever it raises says that this is no example.
            continue
        lines = shown.splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], "..."]
        return text, "\n".join(lines)
    return None


def _calls(name: str, call: Callable[..., Any], method: bool) -> Iterator[str]:
    """Calls with what is tried for each parameter that has no default."""
    words = []
    for p in inspect.signature(call).parameters.values():
        if p.kind is p.VAR_KEYWORD or p.default is not p.empty:
            continue
        if p.kind is p.VAR_POSITIONAL and p.name not in _TRIED:
            continue
        tried = _TRIED.get(p.name, ["x", "2", "m"])
        words.append([f"{p.name}={v}" for v in tried] if p.kind is p.KEYWORD_ONLY else tried)
    if method:
        first, *words = words or [_TENSORS]
        for owner, *rest in itertools.product(first, *words):
            if owner.isidentifier():
                yield f"{owner}.{name}({', '.join(rest)})"
        return
    for arguments in itertools.product(*words):
        yield f"ft.{name}({', '.join(arguments)})"
