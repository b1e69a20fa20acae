"""An image for an Intel FPGA as a file: the program's bytes, with its manifest beside it."""

from __future__ import annotations

import hashlib
from uuid import UUID

SUFFIX = ".aocx"
TARGETS = ("intel", "intel-emulator")


def image_uuid(data: bytes) -> str:
    """The UUID of an image: a digest of its bytes, as the file names none itself."""
    return str(UUID(bytes=hashlib.sha256(data).digest()[:16], version=4))
