"""Which device a function of `ft.fpga` means."""

from __future__ import annotations

from .. import errors
from .._device import DeviceLike, found_of
from .._device import device as _device
from ..runtime.backend import Backend
from ..runtime.discovery import DetectedDevice

FPGA = _device("fpga")


def lookup(function: str, which: DeviceLike | None) -> DetectedDevice:
    """The device that a function of `ft.fpga` means; RuntimeError for one of another type."""
    if which is None:
        return found_of(FPGA)
    chosen = which if isinstance(which, _device) else _device(which)
    if chosen.type != "fpga":
        raise errors.not_an_fpga(function, chosen)
    return found_of(chosen)


def backend(function: str, which: DeviceLike | None) -> Backend:
    """As `lookup`, opened."""
    return lookup(function, which).open()
