"""`no_grad` and related contexts, which torch programs use around code without gradients.

ftensor records no gradients, so these contexts change nothing. A request for gradients is an
error, like `requires_grad=True`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .errors import torch as errors_torch

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


class set_grad_enabled:
    """`set_grad_enabled(False)`: a context or decorator without effect.

    Raises RuntimeError for True: ftensor records no gradients.
    """

    def __init__(self, mode: bool) -> None:
        if mode:
            raise errors_torch.no_gradients(f"{type(self).__name__}()")

    def __enter__(self) -> None:
        """Does nothing."""

    def __exit__(self, *error: object) -> None:
        """Does nothing."""

    def __call__(self, call: F) -> F:
        """Returns the function itself, which records no gradients."""

        @wraps(call)
        def run(*args: Any, **kwargs: Any) -> Any:
            return call(*args, **kwargs)

        return run  # type: ignore[return-value]


class no_grad(set_grad_enabled):
    """A context or decorator in which no gradients are recorded, as everywhere in ftensor.

    Also `@no_grad` without brackets, as in torch.
    """

    def __new__(cls, call: Any = None) -> Any:
        guard = object.__new__(cls)
        return guard(call) if callable(call) else guard

    def __init__(self, mode: Any = True) -> None:
        super().__init__(False)


class inference_mode(no_grad):
    """Like `no_grad`; `mode=False` is accepted too and has no effect."""


class enable_grad(set_grad_enabled):
    """Raises RuntimeError: ftensor records no gradients."""

    def __init__(self) -> None:
        super().__init__(True)


def is_grad_enabled() -> bool:
    """Returns False: ftensor records no gradients."""
    return False


def is_inference_mode_enabled() -> bool:
    """Returns False: ftensor has no inference mode, and tensors can be written to everywhere."""
    return False
