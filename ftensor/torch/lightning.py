"""The device for Lightning: `Trainer(accelerator=FpgaAccelerator(), strategy=...)`.

Lightning is imported here alone; docs/with-other-libraries.md has the lines of a program.
"""

from __future__ import annotations

from typing import Any

import torch
from lightning.pytorch.accelerators import Accelerator

from . import module as fpga
from .registration import DEVICE, NAME


class FpgaAccelerator(Accelerator):
    """What Lightning asks of an accelerator, for torch's one `fpga`."""

    def setup_device(self, device: torch.device) -> None:
        """Nothing: the device is opened when it is needed. RuntimeError for another one."""
        fpga.set_device(device)

    def get_device_stats(self, device: torch.device | str | int) -> dict[str, Any]:
        """The memory pool's counters, in bytes and calls."""
        return fpga.memory_stats(device)

    def teardown(self) -> None:
        """Give free memory back."""
        fpga.empty_cache()

    @staticmethod
    def parse_devices(devices: Any) -> list[int]:
        """Which devices a trainer means: the one that there is."""
        return [0]

    @staticmethod
    def get_parallel_devices(devices: Any) -> list[torch.device]:
        """The one that there is."""
        return [DEVICE]

    @staticmethod
    def auto_device_count() -> int:
        """1, or 0 where no device fits the mapping."""
        return fpga.device_count()

    @staticmethod
    def is_available() -> bool:
        """Whether there is a device that fits the mapping."""
        return fpga.is_available()

    @staticmethod
    def name() -> str:
        """What trainers call it."""
        return NAME
