"""The entry point of the group `torch.backends`: `import torch` alone brings the device."""

from __future__ import annotations

import warnings

from ._version import TORCH_TESTED


def load() -> None:
    """Import `ftensor.torch`; or say that another torch was tested, and leave this one be.

    torch calls this at its import's end, or in the middle of that of `ftensor.torch`, which then
    goes on.
    """
    import torch

    from .errors.torch_device import torch_version

    if (version := ".".join(torch.__version__.split(".")[:2])) not in TORCH_TESTED:
        warnings.warn(f"{torch_version(version, TORCH_TESTED)}", stacklevel=2)
        return
    import ftensor.torch  # noqa: F401
