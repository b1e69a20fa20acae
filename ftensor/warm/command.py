"""`ftensor warm`: compiles kernels before a program needs them."""

from __future__ import annotations

import argparse
import json
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

from .. import logs
from ..dtypes import dtype
from ..errors import commands as errors
from ..python_program import PythonProgram, given_program
from ..rows.catalogue import ENTRIES
from ..runtime import cache
from ..runtime.launch_cache import LaunchTable, batch_source, batches, notice
from ..terminal import complain, counted, note
from ..toolchain.jobs.progress import Progress, clock, reporter

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.interfaces import KernelSource


SIDE = 256  # size of test matrices: enough for all compute units and for vectorized variants


@contextmanager
def noting(backend: Backend) -> Iterator[list[KernelSource]]:
    """Context manager: ops record the kernels they need, but compile and compute nothing."""
    kept = backend.kernels, backend.launches
    backend.kernels, backend.noted = {}, []
    backend.launches = LaunchTable(backend.synchronize)
    try:
        yield backend.noted
    finally:
        backend.synchronize()
        backend.noted = None
        backend.kernels, backend.launches = kept


def programs_for(backend: Backend, ops: Sequence[Callable[..., Any]], dtypes: Sequence[dtype]) -> list[KernelSource]:
    """Returns the distinct programs that `ops` need for operands of `dtypes`."""
    import ftensor as ft

    with noting(backend) as noted, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user did not make these calls
        for dtype in dtypes:
            for op in ops:
                for arguments in _operands(ft, dtype):  # new operands: an op may change these
                    # The arguments may not fit this op, or the op may have to read values.
                    with suppress(Exception):
                        op(*arguments)
    return list({program.source: program for program in noted}.values())


def everything() -> list[Callable[..., Any]]:
    """Returns all ops of the catalogue except properties."""
    return [entry.call for entry in ENTRIES.values() if not entry.prop]


def named(name: str) -> Callable[..., Any]:
    """Returns the function or method of a dotted name; raises WarmError if there is none."""
    import ftensor as ft

    target: Any = ft
    for part in name.split("."):
        target = getattr(target, part, None) or getattr(ft.Tensor, part, None)
        if target is None:
            raise errors.no_such_op(name, ENTRIES)
    return target


def _operands(ft: Any, dtype: dtype) -> list[tuple[Any, ...]]:
    """Returns arguments to try: matrices that are contiguous, transposed, broadcast or sliced;
    numbers; dims."""
    x, y, z = (ft.empty(SIDE, SIDE, dtype=dtype) for _ in range(3))
    row, column = x[0], y[:, :1]
    small, index = z[:8, :8].contiguous(), ft.zeros(SIDE, dtype=ft.int64)
    others = [ft.float32, ft.int64, ft.bool]
    return [
        (x,), (x.t(),), (x[:, 1:],), (row,), (x, y), (x, y.t()), (x, row), (x, column),
        (x, row[:1]), (x, 2), (x, 0), (x, 1), (2, x), (x, 0.5), (x, y, z), (x, 0, 1),
        (x > y, x, y), (x, x > y), (x, 0, index), (x, 0, index.expand(SIDE, SIDE)),
        (small, small), (x, row, 1), (x, (0, 1)), ([x, y],), ([x, y], 1),
        *((x, second) for second in others),
    ]  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns the exit status.

    That is 0, 1 if a kernel can't be compiled, or the status of the user's program.
    """
    program = given_program(arguments)
    try:
        if (program is not None) + bool(arguments.ops) + arguments.all != 1:
            raise errors.nothing_asked()
        return _compile_ops(arguments) if program is None else _run_program(program, arguments.json)
    except (errors.EstimateError, errors.WarmError) as error:
        complain("ftensor warm", error)
        return 1


def _compile_ops(arguments: argparse.Namespace) -> int:
    from .._device import default_backend

    dtypes = [_dtype(name.strip()) for name in arguments.dtypes.split(",")]
    ops = everything() if arguments.all else [named(name.strip()) for name in arguments.ops.split(",")]
    backend = default_backend()
    if backend.images is not None:
        raise errors.takes_images(backend.properties.name)
    programs = programs_for(backend, ops, dtypes)
    new = [program for program in programs if not backend.has_built(program)]
    began = time.monotonic()
    failed = compile_all(new, arguments.jobs or processors(), reporter())
    if arguments.json:
        record = {"device": backend.properties.name, "kernels": len(programs), "cached": len(programs) - len(new)}
        record |= {"compiled": len(new) - failed, "failed": failed, "seconds": time.monotonic() - began}
        print(json.dumps(record, indent=2))
        return int(failed > 0)
    if logs.is_quiet():
        return 1 if failed else 0
    print(
        f"{counted(len(programs), 'kernel')} for {backend.properties.name}: "
        f"{len(programs) - len(new)} were there, {len(new) - failed} compiled in "
        f"{clock(time.monotonic() - began)}" + (f", {failed} failed" if failed else "")
    )
    return 1 if failed else 0


def processors() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _dtype(name: str) -> dtype:
    from ..dtypes import FULL

    by_name = {d.name: d for d in FULL}
    if name not in by_name:
        raise errors.no_such_dtype(name, by_name)
    return by_name[name]


def _run_program(program: PythonProgram, as_json: bool) -> int:
    """Runs the user's program, which compiles the kernels it needs; returns its exit status, 128 + n
    if signal n ended it.

    With `as_json`, the program's output goes to standard error, apart from the record.
    """
    program.check()
    before = _entries()
    sys.stdout.flush()
    status = subprocess.run(program.command(), stdout=sys.stderr if as_json else None).returncode
    status = 128 - status if status < 0 else status
    compiled = _entries() - before
    if as_json:
        print(json.dumps({"compiled": compiled, "cache": str(cache.directory()), "status": status}, indent=2))
        return status
    note(f"{counted(compiled, 'kernel')} compiled, into {cache.directory()}")
    return status


def _entries() -> int:
    return sum(1 for file in cache.directory().glob("??/*") if not file.name.startswith("."))


def compile_all(programs: Sequence[KernelSource], jobs: int, progress: Progress) -> int:
    """Compiles programs into the cache in parallel processes; returns the number of failures."""
    waiting = sorted(batches(programs), key=len, reverse=True)
    progress.start(len(programs), 0)
    if not waiting:
        return 0
    began, done, failed = time.monotonic(), 0, 0
    # spawn, not fork: a forked child can't use an OpenCL runtime that its parent has opened.
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
    """Compiles a group in a worker process, or one by one if the group fails.

    Returns the entries that failed.
    """
    from .._device import default_backend

    notice.is_printed = True  # no notice of compilation: the progress line shows it
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
