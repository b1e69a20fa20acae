"""C simulation: the sources for v++, compiled by g++ and packed for XRT's emulation mode."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..boards import Board, of_platform
from ..errors.build import no_cxx, not_joined
from ..image.manifest import Manifest
from ..kernels.channels import channels
from ..kernels.network_parts import LinkedKey
from ..runtime.command_words import file_word
from ..runtime.csim.backend import FLAGS, cpu_name
from ..runtime.targets import CSIM, csim_compiler
from .connectivity import BANK_SIZES, GIB
from .group import KernelGroup, arguments
from .jobs.workspace import (
    Job,
    Source,
    Workspace,
    content_key,
    included_text,
    without_comments,
    write_atomically,
    write_source_files,
)
from .joined import sources
from .make import version_text
from .vitis import link

if TYPE_CHECKING:
    from ..image.contents import Bank, Description

CLOCK_MHZ = 300.0  # the clock in the image's metadata; the simulation has no clock
# Bytes of a channel if all ports reach the same range: the runtime allocates the whole range, and
# XRT touches all allocated memory.
CHANNEL = GIB // 64
# No thread but the kernel's own accesses the FIFOs of its stages (hls/standin/hls_stream.h).
SEQUENTIAL = "-DFT_SEQUENTIAL"


def write_sources(
    groups: Sequence[KernelGroup], folders: Workspace, include: Sequence[Path], flush: bool = False
) -> list[Source]:
    """Writes the kernels' C++ and headers, equal for v++ and g++.

    With `flush`, for g++ only, kernels first set the processor to flush subnormal numbers to zero.
    """
    from .vitis.source import flushing, headers, source

    text = flushing if flush else source
    return write_source_files(groups, folders.sources, text, headers(), ".cpp", include)


class CSim:
    """The target csim."""

    target = "csim"
    suffix = ".xclbin"
    memory = 1 << 30
    shares_ports = True

    def __init__(self, platform: str = "", clock_mhz: float | None = None, flush: bool = False) -> None:
        """`flush`: kernels treat subnormal numbers as zeros. Raises BuildError without a C++
        compiler."""
        self.platform, self.clock_mhz, self.flush = platform, clock_mhz, flush
        compiler = csim_compiler()
        if compiler is None:
            raise no_cxx(os.environ.get("CXX") or "g++")
        self.compiler = compiler

    @cached_property
    def _version(self) -> str:
        return version_text(self.compiler).splitlines()[0]

    def tools(self) -> Mapping[str, str]:
        """Returns the compiler's version, and a note if subnormal numbers are flushed."""
        versions = {Path(self.compiler[0]).name: self._version}
        return versions | ({"subnormals": "flushed to zero"} if self.flush else {})

    def sources(self, groups: Sequence[KernelGroup], folders: Workspace) -> list[Source]:
        """Writes the C++ for v++. Includes thin stand-ins for Vitis' headers, unless a folder is
        named."""
        return write_sources(groups, folders, self._include(folders), self.flush)

    def _include(self, folders: Workspace) -> list[Path]:
        from .vitis.source import vitis_headers

        return [folders.sources, vitis_headers()]

    def _included(self, folders: Workspace) -> list[str]:
        return [word for folder in self._include(folders) for word in ("-I", file_word(folder))]

    def _joining(self, groups: Sequence[KernelGroup], folders: Workspace) -> dict[str, str]:
        """Writes the files that connect the kernels of linked graphs; returns their content hashes
        by path."""
        from .vitis.source import VITIS_INCLUDE, standins, vitis_headers

        texts = sources(groups)
        if texts and vitis_headers() != standins():
            raise not_joined(VITIS_INCLUDE)
        digests = {}
        for begins, text in texts.items():
            path = folders.sources / f"{begins}_joined.cpp"
            write_atomically(path, text)
            read = included_text(path, self._include(folders))
            digests[file_word(path)] = content_key(*map(without_comments, read))
        return digests

    def compile_job(self, source: Source, folders: Workspace) -> Job:
        """Returns the job that compiles a kernel to an object file."""
        flags = [*self.compiler, *(f for f in FLAGS if f != "-shared"), *CSIM.build_options, SEQUENTIAL]
        # -march=native compiles for this CPU, and other machines may share the folder.
        key = content_key(source.digest, *flags, self._version, cpu_name())
        output = folders.objects / f"{source.name}-{key}.o"
        command = (*flags, *self._included(folders), "-c", "-o", file_word(output), file_word(source.path))
        log = folders.logs / f"{source.name}.log"
        return Job(source.name, command, output, log, key, source.size)

    def link_job(self, name: str, objects: Sequence[Job], groups: Sequence[KernelGroup], folders: Workspace) -> Job:
        """Returns the job that links all kernels into one shared object."""
        joining = self._joining(groups, folders)
        key = content_key(*(job.key for job in objects), *joining.values(), *FLAGS, self._version)
        output = folders.objects / f"{name}-{key}.so"
        files = [file_word(job.output) for job in objects]
        flags = ["-shared", "-fPIC"]
        if joining:
            flags = [*FLAGS, *CSIM.build_options, *self._included(folders), *joining]
        command = (*self.compiler, *flags, "-o", file_word(output), *files)
        weight = 0.02 * sum(job.weight for job in objects)
        return Job(f"link of {name}", command, output, folders.logs / "link.log", key, weight)

    def banks(self, groups: Sequence[KernelGroup]) -> Mapping[str, Mapping[str, str]]:
        """Returns the banks of the platform's board, so that the runtime places buffers as on that
        board."""
        return link.banks(groups, of_platform(self.platform))

    def image(self, linked: Path, groups: Sequence[KernelGroup], manifest: Manifest) -> tuple[bytes, Manifest]:
        """Returns the shared object packed for XRT."""
        from ..image.description import content_uuid, pack

        library = linked.read_bytes()
        described = describe(groups, manifest.name, self.platform, self.clock_mhz or CLOCK_MHZ)
        manifest = replace(manifest, uuid=str(content_uuid(described, library)))
        return pack(described, library, manifest.to_json()), manifest


def describe(groups: Sequence[KernelGroup], name: str, platform: str, clock_mhz: float) -> Description:
    """Returns the container's description of the kernels: arguments, compute units, memories.

    The memories are those of the platform's board, if `boards` has it.
    """
    from ..image.contents import ArgumentDescription, ComputeUnit, Description, KernelDescription

    kernels, names = [], dict[str, None]()
    board = of_platform(platform)
    placed = link.banks(groups, board)
    # As on a board's platform, a range that all ports reach is one memory.
    one_bank = len({bank for banks in placed.values() for bank in banks.values()}) == 1
    for group in groups:
        banks_of = {a: _each(bank, one_bank) for a, bank in placed[group.name].items()}
        names.update(dict.fromkeys(bank for banks in banks_of.values() for bank in banks))
        rows = tuple(ArgumentDescription(a.name, a.c, banks=banks_of.get(a.name, ())) for a in arguments(group))
        member = group.members[0]
        if isinstance(member, LinkedKey):
            rows += tuple(ArgumentDescription(name, "hls::stream") for name in member.stream_names)
        units = tuple(ComputeUnit(unit) for unit in link.compute_unit_names(group))
        control = "AP_CTRL_HS" if group.started else "AP_CTRL_NONE"
        kernels.append(KernelDescription(group.name, rows, units, control))
    return Description(tuple(kernels), _banks(tuple(names), board), platform, clock_mhz, name)


def _each(bank: str, keep_range: bool) -> tuple[str, ...]:
    """Returns the single banks that a name such as HBM[0:2] denotes. With `keep_range`, a range of
    HBM channels stays one bank."""
    match = re.fullmatch(r"(\w+)\[(\d+):(\d+)\]", bank)
    if match is None or (keep_range and channels(bank)):
        return (bank,)
    return tuple(f"{match[1]}[{k}]" for k in range(int(match[2]), int(match[3]) + 1))


def _banks(names: Sequence[str], board: Board | None) -> tuple[Bank, ...]:
    """Returns memories large enough for tests; none if the kernels name none. If a board's ports
    are several paths to one memory, all banks have the same base and size."""
    from ..image.contents import Bank

    if len(names) == 1 and (reached := channels(names[0])):
        size, base = CHANNEL * len(reached), CHANNEL * reached[0]
        return (Bank(names[0], size, base, "HBM"),)
    order = sorted(names, key=lambda n: (n.partition("[")[0], int(re.sub(r"\D", "", n) or 0)))
    kinds = [name.partition("[")[0] for name in order]
    if board is not None and board.banks.value == 1:
        return tuple(Bank(name, int(board.bank_bytes.value) * GIB, 0) for name in order)
    return tuple(
        Bank(name, BANK_SIZES.get(kind, 16 * GIB), type="HBM" if kind == "HBM" else "DDR4")
        for name, kind in zip(order, kinds)
    )
