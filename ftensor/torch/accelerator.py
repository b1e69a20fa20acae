"""Replaces torch functions that need a C++ implementation of the device by Python functions.

These are the functions of `torch.accelerator`, `torch.Generator` for the device,
`Tensor.record_stream`, the devices of `flex_attention`, and the default backend of `torch.compile`.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import wraps
from typing import Any

import torch
from torch.nn.attention import flex_attention

from .. import errors as all_errors
from ..errors import torch as errors
from ..errors.call import raised_out_of_memory
from ..runtime.stream import DeviceStream
from . import internals, module
from .memory import TO_FT
from .registration import NAME


def _memory_stats(device_index: Any = None, /) -> OrderedDict[str, Any]:
    return OrderedDict(sorted(module.memory_stats(device_index).items()))


_set_torch_stream = torch.accelerator.set_stream


def _set_stream(stream: Any) -> None:
    if isinstance(stream, DeviceStream):
        module.set_stream(stream)
    else:
        _set_torch_stream(stream)


def _capability(device: Any = None, /) -> dict[str, Any]:
    module._check(device)
    return {"supported_dtypes": set(TO_FT)}


# torch.accelerator's own functions call a C++ allocator and guard, which Python can't implement.
_FUNCTIONS = {
    "empty_cache": module.empty_cache,
    "empty_host_cache": module.empty_host_cache,
    "get_device_capability": _capability,
    "get_memory_info": module.mem_get_info,
    "max_memory_allocated": module.max_memory_allocated,
    "max_memory_reserved": module.max_memory_reserved,
    "memory_allocated": module.memory_allocated,
    "memory_reserved": module.memory_reserved,
    "memory_stats": _memory_stats,
    "reset_accumulated_memory_stats": module.reset_accumulated_memory_stats,
    "reset_peak_memory_stats": module.reset_peak_memory_stats,
    "set_device_index": module.set_device,
    "set_stream": _set_stream,
    "synchronize": module.synchronize,
}


class _OfGenerators(type(internals.Generator)):  # type: ignore[misc]
    """Metaclass of `Generator`: calls return torch's generators, which pass isinstance checks."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Generator:
            return super().__call__(*args, **kwargs)
        for device in (*args, kwargs.get("device")):
            if isinstance(device, (str, torch.device)) and torch.device(device).type == NAME:
                raise errors.no_generator()
        return internals.Generator(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is not Generator:
            return super().__instancecheck__(instance)
        return isinstance(instance, internals.Generator)


class Generator(internals.Generator, metaclass=_OfGenerators):
    """`torch.Generator`, but raises RuntimeError with seeding advice for device "fpga"."""

    __doc__ = internals.Generator.__doc__


Generator.__module__ = "torch"


class TorchOutOfMemoryError(all_errors.OutOfMemoryError, torch.OutOfMemoryError):
    """ftensor's OutOfMemoryError as a subclass of torch's, so that either `except` catches it."""


_inductor = torch._TorchCompileInductorWrapper.__call__


@wraps(_inductor)
def _compiled(self: Any, model_: Any, inputs_: Any, **kwargs: Any) -> Any:
    """Compiles a graph with device tensors by ftensor's backend, other graphs by inductor."""
    values = [n.meta.get("example_value") for n in model_.graph.nodes]
    if any(isinstance(t, torch.Tensor) and t.device.type == NAME for t in (*inputs_, *values)):
        from .compile import backend

        captured = self.config.get("triton.cudagraphs", False)
        return backend(model_, inputs_, mode="reduce-overhead" if captured else None)
    return _inductor(self, model_, inputs_, **kwargs)


_validate_flex_device = flex_attention._validate_device


@wraps(_validate_flex_device)
def _flex_device(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
    """Accepts tensors of the device, where flex_attention runs as torch's own composition of
    ops."""
    if query.device.type != NAME:
        _validate_flex_device(query, key, value)


_record_stream = torch.Tensor.record_stream


@wraps(_record_stream)
def _recorded(self: torch.Tensor, stream: Any) -> None:
    # Device storages record the streams that use them: nothing to do for a DeviceStream.
    if not isinstance(stream, DeviceStream):
        _record_stream(self, stream)


def install() -> None:
    """Replaces torch's functions and classes by those of this module."""
    for name, function in _FUNCTIONS.items():
        setattr(torch.accelerator, name, function)
        if hasattr(torch.accelerator.memory, name):
            setattr(torch.accelerator.memory, name, function)
    torch.Generator = Generator
    raised_out_of_memory.append(TorchOutOfMemoryError)
    torch._TorchCompileInductorWrapper.__call__ = _compiled
    flex_attention._validate_device = _flex_device
    _recorded.__module__ = "torch"  # code that lists torch's functions looks at __module__
    torch.Tensor.record_stream = _recorded
