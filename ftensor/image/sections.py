"""What the sections of an xclbin say, as one `ImageInfo`; and the sections of a `Description`.

A `Description` names kernels of any origin: `parse` reads one out of a file, and
`ftensor.image.pack` writes a file from one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors.image import bad_section, no_section
from .contents import ArgumentDescription, Bank, Clock, ComputeUnit, Connection, Description, KernelDescription, Unit
from .section_tables import clocks, connectivity, connectivity_data, ip_layout, ip_layout_data, memories, memories_data
from .xclbin import Kind, Section, Xclbin

__all__ = [
    "ArgumentDescription", "Bank", "Clock", "ComputeUnit", "Connection", "Description", "ImageInfo",
    "KernelDescription", "Unit", "key_values", "key_values_data", "parse", "require_kernels",
    "sections",
]  # fmt: skip
NEEDED = (Kind.BITSTREAM, Kind.EMBEDDED_METADATA, Kind.MEM_TOPOLOGY, Kind.CONNECTIVITY, Kind.IP_LAYOUT)


@dataclass(frozen=True)
class ImageInfo:
    """What a file's sections say."""

    xclbin: Xclbin
    description: Description
    units: tuple[Unit, ...]
    connections: tuple[Connection, ...]
    clocks: tuple[Clock, ...] = ()
    groups: tuple[Bank, ...] = ()
    build: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def manifest(self) -> str | None:
        """ftensor's manifest, if the file holds one."""
        data = self.xclbin.section(Kind.USER_METADATA)
        if data is None or not data.lstrip().startswith(b"{"):
            return None
        try:
            return data.decode().rstrip("\0")
        except UnicodeDecodeError as e:
            raise bad_section("USER_METADATA", f"there is text that is not UTF-8 ({e})") from None


def parse(image: Xclbin) -> ImageInfo:
    """All that is known about the sections of a file; ImageError where they make no sense.

    A file without kernels (a platform's own, say) gives an empty description.
    """
    from . import metadata

    banks = memories(image.section(Kind.MEM_TOPOLOGY) or b"", Kind.MEM_TOPOLOGY)
    units = ip_layout(image.section(Kind.IP_LAYOUT) or b"")
    links = connectivity(image.section(Kind.CONNECTIVITY) or b"")
    for link in links:
        if not (0 <= link.unit < len(units) and 0 <= link.bank < len(banks)):
            raise bad_section(
                "CONNECTIVITY",
                f"unit {link.unit} and bank {link.bank} are named, "
                f"but there are {len(units)} units and {len(banks)} banks",
            )
    xml = image.section(Kind.EMBEDDED_METADATA)
    description = metadata.read(xml) if xml is not None else Description(())
    kernels = tuple(_connected(k, banks, units, links) for k in description.kernels)
    return ImageInfo(
        image,
        replace(description, kernels=kernels, banks=banks, platform=image.platform or description.platform),
        units,
        links,
        clocks(image.section(Kind.CLOCK_FREQ_TOPOLOGY) or b""),
        memories(image.section(Kind.ASK_GROUP_TOPOLOGY) or b"", Kind.ASK_GROUP_TOPOLOGY),
        _object(image, Kind.BUILD_METADATA),
        key_values(_object(image, Kind.KEYVALUE_METADATA)),
    )


def require_kernels(info: ImageInfo) -> ImageInfo:
    """The same, or ImageError if the file lacks a section without which XRT runs nothing."""
    for kind in NEEDED:
        if info.xclbin.section(kind) is None:
            raise no_section(kind.name)
    return info


def _connected(
    kernel: KernelDescription, banks: Sequence[Bank], units: Sequence[Unit], links: Iterable[Connection]
) -> KernelDescription:
    """The kernel with the banks of its arguments, and how its units are controlled."""
    mine = {k for k, unit in enumerate(units) if unit.name.partition(":")[0] == kernel.name}
    reached: dict[int, dict[str, None]] = {}
    for link in links:
        if link.unit in mine:
            reached.setdefault(link.argument, {})[banks[link.bank].name] = None
    arguments = tuple(replace(a, banks=tuple(reached.get(k, ()))) for k, a in enumerate(kernel.arguments))
    control = next((units[k].control for k in sorted(mine)), kernel.control)
    return replace(kernel, arguments=arguments, control=control)


# JSON


def _object(image: Xclbin, kind: Kind) -> dict[str, Any]:
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
    """The pairs of KEYVALUE_METADATA: what the builder of an image noted about it."""
    inner = content.get("key_value_metadata", content)
    rows = inner.get("key_values", inner.get("key_value_metas", ())) if isinstance(inner, dict) else 0
    if not isinstance(rows, list | tuple) or not all(isinstance(row, dict) for row in rows):
        raise bad_section(Kind.KEYVALUE_METADATA.name, "there is no list of pairs")
    return {str(row.get("key", "")): str(row.get("value", "")) for row in rows}


def key_values_data(pairs: dict[str, str]) -> bytes:
    """KEYVALUE_METADATA of pairs."""
    rows = [{"key": key, "value": value} for key, value in pairs.items()]
    return json.dumps({"key_value_metadata": {"key_values": rows}}).encode()


def sections(description: Description) -> tuple[Section, ...]:
    """The sections, other than BITSTREAM, of a complete description."""
    from . import metadata

    units = tuple(
        Unit(f"{kernel.name}:{unit.name}", unit.base, kernel.control)
        for kernel in description.kernels
        for unit in kernel.units
    )
    places = {bank.name: k for k, bank in enumerate(description.banks)}
    links, at = [], 0
    for kernel in description.kernels:
        for _ in kernel.units:
            for k, argument in enumerate(kernel.arguments):
                links += [Connection(k, at, places[bank]) for bank in argument.banks]
            at += 1
    return (
        Section(Kind.EMBEDDED_METADATA, "metadata", metadata.write(description)),
        Section(Kind.MEM_TOPOLOGY, "mem_topology", memories_data(description.banks)),
        Section(Kind.CONNECTIVITY, "connectivity", connectivity_data(links)),
        Section(Kind.IP_LAYOUT, "ip_layout", ip_layout_data(units)),
    )
