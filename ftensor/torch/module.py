"""`torch.fpga`: the interface of `torch.cuda` for the device, implemented by `ftensor.fpga`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .. import fpga as _f
from ..errors import torch_device as _errors
from ..runtime.backend import DeviceProperties
from ..runtime.stream import DeviceStream as _Stream
from ..runtime.stream import Event

# torch reads this name before it saves the generator's state, as for activation checkpoints.
_initialized = True

StreamContext = _f.StreamContext
load_image = _f.load_image
empty_cache = _f.empty_cache
set_stream = _f.set_stream
stream = _f.stream


def _check(device: Any) -> None:
    """Raises RuntimeError for a device that is not fpga:0."""
    if device is None or (isinstance(device, int) and device < 0):
        return
    resolved = torch.device("fpga", device) if isinstance(device, int) else torch.device(device)
    if resolved.type != "fpga":
        raise _errors.not_the_fpga(resolved)
    if resolved.index:
        raise _errors.device_index(resolved.index)


# --- the device


def is_available() -> bool:
    """Whether there is a device that fits the mapping."""
    return _f.is_available()


def device_count() -> int:
    """1, or 0 where no device fits the mapping."""
    return min(_f.device_count(), 1)


def current_device() -> int:
    """0: torch has one device of a backend in Python."""
    return 0


def set_device(device: Any) -> None:
    """Nothing, but RuntimeError for another device than the one that there is."""
    _check(device)


class device:
    """Context manager of the one device that there is."""

    def __init__(self, device: Any = None) -> None:
        _check(device)
        self.idx = 0

    def __enter__(self) -> device:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


def is_initialized() -> bool:
    """True: devices are opened when they are needed."""
    return True


def init() -> None:
    """Nothing: devices are opened when they are needed."""


def _lazy_init() -> None:
    pass


def _is_in_bad_fork() -> bool:
    return False


def synchronize(device: Any = None) -> None:
    """Wait for all work on all streams."""
    _check(device)
    _f.synchronize(0)


def get_device_name(device: Any = None) -> str:
    """The name that the device gives itself."""
    _check(device)
    return _f.get_device_name(0)


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, platform, versions, memory (bytes), compute units and float types of the device."""
    _check(device)
    return _f.get_device_properties(0)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """(0, 0): there are no such levels."""
    _check(device)
    return 0, 0


def get_amp_supported_dtype() -> list[torch.dtype]:
    """What `torch.autocast("fpga")` can compute in."""
    return [torch.bfloat16, torch.float16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True: bfloat16 is stored as such, and computed in float32."""
    return True


# --- streams


class Stream(_f.Stream):
    """A queue whose work runs in order, and beside that of other streams."""

    device_index = 0
    device_type = 20  # PrivateUse1

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        _check(device)
        super().__init__(0, priority)
        self._entered: list[StreamContext] = []

    def __enter__(self) -> Stream:
        self._entered.append(_f.stream(self))
        self._entered[-1].__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().__exit__(*exc)

    @property
    def device(self) -> torch.device:
        """fpga:0."""
        return torch.device("fpga", 0)


def current_stream(device: Any = None) -> _Stream:
    """The stream that this thread's operations go to."""
    _check(device)
    return _f.current_stream(0)


def default_stream(device: Any = None) -> _Stream:
    """The stream that the device starts with."""
    _check(device)
    return _f.default_stream(0)


# --- random numbers


def manual_seed(seed: int) -> None:
    """Seed the device's generator."""
    _f.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the device's generator; `torch.manual_seed` comes here."""
    _f.manual_seed_all(seed)


def seed() -> None:
    """Seed the device's generator with a number that nobody can foresee."""
    _f.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed of the device's generator."""
    return _f.initial_seed()


def get_rng_state(device: Any = "fpga") -> torch.Tensor:
    """The state of the device's generator: a uint8 tensor on the CPU."""
    _check(device)
    return torch.tensor(_f.get_rng_state(0).tolist(), dtype=torch.uint8)


def set_rng_state(new_state: torch.Tensor, device: Any = "fpga") -> None:
    """Give the device's generator a state that `get_rng_state` gave."""
    from .. import tensor, uint8

    _check(device)
    _f.set_rng_state(tensor(new_state.tolist(), dtype=uint8, device="cpu"), 0)


def get_rng_state_all() -> list[torch.Tensor]:
    """The state of the one generator."""
    return [get_rng_state()]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Give the one generator its state."""
    for state in new_states:
        set_rng_state(state)


# --- memory, in bytes


def memory_stats(device: Any = None) -> dict[str, int]:
    """The pool's counters under torch's names."""
    _check(device)
    return _f.memory_stats(0)


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold."""
    _check(device)
    return _f.memory_allocated(0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors held at once since the start or `reset_peak_memory_stats`."""
    _check(device)
    return _f.max_memory_allocated(0)


def memory_reserved(device: Any = None) -> int:
    """Bytes that the pool holds, in tensors or free."""
    _check(device)
    return _f.memory_reserved(0)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that the pool held since the start or `reset_peak_memory_stats`."""
    _check(device)
    return _f.max_memory_reserved(0)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Start the two peaks again from what is held now."""
    _check(device)
    _f.reset_peak_memory_stats(0)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Nothing: the pool has no other sums than those since the start."""
    _check(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(bytes that are free, bytes in all), as far as this process knows."""
    _check(device)
    return _f.mem_get_info(0)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """What the pool holds, for reading."""
    _check(device)
    return _f.memory_summary(0, abbreviated)


def memory_snapshot(device: Any = None) -> list[dict[str, Any]]:
    """The blocks of memory that the pool holds."""
    _check(device)
    return _f.memory_snapshot(0)


def empty_host_cache() -> None:
    """Nothing: there is no cache of pinned memory."""


__all__ = ["Event", "Stream", "StreamContext", "load_image"]
