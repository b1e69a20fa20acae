"""`ftensor warm`: compiles kernels before a program needs them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype
from ..errors import commands as errors
from ..rows.catalogue import ENTRIES
from ..runtime import cache
from ..runtime.launch_cache import LaunchTable
from ..runtime.program import batch_source, batches, notice
from ..terminal import complain, counted
from ..toolchain.jobs.progress import Progress, clock, reporter

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.interfaces import KernelSource


SIDE = 256  # of a matrix: long enough for all units, and for vectors side by side


@contextmanager
def noting(backend: Backend) -> Iterator[list[KernelSource]]:
    """Inside the block kernels are noted; nothing is compiled, and no op computes."""
    kept = backend.kernels, backend.launches
    backend.kernels, backend.noted = {}, []
    backend.launches = LaunchTable(backend.synchronize)
    try:
        yield backend.noted
    finally:
        backend.synchronize()
        backend.noted = None
        backend.kernels, backend.launches = kept


def wanted(backend: Backend, ops: Sequence[Callable[..., Any]], dtypes: Sequence[dtype]) -> list[KernelSource]:
    """The programs that these ops ask for, each once."""
    import ftensor as ft

    with noting(backend) as noted, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of calls that nobody made
        for of in dtypes:
            for op in ops:
                for arguments in _operands(ft, of):  # fresh ones: an op may change its operands
                    # A guess that is no call of this op, or whose results would have to be read.
                    with suppress(Exception):
                        op(*arguments)
    return list({program.source: program for program in noted}.values())


def everything() -> list[Callable[..., Any]]:
    """All ops of the catalogue."""
    return [entry.call for entry in ENTRIES.values() if not entry.prop]


def named(name: str) -> Callable[..., Any]:
    """The function or the method of this name; WarmError where there is none."""
    import ftensor as ft

    target: Any = ft
    for part in name.split("."):
        target = getattr(target, part, None) or getattr(ft.Tensor, part, None)
        if target is None:
            raise errors.no_such_op(name, ENTRIES)
    return target


def _operands(ft: Any, of: dtype) -> list[tuple[Any, ...]]:
    """Arguments of calls: whole, transposed, broadcast and sliced matrices, numbers, dims."""
    x, y, z = (ft.empty(SIDE, SIDE, dtype=of) for _ in range(3))
    row, column = x[0], y[:, :1]
    small, index = z[:8, :8].contiguous(), ft.zeros(SIDE, dtype=ft.int64)
    others = [ft.float32, ft.int64, ft.bool]
    return [
        (x,), (x.t(),), (x[:, 1:],), (row,), (x, y), (x, y.t()), (x, row), (x, column),
        (x, row[:1]), (x, 2), (x, 0), (x, 1), (2, x), (x, 0.5), (x, y, z), (x, 0, 1),
        (x > y, x, y), (x, x > y), (x, 0, index), (x, 0, index.expand(SIDE, SIDE)),
        (small, small), (x, row, 1), (x, (0, 1)), ([x, y],), ([x, y], 1),
        *((x, other) for other in others),
    ]  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """The command; the exit status: 0, 1 for what can't be compiled, or the program's own."""
    program = [word for word in arguments.program if word != "--"]
    try:
        if bool(program) + bool(arguments.ops) + arguments.all != 1:
            raise errors.nothing_asked()
        return _run_program(program) if program else _compile_ops(arguments)
    except errors.WarmError as error:
        complain("ftensor warm", error)
        return 1


def _compile_ops(arguments: argparse.Namespace) -> int:
    from .._device import default_backend

    backend = default_backend()
    if backend.images is not None:
        raise errors.takes_images(backend.properties.name)
    programs = _wanted(backend, arguments)
    new = [program for program in programs if not backend.has_built(program)]
    began = time.monotonic()
    failed = compile_all(new, arguments.jobs or processors(), reporter())
    print(
        f"{counted(len(programs), 'kernel')} for {backend.properties.name}: "
        f"{len(programs) - len(new)} were there, {len(new) - failed} compiled in "
        f"{clock(time.monotonic() - began)}" + (f", {failed} failed" if failed else "")
    )
    return 1 if failed else 0


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _wanted(backend: Backend, arguments: argparse.Namespace) -> list[KernelSource]:

    dtypes = [_dtype(name.strip()) for name in arguments.dtypes.split(",")]
    if arguments.all:
        return wanted(backend, everything(), dtypes)
    return wanted(backend, [named(name.strip()) for name in arguments.ops.split(",")], dtypes)


def _dtype(name: str) -> dtype:
    from ..dtypes import FULL

    by_name = {d.name: d for d in FULL}
    if name not in by_name:
        raise errors.no_such_dtype(name, by_name)
    return by_name[name]


def _run_program(program: Sequence[str]) -> int:
    """Run a program as it is: nobody else knows what it asks for."""
    before = _entries()
    status = subprocess.run([sys.executable, *program]).returncode
    compiled = _entries() - before
    print(f"{counted(compiled, 'kernel')} compiled, into {cache.directory()}", file=sys.stderr)
    return status


def _entries() -> int:
    return sum(1 for file in cache.directory().glob("??/*") if not file.name.startswith("."))


def compile_all(programs: Sequence[KernelSource], jobs: int, progress: Progress) -> int:
    """Compile programs into the cache, in processes side by side; how many failed."""
    waiting = sorted(batches(programs), key=len, reverse=True)
    progress.start(len(programs), 0)
    if not waiting:
        return 0
    began, done, failed = time.monotonic(), 0, 0
    # Fresh processes: a runtime that a parent has opened is of no use in a forked child.
    with ProcessPoolExecutor(min(jobs, len(waiting)), get_context("spawn")) as pool:
        running = {pool.submit(_compile, group): group for group in waiting}
        while running:
            ended, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in ended:
                group, lost = running.pop(future), future.result()
                done, failed = done + len(group), failed + len(lost)
                for program in group:
                    result = "failed" if program.entry in lost else "compiled"
                    progress.ended(program.entry, result, 0.0)
            elapsed = time.monotonic() - began
            progress.show((), elapsed / done * (len(programs) - done) if done else None)
    progress.close()
    return failed


def _compile(group: list[KernelSource]) -> list[str]:
    """In a worker: compile a group, or one by one where that fails; the entries that failed."""
    from .._device import default_backend

    notice.said = True  # the progress above says it
    backend, failed = default_backend(), []
    try:
        backend.build_together(batch_source(group), group)
    except RuntimeError:
        for program in group:
            try:
                backend.build(*program)
            except RuntimeError as error:
                print(str(error).partition("--- source ---")[0], file=sys.stderr)
                failed.append(program.entry)
    return failed
