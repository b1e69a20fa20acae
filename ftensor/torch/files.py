"""Support for `safetensors.safe_open(..., device="fpga")`.

The safetensors library has a fixed list of devices in Rust code, without `fpga`. This module does
nothing if the library is not installed.
"""

from __future__ import annotations

import sys
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from .registration import NAME
from .structure import check_index


class _OnDevice:
    """Wraps an open file or a slice of a tensor and copies the tensors it returns to the device."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def __enter__(self) -> _OnDevice:
        self._opened.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.__exit__(*exc)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened, name)

    def __getitem__(self, index: Any) -> torch.Tensor:
        return self._opened[index].to(NAME)

    def get_slice(self, name: str) -> _OnDevice:
        return _OnDevice(self._opened.get_slice(name))

    def get_tensor(self, name: str) -> torch.Tensor:
        return self._opened.get_tensor(name).to(NAME)

    def get_tensors(self, *args: Any) -> dict[str, torch.Tensor]:
        return {name: t.to(NAME) for name, t in self._opened.get_tensors(*args).items()}


def _is_device(device: Any) -> bool:
    if not isinstance(device, torch.device):
        if not (isinstance(device, str) and device.partition(":")[0] == NAME):
            return False
        device = torch.device(device)
    check_index(device)
    return device.type == NAME


def install() -> None:
    """Replaces `safetensors.safe_open`, which `safetensors.torch` also uses to load files."""
    if find_spec("safetensors") is None:
        return
    library = import_module("safetensors")
    safe_open = library.safe_open

    @wraps(safe_open, updated=())
    def opened(filename: Any, framework: str = "pt", device: Any = "cpu", **kwargs: Any) -> Any:
        if not _is_device(device):
            return safe_open(filename, framework, device, **kwargs)
        return _OnDevice(safe_open(filename, framework, "cpu", **kwargs))

    library.safe_open = opened  # type: ignore[attr-defined]
    if (user := sys.modules.get("safetensors.torch")) is not None:
        user.safe_open = opened  # type: ignore[attr-defined]
