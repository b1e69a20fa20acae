"""Builds an image from kernel groups: sources, compilation, linking, manifest."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol

from .._version import __version__
from ..errors.build import no_such_kernel, tool_fails
from ..errors.image import ImageError
from ..image.manifest import HostRecord, Manifest
from ..runtime.pool import free_memory
from .group import KernelGroup, manifest_record
from .jobs import run as jobs
from .jobs.progress import Progress
from .jobs.run import FAILED, Outcome
from .jobs.workspace import Job, Source, State, Workspace, write_atomically


class Toolchain(Protocol):
    """The tools of one target, which build an image."""

    target: str
    suffix: str  # of the image's file
    memory: int  # bytes that a compiler may need
    platform: str
    clock_mhz: float | None
    shares_ports: bool  # True if kernels with their own parameter lists share ports (see group.py)

    def tools(self) -> Mapping[str, str]:
        """Returns the compilers' versions; raises BuildError if a compiler is missing."""

    def sources(self, groups: Sequence[KernelGroup], folders: Workspace) -> list[Source]:
        """Writes the sources of the kernels."""

    def compile_job(self, source: Source, folders: Workspace) -> Job:
        """Returns the job that compiles a kernel."""

    def link_job(self, name: str, objects: Sequence[Job], groups: Sequence[KernelGroup], folders: Workspace) -> Job:
        """Returns the job that links all compiled kernels into one file."""

    def banks(self, groups: Sequence[KernelGroup]) -> Mapping[str, Mapping[str, str]]:
        """Returns the memory of each kernel's pointer arguments, as far as the target fixes it."""

    def image(self, linked: Path, groups: Sequence[KernelGroup], manifest: Manifest) -> tuple[bytes, Manifest]:
        """Returns the image's bytes from the linked file, and the manifest with the image's
        UUID."""


def version_text(command: Sequence[str]) -> str:
    """Returns the output of `command --version`; raises BuildError if the command fails."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise tool_fails(command[0], done.returncode, done.stdout + done.stderr)
    return done.stdout


def which(program: str) -> str | None:
    """Returns the path of a program, or None."""
    return shutil.which(program)


def workers(requested: int | None, memory: int) -> int:
    """Returns how many compilers run at once: `requested`, else one per processor, limited by free
    memory.

    `memory` is the bytes that a compiler may need.
    """
    if requested is not None:
        return requested
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    return max(1, min(processors or os.cpu_count() or 1, free_memory() // memory))


@dataclass(frozen=True)
class Request:
    """A build: the kernel groups, the folder and the options. `only` names kernels to compile
    without linking an image."""

    name: str  # of the inventory and the image
    groups: tuple[KernelGroup, ...]
    inventory_sha256: str
    out: Path
    jobs: int | None = None
    only: tuple[str, ...] = ()
    host: tuple[HostRecord, ...] = ()  # the steps that are left to the host

    def requested_groups(self) -> tuple[KernelGroup, ...]:
        """Returns the groups to compile; raises BuildError for an unknown name in `only`."""
        names = [group.name for group in self.groups]
        for name in self.only:
            if name not in names:
                raise no_such_kernel(name, names)
        return tuple(g for g in self.groups if not self.only or g.name in self.only)


@dataclass(frozen=True)
class Built:
    """The result of a build. `linked` and `image` are None if the build ended before that step."""

    groups: tuple[KernelGroup, ...]
    outcomes: tuple[Outcome, ...]
    linked: Outcome | None = None
    image: Path | None = None
    manifest: Manifest | None = None

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The failed jobs, including the link."""
        done = (*self.outcomes, *((self.linked,) if self.linked is not None else ()))
        return tuple(outcome for outcome in done if outcome.result == FAILED)


@dataclass(frozen=True)
class BuildSteps:
    """The jobs of a build: a compilation for each kernel, and `link`, which is None if no image is
    linked."""

    kernels: tuple[Job, ...]
    link: Job | None


def prepare(request: Request, toolchain: Toolchain) -> BuildSteps:
    """Writes the sources and returns the jobs. Raises BuildError for a request that is not
    possible."""
    folders = Workspace(request.out)
    chosen = request.requested_groups()
    sources = toolchain.sources(chosen, folders)
    compiled = tuple(toolchain.compile_job(source, folders) for source in sources)
    link = None
    if not request.only:
        link = toolchain.link_job(request.name, compiled, chosen, folders)
    return BuildSteps(compiled, link)


def commands(request: Request, toolchain: Toolchain) -> list[str]:
    """Returns the shell commands of a build, after writing the sources."""
    with jobs.exclusive(request.out):
        steps = prepare(request, toolchain)
    all_jobs = (*steps.kernels, *((steps.link,) if steps.link is not None else ()))
    folders = sorted({str(job.output.parent) for job in all_jobs})
    lines = [shlex.join(["mkdir", "-p", *folders])]
    for job in all_jobs:
        settings = [f"{name}={shlex.quote(value)}" for name, value in job.environment]
        lines.append(" ".join([*settings, shlex.join(job.command)]))
    if steps.link is not None:
        image = request.out / f"{request.name}{toolchain.suffix}"
        lines.append(f"# and then ftensor writes the image with its manifest: {image}")
    return lines


def build(request: Request, toolchain: Toolchain, progress: Progress) -> Built:
    """Compiles the kernels that are not up to date, links, and writes the image with its manifest.

    After a failed kernel, still compiles the other kernels, but links nothing. Raises BuildError
    for a request that is not possible, or if another build works in the folder.
    """
    folders = Workspace(request.out)
    with jobs.exclusive(folders.out) as lock:
        jobs.remove_leftovers(folders.objects)
        steps = prepare(request, toolchain)
        state = State(folders.state)
        count = workers(request.jobs, toolchain.memory)
        outcomes = tuple(jobs.run(steps.kernels, state, count, progress, lock))
        built = Built(request.requested_groups(), outcomes)
        if steps.link is None or built.failures:
            return built
        (linked,) = jobs.run([steps.link], state, 1, progress, lock)
        built = replace(built, linked=linked)
        if built.failures:
            return built
        return _finish(built, request, toolchain, steps.link.output, folders)


def _finish(built: Built, request: Request, toolchain: Toolchain, linked: Path, folders: Workspace) -> Built:
    """Writes the image and its manifest, each atomically."""
    file = folders.out / f"{request.name}{toolchain.suffix}"
    keys = {outcome.job.name: outcome.job.key for outcome in built.outcomes}
    banks = toolchain.banks(built.groups)
    manifest = Manifest(
        name=request.name,
        target=toolchain.target,
        platform=toolchain.platform,
        uuid="",
        file=file.name,
        kernels=tuple(
            manifest_record(g, hashlib.sha256(keys[g.name].encode()).hexdigest(), banks.get(g.name))
            for g in built.groups
        ),
        tools={"ftensor": __version__, **toolchain.tools()},
        clock_mhz=toolchain.clock_mhz or 0.0,
        inventory_sha256=request.inventory_sha256,
        host=request.host,
    )
    before = _earlier(folders.manifest)
    # An unchanged image keeps its date.
    dates = [before.created] if before is not None else []
    for created in [*dates, datetime.now(timezone.utc).isoformat(timespec="seconds")]:
        data, stamped = toolchain.image(linked, built.groups, replace(manifest, created=created))
        if stamped == before:
            break
    write_atomically(file, data)
    write_atomically(folders.manifest, stamped.to_json())
    return replace(built, image=file, manifest=stamped)


def _earlier(path: Path) -> Manifest | None:
    try:
        return Manifest.read(path)
    except (OSError, ImageError):
        return None


def failed_log(outcome: Outcome) -> Sequence[str]:
    """Returns the report of a failure: the kernel, the path of its log, and the log's last
    lines."""
    how = f"ended with status {outcome.status}"
    if outcome.status < 0:
        how = f"was killed by signal {-outcome.status}"
    return [
        f"{outcome.job.name}: the compiler {how}; the whole log is {outcome.job.log}",
        *(f"    {line}" for line in outcome.tail),
    ]
