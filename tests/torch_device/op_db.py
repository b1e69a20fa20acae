"""The ops of torch's databases that pass on the device, and that need no host: a table by dtype.

    python -m tests.torch_device.op_db --dtype float32 --samples 4 --out found.json -j 2

The file has a line for each op: its first error, the ops that the host ran, and CPU seconds.
`--table` prints a table of such files, and `--write` writes the file that tests compare with.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.testing._internal.common_modules import module_db

import ftensor as ft

from . import databases
from .databases import DTYPES, dtype_name

MODULES = "modules"


class Task(NamedTuple):
    """An op or a module to check."""

    of: str  # a dtype's name, or MODULES
    name: str
    samples: int


def tasks(of: str, samples: int, only: str) -> list[Task]:
    """Returns the ops of a dtype, or the modules, whose names match a pattern."""
    infos = module_db if of == MODULES else databases.ops(getattr(torch, of))
    names = dict.fromkeys(getattr(info, "full_name", info.name) for info in infos)
    return [Task(of, name, samples) for name in names if re.search(only, name)]


def check_task(task: Task) -> list[dict[str, Any]]:
    """Returns the lines of a task: one, or two for a module whose training differs from its
    inference."""
    ft.set_fallback("silent")
    start = time.process_time()
    if task.of == MODULES:
        outcomes = [
            databases.check_module(info, torch.float32, training)
            for info in module_db
            if info.name == task.name
            for training in (True, False)[: 1 + info.train_and_eval_differ]
        ]
    else:
        dtype = getattr(torch, task.of)
        outcomes = [
            databases.check(op, dtype, task.samples) for op in databases.ops(dtype) if op.full_name == task.name
        ]
    seconds = round(time.process_time() - start, 3)
    return [{"of": task.of, **one._asdict(), "seconds": seconds} for one in outcomes]


def table(outcomes: dict[str, dict[str, Any]]) -> str:
    """Returns the table of docs/torch-device.md."""
    lines = ["| | ops | right | right, without the host |", "|---|---|---|---|"]
    for name, ops in outcomes.items():
        right = [f for f in ops.values() if not f["error"]]
        alone = sum(not f["fallbacks"] for f in right)
        share = [f"{n} ({n / max(len(ops), 1):.1%})" for n in (len(right), alone)]
        lines.append(f"| {name} | {len(ops)} | {share[0]} | {share[1]} |")
    return "\n".join(lines)


def read(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Returns the files' lines by dtype and name. A later line replaces an earlier one."""
    outcomes: dict[str, dict[str, Any]] = {}
    for path in paths:
        for line in path.read_text().splitlines():
            one = json.loads(line)
            outcomes.setdefault(one["of"], {})[one["name"]] = one
    return outcomes


def run(todo: list[Task], asked: argparse.Namespace) -> None:
    """Appends the lines of tasks to the requested file."""
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    # Importing the database opens devices, which a forked worker could not use.
    with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as pool, asked.out.open("a") as file:
        for lines in pool.map(check_task, todo):
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()


def main() -> None:
    """Runs, and prints the table and the errors."""
    names = [dtype_name(d) for d in DTYPES] + [MODULES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", action="append", choices=names)
    parser.add_argument("--samples", type=int, default=databases.SAMPLES)
    parser.add_argument("--only", help="a regular expression for names", default="")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/op_db.json"))
    parser.add_argument("--table", nargs="+", type=Path, help="files; nothing runs")
    parser.add_argument("--write", action="store_true", help=f"write {databases.ON_HOST.name}")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if not asked.table:
        run([t for d in asked.dtype or names for t in tasks(d, asked.samples, asked.only)], asked)
    known = read(asked.table or [asked.out])
    print(table(known))
    for of, ops in known.items():
        for name, one in ops.items():
            if one["error"]:
                print(f"\n{name} {of}: {one['error']}")
    if asked.write:
        needing = sorted(n for n, one in known["float32"].items() if one["fallbacks"])
        databases.ON_HOST.write_text("\n".join(needing) + "\n")


if __name__ == "__main__":
    main()
