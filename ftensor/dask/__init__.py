"""ftensor under Dask: arrays whose chunks are tensors, workers that own a device each.

    import ftensor.dask
    with LocalCluster(data=ftensor.dask.DeviceMemory) as cluster, Client(cluster) as client:
        client.register_plugin(ftensor.dask.OwnDevice())

`arrays` tells dask.array which functions are for tensors, `sending` how they go from process to
process, `memory` where they are while nobody computes with them, `worker` who has which device.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
    from dask import array as _array  # noqa: F401
except ModuleNotFoundError as _missing:
    if _missing.name not in ("dask", "distributed"):
        raise
    from ..errors.files import no_dask as _no_dask

    raise _no_dask() from None

from . import chunks as _chunks  # noqa: F401
from .memory import DeviceMemory
from .worker import OwnDevice

__all__ = ["DeviceMemory", "OwnDevice"]
