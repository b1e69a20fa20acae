"""From a file of kernels to kernels: images of anybody's, HLS C++, OpenCL C."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import own as errors
from ..image import file as image_file
from ..image.contents import KernelDescription
from ..image.file import UNIT_NAMES, ImageFile
from ..kernels.own import OwnArgument, OwnKey, argument
from ..toolchain.own import SUFFIXES, image
from .kernel import Kernel

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend


def of_file(backend: Backend, where: device, path: str | Path, name: str | None, flags: Sequence[str]) -> Kernel:
    """A kernel of a file by the file's kind; FileNotFoundError, ValueError for one of no kind."""
    path = Path(path)
    if not path.is_file():
        raise errors.no_such_file(str(path))
    suffix = path.suffix.lower()
    if suffix == ".xclbin":
        return of_image(backend, where, image_file.read(path, bare=True), name)
    if suffix in SUFFIXES:
        return of_cpp(backend, where, path, name, flags)
    if suffix == ".cl":
        return of_text(backend, where, path.read_text(), name, flags, str(path))
    raise errors.unknown_kind(str(path))


def of_cpp(backend: Backend, where: device, path: Path, name: str | None, flags: Sequence[str]) -> Kernel:
    """A kernel of HLS C++, compiled by g++ where the device runs what that makes."""
    if backend.dialect != "vitis":
        raise errors.no_cpp_here(backend.properties.name, path)
    if backend.target.kind == "board" and not getattr(backend, "emulated", False):
        raise errors.needs_vpp(backend.properties.name, path)
    return of_image(backend, where, image(path, flags), name)


def of_image(backend: Backend, where: device, file: ImageFile, name: str | None) -> Kernel:
    """A kernel of an image, with the parameters that its metadata has."""
    kernels = {k.name: k for k in file.description.kernels}
    described = kernels[_chosen(list(kernels), name, str(file.path))]
    arguments, shared = _arguments(described)
    key = OwnKey(described.name, file.uuid, arguments, shared)
    return Kernel(backend, where, key, partial(backend.own_of_image, file))


def of_text(
    backend: Backend, where: device, text: str, name: str | None, options: Sequence[str], origin: str = "the text"
) -> Kernel:
    """A kernel of OpenCL C."""
    program = backend.own_program(text, tuple(options))
    chosen = _chosen(list(program.parameters), name, origin)
    key = OwnKey(chosen, program.digest, program.arguments(chosen))
    return Kernel(backend, where, key, program.kernel, program)


def _chosen(names: list[str], name: str | None, origin: str) -> str:
    if not names:
        raise errors.no_kernels(origin)
    listed = ", ".join(names)
    if name is None:
        if len(names) > 1:
            raise errors.name_one(origin, len(names), listed)
        return names[0]
    if name not in names:
        raise errors.no_kernel_named(origin, name, listed)
    return name


def _arguments(kernel: KernelDescription) -> tuple[tuple[OwnArgument, ...], bool]:
    """What a call passes, and whether the kernel is told its compute unit besides."""
    if kernel.control == "AP_CTRL_NONE" or not kernel.name.isidentifier():
        raise errors.free_running(kernel.name)
    arguments = []
    shared = tuple(a.name for a in kernel.arguments[-2:]) == UNIT_NAMES
    for k, a in enumerate(kernel.arguments[:-2] if shared else kernel.arguments):
        own = argument(a.name, a.c, k, size=a.size)
        if own is None:
            raise errors.bad_parameter(kernel.name, a.name, a.c)
        arguments.append(own)
    return tuple(arguments), shared
