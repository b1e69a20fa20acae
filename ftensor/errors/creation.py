"""Messages about creation, conversions, generators and distributions, and files of tensors."""

from __future__ import annotations

from .message import messages

__getattr__ = messages(__name__)


# --- conversions ---


_NUMPY_WAY = {
    "array": "ft.from_numpy(numpy.load(path))",
    "archive of arrays": "{name: ft.from_numpy(array) for name, array in numpy.load(path).items()}",
}
