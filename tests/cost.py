"""CPU costs of tests: seconds of each test, of its threads and of the processes that it waited for.

    FTENSOR_TESTS_COST=FILE python -m tests.run ...    one line for each test, appended
    python -m tests.cost FILE [DEPTH]                  the sums by file, the most expensive tests

Wall-clock seconds depend on the machine's other load; these hardly do.
"""

from __future__ import annotations

import collections
import os
import resource
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from . import forked


def spent() -> float:
    """Returns the CPU seconds of this process, of processes it waited for, and of programs of
    `forked`."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return forked.seconds() + sum(one.ru_utime + one.ru_stime for one in used)


class Cost:
    """Records the cost of each test in a process, including fixtures that it requested first.
    "start" and "end" are the cost before and after all tests."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.name = os.environ.get("FTENSOR_TESTS_PASS", "tests").replace(" ", "_")
        self.begun = 0.0

    def note(self, what: str, seconds: float) -> None:
        """Writes a whole line, since several processes write."""
        with open(self.file, "a") as file:
            file.write(f"{seconds:.3f} {self.name} {what}\n")

    def pytest_collection_finish(self) -> None:
        """Records imports and collection, of each worker and of the controller."""
        self.begun = spent()
        self.note("start", self.begun)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measures the test with its setup and teardown."""
        before = spent()
        try:
            return (yield)
        finally:
            self.note(item.nodeid, spent() - before)

    def pytest_unconfigure(self) -> None:
        """Records the rest of the process."""
        self.note("all", spent())


def main() -> None:
    """Prints the sums of a file."""
    depth = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    files: collections.Counter[str] = collections.Counter()
    tests: collections.Counter[str] = collections.Counter()
    for line in Path(sys.argv[1]).read_text().splitlines():
        seconds, name, what = line.split(" ", 2)
        files[f"{name} {what.partition('::')[0]}"] += float(seconds)
        if "::" in what:
            tests[f"{name} {what.partition('[')[0]}"] += float(seconds)
    for counted in (files, tests):
        for what, seconds in counted.most_common(depth):
            print(f"{seconds:8.1f} {what}")
        print()


if __name__ == "__main__":
    main()
