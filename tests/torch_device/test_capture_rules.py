"""Memory, streams, interrupts and versions of captures."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import ftensor.torch
from ftensor._device import default_backend
from ftensor.execute.capture import Recording

from .device import quiet  # noqa: F401

pytestmark = pytest.mark.skipif(default_backend().built_ahead, reason="launches of images are not captured")


def graph_of(step: Callable[[], Any], **options: Any) -> tuple[Any, Any]:
    """A graph of a step, and the step's result."""
    step()
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g, **options):
        result = step()
    return g, result


def chain(x: torch.Tensor, length: int = 12) -> torch.Tensor:
    """Large intermediate tensors, which no call uses at the same time as that before the last one."""
    for k in range(length):
        x = torch.cat((x, x))[: len(x)] * (1 + k / 64)
    return x


def test_intermediate_tensors_share_memory() -> None:
    x = torch.arange(1000.0, device="fpga")
    g, y = graph_of(lambda: chain(x))
    wanted = chain(x).tolist()
    y.zero_()
    g.replay()
    assert y.tolist() == wanted
    assert g.launches >= 24 and g.nbytes <= 6 * 8000


def test_graphs_of_a_pool_share_memory() -> None:
    """Also a function's signatures; their results stay apart."""
    x, z = torch.arange(1000.0, device="fpga"), torch.ones(1000, device="fpga")
    pool = torch.fpga.graph_pool_handle()
    first, y = graph_of(lambda: chain(x), pool=pool)
    count = len(pool.storages)
    second, w = graph_of(lambda: chain(z), pool=first.pool())
    assert count and len(pool.storages) == count
    wanted = chain(x).tolist(), chain(z).tolist()
    for _ in range(2):
        first.replay()
        second.replay()
    assert (y.tolist(), w.tolist()) == wanted
    with pytest.raises(TypeError, match="graph_pool_handle"), torch.fpga.graph(torch.fpga.FPGAGraph(), pool=(0, 1)):
        pass
    captured = ftensor.torch.capture(chain, pool=pool)
    for k in range(4):
        for length in (3, 5):
            assert captured(x + k, length).tolist() == chain(x + k, length).tolist()
    assert [row.state for row in captured.report()] == ["captured"] * 2 and len(pool.storages) == count


def test_captures_and_replays_leak_nothing() -> None:
    backend, x = default_backend(), torch.ones(50, device="fpga")
    graph_of(lambda: chain(x))
    torch.fpga.synchronize()
    before = backend.pool.allocated
    for _ in range(50):
        g, y = graph_of(lambda: chain(x))
        g.replay()
        del g, y
    torch.fpga.synchronize()
    assert backend.pool.allocated == before
    g, y = graph_of(lambda: x + 1)
    blocks, reserved = len(backend.pool.blocks), backend.pool.reserved
    for _ in range(3000):
        g.replay()
    torch.fpga.synchronize()
    assert (len(backend.pool.blocks), backend.pool.reserved) == (blocks, reserved)
    g.reset()
    del y
    assert backend.pool.allocated == before


def test_another_stream_in_a_capture_is_refused() -> None:
    x = torch.ones(3, device="fpga")
    raised, other = pytest.raises(RuntimeError, match="another stream"), torch.fpga.stream(torch.fpga.Stream())
    with raised, torch.fpga.graph(torch.fpga.FPGAGraph()), other:
        x + 1
    assert not torch.fpga.is_current_stream_capturing()


def test_replays_on_several_streams_are_ordered() -> None:
    total = torch.zeros(1 << 21, device="fpga")

    def step() -> None:
        total.add_(1)
        total.mul_(2)

    g, _ = graph_of(step)
    total.zero_()
    torch.fpga.synchronize()
    streams = [torch.fpga.Stream() for _ in range(3)]
    for k in range(12):
        with torch.fpga.stream(streams[k % 3]):
            g.replay()
    torch.fpga.synchronize()
    assert total.min().item() == total.max().item() == 2**13 - 2


def test_ctrl_c_in_a_replay_leaves_all_consistent() -> None:
    """Written memory has forgotten its values, checks are pending, and the graph replays again."""
    x, index = torch.zeros(3, device="fpga"), torch.tensor([1, 2], device="fpga")
    g, _ = graph_of(lambda: (x[index], x.add_(1)))
    calls = g._recording.calls
    x.zero_()

    class Interrupted:
        def enqueue(self, *args: Any) -> None:
            storage.derived = "of the former values"
            raise KeyboardInterrupt

    index.copy_(torch.tensor([1, 7]))
    storage = ftensor.torch.to_ftensor(x)._storage
    last = calls[-1]
    calls.append(last._replace(launch=Interrupted()))
    with pytest.raises(KeyboardInterrupt):
        g.replay()
    del calls[-1]
    assert storage.derived is None
    with pytest.raises(IndexError, match="7"):
        torch.fpga.synchronize()
    index.copy_(torch.tensor([1, 2]))
    g.replay()
    assert x.tolist() == [2] * 3


def test_a_replay_inside_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a signal's handler or another thread would begin it."""
    x = torch.zeros(3, device="fpga")
    g, _ = graph_of(lambda: x.add_(1))
    errors: list[Exception] = []

    def nested(self: Recording) -> None:
        try:
            thread = threading.Thread(target=attempt)
            thread.start()
            thread.join()
        finally:
            monkeypatch.undo()

    def attempt() -> None:
        try:
            g.replay()
        except RuntimeError as error:
            errors.append(error)

    monkeypatch.setattr(Recording, "_draw", nested)
    x.zero_()
    g.replay()
    assert len(errors) == 1 and "is replaying this graph" in str(errors[0])
    assert x.tolist() == [1] * 3


def test_a_replay_after_a_fork_is_refused() -> None:
    x = torch.ones(3, device="fpga")
    g, _ = graph_of(lambda: x.add_(1))
    x.zero_()
    torch.fpga.synchronize()
    child = os.fork()
    if not child:
        try:
            g.replay()
        except RuntimeError as error:
            os._exit(7 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    g.replay()
    assert x.tolist() == [1] * 3


def test_a_replay_advances_versions_of_parameters() -> None:
    """A graph of autograd from before a replay does not use the values from after it."""
    model = nn.Linear(2, 2).to("fpga")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    @ftensor.torch.capture
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    x = torch.ones(1, 2, device="fpga")
    for _ in range(4):
        step(x)
    assert step.report()[0].state == "captured"
    before = model.weight._version
    loss = (model.weight * model.weight.clone().requires_grad_()).sum()
    step(x)
    assert model.weight._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
