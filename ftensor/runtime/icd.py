"""Makes the OpenCL loader find the runtime that pip installed, by a path without blanks."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import cache
from .targets import CPU_RUNTIME, INTEL_CPU_LIBRARY

_UNREADABLE = re.compile(r"[\s:;]")


def path_without_blanks(library: Path) -> Path:
    """Returns a path to the library that has no blank: its own, or that of a link in a folder that
    ftensor creates.

    The folder has a hard link to the library (a copy where the file system has no hard links) and
    symbolic links to its neighbours. Raises OSError if no such folder can be created.
    """
    origin = library.resolve()
    if not _UNREADABLE.search(str(origin)):
        return library
    status = origin.stat()
    identity = f"{origin}\0{status.st_size}\0{status.st_mtime_ns}"
    name = f"runtime-{hashlib.sha256(identity.encode(errors='surrogateescape')).hexdigest()[:16]}"
    problem: OSError = FileNotFoundError(f"no folder without a blank in its name for {origin}")
    for parent in _parents():
        try:
            return _linked(origin, cache.private_folder(parent) / name)
        except OSError as failure:
            problem = failure
    raise problem


def _parents() -> Iterator[Path]:
    """Yields folders in which to create one: the cache's folder, then temporary folders."""
    folder_name = f"ftensor-{os.getuid()}"
    for place in (cache.directory(), Path(tempfile.gettempdir()) / folder_name, Path("/tmp") / folder_name):
        if not _UNREADABLE.search(str(place.resolve())):
            yield place.resolve()


def _linked(origin: Path, folder: Path) -> Path:
    """Creates the folder atomically, and returns the library in it."""
    library = folder / origin.name
    if not library.is_file():
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        try:
            for sibling in origin.parent.iterdir():
                if sibling.name != origin.name:
                    (scratch / sibling.name).symlink_to(sibling)
            try:
                os.link(origin, scratch / origin.name)
            except OSError:  # on another file system, or another user's
                shutil.copy2(origin, scratch / origin.name)
            os.rename(scratch, folder)
        except OSError:
            shutil.rmtree(scratch, ignore_errors=True)
            if not library.is_file():  # unless another process was faster
                raise
    cache.private_folder(folder)
    return library


SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")
# In the order of their dependencies.
NEIGHBOURS = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libtbb.so.12")
DISTRIBUTIONS = ("intel-opencl-rt", "intel-cmplr-lib-rt", "tbb")


@dataclass(frozen=True)
class PipRuntime:
    """Intel's CPU runtime as installed by pip; `missing` names absent files."""

    version: str  # "" if the installation records were not read
    library: Path | None
    neighbours: tuple[Path, ...]
    missing: tuple[str, ...]


def _installed_files(name: str) -> tuple[str, list[Path]]:
    """Returns the version and files of a distribution; ("", []) if it is not installed."""
    import importlib.metadata  # slow to import, and only unusual installations need it

    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return "", []
    return distribution.version, [Path(str(f.locate())) for f in distribution.files or ()]


def pip_runtime() -> PipRuntime | None:
    """Finds Intel's CPU runtime from pip: in this environment, the user's, or the base
    environment."""
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
    """Returns pip's runtime with a path that it can read itself. Returns None and adds a sentence
    to `notes` if there is no such path."""
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
    """Returns the .icd files of a folder as a dict from file name to library."""
    if not folder.is_dir():
        return {}
    return {
        file.name: library
        for file in sorted(folder.glob("*.icd"))
        if file.is_file() and (library := file.read_text(errors="replace").strip())
    }


def system_entries() -> dict[str, str]:
    """Returns the entries that the loader finds by itself: those of the system, of conda and of
    PyOpenCL. Omits entries whose library does not exist."""
    entries: dict[str, str] = {}
    spec = importlib.util.find_spec("pyopencl")
    folders = [SYSTEM_FOLDER, Path(sys.prefix) / "etc/OpenCL/vendors"]
    if spec is not None and spec.origin:
        folders.append(Path(spec.origin).parent / ".libs")
    for folder in folders:
        for name, library in read_folder(folder).items():
            if not os.path.isabs(library) and (folder / library).is_file():
                library = str(folder / library)  # a wheel's driver is in its entry's folder
            if os.path.isabs(library) and not os.path.isfile(library):
                continue
            if library not in entries.values():
                entries.setdefault(name, library)
    return entries


def merge_icd_entries(system: dict[str, str], runtime: PipRuntime | None) -> dict[str, str]:
    """Returns the entries to offer: the system's, and pip's runtime unless the system has its own.

    Two copies of Intel's runtime in one process conflict.
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


def chosen_entries(chosen: str, notes: list[str]) -> dict[str, str]:
    """Returns the entries of a file or folder that OCL_ICD_VENDORS names. Adds a sentence to `notes`
    if there are none."""
    path = Path(chosen)
    entries = {path.name: path.read_text().strip()} if path.is_file() else read_folder(path)
    if not entries:
        notes.append(f"OCL_ICD_VENDORS is set to {chosen}, which holds no .icd file")
    return entries


def write_folder(entries: dict[str, str], parent: Path) -> Path:
    """Creates a folder in `parent` with exactly these entries, named by a digest of them.

    The loader runs the libraries named in the files, so no other user may be able to write there.
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
def available_runtimes(notes: list[str]) -> Iterator[dict[str, str]]:
    """Inside the block, a loader that starts finds all runtimes; yields the entries that it reads.

    Adds a sentence to `notes` for each problem. Restores the environment afterwards, so that child
    processes don't inherit a folder made for this one.
    """
    if not sys.platform.startswith("linux"):
        yield {}
        return
    chosen = os.environ.get("OCL_ICD_VENDORS")
    runtime = loadable_runtime(notes)
    entries = chosen_entries(chosen, notes) if chosen else merge_icd_entries(system_entries(), runtime)
    if runtime is not None and runtime.missing:
        notes.append(
            f"Intel's CPU runtime {runtime.version} is installed by pip, but not whole: "
            f"{', '.join(runtime.missing)} missing; "
            f"repair it: {CPU_RUNTIME} --force-reinstall"
        )
    if runtime is not None and runtime.library is not None:
        own_names = {name for name, lib in entries.items() if _same_file(lib, runtime.library)}
        if own_names:
            try:
                for neighbour in runtime.neighbours:
                    ctypes.CDLL(str(neighbour), mode=ctypes.RTLD_GLOBAL)
            except OSError as failure:
                notes.append(f"Intel's CPU runtime was left out, it cannot be loaded: {failure}")
                entries = {n: lib for n, lib in entries.items() if n not in own_names or chosen}
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
