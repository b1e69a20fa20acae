"""An image that grows: kernels that programs ask for, compiled by g++ and kept for later ones."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ..errors import build as errors
from ..kernels.board_skeleton import board_skeleton_of
from ..kernels.hls_path import hls_root
from ..kernels.key import Key
from ..runtime import cache
from . import make
from .csim import CSim
from .group import Group
from .grouping import MOST_UNITS, free_name
from .inventory.read import parts
from .jobs.progress import Progress
from .jobs.state import write_whole

NAME = "kernels"  # of the image
# Kernels beyond those there would be if all that can did share: what is new shares kernels with
# what came with it alone, but XRT's time to load an image grows with the square of its kernels.
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


@dataclass(frozen=True)
class Grown:
    """What became of kernels that were asked for: the image that has them (None where there is none
    yet), how many were not there before, and why others could not be compiled."""

    image: Path | None
    built: int = 0
    problems: Mapping[Key, str] = field(default_factory=dict)


class Growing:
    """The image in a folder, which several processes may let grow at once."""

    def __init__(self, folder: Path, waiting: Callable[[], None]) -> None:
        """`waiting()` is called where another process is at work in the folder."""
        self.folder, self.waiting = folder, waiting
        self.image = folder / f"{NAME}.xclbin"
        self._groups = folder / "groups.pickle"

    def with_kernels(self, keys: Sequence[Key], progress: Progress) -> Grown:
        """The image's file, in which `keys` are, compiled side by side; BuildError where not one of
        them, but the image can't be made."""
        with self._held():
            groups = self._read()
            there = {member for group in groups for member in group.members}
            new = [key for key in keys if key not in there]
            if not new:
                return Grown(self.image)
            problems = self._add(groups, new, progress)
            there_now = self.image if groups or len(problems) < len(new) else None
            return Grown(there_now, len(new) - len(problems), problems)

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What the image holds is a pickle, which runs what it says.
        if (place := cache.written_by_others(self._groups)) is not None:
            raise errors.written_by_others(place)
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

    def _add(self, groups: tuple[Group, ...], new: Sequence[Key], progress: Progress) -> dict[Key, str]:
        """Put keys into the image; why those that are left out can't be compiled."""
        built = self._built(grown(groups, new), progress)
        if not built.failures:
            self._keep(built)
            return {}
        problems = _problems(built)
        failing = {outcome.job.name for outcome in built.failures}
        shared = [g for g in built.groups if g.name in failing and len(g.members) > 1]
        if suspects := [key for group in shared for key in group.members if key in new]:
            # Which of them it is shows when each is a kernel of its own; nothing is linked.
            alone = _grouped(suspects, "single", [group.name for group in built.groups])
            names = tuple(group.name for group in alone)
            problems |= _problems(self._built(alone, progress, names))
        if not problems.keys() & new:
            raise errors.not_compiled(make.failed_log(built.failures[0]))
        if well := [key for key in new if key not in problems]:
            problems |= self._add(groups, well, progress)
        return problems

    def _built(self, groups: tuple[Group, ...], progress: Progress, only: tuple[str, ...] = ()) -> make.Built:
        request = make.Request(NAME, groups, "", self.folder, only=only)
        built = make.build(request, CSim(), progress)
        if any(failed.status == -signal.SIGINT for failed in built.failures):
            # Ctrl-C is for the program, which may have other plans than to end.
            built = make.build(request, CSim(), progress)
        return built

    def _keep(self, built: make.Built) -> None:
        assert built.linked is not None
        write_whole(self._groups, pickle.dumps(built.groups))
        for before in built.linked.job.output.parent.glob(f"{NAME}-*.so"):
            if before != built.linked.job.output:
                before.unlink()


def _problems(built: make.Built) -> dict[Key, str]:
    """Why the compiler failed on keys that have a kernel of their own."""
    alone = {g.name: g.members[0] for g in built.groups if len(g.members) == 1}
    return {
        alone[failed.job.name]: str(errors.not_compiled(make.failed_log(failed)))
        for failed in built.failures
        if failed.job.name in alone
    }


def grown(groups: tuple[Group, ...], keys: Sequence[Key]) -> tuple[Group, ...]:
    """Groups with more keys: in kernels of their own, which those share that can, or with too many
    of these, all shared anew.

    What would be full even so begins with these keys again.
    """
    new = _grouped(keys, "shared", [group.name for group in groups])
    members = [member for group in groups for member in group.members]
    shared = _grouped([*members, *keys], "shared", [])
    if len(groups) + len(new) <= min(len(shared) + ALONE, MOST_UNITS):
        return (*groups, *new)
    return shared if len(shared) + ALONE <= MOST_UNITS else new


def _grouped(keys: Sequence[Key], grouping: str, taken: list[str]) -> tuple[Group, ...]:
    groups: list[Group] = []
    for part, members in parts(list(keys), grouping):
        if len(members) == 1:
            part = board_skeleton_of(members[0]).suffix(members[0])
        name = free_name(f"ft_{part}", [*taken, *(group.name for group in groups)])
        structure = board_skeleton_of(members[0]).structure(members[0].lanes, "dataflow")
        groups.append(Group(name, members, structure))
    return tuple(groups)


def private(place: Path) -> bool:
    """Whether a folder may hold what is run as this user: nobody else can put something there."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(place, os.W_OK) and not any(cache.others_write(one) for one in (place.parent, place))
    except OSError:
        return False
