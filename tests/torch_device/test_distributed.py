"""torch.distributed: two processes, one of which has a device with memory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

if not dist.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)

PROGRAM = """
import sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import ftensor.torch
from ftensor._device import default_backend, found_of
from ftensor.torch.memory import where
from tests.torch_device.test_distributed import batch, model

rank, file = int(sys.argv[1]), sys.argv[2]
backend = default_backend()
if rank and hasattr(backend, "cl_device"):
    platform = backend.cl_device.platform
    found_of(where())._backend = type(backend)(
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
dist.destroy_process_group()
"""


def model(seed: int) -> nn.Module:
    """DistributedDataParallel begins with the first process' parameters."""
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
