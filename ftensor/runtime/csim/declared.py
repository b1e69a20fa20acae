"""cffi's view of functions in C, by their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import signals


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
