"""Imports between folders go one way, as docs/architecture.md states."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "ftensor"
PAGE = ROOT.parent / "docs" / "architecture.md"
# The rows of its table of layers, from the highest to the lowest: the members of each.
ROWS = re.findall(r"^\|[^|]+\| (`[^|]+) \|[^|]+\|$", PAGE.read_text().partition("## ")[0], re.M)
LAYER = {name: -row for row, files in enumerate(ROWS) for name in re.findall(r"`ftensor/(\w+)(?:/|\.py)`", files)}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def names_imported(path: Path, root: Path = ROOT, types: bool = True) -> list[list[str]]:
    """Returns the parts of all names that a file imports anywhere. Without `types`, only imports
    that happen at run time."""
    package = [root.name, *path.relative_to(root).parts[:-1]]
    imported: list[list[str]] = []
    left: list[ast.AST] = [parsed(path)]
    while left:
        node = left.pop()
        if not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            left += node.orelse
        else:
            left += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module or "").split(".") if node.module else base
            names = [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        imported += [name for name in names if name[0] == root.name]
    return imported


def imported(path: Path, root: Path = ROOT) -> set[str]:
    """Returns the folders, and the modules next to them, that a file imports."""
    return {(*name, "__init__")[1] for name in names_imported(path, root)}


def import_cycles(root: Path = ROOT) -> list[str]:
    """Returns modules that import each other at run time, including imports in functions."""
    files = {".".join((root.name, *path.relative_to(root).with_suffix("").parts)): path for path in root.rglob("*.py")}
    names = {name: path for name, path in files.items() if not name.endswith("__init__")}
    below: dict[str, set[str]] = {}
    for name, path in names.items():
        wanted = [".".join(parts) for parts in names_imported(path, root, types=False)]
        below[name] = {to for one in wanted for to in (one, one.rpartition(".")[0]) if to in names}
    while ends := {name for name, others in below.items() if not others & below.keys()}:
        below = {name: others for name, others in below.items() if name not in ends}
    while begins := below.keys() - set().union(*below.values()):
        below = {name: others for name, others in below.items() if name not in begins}
    return sorted(below)


def upward_imports(root: Path = ROOT) -> list[str]:
    """Returns imports from a lower layer of a higher one."""
    breached = []
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        mine = place.parts[0].removesuffix(".py")
        for other in sorted(imported(path, root)):
            if (root / f"{other}.pyi").exists() and not (root / f"{other}.py").exists():
                continue  # types alone, which nothing imports at run time
            height = LAYER.get(other, LAYER["__init__"])  # the public names
            if other != mine and height > LAYER[mine]:
                breached.append(f"{place} imports {other}")
    return breached


def test_every_folder_has_a_layer() -> None:
    at_root = {p.stem for p in ROOT.glob("*.py")} | {p.parent.name for p in ROOT.glob("*/__init__.py")}
    assert at_root == set(LAYER)


def test_imports_go_down() -> None:
    assert upward_imports() == []


def test_no_modules_import_each_other() -> None:
    assert import_cycles() == []


def test_import_cycle_is_found(tmp_path: Path) -> None:
    root = tmp_path / "ftensor"
    root.mkdir()
    texts = {
        "one": "def late():\n    from . import two",
        "two": "from .three import x",
        "three": "from .one import late\nif TYPE_CHECKING:\n    from .four import y",
        "four": "from . import one",
        "five": "import ftensor.four",
    }
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text)
    assert import_cycles(root) == ["ftensor.one", "ftensor.three", "ftensor.two"]


def test_upward_import_is_found(tmp_path: Path) -> None:
    root = tmp_path / "ftensor"
    (root / "kernels").mkdir(parents=True)
    (root / "kernels" / "key.py").write_text(
        "from ..dtypes import dtype\n"
        "if TYPE_CHECKING:\n    from ..ops import view\n"
        "def late():\n    import ftensor.execute.reduce\n    from .. import cli, ones\n"
    )
    assert upward_imports(root) == [
        "kernels/key.py imports cli",
        "kernels/key.py imports execute",
        "kernels/key.py imports ones",
        "kernels/key.py imports ops",
    ]


def test_no_op_asks_which_device_it_is_on() -> None:
    """The code in execute/ chooses by a device's family, through names of runtime/targets.py."""
    asking = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "ops").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "target"
    ]
    assert asking == []
