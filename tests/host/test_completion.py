"""`ftensor completion`: the scripts, and how shells use them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ftensor.boards import BOARDS
from ftensor.cli import main, options_of, parser
from ftensor.completion import FILES, SHELLS, commands, script


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("completion")
    made = {shell: folder / shell for shell in SHELLS}
    for shell, path in made.items():
        path.write_text(script(parser(), shell))
    return made


@pytest.mark.parametrize("shell", SHELLS)
def test_script_has_every_option_of_the_parser(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    missing = [
        o for o in options_of(parser()) if (f"-l {o[2:]} " if shell == "fish" and o[:2] == "--" else o) not in text
    ]
    assert missing == [] and len(set(options_of(parser()))) > 50


def test_values_of_options() -> None:
    found = {command.name: command for command in commands(parser())}
    build = {s: option for option in found["ftensor build"].options for s in option.spellings}
    assert build["--target"].values.split()[:2] == ["csim", "hw"]
    assert "cnn_small" in build["--inventory"].values.split()
    assert (build["--out"].values, build["--jobs"].values, build["--fit"].takes_value) == (FILES, "", False)
    package = {s: option for option in found["ftensor package"].options for s in option.spellings}
    assert package["--board"].values.split() == [board.name for board in BOARDS]
    assert [name for name, _ in found["ftensor image"].subcommands] == ["info", "draw", "pack"]


BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _ftensor; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
CASES = {
    "ftensor de": ["devices"],
    "ftensor image ''": ["draw", "info", "pack"],
    "ftensor image info --j": ["--json"],
    "ftensor --quiet build --target i": ["intel", "intel-emulator"],
    "ftensor estimate --board k": ["kv260"],
    "ftensor docs faq": ["faq"],
    "ftensor completion ''": ["bash", "fish", "zsh"],
}


@pytest.mark.parametrize("line", CASES)
def test_bash_completes(line: str, scripts: dict[str, Path]) -> None:
    code = BASH.format(script=scripts["bash"], words=line)
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True)
    assert (sorted(done.stdout.split()), done.stderr) == (CASES[line], "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize("line", CASES)
def test_fish_completes(line: str, scripts: dict[str, Path]) -> None:
    code = f"source {scripts['fish']}; complete -C {line.replace(chr(39), '')!r}"
    done = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True)
    found = [row.split("\t")[0] for row in done.stdout.splitlines()]
    assert (sorted(word for word in found if word[:2] != "--" or "--" in line), done.stderr) == (CASES[line], "")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_reads_its_script(scripts: dict[str, Path]) -> None:
    """Checks that compinit's functions exist, and a function for each command."""
    begin = f"autoload -Uz compinit; compinit -u -D; source {scripts['zsh']}"
    code = f"{begin}; print -l $_comps[ftensor] ${{(k)functions}}"
    done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert names[0] == "_ftensor"
    assert {"_ftensor_image_info", "_ftensor_build"} <= set(names)


def test_shell_metacharacters_are_quoted() -> None:
    """Help texts and values come from the parser, and may contain any character."""
    strange = parser()
    strange.add_argument("--a", choices=["$(touch ran)", "it's"], help="`touch ran` $(touch ran) 'x' [y]: z")
    for shell in SHELLS:
        path = shutil.which(shell)
        text = script(strange, shell).replace("compdef", "true").replace("complete ", "true ")
        if path is not None:
            done = subprocess.run([path, "-c", f"{text}\ntest ! -e ran"], capture_output=True, text=True)
            assert done.returncode == 0, (shell, done.stderr)
