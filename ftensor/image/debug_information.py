"""The functions of a shared object and their parameters, from its debug information (DWARF)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from .contents import ArgumentDescription, KernelDescription

# C names of base types by DWARF encoding and size in bytes.
_BASE = {
    (2, 1): "bool", (4, 2): "half", (4, 4): "float", (4, 8): "double",
    (6, 1): "char", (5, 1): "char", (8, 1): "unsigned char", (7, 1): "unsigned char",
    (5, 2): "short", (7, 2): "unsigned short", (5, 4): "int", (7, 4): "unsigned int",
    (5, 8): "long", (7, 8): "unsigned long",
}  # fmt: skip
_CONST, _TYPEDEF, _POINTER = "DW_TAG_const_type", "DW_TAG_typedef", "DW_TAG_pointer_type"
_THROUGH = {_CONST, _TYPEDEF, "DW_TAG_volatile_type", "DW_TAG_restrict_type"}
_REFERENCES = {"DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"}
# Attributes of functions that return a value, or whose name differs from that in C++.
_NOT_C = {"DW_AT_type", "DW_AT_linkage_name"}


def functions(library: bytes) -> tuple[KernelDescription, ...] | None:
    """Returns the void functions with C linkage, in the order of their lines; None if the shared
    object has no debug information."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.elf.elffile import ELFFile

    try:
        return _functions(ELFFile(io.BytesIO(library)))
    except (ELFError, DWARFError):  # damaged debug information is ignored
        return None


def _functions(file: Any) -> tuple[KernelDescription, ...] | None:
    if not file.has_dwarf_info():
        return None
    exported = {
        symbol.name
        for symbol in file.get_section_by_name(".dynsym").iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
    }
    by_name: dict[str, tuple[int, Any]] = {}
    for unit in file.get_dwarf_info().iter_CUs():
        for die in unit.get_top_DIE().iter_children():
            # A function in a namespace is declared there, and defined here.
            spec = "DW_AT_specification"
            declared = die.get_DIE_from_attribute(spec) if spec in die.attributes else die
            name, line = _name(declared), declared.attributes.get("DW_AT_decl_line")
            is_kernel = die.tag == "DW_TAG_subprogram" and name in exported and line is not None
            if is_kernel and "DW_AT_declaration" not in die.attributes and _NOT_C.isdisjoint(declared.attributes):
                by_name.setdefault(name, (line.value, die))
    ordered = sorted(by_name.items(), key=lambda item: item[1][0])
    return tuple(KernelDescription(name, tuple(_arguments(die))) for name, (_, die) in ordered)


def _name(die: Any) -> str:
    value = die.attributes.get("DW_AT_name")
    return "" if value is None else value.value.decode()


def _arguments(function: Any) -> Iterator[ArgumentDescription]:
    parameters = [d for d in function.iter_children() if d.tag == "DW_TAG_formal_parameter"]
    for k, parameter in enumerate(parameters):
        name = _name(parameter) or f"argument{k}"
        type_die, _ = _resolved(parameter)
        if type_die is not None and type_die.tag == _POINTER:
            to, const = _resolved(type_die)
            c = f"{'const ' * const}{_spelled(to)} *"
            yield ArgumentDescription(name, c, 8)
        elif type_die is not None and type_die.tag in _REFERENCES:
            to, _ = _resolved(type_die)
            size = _bytes(to) if to is not None and to.tag == "DW_TAG_base_type" else 8  # a scalar's register
            yield ArgumentDescription(name, f"{_spelled(to)} &", size)
        else:
            if type_die is not None and type_die.tag == "DW_TAG_enumeration_type":
                type_die, _ = _resolved(type_die)  # passed as the integer that holds it
            yield ArgumentDescription(name, _spelled(type_die), _bytes(type_die))


def _resolved(die: Any) -> tuple[Any, bool]:
    """Returns an entry's type without qualifiers and typedefs, and True if it is const."""
    const = False
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        const = const or die.tag == _CONST
        if die.tag not in _THROUGH:
            return die, const
    return None, const


def _spelled(die: Any) -> str:
    if die is None:
        return "void"
    if die.tag == _POINTER:
        return f"{_spelled(_resolved(die)[0])} *"
    if die.tag == "DW_TAG_base_type":
        encoding = die.attributes["DW_AT_encoding"].value
        return _BASE.get((encoding, _bytes(die)), _name(die))
    return _name(die) or "struct"


def _bytes(die: Any) -> int:
    size = None if die is None else die.attributes.get("DW_AT_byte_size")
    return 0 if size is None else int(size.value)
