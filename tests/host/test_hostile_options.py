"""Values of options that a compiler, a shell or a file system reads in its own way."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from ftensor.cli import main
from ftensor.errors.build import InventoryError
from ftensor.toolchain.inventory.read import read
from ftensor.toolchain.inventory.table import is_memory, is_platform

HOSTILE = {
    "quotes": "a\"b'c",
    "newline": "a\nb",
    "option": "-o",
    "file of options": "@list",
    "shell": "$(touch ran)",
    "commands": "a;touch ran",
    "NUL": "a\0b",
    "long": "a" * 5000,
}
BUILD = ["build", "--inventory", "mine.toml", "--target", "hw", "--platform", "board", "--out", "out", "--dry-run"]
# What may be a name for v++, in one word of its call.
LITERAL = {("platform", "quotes"), ("platform", "shell"), ("platform", "commands")}


@pytest.mark.parametrize("option", ["platform", "banks", "clock", "jobs", "only", "target", "subnormals"])
def test_an_option_is_refused_or_one_word(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('[[kernel]]\nops = ["neg"]\n')
    for kind, value in HOSTILE.items():
        try:
            status = main([*BUILD, f"--{option}={value}"])
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        if (option, kind) in LITERAL:
            assert status == 0 and f"--platform {shlex.quote(value)}" in said.out
        else:
            assert status in (1, 2) and not said.out, (option, kind)
            assert option in said.err or repr(value) in said.err
        assert not Path("ran").exists()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_field_of_an_inventory_has_the_same_check(kind: str) -> None:
    value = HOSTILE[kind]
    assert is_platform(value) is (("platform", kind) in LITERAL)
    assert not is_memory(value)


def test_an_inventory_with_a_name_that_is_too_long() -> None:
    with pytest.raises(InventoryError, match="File name too long"):
        read("x" * 5000)
