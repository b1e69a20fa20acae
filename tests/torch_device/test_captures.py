"""Captured steps: a replay computes what the step computes, or the capture is refused."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import ftensor.torch

from .device import needs_every_kernel, quiet  # noqa: F401

pytestmark = needs_every_kernel
F = nn.functional
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1),
    "SGD with momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "AdamW, fused": lambda p: torch.optim.AdamW(p, 0.01, fused=True),
    "Adam, capturable": lambda p: torch.optim.Adam(p, 0.01, capturable=True),
}


class Training:
    """A small text classifier, its optimizer and its static inputs."""

    def __init__(self, optimizer: str) -> None:
        torch.manual_seed(0)
        layers = [nn.Embedding(11, 8), nn.Flatten(), nn.Linear(24, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4)]
        self.model = nn.Sequential(*layers).to("fpga")
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())

    def step(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def batches(count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    return [(torch.randint(0, 11, (5, 3)).to("fpga"), torch.randint(0, 4, (5,)).to("fpga")) for _ in range(count)]


def bits(*tensors: torch.Tensor) -> list[Any]:
    return [t.detach().cpu().numpy().tobytes() for t in tensors]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_captured_training_step_has_eagers_bits(name: str) -> None:
    eager, other = Training(name), Training(name)
    captured = ftensor.torch.capture(other.step)
    for x, y in batches(7):
        assert bits(eager.step(x, y)) == bits(captured(x, y))
        assert bits(*eager.model.parameters()) == bits(*other.model.parameters())
    (row,) = captured.report()
    assert row.state == "captured" and row.launches and row.nbytes


def test_graph_like_torch_cuda() -> None:
    g = torch.fpga.FPGAGraph()
    x, total = torch.ones(3, device="fpga"), torch.zeros(3, device="fpga")
    assert not torch.fpga.is_current_stream_capturing()
    with torch.fpga.graph(g, pool=torch.fpga.graph_pool_handle()):
        assert torch.fpga.is_current_stream_capturing()
        y = x * 2
        total += y
    x.copy_(torch.tensor([1.0, 2.0, 3.0]))
    g.replay()
    g.replay()
    assert y.tolist() == [2, 4, 6] and total.tolist() == [6, 10, 14]
    with pytest.raises(RuntimeError, match="reset"), torch.fpga.graph(g):
        pass
    g.reset()
    with pytest.raises(RuntimeError, match="holds no capture"):
        g.replay()


REFUSED: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "a value": (lambda x: x.sum().item(), "reads or writes values"),
    "a branch": (lambda x: x + 1 if x.sum() > 0 else x, "reads or writes values"),
    "an upload": (lambda x: x + torch.tensor([1.0, 2.0, 3.0]).to("fpga"), "reads or writes values"),
    "an op of the host": (lambda x: torch.linalg.eigvals(x.view(3, 1) * x), "the host computes"),
    "a seed": (lambda x: (torch.manual_seed(1), x + torch.rand(3, device="fpga"))[1], "reads or sets the state"),
    "a generator's state": (lambda x: (torch.fpga.get_rng_state(), x + 1)[1], "reads or sets the state"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_steps_a_replay_could_not_repeat_are_refused(name: str) -> None:
    """`torch.fpga.graph` names the op and its line; `capture` runs the function eagerly."""
    step, message = REFUSED[name]
    x = torch.tensor([1.0, 2.0, 3.0], device="fpga")
    for _ in range(2):
        step(x)
    with pytest.raises(RuntimeError, match=rf"(?s){message}.*\.py:\d+: "), torch.fpga.graph(torch.fpga.FPGAGraph()):
        step(x)
    assert not torch.fpga.is_current_stream_capturing()
    captured = ftensor.torch.capture(step)
    for _ in range(4):
        captured(x)
    (row,) = captured.report()
    assert row.state == "refused" and message.split()[0] in row.reason


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: torch.optim.Adam(p), "fused=True or capturable=True"),
        (lambda p: torch.optim.RMSprop(p), "may compute numbers"),
        (lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), "makes its first step"),
    ],
)
def test_optimizer_with_a_host_step_count_is_refused(make: Callable[..., Any], message: str) -> None:
    w = nn.Parameter(torch.ones(3, device="fpga"))
    optimizer = make([w])
    w.grad = torch.ones(3, device="fpga")
    with pytest.raises(RuntimeError, match=message), torch.fpga.graph(torch.fpga.FPGAGraph()):
        optimizer.step()


def test_changed_learning_rate_is_detected() -> None:
    training = Training("AdamW, fused")
    (x, y), *_ = batches(1)
    training.step(x, y)
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        training.step(x, y)
    training.optimizer.param_groups[0]["lr"] = 0.5
    with pytest.raises(RuntimeError, match=r"lr was 0\.01 at the capture and is 0\.5"):
        g.replay()


def test_added_parameter_group_is_detected() -> None:
    """A replay would not update its parameters."""
    training = Training("SGD")
    (x, y), *_ = batches(1)
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        training.step(x, y)
    training.optimizer.add_param_group({"params": [nn.Parameter(torch.ones(3, device="fpga"))]})
    with pytest.raises(RuntimeError, match="number of groups was 1 at the capture and is 2"):
        g.replay()


def test_indices_of_a_replay_are_checked() -> None:
    table, index = torch.arange(4.0, device="fpga"), torch.tensor([1, 2], device="fpga")
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        y = table[index]
    index.copy_(torch.tensor([3, 9]))
    g.replay()
    with pytest.raises(IndexError, match="9"):
        torch.fpga.synchronize()
    index.copy_(torch.tensor([3, 0]))
    g.replay()
    assert y.tolist() == [3, 0]


def test_memory_of_a_capture_is_reserved() -> None:
    """Blocks of intermediate tensors and arguments are not reused between replays."""
    x = torch.ones(1000, device="fpga")
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        y = ((x + 1) * 2).sqrt()
    wanted = bits(y)
    del x
    others = [torch.full((1000,), float(k), device="fpga") for k in range(8)]
    g.replay()
    assert bits(y) == wanted and [t[0].item() for t in others] == list(range(8))


def test_resized_static_tensor_is_detected() -> None:
    x = torch.ones(3, device="fpga")
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        x += 1
    x.resize_(2)  # in the same memory
    g.replay()
    assert x.tolist() == [3, 3]
    x.resize_(4000)
    with pytest.raises(RuntimeError, match="a tensor of 12 bytes that this graph uses was resized"):
        g.replay()
    assert x[:2].tolist() == [3, 3]


def test_other_threads_are_not_captured() -> None:
    x, y = torch.ones(3, device="fpga"), torch.ones(3, device="fpga")
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        thread = threading.Thread(target=lambda: y.add_(1))
        thread.start()
        thread.join()
        x += 1
    g.replay()
    assert x.tolist() == [3] * 3 and y.tolist() == [2] * 3
    assert g.launches == 1


def test_changed_weight_is_packed_again() -> None:
    """A convolution caches panels of its weight, which a captured step changes."""
    torch.manual_seed(0)
    x, w = torch.randn(1, 16, 12, 12, device="fpga"), torch.randn(32, 16, 3, 3, device="fpga")
    for _ in range(3):
        F.conv2d(x, w)
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        y = F.conv2d(x, w)
    w.mul_(2)
    g.replay()
    assert bits(y) == bits(F.conv2d(x, w.clone()))


def test_replay_that_writes_a_weight_drops_its_panels() -> None:
    torch.manual_seed(0)
    x, w = torch.randn(1, 16, 12, 12, device="fpga"), torch.randn(32, 16, 3, 3, device="fpga")
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g):
        w.mul_(2)
    for _ in range(3):
        F.conv2d(x, w)
    g.replay()
    assert bits(F.conv2d(x, w)) == bits(F.conv2d(x, w.clone()))


def test_nested_capture_is_refused() -> None:
    g, other = torch.fpga.FPGAGraph(), torch.fpga.FPGAGraph()
    with torch.fpga.graph(other):
        torch.ones(3, device="fpga") + 1
    with torch.fpga.graph(g):
        torch.ones(3, device="fpga") + 1
        with pytest.raises(RuntimeError, match="inside another capture"), torch.fpga.graph(torch.fpga.FPGAGraph()):
            pass
        with pytest.raises(RuntimeError, match="can't be replayed inside"):
            other.replay()


@pytest.mark.parametrize("where", ["inside", "outside", "never", "to zeros", "now and then"])
def test_cleared_gradients(where: str) -> None:
    """Parameters and gradients have eager's bits, no matter when and where the gradients are
    cleared."""

    class Cleared(Training):
        def step(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            if where == "inside":
                self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            return loss.detach()

    eager, other = Cleared("AdamW, fused"), Cleared("AdamW, fused")
    captured = ftensor.torch.capture(other.step)
    for k, (x, y) in enumerate(batches(9)):
        if where in ("outside", "to zeros") or (where == "now and then" and k in (0, 2, 3, 6)):
            for one in (eager, other):
                one.optimizer.zero_grad(set_to_none=where != "to zeros")
        assert bits(eager.step(x, y)) == bits(captured(x, y))
        assert bits(*eager.model.parameters()) == bits(*other.model.parameters())
        grads = [[p.grad for p in one.model.parameters()] for one in (eager, other)]
        assert bits(*grads[0]) == bits(*grads[1])  # type: ignore[arg-type]


def test_step_whose_gradients_are_used_outside_is_refused() -> None:
    training = Training("SGD")

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(training.model(x), y)
        loss.backward()
        return loss.detach()

    captured = ftensor.torch.capture(step)
    for x, y in batches(4):
        captured(x, y)
    assert [row.state for row in captured.report()] == ["refused"]
    assert "a gradient outlives" in captured.report()[0].reason


def test_step_that_stores_a_tensor_is_refused() -> None:
    kept: list[torch.Tensor] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        kept[:] = [x + 1]
        return kept[0] * 2

    captured = ftensor.torch.capture(step)
    for k in range(5):
        x = torch.full((3,), float(k), device="fpga")
        assert captured(x).tolist() == [2 * k + 2] * 3 and kept[0].tolist() == [k + 1] * 3
    assert "a tensor of the function outlives" in captured.report()[0].reason


def test_changed_learning_rate_is_captured_again() -> None:
    eager, other = Training("SGD"), Training("SGD")
    captured = ftensor.torch.capture(other.step)
    for k, (x, y) in enumerate(batches(12)):
        for one in (eager, other):
            one.optimizer.param_groups[0]["lr"] = 0.1 if k < 5 else 0.01
        assert bits(eager.step(x, y)) == bits(captured(x, y))
        assert bits(*eager.model.parameters()) == bits(*other.model.parameters())
    assert [row.state for row in captured.report()] == ["captured"]


def test_changes_of_a_module_are_detected() -> None:
    """Evaluation follows training, running averages change, and a parameter gets other memory."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6)).to("fpga").requires_grad_(False)
    captured = ftensor.torch.capture(model.forward)
    x = torch.randn(8, 6).to("fpga")
    linear, norm = model[0], model[1]

    def agrees() -> None:
        state = [b.clone() for b in model.buffers()]
        wanted = bits(model(x), *model.buffers())
        for buffer, old in zip(model.buffers(), state):
            buffer.copy_(old)
        assert bits(captured(x), *model.buffers()) == wanted

    for _ in range(5):
        agrees()
    assert [row.state for row in captured.report()] == ["captured"]
    model.eval()
    for _ in range(5):
        agrees()
    linear.weight.data = torch.randn(6, 6).to("fpga")
    for _ in range(5):
        agrees()
    norm.running_mean = torch.randn(6).to("fpga")
    for _ in range(5):
        agrees()
    linear.weight.mul_(2)  # in place: the graph reads the new values
    agrees()
    assert [row.state for row in captured.report()] == ["captured"]


def test_step_that_writes_an_argument() -> None:
    """The caller's tensor changes, also in a replay. Two arguments that share memory are
    refused."""

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x += y
        return x * 2

    captured = ftensor.torch.capture(step)
    x, y = torch.zeros(3, device="fpga"), torch.ones(3, device="fpga")
    for k in range(1, 7):
        assert captured(x, y).tolist() == [2 * k] * 3 and x.tolist() == [k] * 3
    assert [row.state for row in captured.report()] == ["captured"]
    others = ftensor.torch.capture(step)
    for k in range(6):  # a new tensor in each call
        x = torch.full((3,), float(k), device="fpga")
        assert others(x, y).tolist() == [2 * k + 2] * 3 and x.tolist() == [k + 1] * 3
    assert [row.state for row in others.report()] == ["captured"]
    together = ftensor.torch.capture(step)
    for k in range(1, 6):
        assert together(y, y).tolist() == [2 * 2**k] * 3
    assert "arguments share memory" in together.report()[0].reason


def test_reference_cycle_keeps_no_tensor() -> None:
    """This includes a cycle that the garbage collector finds only in its oldest generation."""

    @ftensor.torch.capture
    def step(x: torch.Tensor) -> torch.Tensor:
        cycle: list[Any] = [x * 2]
        cycle.append(cycle)
        gc.collect()
        return cycle[0] + 1

    for k in range(4):
        assert step(torch.full((3,), float(k), device="fpga")).tolist() == [2 * k + 1] * 3
    (row,) = step.report()
    assert row.state == "captured", row.reason


@pytest.mark.parametrize("name", ["the argument", "a view", "a weight"])
def test_captured_tensor_as_result_is_refused(name: str) -> None:
    """The step returns the tensor itself, but a replay would return a copy."""
    weight = torch.ones(3, device="fpga")
    steps: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "the argument": lambda x: x,
        "a view": lambda x: x[1:].view(2, 1),
        "a weight": lambda x: weight.view(3, 1),
    }
    step = steps[name]
    x = torch.ones(3, device="fpga")
    captured = ftensor.torch.capture(step)
    for k in range(5):
        captured(x).fill_(k)
        assert set(step(x).flatten().tolist()) == {k}
    assert "a result is an argument" in captured.report()[0].reason


def test_replays_draw_new_random_numbers() -> None:
    """A replay draws what the step would draw: dropout, noise, a compiled draw."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 32), nn.Dropout(0.5), nn.GELU(), nn.Dropout(0.1)).to("fpga")
    compiled = torch.compile(lambda x: x * torch.rand_like(x) + 1, backend="ftensor")

    def step(x: torch.Tensor) -> torch.Tensor:
        noise = compiled(torch.empty(5, 32, device="fpga").normal_())
        return model(x).detach() + noise + torch.rand(5, 32, device="fpga") * torch.bernoulli(x[:, :1].abs() % 1)

    x = torch.randn(5, 6).to("fpga")
    runs = []
    for function in (step, captured := ftensor.torch.capture(step)):
        torch.manual_seed(1)
        runs.append([bits(function(x)) for _ in range(7)])
    assert runs[0] == runs[1] and len({run[0] for run in runs[0]}) == 7
    assert [row.state for row in captured.report()] == ["captured"]


def test_adaptive_pools_are_captured() -> None:
    """Their index tables depend only on the sizes."""
    x = torch.randn(1, 2, 7, 7, device="fpga")

    @ftensor.torch.capture
    def step(x: torch.Tensor) -> Any:
        y = x.clone().requires_grad_()
        pools = F.avg_pool2d(y, 3, 2, 1, count_include_pad=False), F.adaptive_avg_pool2d(y, 3)
        largest, where = F.adaptive_max_pool2d(y, 3, return_indices=True)
        total = sum(p.square().sum() for p in (*pools, largest))
        return *[p.detach() for p in (*pools, where)], torch.autograd.grad(total, y)[0]

    for _ in range(3):
        x.normal_()
        wanted = [r.tolist() for r in step.function(x)]
        assert [r.tolist() for r in step(x)] == wanted
    (row,) = step.report()
    assert row.state == "captured", row.reason
    x.normal_()
    assert [r.tolist() for r in step(x)] == [r.tolist() for r in step.function(x)]
