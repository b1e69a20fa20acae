"""Mistakes with vectors and matrices."""

from __future__ import annotations

from .message import Message

same_dims = Message(RuntimeError, "{op}(): both inputs must have the same number of dims, not {first!t} and {second!t}")


def three(op: str, dim: int, *sizes: int) -> RuntimeError:
    """Vectors that don't have three components."""
    return RuntimeError(f"{op}(): dim {dim} must have size 3 in both, but has {sizes[0]}, {sizes[1]}")


no_three = Message(RuntimeError, "cross(): no dim of {shape!t} has size 3; name it by dim")
columns = Message(RuntimeError, "vander(): N must be at least 2 (0 for torch's older form), but is {n}")
one_dim = Message(RuntimeError, "{op}(): a 1-d tensor is needed, not one of shape {shape!t}")
at_most_two = Message(RuntimeError, "{op}(): input has at most 2 dims, not shape {shape!t}")
no_bool = Message(RuntimeError, "{op}(): bool tensors are not supported; convert with .to(dtype)")
weights = Message(RuntimeError, "cov(): {name} needs shape ({needed},), not {shape!t}")


def weights_dtype(name: str, dtype: object, whole: bool) -> RuntimeError:
    """Weights of the other kind of number."""
    kind = "integers" if whole else "floating-point numbers"
    return RuntimeError(f"cov(): {name} must be {kind}, not {dtype}")


negative_weights = Message(RuntimeError, "cov(): {name} must not be negative")
positive = Message(RuntimeError, "{op}(): {name} must be positive, but is {value}")
not_negative = Message(RuntimeError, "{op}(): {name} must not be negative, but is {value}")
two_dims = Message(RuntimeError, "{op}(): input needs at least 2 dims, not shape {shape!t}")
