"""Dask workers with one device each: tensors sent between them, spilled to the host, and results."""

from __future__ import annotations

import gc
import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor.runtime import discovery

pytest.importorskip("distributed")
pytest.importorskip("dask.array")

from dask.sizeof import sizeof
from dask.tokenize import tokenize
from distributed.protocol import deserialize, serialize

import ftensor.dask
from ftensor.dask.memory import DeviceMemory, Spilled

ROOT = Path(__file__).parents[2]
NAMES = [f.target.name for f in discovery.find() if f.target.name in ("intel-cpu", "pocl", "csim")]
DEVICES = (NAMES * 2)[:2]  # the same device twice if there is only one

CLUSTER = """
import logging, sys
import dask
import ftensor as ft, ftensor.dask
from distributed import Client, LocalCluster, wait

METHOD, *DEVICES = sys.argv[1:]

def device():
    import os
    return os.environ["FTENSOR_DEVICE"], ft.get_device_mapping()

def total(*tensors):
    return sum(t.sum().item() for t in tensors)

def made(k):
    return ft.full((1 << 18,), float(k))

def spilled(dask_worker):
    return dask_worker.data.spilled

def limit(dask_worker):
    return dask_worker.state.total_resources

if __name__ == "__main__":
    dask.config.set({"distributed.worker.multiprocessing-method": METHOD})
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR,
            data=ftensor.dask.DeviceMemory, env={"FTENSOR_MEMORY_LIMIT": str(16 << 20)},
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(ftensor.dask.OwnDevice(DEVICES))
        found = client.run(device)
        assert sorted(found.values()) == sorted((d, d) for d in DEVICES), found
        one, other = found
        assert all(r["fpga"] == 1 for r in client.run(limit).values())
        if METHOD == "spawn":
            # 16 MiB on each worker, of which 8 may stay on its device.
            parts = [client.submit(made, k, workers=[(one, other)[k % 2]], pure=False)
                     for k in range(32)]
            wait(parts)
            assert min(client.run(spilled).values()) >= 4, client.run(spilled)
            # Each worker gets half of what it sums from the other.
            with dask.annotate(resources={"fpga": 1}):
                sums = [client.submit(total, *parts[k:k + 4]) for k in range(0, 32, 4)]
            assert sum(client.gather(sums)) == sum(range(32)) * (1 << 18)
            crossed = [client.submit(total, *parts[:2], workers=[w], pure=False) for w in found]
            assert client.gather(crossed) == [1 << 18, 1 << 18]
            assert client.gather(parts[3])[:2].tolist() == [3, 3]
        else:
            assert client.submit(total, client.scatter(ft.ones(5))).result() == 5
    print("done")
"""


def run_cluster(method: str, folder: Path) -> str:
    program = folder / "program.py"
    program.write_text(CLUSTER)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), method, *DEVICES],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.long  # interpreters of a cluster; the tests below check each step in one process
def test_workers_with_devices_send_and_spill(tmp_path: Path) -> None:
    assert run_cluster("spawn", tmp_path) == "done\n"


@pytest.mark.long
def test_workers_may_be_forked(tmp_path: Path) -> None:
    assert run_cluster("fork", tmp_path) == "done\n"


def through(t: ft.Tensor) -> tuple[list[memoryview], ft.Tensor]:
    """Returns the frames of a sent tensor, and the received tensor."""
    header, frames = serialize(t)
    return frames, deserialize(header, [bytearray(f) for f in frames])


def test_tensor_is_sent_without_a_copy_and_views_only_their_part() -> None:
    x = ft.arange(24.0).reshape(4, 6)
    (frame,), received = through(x)
    if x.data_ptr():
        assert np.asarray(frame).ctypes.data == x.data_ptr()
    assert received.equal(x) and received.add_(1)[0, 0].item() == 1
    for view, nbytes in ((x[1:3], 48), (x[:, 1], 16), (x.t(), 96), (x[:1].expand(5, 6), 24)):
        (frame,), received = through(view)
        assert frame.nbytes == nbytes and received.equal(view)
    for t in (ft.ones(0, 3), ft.tensor(3), ft.ones(3, dtype=ft.bfloat16), ft.tensor([True])):
        received = through(t)[1]
        assert received.equal(t) and received.dtype is t.dtype and received.shape == t.shape
    assert x.t().stride() == through(x.t())[1].stride()


def test_reported_names_and_sizes_are_the_elements() -> None:
    x = ft.arange(6.0)
    assert sizeof(x) == 24
    assert tokenize(x) == tokenize(ft.arange(6.0)) == tokenize(x.reshape(2, 3).reshape(6))
    others = [x + 1, x.reshape(2, 3), x.to(ft.float64), x.reshape(2, 3).t()]
    assert len({tokenize(t) for t in (x, *others)}) == 5


def test_tensors_are_spilled_to_the_host_and_return(tmp_path: Path) -> None:
    pool = ft.ones(1)._storage.backend.pool
    before = pool.make_room
    try:
        memory = DeviceMemory(str(tmp_path), share=4000 / pool.limit)
        memory["plain"] = 7
        base = ft.arange(500.0)
        memory["a"], memory["b"] = {"x": [base[100:200]]}, ft.ones(700)
        assert memory.spilled == 1 and not set(memory.fast) - {"b"}
        kept = memory.host["a"]
        assert isinstance(kept, Spilled) and [a.nbytes for a in kept.arrays] == [400]
        base.zero_()  # the host has a copy
        (back,) = memory["a"]["x"]
        assert back.tolist() == list(range(100, 200)) and "a" in memory.fast
        assert memory["plain"] == 7 and "plain" not in memory.fast
        assert sorted(memory) == ["a", "b", "plain"] and len(memory) == 3
        while pool.make_room():
            pass
        assert not memory.fast and memory["b"].sum().item() == 700
        memory["a"] = 1  # replaces the tensor
        assert memory["a"] == 1 and "a" not in memory.fast
        del memory["a"], memory["b"], memory["plain"]
        assert not memory and not pool.make_room()
        assert memory.evict() == -1
    finally:
        pool.make_room = before


def test_full_device_requests_memory() -> None:
    pool = ft.ones(1)._storage.backend.pool
    gc.collect()  # what other tests have left would make room later
    ft.fpga.empty_cache()
    limit, make_room = pool.limit, pool.make_room
    held = []
    try:
        pool.limit = pool.reserved + (3 << 20)
        held = [ft.empty(1 << 18), ft.empty(1 << 18)]
        with pytest.raises(RuntimeError, match="no room"):
            ft.empty(1 << 19)
        asked = []

        def release() -> bool:
            asked.append(len(held))
            return bool(held) and held.pop() is not None

        pool.make_room = release
        assert ft.empty(1 << 19).nbytes == 1 << 21 and asked
        with pytest.raises(RuntimeError, match="no room"):
            ft.empty(1 << 40)  # nothing is released for a request that exceeds the device
        assert len(asked) <= 2
    finally:
        pool.limit, pool.make_room = limit, make_room


def test_workers_of_a_machine_take_different_devices() -> None:
    def worker(name: str) -> Any:
        scheduler = SimpleNamespace(address=f"tcp://test:{os.getpid()}")
        return SimpleNamespace(scheduler=scheduler, name=name)

    plugins = [pickle.loads(pickle.dumps(ftensor.dask.OwnDevice())) for _ in range(3)]
    taken = [plugin._take(worker("w"), ["a", "b"]) for plugin in plugins[:2]]
    assert taken == [0, 1]
    with pytest.raises(RuntimeError, match=r"worker w3 gets no device: a, b belong"):
        plugins[2]._take(worker("w3"), ["a", "b"])
    plugins[0].teardown(worker("w"))
    assert plugins[2]._take(worker("w3"), ["a", "b"]) == 0
    for plugin in plugins:
        plugin.teardown(worker("w"))


@pytest.mark.long
def test_signal_larger_than_a_device_is_searched_as_by_scipy() -> None:
    options = ["--devices", ",".join(DEVICES), "--samples", "300000", "--limit", "1"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "examples/recording.py", *options, "--chunk", "8192"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    off = [float(text) for text in re.findall(r"s, (\S+) of the peak", done.stdout)]
    spilled = [int(text) for text in re.findall(r"(\d+) chunks spilled", done.stdout)]
    assert len(off) == 2 and max(off) < 1e-5 and done.stdout.count("20 of 20 pulses") == 2
    assert len(spilled) == 3 and min(spilled) > 0


def test_locks_are_in_a_folder_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user can create the folder or a link first. Neither is used."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder, other = tmp_path / f"ftensor-dask-{os.getuid()}", tmp_path / "other"
    worker: Any = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://127.0.0.1:8786"), name="w")
    other.mkdir(mode=0o700)
    folder.symlink_to(other)
    with pytest.raises(RuntimeError, match=r"worker w can't note its device in .*TMPDIR"):
        ftensor.dask.OwnDevice(["cpu"])._take(worker, ["cpu"])
    folder.unlink()
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(RuntimeError, match="can be written by other users"):
        ftensor.dask.OwnDevice(["cpu"])._take(worker, ["cpu"])
    assert not list(other.iterdir()) and not list(folder.iterdir())
    folder.chmod(0o700)
    taken = ftensor.dask.OwnDevice(["cpu"])
    assert taken._take(worker, ["cpu"]) == 0
    (lock,) = folder.iterdir()
    taken.teardown(worker)
    lock.unlink()
    lock.symlink_to(other / "victim")
    with pytest.raises(OSError, match="symbolic links"):
        ftensor.dask.OwnDevice(["cpu"])._take(worker, ["cpu"])
    assert not (other / "victim").exists()
