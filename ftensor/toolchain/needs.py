"""Lists the kernels that a program needs, and those that an image lacks."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors.build import unreadable
from ..errors.commands import no_program
from ..kernels.graph_text import text as graph_text
from ..kernels.network import NetworkKey
from ..kernels.network_file import text as network_text
from ..kernels.staged import StagedKey
from ..python_program import PythonProgram
from ..terminal import counted, table

if TYPE_CHECKING:
    from ..image.manifest import KernelRecord
    from .from_program import KernelNeed


def trace_command(arguments: argparse.Namespace, name: str, kernels: Sequence[KernelRecord]) -> int:
    """Trace the program in `arguments`, and print the kernels that it needs beside `kernels`.

    Returns 1 if an image is named and lacks a kernel, else 0. With `--write`, writes an inventory
    of the needed kernels.
    """
    from . import from_program as trace

    held = {m.entry for kernel in kernels for m in kernel.members}
    units = max((kernel.units for kernel in kernels), default=1)
    # Without an image the device compiles every kernel, so the program always runs.
    os.environ.pop("FTENSOR_IMAGE", None)
    program = _program(arguments)
    # The program's output goes to stderr, apart from the table on stdout.
    needs = trace.needs(program, held if name else None, units, sys.stderr)
    missed = [need for need in needs if need.kernel.entry not in held]
    if arguments.write:
        path = Path(arguments.write)
        text = trace.inventory_text([n.kernel for n in needs], f"what {Path(program.name).name} needs")
        try:
            path.write_text(text)
            for key in (n.key for n in needs):
                if isinstance(key, StagedKey):
                    (path.parent / key.file_name).write_text(graph_text(key))
                elif isinstance(key, NetworkKey):
                    (path.parent / key.file_name).write_text(network_text(key))
                    (path.parent / key.file_name).with_suffix(".weights").write_bytes(key.constants)
        except OSError as error:
            raise unreadable(path, error.strerror or error) from error
        print(f"wrote {path}: build it by ftensor build --inventory {path} --out FOLDER")
    if arguments.json:
        print(json.dumps(_as_json(needs, held), indent=1))
    elif name or not arguments.write:
        print(_report(program.name, name, needs, missed))
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
    from . import from_program as trace

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
    lines = trace.inventory_text([n.kernel for n in missed], "").split("\n", 2)[2].strip()
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
