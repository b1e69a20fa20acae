"""The text of an inventory, from the kernels that it is to ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors.build import unreadable
from ...kernels.graph_text import text as graph_text
from ...kernels.inventory_terms import InventoryTerms
from ...kernels.key import Key
from ...kernels.network import NetworkKey
from ...kernels.network_file import text as network_text
from ...kernels.skeletons.feedback import FeedbackKey
from ...kernels.skeletons.feedback import text as feedback_text
from ...kernels.staged import StagedKey

_DTYPES = re.compile(r"dtypes = \[(.*)\]")


def inventory_text(
    kernels: Iterable[InventoryTerms],
    description: str,
    structure: str = "dataflow",
    host: Iterable[InventoryTerms] = (),
) -> str:
    """Returns an inventory of these kernels, each in its layout or in a layout that covers it;
    `structure` is that of its kernels, and `host` are left to the host."""
    # Merge tables that differ only in ops, then tables that differ only in dtypes.
    by_rest: dict[tuple[str, ...], list[str]] = {}
    kernels = list(kernels)
    for kernel in kernels:
        if kernel.lines[0] == "[[graph]]":
            continue
        _, ops, *rest = kernel.lines
        by_rest.setdefault(tuple(rest), []).append(ops.removeprefix("ops = [").removesuffix("]"))
    by_ops: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for lines, names in by_rest.items():
        dtypes = [m[1] for m in map(_DTYPES.match, lines) if m]
        other_lines = tuple(line for line in lines if not _DTYPES.match(line))
        by_ops.setdefault((tuple(dict.fromkeys(names)), other_lines), []).extend(dtypes)
    graphs = [kernel.lines for kernel in kernels if kernel.lines[0] == "[[graph]]"]
    # A program's name may have a line break, which would end the comment.
    description = "".join(c if c.isprintable() else " " for c in description)
    parts = [f"# {description}", f"description = {_quoted(description)}"]
    parts += [f"structure = {_quoted(structure)}"] if structure != "dataflow" else []
    for (dtypes_line, other_lines), dtypes in by_ops.items():
        parts += ["", "[[kernel]]", _list("ops", dtypes_line)]
        parts += [_list("dtypes", list(dict.fromkeys(dtypes)))] if dtypes else []
        parts += other_lines
    for graph in graphs:
        parts += ["", *graph]
    for op, dtypes_of_step, layout in sorted({(step.op, step.signature, step.layout) for step in host}):
        parts += ["", "[[host]]", f"op = {_quoted(op)}", f"dtypes = {_quoted(dtypes_of_step)}"]
        parts += [f"layout = {_quoted(layout)}"]
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


def write_inventory(path: Path, text: str, keys: Iterable[Key]) -> None:
    """Writes an inventory, and the files of the graphs among its kernels. Raises InventoryError for
    a path that can't be written."""
    try:
        path.write_text(text)
        for key in keys:
            if isinstance(key, StagedKey):
                (path.parent / key.file_name).write_text(graph_text(key))
            elif isinstance(key, FeedbackKey):
                (path.parent / key.file_name).write_text(feedback_text(key))
            elif isinstance(key, NetworkKey):
                (path.parent / key.file_name).write_text(network_text(key))
                (path.parent / key.file_name).with_suffix(".weights").write_bytes(key.constants)
    except OSError as error:
        raise unreadable(path, error.strerror or error) from error
