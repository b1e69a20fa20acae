"""From a file of kernels to kernels: images of anybody's, HLS C++ and C, OpenCL C."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._device import found_of, resolve
from ..errors import own as errors
from ..image import file as image_file
from ..image.contents import KernelDescription
from ..image.file import UNIT_NAMES, ImageFile
from ..kernels.own import OwnArgument, OwnKey, argument
from ..toolchain.own import image, language
from .given import file_of, name_of, text_of, words_of
from .kernel import Kernel

if TYPE_CHECKING:
    from .._device import device

Words = tuple[str, ...]
IMAGES = (".xclbin", ".awsxclbin")


def of_file(where: device, file: Any, name: Any, flags: Any) -> Kernel:
    """A kernel of a file by the file's kind; FileNotFoundError, ValueError for one of no kind."""
    words, chosen, path = words_of("flags", flags), name_of(name), file_of(file)
    if path.suffix.lower() in IMAGES:
        return _of_image(where, image_file.read(path, bare=True), chosen, words)
    if path.suffix.lower() == ".cl":
        # What is no UTF-8 is in comments.
        return _of_text(where, path.read_text("utf-8", "replace"), chosen, words, str(path))
    return _of_cpp(where, path, chosen, words)


def of_cpp(where: device, file: Any, name: Any, flags: Any) -> Kernel:
    """A kernel of HLS C++ or C, compiled by g++ where the device runs what that makes."""
    words, chosen = words_of("flags", flags), name_of(name)
    return _of_cpp(where, file_of(file), chosen, words)


def of_text(where: device, text: Any, name: Any, options: Any) -> Kernel:
    """A kernel of OpenCL C."""
    words = words_of("options", options)
    return _of_text(where, text_of(text), name_of(name), words, "the text")


def _of_cpp(where: device, path: Path, name: str | None, flags: Words) -> Kernel:
    if language(path) is None:
        raise errors.unknown_kind(str(path))
    backend = found_of(where).open()
    if backend.dialect != "vitis":
        raise errors.no_cpp_here(backend.properties.name, path)
    if backend.target.kind == "board" and not getattr(backend, "emulated", False):
        raise errors.needs_vpp(backend.properties.name, path)
    return _of_image(where, image(path, flags), name, flags)


def _of_image(where: device, file: ImageFile, name: str | None, flags: Words) -> Kernel:
    kernels = {k.name: k for k in file.description.kernels}
    described = kernels[_chosen(list(kernels), name, str(file.path))]
    arguments, shared = _arguments(described)
    key = OwnKey(described.name, file.uuid, arguments, shared)
    backend = found_of(where).open()
    again = _file_again, (str(file.path.absolute()), key.name, flags)
    return Kernel(backend, where, key, partial(backend.own_of_image, file), again)


def _of_text(where: device, text: str, name: str | None, options: Words, origin: str) -> Kernel:
    backend = found_of(where).open()
    program = backend.own_program(text, options)
    chosen = _chosen(list(program.parameters), name, origin)
    key = OwnKey(chosen, program.digest, program.arguments(chosen))
    again = _text_again, (text, chosen, options, origin)
    return Kernel(backend, where, key, program.kernel, again, program)


def _file_again(path: str, name: str, flags: Words) -> Kernel:
    """A kernel that was pickled, on the current device, as tensors are."""
    return of_file(resolve("fpga"), path, name, flags)


def _text_again(text: str, name: str, options: Words, origin: str) -> Kernel:
    """As `_file_again`, of OpenCL C."""
    return _of_text(resolve("fpga"), text, name, options, origin)


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
