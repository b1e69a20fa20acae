"""torch.distributed: two processes, one of which has a device with its own memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

import ftensor.torch  # noqa: F401

if not dist.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)

from torch.distributed.fsdp import fully_shard

PROGRAM = """
import copy, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
import ftensor.torch
from ftensor._device import default_backend, detected_device
from ftensor.torch.memory import device_of_calls
from tests.torch_device.test_distributed import batch, model

rank, file = int(sys.argv[1]), sys.argv[2]
backend = default_backend()
if rank and hasattr(backend, "cl_device"):
    platform = backend.cl_device.platform
    detected_device(device_of_calls())._backend = type(backend)(
        backend.target, platform, backend.cl_device, host_shared=False
    )
dist.init_process_group(
    "fpga", init_method=f"file://{file}", rank=rank, world_size=2, timeout=timedelta(seconds=300)
)

def tensor(*values):
    return torch.tensor(values, device="fpga")

x = tensor(1.0, 2.0) * (rank + 1)
dist.all_reduce(x)
assert x.tolist() == [3, 6]
index = tensor(0, 0)
dist.broadcast(index if rank else index.add_(1), 0)
assert x[index].tolist() == [6, 6]
later = dist.all_reduce(x[1:], dist.ReduceOp.MAX, async_op=True)
later.wait()
assert x.tolist() == [3, 6]
parts = [tensor(0, 0), tensor(0, 0)]
dist.all_gather(parts, tensor(rank, 7))
assert [p.tolist() for p in parts] == [[0, 7], [1, 7]]
got = tensor(0.0, 0.0)
both = [dist.P2POp(dist.irecv, got, 1 - rank), dist.P2POp(dist.isend, x + rank, 1 - rank)]
for work in dist.batch_isend_irecv(both):
    work.wait()
assert got.tolist() == [4 - rank, 7 - rank], got
on_cpu = torch.ones(2)
dist.all_reduce(on_cpu)
assert on_cpu.tolist() == [2, 2]

trained = DistributedDataParallel(model(rank).to("fpga"))
optimizer = torch.optim.SGD(trained.parameters(), 0.1)
for step in range(3):
    optimizer.zero_grad()
    trained(batch(step)[4 * rank : 4 * rank + 4].to("fpga")).square().mean().backward()
    optimizer.step()
torch.save([p.cpu() for p in trained.module.parameters()], f"{file}.{rank}")

torch.manual_seed(0)  # fully_shard takes each process' own part
whole = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
alone = copy.deepcopy(whole)
synced = nn.SyncBatchNorm.convert_sync_batchnorm(whole).to("fpga")
fully_shard(synced[0])
fully_shard(synced)
optimizers = [torch.optim.SGD(net.parameters(), 0.1) for net in (synced, alone)]
for step in range(2):
    parts = batch(step)[4 * rank : 4 * rank + 4].to("fpga"), batch(step)
    for net, optimizer, x in zip((synced, alone), optimizers, parts):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
for p, q in zip(synced.parameters(), alone.parameters()):
    torch.testing.assert_close(p.full_tensor().cpu(), q.detach(), rtol=1e-4, atol=1e-5)
dist.destroy_process_group()
"""


def model(seed: int) -> nn.Module:
    """Returns a network. DistributedDataParallel starts with the first process' parameters."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def batch(step: int) -> torch.Tensor:
    return torch.randn(8, 3, generator=torch.Generator().manual_seed(step))


@pytest.mark.long
def test_two_processes_train_as_one(tmp_path: Path) -> None:
    file = tmp_path / "store"
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(file)],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"GLOO_SOCKET_IFNAME": "lo"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    said = [process.communicate(timeout=600)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(said)
    alone = model(0)
    optimizer = torch.optim.SGD(alone.parameters(), 0.1)
    for step in range(3):
        optimizer.zero_grad()
        alone(batch(step)).square().mean().backward()
        optimizer.step()
    for rank in (0, 1):
        for p, q in zip(torch.load(f"{file}.{rank}"), alone.parameters(), strict=True):
            torch.testing.assert_close(p, q.detach())


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[None]:
    """Makes a process group of this process alone."""
    dist.init_process_group("fpga", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("option", ["find_unused_parameters", "static_graph", "gradient_as_bucket_view"])
def test_unused_parameters(option: str) -> None:
    """torch allocates pinned memory to report which parameters were used."""
    net = model(0).to("fpga")
    if option != "gradient_as_bucket_view":
        net.register_parameter("unused", nn.Parameter(torch.ones(2, device="fpga")))
    trained = nn.parallel.DistributedDataParallel(net, **{option: True})
    for _ in range(2):
        trained(batch(0).to("fpga")).square().mean().backward()
    wanted = model(0)
    for _ in range(2):
        wanted(batch(0)).square().mean().backward()
    for p, q in zip(net[0].parameters(), wanted[0].parameters()):
        assert p.grad is not None and q.grad is not None
        torch.testing.assert_close(p.grad.cpu(), q.grad)


@pytest.mark.usefixtures("alone")
def test_shards_are_freed_between_uses() -> None:
    net, wanted = model(0).to("fpga"), model(0)
    fully_shard(net[0])
    fully_shard(net)
    for each, device in ((net, "fpga"), (wanted, "cpu")):
        optimizer = torch.optim.SGD(each.parameters(), 0.1)
        for step in range(2):
            optimizer.zero_grad()
            each(batch(step).to(device)).square().mean().backward()
            optimizer.step()
    for p, q in zip(net.parameters(), wanted.parameters()):
        torch.testing.assert_close(p.full_tensor().cpu(), q.detach())  # type: ignore[attr-defined]


@pytest.mark.usefixtures("alone")
def test_gathered_parts_are_contiguous() -> None:
    """The destination may have any shape."""
    out = torch.zeros(1, 4, device="fpga")
    dist.all_gather_into_tensor(out, torch.arange(4.0, device="fpga"))
    assert out.tolist() == [[0, 1, 2, 3]]
    part = torch.zeros(2, 2, device="fpga")
    dist.reduce_scatter_tensor(part, torch.arange(4.0, device="fpga").view(4))
    assert part.tolist() == [[0, 1], [2, 3]]
