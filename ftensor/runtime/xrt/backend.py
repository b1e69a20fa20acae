"""Xilinx boards, and their software emulation, through XRT's OpenCL: kernels come from images."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import image as image_errors
from ..backend import Backend
from ..interfaces import CompiledKernel, UserKernel
from ..poison import poisoned
from .banks import BankedBuffer, BankedPool
from .deferred import DeferredLaunches
from .images import XrtImages
from .launcher import user_kernel
from .memory import XrtMemory
from .queue import Marker, XrtQueue, wait_for_idle_threads

if TYPE_CHECKING:
    from ...image.file import ImageFile
    from ...kernels.user_kernels import UserKernelKey
    from ..interfaces import KernelCall
    from ..opencl.launch import UserProgram
    from ..pool import Storage
    from ..stream import DeviceStream
    from ..targets import Target


class XrtBackend(XrtMemory):
    """One board. It computes only with kernels from its images."""

    images: XrtImages
    # XRT moves buffers between banks, so a buffer is not a tensor's for good.
    has_opencl_queues = False

    def __init__(self, target: Target, cl_platform: Any, cl_device: Any) -> None:
        # Includes queues of streams that are being destroyed and no longer registered.
        self.queues: weakref.WeakSet[XrtQueue] = weakref.WeakSet()
        super().__init__(target, cl_platform, cl_device, host_shared=False)
        # XRT reports neither; both depend on the image, and HLS kernels support either dtype.
        self.properties = replace(
            self.properties,
            multi_processor_count=1,
            # Without an image, no kernel defines the banks.
            total_memory=self.properties.total_memory or self.properties.max_allocation,
            has_float64=True,
            has_float16=True,
        )
        self.units = 1
        self.banked_pool = BankedPool(self, self.properties.total_memory, self._make_memory)
        # One lock for both: a launch asks for memory, and memory may wait for a launch.
        self.banked_pool.lock = self.lock
        self.pool = poisoned(self.banked_pool)
        self._begin_memory()
        self.emulated = os.environ.get("XCL_EMULATION_MODE") == "sw_emu"
        self.images = XrtImages(self)
        self.images.load_from_environment()
        if self.images.maker is not None:
            self.executor = self.deferred_launches = DeferredLaunches(self)

    def load_image(self, path: str | Path) -> ImageFile:
        """Loads an image and makes it the active one. Afterwards nothing is built on request."""
        try:
            return self.images.load(path)
        finally:
            if self.executor is self.deferred_launches:
                self.executor = None

    def set_capacity(self, units: int, memory: int) -> None:
        """Sets the number of compute units (of the kernel with most of them) and the banks'
        bytes."""
        self.units = max(1, units)
        total = memory or self.properties.total_memory
        self.properties = replace(self.properties, multi_processor_count=self.units, total_memory=total)
        self.pool.set_limit(total)

    def user_kernel_of_image(self, file: ImageFile, key: UserKernelKey) -> UserKernel:
        return user_kernel(self, file, key)

    def user_program(self, source: str, options: Sequence[str]) -> UserProgram:
        """Raises RuntimeError: a board has no compiler."""
        return Backend.user_program(self, source, options)

    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Raises ImageError: a board has no compiler."""
        raise image_errors.compiles_nothing(self.properties.name, entry)

    def prepare_calls(self, calls: Sequence[KernelCall]) -> Callable[[DeviceStream], None]:
        """Gives calls kernel objects of their own. They keep their arguments, so that later
        enqueues set none, each of which takes 0.3 ms on Arm boards."""
        runs = self.images.separate_launchers([call.run for call in calls])
        return super().prepare_calls([call._replace(run=run) for call, run in zip(calls, runs)])

    def bank(self, storage: Storage) -> str | None:
        handle: BankedBuffer = storage.handle
        return handle.bank

    def forked(self) -> None:
        """Called in a forked child. Skips XRT's exit handlers, which crash or hang without XRT's
        threads."""
        super().forked()
        if self.deferred_launches is not None:
            self.deferred_launches.forget()
        libc = ctypes.CDLL(None)
        libc.on_exit(libc._exit, None)  # the last registered handler runs first, after all of Python's

    def close(self) -> None:
        if self.deferred_launches is not None:
            self.deferred_launches.close()
        super().close()

    # Methods for XrtImages

    def let_scheduler_rest(self) -> None:
        """In emulation, waits for all work and for XRT's scheduler to clean up after it.

        In emulation the scheduler is a thread of the process. It reports a command as done before
        it removes the command. Loading a program or making a kernel gives the device a new core of
        the scheduler. A command that is still running, or starts meanwhile, would use the old one:
        the process aborts, or kernels run in another order.
        """
        if self.emulated:
            self.synchronize()
            wait_for_idle_threads()

    def make_room(self) -> None:
        """Frees unneeded device memory: free blocks, and buffers held by kernel objects.

        XRT keeps the buffers of a kernel object's launches as long as the object.
        """
        self.synchronize()
        self.images.forget_kernels()
        self.pool.retries += 1
        self.pool.release_cached()

    def leave_device(self) -> int:
        """Fetches the bytes of every tensor and frees all device memory; returns the number of
        bytes fetched.

        The tensors stay usable: their bytes are sent again when a kernel next needs them.
        """
        self.synchronize()
        for queue in tuple(self.queues):
            queue.cl.finish()
        for queue in tuple(self.queues):
            queue.forget(queue.tail)
        self.let_scheduler_rest()
        fetched = 0
        live = {id(block) for block in self.banked_pool.live()}
        for block in tuple(self.pool.blocks):
            handle: BankedBuffer = block.handle
            host = None
            if id(block) in live and handle.defined and handle.cl is not None:
                host = np.empty(handle.nbytes, np.uint8)
                self._wait(self._read(self.default_stream, handle.cl, 0, host))
                fetched += handle.nbytes
            handle.leave_device(host)
        for queue in tuple(self.queues):
            queue.forget(queue.tail)
        self._forget_memory()
        return fetched

    # Streams

    def make_queue(self) -> Any:
        queue = XrtQueue(self.cl, self.context, self.cl_device)
        self.queues.add(queue)
        return queue

    def finish(self, queue: XrtQueue) -> None:
        tail = queue.tail
        queue.cl.finish()
        for event in tuple(queue.awaited):  # of other queues; no command of this one has them yet
            event.wait()
        # Don't wait for the lock: its holder may be changing the image, and the events that this
        # thread holds meanwhile (and through them buffers and kernels) would keep the old image
        # loaded.
        if self.lock.acquire(blocking=False):
            try:
                queue.forget(tail)
            finally:
                self.lock.release()

    def make_marker(self, queue: XrtQueue) -> Marker:
        with self.lock:
            return queue.marker()

    def marker_done(self, marker: Marker) -> bool:
        done = self.cl.command_execution_status.COMPLETE
        return all(event.command_execution_status == done for event in marker.events)

    def finish_marker(self, marker: Marker) -> None:
        marker.wait()

    def wait_marker(self, queue: XrtQueue, marker: Any, origin: Backend | None) -> None:
        """Makes a queue wait for a marker; for another device's marker, the host waits."""
        if origin is self:
            with self.lock:
                queue.wait_for(marker)
        elif origin is not None:
            origin.finish_marker(marker)

    def make_timing(self, marker: Marker) -> Marker:
        """Returns the marker itself: every event of these queues has timestamps."""
        return marker

    def timing_ns(self, timing: Marker) -> int:
        timing.wait()
        assert timing.ended is not None
        return timing.ended
