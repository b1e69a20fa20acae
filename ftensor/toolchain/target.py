"""What a target's compilers must be able to do; one module for each target implements it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ..errors.build import tool_fails
from ..image.manifest import Manifest
from ..runtime.host_memory import free_memory
from .group import Group
from .jobs.job import Job
from .jobs.workspace import Source, Workspace


class Toolchain(Protocol):
    """The road from groups to an image for one target."""

    target: str
    suffix: str  # of the image's file
    memory: int  # bytes that one compiler may need
    platform: str
    clock_mhz: float | None
    joint: bool  # whether kernels with parameter lists of their own share ports (see joint.py)

    def tools(self) -> Mapping[str, str]:
        """The compilers' versions; BuildError when they are not there."""

    def sources(self, groups: Sequence[Group], folders: Workspace) -> list[Source]:
        """Write the sources."""

    def compile(self, source: Source, folders: Workspace) -> Job:
        """The job that compiles one kernel."""

    def link(self, name: str, objects: Sequence[Job], groups: Sequence[Group], folders: Workspace) -> Job:
        """The job that makes one file of all compiled kernels."""

    def banks(self, groups: Sequence[Group]) -> Mapping[str, Mapping[str, str]]:
        """The memory of each kernel's pointer arguments, where it is laid down."""

    def image(self, linked: Path, groups: Sequence[Group], manifest: Manifest) -> tuple[bytes, Manifest]:
        """The image's bytes from what was linked, and the manifest with the image's UUID."""


def version_text(command: Sequence[str]) -> str:
    """What `command --version` prints; BuildError when it fails."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise tool_fails(command[0], done.returncode, done.stdout + done.stderr)
    return done.stdout


def which(program: str) -> str | None:
    """The program's path, or None."""
    return shutil.which(program)


def workers(asked: int | None, memory: int) -> int:
    """How many compilers run at once: as asked, else a processor each, as far as memory goes."""
    if asked is not None:
        return asked
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    return max(1, min(processors or os.cpu_count() or 1, free_memory() // memory))
