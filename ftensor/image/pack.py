"""An xclbin file from kernels compiled for the host: what XRT's software emulation loads."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from uuid import UUID

from ..errors.image import ImageError, bad_description, unreadable
from ..table import counted
from . import xclbin
from .description import complete, read
from .sections import Description, sections
from .shown import complain
from .xclbin import Kind, Mode, Section, Xclbin

ELF = b"\x7fELF"


def content_uuid(description: Description, library: bytes) -> UUID:
    """The UUID of the image of a library and its description; other contents, another UUID.

    It does not depend on the manifest, so a manifest can name it.
    """
    digest = hashlib.sha256(library)
    for section in sections(complete(description)):
        digest.update(len(section.data).to_bytes(8, "little") + section.data)
    digest.update(description.platform.encode())
    return UUID(bytes=digest.digest()[:16], version=4)


def pack(description: Description, library: bytes, manifest: str | None = None) -> bytes:
    """The bytes of an xclbin for software emulation.

    `library` is a shared object with one C function per kernel; a `manifest` travels along in
    USER_METADATA. ImageError where the description can't be used or the library is none.
    """
    if not library.startswith(ELF):
        raise bad_description("the library is no shared object (ELF file)")
    description = complete(description)
    parts = [Section(Kind.BITSTREAM, "kernels", library), *sections(description)]
    if manifest is not None:
        parts.append(Section(Kind.USER_METADATA, "manifest", manifest.encode()))
    return xclbin.write(
        Xclbin(
            content_uuid(description, library),
            tuple(parts),
            description.platform,
            mode=Mode.SW_EMU,
        )
    )


def command(arguments: argparse.Namespace) -> int:
    """`ftensor image pack`: the exit status."""
    try:
        description = read(arguments.description)
        try:
            library = Path(arguments.library).read_bytes()
        except OSError as e:
            raise unreadable(arguments.library, e.strerror) from None
        for kernel in description.kernels:
            # An exported name stands in the library's table of strings, between two zeros.
            if b"\0" + kernel.name.encode() + b"\0" not in library:
                raise bad_description(f"{arguments.library} has no function {kernel.name!r}")
        text = None
        if arguments.manifest is not None:
            try:
                text = Path(arguments.manifest).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as e:
                raise unreadable(arguments.manifest, getattr(e, "strerror", None) or e) from None
        data = pack(description, library, text)
        try:
            Path(arguments.output).write_bytes(data)
        except OSError as e:
            return complain(f"can't write {arguments.output!r}: {e.strerror}")
    except ImageError as e:
        return complain(str(e))
    units = sum(len(kernel.units) for kernel in description.kernels)
    print(
        f"{arguments.output}: {counted(len(description.kernels), 'kernel')}, "
        f"{counted(units, 'compute unit')}"
    )
    return 0
