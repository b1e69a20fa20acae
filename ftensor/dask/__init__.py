"""ftensor under Dask: arrays with tensors as chunks, workers with one device each.

    import ftensor.dask
    with LocalCluster(data=ftensor.dask.DeviceMemory) as cluster, Client(cluster) as client:
        client.register_plugin(ftensor.dask.OwnDevice())

`memory` registers tensors with dask.array and with Dask's serialization, stores a worker's results
on its device and spills them to the host. `worker` assigns devices to workers.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
    from dask import array as _array  # noqa: F401
except ModuleNotFoundError as _missing:
    if _missing.name not in ("dask", "distributed"):
        raise
    from ..errors.creation import no_dask as _no_dask

    raise _no_dask() from None

from . import memory as _chunks  # noqa: F401
from .memory import DeviceMemory, OwnDevice

__all__ = ["DeviceMemory", "OwnDevice"]
