"""Modules keep their Parameter objects when they move to or from the device.

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
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import nn

from . import internals
from .registration import NAME


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
    for module, name, parameter in parameters:
        if id(parameter) in move.held:
            replacement = replacements.setdefault(id(parameter), module._parameters[name])
            module._parameters[name] = replacement
    warnings.warn(
        f"{len(replacements)} Parameters were replaced as their module moved, since a graph still holds "
        f"them: an optimizer made before does not know the new ones; make it after the move, or "
        f"move before the forward pass",
        stacklevel=4,
    )


def install() -> None:
    """Replaces `torch.nn.Module._apply`."""
    nn.Module._apply = _apply_to_parameters
