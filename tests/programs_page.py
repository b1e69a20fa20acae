"""Writes the table of docs/images.md: the programs of examples/programs.py on a U55C, by the model,
and on this machine's processor.

`python -m tests.programs_page` takes some minutes, because it runs the whole programs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ftensor.boards import find
from ftensor.estimate.model import launch_overhead

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "images.md"
PROGRAM = "examples/programs.py"
IMAGES = {"receiver": "radio", "networks": "cnn", "statistics": "stats"}
BEGIN = "<!-- made by tests/programs_page.py -->\n"
END = "<!-- end -->\n"
HEAD = (
    "| program | image | U55C, ms | launches | ftensor here, ms | torch here, ms | here / U55C | "
    "most of it, ms |\n|---|---|---|---|---|---|---|---|\n"
)
QUEUED = 64  # launches before the first wait
KEPT = 3  # calls after which a program's weights are cached in packed form
TIMES = re.compile(r"([\d.]+) ms by ftensor here, ([\d.]+) ms by torch")


def _run(*words: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FTENSOR_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def estimated(name: str, calls: int) -> dict[str, Any]:
    """Returns the model's report of a program that makes `calls` calls."""
    options = ("--board", "u55c", "--inventory", IMAGES[name], "--in-flight", str(QUEUED), "--json")
    report: dict[str, Any] = json.loads(
        _run("-m", "ftensor", "estimate", *options, PROGRAM, name, "--alone", str(calls))
    )
    assert not report["not_in_inventory"], report["not_in_inventory"]
    return report


def row(name: str) -> str:
    """Returns the table's line of a program: one call after the first three, which send the
    geometry buffers and pack the weights."""
    before, after = estimated(name, KEPT), estimated(name, KEPT + 1)
    total, less = after["total"], before["total"]
    count = total["launches"] - less["launches"]
    board = 1e3 * (total["kernels_s"] - less["kernels_s"] + launch_overhead(find("u55c"), count, QUEUED))
    times = TIMES.search(_run(PROGRAM, name, "--time"))
    assert times is not None
    own, other = float(times[1]), float(times[2])
    ops: dict[tuple[str, str], float] = {}
    for sign, report in ((1, after), (-1, before)):
        for line in report["launches"]:
            at = line["op"], line["bound"]
            ops[at] = ops.get(at, 0.0) + sign * 1e3 * line["kernel_s"] * line["count"]
    dearest = sorted(ops, key=lambda at: -ops[at])[:4]
    most = ", ".join(f"`{op}` {ops[op, bound]:.3g} ({bound})" for op, bound in dearest)
    return (
        f"| {name} | `{IMAGES[name]}` | {board:.3g} | {count} | {own:.3g} | "
        f"{other:.3g} | {own / board:.2g} | {most} |\n"
    )


if __name__ == "__main__":
    rows = "".join(row(name) for name in IMAGES)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + HEAD + rows + END + rest.partition(END)[2])
    sys.stdout.write(f"wrote the table of {PAGE}\n{rows}")
