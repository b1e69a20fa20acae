"""Descriptions of kernels: reads them from TOML or JSON, checks them, fills in derived values, and
packs described kernels into an xclbin for XRT's software emulation."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from ..errors.image import bad_description, unreadable
from . import xclbin
from .contents import (
    AFTER,
    CONTROLS,
    MEMORY_TYPES,
    ArgumentDescription,
    Bank,
    ComputeUnit,
    Description,
    KernelDescription,
)
from .metadata import REGISTER_WINDOW
from .sections import sections
from .xclbin import Mode, Section, SectionKind, Xclbin

FIRST_BASE = 0x1800000  # of the first unit's registers
FIRST_REGISTER = 0x10
POINTER_BYTES = STREAM_BYTES = 8
MAX_UNITS = 128  # XRT's limit for one image
DEFAULT_BANK = Bank("DDR[0]", 16 << 30)
# Bytes of C types, including OpenCL's names, without "const" and "volatile".
SIZES = {
    "bool": 1, "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "unsigned": 4,
    "long": 8, "ulong": 8, "long long": 8, "float": 4, "double": 8, "half": 2, "size_t": 8,
    "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4,
    "int64_t": 8, "uint64_t": 8, "uintptr_t": 8,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def size_of(c: str) -> int | None:
    """Returns the bytes of a C type as an argument; None for an unknown type."""
    if "*" in c:
        return POINTER_BYTES
    words = [w for w in c.rstrip("& ").split() if w not in ("const", "volatile", "signed")]
    if len(words) > 1 and words[0] == "unsigned":
        words = words[1:]
    if len(words) > 1 and words[-1] == "int":  # "long int"
        words = words[:-1]
    return SIZES.get(" ".join(words) or "int")


def complete(description: Description) -> Description:
    """Returns the description with sizes, ports, registers, units, bases and banks filled in.

    Registers follow the layout of Vitis HLS: the first argument at 0x10, each 4 bytes after the
    end of the previous one, rounded up to words. Raises ImageError if the parts are inconsistent.
    """
    banks = _banks(description.banks or (DEFAULT_BANK,))
    if not description.kernels:
        raise bad_description("it names no kernel")
    seen: set[str] = set()
    kernels, base = [], FIRST_BASE
    for kernel in description.kernels:
        if kernel.name in seen:
            raise bad_description(f"kernel {kernel.name!r} is there twice")
        seen.add(kernel.name)
        kernels.append(completed := _kernel(kernel, banks, base))
        base = max(base, *(unit.base + REGISTER_WINDOW for unit in completed.units))
    bases = [unit.base for kernel in kernels for unit in kernel.units]
    if any(b - a < REGISTER_WINDOW for a, b in itertools.pairwise(bases)):
        raise bad_description("the bases of the units do not ascend by 64 KiB or more")
    if len(bases) > MAX_UNITS:
        raise bad_description(f"it has {len(bases)} units, but XRT takes at most {MAX_UNITS}")
    if len(description.platform.encode()) > 63:
        raise bad_description(f"the platform's name {description.platform!r} is beyond 63 bytes")
    return replace(description, kernels=tuple(kernels), banks=banks)


def _banks(banks: tuple[Bank, ...]) -> tuple[Bank, ...]:
    """Places banks without a base after the banks before them."""
    placed: list[Bank] = []
    for bank in banks:
        before = max((b.base + b.size for b in placed), default=0)
        placed.append(replace(bank, base=before) if bank.base == AFTER else bank)
        if not 0 < len(bank.name.encode()) < 16 or bank.name in {b.name for b in placed[:-1]}:
            raise bad_description(f"{bank.name!r} can't name a bank: empty, beyond 15 bytes, or twice")
        if bank.type not in MEMORY_TYPES:
            raise bad_description(f"bank {bank.name} is of type {bank.type!r}, none of XRT's")
        if bank.size <= 0 or bank.size % 4096 or placed[-1].base % 4096:
            raise bad_description(f"bank {bank.name} needs a size and a base in multiples of 4 KiB")
        if placed[-1].base < before and not _same_memory(placed):
            raise bad_description(
                f"bank {bank.name} overlaps the one before it; only banks of equal base and size are one memory"
            )
    if any(bank.base + bank.size > 1 << 64 for bank in placed):
        raise bad_description("the banks end beyond 64-bit addresses")
    return tuple(placed)


def _same_memory(banks: Sequence[Bank]) -> bool:
    """True if the last of these banks has the base and size of an earlier one, so both are the same
    memory."""
    *earlier, last = banks
    return any((bank.base, bank.size) == (last.base, last.size) for bank in earlier)


def _kernel(kernel: KernelDescription, banks: tuple[Bank, ...], base: int) -> KernelDescription:
    label = f"kernel {kernel.name!r}"
    if not _NAME.fullmatch(kernel.name):
        raise bad_description(f"{label} has a name that is no C identifier")
    if kernel.control not in CONTROLS:
        raise bad_description(f"{label} is controlled by {kernel.control!r}, none of XRT's")
    arguments, at = [], FIRST_REGISTER
    for k, argument in enumerate(kernel.arguments):
        completed = _argument(argument, f"argument {argument.name or k} of {label}", banks, at, k)
        if not completed.is_stream:
            at = max(at, completed.offset + (completed.size + 3 & -4) + 4)
        arguments.append(completed)
    if at > REGISTER_WINDOW:
        raise bad_description(f"{label} needs {at} bytes of registers")
    set_ = [a for a in arguments if not a.is_stream]
    spans = sorted((a.offset, a.offset + a.size, a.name) for a in set_)
    if any(end > start for (_, end, _), (start, _, _) in itertools.pairwise(spans)):
        raise bad_description(f"{label} has arguments whose registers overlap")
    units = kernel.units or (ComputeUnit(f"{kernel.name}_1"),)
    placed = []
    for unit in units:
        if not unit.name or len(f"{kernel.name}:{unit.name}".encode()) > 63:
            raise bad_description(f"'{kernel.name}:{unit.name}' must have 1 to 63 bytes")
        placed.append(replace(unit, base=unit.base or base))
        if placed[-1].base % REGISTER_WINDOW:
            raise bad_description(f"unit {unit.name} has a base that is no multiple of 64 KiB")
        base = placed[-1].base + REGISTER_WINDOW
    if len({unit.name for unit in placed}) < len(placed):
        raise bad_description(f"{label} has two units of one name")
    return replace(kernel, arguments=tuple(arguments), units=tuple(placed))


def _argument(
    argument: ArgumentDescription, label: str, banks: tuple[Bank, ...], at: int, place: int
) -> ArgumentDescription:
    if not argument.name:
        raise bad_description(f"{label} has no name")
    if argument.is_stream:  # a stream is a port of the kernel, not a register
        return replace(argument, size=argument.size or STREAM_BYTES, port=argument.port or argument.name)
    size = argument.size or size_of(argument.c)
    if size is None:
        raise bad_description(f"{label} has the type {argument.c!r}; give its size in bytes")
    if size < 0 or (argument.is_pointer and size != POINTER_BYTES):
        raise bad_description(f"{label} has a size of {size} bytes")
    if argument.offset % 4 or (argument.offset and argument.offset < FIRST_REGISTER):
        raise bad_description(f"{label} lies at register {argument.offset:#x}")
    reached = argument.banks
    if argument.is_pointer and not reached:
        reached = (banks[0].name,)
    for bank in reached:
        if bank not in {b.name for b in banks}:
            raise bad_description(f"{label} is in bank {bank!r}, which is not listed")
    if reached and not argument.is_pointer:
        raise bad_description(f"{label} is no pointer, so it has no bank")
    port = f"M_AXI_GMEM{place}" if argument.is_pointer else "S_AXI_CONTROL"
    return replace(argument, size=size, port=argument.port or port, offset=argument.offset or at, banks=reached)


# From a file


def read(path: str | Path) -> Description:
    """Reads the description in a .toml or .json file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise unreadable(path, getattr(e, "strerror", None) or e) from None
    try:
        content = json.loads(text) if str(path).endswith(".json") else _toml(text)
    except (ValueError, RecursionError) as e:
        raise bad_description(f"{path} is no valid file of its kind: {e}") from None
    return from_mapping(content)


def _toml(text: str) -> Any:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef, import-not-found, unused-ignore]
    return tomllib.loads(text)


def from_mapping(content: object) -> Description:
    """Returns a description from parsed TOML or JSON with the names of the dataclasses' fields.

    {"platform", "clock_mhz", "name", "banks": [{"name", "size", "base", "type"}], "kernels":
    [{"name", "control", "units": 2 or [{"name", "base"}], "arguments": [{"name", "type", "size",
    "port", "offset", "bank" or "banks"}]}]}; sizes may be text like "16 GiB".
    """
    table = _table(content, "the file")
    description = Description(
        tuple(_read_kernel(row) for row in _rows(table, "kernels")),
        tuple(_read_bank(row) for row in _rows(table, "banks")),
        _take(table, "platform", str, ""),
        float(_take(table, "clock_mhz", (int, float), 300.0)),
        _take(table, "name", str, "kernels"),
    )
    _nothing_left(table, "the file")
    return complete(description)


def _read_kernel(content: object) -> KernelDescription:
    row = _table(content, "a kernel")
    name = _take(row, "name", str)
    units = row.pop("units", 1)
    if isinstance(units, int) and not isinstance(units, bool):
        if not 1 <= units <= MAX_UNITS:
            raise bad_description(f"kernel {name!r} has {units} units")
        instances = tuple(ComputeUnit(f"{name}_{k + 1}") for k in range(units))
    else:
        instances = tuple(_read_unit(u) for u in _list(units, "units"))
    control = _take(row, "control", str, "AP_CTRL_HS").upper()
    arguments = tuple(_read_argument(a) for a in _rows(row, "arguments"))
    _nothing_left(row, f"kernel {name!r}")
    return KernelDescription(name, arguments, instances, control)


def _read_unit(content: object) -> ComputeUnit:
    row = _table(content, "a unit")
    unit = ComputeUnit(_take(row, "name", str), _bytes(row, "base"))
    _nothing_left(row, f"unit {unit.name!r}")
    return unit


def _read_argument(content: object) -> ArgumentDescription:
    row = _table(content, "an argument")
    name = _take(row, "name", str)
    banks = row.pop("banks", None)
    one = row.pop("bank", None)
    names = _list(banks, "banks") if banks is not None else [one] if one is not None else []
    if not all(isinstance(bank, str) for bank in names) or (banks and one):
        raise bad_description(f"argument {name!r} has a bank that is no name")
    argument = ArgumentDescription(
        name,
        _take(row, "type", str),
        _bytes(row, "size"),
        _take(row, "port", str, ""),
        _bytes(row, "offset"),
        tuple(names),
    )
    _nothing_left(row, f"argument {name!r}")
    return argument


def _read_bank(content: object) -> Bank:
    row = _table(content, "a bank")
    base = _bytes(row, "base") if "base" in row else AFTER
    bank = Bank(_take(row, "name", str), _bytes(row, "size"), base, _take(row, "type", str, "DDR4").upper())
    _nothing_left(row, f"bank {bank.name!r}")
    return bank


def _table(content: object, label: str) -> dict[str, Any]:
    if not isinstance(content, Mapping):
        raise bad_description(f"{label} is no table of names and values")
    return dict(content)


def _list(content: object, name: str) -> list[Any]:
    if not isinstance(content, list):
        raise bad_description(f"{name!r} is no list")
    return content


def _rows(table: dict[str, Any], name: str) -> list[Any]:
    return _list(table.pop(name, []), name)


_REQUIRED: Any = object()


def _take(table: dict[str, Any], name: str, kind: Any, default: Any = _REQUIRED) -> Any:
    value = table.pop(name, default)
    if value is _REQUIRED:
        raise bad_description(f"{name!r} is missing in {table}")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise bad_description(f"{name}={value!r} is of the wrong kind")
    if isinstance(value, str) and not value.isprintable():  # no byte of UTF-8, or none of XML
        raise bad_description(f"{name}={value!r} has characters that no name has")
    return value


def _bytes(table: dict[str, Any], name: str) -> int:
    """Returns a number, or the bytes of text like "0x1800000" or "16 GiB"; 0 if missing."""
    original = value = table.pop(name, 0)
    if isinstance(original, str):
        match = re.fullmatch(r"\s*(0x[0-9a-fA-F]{1,16}|[0-9]{1,20})\s*([KMGT]iB|B|)\s*", original)
        base = 16 if match and match[1].startswith("0x") else 10
        value = int(match[1], base) * _UNITS[match[2]] if match else -1
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 64:
        raise bad_description(f"{name}={original!r} is no number of bytes")
    return value


def _nothing_left(table: dict[str, Any], label: str) -> None:
    if table:
        raise bad_description(f"{label} has {', '.join(map(repr, table))}, which mean nothing")


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
