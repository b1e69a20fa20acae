"""The types of the public interface, examples, torch's names and its signatures: `make stubs`
writes them.

Functions and methods are created when ftensor is imported, so type checkers and editors can't read
them. They read the stubs that this writes: `ftensor/__init__.pyi`, one file for each namespace,
`_methods.pyi` with the methods of Tensor that `_tensor.py` does not have, and `return_types.pyi`.
To resolve conflicts in these files, write them again.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import ftensor as ft
from ftensor.ops.bind import Namespace
from ftensor.ops.examples import without_example
from ftensor.rows.catalogue import ENTRIES
from ftensor.rows.spelling import signature_text
from tests import examples
from tests.ops_page import PAGE, ops_page
from tests.torch_signatures import FILE, torch_signatures

ROOT = Path(__file__).resolve().parents[1]
# Names of types that are also names of dtypes, functions or methods, which would hide them.
HIDDEN = "bool|int|float|complex|type|dtype|device|layout|memory_format|Number|Tensor|Size"
HEAD = '''\
"""{doc}

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from {dots}_device import DeviceLike, device as _device
from {dots}_tensor import Tensor as _Tensor
from {dots}dtypes import dtype as _dtype
from {dots}formats import Size as _Size, layout as _layout, memory_format as _memory_format
from {dots}modules import Module as _Module
from {dots} import return_types as _return_types

_Number = _complex | np.generic
'''
# The types of parameters by name, for functions that do not state them.
TYPES = {
    "input": "Tensor",
    "other": "Tensor | Number",
    "dim": "int",
    "keepdim": "bool",
    "axis": "int | Sequence[int]",
    "keepdims": "bool",
    "out": "Tensor | None",
    "dtype": "dtype",
    "device": "DeviceLike",
    "size": "int | Sequence[int]",
    "sizes": "int | Sequence[int]",
    "shape": "int | Sequence[int]",
    "repeats": "int | Sequence[int] | Tensor",
    "sections": "int | Tensor",
    "indices": "Sequence[int] | Tensor",
    "as_tuple": "Literal[True]",
}


def forms_of(name: str, call: Callable[..., Any], method: bool) -> list[str]:
    """Returns the signatures at the beginning of help, otherwise Python's signature."""
    heads = (call.__doc__ or "").partition("\n\n")[0].split("\n")
    if not all(re.match(r"[\w.]+\(.*\)", head) for head in heads):
        return [signature_text(name, call, method)]
    if not method:
        return heads
    # A method may have the function's form, whose first argument is the tensor.
    first = next(iter(inspect.signature(call).parameters), "self")
    return [re.sub(rf"\({first}(, |(?=\)))", "(", head, count=1) for head in heads]


def numpy_form(form: str) -> str:
    """Returns a signature with NumPy's names of `dim` and `keepdim` (`numpy_names`) as keywords."""
    head, inside, returned = re.fullmatch(r"([^(]*)(\(.*\))( -> .*)?", form).groups("")  # type: ignore[union-attr]
    node = ast.parse(f"def f{inside}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    words = node.args
    names = [word.arg for word in words.args]
    if "dim" in names:
        at = names.index("dim")
        defaults = [*[None] * (len(names) - len(words.defaults)), *words.defaults]
        words.kwonlyargs[:0], words.kw_defaults[:0] = words.args[at:], defaults[at:]
        words.args, words.defaults = words.args[:at], [d for d in defaults[:at] if d]
    for word in (*words.args, *words.kwonlyargs):
        word.arg = {"dim": "axis", "keepdim": "keepdims"}.get(word.arg, word.arg)
    return f"{head}({ast.unparse(words)}){returned}"


def typed(form: str, name: str, call: Callable[..., Any], method: bool) -> str:
    """Returns a form as a statement with types, such as "def add(input: Tensor, ...) -> Tensor"."""
    inside, _, returned = form[form.index("(") :].rpartition(" -> ")
    if not inside:
        inside, returned = returned, "Any"
    if returned == "Any" and name.startswith("__") and not re.search("dlpack|namespace", name):
        returned = "Tensor"  # an operator, which may defer to the other operand
    named = returned == "tuple[Tensor, Tensor]" and hasattr(ft.return_types, name)
    if named or "(" in returned:
        returned = f"_return_types.{name}"
    if returned.startswith("return_types."):
        returned = f"_{returned}"
    # As in torch's types: Python allows no argument named `from`, so it is positional.
    inside = re.sub(r"\bfrom\b", "from_", inside.replace("ftensor.", ""))
    node = ast.parse(f"def f{inside}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    words, said = node.args, inspect.unwrap(call).__annotations__
    defaults = [*[None] * (len(words.args) - len(words.defaults)), *words.defaults, *words.kw_defaults]
    for word, default in zip([*words.args, *words.kwonlyargs], defaults):
        known = TYPES.get(word.arg, "Any")
        kind = str(said.get(word.arg, "Any")).replace("dtypes.", "")
        kind = known if kind == "Any" else kind
        if isinstance(default, ast.Constant) and default.value is None and kind != "Any":
            kind += "" if "None" in kind else " | None"
        word.annotation = ast.Name(kind)
    for star in filter(None, (words.vararg, words.kwarg)):
        kind = str(said.get(star.arg, "Any"))
        star.annotation = ast.Name(TYPES.get(star.arg, "Any") if kind == "Any" else kind)
    words.defaults = [plain(default) for default in words.defaults]
    words.kw_defaults = [default and plain(default) for default in words.kw_defaults]
    if method:
        words.args.insert(0, ast.arg("self"))
    node.name, node.returns = name, ast.Name(returned)
    for word in ast.walk(node):
        if isinstance(word, ast.Name):
            word.id = re.sub(rf"(?<![\w.])({HIDDEN})\b(?!\.)", r"_\1", word.id)
    return ast.unparse(node).partition(":\n")[0]


def plain(default: ast.expr) -> ast.expr:
    """Returns a literal default unchanged, "..." for any other."""
    return ast.Constant(...) if isinstance(default, ast.Name | ast.Attribute) else default


def stub(name: str, value: Any, method: bool = False) -> Iterator[str]:
    """Yields the lines of a function or property. A method's docstring is its first sentence."""
    call = value.fget if isinstance(value, property) else value
    doc = without_example(inspect.cleandoc(call.__doc__ or ""))
    if isinstance(value, property):
        form = f"(self) -> {call.__annotations__.get('return', 'Any')}"
        yield "@property"
        statements = [typed(form, name, call, False)]
    else:
        forms = forms_of(name, call, method)
        doc = doc.partition("\n\n")[2] if doc.startswith(forms[0].partition("(")[0] + "(") else doc
        if hasattr(call, "numpy_names"):
            forms += [numpy_form(f) for f in forms if re.search(r"\bdim\b", f) and "axis" not in f]
        statements = [typed(form, name, call, method) for form in forms]
    if method or isinstance(value, property):
        doc = doc.partition("\n\n")[0]
    text = doc.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\n    ")
    text = re.sub(r"\n +\n", "\n\n", text + "\n    " if "\n" in text else text)
    for statement in statements:
        if len(statements) > 1:
            yield "@overload"
        # object's are wider: a comparison of tensors is a tensor.
        odd = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        yield f"{statement}:" + (f'{odd}\n    """{text}"""' if text else f" ...{odd}")
        text = ""


def functions(module: ModuleType) -> Iterator[str]:
    """Yields the functions of the catalogue in a module, by name."""
    prefix = module.__name__.partition(".")[2]
    names = {name for e in ENTRIES.values() if e.namespace == prefix and e.function for name in (e.name, *e.aliases)}
    for name in sorted(names):
        yield from stub(name, getattr(module, name))


def classes(module: ModuleType) -> Iterator[str]:
    """Yields the classes of a namespace."""
    for name, value in sorted(vars(module).items()):
        if not inspect.isclass(value) or module is ft:
            continue
        if value.__module__ == module.__name__:  # made from a function, as losses and activations are
            words = inspect.signature(value).parameters.values()
            parameters = [f"{p.name}: Any" + " = ..." * (p.default is not p.empty) for p in words]
            inside = ", ".join(["self", *parameters])
            yield f"class {name}(_Module):"
            yield f'    """{without_example(value.__doc__)}"""'
            yield f"    def __init__({inside}) -> None: ..."
        else:
            place = value.__module__.partition(".")[2]
            is_package = any(isinstance(member, Namespace) for member in vars(module).values())
            dots = "." * (module.__name__.count(".") + is_package)
            yield f"from {dots}{place} import {name} as {name}"


def package() -> Iterator[str]:
    """Yields the public imports of `ftensor/__init__.py`."""
    tree = ast.parse((ROOT / "ftensor" / "__init__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            public = [a.name for a in node.names if not (a.asname or a.name).startswith("_")]
            if public or node.module == "_version":
                place = "." * node.level + (node.module or "")
                for name in public or ["__version__"]:
                    yield f"from {place} import {name} as {name}"


def methods() -> Iterator[str]:
    """Yields the methods and properties of Tensor that come from the catalogue."""
    yield "class Methods:"
    for name, value in sorted(vars(ft.Tensor).items()):
        call = value.fget if isinstance(value, property) else value
        own = not inspect.isfunction(call) or call.__code__.co_filename.endswith("_tensor.py")
        if own or name in ("__getattr__", "__reduce__", "__repr__", "__str__"):
            continue
        for line in stub(name, value, method=not isinstance(value, property)):
            yield "    " + line.replace("\n", "\n    ").replace("\n    \n", "\n\n")


def returned() -> Iterator[str]:
    for name in dir(ft.return_types):
        fields = getattr(ft.return_types, name)._fields
        yield f"class {name}(tuple[{', '.join(['_Tensor'] * len(fields))}]):"
        for field in fields:
            yield f"    @property\n    def {field}(self) -> _Tensor: ..."


def stubs() -> dict[str, str]:
    """Returns each file's text by its path in the package."""
    texts = {}

    def write(path: str, doc: str | None, *parts: Iterator[str]) -> None:
        head = HEAD.format(doc=doc, dots="." * (path.count("/") + 1))
        texts[path] = "\n".join([head, *(line for part in parts for line in part), ""])

    def space(module: ModuleType, *more: Iterator[str]) -> None:
        inner = [n for n in dir(module) if isinstance(getattr(module, n), Namespace)]
        path = "/".join(module.__name__.split(".")[1:] + ["__init__"] * bool(inner))
        imports = (f"from . import {name} as {name}" for name in inner)
        write(f"{path}.pyi", module.__doc__, *more, imports, classes(module), functions(module))
        for name in inner:
            space(getattr(module, name))

    space(ft, package())
    write("_methods.pyi", "The methods of Tensor that are ops.", methods())
    write("return_types.pyi", ft.return_types.__doc__, returned())
    return texts


def torch_names() -> str:
    """Returns torch's public functions, classes, dtypes and modules, for
    `ftensor/errors/torch.py`."""
    import torch

    # Functions for vendor libraries are not in every build of torch, and ftensor.torch adds fpga.
    foreign = re.compile(r"_|.*(cudnn|miopen|mkldnn|fbgemm|mps|cuda|vulkan|hip|fpga)")
    names = set()
    for path in ("", "Tensor", "fft", "linalg", "nn", "nn.functional", "signal.windows", "special"):
        owner = operator.attrgetter(path)(torch) if path else torch
        for name in dir(owner):
            value = getattr(owner, name)
            place = getattr(value, "__module__", None) or "torch"
            own = isinstance(value, torch.dtype) or place.partition(".")[0] == "torch"
            calls = callable(value) and not inspect.isclass(value)
            stated = calls or path or name in torch.__all__ or isinstance(value, torch.dtype)
            if own and stated and not foreign.match(name):
                names.add(f"{path}{'.' * bool(path)}{name}{'()' * calls}")
    return "\n".join(sorted(names | {"fft", "signal", "autograd", "optim", "random", "cuda"})) + "\n"


def main() -> int:
    for path, text in stubs().items():
        file = ROOT / "ftensor" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (ROOT / "ftensor" / "errors" / "torch_names.txt").write_text(torch_names())
    FILE.write_text(torch_signatures())
    PAGE.write_text(ops_page())
    examples.write()
    from ftensor.torch import schema  # last, since torch has more names once the device is registered

    schema.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
