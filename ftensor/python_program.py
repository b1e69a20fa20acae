"""A Python program that a command runs in its own process: a file, a module or a text."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

from .errors import commands as errors

_ORDER = ", and options stand before --trace or behind the program"


@dataclass(frozen=True)
class PythonProgram:
    """A program and its arguments, as `python` takes them: `FILE ...`, `-m MODULE ...` or
    `-c CODE ...`."""

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """Returns the program's name for messages: the file, the module, or "-c"."""
        first = self.words[0]
        return self.words[1] if first == "-m" and len(self.words) > 1 else first

    def check(self) -> None:
        """Raises EstimateError if there is no such file or module, or `-m` and `-c` lack their
        argument."""
        first = self.words[0]
        if first in ("-m", "-c"):
            if len(self.words) == 1:
                raise errors.no_program(first, "names no module" if first == "-m" else "has no code")
            if first == "-m" and not _is_module(self.words[1]):
                raise errors.no_program(self.words[1], "no such module")
        elif not os.path.isfile(first):  # also for a name that no file can have
            raise errors.no_program(first, "no such file" + _ORDER * first.startswith("-"))

    def command(self) -> list[str]:
        """Returns the words that run the program in a process of its own, with this Python."""
        return [sys.executable, *self.words]

    def run(self) -> int:
        """Runs the program as `python` would, and returns its exit status.

        Prints the program's exceptions and the text of `sys.exit(text)` to standard error, as
        Python does; the status is 1 then.
        """
        self.check()
        before = sys.argv, sys.path[0]
        try:
            self._run()
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                return (end.code or 0) & 0xFF
            print(end.code, file=sys.stderr)
            return 1
        except Exception as error:  # noqa: BLE001
            traceback.print_exception(error)
            return 1
        finally:
            sys.argv, sys.path[0] = before
        return 0

    def _run(self) -> None:
        first, *rest = self.words
        if first == "-m":
            sys.argv, sys.path[0] = rest, os.getcwd()
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif first == "-c":
            sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
            main, kept = types.ModuleType("__main__"), sys.modules["__main__"]
            sys.modules["__main__"] = main
            try:
                exec(compile(rest[0], "<string>", "exec"), main.__dict__)
            finally:
                sys.modules["__main__"] = kept
        else:
            sys.argv, sys.path[0] = list(self.words), str(Path(first).resolve().parent)
            runpy.run_path(first, run_name="__main__")


def _is_module(name: str) -> bool:
    """True if `python -m name` would find the module; imports its packages, as Python does."""
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    before = sys.path[0]
    sys.path[0] = os.getcwd()
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a package of it
        return False
    finally:
        sys.path[0] = before


def add_program(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments `FILE ...`, `-m MODULE ...` and `-c CODE ...`; read them by
    `given_program`."""
    for option, name, text in (("-m", "MODULE", "run a module, as `python -m` does"), ("-c", "CODE", "run a text")):
        parser.add_argument(
            option, nargs=argparse.REMAINDER, dest=name.lower(), metavar=name, help=f"{text}, with its arguments"
        )
    parser.add_argument("program", nargs="?", help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")


def given_program(arguments: argparse.Namespace) -> PythonProgram | None:
    """Returns the program that a command line names, or None."""
    for option, words in (("-m", arguments.module), ("-c", arguments.code)):
        if words is not None:
            return PythonProgram((option, *words))
    return None if arguments.program is None else PythonProgram((arguments.program, *arguments.arguments))
