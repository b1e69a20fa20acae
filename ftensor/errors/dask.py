"""Messages about ftensor under Dask."""

from __future__ import annotations

from .message import Message

no_dask = Message(
    ImportError,
    "ftensor.dask makes tensors chunks of Dask's arrays, but Dask is not installed here, or not as "
    "a whole; pip install 'dask[array,distributed]'",
)
no_device_left = Message(
    RuntimeError,
    "worker {worker} gets no device: {devices} belong to other workers of this cluster on this "
    "machine. Start as many workers as there are devices, or name one more than once, as in "
    'OwnDevice(["intel-cpu", "intel-cpu"])',
)
no_lock_folder = Message(
    RuntimeError,
    "worker {worker} can't note its device in {folder}: {problem}. Remove that folder, or start all workers "
    "of this machine with the same TMPDIR, a folder that you alone can write",
)
