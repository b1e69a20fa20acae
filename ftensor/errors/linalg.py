"""Mistakes with vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence


def same_dims(op: str, first: Sequence[int], second: Sequence[int]) -> RuntimeError:
    """Operands with different numbers of dims."""
    return RuntimeError(
        f"{op}(): both inputs must have the same number of dims, not {tuple(first)} and "
        f"{tuple(second)}"
    )


def three(op: str, dim: int, *sizes: int) -> RuntimeError:
    """Vectors that don't have three components."""
    return RuntimeError(
        f"{op}(): dim {dim} must have size 3 in both, but has {sizes[0]}, {sizes[1]}"
    )


def no_three(shape: Sequence[int]) -> RuntimeError:
    """No dim of three components."""
    return RuntimeError(f"cross(): no dim of {tuple(shape)} has size 3; name it by dim")


def columns(n: int) -> RuntimeError:
    """Too few powers."""
    return RuntimeError(f"vander(): N must be at least 2 (0 for torch's older form), but is {n}")


def one_dim(op: str, shape: Sequence[int]) -> RuntimeError:
    """A tensor that must be a vector."""
    return RuntimeError(f"{op}(): a 1-d tensor is needed, not one of shape {tuple(shape)}")


def at_most_two(op: str, shape: Sequence[int]) -> RuntimeError:
    """More dims than variables and observations."""
    return RuntimeError(f"{op}(): input has at most 2 dims, not shape {tuple(shape)}")


def no_bool(op: str) -> RuntimeError:
    """Truth values."""
    return RuntimeError(f"{op}(): bool tensors are not supported; convert with .to(dtype)")


def weights(name: str, needed: int, given: Sequence[int]) -> RuntimeError:
    """Weights that are not one for each observation."""
    return RuntimeError(f"cov(): {name} needs shape ({needed},), not {tuple(given)}")


def weights_dtype(name: str, given: object, whole: bool) -> RuntimeError:
    """Weights of the other kind of number."""
    kind = "integers" if whole else "floating-point numbers"
    return RuntimeError(f"cov(): {name} must be {kind}, not {given}")


def negative_weights(name: str) -> RuntimeError:
    """Weights below 0."""
    return RuntimeError(f"cov(): {name} must not be negative")


def positive(op: str, name: str, value: object) -> RuntimeError:
    """A number that must be positive."""
    return RuntimeError(f"{op}(): {name} must be positive, but is {value}")


def not_negative(op: str, name: str, value: object) -> RuntimeError:
    """A number that must not be negative."""
    return RuntimeError(f"{op}(): {name} must not be negative, but is {value}")


def two_dims(op: str, shape: Sequence[int]) -> RuntimeError:
    """Too few dims."""
    return RuntimeError(f"{op}(): input needs at least 2 dims, not shape {tuple(shape)}")
