"""Registers the device with torch: its name, hooks, guard, module `torch.fpga` and kernels.

The import renames PrivateUse1 first, because the rest of this package uses the name "fpga".
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import repeat
from types import ModuleType
from typing import Any, TypeVar

import torch
from torch.library import Library

from . import internals

F = TypeVar("F", bound=Callable[..., Any])
NAME = "fpga"

torch.utils.rename_privateuse1_backend(NAME)
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
DEVICE = torch.device(NAME, 0)
CPU = torch.device("cpu")


class _Hooks(internals.Hooks):
    """torch's hooks interface of the backend."""

    def is_available(self) -> bool:
        return True

    def is_built(self) -> bool:
        return True

    def has_primary_context(self, device_index: int) -> bool:
        return device_index == 0


class _Guard(internals.DeviceGuard):
    """torch's device guard: torch sees one device and no streams.

    `internals.answer_without_python` replaces most of its methods by C code. `type_`, the device's
    type, is also called where an exception would end the process, so it must not be a Python
    function: it is a C method of an iterator.
    """

    type_ = repeat(internals.PRIVATE_USE_1).__next__


_kept: list[object] = []  # C++ holds raw pointers to these


def register_device(module: ModuleType) -> None:
    """Registers the device, with `module` as `torch.fpga`."""
    hooks, guard = _Hooks(), _Guard()
    _kept.extend([hooks, guard, module])
    internals.register_device_module(NAME, module)
    sys.modules[f"torch.{NAME}"] = module
    assert internals.register_hooks(hooks) and internals.register_guard(guard)
    internals.answer_without_python()
    internals.pin_plain_memory()
    if not any(getattr(torch.version, platform, None) for platform in ("cuda", "hip", "xpu")):
        # Runs a backward pass in the calling thread, as for the CPU. torch would otherwise use one
        # thread for each device, which costs a small network 6 % of its time and gains nothing
        # with one device. The setting only applies to the importing thread.
        torch.autograd.set_multithreading_enabled(False)


# Libraries for the device's kernels (`aten`), for kernels above autograd and decomposition
# (`recorded`) and for the fallback (`op_names`). They must live as long as the process.
aten = Library("aten", "IMPL", "PrivateUse1")
recorded = Library("aten", "IMPL", "AutogradPrivateUse1")
op_names = Library("_", "IMPL")
# Hand-written kernels by overload; the table has no effect on these overloads.
written: dict[str, Callable[..., Any]] = {}


def impl(*names: str) -> Callable[[F], F]:
    """Registers a function as the device's kernel of aten overloads."""

    def register(function: F) -> F:
        for name in names:
            assert name not in written, f"aten::{name} has two kernels"
            written[name] = function
            aten.impl(name, function)
        return function

    return register
