"""How a tensor leads to the array API standard's namespace, which is imported when it is asked."""

from __future__ import annotations

from typing import Any

from ._tensor import Tensor, method


@method("__array_namespace__")
def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """The namespace of the array API standard: the module `ftensor.array_api`.

    ValueError for an `api_version` that is not one up to 2024.12.
    """
    from . import array_api

    return array_api.of_version(api_version)
