"""The signatures of torch's functions and methods, read from torch itself. `make stubs` writes
them.

`host/torch_signatures.txt` has a line for each overload: "add(input, other, *, alpha=1, out=None)".
They have three sources: Python functions, torch's stubs for its functions and methods in C++, and
the schemas of the other ops in C++.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ftensor.errors.torch import torch_names

FILE = Path(__file__).with_name("host") / "torch_signatures.txt"
# The ops of these namespaces have a prefix, those of nn.functional have none.
WORDS = {"fft": "fft_", "linalg": "linalg_", "special": "special_", "nn.functional": ""}

OTHERWISE = {"logsigmoid": "log_sigmoid"}


def shown(value: Any) -> str:
    """Returns a default as text: numbers in a comparable form, names without their module."""
    text = value if isinstance(value, str) else repr(value)
    return "..." if text.startswith("<") else text.rpartition("torch.")[2]


def written(positional: list[tuple[str, str]], named: list[tuple[str, str]]) -> str:
    """Returns an overload's text from names and defaults; "" means no default."""
    words = [f"{name}={default}" if default else name for name, default in positional]
    more = sorted(f"{name}={default}" if default else name for name, default in named)
    star = [] if any(word.startswith("*") for word in words) else ["*"]
    return ", ".join(words + star * bool(more) + more)


def of_python(call: Any, method: bool) -> str:
    """Returns the signature of a Python function, or of the first of two that a boolean selects
    from."""
    parameters = list(inspect.signature(call).parameters.values())[method:]
    while "if_false" in (outer := inspect.getclosurevars(call).nonlocals):
        call = outer["if_false"]
        parameters = list(inspect.signature(call).parameters.values())
    parameters = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    words = [
        ("*" * (p.kind is p.VAR_POSITIONAL) + p.name, "" if p.default is p.empty else shown(repr(p.default)))
        for p in parameters
    ]
    named = [p.kind is p.KEYWORD_ONLY for p in parameters]
    return written([w for w, n in zip(words, named) if not n], [w for w, n in zip(words, named) if n])


@cache
def stubs(file: str) -> dict[str, list[str]]:
    """Returns the overloads of all functions, or of the methods of Tensor, in a stub of torch's C++
    part."""
    import torch

    tree = ast.parse((Path(torch.__file__).parent / "_C" / file).read_text())
    body, method = tree.body, False
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "TensorBase":
            body, method = node.body, True
    signatures: dict[str, list[str]] = {}
    for node in body:
        if not isinstance(node, ast.FunctionDef):
            continue
        words = node.args
        names = [a.arg for a in words.posonlyargs + words.args]
        if "self" in names[method:]:
            continue  # deprecated, or an overload for numbers that names them `input`
        plain = [""] * (len(names) - len(words.defaults)) + [ast.unparse(d) for d in words.defaults]
        positional = list(zip(names, map(shown, plain)))[method:]
        positional += [("*" + words.vararg.arg, "")] if words.vararg else []
        named = [(a.arg, shown(ast.unparse(d)) if d else "") for a, d in zip(words.kwonlyargs, words.kw_defaults)]
        signatures.setdefault(node.name, []).append(written(positional, named))
    return signatures


def of_schemas(name: str) -> list[str]:
    """Returns the overloads of an op in C++. One that writes its results adds `out` to the plain
    one."""
    import torch

    forms = set()
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        positional, named = [], []
        for a in schema.arguments:
            if a.kwarg_only and a.alias_info is not None and a.alias_info.is_write:
                named = [n for n in named if n[0] != "out"] + [("out", "None")]
                continue
            value = a.default_value if a.has_default_value() else ""
            if isinstance(value, list) and len(set(value)) == 1:
                value = value[0]  # a number applies to all dims
            default = shown(repr(value)) if a.has_default_value() else ""
            (named if a.kwarg_only else positional).append(("input" if a.name == "self" else a.name, default))
        forms.add(written(positional, named))
    return list(forms)


def forms(path: str, name: str) -> Iterator[str]:
    """Yields the overloads of a function of a namespace, or of a method of "Tensor"."""
    import torch

    owner = operator.attrgetter(path)(torch) if path else torch
    value = getattr(owner, name)
    value = getattr(value, "__wrapped__", value)  # the function that ftensor.torch replaces
    if inspect.isfunction(value):
        yield of_python(value, path == "Tensor")
        return
    known: list[str] = []
    if path in ("", "Tensor", "nn.functional"):
        known = stubs("__init__.pyi" if path == "Tensor" else "_VariableFunctions.pyi").get(name, [])
    yield from known or of_schemas(WORDS.get(path, "") + OTHERWISE.get(name, name))


def torch_signatures() -> str:
    """Returns a line for each form of each of torch's public functions and methods."""
    lines = set()
    for word in torch_names():
        path, _, name = word.rpartition(".")
        if name.endswith("()"):
            said = set(forms(path, name[:-2]))
            with_out = {re.sub(r"(, \*)?, out=None", "", form) for form in said if ", out=" in form}
            lines |= {f"{word[:-2]}({form})" for form in said - with_out}
    return "\n".join(sorted(lines)) + "\n"
