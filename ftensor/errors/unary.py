"""Exceptions of activations and other functions of one tensor; as `errors`, returned to raise."""

from __future__ import annotations

from .message import Message


def no_clamp(op: str, dtype: object) -> RuntimeError:
    """relu and hardtanh of bool (RuntimeError in torch) or complex (NotImplementedError)."""
    kind = RuntimeError if str(dtype).endswith("bool") else NotImplementedError
    return kind(f"{op}() does not support {dtype} tensors; convert with .to(dtype)")


limits_swapped = Message(ValueError, "{op}(): min_val {low} is above max_val {high}")
negative_limit = Message(RuntimeError, "{op}(): min_val {low} is negative, which {dtype} cannot be")
zero_alpha = Message(RuntimeError, "ZeroDivisionError: {op}() divides by alpha, which is 0")
gelu_approximation = Message(RuntimeError, 'gelu(): approximate must be "none" or "tanh", not {name!r}')
negative_lambda = Message(RuntimeError, "{op}(): lambd must be 0 or more, not {value}")
negative_order = Message(RuntimeError, "{op}(): the order n must not be negative, but is {n}")
