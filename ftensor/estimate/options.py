"""The options of `ftensor estimate`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..boards import BOARDS
from ..python_program import add_program

_COMMON = {"-h", "--help", "-m", "-c", "--quiet", "--verbose"}  # programs have these too


def option_after_program(words: Sequence[str], parser: argparse.ArgumentParser) -> str | None:
    """Returns the first option of this command that follows the program on the command line, where
    the program would get it; None if there is none."""
    own = {name for action in parser._actions for name in action.option_strings}
    return next((word for word in words if word.partition("=")[0] in own - _COMMON), None)


def options_given(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> list[str]:
    """Returns the given options and program as a user writes them, without `--published`."""
    given = []
    for action in parser._actions:
        value = getattr(arguments, action.dest, action.default)
        if action.dest not in ("help", "published", "arguments", "log") and value != action.default:
            given.append(action.option_strings[0] if action.option_strings else str(value))
    return given


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.set_defaults(
        option_after_program=lambda words: option_after_program(words, parser),
        options_given=lambda given: options_given(given, parser),
    )
    names = ", ".join(board.name for board in BOARDS)
    parser.add_argument("--board", default="u55c", help=f"one of {names} (default: %(default)s)")
    parser.add_argument("--inventory", help="only kernels of this inventory, as it places them")
    parser.add_argument(
        "--units",
        type=int,
        help="compute units of every kernel but networks (default: those of the "
        "inventory, else 1, and for graphs as many as are fastest)",
    )
    parser.add_argument("--clock", type=float, help="MHz of the kernels (default: the board's)")
    parser.add_argument(
        "--banks",
        default="*",
        help="where buffers lie: '*' each operand its own bank, 'HBM[0]' one bank, "
        "'HBM[0:31]' channel by channel (default: %(default)s)",
    )
    parser.add_argument(
        "--in-flight",
        type=int,
        default=1,
        metavar="N",
        help="launches queued before the host waits (default: %(default)s)",
    )
    parser.add_argument(
        "--widened",
        action="store_true",
        help="suppose that the compiler makes wide accesses of neighbours in products "
        "(default: one element at a time, as their ports' types say)",
    )
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="WHAT",
        help="side by side: 'steps', the contiguous kernels built in the five steps of the "
        "inventory of that name, 'graph', the program with and without its ft.jit (which runs it "
        "twice), or another board's name; may be given several times",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw a figure: the timeline, the bounds and the area, or the comparison (.svg, .png, "
        ".pdf; needs matplotlib)",
    )
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument(
        "--published", action="store_true", help="print the models beside published designs, with the factors"
    )
    add_program(parser)
