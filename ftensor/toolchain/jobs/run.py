"""Runs compilers in parallel, the longest jobs first; a later run resumes an interrupted one."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors.build import folder_in_use, no_compiler_program
from .progress import Progress
from .workspace import Job, State


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Delays SIGINT and SIGTERM, so that every started process is recorded before a handler
    runs."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda number, frame: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in came:
            signal.raise_signal(one)


def end(process: int, number: signal.Signals) -> None:
    """Sends a terminating signal to a process and all its descendants.

    Stops the processes first, so that none can start another process unnoticed.
    """
    stopped: list[int] = []
    while new := [p for p in (process, *descendants(process)) if p not in stopped]:
        _send(new, signal.SIGSTOP)
        stopped += new
    _send(stopped, number)
    _send(stopped, signal.SIGCONT)


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def descendants(parent: int) -> list[int]:
    """Returns the descendants of a process from /proc; empty without /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    below, new = [], [parent]
    while new:
        new = [child for process in new for child in children.get(process, [])]
        below += new
    return below


if os.name == "posix":
    import fcntl

POLL = 0.02  # seconds between checks of the running compilers
GRACE = 5.0  # seconds that a compiler has to end after SIGTERM
LOCK_PATIENCE = 10.0  # seconds that the processes of a killed build have to end
TAIL_LINES = 20
PARTIAL = "part-"  # prefix of folders of partial outputs, before the build's process id

COMPILED, REUSED, FAILED = "compiled", "reused", "failed"


@dataclass(frozen=True)
class Outcome:
    """The result of a job; `tail` has the last log lines of a failed job."""

    job: Job
    result: str
    seconds: float = 0.0
    tail: tuple[str, ...] = ()
    status: int = 0


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[int | None]:
    """Locks a build folder; raises BuildError if another build works in it.

    Yields the lock's file descriptor. Compilers inherit the descriptor, so the folder stays locked
    while a compiler lives, even if the build itself was killed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if os.name != "posix":
        yield None
        return
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        deadline = time.monotonic() + LOCK_PATIENCE
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                owner = os.pread(lock, 32, 0).decode(errors="replace").strip()
                if time.monotonic() > deadline or _alive(owner):
                    raise folder_in_use(folder, owner) from None
            time.sleep(0.1)
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield lock
    finally:
        os.close(lock)


def _alive(process: str) -> bool:
    """True if the process exists and is not a zombie."""
    try:
        stat = Path(f"/proc/{int(process)}/stat").read_text()
    except (OSError, ValueError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@dataclass
class _Running:
    job: Job
    process: subprocess.Popen[bytes]
    partial: Path
    begins: int  # offset in the log at which the compiler's output begins
    began: float = field(default_factory=time.monotonic)


def run(
    jobs: Sequence[Job],
    state: State,
    workers: int,
    progress: Progress | None = None,
    lock: int | None = None,
    ended: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Runs the jobs that are not up to date; returns an outcome for each job, in the order of
    `jobs`.

    A failed job does not stop the others. On KeyboardInterrupt and SystemExit, ends the running
    compilers, removes their partial outputs, and lets the exception propagate.
    """
    progress = progress or Progress()
    outcomes: dict[str, Outcome] = {}
    waiting = []
    for job in jobs:
        if job.output.is_file() and state.whole(job):
            outcomes[job.name] = Outcome(job, REUSED)
        else:
            waiting.append(job)
    expected = state.expected(jobs)
    waiting.sort(key=lambda job: (expected.get(job.name) or 0.0, job.weight), reverse=True)
    running: list[_Running] = []
    progress.start(len(jobs), len(outcomes))
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                with signals_blocked():
                    running.append(_start(waiting.pop(0), lock))
            time.sleep(POLL)
            for one in list(running):
                if one.process.poll() is None:
                    continue
                running.remove(one)
                outcome = outcomes[one.job.name] = _finish(one, state)
                expected = state.expected(jobs)
                progress.ended(outcome.job.name, outcome.result, outcome.seconds)
                ended(outcome)
            remaining = [expected.get(job.name) for job in waiting] + [
                None if (e := expected.get(one.job.name)) is None else max(e - _age(one), 0.0) for one in running
            ]
            progress.show([one.job.name for one in running], _makespan(remaining, workers))
    finally:
        _end(running)
        progress.close()
    return [outcomes[job.name] for job in jobs]


def _age(one: _Running) -> float:
    return time.monotonic() - one.began


def _makespan(remaining: Sequence[float | None], workers: int) -> float | None:
    """Returns the estimated seconds until all jobs end: their sum divided by `workers`, but at
    least the longest job."""
    known_seconds = [seconds for seconds in remaining if seconds is not None]
    if len(known_seconds) < len(remaining):
        return None
    return max([sum(known_seconds) / workers, *known_seconds]) if known_seconds else 0.0


def _partial(job: Job) -> Path:
    """Returns the compiler's output path: the final name, in a folder for this job alone.

    Compilers derive settings from the output's name, and some write more files beside the output.
    """
    return job.output.parent / f"{PARTIAL}{os.getpid()}" / job.output.stem / job.output.name


def _start(job: Job, lock: int | None) -> _Running:
    partial = _partial(job)
    partial.parent.mkdir(parents=True, exist_ok=True)
    job.log.parent.mkdir(parents=True, exist_ok=True)
    command = job.command_to(partial)
    with job.log.open("wb") as log:
        log.write(f"$ {shlex.join(command)}\n".encode())
        log.flush()
        begins = log.tell()
        try:
            # The compiler stays in this process group: a signal to the group ends both.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **dict(job.environment)},
                pass_fds=() if lock is None else (lock,),
            )
        except OSError as problem:
            raise no_compiler_program(command[0], problem) from None
    return _Running(job, process, partial, begins)


def _finish(one: _Running, state: State) -> Outcome:
    job, seconds, status = one.job, _age(one), one.process.returncode
    if status == 0 and one.partial.is_file():
        _keep(one.partial, job.output)
        _drop(one.partial)
        state.record(job, seconds)
        return Outcome(job, COMPILED, seconds)
    _drop(one.partial)
    log_text = job.log.read_bytes()[one.begins :].decode(errors="replace")
    tail = log_text.splitlines()[-TAIL_LINES:]
    if status == 0:
        tail.append("(the compiler ended well, but wrote no output)")
    return Outcome(job, FAILED, seconds, tuple(tail), status)


def _keep(partial: Path, output: Path) -> None:
    """Moves a job's complete output to its final name, after any files beside it. Syncs it to the
    disk first."""
    for sibling in partial.parent.iterdir():
        if sibling != partial and sibling.is_file():
            sibling.replace(output.parent / sibling.name)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(output)


def _drop(partial: Path) -> None:
    """Removes a job's folder, and its parent folder if that is empty."""
    shutil.rmtree(partial.parent, ignore_errors=True)
    with contextlib.suppress(OSError):
        partial.parent.parent.rmdir()


def _end(running: Sequence[_Running]) -> None:
    """Ends the compilers and their descendants, and removes their partial outputs."""
    for one in running:
        end(one.process.pid, signal.SIGTERM)
    for one in running:
        try:
            one.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            end(one.process.pid, signal.SIGKILL)
            one.process.wait()
        _drop(one.partial)


def remove_leftovers(folder: Path) -> None:
    """Removes the partial outputs of killed builds; the caller must hold the lock of the folder."""
    for leftover in folder.glob(f"{PARTIAL}*"):
        shutil.rmtree(leftover, ignore_errors=True)
