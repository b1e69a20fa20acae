"""The options of `ftensor build` and `ftensor kernels`; no heavy imports, as every command reads them."""

from __future__ import annotations

import argparse
from pathlib import Path

TARGETS = ("csim", "hw", "hw_emu", "intel", "intel-emulator")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `ftensor build`."""
    add = parser.add_argument
    add(
        "--inventory",
        required=True,
        metavar="NAME|FILE",
        help="first, minimal, cnn, int8, transformer, radio, stats (cnn_small and so on for small "
        "boards), steps, full (for emulation), or a TOML file",
    )
    add(
        "--target",
        choices=TARGETS,
        default="hw",
        help="csim: g++, no licence; hw, hw_emu: Vitis; intel: aoc; intel-emulator: Intel's FPGA emulator",
    )
    add("--out", required=True, type=folder, metavar="DIR", help="the folder for all that is made")
    add("--platform", default="", help="the board's platform, as v++ takes it (default: the inventory's)")
    add("--clock", metavar="MHZ", help="the kernels' clock (default: the inventory's, else the platform's)")
    add("--banks", metavar="BANKS", help="all kernels' memories, such as 'HBM[0:31]' (default: the inventory's)")
    add("--fit", action="store_true", help="leave out the kernels that the board has no room for, the dearest first")
    add(
        "--subnormals",
        choices=("keep", "flush"),
        default="keep",
        help="flush: subnormal numbers are zeros in computing, as in an FPGA's operators; "
        "csim only (default: %(default)s, as the host computes)",
    )
    add("--jobs", type=_count, metavar="N", help="compilers at once (default: by processors and memory)")
    add(
        "--only",
        action="append",
        default=[],
        metavar="KERNEL",
        help="compile this kernel alone and link nothing; may be repeated",
    )
    add("--dry-run", action="store_true", help="write the sources and print the commands, but run none")
    add("--json", action="store_true", help="the summary as JSON")


def folder(text: str) -> Path:
    """Returns the path of a folder. Rejects an empty name, which would mean the working folder: it
    may come from an unset shell variable."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty ('.' is the working folder)")
    return Path(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of compilers, at least 1, not {text!r}")
    return int(text)


def add_kernels_arguments(parser: argparse.ArgumentParser) -> None:
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
        "--board",
        metavar="BOARD",
        help="with --trace: narrow the kernels until they fit this board (u55c, kv260, ...), and say which lines "
        "of the program take the most of it",
    )
    parser.add_argument(
        "--trace",
        nargs=argparse.REMAINDER,
        metavar="PROGRAM",
        help="run a Python program (with its arguments, to the end of the line) and list the kernels that "
        "it needs and the image lacks; the exit status is 1 if it lacks any",
    )


def seed_argument(text: str) -> int:
    """Returns a seed, an integer from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed is an integer from 0 on, not {text!r}")
    return int(text)
