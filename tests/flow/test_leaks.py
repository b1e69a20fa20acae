"""Memory of a process levels off over 55,000 ops of many kinds, or more where memory grew, on
changing streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.runtime import discovery

pytestmark = pytest.mark.long
TARGETS = sorted({f.target.name for f in discovery.find() if f.target.kind in ("cpu", "csim")})

PROGRAM = """
import gc, os
import numpy as np
import ftensor as ft

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

kept = ft.from_numpy(np.arange(1, 241, dtype=np.float32).reshape(12, 20).copy())
weights, places, own = kept.t().clone(), ft.tensor([3, 0, 7]), kept.clone()

def request(k):
    '''50 ops on a stream of their own, all of which read what outlives it.'''
    stream = ft.fpga.Stream()
    stream.wait_stream(ft.fpga.default_stream())
    with ft.fpga.stream(stream):
        for n in range(5):
            x = kept * 0.5 + n
            x.add_(own).clamp_(max=9)
            y = (x @ weights)[1:, ::2]
            part = y[places].sum(0, keepdim=True).exp()
            part = ft.where(part > k, part, -part).to(ft.float64)
            total = ft.cat([part, part]).amax().item()
    if k % 3:
        ft.fpga.default_stream().wait_stream(stream)
        own.copy_(kept)
    event = stream.record_event()
    if k % 7 == 0:
        shared = own.numpy()
    assert total == total
    return 50

def work(count):
    done = 0
    while done < count:
        done += request(done)
    ft.synchronize()
    gc.collect()

def held():
    stats = ft.fpga.memory_stats()
    return [stats[name] for name in ("kernels", "streams", "allocated_bytes.all.current")]

work(5_000)
before, more = held(), []
assert before[:2] == [before[0], 1] and 0 < before[0] < 60, before
for _ in range(4):
    start, reserved = rss(), ft.fpga.memory_reserved()
    work(25_000)
    assert held() == before, (held(), before, ft.fpga.memory_stats())
    assert ft.fpga.memory_reserved() <= reserved
    more.append(rss() - start)
    if len(more) > 1 and min(more) < 1 << 20:
        break
print(min(more), more)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_memory_of_a_process_levels_off(target: str) -> None:
    env = {**os.environ, "FTENSOR_DEVICE": target, "PYTHONPATH": str(Path(ft.__file__).parents[1])}
    env.pop("FTENSOR_IMAGE", None)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    # The host's lead over the device, and so the runtime's memory, differs between quarters.
    assert int(done.stdout.split()[0]) < 1 << 20, done.stdout
