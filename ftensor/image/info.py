"""`ftensor image info`: prints the contents of an xclbin."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path

from .. import terminal
from ..errors.image import ImageError, unreadable
from ..terminal import counted, size, table
from . import xclbin
from .contents import Bank, KernelDescription, first_ways
from .file import SUFFIX, locate, read
from .manifest import HostRecord, Manifest
from .sections import ImageInfo, parse
from .xclbin import NIL, Mode, SectionKind


def printable(cell: object) -> object:
    """Escapes unprintable characters, since text from a file must not control the terminal."""
    if not isinstance(cell, str):
        return cell
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in cell)


def complain(message: str) -> int:
    """Prints a one-line error and returns the exit status."""
    line = " ".join(str(printable(message)).split())
    terminal.complain("ftensor", line)
    return 1


def load(path: str | Path) -> ImageInfo:
    """Returns the contents of a file. Raises ImageError if it is unreadable or not an xclbin."""
    try:
        data = Path(path).read_bytes()
    except OSError as e:
        raise unreadable(path, e.strerror or e) from None
    return parse(xclbin.read(data))


def text(info: ImageInfo) -> str:
    """Returns a report of the file: target, kernels, units, banks, clocks and sections."""
    sections = [table(_facts(info), indent="")]
    for title, rows in (
        ("Kernels", [_kernel_row(k) for k in info.description.kernels]),
        ("Arguments", [row for k in info.description.kernels for row in _arguments(k)]),
        ("Compute units", [(u.name, f"{u.base:#x}", u.control) for u in info.units]),
        ("Banks", _bank_rows(info.description.banks)),
        ("Clocks", [(c.name, c.mhz, "MHz", c.type.lower()) for c in info.clocks]),
        ("Steps on the host", _host_rows(_manifest(info)[1])),
        ("Notes of the builder", list(info.keys.items())),
        ("Sections", [(s.title, s.name, size(len(s.data))) for s in info.xclbin.sections]),
    ):
        if rows:
            sections.append(f"{title}\n{table([[printable(c) for c in row] for row in rows])}")
    return "\n\n".join(sections)


def _facts(info: ImageInfo) -> Sequence[tuple[str, object]]:
    image, rows = info.xclbin, []
    has_known_mode = image.mode in set(Mode)
    rows.append(("mode", Mode(image.mode).name if has_known_mode else f"number {image.mode}"))
    rows.append(("platform", image.platform or info.description.platform or "not said"))
    rows.append(("uuid", str(image.uuid)))
    if image.interface_uuid != NIL:
        rows.append(("interface uuid", str(image.interface_uuid)))
    if image.timestamp:
        rows.append(("made", _date(image.timestamp)))
    rows.append(("tool version", ".".join(map(str, image.version))))
    if info.description.clock_mhz:
        rows.append(("kernel clock", f"{info.description.clock_mhz:g} MHz"))
    vivado = info.build.get("build_metadata", info.build)
    if isinstance(vivado, dict) and vivado.get("dsa"):
        rows.append(("built for", str(vivado["dsa"])[:200]))
    if info.xclbin.section(SectionKind.USER_METADATA) is not None:
        rows.append(("ftensor manifest", _manifest(info)[0]))
    return [(name, printable(value)) for name, value in rows]


def _date(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"


def _kernel_row(kernel: KernelDescription) -> tuple[object, ...]:
    units = counted(len(kernel.units), "compute unit")
    return kernel.name, counted(len(kernel.arguments), "argument"), units, kernel.control


def _arguments(kernel: KernelDescription) -> list[tuple[object, ...]]:
    return [
        (kernel.name, k, a.name, a.c, size(a.size), f"{a.offset:#x}", a.port, " ".join(a.banks))
        for k, a in enumerate(kernel.arguments)
    ]


def _manifest(info: ImageInfo) -> tuple[str, tuple[HostRecord, ...]]:
    """Returns whether the file has a readable manifest, in words, and the steps that it leaves to the host."""
    if info.manifest is None:
        return "no", ()
    try:
        return "yes", Manifest.from_json(info.manifest).host
    except ImageError as problem:
        return f"unreadable: {problem}", ()


def _host_rows(host: Sequence[HostRecord]) -> list[tuple[object, ...]]:
    return [(step.op, step.dtypes, step.layout) for step in host]


def _bank_rows(banks: Sequence[Bank]) -> list[tuple[object, ...]]:
    first = first_ways(banks)
    rows: list[tuple[object, ...]] = []
    for place, bank in enumerate(banks):
        note = "used" if bank.used else "not used"
        if first[bank.name] != bank.name:
            note += f", the same memory as {first[bank.name]}"
        rows.append((place, bank.name, bank.type, size(bank.size), f"{bank.base:#x}", note))
    return rows


def of_intel(path: Path) -> str:
    """Returns a report of an image for an Intel FPGA from its manifest, its only description."""
    file = read(path)
    manifest = file.manifest
    facts = [
        ("mode", f"program for an Intel FPGA (--target {manifest.target})"),
        ("platform", manifest.platform),
        ("uuid", manifest.uuid),
        ("made", manifest.created),
        *((f"by {tool}", version) for tool, version in manifest.tools.items()),
        ("size", size(len(file.data))),
    ]
    rows = [
        (
            k.name,
            k.skeleton,
            k.structure,
            counted(k.lanes, "lane"),
            counted(k.units, "compute unit"),
            counted(len(k.members), "member"),
        )
        for k in manifest.kernels
    ]
    parts: list[tuple[str, Sequence[tuple[object, ...]]]]
    parts = [("", facts), ("Kernels", rows), ("Steps on the host", _host_rows(manifest.host))]
    tables = [(title, table([[printable(c) for c in row] for row in part])) for title, part in parts if part]
    return "\n\n".join(f"{title}\n{text}".lstrip("\n") for title, text in tables)


def as_json(info: ImageInfo) -> dict[str, object]:
    """Returns the report as a record: sizes in bytes, clocks in MHz, addresses as numbers."""
    return {
        "facts": dict(_facts(info)),
        "kernels": [
            {
                "name": kernel.name,
                "control": kernel.control,
                "units": [unit.name for unit in kernel.units],
                "arguments": [
                    {"name": a.name, "type": a.c, "bytes": a.size, "offset": a.offset, "port": a.port, "banks": a.banks}
                    for a in kernel.arguments
                ],
            }
            for kernel in info.description.kernels
        ],
        "units": [{"name": unit.name, "base": unit.base, "control": unit.control} for unit in info.units],
        "banks": [
            {"name": bank.name, "type": bank.type, "bytes": bank.size, "base": bank.base, "used": bank.used}
            for bank in info.description.banks
        ],
        "clocks": [{"name": clock.name, "mhz": clock.mhz, "type": clock.type.lower()} for clock in info.clocks],
        "host": [asdict(step) for step in _manifest(info)[1]],
        "notes": {name: str(value) for name, value in info.keys.items()},
        "sections": [{"title": s.title, "name": s.name, "bytes": len(s.data)} for s in info.xclbin.sections],
    }


def intel_as_json(path: Path) -> dict[str, object]:
    """Returns the record of an image for an Intel FPGA."""
    file = read(path)
    manifest = file.manifest
    return {
        "facts": {
            "target": manifest.target,
            "platform": manifest.platform,
            "uuid": manifest.uuid,
            "made": manifest.created,
            "tools": dict(manifest.tools),
            "bytes": len(file.data),
        },
        "kernels": [
            {
                "name": kernel.name,
                "skeleton": kernel.skeleton,
                "structure": kernel.structure,
                "lanes": kernel.lanes,
                "units": kernel.units,
                "members": len(kernel.members),
            }
            for kernel in manifest.kernels
        ],
        "host": [asdict(step) for step in manifest.host],
    }


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor image info` and returns the exit status."""
    try:
        path = locate(arguments.file)
        intel = path.suffix == SUFFIX
        if arguments.json:
            print(json.dumps(intel_as_json(path) if intel else as_json(load(path)), indent=2))
        else:
            print(of_intel(path) if intel else text(load(path)))
    except ImageError as e:
        return complain(str(e))
    return 0
