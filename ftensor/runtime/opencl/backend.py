"""OpenCL devices through pyopencl: buffers, programs, launches."""

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
from ...errors import runtime as runtime_errors
from .. import cache
from ..backend import Backend, host_bytes, host_memory
from ..interfaces import CompiledKernel, DeviceProperties, KernelSource
from ..pool import POISON, LostPool, leak
from ..program import JOINT, notice
from ..stream import LostStream
from ..targets import tuned_target
from .launch import OwnProgram, make_launcher

if TYPE_CHECKING:
    from ..storage import Storage
    from ..targets import Target


# Processors that Intel's compiler can be told to compile for, whatever is at hand, whose registers
# hold so many floats: by CL_CONFIG_CPU_TARGET_ARCH. The device still says what is at hand.
NARROW = {"corei7": 4, "corei7-avx": 8, "core-avx2": 8}
LAST_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")


def device_properties(platform: Any, device: Any) -> DeviceProperties:
    """What an OpenCL device says about itself."""
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
    """The options every program of a device is built with."""
    options = tuple(target.build_options)
    if not any(option.startswith("-cl-std") for option in options):
        options = ("-cl-std=CL1.2", *options)
    # torch divides as IEEE 754 says; OpenCL promises 2.5 ulp unless asked.
    if device.single_fp_config & (1 << 7):
        options = (*options, "-cl-fp32-correctly-rounded-divide-sqrt")
    if target.kind == "cpu":
        options = (*options, f"-DFT_STREAMED_BYTES={streamed_bytes()}")
    return options


def register_floats(target: Target, cl_device: Any) -> int:
    """How many floats a register holds of the CPU that programs are compiled for."""
    at_hand = int(cl_device.native_vector_width_float)
    architecture = os.environ.get("CL_CONFIG_CPU_TARGET_ARCH", "") if target.name == "intel-cpu" else ""
    return min(at_hand, NARROW.get(architecture, at_hand))


def compiled_for(cl_device: Any) -> str:
    """What a compiled kernel depends on beside the device's name and driver: its vectors, and the
    settings of Intel's compiler.

    A home folder may serve several processors, and processes may be told different ones by
    CL_CONFIG_CPU_TARGET_ARCH. Intel's runtime takes a program made for AVX2 on AVX-512 too, but
    from then on it refuses what it has made itself (INVALID_BINARY).
    """
    settings = {k: v for k, v in os.environ.items() if k.startswith("CL_CONFIG_")}
    width = cl_device.native_vector_width_float
    return " ".join([str(width), *(f"{k}={settings[k]}" for k in sorted(settings))])


def streamed_bytes(cache: Path = LAST_CACHE) -> int:
    """The size beyond which a result passes by the CPU's caches (see hls/dialect/opencl.h).

    A sixteenth of the last one: an op has two or three operands of that size, and others use the
    cache, too. Where that is 480 MB, adding is 1.4 times faster with results of 64 MB, no faster
    with 16 MB, and the op that reads them 1.2 times slower. Of 32 MB, adding is 1.12 times faster
    with results of 8 MB, and with 4 MB layer norm's derivative 1.4 times slower.
    """
    try:
        size = int(cache.read_text().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        size = 0  # another system, or a CPU without a third cache
    return max(4 << 20, size // 16)


def prepare_pyopencl() -> None:
    """Let pyopencl do without its cache of generated code where that cache can't be written.

    Its module for kernels can't even be imported then, for instance in a container whose user
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


# Where clang, which PoCL holds, looks beside PATH.
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


def there() -> bool:
    """Whether there is a linker where PoCL looks."""
    return bool(shutil.which("ld") or shutil.which("ld", path=FOLDERS))


@functools.lru_cache
def require(of: DeviceProperties) -> None:
    """RuntimeError where PoCL would end the process for want of a linker.

    Some builds of PoCL hold one, so where there is none a process of its own tries a kernel.
    """
    if there():
        return
    done = subprocess.run(
        [sys.executable, "-c", PROBE, of.platform], env={**os.environ, "POCL_KERNEL_CACHE": "0"}, capture_output=True
    )
    if done.returncode:
        raise runtime_errors.no_linker(of.name)


# A small array is copied and written by the queue instead of waiting for the queue.
SMALL_UPLOAD = 64 * 1024
MOST_JOINT = 16  # of these programs are kept at hand for their other kernels


# Intel's: CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL.
INLINE_EXTENSION, INLINE = "cl_intel_exec_by_local_thread", 1 << 31


class OpenCLBackend(Backend):
    """One OpenCL device in a context of its own."""

    def __init__(self, target: Target, cl_platform: Any, cl_device: Any, host_shared: bool | None = None) -> None:
        import pyopencl as cl

        prepare_pyopencl()
        self.cl = cl
        self.cl_device = cl_device
        self.context = cl.Context([cl_device])
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
        # As it is, whatever device launches are prepared for: blocks go to who comes later.
        self._in_host_memory = host_shared
        self._inline_queue = self._queue_in_thread()
        self.inline = self._inline_queue is not None
        self._options = build_options(target, cl_device)
        self._joint: dict[str, Any] = {}

    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Compile, or load from the disk cache, one kernel."""
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

    def _program_from_source(self, key: str, source: str, entry: str, options: bytes) -> Any:
        program = self._compiled(source, entry, options)
        binary = self._binary(program)
        cache.put(key, binary)
        # What was compiled here holds more than four times as much memory (Intel's runtime).
        return self._loaded(binary, options) or program

    def _queue_in_thread(self) -> Any | None:
        """A queue whose commands run in the thread that enqueues them, where there is one."""
        if self.target.kind != "cpu" or INLINE_EXTENSION not in self.cl_device.extensions.split():
            return None
        return self.cl.CommandQueue(self.context, self.cl_device, properties=INLINE)

    def _all_options(self, options: tuple[str, ...]) -> bytes:
        return " ".join((*self._options, *options)).encode()

    def _cache_key(self, source: str, options: bytes) -> str:
        return cache.key("opencl", source, options.decode(), *self._device)

    def user_program(self, source: str, options: Sequence[str]) -> OwnProgram:
        """A user's OpenCL C, compiled or from the disk cache; RuntimeError for a mistake in it."""
        self._refuse_if_lost()
        return OwnProgram(self, source, tuple(options))

    def _compiled(
        self, source: str, entry: str, options: bytes, refused: Callable[..., Exception] = errors.kernel_build_failed
    ) -> Any:
        from pyopencl import _cl

        if self.target.name.startswith("pocl"):
            require(self.properties)
        program = _cl._Program(self.context, source)
        try:
            # Not `build`: it warns of a compiler's remarks, which are no news to an op's user, and
            # warnings can't be silenced for one thread.
            with notice.compiling(self.properties.name):
                program._build(options, [self.cl_device])
        except self.cl.Error as error:
            log = "\n".join(text for _, text in program._get_build_logs())
            raise refused(entry, self.properties.name, f"{error}\n{log}", source) from error
        return program

    def forked(self) -> None:
        """In a forked child: every use fails with advice, instead of waiting for ever."""
        super().forked()
        streams = self.all_streams()
        for stream in streams:
            stream.__class__ = LostStream
        self.pool.__class__ = LostPool
        # Releasing these would wait for threads that are not there; the process ends anyway.
        for kept in (self, *streams):
            leak(kept)

    def _refuse_if_lost(self) -> None:
        """Fails in a forked child: a runtime's locks may be held there by threads that are gone."""
        if isinstance(self.pool, LostPool):
            raise errors.used_after_fork(self.properties.name)

    def _binary(self, program: Any) -> bytes:
        binaries: list[bytes] = program.get_info(self.cl.program_info.BINARIES)
        return binaries[0]

    def load_program(self, binary: bytes, options: bytes = b"") -> Any:
        """Give the driver a compiled program; cl.Error if it refuses."""
        from pyopencl import _cl

        program = _cl._Program(self.context, [self.cl_device], [binary])
        program._build(options, [self.cl_device])
        return program

    def has_built(self, program: KernelSource) -> bool:
        """Whether the disk cache holds a program."""
        return cache.path(self._cache_key(program.source, self._all_options(()))).exists()

    def build_together(self, source: str, programs: Sequence[KernelSource]) -> None:
        """Fill the disk cache with programs; `source` is the text of all of them in one."""
        if len(programs) == 1:
            self.build(*programs[0])
            return
        options = self._all_options(())
        joint = self._cache_key(source, options)
        with cache.entry_lock(joint):
            there = cache.get(joint) is not None
            if not there:
                compiled = self._compiled(source, programs[0].entry, options)
                there = cache.put(joint, self._binary(compiled)) is not None
        if there:
            for program in programs:
                cache.put(self._cache_key(program.source, options), JOINT + joint.encode())

    def _program_from_cache(self, key: str, options: bytes) -> Any | None:
        binary = cache.get(key)
        if binary is None:
            return None
        if binary.startswith(JOINT):
            joint = binary.removeprefix(JOINT).decode()
            program = self._joint.get(joint) or self._program_from_cache(joint, options)
            if program is None:
                cache.drop(key)
            else:
                self._joint = dict([*self._joint.items(), (joint, program)][-MOST_JOINT:])
            return program
        program = self._loaded(binary, options)
        if program is None:
            cache.drop(key)  # no loss: the caller compiles again
        return program

    def _loaded(self, binary: bytes, options: bytes) -> Any | None:
        """A program, or None where the driver doesn't take the binary."""
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
            # Drivers allocate at the first use; a full device has to show here.
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
        """Fill memory that was just handed out, in its stream's order (FTENSOR_POISON)."""
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
            assert storage.ptr is not None
            stream.finish()
            target = host_bytes(storage.ptr + byte_offset, array.nbytes)
            np.copyto(target, array.reshape(-1).view(np.uint8))
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
            # pyopencl waits for an event that is dropped early, since it guards the array.
            stream.keep(event)

    def _download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        if self.host_shared:
            assert storage.ptr is not None
            source = host_bytes(storage.ptr + byte_offset, array.nbytes)
            np.copyto(array.reshape(-1).view(np.uint8), source)
        else:
            self.cl.enqueue_copy(
                self.current_stream().queue, array, storage.handle, src_offset=byte_offset, is_blocking=True
            )

    def make_queue(self) -> Any:
        """An in-order queue; OpenCL leaves priorities to extensions."""
        return self.cl.CommandQueue(self.context, self.cl_device)

    def finish(self, queue: Any) -> None:
        """Wait for a queue."""
        queue.finish()

    def make_marker(self, queue: Any) -> Any:
        """An event behind everything in a queue."""
        marker = self.cl.enqueue_marker(queue)
        queue.flush()  # another queue may wait for it, and a query must come true by itself
        return marker

    def marker_done(self, marker: Any) -> bool:
        """Whether a marker was reached."""
        done: bool = marker.command_execution_status == self.cl.command_execution_status.COMPLETE
        return done

    def finish_marker(self, marker: Any) -> None:
        """Wait for a marker."""
        marker.wait()

    def wait_marker(self, queue: Any, marker: Any, origin: Backend | None) -> None:
        """Let a queue wait for a marker; an event of another context is waited for here."""
        if origin is self:
            self.cl.enqueue_barrier(queue, wait_for=[marker])
        elif origin is not None:
            origin.finish_marker(marker)

    def make_timing(self, marker: Any) -> Any:
        """A marker behind `marker` on a queue with profiling, which the work's queues lack.

        Profiling would make every launch dearer (6.8 instead of 2.9 us on Intel's CPU runtime).
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
        """The device's clock when the marker was reached; waits for it."""
        timing.wait()
        return int(timing.profile.end)
