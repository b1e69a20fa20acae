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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from ..emulation import command as emulation
from ..errors.build import BuildError, not_a_request
from ..kernels.board_skeleton import board_skeleton_of
from ..kernels.key import Key
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

    def _answer(self, asked: bytes) -> dict[str, Any]:
        keys, names, problems = dict[Key, str](), list[str](), dict[str, str]()
        try:
            # Nobody but this user's processes reaches the folder in which the socket is.
            packed: Mapping[str, bytes] = pickle.loads(asked)
        except (EOFError, pickle.UnpicklingError):
            packed = {}  # who asked was interrupted
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
        except Over:
            raise
        except Exception:  # noqa: BLE001
            # The program would wait for ever for a thread that is gone.
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
        self.announced = False  # that kernels are built, and where
        self.kernels, self.seconds = 0, 0.0
        self.asked_for = 0
        self.names = ""
        self.began = self.spoken = time.monotonic()

    def asked(self, kernels: Sequence[str]) -> None:
        """Kernels are wanted, and some may be there."""
        self.asked_for, self.began = len(kernels), time.monotonic()
        more = f" and {len(kernels) - 1} more" if len(kernels) > 1 else ""
        self.names = f"{kernels[0]}{more}"

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
        if not self.announced:
            self.announced = True
            self.say(f"the kernels that the program asks for are built by g++, in {self.folder}")
            self.spoken = time.monotonic()
        if total - done > self.asked_for:
            self.say(f"{counted(total - done, 'kernel')} are built anew, to fit into one image")

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """These compile."""
        if self.over:
            raise Over
        now = time.monotonic()
        spent = self.seconds + now - self.began
        text = f"{SAYS}{counted(self.kernels, 'kernel')} built, {clock(spent)}; now {self.names}"
        if self.terminal:
            self._draw(text[: shutil.get_terminal_size().columns - 1])
        elif now - self.spoken >= QUIET:
            self.spoken = now
            print(text, file=self.stream, flush=True)

    def ended(self, name: str, result: str, seconds: float) -> None:
        """A compiler is done."""

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
            self.say(f"{counted(self.kernels, 'kernel')} built in {clock(self.seconds)}; the next run begins with them")
