"""Examples in the docstrings of public functions: `help(ft.add)` ends with a session.

`examples.txt`, which `make stubs` writes, contains them; the site's reference shows the same ones.
"""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_name("examples.txt")
HEADING = "Example:"


def attach(module: ModuleType) -> None:
    """Appends each example to the docstring of its function, method, property or class."""
    owners: dict[str, dict[str, Any]] = {}
    for section in f"\n{FILE.read_text(encoding='utf-8')}".split("\n@ ")[1:]:
        path, _, text = section.partition("\n")
        space, _, name = path.rpartition(".")
        if space not in owners:
            owner: Any = module
            for word in filter(None, space.split(".")):
                owner = getattr(owner, word)
            owners[space] = vars(owner)
        value = owners[space][name]
        doc = value.__doc__ or ""
        if "\n    " in doc:
            doc = cleandoc(doc)
        value.__doc__ = f"{doc}\n\n{text}"


def without_example(doc: str) -> str:
    """Returns a docstring without its example and torch's name."""
    return doc.partition(f"\n\n{HEADING}\n\n")[0].partition("\n\nSee also `torch.")[0]
