"""Optimizers in all implementations, scaled gradients, averages, schedules and `nn.utils`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler, swa_utils

import ftensor.torch
from ftensor._device import default_backend
from ftensor.execute.dispatch import observed

from ..kernel.test_fused_ops import Kernels
from .device import agree, quiet, same  # noqa: F401

FORMS: list[dict[str, bool]] = [{"foreach": True}, {"foreach": False}, {"fused": True}]
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    "Adam": {"lr": 0.01, "weight_decay": 0.01},
    "AdamW": {"lr": 0.01, "amsgrad": True},
    "Adagrad": {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.01, "maximize": True},
    "RMSprop": {"lr": 0.01, "momentum": 0.9},
}


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_implementations_of_an_optimizer(name: str, form: dict[str, bool]) -> None:
    def program(w: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
        parameters = [nn.Parameter(w.clone()), nn.Parameter(b.clone())]
        how = form if w.device.type == "fpga" else {}
        optimizer = getattr(torch.optim, name)(parameters, **OPTIMIZERS[name], **how)
        for _ in range(2):
            optimizer.zero_grad()
            ((parameters[0] @ parameters[1]).tanh() ** 2).sum().backward()
            optimizer.step()
        return [p.detach() for p in parameters]

    if name == "RMSprop" and "fused" in form:
        with pytest.raises(TypeError, match="fused"):
            program(torch.ones(2, 2, device="fpga"), torch.ones(2, device="fpga"))
    else:
        torch.manual_seed(0)  # steps that divide by small gradients are far from continuous
        agree(program, torch.randn(3, 4), torch.randn(4), fallback=False, atol=1e-4, rtol=1e-3)


LISTS: list[tuple[str, tuple[Any, ...]]] = [
    ("add", (2.0,)), ("mul", ("list",)), ("addcmul", ("list", "list")), ("sqrt", ()),
    ("lerp", ("list", 0.3)), ("norm", ()), ("div", ([2.0, 3.0],)), ("pow", (2.0,)),
    ("add_", ("list",)), ("addcdiv_", ("list", "list", 0.5)), ("zero_", ()), ("copy_", ("list",)),
    ("maximum", ("list",)), ("reciprocal_", ()), ("exp", ()), ("neg", ()), ("abs_", ()),
    ("sub", ([0.5, 2.0],)), ("addcmul_", ("list", "list", [0.5, -2.0])), ("mul_", (0.5,)),
    ("lerp_", ("list", [0.25, 0.75])), ("addcdiv", ("list", "list")), ("add", (2j,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), LISTS, ids=str)
def test_ops_on_lists(name: str, args: tuple[Any, ...]) -> None:
    def program(xs: list[torch.Tensor], ys: list[torch.Tensor]) -> Any:
        operands = [ys if a == "list" else a for a in args]
        results = getattr(torch, f"_foreach_{name}")(xs, *operands)
        return xs if name.endswith("_") else list(results)

    lists = [[torch.rand(3) + 0.5, torch.rand(2, 2) + 0.5] for _ in range(2)]
    agree(program, *lists, fallback=False, atol=1e-6, rtol=1e-5)


def test_lists_of_other_dtypes_and_lengths() -> None:
    def program(xs: list[torch.Tensor]) -> Any:
        torch._foreach_add_(xs, xs[::-1], alpha=2)
        return [*torch._foreach_mul(xs, 3), *torch._foreach_div(xs, 2.0)]

    for of in (torch.int32, torch.complex64):
        agree(program, [torch.arange(3).to(of), torch.ones(3, dtype=of)], fallback=False)
    for mode in (torch.enable_grad, torch.inference_mode):  # torch checks the lengths in one of them
        with mode(), pytest.raises(RuntimeError, match=r"2(,| and) 1"):
            torch._foreach_add([torch.ones(2, device="fpga")] * 2, [torch.ones(2, device="fpga")])


@pytest.mark.usefixtures("graphs_at_once")
def test_foreach_op_is_one_kernel() -> None:
    """Tensors have any sizes, and numbers may differ from tensor to tensor and from call to
    call."""
    backend = default_backend()
    if not backend.target.processor or not backend.target.unaligned:
        pytest.skip("a device whose units are single work-items, or of few kernels")
    xs = [torch.ones(n, device="fpga") for n in (3, 1000, 17)]
    wanted = torch.ones(3)
    for numbers in ([2.0, 0.5, -1.0], [3.0, 0.5, 0.0]):
        seen = Kernels()
        with observed(backend, seen):
            torch._foreach_mul_(xs, numbers)
        wanted *= torch.tensor(numbers)
        assert len(seen.steps) == 1
        assert [x[0].item() for x in xs] == wanted.tolist()


def test_grad_scaler() -> None:
    """A step with an infinity is skipped. The scale falls and rises."""
    results = []
    for device in ("cpu", "fpga"):
        ftensor.torch.fallback_report().reset()
        p = nn.Parameter(torch.tensor([1.0, 2.0], device=device))
        q = nn.Parameter(torch.tensor(0.5, device=device))
        optimizer = torch.optim.SGD([p, q], lr=0.1)
        scaler = torch.amp.GradScaler(device, init_scale=16.0, growth_interval=2)
        scales = []
        for k in range(5):
            optimizer.zero_grad()
            loss = (p.square().sum() + q) * (float("inf") if k == 2 else 1.0)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_([p, q], 1.0)
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        results.append([p.detach(), q.detach()])
        assert scales == [16.0, 32.0, 16.0, 16.0, 32.0]
    assert not ftensor.torch.fallback_report(), ftensor.torch.fallback_report()
    same(results[1], results[0])


def test_schedules_and_averages() -> None:
    def program(w: torch.Tensor) -> list[torch.Tensor]:
        layer = nn.Linear(4, 3, device=w.device)
        with torch.no_grad():
            layer.weight.copy_(w)
            layer.bias.zero_()
        averages = [
            swa_utils.AveragedModel(layer),
            swa_utils.AveragedModel(layer, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9)),
        ]
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        schedule = lr_scheduler.SequentialLR(
            optimizer, [lr_scheduler.LinearLR(optimizer), lr_scheduler.StepLR(optimizer, 1)], [1]
        )
        plateau = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        for _ in range(3):
            optimizer.zero_grad()
            loss = layer(w).square().sum()
            loss.backward()
            optimizer.step()
            schedule.step()
            plateau.step(loss.detach())
            for average in averages:
                average.update_parameters(layer)
        return [p.detach() for a in averages for p in a.parameters()]

    agree(program, torch.randn(3, 4), fallback=False, atol=1e-5, rtol=1e-4)


def test_nn_utils() -> None:
    from torch.nn import utils
    from torch.nn.utils import parametrizations

    def program(w: torch.Tensor, x: torch.Tensor) -> list[torch.Tensor]:
        layer = nn.Linear(4, 3, bias=False, device=w.device)
        utils.vector_to_parameters(w.flatten(), layer.parameters())
        layer(x).square().sum().backward()
        results = [utils.clip_grad_norm_(layer.parameters(), 0.1, norm_type=float("inf"))]
        utils.clip_grad_value_(layer.parameters(), 0.01)
        assert layer.weight.grad is not None
        results += [layer.weight.grad, utils.parameters_to_vector(layer.parameters()).detach()]
        layer.weight.grad = None
        parametrizations.weight_norm(layer)
        layer(x).square().sum().backward()
        return [*results, *[p.grad for p in layer.parameters() if p.grad is not None]]

    agree(program, torch.randn(3, 4), torch.randn(2, 4), fallback=False, atol=1e-5, rtol=1e-4)


def test_in_place_foreach_ops_are_seen_by_autograd() -> None:
    """The gradient of a view goes through the op, and autograd checks the versions of saved
    values."""
    for device in ("cpu", "fpga"):
        x = torch.tensor([1.5, 1.5, -1.0], device=device, requires_grad=True)
        whole = x * 1
        view = whole[:2]
        torch._foreach_mul_([view], 0.5)
        assert whole._version == view._version == 1
        view.sum().backward()
        assert x.grad is not None and x.grad.tolist() == [0.5, 0.5, 0.0]
        largest = (x * 2).amax(0)
        torch._foreach_mul_([largest], 0.5)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            largest.backward()
