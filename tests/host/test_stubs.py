"""The stubs for editors and type checkers agree with the public functions."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ftensor as ft
from ftensor.ops.bind import Namespace
from ftensor.rows.catalogue import ENTRIES

from ..ops_page import PAGE, ops_page
from ..stubs import ROOT, stubs, torch_names

PACKAGE = ROOT / "ftensor"
# A line that ends in "# no" is a mistake; the others give the type after the "#".
PROGRAM = """\
import ftensor as ft
import ftensor.nn.functional as F
from ftensor.linalg import vector_norm
x = ft.tensor([1])
reveal_type(ft.tensor([1]).mul(2))  # Tensor
reveal_type((1 - x @ x) == 2)  # Tensor
reveal_type(x.sum(axis=0, keepdims=True))  # Tensor
reveal_type(ft.sum(x, (0, 1), dtype=ft.float))  # Tensor
reveal_type(x.max(0).indices)  # Tensor
reveal_type(x.max())  # Tensor
reveal_type(x.to(ft.int8, copy=True))  # Tensor
reveal_type(x.split(2))  # tuple[Tensor, ...]
reveal_type(x.nonzero(as_tuple=True))  # tuple[Tensor, ...]
reveal_type(ft.zeros(2, 3, dtype=ft.int32).size(0))  # int
reveal_type(x.T.dtype)  # dtype
reveal_type(F.relu(vector_norm(x)))  # Tensor
reveal_type(ft.nn.functional.gelu(x))  # Tensor
reveal_type(ft.Tensor(2, 3)[None, 1:])  # Tensor
reveal_type(ft.e)  # float
reveal_type(ft.fpga.Stream())  # Stream
x.sum(dimm=0)  # no
ft.sum(x, dimm=0)  # no
x.mull(2)  # no
ft.mull(x, 2)  # no
ft.estimate  # no
x.add("1")  # no
"""


def test_stubs_are_up_to_date() -> None:
    there = {str(p.relative_to(PACKAGE)): p.read_text() for p in PACKAGE.rglob("*.pyi")}
    written = stubs()
    assert there.keys() == written.keys()
    wrong = [path for path, text in written.items() if there[path] != text]
    assert not wrong, f"{', '.join(wrong)}: write them again by `make stubs`"


def test_every_op_has_its_type() -> None:
    texts = stubs()
    for entry in ENTRIES.values():
        path = entry.namespace.replace(".", "/") + ".pyi" if entry.namespace else "__init__.pyi"
        if path not in texts:  # one that contains a namespace
            path = path.replace(".pyi", "/__init__.pyi")
        for name in (entry.name, *entry.aliases):
            if entry.function:
                assert f"\ndef {name}(" in texts[path], name
            if hasattr(ft.Tensor, name) and (entry.prop or (entry.method and not entry.namespace)):
                assert f"\n    def {name}(self" in texts["_methods.pyi"], name


@pytest.mark.long
def test_mypy_checks_calls(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    # Calls return ftensor's own types; reading torch's and NumPy's files takes most of the time.
    (tmp_path / "own.ini").write_text("[mypy]\n[mypy-torch.*,numpy.*]\nfollow_imports = skip\n")
    mypy = (sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"))
    quiet = ("--follow-imports", "silent", "--no-error-summary", "--config-file", "own.ini")
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([*mypy, *quiet, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert not done.stderr
    said = {}
    for line in done.stdout.splitlines():
        _, number, kind, text = line.split(":", 3)
        if "note" in kind and "Revealed" not in text:
            continue  # the overloads of a refused call
        revealed = text.partition('type is "')[2].rstrip('"') if "note" in kind else "no"
        for module in ("ftensor._tensor.", "ftensor._device.", "ftensor.dtypes.element.", "ftensor.fpga."):
            revealed = revealed.replace(module, "")
        said[int(number)] = revealed
    lines = enumerate(PROGRAM.splitlines(), 1)
    assert said == {number: line.partition("# ")[2] for number, line in lines if "#" in line}


SPACES = [module for module in sys.modules.values() if isinstance(module, Namespace)]


@pytest.mark.parametrize("module", [ft, ft.fpga, ft.random, *SPACES], ids=lambda module: module.__name__)
def test_dir_lists_the_public_names(module: ModuleType) -> None:
    names = dir(module)
    assert names == sorted(names)
    modules = [v for n in names if isinstance(v := getattr(module, n), ModuleType)]
    assert all(v in (ft.cuda, ft.fpga, ft.random, ft.return_types) or v in SPACES for v in modules)
    assert not {"Any", "TYPE_CHECKING", "annotations", "Path"} & set(names)


def test_modules_missing_from_dir_can_be_imported() -> None:
    import ftensor.errors
    from ftensor.nn.functional import relu

    assert ftensor.errors is ft.errors and "errors" not in dir(ft)
    assert relu is ft.nn.functional.relu
    assert "__version__" in dir(ft)
    files = {p.stem for p in PACKAGE.glob("*.py")} | {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    assert files & set(dir(ft)) == {
        "cuda",
        "fpga",
        "nn",
        "random",
        "return_types",
        "signal",
    }  # no module hides a function


def test_signatures_show_types_without_quotes() -> None:
    assert str(inspect.signature(ft.mul)) == (
        "(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor"
    )
    assert str(inspect.signature(ft.fpga.set_device)) == "(which: DeviceLike) -> None"
    for owner in (ft, ft.Tensor, ft.fpga, ft.device, ft.linalg):
        for name in dir(owner):
            value = getattr(owner, name)
            if inspect.isfunction(value) and not name.startswith("_"):
                text = str(inspect.signature(value))
                assert ": '" not in text and "-> '" not in text, name


def test_ops_page_is_up_to_date() -> None:
    assert PAGE.read_text() == ops_page(), "write it again by `make stubs`"
    assert "| `svd` | NumPy |" in ops_page() and "| `add` | here | all |" in ops_page()


def test_torch_names_are_up_to_date() -> None:
    assert (PACKAGE / "errors" / "torch_names.txt").read_text() == torch_names()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ft.nothing_like_it", "module 'ftensor' has no attribute 'nothing_like_it'$"),
        ("ft.hsmm", r"torch has it, ftensor does not \(ftensor docs differences\)$"),
        ("ft.nn.Linear", r"'ftensor\.nn' .* model\.to\(\"fpga\"\)"),
        ("x.smm", r"Tensor .*torch has it, ftensor does not"),
        ("ft.FloatTensor", r"ft\.tensor\(data, dtype=ft\.float32\) is the nearest way"),
        ("ft.compile", r"ft\.jit\(function\) is for functions of tensors"),
        ("x.cat", r"ft\.cat\(x, \.\.\.\) is the nearest way"),
        ("x.isnan_", r"x\.copy_\(x\.isnan\(\.\.\.\)\) is the nearest way"),
        ("x.backward", "gradients are torch's alone"),
        ("x._nothing", "Tensor has no attribute '_nothing'$"),
    ],
)
def test_missing_name_error_suggests_the_nearest(words: str, message: str) -> None:
    x = object.__new__(ft.Tensor)  # needs no device
    with pytest.raises(AttributeError, match=message):
        eval(words, {"ft": ft, "x": x})
    assert not hasattr(ft.Tensor, "smm") and not hasattr(x, "smm")
