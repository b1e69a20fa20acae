"""Messages about neural networks: losses, norms, attention, convolutions, quantized layers."""

from __future__ import annotations

from collections.abc import Sequence

from .message import messages, names_called_op

__getattr__ = messages(__name__)


@names_called_op
def class_shape(op: str, input: Sequence[int], target: Sequence[int]) -> RuntimeError | ValueError:
    """Error for targets without one class for each position of the input; ValueError for another
    batch size."""
    if len(input) > 1:
        batches = tuple(target[:1]) != tuple(input[:1])
    else:  # a single sample, whose target may be a vector with one element
        batches = len(target) == 1 and target[0] != 1
    kind = ValueError if batches else RuntimeError
    return kind(f"{op}(): a target of shape {tuple(target)} does not fit input {tuple(input)}")
