"""The tables of docs/array-api.md: functions of SciPy and scikit-learn that compute on the device.

`make array-api` runs the calls of tests/array_api_calls.py and writes them.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "array-api.md"
BEGIN = "<!-- made by `make array-api` -->\n"
END = "<!-- end -->\n"
HEAD = "| module | on the device | partly on the host | on the host | refused |\n|---|---|---|---|---|\n"
COMPILED = "SciPy runs compiled code on NumPy arrays, except for arrays of CuPy and JAX"
NO_DISPATCH = "The function has no dispatch according to SciPy's table, and converts its arguments to NumPy arrays"
OWN_NUMPY = "A step within the function calls NumPy or compiled code"
REASONS = (COMPILED, NO_DISPATCH, OWN_NUMPY)
COLUMNS = ("device", "in part", "host", "refused")


def dispatching() -> None:
    """Makes SciPy and scikit-learn ask arrays for their namespace. Call it before importing
    SciPy."""
    assert "scipy" not in sys.modules or os.environ.get("SCIPY_ARRAY_API") == "1"
    os.environ["SCIPY_ARRAY_API"] = "1"
    import sklearn

    sklearn.set_config(array_api_dispatch=True)


def name_of(call: str) -> str:
    """Returns a call's function, without arguments."""
    while "(" in call:
        call = re.sub(r"\([^()]*\)", "", call)
    return call


def mark(module: str, call: str) -> str:
    """Returns SciPy's note on a function's dispatch: the reason why the host computes it."""
    from scipy._lib._array_api import xp_capabilities_table

    if module.startswith("sklearn"):
        return OWN_NUMPY
    function = getattr(importlib.import_module(module), name_of(call).partition(".")[0])
    capabilities = xp_capabilities_table.get(function)
    if capabilities is None or capabilities["out_of_scope"] or capabilities["np_only"]:
        return NO_DISPATCH
    return COMPILED if capabilities["cpu_only"] else OWN_NUMPY


# The error of a function that reads `x.size` as a number.
SIZE = " (`x.size` is torch's method; give it `np.asarray(x)`)"


def text() -> str:
    """Returns the tables, and the reasons for calls on the host and for refusals."""
    dispatching()
    from .array_api_calls import SCIPY, SKLEARN, calls, outcome

    rows: dict[str, dict[str, list[str]]] = {}
    why: dict[str, dict[str, list[str]]] = {reason: {} for reason in REASONS}
    refusals = []
    for module, call in calls(SCIPY) + calls(SKLEARN):
        kind, reason = outcome(module, call)
        assert kind in COLUMNS, (module, call, kind, reason)
        name = f"`{name_of(call)}`"
        names = rows.setdefault(module, {column: [] for column in COLUMNS})[kind]
        if name in names:
            continue
        names.append(name)
        if kind == "refused":
            short = re.sub(r"\s+", " ", reason).replace("|", "/").split(": {<")[0].split(": [<")[0]
            advice = SIZE if "'method'" in short else ""
            short = short.replace("`", "")[:120]
            refusals.append(f"- `{module}.{name_of(call)}`: `{short}`{advice}\n")
        elif kind != "device":
            why[mark(module, call)].setdefault(module, []).append(name)
    lines = [
        f"| {module} | {' | '.join(', '.join(kinds[column]) for column in COLUMNS)} |\n"
        for module, kinds in rows.items()
    ]
    counts = [sum(len(kinds[column]) for kinds in rows.values()) for column in COLUMNS]
    total = (
        f"The table has {sum(counts)} functions: {counts[0]} compute on the device, {counts[1]} partly on "
        f"the host,\n{counts[2]} on the host, {counts[3]} are refused.\n\n"
    )
    reasons = []
    for reason, modules in why.items():
        partial = {m: names for m, names in modules.items() if len(names) < _on_host(rows[m])}
        complete = [module for module in modules if module not in partial]
        reasons.append(f"{reason}:\n\n")
        reasons += [f"- all functions on the host of {', '.join(complete)}\n"] if complete else []
        reasons += [f"- {module}: {', '.join(names)}\n" for module, names in partial.items()]
        reasons.append("\n")
    return (
        total
        + HEAD
        + "".join(lines)
        + "\nReasons why functions compute on the host:\n\n"
        + "".join(reasons)
        + "Refused functions and their errors:\n\n"
        + "".join(refusals)
    )


def _on_host(kinds: dict[str, list[str]]) -> int:
    return len(kinds["in part"]) + len(kinds["host"])


def written(page: str, tables: str) -> str:
    """Returns the page with these tables."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + tables + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), text()))
