"""The binary sections of an xclbin: tables of equal entries behind a count, little endian."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors.image import bad_section
from .contents import CLOCK_TYPES, CONTROLS, IP_KERNEL, MEMORY_TYPES, Bank, Clock, Connection, Unit
from .xclbin import Kind

MEMORY = struct.Struct("<BB6xQQ16s")  # type, used, size in KiB, base, name
UNIT = struct.Struct("<IIQ64s")  # type, properties, base, "kernel:instance"
CONNECTION = struct.Struct("<iii")  # argument, entry of IP_LAYOUT, entry of MEM_TOPOLOGY
CLOCK = struct.Struct("<HB5x128s")  # MHz, type, name
NOT_MEMORY = {"STREAMING", "STREAMING_CONNECTION"}  # their size and base mean something else
MOST_ENTRIES = 65536

assert (MEMORY.size, UNIT.size, CONNECTION.size, CLOCK.size) == (40, 80, 12, 136)


def _entries(data: bytes, kind: Kind, entry: struct.Struct, start: int) -> Iterator[tuple[Any, ...]]:
    """The entries of a table; the count before them is a signed integer of 2 or 4 bytes."""
    if not data:
        return
    width = min(start, 4)
    if len(data) < width:
        raise bad_section(kind.name, f"there are {len(data)} bytes, too few for a count")
    count = int.from_bytes(data[:width], "little", signed=True)
    if not 0 <= count <= MOST_ENTRIES:
        raise bad_section(kind.name, f"{count} entries are announced")
    if start + count * entry.size > len(data) and count:
        raise bad_section(kind.name, f"{count} entries are announced, but there are {len(data)} bytes")
    for k in range(count):
        yield entry.unpack_from(data, start + k * entry.size)


def memories(data: bytes, kind: Kind = Kind.MEM_TOPOLOGY) -> tuple[Bank, ...]:
    """The banks that MEM_TOPOLOGY (or a group topology) lists."""
    return tuple(
        Bank(
            _text(name),
            kib if _name(MEMORY_TYPES, type_) in NOT_MEMORY else kib * 1024,
            base,
            _name(MEMORY_TYPES, type_),
            bool(used),
        )
        for type_, used, kib, base, name in _entries(data, kind, MEMORY, 8)
    )


def memories_data(banks: Sequence[Bank]) -> bytes:
    """MEM_TOPOLOGY of banks."""
    rows = [
        MEMORY.pack(
            _code(MEMORY_TYPES, b.type),
            b.used,
            b.size if b.type in NOT_MEMORY else b.size // 1024,
            b.base,
            b.name.encode(),
        )
        for b in banks
    ]
    return struct.pack("<i4x", len(rows)) + b"".join(rows)


def ip_layout(data: bytes) -> tuple[Unit, ...]:
    """The units that IP_LAYOUT lists, and what else sits on the control bus."""
    units = []
    for type_, bits, base, name in _entries(data, Kind.IP_LAYOUT, UNIT, 8):
        control = _name(CONTROLS, bits >> 8 & 0xFF) if type_ == IP_KERNEL else ""
        interrupt = bits >> 1 & 0x7F if bits & 1 and type_ == IP_KERNEL else None
        units.append(Unit(_text(name), base, control, type_, interrupt))
    return tuple(units)


def ip_layout_data(units: Sequence[Unit]) -> bytes:
    """IP_LAYOUT of units."""
    rows = []
    for u in units:
        bits = _code(CONTROLS, u.control) << 8 if u.type == IP_KERNEL else 0
        if u.interrupt is not None:
            bits |= 1 | u.interrupt << 1
        rows.append(UNIT.pack(u.type, bits, u.base, u.name.encode()))
    return struct.pack("<i4x", len(rows)) + b"".join(rows)


def connectivity(data: bytes) -> tuple[Connection, ...]:
    """Which argument of which unit reaches which bank."""
    return tuple(Connection(*row) for row in _entries(data, Kind.CONNECTIVITY, CONNECTION, 4))


def connectivity_data(links: Sequence[Connection]) -> bytes:
    """CONNECTIVITY of connections."""
    rows = [CONNECTION.pack(link.argument, link.unit, link.bank) for link in links]
    return struct.pack("<i", len(rows)) + b"".join(rows)


def clocks(data: bytes) -> tuple[Clock, ...]:
    """The clocks that CLOCK_FREQ_TOPOLOGY lists."""
    rows = _entries(data, Kind.CLOCK_FREQ_TOPOLOGY, CLOCK, 2)
    return tuple(Clock(_text(name), mhz, _name(CLOCK_TYPES, type_)) for mhz, type_, name in rows)


def clocks_data(clocks: Sequence[Clock]) -> bytes:
    """CLOCK_FREQ_TOPOLOGY of clocks."""
    rows = [CLOCK.pack(c.mhz, _code(CLOCK_TYPES, c.type), c.name.encode()) for c in clocks]
    return struct.pack("<h", len(rows)) + b"".join(rows)


def _text(data: bytes) -> str:
    return data.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def _name(names: Sequence[str], code: int) -> str:
    return names[code] if code < len(names) else f"type {code}"


def _code(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else int(name.removeprefix("type "))
