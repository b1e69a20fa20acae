"""The digits example on Xilinx's runtime, and in a model of a card.

    python examples/board.py [--out DIR]

No board is needed. `ftensor emulate` runs digits.py on Xilinx's own runtime (XRT) with a process of
this machine instead of the card. The labels must equal those that digits.py has left in DIR.
`ftensor estimate` computes the time on an Alveo U55C, and draws it: DIR/board.png.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ftensor.emulation.environment import available
from ftensor.runtime.targets import csim_compiler

DIGITS = Path(os.path.relpath(Path(__file__).with_name("digits.py")))
INSTALL = "sudo apt-get install g++ libxrt1 libxrt-utils"
BOARD = "u55c"


def run(*words: str | Path, **keywords: Any) -> str:
    """Prints a command of ftensor and runs it; returns its output if `stdout` is a pipe."""
    command = [sys.executable, "-m", "ftensor", *map(str, words)]
    shown = shlex.join(["python" if word == sys.executable else word for word in command])
    print(f"\n$ {shown}", flush=True)
    done = subprocess.run(command, text=True, **keywords)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout or ""


def on_xrt(out: Path) -> None:
    """Classifies the digits on XRT, and compares the labels with those found before."""
    print(
        "Now as on a board. There is none here, so this CPU stands in for it: the runtime is\n"
        "Xilinx's own (XRT), the kernels are the HLS C++ that Vitis would get for a card, built\n"
        "by g++ at the first time, and a process of ftensor's is the card."
    )
    words = ("emulate", "--", sys.executable, DIGITS, "--once", "--out", out / "xrt")
    if lacking := available() or ("" if csim_compiler() else "there is no g++"):
        print(f"Left out: {lacking}.\nWhat it takes, and then does it:\n")
        print(f"  {INSTALL}\n  ftensor emulate -- python {DIGITS}")
        return
    run(*words)
    here, there = (np.load(folder / "names.npy") for folder in (out, out / "xrt"))
    if not np.array_equal(here, there):
        raise SystemExit(f"{(here != there).sum()} of {len(here)} names differ from those on XRT")
    print(f"XRT gives all {len(here)} digits the names that this machine's device gave them")


def estimated(out: Path) -> None:
    """Estimates the time on a card."""
    print(
        "\nHow fast a card would be, a CPU can't tell. A model estimates it from the program's\n"
        "launches, which are counted in one more run:"
    )
    plot = ("--plot", out / "board.png") if find_spec("matplotlib") else ()
    words = ("estimate", "--board", BOARD, *plot, DIGITS, "--once", "--out", out / "estimate")
    # On the device whose kernels are compiled already.
    env = {"FTENSOR_DEVICE": "auto", **os.environ}
    said = run(*words, env=env, stdout=subprocess.PIPE)
    first, board = said[said.index("A model's estimate") :].splitlines()[:2]
    print("\n".join([first, board, "...", said[said.index("In all, ") :].rstrip()]))


def main() -> None:
    """Runs both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder of the results of digits.py")
    out: Path = parser.parse_args().out
    if not (out / "names.npy").is_file():
        raise SystemExit(f"{out} holds no names yet; first: python {DIGITS} --out {out}")
    on_xrt(out)
    estimated(out)


if __name__ == "__main__":
    main()
