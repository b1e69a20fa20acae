"""The table of docs/numpy.md: NumPy's functions that compute on the device.

`make numpy` runs the calls of tests/numpy_calls.py and writes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .numpy_calls import FUNCTIONS, UFUNCS, calls, name_of, on_device

PAGE = Path(__file__).resolve().parent.parent / "docs" / "numpy.md"
BEGIN = "<!-- made by `make numpy` -->\n"
END = "<!-- end -->\n"
HEAD = "| functions | on the device | on the host with these arguments | on the host |\n|---|---|---|---|\n"
TITLES = {"one": "ufuncs of one", "two": "ufuncs of two", "methods": "methods of ufuncs"}


def kinds() -> dict[str, list[tuple[str, str]]]:
    """Returns (call, where it is computed) of every call that NumPy accepts, by heading."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for head, call in (*calls(UFUNCS), *calls(FUNCTIONS)):
        kind, why = on_device(call)
        assert kind in ("device", "host"), (call, kind, why)
        sections.setdefault(TITLES.get(head, head), []).append((call, kind))
    return sections


def _names(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in dict.fromkeys(words))


def text(sections: dict[str, list[tuple[str, str]]]) -> str:
    """Returns the table."""
    lines, counts = [], [0, 0, 0]
    for head, row in sections.items():
        by = {name_of(call): {k for c, k in row if name_of(c) == name_of(call)} for call, _ in row}
        groups: list[list[str]] = [
            [n for n, k in by.items() if k == {"device"}],
            [c for c, k in row if k == "host" and len(by[name_of(c)]) == 2],
            [n for n, k in by.items() if k == {"host"}],
        ]
        sizes = (len(groups[0]), sum(len(k) == 2 for k in by.values()), len(groups[2]))
        counts = [a + b for a, b in zip(counts, sizes)]
        lines.append(f"| {head} | {' | '.join(_names(words) for words in groups)} |\n")
    total = (
        f"The table has {sum(counts)} functions: {counts[0]} compute on the device, {counts[1]} on the "
        f"device except for some\narguments, and {counts[2]} on the host.\n\n"
    )
    return total + HEAD + "".join(lines)


def written(page: str, table: str) -> str:
    """Returns the page with this table."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), text(kinds())))
