"""`torch.fpga`: the interface of `torch.cuda` for the device, implemented by `ftensor.fpga`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import torch

from .. import fpga as _f
from ..errors import torch as _errors
from ..runtime.stream import Event

# torch reads this name before it saves the generator's state, as for activation checkpoints.
_initialized = True

R = TypeVar("R")

StreamContext = _f.StreamContext
load_image = _f.load_image
empty_cache = _f.empty_cache
set_stream = _f.set_stream
stream = _f.stream


def _check(device: Any) -> None:
    """Raises RuntimeError for a device that is not fpga:0."""
    if device is None or (isinstance(device, int) and device < 0):
        return
    device_ = torch.device("fpga", device) if isinstance(device, int) else torch.device(device)
    if device_.type != "fpga":
        raise _errors.not_the_fpga(device_)
    if device_.index:
        raise _errors.device_index(device_.index)


def _of_device(function: Callable[..., R]) -> Callable[..., R]:
    """Returns a function of `ft.fpga` that takes torch's names of the device."""

    @wraps(function)
    def call(device: Any = None, *args: Any, **kwargs: Any) -> R:
        _check(device)
        return function(0, *args, **kwargs)

    return call


# --- the device


is_available = _f.is_available


def device_count() -> int:
    """Returns 1, or 0 if no device matches the mapping."""
    return min(_f.device_count(), 1)


def current_device() -> int:
    """Returns 0: torch has one device of a Python backend."""
    return 0


def set_device(device: Any) -> None:
    """Does nothing. Raises RuntimeError for a device other than fpga:0."""
    _check(device)


class device:
    """Context manager for fpga:0, the only device; has no effect."""

    def __init__(self, device: Any = None) -> None:
        _check(device)
        self.idx = 0

    def __enter__(self) -> device:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class device_of(device):
    """Context manager for the device of a tensor or storage; has no effect."""

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage) -> None:
        super().__init__(obj.get_device() if obj.device.type == "fpga" else -1)


def is_initialized() -> bool:
    """Returns True: devices are opened on demand."""
    return True


def init() -> None:
    """Does nothing: devices are opened on demand."""


def _lazy_init() -> None:
    pass


def _is_in_bad_fork() -> bool:
    return False


synchronize = _of_device(_f.synchronize)
get_device_name = _of_device(_f.get_device_name)
get_device_properties = _of_device(_f.get_device_properties)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Returns (0, 0): the device has no compute capability."""
    _check(device)
    return 0, 0


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Returns the dtypes of `torch.autocast("fpga")`."""
    return [torch.bfloat16, torch.float16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Returns True: bfloat16 is stored as such and computed in float32."""
    return True


# --- streams


class Stream(_f.Stream):
    """A queue of work that runs in order, concurrently with that of other streams."""

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


current_stream = _of_device(_f.current_stream)
default_stream = _of_device(_f.default_stream)

# --- random numbers


manual_seed = _f.manual_seed
manual_seed_all = _f.manual_seed_all
seed = seed_all = _f.seed  # of the only device
initial_seed = _f.initial_seed


def get_rng_state(device: Any = "fpga") -> torch.Tensor:
    """Returns the state of the device's generator: a uint8 tensor on the CPU."""
    _check(device)
    return torch.tensor(_f.get_rng_state(0).tolist(), dtype=torch.uint8)


def set_rng_state(new_state: torch.Tensor, device: Any = "fpga") -> None:
    """Sets the state of the device's generator to a result of `get_rng_state`."""
    from .. import tensor, uint8

    _check(device)
    _f.set_rng_state(tensor(new_state.tolist(), dtype=uint8, device="cpu"), 0)


def get_rng_state_all() -> list[torch.Tensor]:
    """Returns the state of the only generator, in a list."""
    return [get_rng_state()]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the state of the only generator from a list."""
    for state in new_states:
        set_rng_state(state)


# --- memory, in bytes


memory_stats = _of_device(_f.memory_stats)
memory_stats_as_nested_dict = _of_device(_f.memory_stats_as_nested_dict)
memory_allocated = _of_device(_f.memory_allocated)
max_memory_allocated = _of_device(_f.max_memory_allocated)
memory_reserved = _of_device(_f.memory_reserved)
max_memory_reserved = _of_device(_f.max_memory_reserved)
reset_peak_memory_stats = _of_device(_f.reset_peak_memory_stats)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Does nothing: the pool's sums always count from the start."""
    _check(device)


mem_get_info = _of_device(_f.mem_get_info)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Like `ft.fpga.set_per_process_memory_fraction`; allocations beyond the limit raise
    torch.OutOfMemoryError."""
    _check(device)
    _f.set_per_process_memory_fraction(fraction, 0)


get_per_process_memory_fraction = _of_device(_f.get_per_process_memory_fraction)
memory_summary = _of_device(_f.memory_summary)


def memory_snapshot(mempool_id: tuple[int, int] | None = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """Returns the memory blocks of the device, or those of the MemPool with an id. There are no
    traces to include."""
    blocks = _f.memory_snapshot(0)
    return blocks if mempool_id is None else [b for b in blocks if b["segment_pool_id"] == tuple(mempool_id)]


def empty_host_cache() -> None:
    """Does nothing: there is no cache of pinned memory."""


__all__ = ["Event", "Stream", "StreamContext", "load_image"]
