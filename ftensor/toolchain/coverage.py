"""`ftensor kernels`: lists the ops of an image or inventory, and the kernels that a program needs or an
image lacks; writes an inventory of them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..boards import find
from ..dtypes import FULL
from ..errors.build import InventoryError, no_kernel_of, nothing_to_place, nothing_to_write, unreadable
from ..errors.commands import EstimateError, no_program
from ..errors.graph import GraphError
from ..errors.image import ImageError
from ..graph.partition import DEFAULT_BOARD
from ..kernels.inventory_terms import InventoryTerms
from ..kernels.key import Key
from ..kernels.network import NetworkKey
from ..kernels.skeleton import BoardSkeleton, board_named, board_skeleton_of, layouts
from ..kernels.user_kernels import is_user_kernel
from ..python_program import PythonProgram
from ..terminal import complain, counted, table
from .folding import fold_network
from .inventory.keys import DTYPES_BY_NAME
from .inventory.text import inventory_text, write_inventory

if TYPE_CHECKING:
    from ..image.manifest import KernelRecord
    from .trace import Trace


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

    return _needs_of(run_program(program, units, held, stdout))


def _needs_of(trace: Trace) -> list[KernelNeed]:
    counts: Counter[Key] = Counter()
    for launch, times in trace.launches.items():
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
    if arguments.board:
        from .board_trace import board_command

        return board_command(arguments, program)
    # The program's output goes to stderr, apart from the table on stdout.
    needed = needs(program, held if name else None, units, sys.stderr)
    missed = [need for need in needed if need.kernel.entry not in held]
    if arguments.write:
        path = Path(arguments.write)
        text = inventory_text([n.kernel for n in needed], f"what {Path(program.name).name} needs")
        write_inventory(path, text, [n.key for n in needed])
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
        elif rest[0] in ("--write", "--board") and len(rest) > 1:
            setattr(arguments, rest[0].removeprefix("--"), rest[1])
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
    if arguments.board and (arguments.trace is None or arguments.source):
        raise nothing_to_place()
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
