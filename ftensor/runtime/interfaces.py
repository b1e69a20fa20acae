"""Interfaces of a device: properties, kernels, programs, images, and the executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from ..errors import KernelNotBuilt
    from ..kernels.key import Key
    from .pool import Storage


@dataclass(frozen=True)
class DeviceProperties:
    """A device's properties, as in `torch.cuda.get_device_properties`."""

    name: str
    platform: str
    version: str
    driver: str
    total_memory: int
    max_allocation: int
    multi_processor_count: int
    has_float64: bool
    has_float16: bool


class CompiledKernel(Protocol):
    """A compiled kernel. Call it with a stream, the number of compute units, and its arguments."""

    def __call__(self, stream: Any, units: int, /, *args: Any) -> None: ...


class KernelCall(NamedTuple):
    """A call of a compiled kernel with all its arguments."""

    run: CompiledKernel
    units: int
    arguments: tuple[Any, ...]

    def enqueue(self, stream: Any) -> None:
        """Enqueues the kernel on a stream."""
        self.run(stream, self.units, *self.arguments)


class DropsCache(Protocol):
    """A value derived from a storage's bytes, valid until the storage is written."""

    def drop(self) -> bool:
        """Drops the value. Returns True if this freed memory."""
        ...


class Executor(Protocol):
    """Intercepts a device's launches, copies and allocations (see `execute/dispatch.py`)."""

    def called(self) -> None:
        """Called before each op."""
        ...

    def launch(self, launch: Any, stream: Any, tensors: Any, scalars: Any) -> None:
        """Replaces a launch."""
        ...

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Replaces a copy from the host."""
        ...

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Replaces a copy to the host."""
        ...

    def allocate(self, backend: Any, nbytes: int, stream: Any, lasting: bool) -> Storage:
        """Replaces an allocation; `lasting` is True for memory that all calls share."""
        ...

    def read(self, storage: Storage) -> None:
        """Called before the host reads or writes memory that it shares with the device."""
        ...

    def reshaped(self, tensor: Any) -> None:
        """Called before a tensor gets another geometry or other memory."""
        ...

    def start_read(self, tensor: Any, multiple: int) -> None:
        """Called when code depends on a tensor's start: modulo `multiple` bytes, or exactly if
        0."""
        ...


class UserKernel(NamedTuple):
    """A user's compiled kernel. Call `run` with a stream, the number of compute units, the buffers,
    the offset of each tensor in its buffer (in elements), and the scalars.

    A tensor must start at a multiple of `begins` bytes of its buffer, or at the buffer's first
    byte if `begins` is 0. `units` is the number of compute units.
    """

    run: CompiledKernel
    begins: int = 1
    units: int = 1


class KernelSource(NamedTuple):
    """The arguments of `Backend.build`: source text, kernel name, and kernel arguments."""

    source: str
    entry: str
    params: tuple[str, ...]


class Prebuilt(Protocol):
    """Kernels that were built ahead: the images of a device that can't compile."""

    def has(self, entry: str) -> bool:
        """Returns True if an image has the kernel `entry`, or will have it once requested."""
        ...

    def holds(self, entry: str) -> bool:
        """Returns True if an image has the kernel `entry`."""
        ...

    def request(self, key: Key) -> None:
        """Requests a kernel that no image has, if the device builds on request."""
        ...

    def kernel(self, entry: str, params: Sequence[str]) -> CompiledKernel | None:
        """Returns the kernel named `entry`, None if no image has it. `params` are the kinds of its
        arguments, as in `Backend.build`."""
        ...

    def nearest(self, entry: str) -> str | None:
        """Returns the available kernel whose identity differs least from `entry`, for a message."""
        ...

    def leaves_to_host(self, missing: KernelNotBuilt) -> bool:
        """Returns True if the missing kernel is a step that an image leaves to the host."""
        ...

    @property
    def uuids(self) -> Sequence[str]:
        """The identities of these images. Measured thresholds are valid for the same images
        only."""
        ...

    @property
    def build_options(self) -> str:
        """The options of `ftensor build` that build these kernels, for a message."""
        ...
