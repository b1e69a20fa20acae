"""Keeps the functions and variables of object files apart when a linker makes one library of them.

v++ compiles each kernel's file alone, so two files may define different things of one name. In one library a
linker refuses two global definitions, and silently keeps one of the inline functions and templates.
"""

from __future__ import annotations

import io
import re
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import image as errors
from ..runtime.command_words import file_word

# Variables of the stand-ins and of the C++ library, and the guards of their first use: the kernels of a library
# share the streams, threads and records of accesses. Typeinfo is compared by name.
_SHARED = re.compile(r"_ZT[IS]|_Z(?:GV|GR|TH)?[ZN]*[rVK]*[RO]?(?:S[tabsiod]|3hls|\d+(?:ft_|__))")


@dataclass(frozen=True)
class _Symbol:
    index: int
    name: str
    section: int | str
    is_global: bool
    is_function: bool


def separate_symbols(objects: Sequence[Path]) -> None:
    """Makes functions and variables that several object files define local to each of them.

    Variables of the stand-ins stay shared. Raises ImageError if two files have a kernel of one name.
    """
    defined = [list(_defined(file)) for file in objects]
    counts = Counter(name for symbols in defined for name in {s.name for s in symbols})
    strong = [{s.name: s.is_function for s in symbols if s.is_global} for symbols in defined]
    for name, count in sorted(Counter(name for names in strong for name in names).items()):
        if count > 1 and not name.startswith("_Z") and any(names.get(name) for names in strong):  # a kernel
            raise errors.bad_description(f"two of the sources define {name!r}")
    kernels = {name for names in strong for name in names if names[name] and not name.startswith("_Z")}
    for file, symbols in zip(objects, defined):
        own = [s for s in symbols if counts[s.name] > 1 and not (s.is_global and s.name in kernels)]
        if own:
            _localize(file, own)


def _defined(file: Path) -> Iterator[_Symbol]:
    """Yields the symbols of an object file that other files must not define differently: global ones, and
    weak ones in groups of which a linker keeps one."""
    from elftools.elf.elffile import ELFFile

    elf: Any = ELFFile(io.BytesIO(file.read_bytes()))
    grouped = {number for section in _groups(elf) for number in _members(elf, section)}
    for k, symbol in enumerate(elf.get_section_by_name(".symtab").iter_symbols()):
        bind, kind, section = symbol["st_info"]["bind"], symbol["st_info"]["type"], symbol["st_shndx"]
        is_function = kind == "STT_FUNC"
        if bind in ("STB_LOCAL", "STB_NUM") or section == "SHN_UNDEF":
            continue
        is_global = bind == "STB_GLOBAL"
        own = section in grouped and (is_function or (symbol.name.startswith("_Z") and not _SHARED.match(symbol.name)))
        if is_global or own:
            yield _Symbol(k, symbol.name, section, is_global, is_function)


def _groups(elf: Any) -> Iterator[Any]:
    return (section for section in elf.iter_sections() if section["sh_type"] == "SHT_GROUP")


def _members(elf: Any, group: Any) -> tuple[int, ...]:
    words = group.data()
    return struct.unpack(f"{'<' if elf.little_endian else '>'}{len(words) // 4}I", words)[1:]  # behind the flags


def _localize(file: Path, own: Sequence[_Symbol]) -> None:
    """Makes symbols of an object file local, and lets the linker keep their sections.

    objcopy makes global and weak symbols local, but not unique ones, and it leaves the groups.
    """
    from elftools.elf.elffile import ELFFile

    data = bytearray(file.read_bytes())
    elf: Any = ELFFile(io.BytesIO(bytes(data)))
    sections = {s.section for s in own}
    for group in _groups(elf):
        if sections.intersection(_members(elf, group)):
            at = group["sh_offset"]
            data[at : at + 4] = bytes(4)  # without GRP_COMDAT
    table = elf.get_section_by_name(".symtab")
    for symbol in own:
        if not symbol.is_global:
            at = table["sh_offset"] + symbol.index * table["sh_entsize"] + (4 if elf.elfclass == 64 else 12)
            data[at] = 2 << 4 | data[at] & 15  # STB_WEAK
    file.write_bytes(data)
    with tempfile.NamedTemporaryFile("w", prefix="ftensor-", suffix=".txt") as names:
        names.write("".join(f"{symbol.name}\n" for symbol in own))
        names.flush()
        subprocess.run(["objcopy", f"--localize-symbols={names.name}", file_word(file)], check=True)
