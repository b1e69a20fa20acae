"""The xclbin container: reads and writes the file of a board's image.

The layout is that of the `axlf` structure in XRT's public header `xclbin.h`: a preamble of 304
bytes, a header of 152, a table of 40-byte section headers, and the sections, each on an 8-byte
boundary, all little endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from uuid import UUID

from ..errors.image import malformed, too_short

MAGIC = b"xclbin2\0"
PREAMBLE = struct.Struct("<8si28s256sQ")  # magic, signature length, reserved, key block, unique id
# length, time stamp, platform's time stamp, version (patch, major, minor), mode, actions,
# interface UUID, platform name, UUID, debug file name, number of sections
HEADER = struct.Struct("<QQQHBBHH16s64s16s16sI4x")
ENTRY = struct.Struct("<I16s4xQQ")  # kind, name, offset, size
ALIGNMENT = 8
MAX_SECTIONS = 4096
NIL = UUID(int=0)

assert PREAMBLE.size == 304 and HEADER.size == 152 and ENTRY.size == 40


class SectionKind(IntEnum):
    """The section kinds defined by XRT."""

    BITSTREAM = 0
    CLEARING_BITSTREAM = 1
    EMBEDDED_METADATA = 2
    FIRMWARE = 3
    DEBUG_DATA = 4
    SCHED_FIRMWARE = 5
    MEM_TOPOLOGY = 6
    CONNECTIVITY = 7
    IP_LAYOUT = 8
    DEBUG_IP_LAYOUT = 9
    DESIGN_CHECK_POINT = 10
    CLOCK_FREQ_TOPOLOGY = 11
    MCS = 12
    BMC = 13
    BUILD_METADATA = 14
    KEYVALUE_METADATA = 15
    USER_METADATA = 16
    DNA_CERTIFICATE = 17
    PDI = 18
    BITSTREAM_PARTIAL_PDI = 19
    PARTITION_METADATA = 20
    EMULATION_DATA = 21
    SYSTEM_METADATA = 22
    SOFT_KERNEL = 23
    ASK_FLASH = 24
    AIE_METADATA = 25
    ASK_GROUP_TOPOLOGY = 26
    ASK_GROUP_CONNECTIVITY = 27
    SMARTNIC = 28
    AIE_RESOURCES = 29
    OVERLAY = 30
    VENDER_METADATA = 31


class Mode(IntEnum):
    """The kind of device that an image is for, such as hardware or emulation."""

    FLAT = 0
    PR = 1
    TANDEM_STAGE2 = 2
    TANDEM_STAGE2_WITH_PR = 3
    HW_EMU = 4
    SW_EMU = 5
    HW_EMU_PR = 6


@dataclass(frozen=True)
class Section:
    """One section of the file. `kind` is a `SectionKind` if XRT defines it, else the number."""

    kind: int
    name: str
    data: bytes = field(repr=False)

    @property
    def title(self) -> str:
        """The kind's name, for display."""
        return SectionKind(self.kind).name if self.kind in set(SectionKind) else f"kind {self.kind}"


@dataclass(frozen=True)
class Xclbin:
    """The contents of an xclbin file. `platform` is the shell's VBNV name, at most 63 bytes."""

    uuid: UUID
    sections: tuple[Section, ...]
    platform: str = ""
    interface_uuid: UUID = NIL
    mode: int = Mode.FLAT
    timestamp: int = 0  # seconds since 1970
    platform_timestamp: int = 0
    version: tuple[int, int, int] = (2, 0, 0)  # major, minor, patch of the tool
    actions: int = 0
    unique_id: int = 0
    debug_file: str = ""

    def section(self, kind: SectionKind) -> bytes | None:
        """Returns the data of the first section of a kind, or None."""
        return next((s.data for s in self.sections if s.kind == kind), None)

    def with_sections(self, sections: Iterable[Section]) -> Xclbin:
        """Returns the same file with other sections."""
        return replace(self, sections=tuple(sections))


def read(data: bytes) -> Xclbin:
    """Parses an xclbin file. Raises ImageError if it is truncated or inconsistent.

    A signature is neither checked nor kept: XRT checks it, and any change invalidates it.
    """
    if len(data) < PREAMBLE.size + HEADER.size:
        raise too_short("the header", PREAMBLE.size + HEADER.size, len(data))
    magic, signature, _, _, unique_id = PREAMBLE.unpack_from(data)
    if magic != MAGIC:
        raise malformed(f"it starts with {magic!r}, not with {MAGIC!r}")
    (
        length, timestamp, platform_timestamp, patch, major, minor, mode, actions,
        interface, platform, uuid, debug, count,
    ) = HEADER.unpack_from(data, PREAMBLE.size)  # fmt: skip
    if length > len(data):
        raise too_short("the file", length, len(data))
    # A signed file has its signature after the bytes that the header counts.
    if len(data) not in (length, length + signature):
        raise malformed(f"its header says {length} bytes, but it has {len(data)}")
    data = data[:length]
    table = PREAMBLE.size + HEADER.size
    if count > MAX_SECTIONS:
        raise malformed(f"its header counts {count} sections")
    if table + count * ENTRY.size > len(data):
        raise too_short("the section table", table + count * ENTRY.size, len(data))
    sections = []
    for k in range(count):
        kind, name, offset, size = ENTRY.unpack_from(data, table + k * ENTRY.size)
        if offset < table + count * ENTRY.size or offset + size > len(data):
            raise malformed(f"section {k} lies at {offset} with {size} bytes, outside the file")
        sections.append(Section(kind, zero_ended(name), data[offset : offset + size]))
    return Xclbin(
        UUID(bytes=uuid),
        tuple(sections),
        zero_ended(platform),
        UUID(bytes=interface),
        mode,
        timestamp,
        platform_timestamp,
        (major, minor, patch),
        actions,
        unique_id,
        zero_ended(debug),
    )


def write(image: Xclbin) -> bytes:
    """Encodes an xclbin file. Reading and writing a file yields an equivalent file."""
    at = PREAMBLE.size + HEADER.size + ENTRY.size * len(image.sections)
    table, body = b"", bytearray()
    for section in image.sections:
        padding = -(at + len(body)) % ALIGNMENT
        body += bytes(padding)
        name = _bytes("a section's name", section.name, 16)
        table += ENTRY.pack(section.kind, name, at + len(body), len(section.data))
        body += section.data
    major, minor, patch = image.version
    header = HEADER.pack(
        at + len(body), image.timestamp, image.platform_timestamp, patch, major, minor, image.mode,
        image.actions, image.interface_uuid.bytes, _bytes("the platform", image.platform, 64),
        image.uuid.bytes, _bytes("the debug file", image.debug_file, 16), len(image.sections),
    )  # fmt: skip
    unsigned = PREAMBLE.pack(MAGIC, -1, b"\xff" * 28, b"\xff" * 256, image.unique_id)
    return unsigned + header + table + bytes(body)


def zero_ended(field_: bytes) -> str:
    """Returns the text of a zero-terminated field, in which bytes that are not UTF-8 are escaped."""
    return field_.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def _bytes(field_name: str, text: str, size: int) -> bytes:
    data = text.encode()
    if len(data) >= size:
        raise ValueError(f"{field_name} {text!r} is longer than the {size - 1} bytes of its field")
    return data
