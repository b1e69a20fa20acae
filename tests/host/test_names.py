"""One class name has one meaning in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "ftensor"
# Facades that repeat torch's public names: ft.fpga and torch.fpga each have a `Stream` and a
# `device`, ft and torch.fpga a `Generator`, as torch and torch.cuda have.
PUBLIC = {"Stream", "Generator", "device"}
FACADES = {"fpga/__init__.py", "torch/module.py", "torch/accelerator.py", "_device.py", "random.py"}


def classes(root: Path = ROOT) -> dict[str, list[str]]:
    """The files that define each class name."""
    defined: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(path.relative_to(root).as_posix())
    return defined


def homonyms(root: Path = ROOT) -> dict[str, list[str]]:
    """Returns class names with several definitions, apart from torch's names in facades."""
    return {
        name: files
        for name, files in classes(root).items()
        if len(files) > 1 and not (name in PUBLIC and set(files) <= FACADES)
    }


def test_class_names_are_unique() -> None:
    assert homonyms() == {}


def test_a_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Plan:\n    class Step: ...\n")
    (tmp_path / "two.py").write_text("class Step: ...\n")
    assert homonyms(tmp_path) == {"Step": ["one.py", "two.py"]}
