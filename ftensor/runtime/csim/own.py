"""Kernels of users' own in C simulation: functions of a shared object, called where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import image as errors
from .declared import C_TYPES
from .images import opened

if TYPE_CHECKING:
    from ...image.file import ImageFile
    from ...kernels.own import OwnKey
    from ..parts import CompiledKernel


def own_launcher(file: ImageFile, key: OwnKey) -> CompiledKernel:
    """A function that calls the kernel; ImageError where the image can't be called here."""
    if not file.emulated:
        raise errors.needs_a_board(file.path, file.platform)
    types = ["_Bool" if a.kind == "bool" else C_TYPES[a.kind] for a in key.arguments]
    units = ["int", "int"] if key.shared else []
    library = opened(file, [f"void {key.name}({', '.join([*types, *units]) or 'void'});"])
    try:
        call = getattr(library, key.name)
    except AttributeError as e:
        raise errors.not_loaded(file.path, e) from None
    count = len(key.pointers)
    sizes = [a.dtype.itemsize if a.dtype else 1 for a in key.pointers]
    pointer = [a.kind == "*" for a in key.arguments]

    def launch(stream: Any, units: int, /, *args: Any) -> None:
        begins = iter([h + o * n for h, o, n in zip(args, args[count:], sizes)])
        numbers = iter(args[2 * count :])
        values = [next(begins) if here else next(numbers) for here in pointer]
        for unit in range(units):
            call(*values, *((unit, units) if key.shared else ()))

    launch.library = library  # type: ignore[attr-defined]  # the code stays loaded
    return launch
