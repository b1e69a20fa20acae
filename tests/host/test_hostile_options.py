"""Option values that a compiler, a shell or a file system could misread."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from ftensor.cli import main, parser
from ftensor.errors.build import InventoryError
from ftensor.toolchain.inventory.read import read
from ftensor.toolchain.inventory.table import is_memory, is_platform

HOSTILE = {
    "quotes": "a\"b'c",
    "newline": "a\nb",
    "include": '#include "/etc/passwd"',
    "option": "-o",
    "option with a file": "-o ran",
    "file of options": "@list",
    "shell": "$(touch ran)",
    "commands": "a;touch ran",
    "NUL": "a\0b",
    "long": "a" * 5000,
}
BUILD = ["build", "--inventory", "mine.toml", "--target", "hw", "--platform", "board", "--out", "out", "--dry-run"]
# Characters that v++ may find in a name, passed as one word of its command.
LITERAL = {("platform", "quotes"), ("platform", "include"), ("platform", "shell"), ("platform", "commands")}


@pytest.mark.parametrize("option", ["platform", "banks", "clock", "jobs", "only", "target", "subnormals"])
def test_option_is_refused_or_stays_one_word(
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


# The other commands, each with the text in one place. None of them may succeed or leave a file.
COMMANDS = {
    "kernels source": ["kernels", "TEXT"],
    "kernels op": ["kernels", "mine.toml", "--op=TEXT"],
    "kernels trace": ["kernels", "mine.toml", "--trace", "TEXT"],
    "kernels write": ["kernels", "mine.toml", "--write=none/TEXT", "--trace", "missing.py"],
    "kernels board": ["kernels", "--board=TEXT", "--trace", "idle.py"],
    "estimate program": ["estimate", "TEXT"],
    "estimate board": ["estimate", "--board=TEXT", "idle.py"],
    "estimate inventory": ["estimate", "--inventory=TEXT", "idle.py"],
    "estimate units": ["estimate", "--units=TEXT", "idle.py"],
    "estimate clock": ["estimate", "--clock=TEXT", "idle.py"],
    "estimate banks": ["estimate", "--banks=TEXT", "idle.py"],
    "estimate in_flight": ["estimate", "--in-flight=TEXT", "idle.py"],
    "estimate compare": ["estimate", "--compare=TEXT", "idle.py"],
    "estimate plot": ["estimate", "--plot=none/TEXT", "idle.py"],
    "estimate module": ["estimate", "-m", "TEXT"],
    "top program": ["top", "TEXT"],
    "top module": ["top", "-m", "TEXT"],
    "top rows": ["top", "--rows=TEXT", "idle.py"],
    "warm program": ["warm", "TEXT"],
    "warm module": ["warm", "-m", "TEXT"],
    "warm ops": ["warm", "--ops=TEXT"],
    "warm dtypes": ["warm", "--ops=add", "--dtypes=TEXT"],
    "warm jobs": ["warm", "--jobs=TEXT", "--ops=add"],
    "tune rounds": ["tune", "--rounds=TEXT"],
    "docs page": ["docs", "TEXT"],
    "docs search": ["docs", "--search", "TEXT"],
    "new name": ["new", "TEXT"],
    "completion shell": ["completion", "TEXT"],
    "image info file": ["image", "info", "TEXT"],
    "image draw source": ["image", "draw", "TEXT", "out.svg"],
    "image draw output": ["image", "draw", "mine.toml", "none/TEXT"],
    "image draw board": ["image", "draw", "mine.toml", "out.svg", "--board=TEXT"],
    "image draw inventory": ["image", "draw", "missing.xclbin", "out.svg", "--inventory=TEXT"],
    "image pack library": ["image", "pack", "--library=TEXT", "out.xclbin"],
    "image pack description": ["image", "pack", "--description=TEXT", "missing.cpp", "out.xclbin"],
    "image pack config": ["image", "pack", "--config=TEXT", "missing.cpp", "out.xclbin"],
    "image pack manifest": ["image", "pack", "--manifest=TEXT", "missing.cpp", "out.xclbin"],
    "image pack files": ["image", "pack", "TEXT", "out.xclbin"],
    "package board": ["package", "--board=TEXT", "missing.xclbin"],
    "package name": ["package", "--name=TEXT", "missing.xclbin"],
    "package overlay": ["package", "--overlay=TEXT", "missing.xclbin"],
    "package out": ["package", "--out=none/TEXT", "missing.xclbin"],
    "package image": ["package", "TEXT"],
    "emulate image": ["emulate", "--image=TEXT", "--", "true"],
    "emulate json": ["emulate", "--no-build", "--json=none/TEXT", "--", "true"],
    "emulate shuffle": ["emulate", "--shuffle=TEXT", "--", "true"],
    "emulate module": ["emulate", "-m", "TEXT"],
    "emulate folder": ["emulate", "--intel", "--folder=TEXT", "--", "true"],
}
# Each of these runs the model or draws a picture.
SLOW = {"estimate plot", "image draw output"}
# Words of the user's program, which is code, and commands that always start a program.
STARTED = {
    *(f"{command} {name}" for command in ("estimate", "top", "warm") for name in ("arguments", "code")),
    "emulate code",
    "emulate program",
}
BEYOND = {"build", "pages"}  # `build` is above


def texts(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields "command argument" for each argument that takes any text."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield from texts(command, (*path, name))
        elif action.nargs != 0:
            yield " ".join((*path, action.dest))


def test_every_argument_of_the_commands_is_tried() -> None:
    there = {text for text in texts(parser()) if text.partition(" ")[0] not in BEYOND}
    assert there == set(COMMANDS) | STARTED


@pytest.mark.parametrize("argument", COMMANDS)
def test_hostile_argument_of_a_command_is_refused(
    argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal is a message; no code runs and no file is made."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('[[kernel]]\nops = ["neg"]\n')
    Path("idle.py").write_text("")
    Path("list").write_text("--help\n")
    before = sorted(tmp_path.rglob("*"))
    for kind, value in HOSTILE.items():
        if argument in SLOW and kind not in ("shell", "long"):
            continue
        words = [word.replace("TEXT", value) for word in COMMANDS[argument]]
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        assert status not in (0, None), (argument, kind)
        assert said.err.strip() and "Traceback" not in said.err + said.out, (argument, kind)
        assert "please report" not in said.err, (argument, kind)
        assert sorted(tmp_path.rglob("*")) == before, (argument, kind)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_field_of_an_inventory_has_the_same_check(kind: str) -> None:
    value = HOSTILE[kind]
    assert is_platform(value) is (("platform", kind) in LITERAL)
    assert not is_memory(value)


def test_an_inventory_with_a_name_that_is_too_long() -> None:
    with pytest.raises(InventoryError, match="File name too long"):
        read("x" * 5000)
