"""Parses and writes the sections of an xclbin."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors.image import bad_section, no_section
from .contents import (
    CLOCK_TYPES,
    CONTROLS,
    IP_KERNEL,
    MEMORY_TYPES,
    NOT_MEMORY,
    Bank,
    BankConnection,
    Clock,
    Description,
    IpLayoutEntry,
    KernelDescription,
)
from .xclbin import Section, SectionKind, Xclbin, zero_ended

MEMORY = struct.Struct("<BB6xQQ16s")  # type, used, size in KiB, base, name
UNIT = struct.Struct("<IIQ64s")  # type, properties, base, "kernel:instance"
CONNECTION = struct.Struct("<iii")  # argument, entry of IP_LAYOUT, entry of MEM_TOPOLOGY
CLOCK = struct.Struct("<HB5x128s")  # MHz, type, name
MAX_ENTRIES = 65536

assert (MEMORY.size, UNIT.size, CONNECTION.size, CLOCK.size) == (40, 80, 12, 136)


def _entries(data: bytes, kind: SectionKind, entry: struct.Struct, start: int) -> Iterator[tuple[Any, ...]]:
    """Yields the entries of a table. The table begins with their number, a signed integer of 2 or 4
    bytes."""
    if not data:
        return
    width = min(start, 4)
    if len(data) < width:
        raise bad_section(kind.name, f"there are {len(data)} bytes, too few for a count")
    count = int.from_bytes(data[:width], "little", signed=True)
    if not 0 <= count <= MAX_ENTRIES:
        raise bad_section(kind.name, f"{count} entries are announced")
    if start + count * entry.size > len(data) and count:
        raise bad_section(kind.name, f"{count} entries are announced, but there are {len(data)} bytes")
    for k in range(count):
        yield entry.unpack_from(data, start + k * entry.size)


def memories(data: bytes, kind: SectionKind = SectionKind.MEM_TOPOLOGY) -> tuple[Bank, ...]:
    """Returns the banks in MEM_TOPOLOGY (or a group topology)."""
    return tuple(
        Bank(
            zero_ended(name),
            kib if _name(MEMORY_TYPES, type_) in NOT_MEMORY else kib * 1024,
            base,
            _name(MEMORY_TYPES, type_),
            bool(used),
        )
        for type_, used, kib, base, name in _entries(data, kind, MEMORY, 8)
    )


def memories_data(banks: Sequence[Bank]) -> bytes:
    """Encodes banks as MEM_TOPOLOGY."""
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


def ip_layout(data: bytes) -> tuple[IpLayoutEntry, ...]:
    """Returns the entries of IP_LAYOUT: compute units and other blocks on the control bus."""
    units = []
    for type_, bits, base, name in _entries(data, SectionKind.IP_LAYOUT, UNIT, 8):
        control = _name(CONTROLS, bits >> 8 & 0xFF) if type_ == IP_KERNEL else ""
        interrupt = bits >> 1 & 0x7F if bits & 1 and type_ == IP_KERNEL else None
        units.append(IpLayoutEntry(zero_ended(name), base, control, type_, interrupt))
    return tuple(units)


def ip_layout_data(units: Sequence[IpLayoutEntry]) -> bytes:
    """Encodes units as IP_LAYOUT."""
    rows = []
    for u in units:
        bits = _code(CONTROLS, u.control) << 8 if u.type == IP_KERNEL else 0
        if u.interrupt is not None:
            bits |= 1 | u.interrupt << 1
        rows.append(UNIT.pack(u.type, bits, u.base, u.name.encode()))
    return struct.pack("<i4x", len(rows)) + b"".join(rows)


def connectivity(data: bytes) -> tuple[BankConnection, ...]:
    """Returns the connections of units' arguments to banks."""
    return tuple(BankConnection(*row) for row in _entries(data, SectionKind.CONNECTIVITY, CONNECTION, 4))


def connectivity_data(links: Sequence[BankConnection]) -> bytes:
    """Encodes connections as CONNECTIVITY."""
    rows = [CONNECTION.pack(link.argument, link.unit, link.bank) for link in links]
    return struct.pack("<i", len(rows)) + b"".join(rows)


def clocks(data: bytes) -> tuple[Clock, ...]:
    """Returns the clocks in CLOCK_FREQ_TOPOLOGY."""
    rows = _entries(data, SectionKind.CLOCK_FREQ_TOPOLOGY, CLOCK, 2)
    return tuple(Clock(zero_ended(name), mhz, _name(CLOCK_TYPES, type_)) for mhz, type_, name in rows)


def _name(names: Sequence[str], code: int) -> str:
    return names[code] if code < len(names) else f"type {code}"


def _code(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else int(name.removeprefix("type "))


NEEDED = (
    SectionKind.BITSTREAM,
    SectionKind.EMBEDDED_METADATA,
    SectionKind.MEM_TOPOLOGY,
    SectionKind.CONNECTIVITY,
    SectionKind.IP_LAYOUT,
)


@dataclass(frozen=True)
class ImageInfo:
    """The parsed sections of a file."""

    xclbin: Xclbin
    description: Description
    units: tuple[IpLayoutEntry, ...]
    connections: tuple[BankConnection, ...]
    clocks: tuple[Clock, ...] = ()
    groups: tuple[Bank, ...] = ()
    build: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def manifest(self) -> str | None:
        """ftensor's manifest, or None if the file has none."""
        data = self.xclbin.section(SectionKind.USER_METADATA)
        if data is None or not data.lstrip().startswith(b"{"):
            return None
        try:
            return data.decode().rstrip("\0")
        except UnicodeDecodeError as e:
            raise bad_section("USER_METADATA", f"there is text that is not UTF-8 ({e})") from None


def parse(image: Xclbin) -> ImageInfo:
    """Parses the sections of a file. Raises ImageError if they are inconsistent.

    A file without kernels (a platform's own, say) has an empty description.
    """
    from . import metadata

    banks = memories(image.section(SectionKind.MEM_TOPOLOGY) or b"", SectionKind.MEM_TOPOLOGY)
    units = ip_layout(image.section(SectionKind.IP_LAYOUT) or b"")
    links = connectivity(image.section(SectionKind.CONNECTIVITY) or b"")
    for link in links:
        if not (0 <= link.unit < len(units) and 0 <= link.bank < len(banks)):
            raise bad_section(
                "CONNECTIVITY",
                f"unit {link.unit} and bank {link.bank} are named, "
                f"but there are {len(units)} units and {len(banks)} banks",
            )
    xml = image.section(SectionKind.EMBEDDED_METADATA)
    description = metadata.read(xml) if xml is not None else Description(())
    kernels = tuple(_connected(k, banks, units, links) for k in description.kernels)
    return ImageInfo(
        image,
        replace(description, kernels=kernels, banks=banks, platform=image.platform or description.platform),
        units,
        links,
        clocks(image.section(SectionKind.CLOCK_FREQ_TOPOLOGY) or b""),
        memories(image.section(SectionKind.ASK_GROUP_TOPOLOGY) or b"", SectionKind.ASK_GROUP_TOPOLOGY),
        _object(image, SectionKind.BUILD_METADATA),
        key_values(_object(image, SectionKind.KEYVALUE_METADATA)),
    )


def require_kernels(info: ImageInfo) -> ImageInfo:
    """Returns `info`. Raises ImageError if the file lacks a section that XRT needs to run
    kernels."""
    for kind in NEEDED:
        if info.xclbin.section(kind) is None:
            raise no_section(kind.name)
    return info


def _connected(
    kernel: KernelDescription, banks: Sequence[Bank], units: Sequence[IpLayoutEntry], links: Iterable[BankConnection]
) -> KernelDescription:
    """Returns the kernel with the banks of its arguments and the control protocol of its units."""
    unit_indices = {k for k, unit in enumerate(units) if unit.name.partition(":")[0] == kernel.name}
    reached: dict[int, dict[str, None]] = {}
    for link in links:
        if link.unit in unit_indices:
            reached.setdefault(link.argument, {})[banks[link.bank].name] = None
    arguments = tuple(replace(a, banks=tuple(reached.get(k, ()))) for k, a in enumerate(kernel.arguments))
    control = next((units[k].control for k in sorted(unit_indices)), kernel.control)
    return replace(kernel, arguments=arguments, control=control)


# JSON


def _object(image: Xclbin, kind: SectionKind) -> dict[str, Any]:
    data = image.section(kind)
    if not data:
        return {}
    try:
        content = json.loads(data.decode().rstrip("\0"))
    except (ValueError, RecursionError) as e:
        raise bad_section(kind.name, f"there is no JSON ({e})") from None
    if not isinstance(content, dict):
        raise bad_section(kind.name, "there is JSON, but no object")
    return content


def key_values(content: dict[str, Any]) -> dict[str, str]:
    """Returns the pairs of KEYVALUE_METADATA, the notes of an image's builder."""
    inner = content.get("key_value_metadata", content)
    rows = inner.get("key_values", inner.get("key_value_metas", ())) if isinstance(inner, dict) else 0
    if not isinstance(rows, list | tuple) or not all(isinstance(row, dict) for row in rows):
        raise bad_section(SectionKind.KEYVALUE_METADATA.name, "there is no list of pairs")
    return {str(row.get("key", "")): str(row.get("value", "")) for row in rows}


def sections(description: Description) -> tuple[Section, ...]:
    """Returns the sections of a complete description, without BITSTREAM."""
    from . import metadata

    units = tuple(
        IpLayoutEntry(f"{kernel.name}:{unit.name}", unit.base, kernel.control)
        for kernel in description.kernels
        for unit in kernel.units
    )
    bank_index = {bank.name: k for k, bank in enumerate(description.banks)}
    links, at = [], 0
    for kernel in description.kernels:
        for _ in kernel.units:
            for k, argument in enumerate(kernel.arguments):
                links += [BankConnection(k, at, bank_index[bank]) for bank in argument.banks]
            at += 1
    return (
        Section(SectionKind.EMBEDDED_METADATA, "metadata", metadata.write(description)),
        Section(SectionKind.MEM_TOPOLOGY, "mem_topology", memories_data(description.banks)),
        Section(SectionKind.CONNECTIVITY, "connectivity", connectivity_data(links)),
        Section(SectionKind.IP_LAYOUT, "ip_layout", ip_layout_data(units)),
    )
