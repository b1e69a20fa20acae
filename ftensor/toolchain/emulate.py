"""`ftensor emulate` without an image: builds kernels when the program first needs them."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pickle
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from .. import logs
from ..emulation import command as emulation
from ..errors import build as errors
from ..errors.build import BuildError, not_a_request
from ..kernels.key import Key
from ..kernels.skeleton import board_skeleton_of
from ..kernels.source import hls_root
from ..runtime import cache
from ..runtime.xrt.images import SOCKET
from ..terminal import counted
from . import make
from .csim import CSim
from .group import MAX_UNITS, KernelGroup, free_name
from .inventory.read import parts
from .jobs.progress import QUIET, Progress, clock
from .jobs.workspace import write_atomically

NAME = "kernels"  # of the image
# The most kernels beyond the fewest possible. New members share kernels only with members of the
# same request, so the number of kernels grows, and the load time of XRT with its square.
MAX_SHARED_MEMBERS = 24
PACKAGE = Path(__file__).resolve().parents[1]


def growing_folder() -> Path:
    """Returns the folder of the image that grows, for this ftensor, compiler and processor.

    Raises BuildError if there is no compiler.
    """
    from ..runtime.csim.backend import FLAGS, cpu_name

    compiler = CSim()
    texts = sha256()
    for root in (hls_root(), *(PACKAGE / name for name in ("kernels", "toolchain", "image"))):
        for file in sorted(p for p in root.rglob("*") if p.suffix in (".h", ".cpp", ".py")):
            texts.update(file.read_bytes())
    tools = " ".join((*compiler.compiler, *compiler.tools().values(), *FLAGS))
    return cache.directory() / "emulate" / cache.key(tools, cpu_name(), texts.hexdigest())[:16]


@dataclass(frozen=True)
class GrowthResult:
    """The result of adding kernels to the image.

    `image` is the image with the kernels, None if there is no image yet. `built` is the number of
    new kernels; `problems` are the errors of keys that do not compile.
    """

    image: Path | None
    built: int = 0
    problems: Mapping[Key, str] = field(default_factory=dict)


class GrowingImage:
    """An image in a folder to which several processes may add kernels at once."""

    def __init__(self, folder: Path, waiting: Callable[[], None]) -> None:
        """`waiting` is called if another process holds the folder."""
        self.folder, self.waiting = folder, waiting
        self.image = folder / f"{NAME}.xclbin"
        self._groups = folder / "groups.pickle"

    def with_kernels(self, keys: Sequence[Key], progress: Progress) -> GrowthResult:
        """Adds `keys` to the image, and compiles them in parallel.

        Raises BuildError for a reason other than a key that does not compile.
        """
        with self._held():
            groups = self._read()
            existing = {member for group in groups for member in group.members}
            new = [key for key in keys if key not in existing]
            if not new:
                return GrowthResult(self.image)
            problems = self._add(groups, new, progress)
            existing_now = self.image if groups or len(problems) < len(new) else None
            return GrowthResult(existing_now, len(new) - len(problems), problems)

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Loading a pickle can run code, so only this user may have write access to the file.
        if (place := cache.written_by_others(self._groups)) is not None:
            raise errors.written_by_others(place)
        with open(self.folder / "growing", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> tuple[KernelGroup, ...]:
        """Returns the kernel groups of the image; empty if the image is incomplete or damaged."""
        if not self.image.is_file():
            return ()
        try:
            groups: tuple[KernelGroup, ...] = pickle.loads(self._groups.read_bytes())
        except (FileNotFoundError, pickle.UnpicklingError, EOFError, ValueError):
            return ()
        return groups

    def _add(self, groups: tuple[KernelGroup, ...], new: Sequence[Key], progress: Progress) -> dict[Key, str]:
        """Adds keys to the image; returns the errors of keys that do not compile."""
        built = self._built(extend_groups(groups, new), progress)
        if not built.failures:
            self._keep(built)
            return {}
        problems = _problems(built)
        failing = {outcome.job.name for outcome in built.failures}
        shared = [g for g in built.groups if g.name in failing and len(g.members) > 1]
        if suspects := [key for group in shared for key in group.members if key in new]:
            # Compile each suspect as its own kernel, without linking, to find those that fail.
            alone = _grouped(suspects, "single", [group.name for group in built.groups])
            names = tuple(group.name for group in alone)
            problems |= _problems(self._built(alone, progress, names))
        if not problems.keys() & new:
            raise errors.not_compiled(make.failed_log(built.failures[0]))
        if well := [key for key in new if key not in problems]:
            problems |= self._add(groups, well, progress)
        return problems

    def _built(self, groups: tuple[KernelGroup, ...], progress: Progress, only: tuple[str, ...] = ()) -> make.Built:
        request = make.Request(NAME, groups, "", self.folder, only=only)
        built = make.build(request, CSim(), progress)
        if any(failed.status == -signal.SIGINT for failed in built.failures):
            # Ctrl-C is meant for the program, which may handle it and continue: build again.
            built = make.build(request, CSim(), progress)
        return built

    def _keep(self, built: make.Built) -> None:
        assert built.linked is not None
        write_atomically(self._groups, pickle.dumps(built.groups))
        for before in built.linked.job.output.parent.glob(f"{NAME}-*.so"):
            if before != built.linked.job.output:
                before.unlink()


def _problems(built: make.Built) -> dict[Key, str]:
    """Returns the compiler's error for each failed kernel with one member."""
    alone = {g.name: g.members[0] for g in built.groups if len(g.members) == 1}
    return {
        alone[failed.job.name]: str(errors.not_compiled(make.failed_log(failed)))
        for failed in built.failures
        if failed.job.name in alone
    }


def extend_groups(groups: tuple[KernelGroup, ...], keys: Sequence[Key]) -> tuple[KernelGroup, ...]:
    """Adds keys to kernel groups.

    The new keys share kernels among themselves. If that makes too many kernels, all members are
    grouped anew; if even that is too many, the result holds the new keys alone.
    """
    new = _grouped(keys, "shared", [group.name for group in groups])
    members = [member for group in groups for member in group.members]
    shared = _grouped([*members, *keys], "shared", [])
    if len(groups) + len(new) <= min(len(shared) + MAX_SHARED_MEMBERS, MAX_UNITS):
        return (*groups, *new)
    return shared if len(shared) + MAX_SHARED_MEMBERS <= MAX_UNITS else new


def _grouped(keys: Sequence[Key], grouping: str, taken: list[str]) -> tuple[KernelGroup, ...]:
    groups: list[KernelGroup] = []
    for part, members in parts(list(keys), grouping):
        if len(members) == 1:
            part = board_skeleton_of(members[0]).suffix(members[0])
        name = free_name(f"ft_{part}", [*taken, *(group.name for group in groups)])
        structure = board_skeleton_of(members[0]).structure(members[0].lanes, "dataflow")
        groups.append(KernelGroup(name, members, structure))
    return tuple(groups)


def is_private(folder: Path) -> bool:
    """True if no other user can write to a folder, so that its code is safe to run."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(folder, os.W_OK) and not any(
            cache.writable_by_others(path) for path in (folder.parent, folder)
        )
    except OSError:
        return False


MESSAGE_PREFIX = "ftensor emulate: "


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor emulate`; returns the program's exit status, 128 + n if signal n ended it."""
    if arguments.image or arguments.no_build or os.environ.get("FTENSOR_IMAGE"):
        return emulation.command(arguments)
    return emulation.command(arguments, building)


@contextlib.contextmanager
def building(scratch: Path) -> Iterator[Callable[[], None]]:
    """Builds kernels on request for the program whose folder is `scratch`.

    Yields a function to call after the program's start: a process forks best without threads.
    """
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(scratch / SOCKET))
        door.listen()
        builder = Builder(door, scratch)
        try:
            yield builder.start
        finally:
            builder.said.over = True
            door.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for a request
            if builder.is_alive():
                builder.join()
            builder.said.summary()


class ProgramEnded(Exception):
    """The program has ended, so the build is no longer needed."""


class Builder(threading.Thread):
    """Answers requests for kernels in sequence."""

    def __init__(self, door: socket.socket, scratch: Path) -> None:
        super().__init__(daemon=True)
        self.door, self.scratch = door, scratch
        self.said = BuildStatus(sys.stderr)
        self.image: GrowingImage | None = None

    def run(self) -> None:
        """Answers requests until the socket is shut down."""
        while True:
            try:
                caller, _ = self.door.accept()
            except OSError:  # the socket was shut down
                return
            with caller, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                with caller.makefile("rb") as request:
                    request_bytes = request.read()
                try:
                    caller.sendall(json.dumps(self._answer(request_bytes)).encode())
                except ProgramEnded:
                    return

    def _answer(self, requested: bytes) -> dict[str, Any]:
        keys, names, problems = dict[Key, str](), list[str](), dict[str, str]()
        try:
            # Only this user's processes can reach the socket's folder, so the pickle is safe.
            packed: Mapping[str, bytes] = pickle.loads(requested)
        except (EOFError, pickle.UnpicklingError):
            packed = {}  # the requesting process was interrupted
        for entry, one in packed.items():
            try:
                key: Key = pickle.loads(one)
                words = board_skeleton_of(key).in_words(key)
            except (ImportError, AttributeError, LookupError) as problem:
                problems[entry] = str(not_a_request(problem))
            else:
                keys[key] = entry
                names.append(f"{words.op} of {words.signature}" if words.signature else words.op)
        image = None
        try:
            if keys:
                image, failed = self._built(tuple(keys), names)
                problems |= {keys[key]: why for key, why in failed.items()}
        except (BuildError, OSError) as problem:
            problems |= dict.fromkeys(keys.values(), str(problem))
        except ProgramEnded:
            raise
        except Exception:  # noqa: BLE001
            # If this thread ended, the program would wait forever.
            why = f"please report this: {traceback.format_exc()}"
            problems |= dict.fromkeys(keys.values(), why)
        return {"image": image and str(image), "problems": problems}

    def _built(self, keys: Sequence[Key], names: Sequence[str]) -> tuple[Path | None, Mapping[Key, str]]:
        if self.image is None:
            self.image = self._growing()
        self.said.asked(names)
        try:
            grown = self.image.with_kernels(keys, self.said)
        finally:
            self.said.clear()
        self.said.kernels += grown.built
        return grown.image, grown.problems

    def _growing(self) -> GrowingImage:
        folder = growing_folder()
        if not is_private(folder):
            self.said.say(
                f"{folder} can't be written, or others can write it, so what is built is not kept; "
                "set FTENSOR_CACHE_DIR to a folder that you alone can write"
            )
            folder = self.scratch / "image"
            self.said.discarded = True
        self.said.folder = folder
        return GrowingImage(folder, self.said.waiting)


class BuildStatus(Progress):
    """Reports progress on stderr: a temporary line on a terminal, otherwise an occasional line."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.terminal = stream, stream.isatty() and not logs.is_quiet()
        self.over = False
        self.folder = Path()
        self.announced = False  # True after the message about the build and its folder
        self.discarded = False  # True if the built kernels are deleted with the program's end
        self.kernels, self.seconds = 0, 0.0
        self.asked_for = 0
        self.names = ""
        self.began = self.spoken = time.monotonic()

    def asked(self, kernels: Sequence[str]) -> None:
        """Records that the program requests these kernels, some of which may exist already."""
        self.asked_for, self.began = len(kernels), time.monotonic()
        more = f" and {len(kernels) - 1} more" if len(kernels) > 1 else ""
        self.names = f"{kernels[0]}{more}"

    def say(self, text: str) -> None:
        """Prints a permanent line."""
        self.clear()
        if not logs.is_quiet():
            print(MESSAGE_PREFIX + text, file=self.stream, flush=True)

    def waiting(self) -> None:
        """Reports that another run is building."""
        self.say("waiting for another run that builds kernels")

    def start(self, total: int, done: int) -> None:
        """Reports the start of compilers."""
        if done == total:
            return
        if not self.announced:
            self.announced = True
            self.say(f"the kernels that the program asks for are built by g++, in {self.folder}")
            self.spoken = time.monotonic()
        if total - done > self.asked_for:
            self.say(f"{counted(total - done, 'kernel')} are built anew, to fit into one image")

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """Updates the line; raises ProgramEnded after the program's end."""
        if self.over:
            raise ProgramEnded
        now = time.monotonic()
        spent = self.seconds + now - self.began
        text = f"{MESSAGE_PREFIX}{counted(self.kernels, 'kernel')} built, {clock(spent)}; now {self.names}"
        if self.terminal:
            self._draw(text[: shutil.get_terminal_size().columns - 1])
        elif now - self.spoken >= QUIET and not logs.is_quiet():
            self.spoken = now
            print(text, file=self.stream, flush=True)

    def clear(self) -> None:
        """Adds the time of this build to the total, and clears the line for the program's
        output."""
        self.seconds, self.began = self.seconds + time.monotonic() - self.began, time.monotonic()
        self._draw("")

    def _draw(self, text: str) -> None:
        if self.terminal:
            self.stream.write(f"\r\x1b[K{text}")
            self.stream.flush()

    def summary(self) -> None:
        """Reports the number of kernels built, at the program's end."""
        if self.kernels:
            later = "the next run builds them again" if self.discarded else "the next run begins with them"
            self.say(f"{counted(self.kernels, 'kernel')} built in {clock(self.seconds)}; {later}")
