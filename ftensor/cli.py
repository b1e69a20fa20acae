"""The `ftensor` command."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from . import completion, logs, pages, tune
from . import top as watching
from ._version import __version__
from .estimate import options as estimate_options
from .terminal import complain, guess
from .toolchain import options
from .warm import options as warm_options


def _lazy(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """Returns a command that imports its module when it runs."""

    def run(arguments: argparse.Namespace) -> int:
        return getattr(import_module(f".{module}", __package__), function)(arguments)

    return run


def _completion(arguments: argparse.Namespace) -> int:
    print(completion.script(parser(), arguments.shell), end="")
    return 0


def _emulate(arguments: argparse.Namespace) -> int:
    intel = arguments.intel or arguments.install or arguments.folder
    module = "emulation.intel" if intel else "toolchain.emulate"
    return _lazy(module, "command")(arguments)


class _Parser(argparse.ArgumentParser):
    """A parser that suggests corrections of unknown words; its subparsers have the same class."""

    words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Reports unknown arguments in the subparser, so that it suggests its own options."""
        self.words = list(sys.argv[1:] if args is None else args)
        program = self._words_of_the_traced_program()
        parsed, rest = super().parse_known_args(self.words, namespace)
        if program:
            parsed.trace = [*parsed.trace, *program]
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return parsed, rest

    def _words_of_the_traced_program(self) -> list[str]:
        """Takes the words from "--" on behind the program of `--trace` from `words`, and returns them:
        argparse would take them as arguments of the command. Removes a "--" before the program."""
        if not ("--trace" in self._option_string_actions and "--trace" in self.words):
            return []
        words, at = list(self.words), self.words.index("--trace") + 1
        if words[at : at + 1] == ["--"]:
            del words[at]
        end = words.index("--", at) if "--" in words[at:] else len(words)
        self.words = words[:end]
        return words[end:]

    def error(self, message: str) -> NoReturn:
        known = list(options_of(self))
        if "arguments are required" in message:  # perhaps one of them was mistyped
            mistyped = [w for w in self.words if w[:2] == "--" and w.partition("=")[0] not in known]
            message += f"; unrecognized: {' '.join(mistyped)}" if mistyped else ""
        if match := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += _belonging(self, match[1]) or guess(match[1], re.findall(r"[\w.-]+", match[2]))
        elif match := re.search(r"unrecognized(?: arguments)?: (--[\w-]+)", message):
            message += guess(match[1], known)
        self.print_usage(sys.stderr)
        complain(f"{self.prog}: error", message)
        self.exit(2)


def _belonging(parser: argparse.ArgumentParser, word: str) -> str:
    """Returns a phrase that names the command whose action `word` is; "" if there is none."""
    commands = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for name, command in [pair for action in commands for pair in action.choices.items()]:
        if any(word in a.choices for a in command._actions if isinstance(a, argparse._SubParsersAction)):
            return f"; it is an action of {name!r}: `ftensor {name} {word}`"
    return ""


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yields the options of a parser and of its subparsers."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from options_of(command)


def _add(
    commands: argparse._SubParsersAction[_Parser], name: str, run: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary)
    parser.set_defaults(run=run)
    _add_levels(parser)
    return parser


def _add_levels(parser: argparse.ArgumentParser) -> None:
    """Adds --quiet and --verbose, which may stand before and behind the name of a command."""
    for option, level, text in (
        ("--quiet", "error", "print results and errors alone"),
        ("--verbose", "debug", "print what the logger 'ftensor' records: devices, images, compilations"),
    ):
        parser.add_argument(option, dest="log", action="store_const", const=level, default=argparse.SUPPRESS, help=text)


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the `ftensor` command."""
    top = _Parser(prog="ftensor", description="Tensors that behave like torch's and compute on FPGAs.")
    top.add_argument("--version", action="version", version=f"ftensor {__version__}")
    _add_levels(top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in (
        ("devices", "List the devices found, and how to select each."),
        ("doctor", "Look at drivers, devices and versions; say what to install."),
    ):
        found = _add(commands, name, _lazy("doctor", name), summary)
        found.add_argument("--json", action="store_true", help="the same as JSON")
    docs = _add(commands, "docs", pages.command, "Print a page of the documentation, or list them.")
    pages.add_arguments(docs)
    new = _add(
        commands,
        "new",
        _lazy("new_project", "command"),
        "Write a project of your own: a kernel in HLS C++, its tests, a script for continuous integration.",
    )
    new.add_argument("name", metavar="NAME", help="the project's name, and its new folder")
    shells = _add(
        commands,
        "completion",
        _completion,
        'Print a script that completes this command\'s words: eval "$(ftensor completion bash)"',
    )
    shells.add_argument("shell", choices=completion.SHELLS, help="the shell")
    build = _add(
        commands, "build", _lazy("toolchain.command", "command"), "Build an image of kernels from an inventory."
    )
    options.add_arguments(build)
    kernels = _add(
        commands,
        "kernels",
        _lazy("toolchain.coverage", "command"),
        "Show which kernels an image or an inventory holds, and what a program would miss in it.",
    )
    options.add_kernels_arguments(kernels)
    estimate = _add(
        commands,
        "estimate",
        _lazy("estimate.command", "run"),
        "Run a program here and estimate what it would take on a board (a model, no measurement).",
    )
    estimate_options.add_arguments(estimate)
    watch = _add(commands, "top", watching.command, "Run a program and show which ops take the device's time.")
    watching.add_arguments(watch)
    warm = _add(
        commands,
        "warm",
        _lazy("warm.command", "run"),
        "Compile kernels ahead, into the cache on disk: of ops, or of all that a program runs.",
    )
    warm_options.add_arguments(warm)
    measure = _add(
        commands,
        "tune",
        tune.command,
        "Measure where, on this device, one way begins to be quicker than another, and keep it.",
    )
    tune.add_arguments(measure)
    image = commands.add_parser("image", help="Look into an image file, or make one.")
    actions = image.add_subparsers(dest="action", metavar="ACTION", required=True)
    info = _add(
        actions, "info", _lazy("image.info", "command"), "Show the kernels, compute units and banks of an xclbin file."
    )
    info.add_argument("file", metavar="FILE", help="the xclbin file")
    info.add_argument("--json", action="store_true", help="the same as JSON")
    draw = _add(
        actions,
        "draw",
        _lazy("toolchain.drawing", "command"),
        "Draw an image's kernels, ports, banks and compute units, and what they take of a board.",
    )
    draw.add_argument("source", metavar="IMAGE", help="an image, a build's folder, or an inventory by name or file")
    draw.add_argument("output", metavar="FILE", help="the picture: .svg, .png or .pdf")
    draw.add_argument("--board", metavar="NAME", help="the board, if the platform names none")
    draw.add_argument("--inventory", metavar="FILE", help="the inventory of the image, for the kernels' areas")
    pack = _add(
        actions,
        "pack",
        _lazy("toolchain.pack", "command"),
        "Make an xclbin file for software emulation from HLS C++, or from a shared object of it.",
    )
    pack.add_argument("--library", metavar="LIB.so", help="the compiled kernels")
    pack.add_argument(
        "--description", metavar="FILE", help="the kernels, in TOML or JSON (default: by their debug information)"
    )
    pack.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="v++'s configuration, for its units, banks and streams (nk=, sp=, stream_connect=); repeatable",
    )
    pack.add_argument("--manifest", metavar="FILE", help="ftensor's manifest, to travel along")
    pack.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="the sources of the kernels, if no library is given, and the xclbin file to write",
    )
    package = _add(
        commands,
        "package",
        _lazy("toolchain.package", "command"),
        "Make the application folder of a Kria (xmutil loadapp) from an image.",
    )
    package.add_argument("--board", metavar="NAME", default="kv260", help="the board (default: kv260)")
    package.add_argument("--name", metavar="NAME", help="the application's name (default: the image's)")
    package.add_argument("--overlay", metavar="FILE", help="the platform's device tree overlay, compiled (.dtbo)")
    package.add_argument("--out", metavar="DIR", default=".", help="where the folder is made (default: here)")
    package.add_argument("image", metavar="IMAGE", help="the xclbin file, built with --target hw")
    headers = _add(
        commands,
        "headers",
        _lazy("toolchain.vitis.headers", "command"),
        "Print what g++ compiles kernels of your own with: g++ $(ftensor headers) kernels.cpp",
    )
    headers.add_argument(
        "--install", action="store_true", help="fetch Xilinx's ap_int.h and ap_fixed.h (3 MB, Apache license)"
    )
    emulate = _add(
        commands,
        "emulate",
        _emulate,
        "Run a program on a vendor's runtime without a board: ftensor emulate -- python program.py",
    )
    emulate.add_argument(
        "--image",
        action="append",
        metavar="FILE",
        help="an image, or a build's folder, that ftensor shall use in the program; may be given "
        "several times (default: kernels are built when the program asks for them, and kept)",
    )
    emulate.add_argument("--no-build", action="store_true", help="build no kernels where no image is named")
    emulate.add_argument("--keep", action="store_true", help="keep the scratch folder, and say where it is")
    emulate.add_argument("--fifos", action="store_true", help="print the FIFOs of DATAFLOW kernels: least depths")
    emulate.add_argument("--json", metavar="FILE", help="write failures, warnings and FIFOs as JSON")
    emulate.add_argument(
        "--shuffle",
        type=options.seed_argument,
        metavar="SEED",
        help="run launches that have no order in another one, by a seed: shows missing waits",
    )
    emulate.add_argument("--p2p", action="store_true", help="buffers of xrt::bo are one memory of host and board")
    emulate.add_argument("--intel", action="store_true", help="on Intel's FPGA emulator instead of Xilinx's runtime")
    emulate.add_argument("--install", action="store_true", help="with --intel: install the emulator first")
    emulate.add_argument("--folder", type=options.folder, metavar="DIR", help="with --intel: where the emulator is")
    for option, name, text in (
        ("-m", "MODULE", "a module of Python, with its arguments"),
        ("-c", "CODE", "a text in Python, with its arguments"),
    ):
        emulate.add_argument(option, nargs=argparse.REMAINDER, dest=name.lower(), metavar=name, help=text)
    emulate.add_argument(
        "program", nargs=argparse.REMAINDER, help="the program and its arguments; Python runs a file *.py"
    )
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    grammar = parser()
    if not (sys.argv[1:] if argv is None else argv):
        grammar.print_help()
        return 0
    for word in argv or ():
        if "\0" in word:  # no file name contains a NUL, and a shell can't pass one
            grammar.error(f"an argument has a NUL: {word!r}")
    arguments = grammar.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files that its encoding lacks
    try:
        with logs.printed(getattr(arguments, "log", None)):
            status: int = arguments.run(arguments)
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe: sends buffered output to /dev/null at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status
