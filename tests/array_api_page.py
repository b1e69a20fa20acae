"""The tables of docs/array-api.md: which functions of SciPy and scikit-learn compute on the device.

`make array-api` runs the calls of tests/array_api_calls.py and writes them.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "array-api.md"
BEGIN = "<!-- made by `make array-api` -->\n"
END = "<!-- end -->\n"
HEAD = (
    "| module | on the device | partly on the host | on the host | refused |\n"
    "|---|---|---|---|---|\n"
)
COLUMNS = ("device", "in part", "host", "refused")


def dispatching() -> None:
    """Have SciPy and scikit-learn ask arrays for their namespace; before SciPy is imported."""
    assert "scipy" not in sys.modules or os.environ.get("SCIPY_ARRAY_API") == "1"
    os.environ["SCIPY_ARRAY_API"] = "1"
    import sklearn

    sklearn.set_config(array_api_dispatch=True)


def name_of(call: str) -> str:
    """What a call is shown as: its function, without arguments."""
    while "(" in call:
        call = re.sub(r"\([^()]*\)", "", call)
    return call


def text() -> str:
    """The tables, and the reasons of what is refused."""
    dispatching()
    from .array_api_calls import SCIPY, SKLEARN, calls, outcome

    rows: dict[str, dict[str, list[str]]] = {}
    why = []
    for module, call in calls(SCIPY) + calls(SKLEARN):
        kind, reason = outcome(module, call)
        assert kind in COLUMNS, (module, call, kind, reason)
        names = rows.setdefault(module, {column: [] for column in COLUMNS})[kind]
        names.append(f"`{name_of(call)}`")
        if kind == "refused":
            short = re.sub(r"\s+", " ", reason).replace("|", "/").split(": {<")[0][:120]
            why.append(f"- `{module}.{name_of(call)}`: `{short.replace('`', '')}`\n")
    lines = [
        f"| {module} | {' | '.join(', '.join(kinds[column]) for column in COLUMNS)} |\n"
        for module, kinds in rows.items()
    ]
    counts = [sum(len(kinds[column]) for kinds in rows.values()) for column in COLUMNS]
    total = (
        f"Of {sum(counts)} calls {counts[0]} compute on the device alone, {counts[1]} hand arrays "
        f"to the host and give tensors,\n{counts[2]} give NumPy's arrays, {counts[3]} are "
        "refused.\n\n"
    )
    return total + HEAD + "".join(lines) + "\nWhat refuses, and its words:\n\n" + "".join(why)


def written(page: str, tables: str) -> str:
    """The page with these tables."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + tables + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), text()))
