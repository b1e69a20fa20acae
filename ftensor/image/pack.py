"""Packs kernels compiled for the host into an xclbin for XRT's software emulation."""

from __future__ import annotations

import hashlib
from uuid import UUID

from ..errors.image import bad_description
from . import xclbin
from .description import complete
from .sections import Description, sections
from .xclbin import Mode, Section, SectionKind, Xclbin

ELF = b"\x7fELF"


def content_uuid(description: Description, library: bytes) -> UUID:
    """Returns the UUID of an image from a digest of its library and description.

    The UUID does not depend on the manifest, so the manifest can contain it.
    """
    digest = hashlib.sha256(library)
    for section in sections(complete(description)):
        digest.update(len(section.data).to_bytes(8, "little") + section.data)
    digest.update(description.platform.encode())
    return UUID(bytes=digest.digest()[:16], version=4)


def pack(description: Description, library: bytes, manifest: str | None = None) -> bytes:
    """Returns the bytes of an xclbin for software emulation.

    `library` is a shared object with one C function per kernel; `manifest` is stored in
    USER_METADATA. Raises ImageError if the description is unusable or the library is no ELF file.
    """
    if not library.startswith(ELF):
        raise bad_description("the library is no shared object (ELF file)")
    description = complete(description)
    parts = [Section(SectionKind.BITSTREAM, "kernels", library), *sections(description)]
    if manifest is not None:
        parts.append(Section(SectionKind.USER_METADATA, "manifest", manifest.encode()))
    return xclbin.write(
        Xclbin(content_uuid(description, library), tuple(parts), description.platform, mode=Mode.SW_EMU)
    )
