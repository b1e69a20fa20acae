"""cffi's view of functions in C, by their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import signals

C_TYPES = {
    # A pointer travels as an integer of the same size, in the same register: cffi then takes a
    # Python int as it is, where a pointer type would need a cast object per argument.
    "*": "uintptr_t",
    "char": "int8_t",
    "uchar": "uint8_t",
    "short": "int16_t",
    "ushort": "uint16_t",
    "int": "int32_t",
    "uint": "uint32_t",
    "long": "int64_t",
    "ulong": "uint64_t",
    "float": "float",
    "double": "double",
}


def declared(functions: Iterable[str]) -> Any:
    """An FFI object that knows these declarations.

    At the first of a program cffi imports its parser. Ctrl-C amid that would leave half a module,
    with which no later declaration could be read.
    """
    with signals.deferred():
        import cffi

        ffi = cffi.FFI()
        for text in functions:
            ffi.cdef(text)
    return ffi
