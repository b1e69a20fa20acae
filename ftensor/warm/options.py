"""The options of `ftensor warm`."""

from __future__ import annotations

import argparse

from ..python_program import add_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to a parser."""
    parser.add_argument(
        "--ops", metavar="OP,OP,...", help="the kernels of these ops, by their names in ftensor: add,sum,matmul"
    )
    parser.add_argument("--all", action="store_true", help="the kernels of all ops")
    parser.add_argument(
        "--dtypes",
        default="float32,int64",
        metavar="D,D,...",
        help="of which dtypes the operands are (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at once (default: a processor each)")
    parser.add_argument("--json", action="store_true", help="the summary as JSON")
    add_program(parser)
