"""The device's name, hooks and guard, its module `torch.fpga`, and how kernels are registered.

The name comes first: everything else in this package says "fpga".
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
    """What torch asks about the backend."""

    def is_available(self) -> bool:
        return True

    def is_built(self) -> bool:
        return True

    def has_primary_context(self, device_index: int) -> bool:
        return device_index == 0


class _Guard(internals.DeviceGuard):
    """Of the guard torch takes the device's type; it has one device, and no streams to torch.

    `private.answer_without_python` takes most questions from it. torch asks others where nothing
    should be raised either: so a method of an iterator written in C, not a function of Python.
    """

    type_ = repeat(internals.PRIVATE_USE_1).__next__


_kept: list[object] = []  # C++ keeps bare pointers


def register_device(module: ModuleType) -> None:
    """Make `torch.fpga` of a module, and the device known to torch."""
    hooks, guard = _Hooks(), _Guard()
    _kept.extend([hooks, guard, module])
    internals.register_device_module(NAME, module)
    sys.modules[f"torch.{NAME}"] = module
    assert internals.register_hooks(hooks) and internals.register_guard(guard)
    internals.answer_without_python()
    internals.pin_plain_memory()
    if not any(getattr(torch.version, other, None) for other in ("cuda", "hip", "xpu")):
        # A backward pass runs in the thread that asks for it, as it does for the CPU. torch would
        # else hand it to a thread for each device, which costs a small network 6 % of its time and
        # gains nothing where there is one device. This is said of the importing thread alone.
        torch.autograd.set_multithreading_enabled(False)


# Kernels of the device, what is asked before torch records an op or makes it of parts, and the
# fallback. The libraries live as long as the process.
aten = Library("aten", "IMPL", "PrivateUse1")
recorded = Library("aten", "IMPL", "AutogradPrivateUse1")
everything = Library("_", "IMPL")
# Overloads with a kernel of ours: the hand-written ones, which the table leaves alone.
written: dict[str, Callable[..., Any]] = {}


def impl(*names: str) -> Callable[[F], F]:
    """Register a function for overloads of aten on the device."""

    def register(function: F) -> F:
        for name in names:
            assert name not in written, f"aten::{name} has two kernels"
            written[name] = function
            aten.impl(name, function)
        return function

    return register
