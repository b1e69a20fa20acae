"""The `ftensor` command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from ._version import __version__


def _devices(arguments: argparse.Namespace) -> int:
    from . import doctor

    return doctor.devices()


def _doctor(arguments: argparse.Namespace) -> int:
    from . import doctor

    return doctor.doctor()


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary)
    parser.set_defaults(run=run)
    return parser


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
        prog="ftensor", description="Tensors that behave like torch's and compute on FPGAs."
    )
    top.add_argument("--version", action="version", version=f"ftensor {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add(commands, "devices", _devices, "List the devices found, and how to select each.")
    _add(commands, "doctor", _doctor, "Look at drivers, devices and versions; say what to install.")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    arguments = parser().parse_args(argv)
    status: int = arguments.run(arguments)
    return status
