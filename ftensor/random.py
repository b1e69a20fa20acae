"""State of random numbers: generators, the default generator of each device, seeds.

A generator consists of a seed and the number of the next call. The bits of an element are a
function of both numbers and of the element's position (`hls/random.h`), equal on every device.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import numpy as np

from . import errors
from ._device import CPU, DeviceLike, backend_of, device, fpga_devices, resolve
from ._tensor import Tensor
from .dtypes import uint8
from .errors import creation as errors_creation
from .execute.capture import thread_capture
from .execute.dispatch import thread_recorder
from .execute.output import new

__all__ = ["Generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

# Without a seed every process draws the same numbers, as in torch.
DEFAULT_SEED = 67280421310721
_STATE = np.dtype("<u8")
_CALLS = 1 << 48  # a call's number has 48 bits in the kernels' counter


def __dir__() -> list[str]:
    return __all__


class Generator:
    """A source of random numbers for one device, by default that of new tensors.

    Its numbers are equal on every device and in every order of threads, provided that one thread at
    a time uses the generator.
    """

    __slots__ = ("_calls", "_device", "_seed")

    def __init__(self, device: DeviceLike | None = None) -> None:
        self._device = resolve(device)
        self._seed, self._calls = DEFAULT_SEED, 0
        if thread_recorder() is not None:  # each call of the function makes one
            self._move(lambda: (DEFAULT_SEED, 0))

    @property
    def device(self) -> device:
        """The generator's device."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Restarts the generator with a seed from -2**63 to 2**64 - 1; a negative seed counts
        modulo 2**64.

        Raises RuntimeError for a value that is no integer, ValueError for a seed out of range.
        """
        if not isinstance(seed, int):
            raise errors_creation.no_seed(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise errors_creation.seed_out_of_range(seed)
        first = int(seed) % (1 << 64)
        self._move(lambda: (first, 0))
        return self

    def seed(self) -> int:
        """Restarts the generator with an unpredictable seed, and returns the seed."""
        _state_is_read()
        self._set(secrets.randbits(64), 0)
        return self._seed

    def initial_seed(self) -> int:
        """Returns the seed, from 0 to 2**64 - 1."""
        _state_is_read()
        return self._seed

    def get_offset(self) -> int:
        """Returns the number of calls since the generator was seeded."""
        _state_is_read()
        return self._calls

    def set_offset(self, offset: int) -> None:
        """Continues as after `offset` calls. Raises RuntimeError for an invalid number."""
        if not isinstance(offset, int) or not 0 <= offset < _CALLS:
            raise errors_creation.bad_offset(offset)
        calls = int(offset)
        self._move(lambda: (self._seed, calls))

    def get_state(self) -> Tensor:
        """Returns the seed and the number of calls: 16 bytes as a uint8 tensor on the host."""
        _state_is_read()
        with _lock:
            state = np.array([self._seed, self._calls], _STATE).view(np.uint8)
        tensor = new((state.size,), uint8, CPU)
        backend_of(CPU).upload(tensor._storage, 0, state)
        return tensor

    def set_state(self, new_state: Tensor) -> Generator:
        """Restores a result of `get_state`.

        Raises TypeError for a value that is no uint8 tensor, RuntimeError for a tensor of another
        size or an impossible state.
        """
        if not isinstance(new_state, Tensor) or new_state._dtype is not uint8:
            raise errors_creation.not_a_state(new_state)
        if new_state._shape != (2 * _STATE.itemsize,):
            raise errors_creation.state_size(new_state._shape, 2 * _STATE.itemsize)
        _state_is_read()
        seed, calls = np.ascontiguousarray(new_state._host_values()).view(_STATE).tolist()
        if calls >= _CALLS:
            raise errors_creation.bad_offset(calls)
        self._set(seed, calls)
        return self

    def clone_state(self) -> Generator:
        """Returns a generator of the same device with the same state."""
        clone = Generator(self._device)
        clone._move(self._both)
        return clone

    def _move(self, state: Callable[[], tuple[int, int]]) -> None:
        """Sets the state to `state()`, a pair (seed, number of calls). If a function is being
        traced, each later call of it evaluates `state` again."""
        _seeded(lambda: self._set(*state()), partial(self._set, *self._both()))

    def _both(self) -> tuple[int, int]:
        with _lock:
            return self._seed, self._calls

    def _set(self, seed: int, calls: int) -> None:
        with _lock:
            self._seed, self._calls = seed, calls

    def _call(self) -> tuple[int, int]:
        """Returns (seed, number of this call), and increments the number under a lock."""
        with _lock:
            calls = self._calls
            self._calls = (calls + 1) % _CALLS
            return self._seed, calls


_lock = threading.Lock()
_defaults: dict[str, Generator] = {}  # by device name
_seed = DEFAULT_SEED  # seed of default generators that don't exist yet


def _new_lock() -> None:
    # If another thread holds the lock during a fork, it stays locked in the child.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def _seeded(act: Callable[[], object], undo: Callable[[], object] = lambda: None) -> None:
    """Runs `act`, which changes the states of generators. If a function is being traced, each later
    call of it runs `act` again; `undo` restores the states at the end of the trace."""
    recorder, capture = thread_recorder(), thread_capture()
    if capture is not None:
        capture.refuse_seed()
    if recorder is None:
        act()
    else:
        recorder.record_seeding(act, undo)


def _state_is_read() -> None:
    """Called when Python code reads a generator's state. Raises an error while a function is being
    traced, because later calls would have another state."""
    recorder, capture = thread_recorder(), thread_capture()
    if capture is not None:
        capture.refuse_seed()
    if recorder is not None:
        recorder.refuse_state_read()


def default_generator(which: DeviceLike | None = None) -> Generator:
    """Returns a device's default generator; creates it with the current default seed."""
    chosen = resolve(which)
    name = str(chosen)
    generator = _defaults.get(name)
    if generator is None:
        created = object.__new__(Generator)  # except while a function is being traced
        created._device, created._seed, created._calls = chosen, _seed, 0
        generator = _defaults.setdefault(name, created)
    return generator


def manual_seed(seed: int) -> Generator:
    """Seeds the default generators of all devices; returns that of new tensors' device.

    Raises ValueError for a seed outside -2**63 to 2**64 - 1.
    """
    number = int(seed)
    if not -(1 << 63) <= number < 1 << 64:
        raise errors_creation.seed_out_of_range(number)
    before, states = _seed, {name: generator._both() for name, generator in list(_defaults.items())}
    _seeded(partial(_seed_defaults, number % (1 << 64), {}), partial(_seed_defaults, before, states))
    return default_generator()


def _seed_defaults(seed: int, states: Mapping[str, tuple[int, int]]) -> None:
    """Seeds the default generators of all devices, except those in `states`, which are set to these
    states."""
    global _seed
    _seed = seed
    for name, generator in list(_defaults.items()):
        generator._set(*states.get(name, (seed, 0)))


def seed() -> int:
    """Seeds the default generators of all devices with an unpredictable number, and returns it."""
    _state_is_read()
    chosen = secrets.randbits(64)
    manual_seed(chosen)
    return chosen


def initial_seed() -> int:
    """Returns the seed of the default generator of new tensors' device."""
    return default_generator().initial_seed()


def get_rng_state() -> Tensor:
    """Returns the state of the default generator of new tensors' device: a uint8 tensor on the
    host."""
    return default_generator().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Sets the default generator of new tensors' device to a result of `get_rng_state`."""
    default_generator().set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[DeviceLike] | None = None, enabled: bool = True, device_type: str = "fpga"
) -> Iterator[None]:
    """Context manager that restores the default generators at its end.

    It restores those of the host and of `devices`, by default all devices of `device_type`.
    """
    if not enabled:
        yield
        return
    if device(device_type).type != "fpga":
        devices = ()
    elif devices is None:
        devices = [device("fpga", k) for k in range(len(fpga_devices()))]
    named = [device("fpga", d) if isinstance(d, int) else d for d in devices]
    kept = [default_generator(d) for d in (CPU, *named)]
    states: list[list[tuple[int, int]]] = []

    def save() -> None:
        states.append([generator._both() for generator in kept])

    def restore() -> None:
        for generator, state in zip(kept, states.pop()):
            generator._set(*state)

    _seeded(save)
    try:
        yield
    finally:
        _seeded(restore)


def generator_for(function: str, generator: object, device: device) -> Generator:
    """Returns the generator of a call: `generator`, or the device's default for None.

    Raises TypeError for a value that is no generator, RuntimeError for another device's generator.
    """
    if generator is None:
        return default_generator(device)
    if not isinstance(generator, Generator):
        raise errors_creation.not_a_generator(function, generator)
    if generator._device != device:
        raise errors.different_devices(function, [generator._device, device])
    return generator
