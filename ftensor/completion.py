"""`ftensor completion SHELL`: a script for bash, zsh or fish that completes commands, options and values."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .boards import BOARDS
from .pages import pages

SHELLS = ("bash", "zsh", "fish")
FILES = "*"  # in place of the words of a value: the shell completes names of files


@dataclass(frozen=True)
class CommandOption:
    """An option with its spellings, or an argument without any; `values` is what it may be: words,
    `FILES`, or "" for no value or one that only the user knows."""

    spellings: tuple[str, ...]
    takes_value: bool
    values: str
    help: str


@dataclass(frozen=True)
class Command:
    """A command, such as ("image", "info"): its subcommands with their summaries, and its options."""

    path: tuple[str, ...]
    subcommands: tuple[tuple[str, str], ...]
    options: tuple[CommandOption, ...]
    arguments: tuple[CommandOption, ...]

    @property
    def name(self) -> str:
        """The words of the command line that select it: "ftensor image info"."""
        return " ".join(("ftensor", *self.path))

    @property
    def words(self) -> list[str]:
        """All words that may follow, except values."""
        return [name for name, _ in self.subcommands] + [s for option in self.options for s in option.spellings]


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """Yields the command of a parser, then those of its subparsers."""
    subcommands: list[tuple[str, str]] = []
    options, arguments = [], []
    below: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            subcommands += [(choice.dest, choice.help or "") for choice in action._choices_actions]
            below += action.choices.items()
        elif action.option_strings:
            options.append(_option(action, parser.prog))
        else:
            arguments.append(_option(action, parser.prog))
    yield Command(path, tuple(subcommands), tuple(options), tuple(arguments))
    for name, subparser in below:
        yield from commands(subparser, (*path, name))


def _option(action: argparse.Action, command: str) -> CommandOption:
    takes_value = action.nargs != 0
    text = (action.help or "").replace("%(default)s", str(action.default))
    return CommandOption(
        tuple(action.option_strings), takes_value, _values(action, command) if takes_value else "", text
    )


def _values(action: argparse.Action, command: str) -> str:
    if action.choices is not None:
        return " ".join(map(str, action.choices))
    words: Any = None
    if action.dest == "page":
        words = pages()
    elif action.dest == "board":
        words = [board.name for board in BOARDS]
    elif action.dest == "inventory" and "draw" not in command:
        from .toolchain.inventory.read import builtin_inventories

        words = builtin_inventories()
    if words is not None:
        return " ".join(words)
    text_only = {"clock", "units", "op", "ops", "dtypes", "jobs", "rows", "rounds", "shuffle", "in_flight", "banks"}
    return "" if action.dest in text_only | {"code", "module", "name", "search", "platform", "only"} else FILES


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Returns the script of a shell: "bash", "zsh" or "fish"."""
    made = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return made(list(commands(parser)))


def _bash(found: list[Command]) -> str:
    """The words of the line select a case; the case of a command sets the words to choose from."""
    lines = [
        '# bash completion of ftensor: eval "$(ftensor completion bash)"',
        "_ftensor() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path=ftensor n",
        "  COMPREPLY=()",
        "  for ((n = 1; n < COMP_CWORD; n++)); do",
        '    case "$path ${COMP_WORDS[n]}" in',
        f'      {"|".join(shlex.quote(c.name) for c in found if c.path)}) path+=" ${{COMP_WORDS[n]}}" ;;',
        "    esac",
        "  done",
        '  case "$path $before" in',
    ]
    for command in found:
        for option in command.options:
            if option.takes_value:
                case = "|".join(shlex.quote(f"{command.name} {s}") for s in option.spellings)
                lines.append(f"    {case}) {_compgen(option.values)}; return ;;")
    lines += ["  esac", '  case "$path" in']
    for command in found:
        words = " ".join(command.words)
        values = " ".join(a.values for a in command.arguments if a.values not in ("", FILES))
        files = any(a.values == FILES for a in command.arguments)
        # An argument's own words come first; options when the word begins with "-".
        plain = _compgen(" ".join([values, *(name for name, _ in command.subcommands)]).strip() or FILES * files)
        lines += [
            f"    {shlex.quote(command.name)})",
            f"      if [[ $word == -* ]]; then {_compgen(words)}; else {plain}; fi ;;",
        ]
    return "\n".join([*lines, "  esac", "}", "complete -o filenames -F _ftensor ftensor", ""])


def _compgen(values: str) -> str:
    if not values:
        return ":"
    source = "-f" if values == FILES else f"-W {shlex.quote(values)}"
    return f'COMPREPLY=($(compgen {source} -- "$word"))'


def _zsh(found: list[Command]) -> str:
    """A function for each command, by zsh's `_arguments`."""
    lines = ["#compdef ftensor", '# zsh completion of ftensor: eval "$(ftensor completion zsh)"']
    for command in found:
        specs = [_zsh_option(option) for option in command.options]
        if command.subcommands:
            described = " ".join(shlex.quote(f"{name}:{_plain(text)}") for name, text in command.subcommands)
            cases = "; ".join(f"{name}) {_function(command.path)}_{_word(name)} ;" for name, _ in command.subcommands)
            lines += [
                f"{_function(command.path)}() {{",
                "  local line state",
                "  _arguments -C " + " ".join([*specs, "'1: :->command'", "'*::argument:->rest'"]),
                "  case $state in",
                f"    command) local -a names=({described}); _describe command names ;;",
                f"    rest) case $line[1] in {cases}; esac ;;",
                "  esac",
                "}",
            ]
        else:
            places = [shlex.quote(f"*:argument:{_zsh_values(a.values)}") for a in command.arguments[:1]]
            lines += [f"{_function(command.path)}() {{", "  _arguments " + " ".join([*specs, *places]), "}"]
    return "\n".join([*lines, "compdef _ftensor ftensor", ""])


def _zsh_option(option: CommandOption) -> str:
    value = f":value:{_zsh_values(option.values)}" if option.takes_value else ""
    text = f"[{_plain(option.help)}]"
    return " ".join(shlex.quote(f"*{spelling}{text}{value}") for spelling in option.spellings)


def _zsh_values(values: str) -> str:
    if values == FILES:
        return "_files"
    return f"({values})" if values else " "


def _plain(text: str) -> str:
    """Returns a help text without the letters that zsh's specifications use."""
    return "".join(" " if letter in "[]:'\"\\`$" else letter for letter in text)


def _function(path: tuple[str, ...]) -> str:
    return "_".join(["_ftensor", *map(_word, path)])


def _word(name: str) -> str:
    return name.replace("-", "_")


def _fish(found: list[Command]) -> str:
    """A line for each option, under the condition that its command stands on the line."""
    lines = ["# fish completion of ftensor: source (ftensor completion fish | psub)", "complete -c ftensor -f"]
    for command in found:
        when = " ".join(f"; and __fish_seen_subcommand_from {word}" for word in command.path).removeprefix("; and ")
        names = [name for name, _ in command.subcommands]
        if names:
            outside = f"not __fish_seen_subcommand_from {' '.join(names)}"
            place = f"{when}; and {outside}" if when else outside
            for name, text in command.subcommands:
                lines.append(f"complete -c ftensor -n {_fish_quoted(place)} -a {name} -d {_fish_quoted(text)}")
        condition = f" -n {_fish_quoted(when)}" if when else ""
        for option in command.options:
            spelled = " ".join(f"-l {s[2:]}" if s[:2] == "--" else f"-s {s[1:]}" for s in option.spellings)
            line = f"complete -c ftensor{condition} {spelled} -d {_fish_quoted(option.help)}"
            lines.append(line + (f" -r{_fish_values(option.values)}" if option.takes_value else ""))
        for argument in command.arguments[:1]:
            if argument.values not in ("", FILES):
                lines.append(f"complete -c ftensor{condition}{_fish_values(argument.values)}")
            elif argument.values:
                lines.append(f"complete -c ftensor{condition} -F")
    return "\n".join([*lines, ""])


def _fish_values(values: str) -> str:
    if values == FILES:
        return " -F"
    return f" -f -a {_fish_quoted(values)}"


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
