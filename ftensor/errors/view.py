"""Messages about views, shapes and indices."""

from __future__ import annotations

import warnings

from .message import messages

__getattr__ = messages(__name__)


def warn_meshgrid() -> None:
    """Issues torch's warning for a meshgrid without `indexing`."""
    warnings.warn("meshgrid(): pass indexing='ij' or 'xy'; 'ij' is used", UserWarning, stacklevel=3)


class NoImaginaryPartError(RuntimeError, AttributeError):
    """torch's error for `imag` of real numbers. It is an AttributeError too, so that `hasattr` is
    False."""


class BackwardsError(ValueError):
    """A slice has a negative step where the result must be a view."""


def warn_list_as_tuple() -> None:
    """Issues torch's warning for a list that is read as a tuple."""
    warnings.warn(
        "a list of indices is taken for a tuple of them; write t[tuple(indices)] or, for one "
        "index tensor, t[ft.tensor(indices)]",
        UserWarning,
        stacklevel=5,
    )


def warn_uint8_mask() -> None:
    """Issues torch's warning for uint8 masks."""
    warnings.warn("indexing with dtype uint8 is deprecated, use a bool tensor", UserWarning, stacklevel=4)
