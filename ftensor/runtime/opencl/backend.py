"""OpenCL devices through pyopencl: buffers, programs, queues."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from ...errors import call as runtime_errors
from .. import cache
from ..backend import Backend, host_bytes, host_memory
from ..interfaces import CompiledKernel, DeviceProperties, KernelSource
from ..launch_cache import IN_BATCH, notice
from ..pool import POISON, LostPool, leak
from ..stream import LostStream
from ..targets import tuned_target
from .launch import UserProgram, make_launcher, prepare_calls

if TYPE_CHECKING:
    from ..interfaces import KernelCall
    from ..pool import Storage
    from ..stream import DeviceStream
    from ..targets import Target


# Values of CL_CONFIG_CPU_TARGET_ARCH, by which Intel's compiler targets a CPU other than the
# host's, and the floats per register of each. The device still reports the host's CPU.
NARROW = {"corei7": 4, "corei7-avx": 8, "core-avx2": 8}
LAST_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")


def device_properties(platform: Any, device: Any) -> DeviceProperties:
    """Returns the properties that an OpenCL device reports."""
    return DeviceProperties(
        name=device.name.strip(),
        platform=platform.name.strip(),
        version=device.version.strip(),
        driver=f"{platform.version.strip()} {device.driver_version.strip()}",
        total_memory=int(device.global_mem_size),
        max_allocation=int(device.max_mem_alloc_size),
        multi_processor_count=int(device.max_compute_units),
        has_float64=bool(device.double_fp_config),
        has_float16="cl_khr_fp16" in device.extensions.split(),
    )


def build_options(target: Target, device: Any) -> tuple[str, ...]:
    """Returns the build options of all programs of a device."""
    options = tuple(target.build_options)
    if not any(option.startswith("-cl-std") for option in options):
        options = ("-cl-std=CL1.2", *options)
    # torch divides with IEEE 754 rounding; OpenCL promises only 2.5 ulp without this option.
    if device.single_fp_config & (1 << 7):
        options = (*options, "-cl-fp32-correctly-rounded-divide-sqrt")
    if target.kind == "cpu":
        options = (*options, f"-DFT_STREAMED_BYTES={streamed_bytes()}")
    return options


def register_floats(target: Target, cl_device: Any) -> int:
    """Returns the floats per vector register of the CPU for which programs are compiled."""
    at_hand = int(cl_device.native_vector_width_float)
    architecture = os.environ.get("CL_CONFIG_CPU_TARGET_ARCH", "") if target.name == "intel-cpu" else ""
    return min(at_hand, NARROW.get(architecture, at_hand))


def compiled_for(cl_device: Any) -> str:
    """Returns the part of a cache key for vector width and the settings of Intel's compiler.

    CPUs of several kinds may share a home folder, and processes may set CL_CONFIG_CPU_TARGET_ARCH
    differently. On AVX-512 Intel's runtime also accepts a program compiled for AVX2, but then
    refuses its own programs (INVALID_BINARY).
    """
    settings = {k: v for k, v in os.environ.items() if k.startswith("CL_CONFIG_")}
    width = cl_device.native_vector_width_float
    return " ".join([str(width), *(f"{k}={settings[k]}" for k in sorted(settings))])


def streamed_bytes(cache: Path = LAST_CACHE) -> int:
    """Returns the size above which results bypass the CPU's caches (see hls/dialect/opencl.h).

    The size is a sixteenth of the last-level cache: an op has two or three operands of that size,
    and others use the cache, too. With a cache of 480 MB, adding is 1.4 times faster with results
    of 64 MB and no faster with 16 MB, and the op that reads them is 1.2 times slower. With 32 MB,
    adding is 1.12 times faster with results of 8 MB, and layer norm's derivative is 1.4 times
    slower with 4 MB.
    """
    try:
        size = int(cache.read_text().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        size = 0  # another system, or a CPU without a third cache
    return max(4 << 20, size // 16)


def prepare_pyopencl() -> None:
    """Disables pyopencl's cache of generated code if its folder can't be written.

    Otherwise the import of pyopencl's kernel module fails, for instance in a container whose user
    has no home.
    """
    import platformdirs
    import pyopencl as cl

    if "pyopencl.invoker" in sys.modules:
        return
    folder = Path(platformdirs.user_cache_dir("pytools", "pytools"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        cl._PYOPENCL_NO_CACHE = True


# The folders in which PoCL's clang looks in addition to PATH.
FOLDERS = "/usr/bin:/usr/local/bin:/bin"
PROBE = """
import sys, numpy, pyopencl as cl
device = next(d for p in cl.get_platforms() if p.name == sys.argv[1] for d in p.get_devices())
context = cl.Context([device])
queue = cl.CommandQueue(context)
built = cl.Program(context, "__kernel void one(__global int *p) { p[0] = 1; }").build()
kernel = cl.Kernel(built, "one")
kernel.set_args(cl.Buffer(context, cl.mem_flags.READ_WRITE, 4))
cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
queue.finish()
"""


def is_installed() -> bool:
    """Returns True if PoCL can find a linker."""
    return bool(shutil.which("ld") or shutil.which("ld", path=FOLDERS))


@functools.lru_cache
def require(properties: DeviceProperties) -> None:
    """Raises RuntimeError if PoCL would end the process because it finds no linker.

    Some builds of PoCL include a linker, so without one a child process tries to build a kernel.
    """
    if is_installed():
        return
    completed = subprocess.run(
        [sys.executable, "-c", PROBE, properties.platform],
        env={**os.environ, "POCL_KERNEL_CACHE": "0"},
        capture_output=True,
    )
    if completed.returncode:
        raise runtime_errors.no_linker(properties.name)


# Uploads up to this size are copied and enqueued, instead of waiting for the queue.
SMALL_UPLOAD = 64 * 1024
MAX_BATCH_PROGRAMS = 16  # programs that stay loaded for their other kernels


# Intel's: CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL.
INLINE_EXTENSION, INLINE = "cl_intel_exec_by_local_thread", 1 << 31


class OpenCLBackend(Backend):
    """One OpenCL device with a context: its own, or that of the program."""

    has_opencl_queues = True

    def __init__(
        self, target: Target, cl_platform: Any, cl_device: Any, host_shared: bool | None = None, context: Any = None
    ) -> None:
        import pyopencl as cl

        prepare_pyopencl()
        self.cl = cl
        self.cl_device = cl_device
        self.context = cl.Context([cl_device]) if context is None else context
        if host_shared is None:
            # Both CPU runtimes use the memory of a USE_HOST_PTR buffer itself, at any alignment.
            host_shared = bool(cl_device.type & cl.device_type.CPU)
        properties = device_properties(cl_platform, cl_device)
        self._compiled_for = compiled_for(cl_device)
        self._device = properties.platform, properties.name, properties.driver, self._compiled_for
        if target.kind == "cpu":
            units = str(properties.multi_processor_count)
            self.tuned_as = cache.key("tuned", *self._device, units)
            target = target.on_processor(register_floats(target, cl_device))
            target = tuned_target(target, self.tuned_as)
        self._local_size = (1,) if target.grid == "slab" else None
        super().__init__(target, properties, host_shared)
        # The device's own property, also while launches are prepared for another device: later
        # users get the same blocks.
        self._in_host_memory = host_shared
        self._inline_queue = self._queue_in_thread()
        self.inline = self._inline_queue is not None
        self._options = build_options(target, cl_device)
        self._batch_programs: dict[str, Any] = {}

    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        self._refuse_if_lost()
        all_options = self._all_options(options)
        key = self._cache_key(source, all_options)
        program = self._program_from_cache(key, all_options)
        if program is None:
            with cache.entry_lock(key):
                program = self._program_from_cache(key, all_options)
                program = program or self._program_from_source(key, source, entry, all_options)
        make = partial(self.cl.Kernel, program, entry)
        tasks = self.dialect == "intel"
        return make_launcher(make, params, self._local_size, tasks, self._inline_queue)

    def prepare_calls(self, calls: Sequence[KernelCall]) -> Callable[[DeviceStream], None]:
        return prepare_calls(calls)

    def _program_from_source(self, key: str, source: str, entry: str, options: bytes) -> Any:
        program = self._compiled(source, entry, options)
        binary = self._binary(program)
        cache.put(key, binary)
        # With Intel's runtime, a program compiled here takes four times the memory of a loaded one.
        return self._loaded(binary, options) or program

    def _queue_in_thread(self) -> Any | None:
        """Returns a queue that runs commands in the enqueueing thread, or None if unsupported."""
        if self.target.kind != "cpu" or INLINE_EXTENSION not in self.cl_device.extensions.split():
            return None
        return self.cl.CommandQueue(self.context, self.cl_device, properties=INLINE)

    def _all_options(self, options: tuple[str, ...]) -> bytes:
        return " ".join((*self._options, *options)).encode()

    def _cache_key(self, source: str, options: bytes) -> str:
        return cache.key("opencl", source, options.decode(), *self._device)

    def user_program(self, source: str, options: Sequence[str]) -> UserProgram:
        """Compiles a user's OpenCL C, or loads it from the disk cache. Raises RuntimeError if the
        code does not compile."""
        self._refuse_if_lost()
        return UserProgram(self, source, tuple(options))

    def _compiled(
        self, source: str, entry: str, options: bytes, refused: Callable[..., Exception] = errors.kernel_build_failed
    ) -> Any:
        from pyopencl import _cl

        if self.target.name.startswith("pocl"):
            require(self.properties)
        program = _cl._Program(self.context, source)
        try:
            # Not `build`: it turns compiler remarks into warnings, which don't help an op's user,
            # and warnings can't be silenced for one thread.
            with notice.compiling(self.properties.name):
                program._build(options, [self.cl_device])
        except self.cl.Error as error:
            log = "\n".join(text for _, text in program._get_build_logs())
            raise refused(entry, self.properties.name, f"{error}\n{log}", source) from error
        return program

    def forked(self) -> None:
        """Called in a forked child: every use raises an error with advice, instead of hanging."""
        super().forked()
        streams = self.all_streams()
        for stream in streams:
            stream.__class__ = LostStream
        self.pool.__class__ = LostPool
        # Releasing these would wait for threads that are missing in the child. The process frees
        # them.
        for kept in (self, *streams):
            leak(kept)

    def _refuse_if_lost(self) -> None:
        """Raises in a forked child, where threads that are gone may hold the runtime's locks."""
        if isinstance(self.pool, LostPool):
            raise errors.used_after_fork(self.properties.name)

    def _binary(self, program: Any) -> bytes:
        binaries: list[bytes] = program.get_info(self.cl.program_info.BINARIES)
        return binaries[0]

    def load_program(self, binary: bytes, options: bytes = b"") -> Any:
        """Loads a compiled program into the driver. Raises cl.Error if the driver refuses it."""
        from pyopencl import _cl

        program = _cl._Program(self.context, [self.cl_device], [binary])
        program._build(options, [self.cl_device])
        return program

    def has_built(self, program: KernelSource) -> bool:
        return cache.path(self._cache_key(program.source, self._all_options(()))).exists()

    def build_together(self, source: str, programs: Sequence[KernelSource]) -> None:
        if len(programs) == 1:
            self.build(*programs[0])
            return
        options = self._all_options(())
        batch_key = self._cache_key(source, options)
        with cache.entry_lock(batch_key):
            is_cached = cache.get(batch_key) is not None
            if not is_cached:
                compiled = self._compiled(source, programs[0].entry, options)
                is_cached = cache.put(batch_key, self._binary(compiled)) is not None
        if is_cached:
            for program in programs:
                cache.put(self._cache_key(program.source, options), IN_BATCH + batch_key.encode())

    def _program_from_cache(self, key: str, options: bytes) -> Any | None:
        binary = cache.get(key)
        if binary is None:
            return None
        if binary.startswith(IN_BATCH):
            batch_key = binary.removeprefix(IN_BATCH).decode()
            program = self._batch_programs.get(batch_key) or self._program_from_cache(batch_key, options)
            if program is None:
                cache.drop(key)
            else:
                self._batch_programs = dict([*self._batch_programs.items(), (batch_key, program)][-MAX_BATCH_PROGRAMS:])
            return program
        program = self._loaded(binary, options)
        if program is None:
            cache.drop(key)  # the caller compiles again
        return program

    def _loaded(self, binary: bytes, options: bytes) -> Any | None:
        """Returns the program, or None if the driver refuses the binary."""
        try:
            return self.load_program(binary, options)
        except self.cl.Error:
            return None

    def _make_memory(self, nbytes: int) -> tuple[Any, int | None, object] | None:
        cl = self.cl
        flags = cl.mem_flags.READ_WRITE
        try:
            if self._in_host_memory:
                ptr, memory = host_memory(nbytes)
                flags |= cl.mem_flags.USE_HOST_PTR
                return cl.Buffer(self.context, flags, hostbuf=memory), ptr, memory
            buffer = cl.Buffer(self.context, flags, nbytes)
            # Drivers allocate at the first use. Touching the memory now reports a full device here.
            cl.enqueue_migrate_mem_objects(
                self.default_stream.queue, [buffer], flags=cl.mem_migration_flags.CONTENT_UNDEFINED
            )
            return buffer, None, None
        except (MemoryError, cl.MemoryError):
            return None
        except cl.LogicError as error:
            if error.code != cl.status_code.INVALID_BUFFER_SIZE:
                raise
            return None

    def poison(self, storage: Storage, nbytes: int) -> None:
        stream = storage.stream
        if storage.ptr is not None and stream.idle():
            super().poison(storage, nbytes)
        elif nbytes:
            byte = np.uint8(POISON)
            stream.note(self.cl.enqueue_fill(stream.queue, storage.handle, byte, nbytes))

    def _wrap_host(self, ptr: int, nbytes: int, readonly: bool) -> tuple[Any, object]:
        self._refuse_if_lost()
        flags = self.cl.mem_flags
        # OpenCL has no empty buffers; a kernel never touches the one byte of a zero-size tensor.
        memory = host_bytes(ptr, nbytes) if nbytes else np.zeros(64, np.uint8)
        access = flags.READ_ONLY if readonly else flags.READ_WRITE
        return self.cl.Buffer(self.context, access | flags.USE_HOST_PTR, hostbuf=memory), memory

    def _upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        stream = self.current_stream()
        stream.use(storage)
        if self.host_shared and (stream.idle() or array.nbytes > SMALL_UPLOAD):
            stream.finish()
            super()._upload(storage, byte_offset, array)
            return
        small = array.nbytes <= SMALL_UPLOAD
        event = self.cl.enqueue_copy(
            stream.queue,
            storage.handle,
            array.copy() if small else array,
            dst_offset=byte_offset,
            is_blocking=not small,
        )
        stream.note(event)
        if small:
            # pyopencl waits for an event that is dropped early, since the event guards the array.
            stream.keep(event)

    def _download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        if self.host_shared:
            super()._download(storage, byte_offset, array)
        else:
            self.cl.enqueue_copy(
                self.current_stream().queue, array, storage.handle, src_offset=byte_offset, is_blocking=True
            )

    def make_queue(self) -> Any:
        """Returns an in-order queue. Priorities need OpenCL extensions and are ignored."""
        return self.cl.CommandQueue(self.context, self.cl_device)

    def finish(self, queue: Any) -> None:
        queue.finish()

    def make_marker(self, queue: Any) -> Any:
        marker = self.cl.enqueue_marker(queue)
        queue.flush()  # another queue may wait for it, and its status must change without a query
        return marker

    def marker_done(self, marker: Any) -> bool:
        return marker.command_execution_status == self.cl.command_execution_status.COMPLETE

    def finish_marker(self, marker: Any) -> None:
        marker.wait()

    def wait_marker(self, queue: Any, marker: Any, origin: Backend | None) -> None:
        """Makes a queue wait for a marker; for an event of another context, the host waits."""
        if origin is self:
            self.cl.enqueue_barrier(queue, wait_for=[marker])
        elif origin is not None:
            origin.finish_marker(marker)

    def make_timing(self, marker: Any) -> Any:
        """Returns a marker that waits for `marker`, on a queue with profiling.

        The queues for kernels have no profiling, since it makes every launch slower (6.8 instead of
        2.9 us on Intel's CPU runtime).
        """
        cl = self.cl
        with self.lock:
            if not hasattr(self, "_timing_queue"):
                profiling = cl.command_queue_properties.PROFILING_ENABLE
                self._timing_queue = cl.CommandQueue(self.context, self.cl_device, properties=profiling)
        timing = cl.enqueue_marker(self._timing_queue, wait_for=[marker])
        self._timing_queue.flush()
        return timing

    def timing_ns(self, timing: Any) -> int:
        timing.wait()
        return int(timing.profile.end)
