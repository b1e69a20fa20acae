"""Messages about neural networks: losses, norms, attention, convolutions, quantized layers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ..terminal import guess
from .message import messages, names_called_op, naming_called

__getattr__ = messages(__name__)


def warn_target_size(op: str, input: Sequence[int], target: Sequence[int], level: int) -> None:
    """Warns about an input and a target of a loss that broadcast; `level` is the stack level of the
    caller."""
    warnings.warn(
        naming_called(
            f"{op}(): the target's shape {tuple(target)} is not the input's, {tuple(input)}; they are "
            "broadcast, which is seldom meant"
        ),
        stacklevel=level + 1,
    )


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


@names_called_op
def interpolation_mode(mode: object, shape: Sequence[int], known: Sequence[str]) -> NotImplementedError:
    """Error for a mode that does not exist, or not for as many dims as the input has."""
    dims = f"{len(shape)} dims has {', '.join(map(repr, known))}" if known else "3 to 5 dims is needed"
    return NotImplementedError(
        f"interpolate(): mode {mode!r} is not for shape {tuple(shape)}: an input of {dims}{guess(str(mode), known)}"
    )
