"""The device for Lightning: `Trainer(accelerator="fpga")` once this module is imported.

Lightning is imported here alone; docs/with-other-libraries.md has the lines of a program.
"""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any

import torch
from lightning.pytorch.accelerators import Accelerator, AcceleratorRegistry
from lightning.pytorch.plugins.precision import MixedPrecision
from lightning.pytorch.strategies import SingleDeviceStrategy, StrategyRegistry
from lightning.pytorch.trainer.connectors.accelerator_connector import _AcceleratorConnector

from ..errors import torch_device as errors
from . import module as fpga
from .registration import DEVICE, NAME


class FpgaAccelerator(Accelerator):
    """What Lightning asks of an accelerator, for torch's one `fpga`."""

    def setup_device(self, device: torch.device) -> None:
        """Nothing: the device is opened when it is needed. ValueError for one that is no fpga,
        RuntimeError for fpga:1 and above."""
        if torch.device(device).type != NAME:
            raise errors.lightning_strategy(device)
        fpga.set_device(device)

    def setup(self, trainer: Any) -> None:
        """Warns where the trainer's precision plugin casts on another device, so that all is
        computed in float32 here."""
        plugin = trainer.precision_plugin
        if isinstance(plugin, MixedPrecision) and plugin.device != NAME:
            warnings.warn(errors.lightning_precision(plugin.precision, plugin.device), stacklevel=2)

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


class FpgaPrecision(MixedPrecision):
    """`precision="bf16-mixed"` or "16-mixed" on the device: `torch.autocast("fpga")`."""

    def __init__(self, precision: Any, scaler: Any = None) -> None:
        super().__init__(precision, NAME, scaler)


class FpgaStrategy(SingleDeviceStrategy):
    """Training on torch's one `fpga`: `strategy="fpga"`, and what `accelerator="fpga"` chooses.

    Where Lightning casts for a mixed precision on another device, it does so on this one.
    """

    strategy_name = NAME

    def __init__(self, device: Any = DEVICE, **kwargs: Any) -> None:
        super().__init__(device, **kwargs)

    @property
    def precision_plugin(self) -> Any:
        return super().precision_plugin

    @precision_plugin.setter
    def precision_plugin(self, plugin: Any) -> None:
        if type(plugin) is MixedPrecision and plugin.device != NAME:
            plugin = FpgaPrecision(plugin.precision)
        self._precision_plugin = plugin

    @classmethod
    def register_strategies(cls, strategy_registry: Any) -> None:
        strategy_registry.register(NAME, cls, description="ftensor's device of torch")


_choose = _AcceleratorConnector._choose_strategy


@wraps(_choose)
def _chosen(self: Any) -> Any:
    """Lightning's choice for accelerators that it does not know is the CPU."""
    flag = self._accelerator_flag
    return FpgaStrategy() if flag == NAME or isinstance(flag, FpgaAccelerator) else _choose(self)


_AcceleratorConnector._choose_strategy = _chosen
AcceleratorRegistry.register(NAME, FpgaAccelerator, description="ftensor's device of torch")
FpgaStrategy.register_strategies(StrategyRegistry)
