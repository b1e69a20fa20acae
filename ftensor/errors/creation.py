"""Messages about creation, conversions, generators and distributions, and files of tensors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import messages, names_called_op

__getattr__ = messages(__name__)


def warn_copied_tensor(function: str) -> None:
    """Issues torch's warning for a tensor constructed from a tensor."""
    warnings.warn(f"{function}(tensor) copies; write tensor.clone() to say so", UserWarning, stacklevel=3)


# --- conversions ---


def warn_complex_to_real() -> None:
    """Issues torch's warning for a conversion that drops imaginary parts."""
    warnings.warn(
        "converting complex numbers to a real dtype drops their imaginary parts; use .real to say so",
        UserWarning,
        stacklevel=4,
    )


@names_called_op
def sample_count(count: int, size: int) -> RuntimeError:
    """Error for more draws without replacement than categories, or for no draws."""
    return RuntimeError(
        f"multinomial(): num_samples must be from 1 to {size} (without replacement), not {count}"
        if count > 0
        else f"multinomial(): num_samples must be at least 1, not {count}"
    )


def warn_channels(function: str, ndim: int, expected: Sequence[int]) -> None:
    """Warns about a channel dropout whose input has too few or too many dims, which torch still
    accepts."""
    text = f"{function}(): an input has {' or '.join(map(str, expected))} dims, this one {ndim}; "
    warnings.warn(text + "torch means to refuse it", stacklevel=3)


def warn_batch() -> None:
    """Warns about a `dropout2d` of three dims."""
    text = "dropout2d(): an input of 3 dims counts as (batch, channels, length); use dropout1d"
    warnings.warn(text, stacklevel=3)


_NUMPY_WAY = {
    "array": "ft.from_numpy(numpy.load(path))",
    "archive of arrays": "{name: ft.from_numpy(array) for name, array in numpy.load(path).items()}",
}
