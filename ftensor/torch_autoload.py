"""Entry point of the group `torch.backends`: `import torch` alone registers the device."""

from __future__ import annotations

import warnings

from ._version import TORCH_TESTED


def load() -> None:
    """Imports `ftensor.torch`, or warns and does nothing for an untested version of torch.

    torch calls this at the end of its import. If `ftensor.torch` imports torch, the call occurs in
    the middle of the import of `ftensor.torch`, which then continues.
    """
    import torch

    from .errors.torch import torch_version

    if (version := ".".join(torch.__version__.split(".")[:2])) not in TORCH_TESTED:
        warnings.warn(f"{torch_version(version, TORCH_TESTED)}", stacklevel=2)
        return
    import ftensor.torch  # noqa: F401
