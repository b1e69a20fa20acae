"""Breaks the library in one place after another and checks that `make test` detects each change.

    python tests/mutants.py [--jobs 2] [WORD ...]

Use it for changes that make the tests faster. A mutant (`mutants.toml`) is a change of text and the
test files that must detect it. They run without tests marked `long`, in a copy of the checkout.
WORD selects the mutants that contain it. The exit status is 1 if one survives, and 2 if its text
does not occur.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent


class Mutant(NamedTuple):
    """`before` occurs in the file once, and is replaced by `after`. pytest runs `tests`, or only
    those that match `only`."""

    file: str
    before: str
    after: str
    tests: list[str]
    only: str = ""


def outcome(mutant: Mutant, checkout: Path) -> str:
    """Returns the outcome: seen, lives, gone (its text does not occur exactly once), not run."""
    file = checkout / mutant.file
    text = file.read_text()
    if text.count(mutant.before) != 1:
        return "gone"
    file.write_text(text.replace(mutant.before, mutant.after))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [f"tests/{name}" for name in mutant.tests]
    command += ["-m", "not long", *(["-k", mutant.only] if mutant.only else [])]
    env = os.environ | {"PYTHONPATH": str(checkout), "FTENSOR_POISON": "1"}
    try:
        done = subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True)
    finally:
        file.write_text(text)
    words = {0: "lives", 4: "not run", 5: "not run"}  # pytest's exit status: wrong arguments, nothing selected
    return words.get(done.returncode, "seen")


def main() -> int:
    """Returns 0 if every mutant is detected."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    rows = tomllib.loads(ROOT.joinpath("tests", "mutants.toml").read_text())["mutant"]
    mutants = [Mutant(**row) for row in rows]
    wanted = [m for m in mutants if all(word in repr(m) for word in options.words)]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = listed.stdout.decode().split("\0")[:-1]
    places: SimpleQueue[Path] = SimpleQueue()

    def tried(mutant: Mutant) -> str:
        place = places.get()
        try:
            verdict = outcome(mutant, place)
        finally:
            places.put(place)
        change = mutant.after.strip() or f"without {mutant.before.strip()}"
        print(f"{verdict}: {mutant.file}: {change.splitlines()[0][:70]}", flush=True)
        return verdict

    with tempfile.TemporaryDirectory(prefix="ftensor-mutants-") as folder:
        for job in range(options.jobs):
            place = Path(folder) / str(job)
            for name in files:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes((ROOT / name).read_bytes())
            places.put(place)
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(tried, wanted))
    print(", ".join(f"{outcomes.count(word)} {word}" for word in ("seen", "lives", "gone", "not run")))
    return 2 if {"gone", "not run"} & set(outcomes) else int("lives" in outcomes)


if __name__ == "__main__":
    sys.exit(main())
