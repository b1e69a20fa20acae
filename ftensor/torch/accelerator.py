"""Replaces torch functions that need a C++ implementation of the device by Python functions, and moves
modules.

The functions are those of `torch.accelerator`, `torch.Generator` for the device,
`Tensor.record_stream`, the devices of `flex_attention`, and the default backend of `torch.compile`.

torch moves a Parameter between the CPU and CUDA by setting its `.data`. It refuses that for other
devices and creates new Parameters: tied weights come apart, and an existing optimizer updates
Parameters that the module no longer uses. Here a Parameter that moves to or from the device swaps
implementations with the moved tensor, as under
`torch.__future__.set_swap_module_params_on_conversion`, but weak references stay valid. A
Parameter that an autograd graph holds can't be swapped: it is replaced wherever the module uses
it, with a warning.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import nn
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


class _Move:
    """The function that `Module._apply` calls for each tensor; swaps Parameters in place."""

    def __init__(self, move: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.move = move
        self.held: dict[int, torch.Tensor] = {}  # Parameters that an autograd graph holds

    def __call__(self, t: torch.Tensor) -> torch.Tensor:
        result = self.move(t)
        crosses = (result.device.type == NAME) != (t.device.type == NAME)
        if not (crosses and isinstance(t, nn.Parameter)):
            return result
        if t._use_count() > 1:
            self.held[id(t)] = t
            return result
        grad, needs = t.grad, t.requires_grad
        if grad is not None:
            with torch.no_grad():
                grad = self.move(grad).requires_grad_(grad.requires_grad)
        parameter = nn.Parameter(result.detach(), needs)
        hooks, later = t._backward_hooks, t._post_accumulate_grad_hooks
        internals.swap_implementations(t, parameter)
        t._backward_hooks, t._post_accumulate_grad_hooks = hooks, later
        t.grad = grad
        return t


_apply = nn.Module._apply


@wraps(_apply)
def _apply_to_parameters(self: nn.Module, fn: Any, recurse: bool = True) -> Any:
    if isinstance(fn, _Move):
        return _apply(self, fn, recurse)
    move = _Move(fn)
    parameters = [(m, n, p) for m in self.modules() for n, p in m._parameters.items()]
    result = _apply(self, move, recurse)
    if move.held:
        _retie_parameters(move, parameters)
    return result


def _retie_parameters(move: _Move, parameters: list[tuple[nn.Module, str, Any]]) -> None:
    """Replaces a Parameter that several modules share by one new Parameter in all of them, and
    warns."""
    replacements: dict[int, Any] = {}
    for owner, name, parameter in parameters:
        if id(parameter) in move.held:
            replacement = replacements.setdefault(id(parameter), owner._parameters[name])
            owner._parameters[name] = replacement
    warnings.warn(
        f"{len(replacements)} Parameters were replaced as their module moved, since a graph still holds "
        f"them: an optimizer made before does not know the new ones; make it after the move, or "
        f"move before the forward pass",
        stacklevel=4,
    )


def install_module_to() -> None:
    """Replaces `torch.nn.Module._apply`."""
    nn.Module._apply = _apply_to_parameters
