"""Messages are lines; each call passes as many values as its text has fields."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ftensor
from ftensor import errors
from ftensor.errors.message import Message

ROOT = Path(ftensor.__file__).parent
# They name a kernel's op, or no op.
EXEMPT = {"kernel_not_built", "not_savable"}


def package_of(file: Path) -> str:
    """Returns the package of a file's relative imports."""
    return ".".join(("ftensor", *file.relative_to(ROOT).parts[:-1]))


def known(file: Path, tree: ast.AST) -> Iterator[tuple[str, object]]:
    """Yields the names under which a file has modules of errors, and single messages."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        above = package_of(file).split(".")
        above = above[: len(above) - node.level + 1] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        if "errors" not in source.split(".") and "errors" not in [a.name for a in node.names]:
            continue
        module = importlib.import_module(source)
        for alias in node.names:
            if alias.name == "*":
                continue
            if not hasattr(module, alias.name):
                importlib.import_module(f"{source}.{alias.name}")
            yield alias.asname or alias.name, getattr(module, alias.name)
    if file.parent.name == "errors":
        name = f"ftensor.errors.{file.stem}" if file.stem != "__init__" else "ftensor.errors"
        yield from vars(importlib.import_module(name)).items()


def calls(file: Path) -> Iterator[tuple[ast.Call, Message[BaseException]]]:
    """Returns the calls of messages in a file."""
    tree = ast.parse(file.read_text())
    names = dict(known(file, tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        member: object = None
        if isinstance(node.func, ast.Name):
            member = names.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            member = getattr(names.get(node.func.value.id), node.func.attr, None)
        if isinstance(member, Message):
            yield node, member


def test_each_call_gives_what_the_text_names() -> None:
    seen = 0
    for file in sorted(ROOT.rglob("*.py")):
        for call, message in calls(file):
            if any(isinstance(arg, ast.Starred) for arg in call.args):
                continue
            where = f"{file}:{call.lineno}"
            named = [word.arg for word in call.keywords if word.arg != "kind"]
            assert len(call.args) + len(named) == len(message.names), (where, message.names)
            assert set(named) <= set(message.names[len(call.args) :]), (where, message.names)
            seen += 1
    assert seen > 900


def test_a_call_may_choose_another_class() -> None:
    message = Message(IndexError, "{name} is {value}")
    assert isinstance(message("x", 3), IndexError)
    error = message("x", value=3, kind=ValueError)
    assert isinstance(error, ValueError) and str(error) == "x is 3"


def test_each_text_can_be_filled() -> None:
    class Value(tuple[int, ...]):
        def __getattr__(self, name: str) -> str:
            return name

        def __format__(self, spec: str) -> str:
            return "x"

    for submodule in pkgutil.iter_modules(errors.__path__):
        module = importlib.import_module(f"ftensor.errors.{submodule.name}")
        for name, message in vars(module).items():
            if isinstance(message, Message):
                error = message(*(Value((k,)) for k, _ in enumerate(message.names)))
                assert isinstance(error, BaseException) and str(error), name


def test_each_function_that_begins_with_an_op_names_the_called_one() -> None:
    """Functions that make such errors are decorated, as lines do it by themselves."""
    leading = re.compile(r'f?["\']"?(?:\{(?:op|name|function)\}|[a-z]\w*)(?:\(\)|" not)|f?.\{_where')
    seen = 0
    for file in sorted((ROOT / "errors").glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or "Error" not in ast.unparse(node.returns or ast.Constant("")):
                continue
            texts = [call.args[0] for call in ast.walk(node) if isinstance(call, ast.Call) and call.args]
            if any(leading.match(ast.unparse(text)) for text in texts) and node.name not in EXEMPT:
                assert "names_called_op" in map(ast.unparse, node.decorator_list), f"{file.name}: {node.name}"
                seen += 1
    assert seen > 30


def test_what_is_missing_or_too_much_is_said() -> None:
    message = Message(ValueError, "{op}(): {shape!t} of {given!k}, {shape!l}", "given op shape")
    assert str(message(3, "add", [2])) == "add(): (2,) of int, [2]"
    assert str(message(3, shape=[2], op="add")) == "add(): (2,) of int, [2]"
    for wrong in (lambda: message(3), lambda: message(3, "add", [2], 4), lambda: message(a=1)):
        with pytest.raises(TypeError, match="takes"):
            wrong()
