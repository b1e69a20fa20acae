"""The options of `ftensor kernels`."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `ftensor kernels`."""
    parser.add_argument(
        "source",
        nargs="?",
        metavar="IMAGE",
        help="an image file, a build's folder, a manifest, or an inventory (default: the images of "
        "FTENSOR_IMAGE; without any, a list of the inventories that come with ftensor)",
    )
    parser.add_argument("--op", help="every kernel of one op: dtypes, layout, kernel and opcode")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.add_argument(
        "--write", metavar="FILE", help="with --trace: an inventory of exactly the kernels that the program needs"
    )
    parser.add_argument(
        "--trace",
        nargs=argparse.REMAINDER,
        metavar="PROGRAM",
        help="run a Python program (with its arguments, to the end of the line) and list the kernels that "
        "it needs and the image lacks; the exit status is 1 if it lacks any",
    )
