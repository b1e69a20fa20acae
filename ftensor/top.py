"""`ftensor top program.py`: shows the device time of each op while a program runs."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import commands as errors
from .execute.dispatch import Observer, observed
from .kernels.skeleton import board_named
from .python_program import add_program, given_program
from .terminal import complain, counted, size, table

if TYPE_CHECKING:
    import numpy as np

    from ._tensor import Tensor
    from .execute.launch import Launch
    from .runtime.backend import Backend
    from .runtime.pool import Storage
    from .runtime.stream import DeviceStream

EVERY = 0.5  # seconds between two updates
CLEAR, HOME = "\x1b[J", "\x1b[H"
OTHER_SCREEN, OWN_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


@dataclass
class OpTotals:
    """Totals of an op so far; `nbytes` counts the operands."""

    launches: int = 0
    seconds: float = 0.0
    nbytes: int = 0


@dataclass
class Counts(Observer):
    """Observer that sums up launches and copies; with `wait`, waits for each launch to time it."""

    wait: bool = True
    began: float = field(default_factory=time.perf_counter)
    rows: dict[str, OpTotals] = field(default_factory=dict)

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Any) -> None:
        """Times a launch; with `wait`, until it is done."""
        begin = time.perf_counter()
        super().launch(launch, stream, tensors, scalars)
        if self.wait:
            stream.synchronize()
        self._note(title(launch), time.perf_counter() - begin, sum(t.nbytes for t in tensors))

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        begin = time.perf_counter()
        super().upload(storage, byte_offset, array)
        self._note("(to the device)", time.perf_counter() - begin, array.nbytes)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        begin = time.perf_counter()
        super().download(storage, byte_offset, array)
        self._note("(to the host)", time.perf_counter() - begin, array.nbytes)

    def _note(self, name: str, seconds: float, nbytes: int) -> None:
        row = self.rows.setdefault(name, OpTotals())
        row.launches += 1
        row.seconds += seconds
        row.nbytes += nbytes


def title(launch: Launch) -> str:
    """Returns the name of the op of a launch's last kernel, which computes the result."""
    key = launch.steps[-1].key
    skeleton = board_named(key.skeleton)
    return key.skeleton if skeleton is None else skeleton.title(key)


def picture(counts: Counts, backend: Backend, most: int) -> str:
    """Returns the table of the totals: at most `most` ops, by descending time."""
    now = time.perf_counter() - counts.began
    rows = sorted(counts.rows.items(), key=lambda item: -item[1].seconds)
    busy = sum(row.seconds for _, row in rows)
    launched = sum(row.launches for _, row in rows)
    pool = backend.pool
    how = "waited for each" if counts.wait else "not waited for: times are the host's"
    lines = [
        f"{backend.properties.name}: {now:.1f} s, device {busy / now:.0%}, "
        f"{counted(launched, 'launch')} ({how}), memory {size(pool.allocated)}",
        "",
    ]
    cells: list[tuple[object, ...]] = [("op", "launches", "ms", "share", "us each", "GB/s")]
    for name, row in rows[:most]:
        cells.append(
            (
                name,
                row.launches,
                round(row.seconds * 1e3, 2),
                f"{row.seconds / (busy or 1):.0%}",
                round(row.seconds / row.launches * 1e6, 1),
                round(row.nbytes / max(row.seconds, 1e-9) / 1e9, 2),
            )
        )
    lines.append(table(cells, indent=""))
    if len(rows) > most:
        lines.append(f"... and {counted(len(rows) - most, 'more op')}")
    return "\n".join(lines)


def as_json(counts: Counts, backend: Backend) -> dict[str, Any]:
    """Returns the totals as a record: device, seconds, and the ops by descending time."""
    rows = sorted(counts.rows.items(), key=lambda item: -item[1].seconds)
    return {
        "device": backend.properties.name,
        "seconds": time.perf_counter() - counts.began,
        "waited": counts.wait,
        "memory": backend.pool.allocated,
        "ops": [
            {"op": name, "launches": row.launches, "seconds": row.seconds, "bytes": row.nbytes} for name, row in rows
        ],
    }


@contextlib.contextmanager
def shown(counts: Counts, backend: Backend) -> Iterator[None]:
    """Context manager that shows the table on a terminal, updated twice a second.

    Shows the last four lines of the program's output below the table, and the whole output at the
    end. Does nothing if standard output is not a terminal.
    """
    if not sys.stdout.isatty():
        yield
        return
    terminal, said, done = sys.stdout, io.StringIO(), threading.Event()

    def paint() -> None:
        while not done.wait(EVERY):
            width, height = shutil.get_terminal_size()
            lines = picture(counts, backend, height - 10).splitlines()
            lines += ["", *said.getvalue().splitlines()[-4:]]
            cut = "\n".join(line[:width] for line in lines)
            terminal.write(f"{HOME}{CLEAR}{cut}")
            terminal.flush()

    painter = threading.Thread(target=paint, daemon=True)
    terminal.write(OTHER_SCREEN)
    painter.start()
    try:
        with contextlib.redirect_stdout(said):
            yield
    finally:
        done.set()
        painter.join()
        terminal.write(OWN_SCREEN + said.getvalue())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to a parser."""
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="let launches run ahead, as they do without this command: times are the host's own",
    )
    parser.add_argument("--rows", type=int, default=20, help="ops in the table (default: 20)")
    parser.add_argument("--json", action="store_true", help="the table as JSON, all ops")
    add_program(parser)


def command(arguments: argparse.Namespace) -> int:
    """Runs the program, shows the table, and returns the program's status (1 for an exception)."""
    from ._device import default_backend

    try:
        program = given_program(arguments)
        if program is None:
            raise errors.program_missing("ftensor top [options]")
        program.check()
    except errors.EstimateError as error:
        complain("ftensor top", error)
        return 1
    backend = default_backend()
    counts = Counts(wait=not arguments.no_wait)
    # With --json the program's output goes to stderr, apart from the record on stdout.
    output = contextlib.redirect_stdout(sys.stderr) if arguments.json else shown(counts, backend)
    with observed(backend, counts), output:
        status = program.run()
    print(
        json.dumps(as_json(counts, backend), indent=2) if arguments.json else picture(counts, backend, arguments.rows)
    )
    return status
