"""`ftensor image pack`: packs users' own kernels into an image for the software device."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import image as own_errors
from ..errors.image import bad_description, unreadable
from ..image.contents import ArgumentDescription, Description, KernelDescription
from ..image.debug_information import functions
from ..image.description import complete, pack, read
from ..image.info import complain
from ..kernels.user_kernels import argument
from ..terminal import counted
from . import connectivity, stream_links
from .user_kernels import language, launchable_kernels, linked_library, passable


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor image pack`; returns the exit status."""
    try:
        sources, output = _files(arguments)
        config = connectivity.read(arguments.config)
        if config.streams and (arguments.library or arguments.description):
            raise bad_description("streams (stream_connect=) need sources, without --library and --description")
        linked = None
        if sources:
            binary, linked = linked_library(sources, (), config)
        else:
            binary = _read(Path(arguments.library))
        origin = ", ".join(map(str, sources)) or arguments.library
        if linked is not None:
            kernels = passable(stream_links.described(linked))
            description = Description(kernels, config.banks(kernels), name=sources[0].stem)
        else:
            description = _connected(_description(arguments, binary, origin), config, sources)
        text = None if arguments.manifest is None else _read(Path(arguments.manifest)).decode()
        data = pack(description, binary, text)
        output.write_bytes(data)
    except OSError as e:
        return complain(f"can't write {e.filename!r}: {e.strerror}")
    except (RuntimeError, ValueError) as e:  # ImageError and UnicodeDecodeError among them
        return complain(str(e))
    units = sum(len(kernel.units) for kernel in complete(description).kernels)
    print(f"{output}: {counted(len(description.kernels), 'kernel')}, {counted(units, 'compute unit')}")
    return 0


def _files(arguments: argparse.Namespace) -> tuple[list[Path], Path]:
    """Returns the sources (none if a library is given) and the file to write."""
    *sources, last = map(Path, arguments.files)
    if arguments.library is None and not sources:
        sources, last = [last], last.with_suffix(".xclbin")
    are_sources = all(language(source) for source in sources)
    if not are_sources or bool(sources) == (arguments.library is not None):
        raise bad_description("give sources of kernels (.cpp or .c), or a compiled --library")
    if language(last):
        raise bad_description(f"{last} is a source; name the xclbin file to write behind the sources")
    return sources, last


def _connected(description: Description, config: connectivity.Connectivity, sources: Sequence[Path]) -> Description:
    """Returns the description with the units and banks of v++'s configuration."""
    if config == connectivity.NOTHING:
        return description
    bundles: dict[str, str] = {}
    for source in sources:
        bundles |= connectivity.bundles_of(_read(source).decode(errors="replace"), description.kernels)
    kernels = config.kernels(description.kernels, bundles)
    return replace(description, kernels=kernels, banks=config.banks(kernels) or description.banks)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise unreadable(path, e.strerror) from None


def _description(arguments: argparse.Namespace, binary: bytes, origin: str) -> Description:
    """Returns the kernels' description: the user's file, completed from the library's debug
    information, or what the debug information says alone."""
    if arguments.description is None:
        return Description(launchable_kernels(binary, origin), name=Path(origin).stem)
    said = read(arguments.description)
    for kernel in said.kernels:
        # The library's string table holds an exported name between two zero bytes.
        if b"\0" + kernel.name.encode() + b"\0" not in binary:
            raise bad_description(f"{origin} has no function {kernel.name!r}")
    there = {k.name: k for k in functions(binary) or ()}
    return replace(said, kernels=tuple(_with_compiled_types(k, there.get(k.name)) for k in said.kernels))


def _with_compiled_types(described: KernelDescription, compiled: KernelDescription | None) -> KernelDescription:
    """Returns the described kernel, with types completed from the function `compiled`.

    Raises ImageError if the function takes other arguments. If the description has no arguments, it
    takes the function's.
    """
    if compiled is None:  # compiled without -g, or no function that returns nothing
        return described
    if not described.arguments:
        return replace(described, arguments=compiled.arguments)
    pairs = zip(described.arguments, compiled.arguments)
    if len(described.arguments) != len(compiled.arguments) or not all(_same_type(a, b) for a, b in pairs):
        texts = [", ".join(f"{a.c} {a.name}" for a in k.arguments) for k in (described, compiled)]
        raise own_errors.arguments_differ(described.name, *texts)
    # The function's types also say which buffers are const, and so never written.
    return replace(
        described, arguments=tuple(replace(a, c=b.c) for a, b in zip(described.arguments, compiled.arguments))
    )


def _same_type(described: ArgumentDescription, compiled: ArgumentDescription) -> bool:
    """True if both arguments have the same type; a pointer to bytes matches any pointer."""
    if described.c.endswith("&") != compiled.c.endswith("&"):
        return False
    a, b = (argument(argument_.name, argument_.c.rstrip("& "), 0) for argument_ in (described, compiled))
    if a is None or b is None:
        return a is b
    return a.kind == b.kind and (a.dtype is b.dtype or None in (a.dtype, b.dtype))
