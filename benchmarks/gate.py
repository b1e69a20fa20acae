"""Detects cases slower than at another commit: both checkouts are measured alternately."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cases import CASES

HERE = Path(__file__).resolve().parent
ALLOWED = 1.15  # relative to the base's time


class Checkout:
    """A process that measures the ftensor of a checkout."""

    def __init__(self, tree: Path) -> None:
        path = os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])])
        env = {**os.environ, "PYTHONPATH": path, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "measure.py")],
            env=env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def seconds(self, number: int) -> float | None:
        """Returns the seconds of one call of a case; None if this ftensor lacks it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{CASES[number].name}: the process that measures it has ended")
        elapsed: float | None = json.loads(answer)
        return elapsed

    def close(self) -> None:
        """Ends the process."""
        self.process.communicate()


@dataclass
class Compared:
    """The medians of a case, in seconds; None if the base lacks it."""

    name: str
    mine: float
    base: float | None

    @property
    def ratio(self) -> float:
        """Returns this checkout's time over the base's."""
        return self.mine / self.base if self.base else 1.0


def compare(mine: Checkout, base: Checkout, number: int, repeats: int) -> Compared:
    """Measures a case in both checkouts alternately, and again with twice the repetitions if it
    seems slower."""
    case = CASES[number]
    for times in (repeats, 2 * repeats):
        turns = [(mine.seconds(number), base.seconds(number)) for _ in range(times)]
        own = [m for m, _ in turns if m is not None]
        others = [b for _, b in turns if b is not None]
        if not own:
            raise RuntimeError(f"{case.group} {case.name}: no such call in this checkout")
        compared = Compared(
            f"{case.group} {case.name}", statistics.median(own), statistics.median(others) if others else None
        )
        if compared.ratio <= ALLOWED:
            break
    return compared


def run(mine: Path, base: Path, numbers: Sequence[int], repeats: int) -> list[Compared]:
    """Measures these cases in two checkouts, and prints a line for each."""
    both = Checkout(mine), Checkout(base)
    rows = []
    try:
        for number in numbers:
            one = compare(*both, number, repeats)
            rows.append(one)
            base_ms = "         -" if one.base is None else f"{one.base * 1e3:10.4f}"
            mark = "LOST" if one.ratio > ALLOWED else ""
            line = f"{one.name:36}  {one.mine * 1e3:10.4f}  {base_ms}  {one.ratio:6.2f}  {mark}"
            print(line.rstrip(), flush=True)
    finally:
        for checkout in both:
            checkout.close()
    return rows


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Context manager: yields a folder with a commit's files."""
    root = HERE.parent
    with tempfile.TemporaryDirectory(prefix="ftensor-base-") as folder:
        tree = Path(folder) / "base"
        git = ["git", "-C", str(root), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def gate(commit: str, numbers: Sequence[int], repeats: int) -> int:
    """Returns exit status 1 if a case takes more than 1.15 times as long as at the base commit."""
    print(f"{'case':36}  {'here ms':>10}  {'base ms':>10}  {'ratio':>6}")
    with checked_out(commit) as base:
        rows = run(HERE.parent, base, numbers, repeats)
    lost = [one.name for one in rows if one.ratio > ALLOWED]
    known = [one.ratio for one in rows if one.base is not None]
    if known:
        print(f"\ngeometric mean of {len(known)}: {statistics.geometric_mean(known):.3f}")
    print(f"lost: {', '.join(lost)}" if lost else f"none lost against {commit}")
    return int(bool(lost))
