"""Exceptions of activations and other functions of one tensor; as `errors`, returned to raise."""

from __future__ import annotations


def no_clamp(op: str, dtype: object) -> RuntimeError:
    """relu and hardtanh of bool (RuntimeError in torch) or complex (NotImplementedError)."""
    kind = RuntimeError if str(dtype).endswith("bool") else NotImplementedError
    return kind(f"{op}() does not support {dtype} tensors; convert with .to(dtype)")


def limits_swapped(op: str, low: float, high: float) -> ValueError:
    """A lower limit above the upper one."""
    return ValueError(f"{op}(): min_val {low} is above max_val {high}")


def negative_limit(op: str, low: float, dtype: object) -> RuntimeError:
    """A limit that an unsigned dtype cannot hold."""
    return RuntimeError(f"{op}(): min_val {low} is negative, which {dtype} cannot be")


def zero_alpha(op: str) -> RuntimeError:
    """A division by alpha."""
    return RuntimeError(f"ZeroDivisionError: {op}() divides by alpha, which is 0")


def gelu_approximation(name: object) -> RuntimeError:
    """An unknown word for gelu's `approximate`."""
    return RuntimeError(f'gelu(): approximate must be "none" or "tanh", not {name!r}')


def negative_lambda(op: str, value: float) -> RuntimeError:
    """softshrink that would move values away from 0."""
    return RuntimeError(f"{op}(): lambd must be 0 or more, not {value}")


def negative_order(op: str, n: int) -> RuntimeError:
    """A derivative of a negative order."""
    return RuntimeError(f"{op}(): the order n must not be negative, but is {n}")
