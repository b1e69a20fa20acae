"""`ft.cuda`: the functions that torch programs call before they choose a device, without CUDA.

`ft.fpga` has torch's names for ftensor's own devices.
"""

from __future__ import annotations

from .errors.torch import no_cuda

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Returns False: ftensor's devices are those of `ft.fpga`."""
    return False


def device_count() -> int:
    """Returns 0: ftensor's devices are those of `ft.fpga`."""
    return 0


def __getattr__(name: str) -> object:
    raise no_cuda(name)
