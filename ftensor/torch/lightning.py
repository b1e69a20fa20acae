"""Registers the device with Lightning, for `Trainer(accelerator="fpga")`.

Only this module imports Lightning. docs/with-other-libraries.md has an example program.
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

from ..errors import torch as errors
from . import module as fpga
from .registration import DEVICE, NAME


class FpgaAccelerator(Accelerator):
    """Lightning's accelerator for torch's only `fpga` device."""

    def setup_device(self, device: torch.device) -> None:
        """Checks `device`, which is opened at first use.

        Raises ValueError for a device that is not an fpga, RuntimeError for fpga:1 and above.
        """
        if torch.device(device).type != NAME:
            raise errors.lightning_strategy(device)
        fpga.set_device(device)

    def setup(self, trainer: Any) -> None:
        """Warns if the trainer's precision plugin casts for another device.

        The trainer then computes everything in float32 on this device.
        """
        plugin = trainer.precision_plugin
        if isinstance(plugin, MixedPrecision) and plugin.device != NAME:
            warnings.warn(errors.lightning_precision(plugin.precision, plugin.device), stacklevel=2)

    def get_device_stats(self, device: torch.device | str | int) -> dict[str, Any]:
        """Returns the memory pool's counters, in bytes and calls."""
        return fpga.memory_stats(device)

    def teardown(self) -> None:
        fpga.empty_cache()

    @staticmethod
    def parse_devices(devices: Any) -> list[int]:
        """Returns [0], the only device, for any `devices`."""
        return [0]

    @staticmethod
    def get_parallel_devices(devices: Any) -> list[torch.device]:
        return [DEVICE]

    @staticmethod
    def auto_device_count() -> int:
        return fpga.device_count()

    @staticmethod
    def is_available() -> bool:
        return fpga.is_available()

    @staticmethod
    def name() -> str:
        return NAME


class FpgaPrecision(MixedPrecision):
    """`precision="bf16-mixed"` or "16-mixed" on the device: `torch.autocast("fpga")`."""

    def __init__(self, precision: Any, scaler: Any = None) -> None:
        super().__init__(precision, NAME, scaler)


class FpgaStrategy(SingleDeviceStrategy):
    """Training on torch's only `fpga`: `strategy="fpga"`, and the default of `accelerator="fpga"`.

    Replaces a mixed precision plugin for another device by the plugin for this device.
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
    """Returns `FpgaStrategy` for `fpga`: Lightning would choose the CPU's strategy."""
    flag = self._accelerator_flag
    return FpgaStrategy() if flag == NAME or isinstance(flag, FpgaAccelerator) else _choose(self)


_AcceleratorConnector._choose_strategy = _chosen
AcceleratorRegistry.register(NAME, FpgaAccelerator, description="ftensor's device of torch")
FpgaStrategy.register_strategies(StrategyRegistry)
