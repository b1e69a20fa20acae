"""A class name has one meaning in the package, and kernel text uses no former name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "ftensor"
# Facades that repeat torch's public names. ft.fpga and torch.fpga each have a `Stream` and a
# `device`; ft and torch.fpga have a `Generator`, like torch and torch.cuda.
PUBLIC = {"Stream", "Generator", "device"}
FACADES = {"fpga/__init__.py", "torch/module.py", "torch/accelerator.py", "_device.py", "random.py"}


def classes(root: Path = ROOT) -> dict[str, list[str]]:
    """Returns the files that define each class name."""
    defined: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(path.relative_to(root).as_posix())
    return defined


def duplicate_class_names(root: Path = ROOT) -> dict[str, list[str]]:
    """Returns class names with several definitions, apart from torch's names in facades."""
    return {
        name: files
        for name, files in classes(root).items()
        if len(files) > 1 and not (name in PUBLIC and set(files) <= FACADES)
    }


def test_class_names_are_unique() -> None:
    assert duplicate_class_names() == {}


def test_duplicate_class_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Plan:\n    class Step: ...\n")
    (tmp_path / "two.py").write_text("class Step: ...\n")
    assert duplicate_class_names(tmp_path) == {"Step": ["one.py", "two.py"]}


ADR = ROOT.parent / "docs/adr/0016-the-fields-names.md"
# g++'s stand-ins for Vitis headers have names of their own.
KERNELS = [p for p in sorted((ROOT.parent / "hls").rglob("*.[hc]*")) if "standin" not in p.parts]


def former_names() -> set[str]:
    """Returns the left column of the table "Kernel text"."""
    table = ADR.read_text().split("\n## Kernel text\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"[\w/]+\.h\b|\b(?:FT|ft)_\w+", row)}


def test_former_names_of_kernel_text_do_not_come_back() -> None:
    names = former_names()
    assert len(names) > 80
    texts = {path: path.read_text() for path in [*KERNELS, *ROOT.rglob("*.py")]}
    words = {word for text in texts.values() for word in re.findall(r"\b(?:FT|ft)_\w+", text)}
    files = {p.relative_to(ROOT.parent / "hls").as_posix() for p in KERNELS}
    assert names & (words | files) == set()
