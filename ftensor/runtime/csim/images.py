"""Images in C simulation: shared objects called through cffi."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...errors import image as errors
from ...errors.graph import stuck
from ...image.file import TARGETS, ImageFile
from ...image.manifest import JOINED, LINKED, SCOPE, KernelRecord, compiled, expressions
from ...kernels.skeleton import board_named
from .. import lifetime
from ..images import Images, LoadedImage, Slot
from ..interfaces import CompiledKernel

if TYPE_CHECKING:
    from .backend import CSimBackend


C_TYPES = {
    # A pointer is passed as an integer of the same size, in the same register: cffi accepts a
    # Python int directly, while a pointer type would need a cast object per argument.
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
    """Returns an FFI object with these declarations.

    The first call imports cffi's parser. Ctrl-C during that import would leave a partial module
    that can't parse later declarations, so signals are deferred.
    """
    with lifetime.signals_deferred():
        import cffi

        ffi = cffi.FFI()
        for text in functions:
            ffi.cdef(text)
    return ffi


class CSimImages(Images):
    """Images that all stay loaded, so switching costs nothing."""

    backend: CSimBackend

    def check(self, file: ImageFile) -> None:
        """Raises ImageError for an image for hardware or for an Intel FPGA, which holds no host
        code."""
        if file.manifest.target in TARGETS:
            raise errors.of_another_maker(file.path, file.manifest.target, self.device)
        if not file.emulated:
            raise errors.needs_a_board(file.path, file.platform)

    def activate(self, image: LoadedImage) -> None:
        """Loads the shared object once. The active image is the first to be searched."""
        self._open(image)
        self.active = image

    def _open(self, image: LoadedImage) -> LoadedImage:
        if image.program is None:
            image.program = _opened(image.file)
        return image

    def launcher(self, slot: Slot) -> CompiledKernel:
        """Returns the kernel's function itself, since images are never unloaded."""
        if slot.run is None:
            slot.run = _launcher(self._open(next(self._holders(slot.entry))), slot)
        return slot.run


def _opened(file: ImageFile) -> Any:
    return opened(
        file,
        [
            *(
                f"void {_function(record)}({', '.join(C_TYPES[a.what] for a in record.arguments)});"
                for record in file.manifest.kernels
                if record.members
            ),
            "char *ft_stuck(void);",
            "void ft_starts_all(int);",
        ],
    )


def _function(record: KernelRecord) -> str:
    """Returns the name of the function that starts a kernel, or a group of linked kernels."""
    return record.name + (JOINED if record.structure == LINKED else "")


def opened(file: ImageFile, functions: Iterable[str]) -> Any:
    """Loads the shared object of an image, and declares these functions."""
    ffi = declared(functions)
    # The file is needed only until it is mapped. Its name must be new: the dynamic loader treats
    # two files of one name as the same.
    handle, name = tempfile.mkstemp(prefix="ftensor-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(file.library)
        return ffi.dlopen(name)
    except OSError as e:
        raise errors.not_loaded(file.path, e) from None
    finally:
        Path(name).unlink()


def _launcher(image: LoadedImage, slot: Slot) -> CompiledKernel:
    """Returns a function that calls the kernel once per unit. For an entry of linked kernels, it
    calls them in turn, and the last call runs all of them; a lock allows one such launch at a time.
    So do kernels that keep values between launches: a board runs a kernel's launches in turn."""
    members = image.file.manifest.kernels_of(slot.entry)
    names = "".join(f"a{i}, " for i in range(len(slot.params)))
    scope, values, calls = dict[str, Any](SCOPE), list[str](), list[str]()
    for k, (record, member) in enumerate(members):
        try:
            scope[f"call{k}"] = getattr(image.program, _function(record))
        except AttributeError as e:
            raise errors.not_loaded(image.file.path, e) from None
        arguments = expressions(image.file.path, record, member, slot.params)
        values.append(f"    values{k} = ({''.join(f'{e}, ' for e in arguments)})")
        calls.append(f"        call{k}(*values{k}, unit, units)")
    lines = [f"def launch(stream, units, {names}/):", *values]
    record = members[0][0]
    skeleton = board_named(record.skeleton)
    if len(members) > 1:
        lines += ["    unit, units = 0, 1", "    with alone:", "        together(1)"]
        lines += ["        try:", *(f"    {call}" for call in calls)]
        lines += ["        finally: together(0)"]
        scope |= {"together": image.program.ft_starts_all, "alone": Lock()}
    elif skeleton is not None and skeleton.keeps:
        lines += ["    with alone:", "        for unit in range(units):", *(f"    {call}" for call in calls)]
        scope["alone"] = Lock()
    else:
        lines += ["    for unit in range(units):", *calls]
    scope["library"] = image.program
    if skeleton is not None and skeleton.waits:
        lines += ["    message = string(stuck())", "    if message: raise error(name, message.decode())"]
        scope |= {"stuck": image.program.ft_stuck, "string": declared(()).string}
        scope |= {"error": stuck, "name": record.name}
    run: CompiledKernel = compiled(slot.entry, lines, scope)
    return run
