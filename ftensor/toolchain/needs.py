"""Lists the kernels that a program needs and those that an image lacks; writes an inventory of them."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..boards import find
from ..errors.build import unreadable
from ..errors.commands import no_program
from ..errors.graph import GraphError
from ..graph.partition import DEFAULT_BOARD
from ..kernels.graph_text import text as graph_text
from ..kernels.inventory_terms import InventoryTerms
from ..kernels.key import Key
from ..kernels.network import NetworkKey
from ..kernels.network_file import text as network_text
from ..kernels.skeleton import board_skeleton_of
from ..kernels.staged import StagedKey
from ..kernels.user_kernels import is_user_kernel
from ..python_program import PythonProgram
from ..terminal import counted, table
from .folding import fold_network

if TYPE_CHECKING:
    from ..image.manifest import KernelRecord

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
    """Runs a program on this machine, and returns the kernels that it needs, the most launched
    first.

    With `held`, the entries of an image, the program prefers the layouts of that image. Raises
    EstimateError for a program that can't be read or that fails.
    """
    from .trace import run_program

    counts: Counter[Key] = Counter()
    for launch, times in run_program(program, units, held, stdout).launches.items():
        if not is_user_kernel(launch.key):  # inventories hold no user kernels
            counts[_folded(launch.key)] += times
    return [KernelNeed(board_skeleton_of(key).in_words(key), times, key) for key, times in counts.most_common()]


def _folded(key: Key) -> Key:
    """Returns a network with folds for the default board of `export`. Other keys, and networks that
    do not fit that board, are unchanged."""
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
    for lines, names in by_rest.items():
        dtypes = [m[1] for m in map(_DTYPES.match, lines) if m]
        other_lines = tuple(line for line in lines if not _DTYPES.match(line))
        by_ops.setdefault((tuple(dict.fromkeys(names)), other_lines), []).extend(dtypes)
    graphs = [kernel.lines for kernel in kernels if kernel.lines[0] == "[[graph]]"]
    # A program's name may have a line break, which would end the comment.
    description = "".join(c if c.isprintable() else " " for c in description)
    parts = [f"# {description}", f"description = {_quoted(description)}"]
    for (dtypes_line, other_lines), dtypes in by_ops.items():
        parts += ["", "[[kernel]]", _list("ops", dtypes_line)]
        parts += [_list("dtypes", list(dict.fromkeys(dtypes)))] if dtypes else []
        parts += other_lines
    for graph in graphs:
        parts += ["", *graph]
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


def trace_command(arguments: argparse.Namespace, name: str, kernels: Sequence[KernelRecord]) -> int:
    """Traces the program in `arguments`, and prints the kernels that it needs and those of them
    that `kernels` lacks.

    Returns 1 if an image is named and lacks a kernel, else 0. With `--write`, writes an inventory
    of the needed kernels.
    """
    held = {m.entry for kernel in kernels for m in kernel.members}
    units = max((kernel.units for kernel in kernels), default=1)
    # Without an image the device compiles every kernel, so the program always runs.
    os.environ.pop("FTENSOR_IMAGE", None)
    program = _program(arguments)
    # The program's output goes to stderr, apart from the table on stdout.
    needed = needs(program, held if name else None, units, sys.stderr)
    missed = [need for need in needed if need.kernel.entry not in held]
    if arguments.write:
        path = Path(arguments.write)
        text = inventory_text([n.kernel for n in needed], f"what {Path(program.name).name} needs")
        try:
            path.write_text(text)
            for key in (n.key for n in needed):
                if isinstance(key, StagedKey):
                    (path.parent / key.file_name).write_text(graph_text(key))
                elif isinstance(key, NetworkKey):
                    (path.parent / key.file_name).write_text(network_text(key))
                    (path.parent / key.file_name).with_suffix(".weights").write_bytes(key.constants)
        except OSError as error:
            raise unreadable(path, error.strerror or error) from error
        print(f"wrote {path}: build it by ftensor build --inventory {path} --out FOLDER")
    if arguments.json:
        print(json.dumps(_as_json(needed, held), indent=1))
    elif name or not arguments.write:
        print(_report(program.name, name, needed, missed))
    return int(bool(missed and name))


def _program(arguments: argparse.Namespace) -> PythonProgram:
    """Returns the program to trace; this command's own options may follow its name."""
    if not arguments.trace:
        raise no_program("--trace", "which program")
    named = 2 if arguments.trace[0] in ("-m", "-c") else 1
    program, rest = arguments.trace[:named], arguments.trace[named:]
    while rest:
        if rest[0] == "--json":
            arguments.json = True
            del rest[0]
        elif rest[0] == "--write" and len(rest) > 1:
            arguments.write = rest[1]
            del rest[:2]
        else:
            break
    return PythonProgram((*program, *(rest[1:] if rest[:1] == ["--"] else rest)))


def _report(program: str, name: str, needs: Sequence[KernelNeed], missed: Sequence[KernelNeed]) -> str:
    launches = sum(need.launches for need in needs)
    shown = missed if name else needs
    head = ("op", "dtypes", "layout", "launches")
    rows = [(n.kernel.op, n.kernel.signature, n.kernel.layout, n.launches) for n in shown]
    summary = f"{program} asks for {counted(len(needs), 'kernel')} at {counted(launches, 'launch')}"
    if not name:
        return f"{summary}\n\n{table([head, *rows])}"
    if not missed:
        return f"{summary}; {name} has them all"
    count = sum(need.launches for need in missed)
    lines = inventory_text([n.kernel for n in missed], "").split("\n", 2)[2].strip()
    return (
        f"{summary}; {name} lacks {len(missed)} of them, at {counted(count, 'launch')}\n\n"
        f"{table([head, *rows])}\n\nLines that add them to an inventory:\n\n{lines}"
    )


def _as_json(needs: Sequence[KernelNeed], held: set[str]) -> list[dict[str, Any]]:
    return [
        {
            "op": n.kernel.op,
            "dtypes": n.kernel.signature,
            "layout": n.kernel.layout,
            "entry": n.kernel.entry,
            "launches": n.launches,
            "held": n.kernel.entry in held,
            "lines": list(n.kernel.lines),
        }
        for n in needs
    ]
