"""Tensors as chunks of Dask arrays, the storage of a worker's results, and the worker's device."""

from __future__ import annotations

import fcntl
import hashlib
import io
import math
import os
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dask
import numpy as np
import zict
from dask.array import Array, _shuffle
from dask.array.backends import percentile
from dask.array.dispatch import percentile_lookup
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from dask.tokenize import normalize_token
from dask.utils import parse_bytes
from distributed import Worker, WorkerPlugin
from distributed.protocol.serialize import dask_deserialize, dask_serialize
from distributed.spill import SpillBuffer
from distributed.system import MEMORY_LIMIT

from .. import dtypes, fpga
from .._device import fpga_devices, get_device_mapping, set_device_mapping
from .._tensor import Tensor
from ..errors import creation as errors
from ..execute.pointwise import clone
from ..formats import contiguous_format
from ..interop.host import export
from ..interop.state import rebuild_tensor, storage_from_bytes
from ..iterator.shape import extent
from ..runtime import cache
from ..runtime.discovery import find, selector
from ..runtime.pool import Storage

percentile_lookup.register(Tensor, percentile)

_dtype = Array.dtype.fget
_getitem = _shuffle._getitem


def _numpy_getitem(self: Array) -> Any:
    """Returns the dtype of the chunks as NumPy's, because Dask compares it and reads its `type`."""
    dtype = _dtype(self)
    return dtype.numpy if isinstance(dtype, dtypes.dtype) and dtype.in_numpy else dtype


def _index_chunk(chunk: Any, index: tuple[Any, Any]) -> Any:
    """Indexes a chunk; widens unsigned positions, since a uint8 index of a tensor is a mask."""
    if not isinstance(chunk, Tensor):
        return _getitem(chunk, index)
    int_index = [i.astype(np.int64) if isinstance(i, np.ndarray) and i.dtype.kind == "u" else i for i in index[1]]
    return chunk[tuple(int_index)]


Array.dtype = property(_numpy_getitem, doc=Array.dtype.__doc__)
_shuffle._getitem = _index_chunk


_DTYPES = {d.name: d for d in dtypes.ALL}


def _elements(t: Tensor) -> tuple[Tensor, np.ndarray[Any, Any]]:
    """Returns (the tensor, packed if it has gaps; the bytes of its elements in host memory).

    The bytes are the device's memory if the host shares it. They cover only the elements of a view,
    for example a block's border that is sent to its neighbour.
    """
    if not t.numel():
        return t, np.empty(0, np.uint8)
    _, high = extent(t._shape, t._strides)
    if high >= t.numel():
        t = clone(t, contiguous_format)
        high = t.numel() - 1
    size = t._dtype.itemsize
    memory = Tensor._make(t._storage, dtypes.uint8, ((high + 1) * size,), (1,), t._offset * size)
    return t, export(memory)[0]


@dask_serialize.register(Tensor)
def sent(t: Tensor) -> tuple[dict[str, Any], list[memoryview]]:
    """Returns (header, frames) of a tensor, with its elements as one frame."""
    t, content = _elements(t)
    header = {"dtype": t._dtype.name, "shape": t._shape, "strides": t._strides}
    return header, [content.data]


@dask_deserialize.register(Tensor)
def received(header: dict[str, Any], frames: list[Any]) -> Tensor:
    """Returns the tensor on the default device, over the frame's memory if possible."""
    shape, strides = tuple(header["shape"]), tuple(header["strides"])
    content = frames[0] if frames else b""
    return rebuild_tensor(storage_from_bytes(content), _DTYPES[header["dtype"]], shape, strides, 0)


@sizeof.register(Tensor)
def _bytes(t: Tensor) -> int:
    return t.nbytes


@normalize_token.register(Tensor)
def _token(t: Tensor) -> tuple[Any, ...]:
    # Hashes the values in the order of dims, so that the token does not depend on strides.
    content = _elements(clone(t, contiguous_format))[1]
    return "ftensor", t._dtype.name, t._shape, hashlib.sha1(content.data).hexdigest()


def storages(value: Any) -> Iterator[Storage]:
    """Yields the storages of the tensors in a value, also in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value._storage
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from storages(item)
    elif isinstance(value, dict):
        yield from storages(list(value.values()))


def on_device(value: Any) -> int:
    """Returns the bytes of device memory that a value holds."""
    return sum(s.nbytes for s in {id(s): s for s in storages(value)}.values())


def has_tensors(value: Any) -> bool:
    """True if a value contains tensors."""
    return next(storages(value), None) is not None


class DeviceMemory(zict.Buffer):
    """A worker's `data`: results with tensors stay on its device, up to a share of its memory.

    Use `LocalCluster(data=DeviceMemory)`, or `data=(DeviceMemory, {"share": 0.3})`. Beyond `share`
    of the device's memory (FTENSOR_MEMORY_LIMIT, or its size) the least recently used results move
    to host memory, and return when a task needs them. They also move if the device has no room for
    a task's results. Host memory for them is limited to a CPU's share of the machine's memory or to
    `memory_limit` bytes ("4 GiB"), beyond which they spill to disk as in Dask.
    """

    def __init__(self, worker_local_directory: str, share: float = 0.5, memory_limit: str | float = "auto") -> None:
        limit = MEMORY_LIMIT / CPU_COUNT if memory_limit == "auto" else parse_bytes(memory_limit)
        fraction = dask.config.get("distributed.worker.memory.target") or 1
        self.host = SpillBuffer(os.path.join(worker_local_directory, "storage"), int(limit * fraction))
        self.share = share
        self.spilled = 0  # number of values that were moved to the host
        super().__init__(
            fast={},
            slow=zict.Func(self._for_host, _for_device, self.host),
            n=math.inf,  # set when the first tensor arrives, which determines the device
            weight=lambda _, value: on_device(value) if has_tensors(value) else math.inf,
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        storage = next(storages(value), None)
        if storage is None:
            self.fast.discard(key)
            self.slow[key] = value
            return
        pool = storage.backend.pool
        self.n, pool.make_room = self.share * pool.limit, self._make_room
        super().__setitem__(key, value)

    def _for_host(self, value: Any) -> Any:
        if not has_tensors(value):
            return value
        self.spilled += 1
        text = io.BytesIO()
        buffers: list[Any] = []
        _Pickler(text, protocol=5, buffer_callback=buffers.append).dump(value)
        return Spilled(text.getvalue(), [np.frombuffer(b, np.uint8) for b in buffers])

    def _make_room(self) -> bool:
        """Moves the least recently used value to the host; False if there is none."""
        try:
            self.fast.evict()
        except KeyError:
            return False
        return True

    def evict(self) -> int:
        """Spills from host memory to disk; returns the bytes moved, -1 for none.

        Dask calls this when the process uses more than its share of memory.
        """
        return self.host.evict() if self.host.fast else -1


class Spilled(NamedTuple):
    """A pickled value, with its tensors' memory in host arrays."""

    text: bytes
    arrays: list[np.ndarray[Any, Any]]


class _Pickler(pickle.Pickler):
    """Pickles only the elements of a view, unlike pickle, which keeps the whole storage."""

    def reducer_override(self, obj: Any) -> Any:
        """Reduces a tensor to its header and elements; other objects are pickled as usual."""
        if not isinstance(obj, Tensor):
            return NotImplemented
        header, (content,) = sent(obj)
        # Copies `content` if it is the device's own memory.
        data: Any = content if obj._storage.ptr is None else np.array(content)
        return received, (header, [pickle.PickleBuffer(data)])


def _for_device(value: Any) -> Any:
    if not isinstance(value, Spilled):
        return value
    # Read-only, so that the tensor is a copy in the pool's memory and counts there.
    return pickle.loads(value.text, buffers=[a.data.toreadonly() for a in value.arrays])


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
