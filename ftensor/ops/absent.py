"""Names that are not there: which of them are torch's, and what comes nearest."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._tensor import Tensor, method
from ..errors.absent import no_attribute
from ..errors.view import imag_of_real
from ..rows.catalogue import ENTRIES


def of_module(module: ModuleType, name: str) -> AttributeError:
    """The error for a name that a public module does not have."""
    path = module.__name__.partition(".")[2]
    way = f"x.{name}(...)" if not path and name in vars(Tensor) else ""
    if f"nn.functional.{name}" in ENTRIES:
        way = f"ft.nn.functional.{name}(...)"
    return no_attribute(module, path, name, way)


@method("__getattr__")
def of_tensor(self: Tensor, name: str) -> Any:
    """Refuse a name that tensors do not have."""
    if name == "imag":  # which had an error of its own to say
        raise imag_of_real(self._dtype)
    way = ""
    if name in ENTRIES:
        way = f"ft.{name}(x, ...)"
    elif name.endswith("_") and name[:-1] in vars(Tensor):
        way = f"x.copy_(x.{name[:-1]}(...))"
    raise no_attribute(self, "Tensor", name, way)
