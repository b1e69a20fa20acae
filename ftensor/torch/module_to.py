"""Modules that move to the device or from it keep their Parameters.

torch moves between the CPU and CUDA by giving a Parameter other data, which it refuses for other
devices and makes new Parameters: tied weights come apart, and an optimizer made before steps on
what nobody reads. Here a Parameter that crosses the border gets the implementation of the moved
tensor, as `torch.__future__.set_swap_module_params_on_conversion` has it for all moves; weak
references stay good. A Parameter that a graph still holds can't: it is replaced, in all places
alike, with a warning.
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
    """The function of a move, which moves Parameters in place."""

    def __init__(self, move: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.move = move
        self.held: dict[int, torch.Tensor] = {}  # Parameters that a graph holds

    def __call__(self, t: torch.Tensor) -> torch.Tensor:
        moved = self.move(t)
        crosses = (moved.device.type == NAME) != (t.device.type == NAME)
        if not (crosses and isinstance(t, nn.Parameter)):
            return moved
        if t._use_count() > 1:
            self.held[id(t)] = t
            return moved
        grad, needs = t.grad, t.requires_grad
        if grad is not None:
            with torch.no_grad():
                grad = self.move(grad).requires_grad_(grad.requires_grad)
        other = nn.Parameter(moved.detach(), needs)
        hooks, later = t._backward_hooks, t._post_accumulate_grad_hooks
        internals.swap_implementations(t, other)
        t._backward_hooks, t._post_accumulate_grad_hooks = hooks, later
        t.grad = grad
        return t


_apply = nn.Module._apply


@wraps(_apply)
def _moving(self: nn.Module, fn: Any, recurse: bool = True) -> Any:
    if isinstance(fn, _Move):
        return _apply(self, fn, recurse)
    move = _Move(fn)
    before = [(m, n, p) for m in self.modules() for n, p in m._parameters.items()]
    moved = _apply(self, move, recurse)
    if move.held:
        _tie(move, before)
    return moved


def _tie(move: _Move, before: list[tuple[nn.Module, str, Any]]) -> None:
    """One new Parameter for each that was replaced, and a warning."""
    new: dict[int, Any] = {}
    for module, name, parameter in before:
        if id(parameter) in move.held:
            replacement = new.setdefault(id(parameter), module._parameters[name])
            module._parameters[name] = replacement
    warnings.warn(
        f"{len(new)} Parameters were replaced as their module moved, since a graph still holds "
        f"them: an optimizer made before does not know the new ones; make it after the move, or "
        f"move before the forward pass",
        stacklevel=4,
    )


def install() -> None:
    """Replace how modules move."""
    nn.Module._apply = _moving
