"""Compiles users' own HLS C++ and C with g++: an image for the software device and C simulation."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import image as errors
from ..errors.build import no_cxx
from ..image import file as image_file
from ..image.contents import ArgumentDescription, Description, KernelDescription
from ..image.debug_information import functions
from ..image.description import pack
from ..image.file import ImageFile
from ..kernels.source import hls_root
from ..kernels.user_kernels import argument, scalar
from ..runtime import cache
from ..runtime.command_words import file_word
from ..runtime.csim.backend import FLAGS, cpu_name
from ..runtime.launch_cache import notice
from ..runtime.targets import csim_compiler
from . import stream_ends, stream_links
from .connectivity import NOTHING, Connectivity
from .dataflow_marks import OPTION, RECORDED, marked, names_in_depths
from .object_symbols import separate_symbols
from .stream_links import Linked
from .vitis.headers import include_folders

log = logging.getLogger(__name__)

# The message for a missing header, of clang and of g++.
_NO_HEADER = re.compile(r"fatal error: (?:'(.+)' file not found|(.+): No such file or directory)")
CXX_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++")


def language(source: Path) -> str | None:
    """Returns "c" or "c++" by a file's suffix; None for other suffixes.

    As for compilers, .c is C and .C is C++.
    """
    if source.suffix == ".c":
        return "c"
    return "c++" if source.suffix == ".C" or source.suffix.lower() in CXX_SUFFIXES else None


def command(source: Path, flags: Sequence[str], shared: bool = True) -> list[str]:
    """Returns the compiler's command line for a kernel file: of a shared object, or an object file.

    Raises BuildError without a compiler.
    """
    headers = [word for folder in include_folders() for word in ("-isystem", file_word(folder))]
    spoken = language(source) or "c++"
    other = {"-std=gnu++14": "-std=gnu11"} if spoken == "c" else {}
    if not shared:
        other["-shared"] = "-c"
    # -g, because the kernels' arguments are read from the debug information.
    words = [*_compiler(), *(other.get(flag, flag) for flag in FLAGS), "-g", *headers, *(_own() if shared else ())]
    return [*words, *flags, "-x", spoken, file_word(source)]


def _own() -> list[str]:
    """Returns the linker's options: a kernel named `pipe` is not the C library's, and no other library's
    functions and variables are the kernel's."""
    return ["-Wl,-Bsymbolic", "-Xlinker", f"--version-script={_symbols()}"]


def _symbols() -> Path:
    return hls_root() / "standin" / "user_kernels.map"


def _compiler() -> list[str]:
    compiler = csim_compiler()
    if compiler is None:
        raise no_cxx(os.environ.get("CXX") or "g++")
    return compiler


def library(source: Path, flags: Sequence[str]) -> bytes:
    """Compiles a kernel file to a shared object; raises RuntimeError if the compiler rejects it.

    A kernel with streams gets a second function that takes tensors at the ends of the streams, if
    the beats of every stream are whole bytes.
    """
    return _with_all_ends(source, flags, True)


def linked_library(
    sources: Sequence[Path], flags: Sequence[str], config: Connectivity = NOTHING
) -> tuple[bytes, Linked | None]:
    """Compiles kernel files to one shared object, as `library` does; with the kernels that streams of
    `config` connect, None if it has no streams."""
    if len(sources) == 1 and not config.streams:
        return library(sources[0], flags), None
    with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
        objects = [Path(folder) / f"{k}.o" for k in range(len(sources))]
        linked = None
        if config.streams:
            linked = _compiled_with_links(sources, flags, config, objects)
        else:
            for source, file in zip(sources, objects):
                file.write_bytes(_with_all_ends(source, flags, False))
        separate_symbols(objects)
        output = Path(folder) / "kernels.so"
        _run(sources[0], [*_compiler(), "-shared", *_own(), *map(file_word, objects), "-o", file_word(output)])
        return output.read_bytes(), linked


def _compiled_with_links(
    sources: Sequence[Path], flags: Sequence[str], config: Connectivity, objects: Sequence[Path]
) -> Linked:
    """Compiles kernel files with the streams between them to the files `objects`."""
    by_file = [functions(_object(source, command(source, [*flags, "-O0"]))) or () for source in sources]
    texts = [source.read_text(errors="replace") for source in sources]
    linked = stream_links.linked(config, [k for kernels in by_file for k in kernels], texts)
    placed = {k.name: k for k in linked.kernels}
    for always in (True, False):  # all files record, or none: they share streams
        for source, kernels, file in zip(sources, by_file, objects):
            own = [placed[k.name] for k in kernels]
            ends = [k for k in stream_ends.with_streams(own) if not linked.is_linked(k)]
            text = stream_ends.text(str(source.resolve()), ends) + stream_links.text(own, linked)
            both = file.with_suffix(source.suffix)
            both.write_text(text)
            words = command(both, flags, False)
            marks = _with_marks(both, words, True) if always else None
            try:
                file.write_bytes(_object(both, words) if marks is None else _recording(both, words, marks))
            except RuntimeError:
                if not always:
                    raise
                break
        else:
            return linked
        log.warning("ftensor: the depths of the streams are not checked: the marked text does not compile")
    raise AssertionError


def _with_all_ends(source: Path, flags: Sequence[str], shared: bool) -> bytes:
    binary = _compiled(source, flags, shared)
    seen = binary if shared else _object(source, command(source, [*flags, "-O0"]))
    streaming = stream_ends.with_streams(functions(seen) or ())
    if not streaming or language(source) == "c":
        return binary
    try:
        return _with_ends(source, flags, streaming, shared)
    except RuntimeError:  # of one or more
        served = [k for k in streaming if len(streaming) > 1 and _has_ends(source, flags, k)]
        return _with_ends(source, flags, served, shared) if served else binary


def _has_ends(source: Path, flags: Sequence[str], kernel: KernelDescription) -> bool:
    try:
        _with_ends(source, [*flags, "-O0"], [kernel], True)
    except RuntimeError:
        return False
    return True


def _with_ends(source: Path, flags: Sequence[str], kernels: Sequence[KernelDescription], shared: bool) -> bytes:
    with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
        twice = Path(folder) / source.name
        twice.write_text(stream_ends.text(str(source.resolve()), kernels))
        return _compiled(twice, flags, shared)


def _compiled(source: Path, flags: Sequence[str], shared: bool) -> bytes:
    """Returns the shared object, or object file, of a kernel file.

    The object of a file with DATAFLOW regions records the accesses of its FIFOs, so that their
    depths are checked (hls/standin/fifos.h).
    """
    words = command(source, flags, shared)
    if text := _with_marks(source, words):
        try:
            return _recording(source, words, text)
        except RuntimeError:
            why = "its marked text does not compile"
            log.warning("ftensor: the depths of the FIFOs of %s are not checked: %s", source.name, why)
    return _object(source, words)


def _object(source: Path, words: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
        output = Path(folder) / "kernels.so"
        _run(source, [*words, "-o", file_word(output)])
        return output.read_bytes()


def _recording(source: Path, words: Sequence[str], text: str) -> bytes:
    """Returns what a compiler's command line makes of the marked text of the source."""
    with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
        recording = Path(folder) / f"{source.stem}.ii"
        recording.write_text(text, encoding="utf-8", errors="surrogateescape")
        # Behind -x and the source's own name.
        return _object(source, [*words[:-3], "-x", "c++-cpp-output", file_word(recording)])


def _with_marks(source: Path, words: Sequence[str], always: bool = False) -> str | None:
    """Returns the preprocessed text with marked processes; None without a DATAFLOW region or
    hls::stream, or if the compiler refuses the file."""
    preprocess = [*(w for w in words if w not in ("-shared", "-c")), OPTION, "-E"]
    done = subprocess.run(preprocess, capture_output=True)
    text = done.stdout.decode(errors="surrogateescape")
    if done.returncode or RECORDED not in text:
        return None
    macros = {}
    if names_in_depths(text):
        said = subprocess.run([*preprocess, "-dM"], capture_output=True).stdout.decode(errors="replace")
        defined = (line.split(maxsplit=2)[1:] for line in said.splitlines())
        macros = {name: value[0] for name, *value in defined if value}
    return marked(text, macros, always)


def _run(source: Path, words: list[str]) -> bytes:
    with notice.compiling("C simulation"):
        done = subprocess.run(words, capture_output=True)
    if done.returncode:
        log = done.stderr.decode(errors="replace").strip()
        if lacking := _NO_HEADER.search(log):
            raise errors.no_header(words[0], source, lacking[1] or lacking[2], log)
        raise errors.not_compiled(words[0], source, log)
    return done.stdout


def described_kernels(binary: bytes, origin: object) -> tuple[KernelDescription, ...]:
    """Returns the kernels of a shared object.

    Raises ImageError if the object has no debug information or no kernels.
    """
    kernels = functions(binary)
    if kernels is None:
        raise errors.no_debug_information(origin)
    if not kernels:
        raise errors.no_kernels(origin)
    return stream_ends.joined(kernels)


def launchable_kernels(binary: bytes, origin: object) -> tuple[KernelDescription, ...]:
    """Returns the kernels of a shared object that a host can launch; raises ValueError if there is
    none."""
    return passable(described_kernels(binary, origin))


def passable(exported: Sequence[KernelDescription]) -> tuple[KernelDescription, ...]:
    """Returns the kernels that a host can launch, and those that need no host; raises ValueError if there is
    none."""
    lacking = {k.name: [a for a in k.arguments if not _can_pass(a)] for k in exported}
    kernels = tuple(k for k in exported if not lacking[k.name])
    if not kernels:
        name, (first, *_) = next(iter(lacking.items()))
        raise errors.bad_parameter(name, first.name, first.c)
    return kernels


def check_parameters(file: ImageFile, name: str) -> None:
    """Raises ValueError if kernel `name` of a compiled file has a parameter that no call can pass: then the
    image does not list the kernel."""
    for kernel in described_kernels(file.library, file.path):
        if kernel.name == name:
            passable([kernel])


def _can_pass(described: ArgumentDescription) -> bool:
    if described.c.endswith(" &") and scalar(described.c.removesuffix(" &")) not in (None, "half"):
        return True  # a register that the kernel writes; calls with tensors refuse it
    parameter = argument(described.name, described.c, 0)
    return parameter is not None and (parameter.kind != "stream" or described.c == stream_links.PORT)


def image(source: Path, flags: Sequence[str]) -> ImageFile:
    """Returns the image of a kernel file.

    Uses the disk cache if the preprocessed text, flags, compiler and processor are the same as
    before.
    """
    words = command(source, flags)
    seen = _run(source, [*(w for w in words if w != "-shared"), "-E", "-P"])
    version = subprocess.run([words[0], "--version"], capture_output=True, text=True).stdout
    text, symbols = seen.decode(errors="replace"), _symbols().read_text()
    key = cache.key("own cpp, enums", text, " ".join(flags), symbols, version, cpu_name())
    data = cache.get(key)
    if data is None:
        binary = library(source, flags)
        data = pack(Description(launchable_kernels(binary, source), name=source.stem), binary)
        cache.put(key, data)
    with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
        file = Path(folder) / f"{source.stem}.xclbin"
        file.write_bytes(data)
        return replace(image_file.read(file, bare=True), path=source)
