"""An image that grows: kernels that programs ask for, compiled by g++ and kept for later ones."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from ..errors import build as errors
from ..kernels.hls_path import hls_root
from ..kernels.key import Key
from ..kernels.skeleton import skeleton_of
from ..runtime import cache
from . import make
from .csim import CSim
from .group import Group
from .grouping import MOST_UNITS, free_name
from .inventory.read import parts
from .jobs.progress import Progress
from .jobs.state import write_whole

NAME = "kernels"  # of the image
# Kernels that have one member alone though they could share: each new kernel of such a kind is
# compiled alone, but XRT's time to load an image grows with the square of its kernels.
ALONE = 24
PACKAGE = Path(__file__).resolve().parents[1]


def folder() -> Path:
    """Where the image of this ftensor, this compiler and this processor is kept.

    BuildError where there is no compiler.
    """
    from ..runtime.csim.backend import FLAGS, cpu_name

    compiler = CSim()
    texts = sha256()
    for root in (hls_root(), *(PACKAGE / name for name in ("kernels", "toolchain", "image"))):
        for file in sorted(p for p in root.rglob("*") if p.suffix in (".h", ".cpp", ".py")):
            texts.update(file.read_bytes())
    tools = " ".join((*compiler.compiler, *compiler.tools().values(), *FLAGS))
    return cache.directory() / "emulate" / cache.key(tools, cpu_name(), texts.hexdigest())[:16]


class Growing:
    """The image in a folder, which several processes may let grow at once."""

    def __init__(self, folder: Path, waiting: Callable[[], None]) -> None:
        """`waiting()` is called where another process is at work in the folder."""
        self.folder, self.waiting = folder, waiting
        self.image = folder / f"{NAME}.xclbin"
        self._groups = folder / "groups.pickle"

    def with_kernel(self, key: Key, progress: Progress) -> Path:
        """The image's file, in which `key` is; BuildError where it can't be compiled."""
        with self._held():
            groups = self._read()
            if not any(key in group.members for group in groups):
                self._write(grown(groups, key), progress)
        return self.image

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.folder / "growing", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> tuple[Group, ...]:
        """What the image holds; nothing where it was never completed, or is damaged."""
        if not self.image.is_file():
            return ()
        try:
            groups: tuple[Group, ...] = pickle.loads(self._groups.read_bytes())
        except (FileNotFoundError, pickle.UnpicklingError, EOFError, ValueError):
            return ()
        return groups

    def _write(self, groups: tuple[Group, ...], progress: Progress) -> None:
        request = make.Request(NAME, groups, "", self.folder)
        built = make.build(request, CSim(), progress)
        if any(failed.status == -signal.SIGINT for failed in built.failures):
            # Ctrl-C is for the program, which may have other plans than to end.
            built = make.build(request, CSim(), progress)
        if built.failures:
            raise errors.not_compiled(make.failed_log(built.failures[0]))
        assert built.linked is not None
        write_whole(self._groups, pickle.dumps(groups))
        for before in built.linked.job.output.parent.glob(f"{NAME}-*.so"):
            if before != built.linked.job.output:
                before.unlink()


def grown(groups: tuple[Group, ...], key: Key) -> tuple[Group, ...]:
    """Groups with one more key: a kernel of its own, or with too many of these, all shared anew.

    What would be full even so begins with this key again.
    """
    alone = _grouped([key], "single", [group.name for group in groups])
    members = [member for group in groups for member in group.members]
    shared = _grouped([*members, key], "shared", [])
    if len(groups) < min(len(shared) + ALONE, MOST_UNITS):
        return (*groups, *alone)
    return shared if len(shared) + ALONE <= MOST_UNITS else alone


def _grouped(keys: list[Key], grouping: str, taken: list[str]) -> tuple[Group, ...]:
    found: list[Group] = []
    for part, members in parts(keys, grouping):
        name = free_name(f"ft_{part}", [*taken, *(group.name for group in found)])
        structure = skeleton_of(members[0]).structure(members[0].lanes, "dataflow")
        found.append(Group(name, members, structure))
    return tuple(found)


def private(place: Path) -> bool:
    """Whether a folder may hold what is run as this user: nobody else can put something there."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(place, os.W_OK) and not any(
            cache.others_write(one) for one in (place.parent, place)
        )
    except OSError:
        return False
