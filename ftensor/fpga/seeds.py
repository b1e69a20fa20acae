"""The seeds and states of devices' default generators: names of `ft.fpga`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .._device import DeviceLike, fpga_devices
from .._device import device as _device
from ..random import Generator, default_generator

if TYPE_CHECKING:
    from .._tensor import Tensor


def _generator(which: DeviceLike = "fpga") -> Generator:
    return default_generator(_device("fpga", which) if isinstance(which, int) else which)


def _generators() -> list[Generator]:
    return [_generator(index) for index in range(len(fpga_devices()))]


def manual_seed(seed: int) -> None:
    """Seed the current device's default generator, with -2**63 to 2**64 - 1."""
    _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed the default generators of all devices, with -2**63 to 2**64 - 1."""
    for generator in _generators():
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device's default generator with a number that nobody can foresee."""
    _generator().seed()


def seed_all() -> None:
    """Seed the default generators of all devices with one number that nobody can foresee."""
    manual_seed_all(Generator().seed())


def initial_seed() -> int:
    """The seed of the current device's default generator."""
    return _generator().initial_seed()


def get_rng_state(device: DeviceLike = "fpga") -> Tensor:
    """The state of a device's default generator: a uint8 tensor on the host."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """The states of all devices' default generators."""
    return [generator.get_state() for generator in _generators()]


def set_rng_state(new_state: Tensor, device: DeviceLike = "fpga") -> None:
    """Give a device's default generator a state that `get_rng_state` gave."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Give all devices' default generators the states that `get_rng_state_all` gave."""
    for generator, state in zip(_generators(), new_states):
        generator.set_state(state)
