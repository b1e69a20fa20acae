"""Which cases a test of kernels has on the target at hand.

Compiling decides how long these tests take. Intel's CPU runtime has every case for OpenCL C, and C
simulation for HLS C++ has every row and whatever else asks for `both` languages; of other pairs it
has few, since its texts are made of the same parts. The text of a kernel is the same on the others,
so these have fewer: each skeleton, dtype, layout and row, but not all their products. Which ones is
fixed for a target and differs from one to the next. What others would leave out is `long` where all
is run, so that `make test` has the few and `make test-all` the rest. Where nothing here chooses,
`make test-all` has a fifth of a test's cases on the others (`left_out`).
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

from ftensor._device import default_backend

TARGET = default_backend().target.name
ParameterSet = type(pytest.param())
EVERY_PAIR = TARGET == "intel-cpu"
EVERY_CASE = EVERY_PAIR or TARGET == "csim"
SHARE = 5  # of so many cases that nothing here chooses, one runs where not every case does
TURN = zlib.crc32(TARGET.encode())


def pairs(
    first: Sequence[Any],
    second: Sequence[Any],
    fit: Callable[[Any, Any], bool] | None = None,
    soon: Callable[[Any, Any], bool] | None = None,
    both: bool = False,
) -> list[Any]:
    """Those that fit, or each of `first` with one of `second`, which take turns.

    Where all are run, those of `soon` do not wait for `make test-all`. With one of these words C
    simulation has all, too.
    """
    grid = [[(a, b) for b in second if fit is None or fit(a, b)] for a in first]
    cases = []
    for k, row in enumerate(grid):
        for n, pair in enumerate(row):
            few = n == (TURN + k) % len(row)
            now = soon is not None and soon(*pair)
            cases += _kept(pytest.param(*pair), few, now, both or soon is not None)
    return cases


def some(cases: Sequence[Any], share: int, always: bool = False) -> list[Any]:
    """All, or each `share`-th one; where all are run, `always` says that none waits for
    `make test-all`, and C simulation has all, too."""
    chosen = []
    for k, case in enumerate(cases):
        chosen += _kept(case, k % share == TURN % share, always)
    return chosen


def _kept(case: Any, few: bool, always: bool, both: bool = False) -> list[Any]:
    every = EVERY_CASE if always or both else EVERY_PAIR
    if not few and not every:
        return []
    mark = pytest.mark.chosen if few or always else pytest.mark.long
    marked = case if isinstance(case, ParameterSet) else pytest.param(case)
    return [marked._replace(marks=(*marked.marks, mark))]


def left_out(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """What a target runs not that has not every case: of each test four fifths of its cases,
    but none of the core and none that were chosen above.
    """
    tests = defaultdict(list)
    for item in items:
        if not EVERY_CASE and not {"core", "chosen"} & {mark.name for mark in item.iter_markers()}:
            tests[item.nodeid.partition("[")[0]].append(item)
    left = set()
    for cases in tests.values():
        cases.sort(key=lambda item: zlib.crc32(f"{TARGET} {item.nodeid}".encode()))
        left |= set(cases[-(-len(cases) // SHARE) :])
    return left


def draws(count: int) -> settings:
    """As many examples of Hypothesis as it takes, or a quarter of them."""
    return settings(max_examples=count if EVERY_PAIR else -(-count // 4), deadline=None)
