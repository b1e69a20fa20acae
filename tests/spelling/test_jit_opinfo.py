"""torch's op database, jitted: eager's bits, or a listed GraphError."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch's op database is what runs here")
pytest.importorskip("expecttest", reason="torch's op database needs it")

import ftensor as ft

from ..jitted import Case, cases, differences, left_out
from .test_opinfo import in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning")]

# What no graph computes: an entry of the database, and why.
REFUSED = dict(
    line.split(": ", 1)
    for line in (Path(__file__).parent / "jit_refused.txt").read_text().splitlines()
    if line and line[0] != "#"
)
CASES = [case for case in cases() if not left_out(case)]
ENTRIES = groupby(sorted(CASES, key=lambda case: case.entry), lambda case: case.entry)
# An entry runs in one of its dtypes, which take turns; each seventeenth entry is in every run.
PARAMS = [
    pytest.param(case, id=str(case), marks=[pytest.mark.long] if k % 17 else [])
    for k, (_, entries) in enumerate(ENTRIES)
    for case in in_turn(list(entries), k)
]


@pytest.mark.parametrize("case", PARAMS)
def test_as_eager(case: Case) -> None:
    """The first samples, called twice: results and arguments have eager's bits."""
    ft.set_fallback("silent")
    lines = list(differences(case, 3))
    refused = [line for line in lines if line.startswith("GraphError")]
    if case.entry in REFUSED:
        assert lines == refused
    else:
        assert lines == []


def test_the_list_is_short() -> None:
    """Few entries can't be traced, and all of them are in the database."""
    assert REFUSED.keys() <= {case.entry for case in CASES}
    assert len([entry for entry in REFUSED if not entry.partition(".")[0].endswith("_")]) <= 75
