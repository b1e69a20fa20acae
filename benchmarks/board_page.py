"""Writes docs/figures.md: programs on this machine's CPU and in the model of two boards.

    make figures                     # or: python benchmarks/board_page.py [--only NAME ...]
    [--seconds S] [--model]

The CPU columns are the wall-clock time of the fastest call within `--seconds`. torch runs with one
thread, and with one for each processor available to this process. The board columns are the
kernels' time by the model, with operands in the board's memory; `ftensor estimate` computes the
same. No row of the table is written by hand. `--model` computes only the board columns, and keeps
the page's CPU columns.

All programs take eight minutes on two idle cores. The model alone takes four, also on busy cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from board_programs import PROGRAMS, Program

ROOT = Path(__file__).resolve().parent.parent
PAGE, END = ROOT / "docs" / "figures.md", "<!-- end -->\n"
BEGIN = "<!-- made by `make figures` -->\n"
BOARDS = ("u55c", "kv260")
LIBRARIES = ("torch", "ftensor")


def best(call: Callable[[], object], seconds: float) -> float:
    """Returns the wall-clock seconds of the fastest call."""
    call()
    least, end, count = np.inf, time.perf_counter() + seconds, 0
    while time.perf_counter() < end or count < 3:
        begin = time.perf_counter()
        call()
        least, count = min(least, time.perf_counter() - begin), count + 1
    return float(least)


def on_cpu(program: Program, seconds: float) -> dict[str, float]:
    """Returns the seconds of torch and of ftensor on this machine."""
    import torch

    import ftensor as ft

    of = {name: torch.from_numpy(value) for name, value in program.data.items()}
    found = []
    with torch.inference_mode():
        for threads in {1, len(os.sched_getaffinity(0))}:
            torch.set_num_threads(threads)
            found.append(best(lambda: program.torch(torch, of), seconds))
    mine = {name: ft.from_numpy(value) for name, value in program.data.items()}
    names = program.arguments
    held = {name: value for name, value in mine.items() if name not in names}
    jitted = ft.jit(lambda *given: program.ftensor(ft, held | dict(zip(names, given, strict=True))))

    def run() -> None:
        jitted(*[mine[name] for name in names])
        ft.fpga.synchronize()

    return {"torch": min(found), "ftensor": best(run, seconds)}


def in_model(program: Program) -> dict[str, Any]:
    """Returns for each board the seconds of the kernels and of the launches, and the image's
    utilization."""
    import ftensor as ft
    from ftensor.boards import find
    from ftensor.estimate.model import BoardConfig
    from ftensor.estimate.report import network_fits, report
    from ftensor.kernels.skeleton import board_skeleton_of
    from ftensor.kernels.workload import KernelLaunch
    from ftensor.toolchain.trace import Trace, recording

    found: dict[str, Any] = {}
    mine = {name: ft.from_numpy(value) for name, value in program.data.items()}
    names = program.arguments
    held = {name: value for name, value in mine.items() if name not in names}
    for name in BOARDS:
        board = find(name)
        jitted = ft.jit(lambda *given: program.ftensor(ft, held | dict(zip(names, given, strict=True))))
        with recording(1, None, lambda key, board=board: network_fits(key, board)):  # type: ignore[misc]
            planned = jitted.graph(*[mine[name] for name in names])
        trace = Trace()
        for step in [step for node in planned._graph.nodes for step in node.launch.steps]:
            n, geometry = step.n, step.geometry
            if board_skeleton_of(step.key).geometry is None and len(geometry) == 1:
                (n,), geometry = geometry, ()
            trace.launches[KernelLaunch(step.key, step.units, n or 0, geometry)] += 1
        made = report(trace, BoardConfig(board, board.clock.value), 1, None)
        launches = [line.estimate.launch for line in made.lines]
        graphs = [launch for launch in launches if launch.key.skeleton in ("staged", "network")]
        largest = max(graphs, key=lambda launch: launch.n, default=None)
        worst = max(made.lines, key=lambda line: line.kernel, default=None)
        found[name] = {
            "seconds": made.kernels,
            "launches": made.launch,
            "count": made.count,
            "missing": sorted(made.missing),
            "shares": made.image.fitting.shares,
            "requested": made.image.requested.shares,
            "lanes": largest.key.lanes if largest else None,
            "units": largest.units if largest else None,
            "bound": worst.estimate.bound if worst else "",
        }
    return found


def columns(name: str, seconds: float, parts: Sequence[str]) -> dict[str, Any]:
    """Runs the parts, "cpu" and "model", in separate processes, since the model needs the C
    simulation as device."""
    answers = {}
    for part in parts:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        if part == "model":
            env["FTENSOR_DEVICE"] = "csim"
        words = [sys.executable, __file__, "--part", part, "--only", name, "--seconds", str(seconds)]
        done = subprocess.run(words, env=env, check=True, capture_output=True, text=True)
        answers[part] = json.loads(done.stdout.splitlines()[-1])
    return answers


def shares_text(shares: Mapping[str, float]) -> str:
    """Returns a board's utilization as a cell of the table, without flip-flops."""
    used = {word: part for word, part in shares.items() if word != "ff" and (part or word != "uram")}
    return "; ".join(f"{word.upper()} {part:.0%}" for word, part in used.items())


def row(name: str, found: dict[str, Any]) -> str:
    """Returns the table's line of a program."""
    cpu, cells = found["cpu"], [PROGRAMS[name].title]
    fastest = min(cpu.values(), default=0.0)
    cells += [f"{1e3 * cpu[library]:.3g}" if library in cpu else "" for library in LIBRARIES]
    for board in BOARDS:
        of = found["model"][board]
        if of["missing"]:
            first, others = of["missing"][:2], of["missing"][2:]
            more = f" and {len(others)} more" if others else ""
            cells += [f"does not fit: {', '.join(first)}{more}", "", f"asked: {shares_text(of['requested'])}"]
            continue
        shares = shares_text(of["shares"])
        kernels = f"{of['count']} launches" if of["count"] > 1 else "1 launch"
        speedup = f"{fastest / of['seconds']:.3g}" if fastest else ""
        cells += [f"{1e3 * of['seconds']:.3g} ({kernels}, {of['bound']})", speedup, shares]
    return f"| {' | '.join(cells)} |\n"


def on_page(name: str) -> dict[str, float]:
    """Returns the seconds of torch and ftensor in the page's table; {} if it has none."""
    for line in PAGE.read_text().splitlines():
        title, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if title == PROGRAMS[name].title and all(cells[:2]):
            return {library: float(cell) / 1e3 for library, cell in zip(LIBRARIES, cells[:2], strict=True)}
    return {}


HEAD = (
    "| program | torch, ms | ftensor, ms | U55C, ms | speedup | area | KV260, ms | speedup | area |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each CPU figure (default: %(default)s)")
    parser.add_argument("--model", action="store_true", help="only the board columns; keeps the page's CPU columns")
    parser.add_argument("--part", choices=("cpu", "model"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        (name,) = given.only
        program = PROGRAMS[name]()
        print(json.dumps(on_cpu(program, given.seconds) if given.part == "cpu" else in_model(program)))
        return
    lines = []
    for name in given.only:
        parts = ("model",) if given.model else ("cpu", "model")
        lines.append(row(name, {"cpu": on_page(name), **columns(name, given.seconds, parts)}))
        print(lines[-1], end="", flush=True)
    if given.only == list(PROGRAMS):
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + BEGIN + HEAD + "".join(lines) + END + rest.partition(END)[2])
        print(f"wrote the table of {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
