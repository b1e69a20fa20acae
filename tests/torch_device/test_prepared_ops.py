"""Prepared ops: what calls with equal geometries share, and what they must not share."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import ftensor as ft
from ftensor._device import default_backend
from ftensor.own import register
from ftensor.torch.prepared_kernels import MAX_REFUSALS, OBSERVED_CALL, forget_refusals
from ftensor.torch.prepared_ops import REFUSED, PreparedOp

from .device import quiet, same  # noqa: F401

pytestmark = pytest.mark.skipif(default_backend().built_ahead, reason="images have no prepared ops")
CALLS = OBSERVED_CALL + 2


@pytest.fixture(autouse=True)
def _without_launches() -> Iterator[None]:
    default_backend().forget_launches()
    forget_refusals()  # other tests may have called overloads that are never prepared
    yield
    default_backend().forget_launches()


def prepared(name: str) -> list[PreparedOp]:
    """Returns the table's entries for an aten overload, or for a function's schema."""
    name = name if "::" in name else f"aten::{name}"
    launches = default_backend().launches
    return [e for key, e in launches.items() if type(e) is PreparedOp and key[0] in (f"torch.{name}", f"torch.{name}.")]


def agree_in_each_call(call: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """Compares calls with new values each time. The last calls run the prepared op."""
    for _ in range(CALLS):
        args = [torch.randn(shape) for shape in shapes]
        same(call(*[x.to("fpga") for x in args]), call(*args))


def _cell_gradients(cx: torch.Tensor, gates: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """Returns the gradient of the cell state alone: the derivative's first tensor is None."""
    c = cx.clone().requires_grad_()
    _, state = torch.lstm_cell(gates, (hidden[:, :3], c), *[torch.eye(12, n).to(cx.device) for n in (12, 3)])
    return torch.autograd.grad(state.sum(), c)[0]


def _attention_gradient(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    operands = [x.clone().requires_grad_() for x in (q, k, v)]
    return torch.autograd.grad(F.scaled_dot_product_attention(*operands).square().sum(), operands)


OPS: list[tuple[str, Callable[..., Any], tuple[tuple[int, ...], ...]]] = [
    ("add.Tensor", torch.add, ((3, 4), (4,))),
    ("add.Tensor", lambda x: x + 2.5, ((3, 4),)),
    ("add_.Tensor", lambda x, y: x.add_(y), ((3, 4), (3, 4))),
    ("mul.Tensor", lambda x, y: x[1:] * y[1:].t(), ((4, 3), (4, 3))),
    ("sum.dim_IntList", lambda x: x.sum((0, 2), keepdim=True), ((2, 3, 4),)),
    ("gelu", F.gelu, ((5,),)),
    ("native_layer_norm", lambda x, w: torch.native_layer_norm(x, [4], w, None, 1e-5), ((3, 4), (4,))),
    ("ftensor::linear", F.linear, ((2, 3), (4, 3), (4,))),
    ("linear", lambda x, w: F.linear(x, w.requires_grad_()).detach(), ((2, 3), (4, 3))),
    ("ftensor::linear", F.linear, ((64, 96), (128, 96), (128,))),  # packs both matrices
    ("mm", torch.mm, ((3, 4), (4, 5))),
    ("_thnn_fused_lstm_cell_backward_impl", _cell_gradients, ((2, 3), (2, 12), (2, 12))),
    ("ftensor::attended", F.scaled_dot_product_attention, ((2, 3, 4), (2, 5, 4), (2, 5, 4))),
    ("ftensor::layer_norm", lambda x, w: F.layer_norm(x, [4], w), ((3, 4), (4,))),
    ("ftensor::attention", _attention_gradient, ((2, 3, 4), (2, 5, 4), (2, 5, 4))),
    ("ftensor::attention_backward", _attention_gradient, ((2, 3, 4), (2, 5, 4), (2, 5, 4))),
    ("clone", lambda x: x.t().clone(), ((3, 4),)),
    ("ones_like", torch.ones_like, ((3, 4),)),
]


@pytest.mark.parametrize("case", OPS, ids=lambda case: case[0])
def test_results_are_those_of_torch(case: tuple[str, Callable[..., Any], tuple[tuple[int, ...], ...]]) -> None:
    name, call, shapes = case
    agree_in_each_call(call, *shapes)
    assert prepared(name) and REFUSED not in prepared(name)


def test_prepared_op_skips_the_python_function(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = torch.ones(4, device="fpga"), torch.ones(4, device="fpga")
    results = [a * b for _ in range(CALLS)]
    monkeypatch.setattr("ftensor.torch.memory._view_of", None)
    results.append(a * b)
    monkeypatch.undo()
    assert all(r.tolist() == [1.0] * 4 for r in results)
    assert len({r.data_ptr() for r in results}) == len(results)


def test_lists_of_tensors() -> None:
    for rate in (0.1, 0.2):
        for _ in range(CALLS):
            xs, ys = [torch.randn(3), torch.randn(2, 2)], [torch.randn(3), torch.randn(2, 2)]
            here = [x.to("fpga") for x in xs]
            torch._foreach_add_(here, [y.to("fpga") for y in ys], alpha=rate)
            torch._foreach_add_(xs, ys, alpha=rate)
            same(here, xs)
            assert [x._version for x in here] == [x._version for x in xs]
    (entry, _) = prepared("_foreach_add_.List")
    assert entry is not REFUSED
    with pytest.raises(RuntimeError):
        torch._foreach_add_(here, here[:1])


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "AdamW", "SGD"])
def test_fused_optimizers(name: str) -> None:
    weights = {device: [torch.nn.Parameter(torch.ones(n, device=device)) for n in (2, 3)] for device in ("cpu", "fpga")}
    steps = {device: getattr(torch.optim, name)(w, 0.1, fused=True) for device, w in weights.items()}
    for k in range(2 * CALLS):
        for device, optimizer in steps.items():
            optimizer.param_groups[0]["lr"] = 0.1 if k < CALLS else 0.1 / k
            for w in weights[device]:
                w.grad = torch.full_like(w, 0.5 - k)
            optimizer.step()
    same(weights["fpga"], weights["cpu"])
    entries = prepared(f"_fused_{name.lower()}_")
    assert entries and REFUSED not in entries


def test_equal_numbers_of_different_types_are_separate() -> None:
    whole, x = torch.tensor([3, 4]), torch.tensor([1.0, 2.0])
    for operand, numbers in ((whole, (1, 1.0, True)), (x, (0.0, -0.0, 0, False))):
        for number in numbers:
            for _ in range(CALLS):
                result = operand.to("fpga") * number
            wanted = operand * number
            assert result.dtype is wanted.dtype
            assert result.cpu().signbit().equal(wanted.signbit()) and result.cpu().equal(wanted)


def test_arguments_that_share_memory() -> None:
    for _ in range(CALLS):
        x = torch.randn(3)
        same(x.to("fpga") * x.to("fpga"), x * x)
        y = x.to("fpga")
        same(y * y, x * x)
    assert len(prepared("mul.Tensor")) == 2 and REFUSED not in prepared("mul.Tensor")
    for distance in (3, 2, -1):
        for start in range(1, 1 + CALLS):
            x = torch.randn(12)
            y = x.to("fpga")
            a, b = slice(start, start + 3), slice(start + distance, start + distance + 3)
            same(y[a] - y[b], x[a] - x[b])
    assert len(prepared("sub.Tensor")) == 3 and REFUSED not in prepared("sub.Tensor")
    for _ in range(CALLS):  # the op was prepared for two separate memories
        x = torch.randn(6)
        y = x.to("fpga")
        same(y[:3].add_(y[3:]), x[:3].add_(x[3:]))
        same(y[:3].add_(y.new_ones(3)), x[:3].add_(x.new_ones(3)))
    with pytest.raises(RuntimeError, match="memory"):
        y[:3].add_(y[1:4])


def test_floats_from_integers_follow_the_default_dtype() -> None:
    x = torch.tensor([1, 4], device="fpga")
    for _ in range(CALLS):
        assert x.sqrt().dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert x.sqrt().dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_other_streams_wait() -> None:
    a, b = torch.ones(1 << 14, device="fpga"), torch.ones(1 << 14, device="fpga")
    stream = torch.fpga.Stream()
    for _ in range(CALLS):
        a = a + b
        with torch.fpga.stream(stream):
            a = a + b
    assert a.cpu().eq(1 + 2 * CALLS).all()


def test_kernels_of_users_replace_prepared_ops() -> None:
    x = torch.ones(4, device="fpga")
    for _ in range(CALLS):
        x.sigmoid()
    assert prepared("sigmoid")
    register.register_kernel("ftensor::sigmoid")(lambda x: x + 41)
    try:
        assert x.sigmoid().tolist() == [42.0] * 4
        for _ in range(CALLS):
            x.cos()
        assert not prepared("cos")
    finally:
        register.unregister_kernel("ftensor::sigmoid")


def test_memory_is_counted() -> None:
    a, b = torch.ones(1000, device="fpga"), torch.ones(1000, device="fpga")
    gc.collect()  # what other tests have left
    counts = []
    for _ in range(CALLS):
        before = torch.fpga.memory_allocated()
        result = a - b
        counts.append(torch.fpga.memory_allocated() - before)
        del result
        assert torch.fpga.memory_allocated() == before
    assert counts[0] > 0 and len(set(counts)) == 1


def test_op_that_reads_a_value_is_not_prepared() -> None:
    x = torch.tensor([1.0, 3.0, 2.0], device="fpga")
    index = torch.tensor([2, 0], device="fpga")
    for _ in range(CALLS):
        assert x.gather(0, index).tolist() == [2.0, 1.0]
        assert x.argmax().item() == 1
    assert prepared("argmax") == [REFUSED] and not prepared("gather")
    with pytest.raises((RuntimeError, IndexError)):
        x.gather(0, index + 1).cpu()


def test_shared_memory_is_up_to_date() -> None:
    array = np.zeros(4, np.float32)
    shared = ft.torch.from_cpu(torch.from_numpy(array))
    for k in range(CALLS):
        shared.add_(torch.ones(4, device="fpga"))
        assert array.tolist() == [k + 1.0] * 4


def test_op_that_is_never_prepared_is_called_directly() -> None:
    for k in range(1, MAX_REFUSALS + 3):
        x = torch.arange(float(k), device="fpga")
        for _ in range(OBSERVED_CALL):
            assert x.argmin().item() == 0
    assert prepared("argmin") == [REFUSED] * MAX_REFUSALS


def test_observers_see_prepared_ops() -> None:
    x = torch.ones(4, device="fpga")
    for _ in range(CALLS):
        y = x * 3
    graph = torch.fpga.FPGAGraph()
    with torch.fpga.graph(graph):
        y = x * 3
    x.fill_(math.pi)
    graph.replay()
    assert y.tolist() == pytest.approx([3 * math.pi] * 4)
