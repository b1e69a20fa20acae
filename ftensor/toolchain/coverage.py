"""`ftensor kernels`: lists the ops of an image or inventory, and the kernels that a program
lacks."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dtypes import FULL
from ..errors.build import InventoryError, no_kernel_of, nothing_to_write, unreadable
from ..errors.commands import EstimateError
from ..errors.image import ImageError
from ..kernels.skeleton import BoardSkeleton, board_named, layouts
from ..terminal import complain, counted, table
from .inventory.keys import DTYPES_BY_NAME
from .needs import trace_command

if TYPE_CHECKING:
    from ..image.manifest import KernelRecord

# Letters besides those of the layouts: numbers by value, and layouts without a word.
NUMBER, OTHER = "n", "+"


def legend() -> str:
    """Returns the line that explains the letters in the coverage matrix."""
    meanings = [f"{layout.letter} {layout.meaning}" for layout in layouts()]
    entries = [*meanings, f"{NUMBER} also with numbers by value", f"{OTHER} one more layout (--op says which)"]
    unbreakable = [text.replace(" ", "\N{NO-BREAK SPACE}") for text in entries]
    return textwrap.fill("  ".join(unbreakable), 100).replace("\N{NO-BREAK SPACE}", " ")


@dataclass(frozen=True)
class CoverageRow:
    """A member of a kernel, as `ftensor kernels` lists it."""

    op: str
    outs: tuple[str, ...]
    ins: tuple[str, ...]
    compute: str
    layout: str
    lanes: int
    kernel: str
    opcode: int
    units: int
    entry: str
    params: tuple[str, ...]

    @property
    def spelled(self) -> str:
        """The op in the spelling of inventories, with its parameters: "add", "add(alpha)"."""
        return f"{self.op}({', '.join(self.params)})" if self.params else self.op

    @property
    def signature(self) -> str:
        """The dtypes in the spelling of inventories."""
        text = f"{', '.join(self.outs)}({', '.join(self.ins)})"
        first = next((d for d in self.ins if d != "number"), (*self.outs, "")[0])
        usual = DTYPES_BY_NAME[first].compute.name if first in DTYPES_BY_NAME else self.compute
        return text if self.compute == usual else f"{text} in {self.compute}"

    @property
    def letters(self) -> str:
        """The letters of a cell in the coverage matrix: one for the layout, and `NUMBER` if an
        input is a scalar argument."""
        letters = {layout.word: layout.letter for layout in layouts()}
        return letters.get(self.layout, OTHER) + (NUMBER if "number" in self.ins else "")


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor kernels`; returns the exit status.

    The status is 0; 1 for an unreadable file or missing kernels; or the status of a traced program
    that failed.
    """
    try:
        return _command(arguments)
    except (ImageError, InventoryError, EstimateError) as problem:
        complain("ftensor kernels", problem)
        return getattr(problem, "status", 1)
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _command(arguments: argparse.Namespace) -> int:
    if arguments.write and arguments.trace is None:
        raise nothing_to_write()
    sources = [arguments.source] if arguments.source else loaded()
    if not sources and arguments.trace is None:
        print(_builtin_inventories())
        return 0
    kernels = [kernel for source in sources for kernel in records(source)]
    if arguments.trace is not None:
        return trace_command(arguments, " + ".join(map(str, sources)), kernels)
    rows = [row for kernel in kernels for row in members(kernel)]
    if arguments.op:
        ops = {row.op for row in rows}
        rows = [row for row in rows if arguments.op in (row.op, row.spelled)]
        if not rows:
            raise no_kernel_of(arguments.op, ops)
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    elif arguments.op:
        print(details(rows))
    else:
        print(matrix(rows))
        units = sum(kernel.units for kernel in kernels)
        print(
            f"\n{counted(len(rows), 'kernel')} of ops in {counted(len(kernels), 'kernel')}, "
            f"{counted(units, 'compute unit')}"
        )
        print(legend())
    return 0


def loaded() -> list[str]:
    """Returns the images in FTENSOR_IMAGE."""
    return [name for name in os.environ.get("FTENSOR_IMAGE", "").split(os.pathsep) if name]


def records(source: str) -> tuple[KernelRecord, ...]:
    """Returns the kernels of an image file, a build folder, a manifest or an inventory."""
    path = Path(source)
    if path.suffix == ".json":
        from ..image.manifest import Manifest

        try:
            return Manifest.read(path).kernels
        except OSError as error:
            raise unreadable(path, error.strerror or error) from error
    if os.path.isdir(path) or path.suffix in (".xclbin", ".aocx"):
        from ..image.file import locate, read

        manifest_path = path / "manifest.json" if os.path.isdir(path) else path.with_name("manifest.json")
        if locate(path).suffix == ".aocx":
            return records(str(manifest_path))
        return read(path).manifest.kernels
    from .group import manifest_record
    from .inventory import read as inventory

    return tuple(manifest_record(group, "") for group in inventory.expand(inventory.read(source)))


def members(kernel: KernelRecord) -> Iterable[CoverageRow]:
    """Yields a row for each opcode of a kernel."""
    for m in kernel.members:
        if m.part:
            continue
        read, skeleton = m.kinds[len(m.outs) :], _skeleton_of(kernel, m.op)
        op = m.op if skeleton is None else skeleton.op(m.op)
        ins = tuple("number" if kind == "k" else d for d, kind in zip(m.ins, read)) or m.ins
        yield CoverageRow(
            op,
            m.outs,
            ins,
            m.compute,
            layout_of(kernel, m.kinds, len(m.outs)),
            kernel.lanes,
            kernel.name,
            m.opcode,
            kernel.units,
            m.entry,
            m.params,
        )


def _skeleton_of(kernel: KernelRecord, op: str) -> BoardSkeleton[Any] | None:
    """Returns the skeleton of a member; a kernel's manifest entry names only its first skeleton."""
    kernel_skeleton, op_skeleton = board_named(kernel.skeleton), board_named(op)
    return (
        op_skeleton
        if kernel_skeleton and op_skeleton and op_skeleton.together and op_skeleton.together == kernel_skeleton.together
        else kernel_skeleton
    )


def layout_of(kernel: KernelRecord, kinds: str, outs: int) -> str:
    """Returns the word of a member's layout, or the full layout if it has no word."""
    skeleton = board_named(kernel.skeleton)
    if skeleton is None:
        return f"{kernel.skeleton} {kinds}"
    return skeleton.layout(kinds, outs)


def matrix(members: Sequence[CoverageRow]) -> str:
    """Returns a table with a row for each op, a column for each dtype, and letters for the
    layouts."""
    cells: dict[tuple[str, str], str] = {}
    for one in members:
        key = (one.op, column(one))
        cells[key] = cells.get(key, "") + one.letters
    used = [d.name for d in FULL if any(name == d.name for _, name in cells)]
    rows: list[list[str]] = [["op", *used]]
    for op in sorted({op for op, _ in cells}):
        row = [_in_order(cells.get((op, name), "")) for name in used]
        rows.append([op, *row])
    return table(rows, indent="")


def column(one: CoverageRow) -> str:
    """Returns the dtype of a member's column in the matrix: that of its first input in memory."""
    return next((d for d in one.ins if d != "number"), (*one.outs, one.compute)[0])


def _in_order(letters: str) -> str:
    letter_order = [*(layout.letter for layout in layouts()), NUMBER, OTHER]
    return "".join(letter for letter in letter_order if letter in letters)


def details(members: Sequence[CoverageRow]) -> str:
    """Returns a table with a line for each member."""
    head = ("op", "dtypes", "layout", "lanes", "kernel", "opcode", "units")
    lines = [(m.spelled, m.signature, m.layout, m.lanes, m.kernel, m.opcode, m.units) for m in members]
    return table([head, *lines], indent="")


def _builtin_inventories() -> str:
    """Returns a table of the inventories that come with ftensor."""
    from .inventory import read as inventory

    rows: list[tuple[object, ...]] = [("inventory", "kernels", "units", "ops' kernels", "holds")]
    for name in inventory.builtin_inventories():
        entry = inventory.read(name)
        groups = inventory.expand(entry)
        count = sum(len(g.members) for g in groups)
        rows.append((name, len(groups), sum(g.units for g in groups), count, entry.description))
    return table(rows, indent="") + (
        "\n\nftensor kernels NAME shows what one of these holds, ftensor kernels FILE an image or an inventory of yours"
    )
