"""OpenCL devices through pyopencl: buffers, programs, launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from .. import cache
from ..backend import Backend, host_bytes, host_memory
from ..cold import notice
from ..parts import CompiledKernel, KernelSource
from ..pool import POISON, LostPool, leak
from ..stream import LostStream
from ..together import JOINT
from ..tuned import as_tuned
from . import linker
from .device import build_options, compiled_for, device_properties, prepare_pyopencl, register_floats
from .launch import make_launcher
from .own import OwnProgram

if TYPE_CHECKING:
    from ..storage import Storage
    from ..targets import Target

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
            target = as_tuned(target, self.tuned_as)
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
            with cache.making(key):
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

    def own_program(self, source: str, options: Sequence[str]) -> OwnProgram:
        """A user's OpenCL C, compiled or from the disk cache; RuntimeError for a mistake in it."""
        self._refuse_if_lost()
        return OwnProgram(self, source, tuple(options))

    def _compiled(
        self, source: str, entry: str, options: bytes, refused: Callable[..., Exception] = errors.kernel_build_failed
    ) -> Any:
        from pyopencl import _cl

        if self.target.name.startswith("pocl"):
            linker.require(self.properties)
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
        with cache.making(joint):
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
