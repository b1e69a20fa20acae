"""`ftensor emulate` without an image: kernels are built when the program first asks for them."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pickle
import shutil
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ..emulation import command as emulation
from ..errors.build import BuildError, not_a_request
from ..kernels.key import Key
from ..kernels.skeleton import skeleton_of
from ..runtime.xrt.maker import SOCKET
from ..table import counted
from . import growing
from .jobs.progress import QUIET, clock

SAYS = "ftensor emulate: "


def command(arguments: argparse.Namespace) -> int:
    """The command; its exit status is the program's, 128 + n where signal n ended it."""
    if arguments.image or arguments.no_build or os.environ.get("FTENSOR_IMAGE"):
        return emulation.command(arguments)
    return emulation.command(arguments, building)


@contextlib.contextmanager
def building(scratch: Path) -> Iterator[Callable[[], None]]:
    """Kernels are built on request for the program whose folder `scratch` is.

    Yields what to call when the program has been started: a process forks best without threads.
    """
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(scratch / SOCKET))
        door.listen()
        builder = Builder(door, scratch)
        try:
            yield builder.start
        finally:
            builder.said.over = True
            door.shutdown(socket.SHUT_RDWR)  # wakes who waits for the next request
            if builder.is_alive():
                builder.join()
            builder.said.summary()


class Over(Exception):
    """The program has ended: nobody waits for what is being built."""


class Builder(threading.Thread):
    """Answers requests for kernels, one after another."""

    def __init__(self, door: socket.socket, scratch: Path) -> None:
        super().__init__(daemon=True)
        self.door, self.scratch = door, scratch
        self.said = Said(sys.stderr)
        self.image: growing.Growing | None = None

    def run(self) -> None:
        """Until nobody can come any more."""
        while True:
            try:
                caller, _ = self.door.accept()
            except OSError:  # the door was shut
                return
            with caller, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                with caller.makefile("rb") as request:
                    asked = request.read()
                try:
                    caller.sendall(json.dumps(self._answer(asked)).encode())
                except Over:
                    return

    def _answer(self, asked: bytes) -> dict[str, str]:
        try:
            return {"image": str(self._built(asked))}
        except (BuildError, OSError) as problem:
            return {"problem": str(problem)}
        except Over:
            raise
        except Exception:  # noqa: BLE001
            # The program would wait for ever for a thread that is gone.
            return {"problem": f"please report this: {traceback.format_exc()}"}

    def _built(self, asked: bytes) -> Path:
        try:
            # Nobody but this user's processes reaches the folder in which the socket is.
            key: Key = pickle.loads(asked)
            words = skeleton_of(key).in_words(key)
        except (ImportError, AttributeError, LookupError) as problem:
            raise not_a_request(problem) from None
        if self.image is None:
            self.image = self._growing()
        self.said.asked(f"{words.op} of {words.signature}" if words.signature else words.op)
        try:
            return self.image.with_kernel(key, self.said)
        finally:
            self.said.clear()

    def _growing(self) -> growing.Growing:
        folder = growing.folder()
        if not growing.private(folder):
            self.said.say(
                f"{folder} can't be written, or others can write it, so what is built is not kept; "
                "set FTENSOR_CACHE_DIR to a folder that you alone can write"
            )
            folder = self.scratch / "image"
        self.said.folder = folder
        return growing.Growing(folder, self.said.waiting)


class Said:
    """What is told on stderr: a line that goes again on a terminal, else one now and then."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.terminal = stream, stream.isatty()
        self.over = False
        self.folder = Path()
        self.kernels, self.seconds = 0, 0.0
        self.kernel = ""
        self.began = self.spoken = time.monotonic()

    def asked(self, kernel: str) -> None:
        """A kernel is wanted, and may be there."""
        self.kernel, self.began = kernel, time.monotonic()

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        print(SAYS + text, file=self.stream, flush=True)

    def waiting(self) -> None:
        """Another run builds just now."""
        self.say("waiting for another run that builds kernels")

    def start(self, total: int, done: int) -> None:
        """Compilers begin."""
        if done == total:
            return
        if not self.kernels:
            self.say(f"the kernels that the program asks for are built by g++, in {self.folder}")
            self.spoken = time.monotonic()
        if total - done > 1:
            self.say(f"{counted(total - done, 'kernel')} are built anew, to fit into one image")

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """These compile."""
        if self.over:
            raise Over
        now = time.monotonic()
        spent = self.seconds + now - self.began
        text = f"{SAYS}{counted(self.kernels, 'kernel')} built, {clock(spent)}; now {self.kernel}"
        if self.terminal:
            self._draw(text[: shutil.get_terminal_size().columns - 1])
        elif now - self.spoken >= QUIET:
            self.spoken = now
            print(text, file=self.stream, flush=True)

    def ended(self, name: str, result: str, seconds: float) -> None:
        """A compiler is done."""
        if result == "compiled" and not name.startswith("link of "):
            self.kernels += 1

    def close(self) -> None:
        """All of a kind are done."""

    def clear(self) -> None:
        """Nothing is built any more: the line is the program's again."""
        self.seconds, self.began = self.seconds + time.monotonic() - self.began, time.monotonic()
        self._draw("")

    def _draw(self, text: str) -> None:
        if self.terminal:
            self.stream.write(f"\r\x1b[K{text}")
            self.stream.flush()

    def summary(self) -> None:
        """At the end of the program."""
        if self.kernels:
            self.say(
                f"{counted(self.kernels, 'kernel')} built in {clock(self.seconds)}; the next run "
                "begins with them"
            )
