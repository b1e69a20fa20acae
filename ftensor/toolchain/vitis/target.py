"""Vitis: an object (.xo) for each kernel by `v++ --compile`, an image (.xclbin) by `v++ --link`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ...boards import of_platform
from ...errors.build import linked_image_unusable, no_platform, no_vitis
from ...errors.image import ImageError
from ...image import xclbin
from ...image.manifest import Manifest
from ...runtime.command_words import file_word
from ..group import KernelGroup
from ..jobs.workspace import Job, Source, Workspace, content_key, write_atomically
from ..make import version_text, which
from . import link

NEWEST = (2023, 1)  # the version that a dry run without Vitis assumes


class Vitis:
    """The targets hw and hw_emu."""

    suffix = ".xclbin"
    memory = 6 << 30
    shares_ports = True

    def __init__(self, target: str, platform: str, clock_mhz: float | None = None, dry: bool = False) -> None:
        """Raises BuildError without a platform, and without v++ unless `dry`: a dry run only prints
        commands."""
        self.target, self.platform, self.clock_mhz = target, platform, clock_mhz
        self.board = of_platform(platform)
        if which("v++") is None and not dry:
            raise no_vitis(target)
        if not platform:
            raise no_platform(target)

    @cached_property
    def _version_text(self) -> str:
        return version_text(["v++"]) if which("v++") is not None else ""

    @property
    def version(self) -> tuple[int, int]:
        """(year, number) of v++; the newest known version if v++ is missing."""
        match = re.search(r"\bv(\d{4})\.(\d+)", self._version_text)
        return (int(match[1]), int(match[2])) if match else NEWEST

    def tools(self) -> Mapping[str, str]:
        """Returns v++'s version and build number."""
        build = re.search(r"SW Build (\d+)", self._version_text)
        version = ".".join(map(str, self.version)) if self._version_text else "not here"
        return {"v++": version + (f" build {build[1]}" if build else "")}

    def sources(self, groups: Sequence[KernelGroup], folders: Workspace) -> list[Source]:
        """Writes the C++ sources."""
        from ..csim import write_sources

        return write_sources(groups, folders, [folders.sources])

    def compile_job(self, source: Source, folders: Workspace) -> Job:
        """Returns the `v++ --compile` job of a kernel."""
        name = source.name
        flags = ["-c", "-k", name, "--platform", self.platform, "-t", self.target, "--save-temps"]
        if self.clock_mhz is not None:
            flags += ["--hls.clock", f"{link.hertz(self.clock_mhz)}:{name}"]
        key = content_key(source.digest, *flags, self._version_text)
        output = folders.objects / f"{name}-{key}.xo"
        places = ["-I", file_word(folders.sources), *self._places(folders, name)]
        command = ("v++", *flags, *places, "-o", file_word(output), file_word(source.path))
        return Job(name, command, output, folders.logs / f"{name}.log", key, source.size)

    def link_job(self, name: str, objects: Sequence[Job], groups: Sequence[KernelGroup], folders: Workspace) -> Job:
        """Writes link.cfg, and returns the `v++ --link` job of all kernels."""
        configuration = link.configuration(groups, self.version, self.clock_mhz, board=self.board)
        write_atomically(folders.link_configuration, configuration)
        flags = ["-l", "--platform", self.platform, "-t", self.target, "--save-temps"]
        key = content_key(configuration, *flags, self._version_text, *(job.key for job in objects))
        output = folders.objects / f"{name}-{key}.xclbin"
        places = ["--config", file_word(folders.link_configuration), *self._places(folders, "link")]
        files = [file_word(job.output) for job in objects]
        command = ("v++", *flags, *places, "-o", file_word(output), *files)
        weight = 10 * sum(job.weight for job in objects)
        return Job(f"link of {name}", command, output, folders.logs / "link.log", key, weight)

    def _places(self, folders: Workspace, name: str) -> list[str]:
        """Returns options for separate work folders, since several v++ processes run at once."""
        places = {"--temp_dir": folders.work, "--report_dir": folders.reports, "--log_dir": folders.logs}
        return [word for option, folder in places.items() for word in (option, file_word(folder / name))]

    def banks(self, groups: Sequence[KernelGroup]) -> Mapping[str, Mapping[str, str]]:
        """Returns the memories as in link.cfg."""
        return link.banks(groups, self.board)

    def image(self, linked: Path, groups: Sequence[KernelGroup], manifest: Manifest) -> tuple[bytes, Manifest]:
        """Returns v++'s xclbin with the manifest inserted. Raises BuildError if it is not one."""
        try:
            container = xclbin.read(linked.read_bytes())
        except ImageError as problem:
            raise linked_image_unusable(linked, problem) from None
        manifest = replace(manifest, uuid=str(container.uuid), platform=container.platform or self.platform)
        kept = [s for s in container.sections if s.kind != xclbin.SectionKind.USER_METADATA]
        manifest_section = xclbin.Section(xclbin.SectionKind.USER_METADATA, "ftensor", manifest.to_json().encode())
        return xclbin.write(container.with_sections([*kept, manifest_section])), manifest
