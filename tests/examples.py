"""The examples of public functions, in docstrings and on the site. `make stubs` writes them.

`ftensor/ops/examples.txt` has an example for each function, method and class, with its output. It
is the first call that succeeds of several (`TRIED`), or is written by hand (`written_examples.py`).
ftensor appends the examples to docstrings, which `pages/reference.py` reads.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import itertools
import operator
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ftensor as ft
from ftensor.errors.torch import torch_names
from ftensor.ops.examples import FILE, HEADING

from .written_examples import WRITTEN

# The values that examples use: each example defines the names that it uses.
NAMES = {
    "x": "ft.tensor([0.5, 2.0, 0.25])",
    "y": "ft.tensor([1.0, 3.0, 0.5])",
    "m": "ft.tensor([[2.0, 1.0], [1.0, 3.0]])",
    "i": "ft.tensor([1, 0, 1])",
    "b": "ft.tensor([True, False, True])",
    "z": "ft.tensor([3 + 4j, 1j])",
    "c": "ft.arange(16.0).reshape(1, 1, 4, 4)",
}
PICTURES = ["ft.arange(8.0).reshape(1, 1, 8)", "c", "ft.arange(8.0).reshape(1, 1, 2, 2, 2)"]
TENSORS = ["x", "m", "i", "b", "z", *PICTURES, "ft.arange(8)"]
# The values tried for a parameter of a name that has no default.
TRIED: dict[str, list[str]] = {
    "input": TENSORS,
    "self": TENSORS,
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
MAX_TRIES, MAX_LINES = 400, 7
SPACES = (
    "", "nn.functional", "special", "fft", "linalg", "signal", "signal.windows", "masked", "fpga", "random", "Tensor",
)  # fmt: skip
# Output that an example must not show, since it differs from run to run.
PASSING = re.compile(r" at 0x|object at|Traceback")


def public() -> Iterator[tuple[str, Any]]:
    """Yields (path, value) of every public object, each under its first name."""
    seen: set[int] = set()
    for space in SPACES:
        owner = operator.attrgetter(space)(ft) if space else ft
        for name in dir(owner):
            value = inspect.getattr_static(owner, name)
            called = inspect.isfunction(value) or isinstance(value, type | property)
            if name[0] == "_" or not called or id(value) in seen:
                continue
            if isinstance(value, type) and (issubclass(value, Exception) or not value.__module__.startswith("ftensor")):
                continue  # an exception of another library, or a type of Python's
            seen.add(id(value))
            yield f"{space}.{name}".lstrip("."), value


def output(source: str, scope: dict[str, Any]) -> str:
    """Returns what an interpreter prints for a statement."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source + "\n", "<example>", "single"), scope)
    return printed.getvalue()


def session(program: str) -> str:
    """Returns a program and its output as an interpreter shows them. Random results begin with a
    seed."""
    used = {node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)}
    setup = [f"{name} = {text}" for name, text in NAMES.items() if name in used]
    scope: dict[str, Any] = {"ft": ft}
    lines = []
    ft.manual_seed(0)
    before = ft.get_rng_state().tolist()
    text = "\n".join([*setup, program])
    for node in ast.parse(text).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        source = "\n".join(text.splitlines()[first - 1 : node.end_lineno])
        lines += [f"{'... ' if k else '>>> '}{line}" for k, line in enumerate(source.splitlines())]
        shown = output(source, scope).rstrip("\n").splitlines()
        lines += [*shown[:MAX_LINES], *(["..."] if len(shown) > MAX_LINES else [])]
    if before != ft.get_rng_state().tolist() and "manual_seed" not in text:
        lines.insert(0, ">>> _ = ft.manual_seed(0)")
    return "\n".join(lines)


def example(path: str, value: Any) -> str:
    """Returns the example of a public name. Raises ValueError if no tried call succeeds."""
    for program in itertools.islice(programs(path, value), MAX_TRIES):
        try:
            shown = session(program)
        except Exception:  # noqa: BLE001, S112
            # Any exception means that this is no example.
            continue
        if not PASSING.search(shown):
            return shown
    raise ValueError(f"ft.{path} has no example: write one in tests/written_examples.py")


def programs(path: str, value: Any) -> Iterator[str]:
    """Yields the candidates for a name: its written example, otherwise calls by its parameters."""
    space, _, name = path.rpartition(".")
    method = space == "Tensor"
    if path in WRITTEN:
        yield WRITTEN[path]
        return
    if method and name in WRITTEN:
        text = WRITTEN[name]
        turned = re.fullmatch(rf"ft\.{name}\((\w+)(?:, (.*))?\)", text)
        yield f"{turned[1]}.{name}({turned[2] or ''})" if turned else text
    elif isinstance(value, property):
        yield from (f"{tensor}.{name}" for tensor in TENSORS if tensor.isidentifier())
    else:
        yield from calls(path, value, method)


def calls(path: str, call: Callable[..., Any], method: bool) -> Iterator[str]:
    """Yields calls with the values tried for each parameter without a default."""
    words = []
    for p in inspect.signature(call).parameters.values():
        if p.kind is p.VAR_KEYWORD or p.default is not p.empty:
            continue
        if p.kind is p.VAR_POSITIONAL and p.name not in TRIED:
            continue
        tried = TRIED.get(p.name, ["x", "2", "m"])
        words.append([f"{p.name}={v}" for v in tried] if p.kind is p.KEYWORD_ONLY else tried)
    if method:
        first, *words = words or [TENSORS]
        for owner, *rest in itertools.product(first, *words):
            if owner.isidentifier():
                yield f"{owner}.{path.partition('.')[2]}({', '.join(rest)})"
        return
    for arguments in itertools.product(*words):
        yield f"ft.{path}({', '.join(arguments)})"


def parts() -> Iterator[tuple[str, str]]:
    """Yields (path, text appended to the docstring) of each public name: torch's name, and the
    example."""
    names = torch_names()
    for path, value in public():
        shown = textwrap.indent(example(path, value), "    ")
        torchs = {path, f"{path}()"} & names
        yield path, f"See also `torch.{path}`.\n\n" * bool(torchs) + f"{HEADING}\n\n{shown}\n"


def write(file: Path = FILE) -> None:
    """Writes all examples again."""
    file.write_text("".join(f"@ {path}\n{text}" for path, text in sorted(parts())))


# A statement with its continuation lines, and its output. Tensors of more dims have empty lines,
# which end an output for doctest.
STATEMENT = re.compile(r"(>>> .*\n(?:\.\.\. .*\n)*)((?:(?!>>> ).*\n)*)")
# Runs of digits, whose last digits depend on the processor.
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


def agrees(wanted: str, got: str) -> bool:
    """Returns whether two outputs have the same text and nearly the same numbers. "..." ends a
    part."""
    wanted, got = wanted.rstrip("\n"), got.rstrip("\n")
    if wanted.endswith("\n..."):
        wanted = wanted.removesuffix("\n...")
        got = "\n".join(got.splitlines()[: wanted.count("\n") + 1])
    here, there = map(float, NUMBER.findall(wanted)), map(float, NUMBER.findall(got))
    near = all(abs(a - b) <= 2e-4 + 1e-3 * abs(a) for a, b in zip(here, there))
    return near and re.sub(r"\s+", " ", NUMBER.sub("0.", wanted)) == re.sub(r"\s+", " ", NUMBER.sub("0.", got))


def problems(text: str) -> Iterator[str]:
    """Yields where the examples of a docstring print something else than they show."""
    scope: dict[str, Any] = {"ft": ft}
    shown = textwrap.dedent(text.partition(f"{HEADING}\n\n")[2]) + "\n"
    for source, wanted in STATEMENT.findall(shown):
        program = re.sub(r"^(>>>|\.\.\.) ", "", source, flags=re.M)
        got = output(program, scope)
        if not agrees(wanted, got):
            yield f"{source}{wanted}but it prints\n{got}"
