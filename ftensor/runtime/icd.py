"""Makes the OpenCL loader see the runtime that pip installed, beside those of the system.

The loader reads a folder of .icd files, each holding a library's path. The files in the wheel of
Intel's CPU runtime name a path of the machine that packed it, and the library finds its own
neighbours only when they are loaded already. So: load the neighbours, and hand the loader a folder
of our own that holds the system's .icd files and one with the real path.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import cache
from .spaceless import path_without_blanks
from .targets import CPU_RUNTIME, INTEL_CPU_LIBRARY

SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")
# In the order of their dependence on each other.
NEIGHBOURS = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libtbb.so.12")
DISTRIBUTIONS = ("intel-opencl-rt", "intel-cmplr-lib-rt", "tbb")


@dataclass(frozen=True)
class PipRuntime:
    """Intel's CPU runtime as pip installed it; `missing` names the files that are not there."""

    version: str  # empty where nobody had to ask the installation records
    library: Path | None
    neighbours: tuple[Path, ...]
    missing: tuple[str, ...]


def _installed_files(name: str) -> tuple[str, list[Path]]:
    """Version and files of a distribution; ("", []) when it is not installed."""
    import importlib.metadata  # slow to import, and only unusual installations need it

    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return "", []
    return distribution.version, [Path(str(f.locate())) for f in distribution.files or ()]


def pip_runtime() -> PipRuntime | None:
    """Where pip put Intel's CPU runtime: into this environment, the user's, or the one below."""
    usual = Path(sys.prefix) / "lib"
    if all((usual / name).is_file() for name in (INTEL_CPU_LIBRARY, *NEIGHBOURS)):
        return PipRuntime("", usual / INTEL_CPU_LIBRARY, tuple(usual / name for name in NEIGHBOURS), ())
    version, files = _installed_files(DISTRIBUTIONS[0])
    if not version:
        return None
    for name in DISTRIBUTIONS[1:]:
        files += _installed_files(name)[1]
    # A record may be stale or lack the links that pip made; the usual folders come last.
    by_name = {file.name: file for file in reversed(files)}
    folders = list(dict.fromkeys(file.parent for file in files if file.name.startswith("lib")))
    folders += [Path(sys.prefix) / "lib", Path(sys.base_prefix) / "lib"]

    def locate(name: str) -> Path | None:
        candidates = ([by_name[name]] if name in by_name else []) + [f / name for f in folders]
        return next((Path(os.path.normpath(c)) for c in candidates if c.is_file()), None)

    paths = {name: locate(name) for name in (INTEL_CPU_LIBRARY, *NEIGHBOURS)}
    return PipRuntime(
        version,
        paths[INTEL_CPU_LIBRARY],
        tuple(path for name in NEIGHBOURS if (path := paths[name])),
        tuple(name for name, path in paths.items() if path is None),
    )


def loadable_runtime(notes: list[str]) -> PipRuntime | None:
    """pip's runtime by a path that it can read itself; None, and a sentence in `notes`, where there
    is none."""
    runtime = pip_runtime()
    if runtime is None or runtime.library is None:
        return runtime
    try:
        return replace(runtime, library=path_without_blanks(runtime.library))
    except OSError as failure:
        notes.append(
            f"Intel's CPU runtime was left out: it cannot be used from {runtime.library.parent}, which has a "
            f"blank in its name, nor be linked to another folder: {failure}; set FTENSOR_CACHE_DIR to a folder "
            "without one"
        )
        return None


def read_folder(folder: Path) -> dict[str, str]:
    """The .icd files of a folder: name -> the library that it names."""
    if not folder.is_dir():
        return {}
    return {
        file.name: library
        for file in sorted(folder.glob("*.icd"))
        if file.is_file() and (library := file.read_text(errors="replace").strip())
    }


def system_entries() -> dict[str, str]:
    """What the loader would find without us: the system's folder and those of conda and PyOpenCL.

    An entry that names a file that is not there is left out.
    """
    entries: dict[str, str] = {}
    spec = importlib.util.find_spec("pyopencl")
    folders = [SYSTEM_FOLDER, Path(sys.prefix) / "etc/OpenCL/vendors"]
    if spec is not None and spec.origin:
        folders.append(Path(spec.origin).parent / ".libs")
    for folder in folders:
        for name, library in read_folder(folder).items():
            if not os.path.isabs(library) and (folder / library).is_file():
                library = str(folder / library)  # a wheel's driver lies beside its entry
            if os.path.isabs(library) and not os.path.isfile(library):
                continue
            if library not in entries.values():
                entries.setdefault(name, library)
    return entries


def merge(system: dict[str, str], runtime: PipRuntime | None) -> dict[str, str]:
    """The entries to offer: the system's, and pip's runtime unless the system has its own.

    Two copies of Intel's runtime in one process get in each other's way.
    """
    if runtime is None or runtime.library is None:
        return dict(system)
    entries = {
        name: library
        for name, library in system.items()
        if os.path.basename(library) != INTEL_CPU_LIBRARY or os.path.isabs(library)
    }
    if not any(os.path.basename(library) == INTEL_CPU_LIBRARY for library in entries.values()):
        entries["ftensor-intel-cpu.icd"] = str(runtime.library)
    return entries


def write_folder(entries: dict[str, str], parent: Path) -> Path:
    """A folder in `parent` with exactly these entries; it is named by what it holds.

    The loader runs what the files name, so nobody else may be able to write there.
    """
    text = "\n".join(f"{name}\t{library}" for name, library in sorted(entries.items()))
    folder = parent / f"icd-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    cache.private_folder(folder)
    for stray in set(os.listdir(folder)) - set(entries):
        if stray.endswith(".icd"):
            (folder / stray).unlink(missing_ok=True)
    for name, library in entries.items():
        if read_folder(folder).get(name) != library:
            handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
            with os.fdopen(handle, "w") as file:
                file.write(library + "\n")
            os.replace(temporary, folder / name)  # another process may be reading
    return folder


def _entries_folder(entries: dict[str, str]) -> Path:
    try:
        return write_folder(entries, cache.directory())
    except OSError:  # a read-only home or a shared cache: a folder of this process alone
        parent = Path(tempfile.mkdtemp(prefix="ftensor-"))
        _TEMPORARY.append(parent)
        return write_folder(entries, parent)


_TEMPORARY: list[Path] = []


def _remove_temporary() -> None:
    while _TEMPORARY:
        parent = _TEMPORARY.pop()
        for file in sorted(parent.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        parent.rmdir()


@contextlib.contextmanager
def offered(notes: list[str]) -> Iterator[dict[str, str]]:
    """While this is open, a loader that starts up sees all runtimes; yields the entries it reads.

    What goes wrong is added to `notes`, a sentence each. The environment is put back at the end,
    so that child processes don't inherit a folder made for this one.
    """
    if not sys.platform.startswith("linux"):
        yield {}
        return
    chosen = os.environ.get("OCL_ICD_VENDORS")
    runtime = loadable_runtime(notes)
    if chosen:
        path = Path(chosen)
        entries = {path.name: path.read_text().strip()} if path.is_file() else read_folder(path)
        if not entries:
            notes.append(f"OCL_ICD_VENDORS is set to {chosen}, which holds no .icd file")
    else:
        entries = merge(system_entries(), runtime)
    if runtime is not None and runtime.missing:
        notes.append(
            f"Intel's CPU runtime {runtime.version} is installed by pip, but not whole: "
            f"{', '.join(runtime.missing)} missing; "
            f"repair it: {CPU_RUNTIME} --force-reinstall"
        )
    if runtime is not None and runtime.library is not None:
        ours = {name for name, lib in entries.items() if _same_file(lib, runtime.library)}
        if ours:
            try:
                for neighbour in runtime.neighbours:
                    ctypes.CDLL(str(neighbour), mode=ctypes.RTLD_GLOBAL)
            except OSError as failure:
                notes.append(f"Intel's CPU runtime was left out, it cannot be loaded: {failure}")
                entries = {n: lib for n, lib in entries.items() if n not in ours or chosen}
    if chosen or entries == read_folder(SYSTEM_FOLDER):
        yield entries
        return
    # Older loaders join folder and file name without a separator.
    os.environ["OCL_ICD_VENDORS"] = os.path.join(_entries_folder(entries), "")
    try:
        yield entries
    finally:
        del os.environ["OCL_ICD_VENDORS"]
        _remove_temporary()


def _same_file(library: str, path: Path) -> bool:
    return os.path.isabs(library) and os.path.isfile(library) and os.path.samefile(library, path)
