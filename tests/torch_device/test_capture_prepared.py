"""Replays of prepared kernel calls: order, arguments, kernel objects, temporaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.capture import Recording, capture_stream

from .device import needs_every_kernel

pytestmark = needs_every_kernel


def recorded(step: Callable[[], Any]) -> Recording:
    step()
    with capture_stream(default_backend()) as capture:
        step()
    capture.share_memory()
    return capture.recording


def test_replay_runs_after_pending_work() -> None:
    """Small kernels might otherwise run at once, in the calling thread."""
    large, x = ft.ones(1 << 22), ft.zeros(8)
    head = large[:8]

    def step() -> None:
        large.mul_(2)
        x.add_(head)
        large.mul_(0.5)

    recording = recorded(step)
    x.zero_()
    for _ in range(20):
        large.add_(0)
        recording.replay()
    assert x.tolist() == [40.0] * 8 and large[-1].item() == 1


def test_numbers_that_differ_only_in_sign() -> None:
    """Consecutive calls of one kernel set only the arguments that differ."""
    x, y, z = ft.empty(3), ft.empty(3), ft.empty(3)

    def step() -> None:
        x.fill_(0.0)
        y.fill_(-0.0)
        z.fill_(0.0)

    recording = recorded(step)
    for t in (x, y, z):
        t.fill_(5)
    recording.replay()
    assert [(1 / t).tolist()[0] for t in (x, y, z)] == [float("inf"), float("-inf"), float("inf")]


def test_replay_returns_its_kernel_objects() -> None:
    x = ft.zeros(8)
    recording = recorded(lambda: x.add_(1).mul_(2).add_(3))
    kernels = [bound.kernel for call in recording.calls for bound in call.launch.bound or ()]
    objects = [found for run in kernels if (found := getattr(run, "objects", None)) is not None]
    before = [len(one.free) for one in objects]
    for _ in range(100):
        recording.replay()
    assert [len(one.free) for one in objects] == before
    default_backend().synchronize()


def test_temporaries_of_launches_share_memory() -> None:
    """Temporaries of other sizes share it, too: each block has the size of the largest."""
    x = ft.randn(64, 4096)
    recording = recorded(lambda: [x[:n].sum() + x[:, :n].amax() for n in (64, 8, 40)])
    sizes = [call.launch.temporaries for call in recording.calls]
    units = default_backend().properties.multi_processor_count
    assert any(sizes) or units == 1, "no launch of this step has temporaries"
    temporaries = recording.pool.temporaries
    assert len(temporaries) == max(map(len, sizes))
    assert sum(s.nbytes for s in temporaries) == max(map(sum, sizes))
    wanted = (x.sum() + x[:, :64].amax()).item()
    first = recording.calls[-1].tensors[0]
    first.fill_(0)
    recording.replay()
    x40 = (x[:40].sum() + x[:, :40].amax()).item()
    assert first.item() == x40 and wanted == (x[:64].sum() + x[:, :64].amax()).item()
