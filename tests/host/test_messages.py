"""Error messages are lines of text files; each call passes a line's parameters."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ftensor
from ftensor.errors import KernelNotBuilt
from ftensor.errors.message import Message, lines_of

ROOT = Path(ftensor.__file__).parent
EXEMPT = {"kernel_not_built"}  # names a kernel's op


def package_of(file: Path) -> str:
    """Returns the package of a file's relative imports."""
    return ".".join(("ftensor", *file.relative_to(ROOT).parts[:-1]))


def imported_messages(file: Path, tree: ast.AST) -> Iterator[tuple[str, object]]:
    """Yields the names under which a file imports modules of errors, and single messages."""
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


def written(module: ModuleType) -> dict[str, Message]:
    """Returns the messages of the text file next to a module."""
    path = Path(module.__file__ or "").with_suffix(".txt")
    return {name: getattr(module, name) for name in lines_of(path)} if path.exists() else {}


MODULES = [importlib.import_module(f"ftensor.errors.{p.stem}") for p in sorted((ROOT / "errors").glob("[a-z]*.py"))]


def calls(file: Path) -> Iterator[tuple[ast.Call, Message]]:
    """Returns the calls of messages in a file. Fails for a name that a module of errors lacks."""
    tree = ast.parse(file.read_text())
    names = dict(imported_messages(file, tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = names.get(node.value.id)
            if isinstance(module, ModuleType) and module.__name__.startswith("ftensor.errors"):
                assert hasattr(module, node.attr), f"{file}:{node.lineno}: no message {node.attr}"
        if not isinstance(node, ast.Call):
            continue
        member: object = None
        if isinstance(node.func, ast.Name):
            member = names.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            member = getattr(names.get(node.func.value.id), node.func.attr, None)
        if isinstance(member, Message):
            yield node, member


def test_each_call_passes_the_parameters_of_its_line() -> None:
    seen = 0
    for file in sorted(ROOT.rglob("*.py")):
        for call, message in calls(file):
            if any(isinstance(arg, ast.Starred) for arg in call.args):
                continue
            named = {word.arg: None for word in call.keywords if word.arg and word.arg != "kind"}
            try:
                inspect.signature(message.filled).bind(*call.args, **named)
            except TypeError as error:
                pytest.fail(f"{file}:{call.lineno}: {message.filled.__qualname__}: {error}")
            seen += 1
    assert seen > 1000


def test_a_call_may_choose_another_class() -> None:
    message = Message("f(name, value) = IndexError: {name} is {value}", {})
    assert isinstance(message("x", 3), IndexError)
    error = message("x", value=3, kind=ValueError)
    assert isinstance(error, ValueError) and str(error) == "x is 3"


# Every message argument accepts one of these, unless `EXAMPLES` has others.
VALUES = (3, ("a", "b"), [(1, 2), (3,)], "array", Path("x"), {"a": 1}, ValueError, OSError(2, "no"))
EXAMPLES: dict[str, tuple[object, ...]] = {
    "nn.bilinear_shapes": ((1,), (2,), (3,)),
    "call.shape_mismatch": ([(1, 2), (3,)], -1),
    "linalg.needs_ndim": ("mm", "input", 2, (1,)),
    "linalg.three": ("cross", 0, 3, 4),
    "arithmetic.empty_input": ("amax", (0,), IndexError),
    "call.dlpack_foreign_device": ((1, 0),),
    "image.no_offset": ("k", "n"),
    "image.no_register_at": ("k", 1, {"a": 16}),
    "nn.input_dims": ("conv1d", 1, (1,)),
    "nn.weight_dims": ("conv1d", 1, (1,)),
    "call.falls_back": (KernelNotBuilt("no kernel"),),
    "view.split_sizes": ((1, 2), 4),
}


def test_names_of_messages_are_unique() -> None:
    for module in MODULES:
        path = Path(module.__file__ or "").with_suffix(".txt")
        lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"] if path.exists() else []
        functions = [node.name for node in ast.parse(path.with_suffix(".py").read_text()).body if hasattr(node, "name")]
        names = [line.partition("(")[0] for line in lines] + functions
        assert len(set(names)) == len(names), (path.name, sorted(names))


def test_each_message_can_be_formatted() -> None:
    seen = 0
    for module in MODULES:
        for name, message in written(module).items():
            count = sum(p.default is p.empty for p in inspect.signature(message.filled).parameters.values())
            label = f"{module.__name__.rpartition('.')[2]}.{name}"
            results = [r for v in VALUES if (r := filled(message, *EXAMPLES.get(label, (v,) * count)))]
            assert results, label
            assert all(isinstance(r, (BaseException, str)) and str(r) for r in results), label
            seen += 1
    assert seen > 800


def filled(message: Message, *values: object) -> object:
    """Returns a message formatted with values; None if they have the wrong types."""
    try:
        return message(*values)
    except (TypeError, AttributeError, ValueError, KeyError, IndexError):
        return None


def test_errors_name_the_called_function() -> None:
    """Functions that raise such errors are decorated; functions written as lines do it themselves."""
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
    assert seen > 2


def test_missing_and_unknown_parameters_are_errors() -> None:
    line = "f(given, op, shape) = ValueError: {op}(): {tuple(shape)} of {kind_of(given)}, '{commas(shape)}'"
    message = Message(line, {})
    assert str(message(3, "add", [2, 3])) == "add(): (2, 3) of int, '2, 3'"
    assert str(message(3, shape=[2, 3], op="add")) == "add(): (2, 3) of int, '2, 3'"
    for wrong in (lambda: message(3), lambda: message(3, "add", [2], 4), lambda: message(a=1)):
        with pytest.raises(TypeError, match=r"f\(\)"):
            wrong()


def test_a_class_may_depend_on_the_values() -> None:
    message = Message("f(x) = ValueError if x < 0 else IndexError: {x} is no index", {})
    assert type(message(-1)) is ValueError and type(message(1)) is IndexError
    with pytest.raises(AttributeError, match="no_such_message"):
        assert ftensor.errors.no_such_message
