"""Images in C simulation: their kernels are called where they lie in memory, all at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import image as errors
from ...errors.graph import stuck
from ...image.call_tokens import SCOPE, compiled, expressions
from ...image.file import ImageFile
from ...image.intel_file import TARGETS
from ...kernels.board_skeleton import board_named
from ..images import Images, LoadedImage, Slot
from ..parts import Kernel
from .declared import C_TYPES, declared

if TYPE_CHECKING:
    from .backend import CSimBackend


class CSimImages(Images):
    """Every image stays loaded, so nothing is ever switched."""

    backend: CSimBackend

    def check(self, file: ImageFile) -> None:
        """An image for a board holds no program for the host."""
        if file.manifest.target in TARGETS:
            raise errors.of_another_maker(file.path, file.manifest.target, self.device)
        if not file.emulated:
            raise errors.needs_a_board(file.path, file.platform)

    def activate(self, image: LoadedImage) -> None:
        """Load the shared object, once; the active image is the one whose kernels come first."""
        self._open(image)
        self.active = image

    def _open(self, image: LoadedImage) -> LoadedImage:
        if image.program is None:
            image.program = _opened(image.file)
        return image

    def launcher(self, slot: Slot) -> Kernel:
        """The launcher itself: it never changes."""
        if slot.run is None:
            slot.run = _launcher(self._open(next(self._holders(slot.entry))), slot)
        return slot.run


def _opened(file: ImageFile) -> Any:
    return opened(
        file,
        [
            *(
                f"void {record.name}({', '.join(C_TYPES[a.what] for a in record.arguments)});"
                for record in file.manifest.kernels
            ),
            "char *ft_stuck(void);",
        ],
    )


def opened(file: ImageFile, functions: Iterable[str]) -> Any:
    """The shared object of an image, with these functions of it declared."""
    ffi = declared(functions)
    # The file is needed only until it is mapped. Its name must be new: the dynamic loader takes
    # two files of one name for the same.
    handle, name = tempfile.mkstemp(prefix="ftensor-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(file.library)
        return ffi.dlopen(name)
    except OSError as e:
        raise errors.not_loaded(file.path, e) from None
    finally:
        Path(name).unlink()


def _launcher(image: LoadedImage, slot: Slot) -> Kernel:
    found = image.find(slot.entry)
    assert found is not None
    record, member = found
    try:
        call = getattr(image.program, record.name)
    except AttributeError as e:
        raise errors.not_loaded(image.file.path, e) from None
    names = "".join(f"a{i}, " for i in range(len(slot.params)))
    passed = "".join(f"{e}, " for e in expressions(image.file.path, record, member, slot.params))
    lines = [
        f"def launch(stream, units, {names}/):",
        f"    values = ({passed})",
        "    for unit in range(units):",
        "        call(*values, unit, units)",
    ]
    scope = {**SCOPE, "call": call, "library": image.program}
    skeleton = board_named(record.skeleton)
    if skeleton is not None and skeleton.waits:
        lines += ["    found = string(stuck())", "    if found: raise error(name, found.decode())"]
        scope |= {"stuck": image.program.ft_stuck, "string": declared(()).string}
        scope |= {"error": stuck, "name": record.name}
    run: Kernel = compiled(slot.entry, lines, scope)
    return run
