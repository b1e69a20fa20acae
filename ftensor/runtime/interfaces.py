"""What a device has to do with: its properties, its kernels and programs, its images, and who may
stand at its door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from ..kernels.key import Key
    from .storage import Storage


@dataclass(frozen=True)
class DeviceProperties:
    """What a device says about itself, as `torch.cuda.get_device_properties` has it."""

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
    """A compiled kernel: call it with a stream, the number of compute units, its arguments."""

    def __call__(self, stream: Any, units: int, /, *args: Any) -> None: ...


class Keeps(Protocol):
    """What is made of a storage's bytes, and kept while nobody writes them."""

    def drop(self) -> bool:
        """Let go of it; whether memory was in it."""
        ...


class Executor(Protocol):
    """Stands at a device's door, if anybody does (see `execute/observe.py`)."""

    def called(self) -> None:
        """See that an op is called."""
        ...

    def launch(self, launch: Any, stream: Any, tensors: Any, numbers: Any) -> None:
        """Take a launch."""
        ...

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Take a copy from the host."""
        ...

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Take a copy to the host."""
        ...

    def allocate(self, backend: Any, nbytes: int, stream: Any, lasting: bool) -> Storage:
        """Hand out memory; `lasting`: for what serves all calls."""
        ...

    def read(self, storage: Storage) -> None:
        """See that the host reads or writes memory which it shares."""
        ...

    def reshaped(self, tensor: Any) -> None:
        """See that a tensor is about to get another geometry, or other memory."""
        ...

    def start_read(self, tensor: Any, multiple: int) -> None:
        """See that it matters where a tensor begins: modulo so many bytes, or (0) exactly."""
        ...


class OwnKernel(NamedTuple):
    """A kernel of a user's, ready to go: `run` is called with a stream, the number of compute
    units, the buffers, the places in them at which tensors begin (in elements), and the numbers.

    A tensor's first byte must lie at a multiple of `begins` bytes of its buffer, at the buffer's
    first where that is 0. `units` is how many compute units there are.
    """

    run: CompiledKernel
    begins: int = 1
    units: int = 1


class KernelSource(NamedTuple):
    """What `Backend.build` wants to know: a text, the kernel in it, and what that takes."""

    source: str
    entry: str
    params: tuple[str, ...]


class Prebuilt(Protocol):
    """Kernels that were built ahead: the images of a device that cannot compile."""

    def has(self, entry: str) -> bool:
        """Whether a kernel of this identity is in an image, or will be when it is wanted."""
        ...

    def holds(self, entry: str) -> bool:
        """Whether a kernel of this identity is in an image."""
        ...

    def want(self, key: Key) -> None:
        """Note a kernel that is in no image, to be built where someone builds."""
        ...

    def kernel(self, entry: str, params: Sequence[str]) -> CompiledKernel | None:
        """The kernel of this identity, or None."""
        ...

    def nearest(self, entry: str) -> str | None:
        """The identity that is there and differs least, for a message."""
        ...

    @property
    def uuids(self) -> Sequence[str]:
        """What tells these images from others: what was measured with them is true of no other."""
        ...

    @property
    def build_options(self) -> str:
        """The options of `ftensor build` by which such kernels are built, for a message."""
        ...
