"""Intel FPGAs: kernels in OpenCL C, compiled by aoc for a board or for the emulator."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path

from ...errors import commands as errors
from ...errors.build import no_aoc, no_board
from ...image.file import image_uuid, uses_channels
from ...image.manifest import Manifest
from ...runtime import cache
from ...runtime.command_words import file_word
from ...runtime.intel import emulator
from ...runtime.targets import BY_NAME
from ...terminal import counted
from ..group import KernelGroup
from ..jobs.workspace import Job, Source, Workspace, content_key, write_source_files
from ..make import version_text, which
from .member import title


def source(group: KernelGroup) -> str:
    """Returns the self-contained text of a group. Raises ValueError if it cannot be a kernel."""
    how = "one loop"
    if group.kind.waits:
        how = "a kernel for each stage, joined by channels"
    elif uses_channels(group.skeleton, group.structure):
        how = "load, compute and store joined by channels"
    comment = [
        f"// Kernel {group.name}: {group.skeleton}, {counted(group.lanes, 'lane')}, {how}, "
        f"{counted(group.units, 'compute unit')}.",
        "// Made by `ftensor build` from the catalogue's expressions; aoc compiles it as it is.",
    ]
    for opcode, key in enumerate(group.keys):
        comment += [f"// {title(opcode, key)}", f"//   serves {key.entry}"]
    if not group.keys:
        comment.append(f"//   serves {group.members[0].entry}")
    body = import_module(f".{group.kind.intel_module()}", __package__).text(group)
    return "\n".join([*comment, "", body]) + "\n"


COMPILER = Path(__file__).with_name("compile.py")


class _Intel:
    """The common part of both targets."""

    target: str
    suffix = ".aocx"
    shares_ports = False  # a board takes as many kernels as fit
    clock_mhz: float | None = None  # aoc chooses the fastest clock that the routed design meets

    def sources(self, groups: Sequence[KernelGroup], folders: Workspace) -> list[Source]:
        """Writes a self-contained file of OpenCL C for each kernel."""

        return write_source_files(groups, folders.sources, source, {}, ".cl", ())

    def banks(self, groups: Sequence[KernelGroup]) -> Mapping[str, Mapping[str, str]]:
        """Returns no banks: the board's memory system interleaves them."""
        return {}

    def image(self, linked: Path, groups: Sequence[KernelGroup], manifest: Manifest) -> tuple[bytes, Manifest]:
        """Returns the linked file unchanged, and the manifest with the kernels of graphs' stages.
        The manifest is a file beside the image."""
        from .staged import with_stages

        data = linked.read_bytes()
        kernels = tuple(with_stages(k, g) for k, g in zip(manifest.kernels, groups, strict=True))
        return data, replace(manifest, uuid=image_uuid(data), kernels=kernels)


class Aoc(_Intel):
    """The target intel: an image for a board, built by Intel's offline compiler."""

    target = "intel"
    memory = 16 << 30

    def __init__(self, platform: str, dry: bool = False) -> None:
        """Raises BuildError without a platform, and without aoc unless `dry`: a dry run only prints
        commands.

        `platform` is the board's name as `aoc -list-boards` prints it.
        """
        if which("aoc") is None and not dry:
            raise no_aoc()
        if not platform:
            raise no_board()
        self.platform = platform

    @cached_property
    def _version(self) -> str:
        return version_text(["aoc"]).strip() if which("aoc") is not None else ""

    def tools(self) -> Mapping[str, str]:
        """Returns aoc's version."""
        version_lines = [line for line in self._version.splitlines() if "Version" in line]
        return {"aoc": (version_lines or self._version.splitlines()[-1:] or ["not here"])[0].strip()}

    def compile_job(self, source: Source, folders: Workspace) -> Job:
        """Returns the `aoc -c` job of a kernel: an object, and an estimate of its area."""
        flags = ("-c", f"-board={self.platform}")
        key = content_key(source.digest, *flags, self._version)
        output = folders.objects / f"{source.name}-{key}.aoco"
        command = ("aoc", *flags, "-o", file_word(output), file_word(source.path))
        log = folders.logs / f"{source.name}.log"
        return Job(source.name, command, output, log, key, source.size)

    def link_job(self, name: str, objects: Sequence[Job], groups: Sequence[KernelGroup], folders: Workspace) -> Job:
        """Returns the job that places and routes all kernels, which takes hours."""
        flags = (f"-board={self.platform}",)
        key = content_key(*flags, self._version, *(job.key for job in objects))
        output = folders.objects / f"{name}-{key}.aocx"
        files = [file_word(job.output) for job in objects]
        command = ("aoc", *flags, "-o", file_word(output), *files)
        weight = 100 * sum(job.weight for job in objects)
        return Job(f"link of {name}", command, output, folders.logs / "link.log", key, weight)


class Emulator(_Intel):
    """The target intel-emulator: the same sources, compiled for Intel's FPGA emulator."""

    target = "intel-emulator"
    memory = 1 << 29

    def __init__(self, platform: str = "") -> None:
        """Raises BuildError if the emulator is not installed."""
        library = emulator.driver()
        if library is None:
            raise errors.no_emulator_to_build(emulator.default_folder())
        self.library = library
        self.platform = platform or "Intel FPGA emulator"

    @cached_property
    def _version(self) -> str:
        return emulator.version(self.library)

    def tools(self) -> Mapping[str, str]:
        """Returns the emulator's version."""
        return {"intel-opencl-rt": self._version}

    @cached_property
    def _environment(self) -> tuple[tuple[str, str], ...]:
        """Returns the variables that the compiler process needs beyond the current environment."""
        env = emulator.environment(self.library, os.environ, cache.directory())
        changed = {k: v for k, v in env.items() if os.environ.get(k) != v or k in emulator.SETTINGS}
        return tuple(sorted(changed.items()))

    def _job(
        self, name: str, output: Path, log: Path, key: str, weight: float, what: str, inputs: Sequence[str]
    ) -> Job:
        platform = BY_NAME[emulator.TARGET].platform_match
        command = (sys.executable, str(COMPILER), what, platform, file_word(output), *inputs)
        return Job(name, command, output, log, key, weight, self._environment)

    def compile_job(self, source: Source, folders: Workspace) -> Job:
        """Returns the job that compiles a kernel without linking."""
        key = content_key(source.digest, self._version)
        output = folders.objects / f"{source.name}-{key}.o"
        log = folders.logs / f"{source.name}.log"
        path = [file_word(source.path)]
        return self._job(source.name, output, log, key, source.size, "compile", path)

    def link_job(self, name: str, objects: Sequence[Job], groups: Sequence[KernelGroup], folders: Workspace) -> Job:
        """Returns the job that links all kernels into one program."""
        key = content_key(self._version, *(job.key for job in objects))
        output = folders.objects / f"{name}-{key}.aocx"
        log, weight = folders.logs / "link.log", sum(job.weight for job in objects)
        files = [file_word(job.output) for job in objects]
        return self._job(f"link of {name}", output, log, key, weight, "link", files)
