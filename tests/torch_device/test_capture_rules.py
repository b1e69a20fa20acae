"""Memory, streams, interrupts and version counters of captures."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import ftensor.torch
from ftensor._device import default_backend
from ftensor.execute.capture import Recording
from ftensor.runtime import discovery
from ftensor.runtime.stream import DeviceStream

from .device import needs_every_kernel, quiet  # noqa: F401

pytestmark = needs_every_kernel


def graph_of(step: Callable[[], Any], **options: Any) -> tuple[Any, Any]:
    """Returns a graph of a step, and the step's result."""
    step()
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g, **options):
        result = step()
    return g, result


def chain(x: torch.Tensor, length: int = 12) -> torch.Tensor:
    """Makes large intermediate tensors. No call uses one together with the last but one."""
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
    """This includes the signatures of a function. Their results stay separate."""
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


def test_tensor_does_not_share_a_smaller_storage() -> None:
    """It would fit into the storage's block, which served a larger tensor before."""
    small, large = torch.ones(128, device="fpga"), torch.ones(192, device="fpga")
    torch.fpga.empty_cache()
    blocks = [torch.empty(192, device="fpga") for _ in range(8)]
    del blocks
    g, _ = graph_of(lambda: ((small + 1) * 2).sum() + ((large + 1) * 2).sum())
    assert g._recording is not None
    for call in g._recording.calls:
        for x in call.tensors:
            last = x._offset + sum((n - 1) * s for n, s in zip(x._shape, x._strides))
            assert (last + 1) * x._dtype.itemsize <= x._storage.nbytes


def test_captures_and_replays_do_not_leak_memory() -> None:
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


@pytest.mark.parametrize(
    ("name", "message"), [("upload", "copies values from the host"), ("download", "reads or writes")]
)
def test_host_copy_in_a_capture_is_refused(name: str, message: str) -> None:
    """This holds for a device with its own memory. Others read and write in place."""
    x, values = torch.zeros(3, device="fpga"), np.ones(3, np.float32)
    copy = getattr(default_backend(), name)
    with pytest.raises(RuntimeError, match=message), torch.fpga.graph(torch.fpga.FPGAGraph()):
        copy(ftensor.torch.to_ftensor(x)._storage, 0, values)
    assert x.tolist() == [0, 0, 0] and values.tolist() == [1, 1, 1]


def test_other_stream_in_a_capture_is_refused() -> None:
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


def test_replay_on_another_stream_waits_for_the_previous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replays of one pool share intermediate memory, so graphs without a common tensor are ordered,
    too."""
    waits, wait = list[tuple[Any, Any]](), DeviceStream.wait_stream
    monkeypatch.setattr(DeviceStream, "wait_stream", lambda self, last: (waits.append((self, last)), wait(self, last)))
    x, z, pool = torch.ones(100, device="fpga"), torch.ones(100, device="fpga"), torch.fpga.graph_pool_handle()
    (first, _), (second, _) = graph_of(lambda: chain(x), pool=pool), graph_of(lambda: chain(z), pool=pool)
    first.replay()
    before = default_backend().current_stream()
    with torch.fpga.stream(torch.fpga.Stream()):
        after = default_backend().current_stream()
        waits.clear()
        second.replay()
    assert after is not before and (after, before) in waits
    torch.fpga.synchronize()


def test_ctrl_c_in_a_replay_keeps_state_consistent() -> None:
    """Cached values of written memory are dropped, checks are pending, and the graph can be
    replayed."""
    x, index = torch.zeros(3, device="fpga"), torch.tensor([1, 2], device="fpga")
    g, _ = graph_of(lambda: (x[index], x.add_(1)))
    parts = g._recording.parts
    x.zero_()

    def interrupted(stream: Any) -> None:
        storage.derived = "of the former values"
        raise KeyboardInterrupt

    index.copy_(torch.tensor([1, 7]))
    storage = ftensor.torch.to_ftensor(x)._storage
    parts.append(interrupted)
    with pytest.raises(KeyboardInterrupt):
        g.replay()
    del parts[-1]
    assert storage.derived is None
    with pytest.raises(IndexError, match="7"):
        torch.fpga.synchronize()
    index.copy_(torch.tensor([1, 2]))
    g.replay()
    assert x.tolist() == [2] * 3


def test_nested_replay_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler or another thread could start one."""
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


def test_replay_after_a_fork_is_refused() -> None:
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


def test_replay_advances_versions_of_parameters() -> None:
    """An autograd graph from before a replay does not use the values from after it."""
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


def test_arguments_at_the_same_address_are_not_copied() -> None:
    """The step writes a cache in place. Once it comes at another address, it is copied."""

    @ftensor.torch.capture
    def step(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        cache += x
        return cache * 2

    def fresh(value: float) -> torch.Tensor:
        return torch.full((3,), value, device="fpga")

    cache = fresh(0)
    for k in range(1, 6):
        assert step(cache, fresh(1)).tolist() == [2 * k] * 3 and cache.tolist() == [k] * 3
    (entry,) = step.entries.values()
    assert entry.inputs[0] is cache and entry.arguments.static == [True, False]
    held = []
    for k in range(6):
        held.append(other := fresh(k))
        assert step(other, fresh(1)).tolist() == [2 * k + 2] * 3 and other.tolist() == [k + 1] * 3
    assert cache.tolist() == [5] * 3
    (entry,) = step.entries.values()
    assert entry.graph is not None and entry.arguments.static == [False, False]


def test_step_without_arguments_is_captured() -> None:
    """It reads tensors from outside in place."""
    x = torch.ones(3, device="fpga")
    step = ftensor.torch.capture(lambda: x * 2 + 1)
    for k in range(5):
        x.fill_(k)
        assert step().tolist() == [2 * k + 1] * 3
    assert [row.state for row in step.report()] == ["captured"]


def test_report_says_why_calls_have_no_signature() -> None:
    """One row for each reason, with the number of calls."""
    x = torch.ones(3, device="fpga")
    step = ftensor.torch.capture(lambda x, other=None: x * 2)
    for _ in range(2):
        step(torch.ones(3))
    step(x.clone().requires_grad_())
    step(x, {"scale": 2j})
    with torch.autocast("fpga"):
        step(x)
    rows = step.report()
    assert {(row.state, row.launches) for row in rows} == {("refused", 0)}
    assert [row.calls for row in rows] == [2, 1, 1, 1]
    wanted = "on cpu: move it", "needs a gradient: detach", "holds a complex", "autocast inside the function"
    for row, text in zip(rows, wanted, strict=True):
        assert text in row.reason
    for k in range(17):
        step(x, k)
    assert step.report()[-1].reason == "16 other signatures came before"


def test_refusal_names_the_op() -> None:
    """`x[index]` with an index on the CPU, which a kernel with a way to the host takes."""
    step = ftensor.torch.capture(lambda x: x[torch.arange(2)])
    for _ in range(3):
        step(torch.ones(3, device="fpga"))
    assert step.report()[0].reason.startswith("index reads or writes values on the host")


def test_capture_with_reads_kept() -> None:
    """The step reads values on the host that do not change. An op on the host is still refused."""

    def step(x: torch.Tensor) -> torch.Tensor:
        scale = 2.0 if (x > 0).all() else 0.5
        y = x * scale + torch.tensor([1.0, 2.0, 3.0]).to("fpga")
        return y.neg().neg().neg().neg()  # in memory other than the constants'

    captured = ftensor.torch.capture(step, reads="keep")
    for k in range(1, 7):
        x = torch.full((3,), float(k), device="fpga")
        assert captured(x).tolist() == [2 * k + 1, 2 * k + 2, 2 * k + 3]
    assert captured.report()[0].state == "captured"
    host = ftensor.torch.capture(lambda x: torch.linalg.eigvals(x.view(3, 1) * x).real, reads="keep")
    for _ in range(4):
        host(x)
    assert "the host computes" in host.report()[0].reason
    with pytest.raises(ValueError, match="'refuse' or 'keep'"):
        ftensor.torch.capture(step, reads="never")


def test_module_is_captured() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6)).to("fpga").requires_grad_(False)
    wanted = torch.nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6)).to("fpga").requires_grad_(False)
    wanted.load_state_dict(model.state_dict())
    captured = ftensor.torch.capture(model)
    for _ in range(5):
        x = torch.randn(8, 6).to("fpga")
        assert captured(x).tolist() == wanted(x).tolist()
    (row,) = captured.report()
    assert (row.function, row.state) == ("Sequential", "captured")
    assert torch.equal(model[1].running_mean.cpu(), wanted[1].running_mean.cpu())


PROGRAM = """
import torch, ftensor as ft, ftensor.torch
from torch import nn
ft.set_fallback("silent")

def training():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Dropout(0.25), nn.Linear(8, 3)).to("fpga")
    optimizer = torch.optim.AdamW(model.parameters(), 0.01, fused=True)
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return model, step

(eager, step), (other, function) = training(), training()
captured = ftensor.torch.capture(function)
for k in range(6):
    x, y = torch.randn(4, 6).to("fpga"), torch.randint(3, (4,)).to("fpga")
    losses = []
    for one in (step, captured):
        torch.manual_seed(k)
        losses.append(one(x, y).item())
    assert losses[0] == losses[1], (k, losses)
    assert all(p.tolist() == q.tolist() for p, q in zip(eager.parameters(), other.parameters()))
assert captured.report()[0].state == "captured", captured.report()
"""


@pytest.mark.long
@pytest.mark.parametrize("target", ["pocl", "csim"])
def test_captured_training_step_on_other_devices(target: str) -> None:
    if not discovery.select(target, discovery.find()):
        pytest.skip(f"{target} is not installed")
    env = {**os.environ, "FTENSOR_DEVICE": target}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_graph_report_lists_captures() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    captured = ftensor.torch.capture(doubled)
    for _ in range(4):
        captured(torch.ones(3, device="fpga"))
    report = ftensor.torch.graph_report()
    assert [row.launches for row in report.captures if row.function == "doubled"] == [1]
    assert "doubled" in str(report)


@pytest.mark.parametrize("backend", ["ftensor", "inductor"])
def test_compiled_with_less_overhead(backend: str) -> None:
    """Without gradients the graph is captured, and weights are read in place."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3)).to("fpga")
    fast = torch.compile(model, backend=backend, mode="reduce-overhead")
    before = len(ftensor.torch.graph_report().captures)
    with torch.no_grad():
        for k in range(6):
            x = torch.randn(4, 6).to("fpga")
            assert torch.equal(fast(x).cpu(), model(x).cpu())
            if k == 4:
                model[0].weight.mul_(2)
    rows = ftensor.torch.graph_report().captures
    assert len(rows) == before + 1 and "captured" in {row.state for row in rows}


def test_indices_of_a_compiled_graph_are_checked_in_replays() -> None:
    table = torch.randn(4, 3).to("fpga")
    fast = torch.compile(lambda index: table[index].exp() + 1, backend="ftensor", mode="reduce-overhead")
    before = len(ftensor.torch.graph_report().captures)
    with torch.no_grad():
        for k in range(5):
            index = torch.tensor([k % 4, 2]).to("fpga")
            assert torch.allclose(fast(index).cpu(), table.cpu()[index.cpu()].exp() + 1)
        row = ftensor.torch.graph_report().captures[before]
        assert row.state == "captured", row.reason
        fast(torch.tensor([1, 9]).to("fpga"))
        with pytest.raises(IndexError, match="9"):
            torch.fpga.synchronize()
        assert torch.allclose(fast(index).cpu(), table.cpu()[index.cpu()].exp() + 1)


def test_graphed_callables() -> None:
    """Training with replayed passes has eager's bits, and earlier results keep their values."""

    def make() -> tuple[nn.Module, nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(0)
        first, second = nn.Sequential(nn.Linear(6, 8), nn.GELU()).to("fpga"), nn.Linear(8, 3).to("fpga")
        return first, second, torch.optim.SGD([*first.parameters(), *second.parameters()], 0.1)

    eager, graphed = make(), make()
    sample = torch.randn(4, 6).to("fpga")
    hidden = torch.randn(4, 8).to("fpga").requires_grad_()
    first, second = torch.fpga.make_graphed_callables(graphed[:2], ((sample,), (hidden,)))
    assert first is graphed[0]
    kept: list[torch.Tensor] = []
    for k in range(4):
        x, values = torch.randn(4, 6).to("fpga"), []
        for one, two, optimizer in (eager, graphed):
            y = two(one(x))
            y.square().mean().backward()
            if k % 2:  # gradients accumulate over two calls
                optimizer.step()
                optimizer.zero_grad()
            values.append([y.tolist(), *[p.tolist() for p in (*one.parameters(), *two.parameters())]])
            kept.append(y.detach())
        assert values[0] == values[1]
    assert torch.equal(kept[0].cpu(), kept[1].cpu())
    with pytest.raises(TypeError, match="sample arguments"):
        torch.fpga.make_graphed_callables(second, (torch.ones(4, 8),))
