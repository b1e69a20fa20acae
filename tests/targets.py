"""The cases of kernel tests on the current target.

Compile time dominates these tests. Intel's CPU runtime runs every case for OpenCL C. C simulation
runs every row and every case marked `both` for HLS C++, and few of the other pairs, since their
texts have the same parts. The text of a kernel is the same on the other targets, so these run
fewer: each skeleton, dtype, layout and row, but not all their products. The selection is fixed for
a target and differs between targets. On targets with all cases, those left out elsewhere are marked
`long`, so `make test` has few and `make test-all` the rest. For tests without a selection here,
`make test-all` runs a fifth of the cases on the other targets (`left_out`).
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
SHARE = 5  # tests without a selection run one of five cases on targets without every case
TURN = zlib.crc32(TARGET.encode())


def pairs(
    first: Sequence[Any],
    second: Sequence[Any],
    fit: Callable[[Any, Any], bool] | None = None,
    soon: Callable[[Any, Any], bool] | None = None,
    both: bool = False,
) -> list[Any]:
    """Returns the pairs that fit, or each of `first` with one of `second`, in turn.

    On targets with all cases, those of `soon` run in `make test` too. With `both`, C simulation has
    all, too.
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
    """Returns all cases, or each `share`-th one. On targets with all cases, `always` runs them in
    `make test` too, and C simulation has all."""
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
    """Returns the cases that a target leaves out: four fifths of each test's cases, except core
    ones and those selected above."""
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
    """Returns settings with `count` examples of Hypothesis, or a quarter of them."""
    return settings(max_examples=count if EVERY_PAIR else -(-count // 4), deadline=None)
