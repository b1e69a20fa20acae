"""The gallery: scripts of cells (`# %%`) in examples/gallery/, each also a notebook and a page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from namespaces import LINES

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
PROGRAMS = (
    "digits",
    "photo",
    "photo_graph",
    "board",
    "cnn",
    "network",
    "torch_cnn",
    "torch_transformer",
    "recording",
    "receiver",
    "programs",
)
HEAD = """\
# Gallery

Each is a script and a notebook of the same cells, run when the site is built: the pictures are
what they drew.

"""
TAIL = """
Longer programs, with arguments, in the checkout's `examples/`:

"""


EACH = """\
## A line for each namespace

With `import ftensor as ft` and `x = ft.randn(4, 8)`:
"""


def each_namespace() -> str:
    """Returns the table of namespaces with their examples."""
    rows = [f"| {title} | {line.purpose} | `{line.example}` |" for title, line in LINES.items()]
    return "\n".join(["| names | purpose | for example |", "|---|---|---|", *rows])


class Cell(NamedTuple):
    """A cell of a script: code or Markdown."""

    code: bool
    text: str


def cells(script: Path) -> list[Cell]:
    """Returns a script's cells; comments after `# %% [markdown]` are Markdown."""
    parts = []
    for part in re.split(r"^# %%", script.read_text(), flags=re.M)[1:]:
        kind, _, text = part.partition("\n")
        if "[markdown]" in kind:
            parts.append(Cell(False, re.sub(r"^# ?", "", text.strip(), flags=re.M)))
        else:
            parts.append(Cell(True, text.strip()))
    return parts


def notebook(script: Path) -> dict[str, Any]:
    """Returns the notebook of a script (nbformat 4.5) without outputs."""
    blocks = []
    for k, cell in enumerate(cells(script)):
        kind = "code" if cell.code else "markdown"
        text = cell.text.replace("](../", "](../../docs/")
        one = {"cell_type": kind, "id": f"cell-{k}", "metadata": {}, "source": text}
        blocks.append(one | ({"execution_count": None, "outputs": []} if cell.code else {}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": blocks, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def run(script: Path, folder: Path) -> str:
    """Runs a script in a folder, where it writes its picture. Returns the printed text."""
    env = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(script)], cwd=folder, env=env, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr}")
    return done.stdout


def page(script: Path, said: str) -> str:
    """Returns a script's page: title, picture, cells, printed text."""
    name = script.stem
    title, _, rest = cells(script)[0].text.partition("\n")
    parts = [
        title,
        f"![{title.strip('# ')}]({name}.png)",
        f"As a [script]({name}.py) and a [notebook]({name}.ipynb).",
        rest,
    ]
    for cell in cells(script)[1:]:
        parts.append(f"```python\n{cell.text}\n```" if cell.code else cell.text)
    parts += [f"It prints\n\n```text\n{said.rstrip()}\n```"] if said else []
    return "\n\n".join(parts) + "\n"


def pages(source: Path) -> dict[str, str]:
    """Returns the gallery's pages by their names. Writes the pictures, scripts and notebooks."""
    folder = source / "gallery"
    folder.mkdir(parents=True)
    texts, shown = {}, []
    for script in SCRIPTS:
        texts[f"gallery/{script.stem}"] = page(script, run(script, folder))
        (folder / script.name).write_text(script.read_text())
        (folder / f"{script.stem}.ipynb").write_text(json.dumps(notebook(script), indent=1))
        title, _, rest = cells(script)[0].text.partition("\n")
        shown.append(
            f"## {title.strip('# ')}\n\n[![{title.strip('# ')}]({script.stem}.png)]({script.stem}.md)\n\n{rest}\n"
        )
    for name in PROGRAMS:
        text = (ROOT / "examples" / f"{name}.py").read_text()
        first = text.partition('"""')[2].partition("\n")[0].removesuffix('"""')
        (folder / f"{name}.py").write_text(text)
        shown.append((TAIL if name == PROGRAMS[0] else "") + f"- [{name}.py]({name}.py): {first}")
    tree = "\n".join(script.stem for script in SCRIPTS)
    shown.append(f"\n{EACH}\n{each_namespace()}")
    texts["gallery/index"] = HEAD + "\n".join(shown) + f"\n\n```{{toctree}}\n:hidden:\n{tree}\n```\n"
    return texts
