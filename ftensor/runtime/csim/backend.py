"""The software device: kernels compiled by g++ in the process, and images of shared libraries."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ... import errors
from ...errors import image as image_errors
from ...errors.graph import stuck
from ...image.file import TARGETS, VARIABLE, ImageFile
from ...image.manifest import JOINED, LINKED, SCOPE, KernelRecord, compiled, expressions
from ...kernels.skeleton import board_named
from ...kernels.workload import PORT_BYTES
from .. import cache, lifetime
from ..backend import Backend, host_memory
from ..command_words import file_word
from ..images import Images, LoadedImage, Slot
from ..interfaces import CompiledKernel, DeviceProperties, KernelSource, UserKernel
from ..launch_cache import IN_BATCH, notice
from ..targets import csim_compiler

if TYPE_CHECKING:
    from ...kernels.user_kernels import UserKernelKey
    from ..targets import Target


def user_kernel_launcher(file: ImageFile, key: UserKernelKey) -> CompiledKernel:
    """Returns a function that calls the kernel. Raises ImageError if the image is for hardware or
    can't be loaded, and for a kernel with streams to other kernels."""
    if not file.emulated:
        raise image_errors.needs_a_board(file.path, file.platform)
    for a in key.arguments:
        if a.kind == "stream":
            raise image_errors.needs_other_kernels(key.name, file.path, a.name)
    types = ["_Bool" if a.kind == "bool" else C_TYPES[a.kind] for a in key.arguments]
    units = ["int", "int"] if key.shared else []
    library = opened(file, [f"void {key.symbol}({', '.join([*types, *units]) or 'void'});"])
    try:
        call = getattr(library, key.symbol)
    except AttributeError as e:
        raise image_errors.not_loaded(file.path, e) from None
    count = len(key.pointers)
    sizes = [a.dtype.itemsize if a.dtype else 1 for a in key.pointers]
    pointer = [a.kind == "*" for a in key.arguments]

    def launch(stream: Any, units: int, /, *args: Any) -> None:
        begins = iter([h + o * n for h, o, n in zip(args, args[count:], sizes)])
        scalars = iter(args[2 * count :])
        values = [next(begins) if is_pointer else next(scalars) for is_pointer in pointer]
        for unit in range(units):
            call(*values, *((unit, units) if key.shared else ()))

    launch.library = library  # type: ignore[attr-defined]  # the code stays loaded
    return launch


# Vitis HLS supports C++14, and its headers compile in half the time of C++17's. The GNU variant
# allows hexadecimal floating point numbers. GCC 12 vectorizes a product of complex numbers with
# fused instructions (vfmaddsub) despite -ffp-contract=off, which gives other bits than the kernel.
FLAGS = (
    "-O2", "-std=gnu++14", "-march=native", "-ffp-contract=off", "-fno-tree-vectorize", "-fwrapv", "-shared", "-fPIC",
)  # fmt: skip


def _compiler() -> list[str]:
    command = csim_compiler()
    assert command is not None, "C simulation was opened without a compiler"
    return command


@lru_cache(maxsize=1)
def _compiler_version() -> str:
    completed = subprocess.run([*_compiler(), "--version"], capture_output=True, text=True, check=True)
    return completed.stdout.splitlines()[0]


class CSimBackend(Backend):
    """The host as a device that runs one kernel call at a time."""

    images: CSimImages | None = None

    def __init__(self, target: Target, from_images: bool = False) -> None:
        properties = DeviceProperties(
            name=f"C simulation on {platform.machine()}",
            platform="C simulation",
            version="C++14",
            driver=_compiler_version(),
            total_memory=_host_memory_size(),
            max_allocation=_host_memory_size(),
            multi_processor_count=1,
            has_float64=True,
            has_float16=True,
        )
        super().__init__(target, properties, host_shared=True)
        if from_images and os.environ.get(VARIABLE):
            images = CSimImages(self)
            images.load_from_environment()
            self._take(images)

    def load_image(self, path: str | Path) -> ImageFile:
        """Loads an image. Later kernels come from images and are no longer compiled."""
        images = self.images or CSimImages(self)
        file = images.load(path)
        self._take(images)
        return file

    def _take(self, images: CSimImages) -> None:
        """Uses the images from now on. Memory must be aligned to a beat, since image kernels read
        whole beats."""
        self.images, self.adopt_alignment = images, PORT_BYTES

    def user_kernel_of_image(self, file: ImageFile, key: UserKernelKey) -> UserKernel:
        """Returns a kernel of an emulation image: its function."""
        return UserKernel(user_kernel_launcher(file, key))

    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Compiles one kernel, or loads it from the disk cache.

        After `params`, the function takes two more ints: the unit and the number of units.
        """
        flags = self._flags(options)
        key = self._cache_key(source, flags)
        arguments = ", ".join([*(C_TYPES[p] for p in params), "int", "int"])
        waits = ["char *ft_stuck(void);"] if "ft_stuck(void)" in source else []
        ffi = declared([f"void {entry}({arguments});", *waits])
        try:
            # The library object keeps the code loaded; the launcher keeps the library object.
            library = ffi.dlopen(str(self._library(key, source, entry, flags)))
        except OSError:
            # An entry that does not load here is compiled again.
            cache.drop(key)
            library = ffi.dlopen(str(self._library(key, source, entry, flags)))
        return _make_launcher(library, entry, len(params), ffi.string if waits else None)

    def has_built(self, program: KernelSource) -> bool:
        return cache.path(self._cache_key(program.source, self._flags(()))).exists()

    def _flags(self, options: tuple[str, ...]) -> tuple[str, ...]:
        return (*FLAGS, *self.target.build_options, *options)

    def _cache_key(self, source: str, flags: tuple[str, ...]) -> str:
        # -march=native compiles for the host's CPU, and machines may share a home directory.
        return cache.key("csim", source, " ".join(flags), self.properties.driver, cpu_name())

    def build_together(self, source: str, programs: Sequence[KernelSource]) -> None:
        flags = self._flags(())
        batch_key = self._cache_key(source, flags)
        self._library(batch_key, source, programs[0].entry, flags)
        if len(programs) > 1 and cache.path(batch_key).exists():
            for program in programs:
                cache.put(self._cache_key(program.source, flags), IN_BATCH + batch_key.encode())

    def _library(self, key: str, source: str, entry: str, flags: tuple[str, ...]) -> Path:
        cached = cache.get(key)
        if cached is not None and cached.startswith(IN_BATCH):
            batch_key = cached.removeprefix(IN_BATCH).decode()
            if cache.get(batch_key) is not None:
                return cache.path(batch_key)
        elif cached is not None:
            return cache.path(key)
        with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
            library = Path(folder) / "kernel.so"
            command = [*_compiler(), *flags, "-x", "c++", "-", "-o", file_word(library)]
            with notice.compiling(self.properties.name):
                completed = subprocess.run(command, input=source, capture_output=True, text=True)
            if completed.returncode != 0:
                raise errors.kernel_build_failed(entry, self.properties.name, completed.stderr, source)
            kept = cache.put(key, library.read_bytes())
            if kept is not None:
                return kept
            return self._private_copy(key, library)

    def _private_copy(self, key: str, library: Path) -> Path:
        """Copies the library to a folder that exists as long as the backend, for an unwritable
        cache."""
        if not hasattr(self, "_private"):
            self._private = tempfile.TemporaryDirectory(prefix="ftensor-")
        return Path(shutil.copy(library, Path(self._private.name) / key))

    def _make_memory(self, nbytes: int) -> tuple[Any, int | None, object] | None:
        try:
            ptr, memory = host_memory(nbytes)
        except MemoryError:
            return None
        return ptr, ptr, memory

    def _wrap_host(self, ptr: int, nbytes: int, readonly: bool) -> tuple[Any, object]:
        return ptr, None

    # Calls are synchronous, so there are no queues, and a marker is a time.

    def make_queue(self) -> Any:
        return None

    def finish(self, queue: Any) -> None:
        """Does nothing: calls are synchronous."""

    def make_marker(self, queue: Any) -> Any:
        return time.perf_counter_ns()

    def marker_done(self, marker: Any) -> bool:
        return True

    def finish_marker(self, marker: Any) -> None:
        """Does nothing: calls are synchronous."""

    def wait_marker(self, queue: Any, marker: Any, origin: Backend | None) -> None:
        if origin is not None and origin is not self:
            origin.finish_marker(marker)

    def make_timing(self, marker: Any) -> Any:
        return marker

    def timing_ns(self, timing: Any) -> int:
        return int(timing)


def _make_launcher(library: Any, entry: str, count: int, string: Any) -> CompiledKernel:
    """Returns a function that calls the kernel. If the kernel's stages can deadlock, `string`
    decodes their report, and the function raises it as an error."""
    names = ", ".join([f"a{i}" for i in range(count)])
    lines = [
        f"def launch(stream, units, {names}, /):",
        "    for unit in range(units):",
        f"        call({names}, unit, units)",
    ]
    scope = {"call": getattr(library, entry), "library": library}
    if string is not None:
        lines += ["    message = string(stuck())", "    if message: raise error(name, message.decode())"]
        scope |= {"stuck": library.ft_stuck, "string": string, "error": stuck, "name": entry}
    return compiled(entry, lines, scope)


def _host_memory_size() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@lru_cache(maxsize=1)
def cpu_name() -> str:
    """Returns the CPU's model and feature flags, on which -march=native depends."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = ("model name", "flags", "CPU part", "Features")
    return "\n".join(line for line in lines if line.startswith(fields))


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
            raise image_errors.of_another_maker(file.path, file.manifest.target, self.device)
        if not file.emulated:
            raise image_errors.needs_a_board(file.path, file.platform)

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
        raise image_errors.not_loaded(file.path, e) from None
    finally:
        Path(name).unlink()


def _launcher(image: LoadedImage, slot: Slot) -> CompiledKernel:
    """Returns a function that calls the kernel once per unit. For an entry of linked kernels, it
    calls them in turn, and the last call runs all of them; a lock allows one such launch at a time.
    The lock also serializes kernels that keep values between launches, as a board does."""
    members = image.file.manifest.kernels_of(slot.entry)
    names = "".join(f"a{i}, " for i in range(len(slot.params)))
    scope, values, calls = dict[str, Any](SCOPE), list[str](), list[str]()
    for k, (record, member) in enumerate(members):
        try:
            scope[f"call{k}"] = getattr(image.program, _function(record))
        except AttributeError as e:
            raise image_errors.not_loaded(image.file.path, e) from None
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
    return compiled(slot.entry, lines, scope)
