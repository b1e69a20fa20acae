"""Lists the kernels that a program needs, and writes an inventory of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..boards import find
from ..errors.graph import GraphError
from ..graph.partition import DEFAULT_BOARD
from ..kernels.inventory_terms import InventoryTerms
from ..kernels.key import Key
from ..kernels.network import NetworkKey
from ..kernels.skeleton import board_skeleton_of
from ..kernels.user_kernels import is_user_kernel
from ..python_program import PythonProgram
from .folding import fold_network

_DTYPES = re.compile(r"dtypes = \[(.*)\]")


@dataclass(frozen=True)
class KernelNeed:
    """A kernel that a program needs, and its number of launches."""

    kernel: InventoryTerms
    launches: int
    key: Key


def needs(
    program: PythonProgram, held: Container[str] | None = None, units: int = 1, stdout: Any = None
) -> list[KernelNeed]:
    """Runs a program on this machine, and returns the kernels that it needs, most launched first.

    With `held`, the entries of an image, the program prefers the layouts of the image. Raises
    EstimateError for a program that can't be read or that fails.
    """
    from .trace import run_program

    counts: Counter[Key] = Counter()
    for launch, times in run_program(program, units, held, stdout).launches.items():
        if not is_user_kernel(launch.key):  # inventories hold no user kernels
            counts[_folded(launch.key)] += times
    return [KernelNeed(board_skeleton_of(key).in_words(key), times, key) for key, times in counts.most_common()]


def _folded(key: Key) -> Key:
    """Returns a network with folds for the default board of `export`; other keys, and networks that
    do not fit it, as they are."""
    if not isinstance(key, NetworkKey):
        return key
    try:
        return fold_network(key, find(DEFAULT_BOARD)).key
    except GraphError:
        return key


def inventory_text(kernels: Iterable[InventoryTerms], description: str) -> str:
    """Returns an inventory of these kernels, each in its layout or in a layout that covers it."""
    # Merge tables that differ only in ops, then tables that differ only in dtypes.
    by_rest: dict[tuple[str, ...], list[str]] = {}
    kernels = list(kernels)
    for kernel in kernels:
        if kernel.lines[0] == "[[graph]]":
            continue
        _, ops, *rest = kernel.lines
        by_rest.setdefault(tuple(rest), []).append(ops.removeprefix("ops = [").removesuffix("]"))
    by_ops: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for table, names in by_rest.items():
        dtypes = [m[1] for m in map(_DTYPES.match, table) if m]
        other_lines = tuple(line for line in table if not _DTYPES.match(line))
        by_ops.setdefault((tuple(dict.fromkeys(names)), other_lines), []).extend(dtypes)
    graphs = [kernel.lines for kernel in kernels if kernel.lines[0] == "[[graph]]"]
    # A program's name may have a line break, which would end the comment.
    description = "".join(c if c.isprintable() else " " for c in description)
    parts = [f"# {description}", f"description = {_quoted(description)}"]
    for (dtypes_line, other_lines), dtypes in by_ops.items():
        parts += ["", "[[kernel]]", _list("ops", dtypes_line)]
        parts += [_list("dtypes", list(dict.fromkeys(dtypes)))] if dtypes else []
        parts += other_lines
    for lines in graphs:
        parts += ["", *lines]
    return "\n".join(parts) + "\n"


def _list(key: str, words: Sequence[str]) -> str:
    """Returns a setting that is a list of quoted words, within 100 columns."""
    line = f"{key} = [{', '.join(words)}]"
    if len(line) <= 100:
        return line
    lines, current = [f"{key} = ["], "   "
    for word in words:
        if len(current) + len(word) > 97:
            lines.append(current)
            current = "   "
        current += f" {word},"
    return "\n".join([*lines, current, "]"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
