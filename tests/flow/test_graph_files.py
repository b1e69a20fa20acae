"""Graph files with texts that would be code: none gets into a kernel."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ftensor as ft
from ftensor.errors.build import InventoryError
from ftensor.kernels.graph_file import parse_json, parse_key
from ftensor.toolchain.inventory.read import read, row_functions

from .. import forked

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns a graph file with reductions, elementwise ops, an operand shared by the rows, and
    numbers."""
    folder = tmp_path_factory.mktemp("graph")
    jitted = ft.jit(lambda x, b: (x - x.mean(-1, keepdim=True)) * 2 + b)
    return jitted.export(str(folder / "norm"), ft.ones(3, 40), ft.zeros(40)).graph.read_text()


# Texts that would be code in a kernel, in a command or in a path.
CODE = (
    '0; } struct P { P() { system("id"); } }; static P p; {',
    '"',
    "a\n#include </etc/passwd>\n",
    "-o/tmp/x",
    "@file",
    "$(id)",
    "a\0b",
    "../../x",
)


def _spoiled(value: Any, text: str) -> Iterator[Any]:
    """Yields a JSON value with a text in place of each leaf, each key and each list."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: spoiled} for spoiled in _spoiled(part, text))
        yield {**value, text: text}
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from ([*value[:k], spoiled, *value[k + 1 :]] for spoiled in _spoiled(part, text))
        yield [*value, text]
    else:
        yield text
        if isinstance(value, str):
            yield value + text


@pytest.mark.parametrize("text", CODE)
def test_no_text_in_a_graph_file_becomes_code(graph: str, text: str) -> None:
    """The text is in any place, in a file written like those of `export`. None is accepted as a
    graph."""
    assert parse_key(parse_json(graph.encode()), graph.encode(), row_functions).name == "mean_sub_mul"
    for spoiled in _spoiled(json.loads(graph), text):
        changed = json.dumps(spoiled, sort_keys=True, indent=1) + "\n"
        with pytest.raises(ValueError, match=r"."):
            parse_key(parse_json(changed.encode()), changed.encode(), row_functions)


def test_graph_with_a_users_op_needs_its_module(tmp_path: Path) -> None:
    """The exported inventory imports it. Without the line, the missing row is reported."""
    (tmp_path / "halves.py").write_text(
        "import ftensor as ft\n"
        "from ftensor.ops.bind import add_rows, install\n"
        "from ftensor.rows.op import Op\n"
        'add_rows([Op("halved", "input", "a * K(0.5)", float_only=True)])\n'
        "install(ft)\n"
    )
    program = (
        "import sys; sys.path.insert(0, '.')\n"
        "import ftensor as ft, halves\n"
        "ft.jit(lambda x: ft.halved(x) + 1).export('half', ft.ones(3, 40))\n"
    )
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    done = forked.run("-c", program, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    inventory = tmp_path / "half.toml"
    written = inventory.read_text()
    line = 'imports = ["halves"]\n'
    assert line in written
    inventory.write_text(written.replace(line, ""))
    with pytest.raises(InventoryError, match=r"'halved' in float32 is no op that is known .* import the module"):
        read(inventory)
    inventory.write_text(written)
    listed = ("-c", "from ftensor.toolchain.inventory.read import read; print(len(read('half.toml').graphs))")
    done = forked.run(*listed, env=env, cwd=tmp_path)
    assert done.stdout.strip() == "1", done.stderr
