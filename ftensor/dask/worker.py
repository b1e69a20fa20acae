"""Worker plugin that assigns one device of its machine to each worker."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin

from .. import fpga
from .._device import fpga_devices, get_device_mapping, set_device_mapping
from ..errors import files as errors
from ..runtime import cache
from ..runtime.discovery import find, selector


class OwnDevice(WorkerPlugin):
    """A plugin that assigns one device to each worker process:
    `client.register_plugin(OwnDevice())`.

    `devices` are values of FTENSOR_DEVICE, by default the devices behind `fpga` on the worker's
    machine. A worker takes the first device that no other worker of the cluster has on that
    machine; a name that is listed twice serves two workers. The device becomes the worker's `fpga`,
    also for its child processes by FTENSOR_DEVICE, and is opened at once.

    The worker gets one unit of the resources "fpga" and the name of its target ("xilinx",
    "intel-cpu"): `with dask.annotate(resources={"fpga": 1})` runs tasks one at a time on a device.

    Raises RuntimeError if no device is left, if other users can write to the folder in TMPDIR in
    which workers record their devices, or if the worker was forked from a process that had opened
    devices.
    """

    name = "ftensor-own-device"

    def __init__(self, devices: Sequence[str] | None = None) -> None:
        self.devices = None if devices is None else list(devices)
        self._claim: int | None = None  # the descriptor of a locked file, in the worker

    async def setup(self, worker: Worker) -> None:
        """Claims a device when the worker starts."""
        names = self.devices
        if names is None:
            names = [selector(device, find()) for device in fpga_devices()]
        index = self._take(worker, names)
        os.environ["FTENSOR_DEVICE"] = names[index]
        if get_device_mapping() != names[index]:
            set_device_mapping(names[index])
        # Limits what a worker sends at once: spilled results return to the device before sending.
        limit = fpga.get_device_properties() and fpga.memory_stats()["limit_bytes"] // 16
        worker.state.transfer_message_bytes_limit = min(worker.state.transfer_message_bytes_limit, limit)
        target = fpga_devices()[0].target.name
        await worker.set_resources(**{"fpga": 1, target: 1})

    def _take(self, worker: Worker, names: Sequence[str]) -> int:
        """Locks a file for the first free name and returns the name's index.

        The system releases the lock when the process ends. Raises an error if no device is left.
        """
        digest = hashlib.sha1(worker.scheduler.address.encode()).hexdigest()[:12]
        folder = Path(tempfile.gettempdir()) / f"ftensor-dask-{os.getuid()}"
        try:
            cache.private_folder(folder)
        except OSError as problem:
            raise errors.no_lock_folder(worker.name, folder, problem) from problem
        for index in range(len(names)):
            file = os.open(folder / f"{digest}-{index}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
            else:
                self._claim = file
                # A forked child that outlives the worker must not keep the lock.
                os.register_at_fork(after_in_child=self._close)
                return index
        raise errors.no_device_left(worker.name, ", ".join(names) or "none there")

    def _close(self) -> None:
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def teardown(self, worker: Worker) -> None:
        """Releases the device when the worker ends."""
        self._close()

    def __getstate__(self) -> dict[str, Any]:
        return {"devices": self.devices, "_claim": None}
