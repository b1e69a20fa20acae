"""Functions over user kernels as ops: torch's custom ops, and replacements of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import ftensor as ft

TEXT = """__kernel void gain(__global const float *x, __global float *y, float by)
{
    y[get_global_id(0)] = by * x[get_global_id(0)];
}"""
if "OpenCL" not in ft.fpga.get_device_properties().version:
    pytest.skip("the default device takes no OpenCL C", allow_module_level=True)


@pytest.fixture(scope="module")
def gain() -> Any:
    return ft.fpga.opencl_kernel(TEXT)


@torch.library.custom_op("ftensor_tests::gain", mutates_args=())
def custom(x: torch.Tensor, by: float) -> torch.Tensor:
    return x * by


@torch.library.custom_op("ftensor_tests::gain_", mutates_args=("to",))
def into(x: torch.Tensor, to: list[torch.Tensor]) -> None:
    to[0].copy_(x)


def test_ops_of_torch_library(gain: Any) -> None:
    """On the device the function computes, on the CPU the op's own implementation. Autograd works
    through it."""
    calls = []

    @ft.register_kernel("ftensor_tests::gain")
    def on_device(x: ft.Tensor, by: float) -> ft.Tensor:
        calls.append(x.device.type)
        y = ft.empty_like(x)
        gain.run(x.contiguous(), y, by, units=x.numel())
        return y

    @ft.register_kernel("ftensor_tests::gain_")
    def into_device(x: ft.Tensor, to: list[ft.Tensor]) -> None:
        gain.run(x, to[0], 3, units=x.numel())

    x = torch.arange(4.0, requires_grad=True)
    custom.register_autograd(lambda ctx, g: (custom(g, 2.0), None))
    y = custom(x.detach().to("fpga").requires_grad_(), 2.0)
    assert torch.equal(y.cpu(), custom(x, 2.0)) and calls == ["fpga"]
    (gradient,) = torch.autograd.grad(y.sum(), y.grad_fn.next_functions[0][0].variable)
    assert gradient.cpu().tolist() == [2.0] * 4 and calls == ["fpga"] * 2
    to = [torch.zeros(4, device="fpga")]
    into(x.detach().to("fpga"), to)
    assert to[0].cpu().tolist() == [0.0, 3.0, 6.0, 9.0]


@pytest.fixture
def calls(gain: Any) -> Iterator[list[str]]:
    """Registers a kernel that replaces `neg` for contiguous float32, and records its calls."""
    asked: list[str] = []

    @ft.register_kernel("ftensor::neg")
    def neg(x: ft.Tensor) -> Any:
        asked.append(x.dtype.name)
        if x.dtype is not ft.float32 or not x.is_contiguous():
            return NotImplemented
        y = ft.empty_like(x)
        gain.run(x, y, -1, units=x.numel())
        return y.neg().neg()  # inside the function, ftensor's own op runs

    yield asked
    ft.unregister_kernel("ftensor::neg")
    asked.clear()
    assert (-ft.ones(1)).tolist() == [-1.0] and not asked


def test_replacement_of_a_row(calls: list[str]) -> None:
    """It replaces every form of the op, also on torch's device, unless it declines."""
    x = ft.tensor([1.0, 2.0])
    assert (-x).tolist() == ft.neg(x).tolist() == [-1.0, -2.0]
    out = ft.zeros(2)
    assert ft.neg(x, out=out) is out and out.tolist() == [-1.0, -2.0]
    assert x.neg_() is x and x.tolist() == [-1.0, -2.0]
    assert calls == ["float32"] * 4
    assert (-ft.tensor([3])).tolist() == (-ft.tensor([3])).tolist() == [-3]
    assert [calls.pop(), calls.pop()] == ["int64"] * 2
    assert (-torch.ones(2, device="fpga")).tolist() == [-1.0, -1.0] and len(calls) == 5
    assert (-ft.ones(1, device="cpu")).tolist() == [-1.0] and len(calls) == 5


def test_invalid_names_and_results_are_refused() -> None:
    for name, says in (
        ("neg", "names no op"),
        ("ftensor::matmul", "did you mean 'mul'"),
        ("aten::nothing_alike_at_all", "no elementwise op"),
    ):
        with pytest.raises(ValueError, match=says):
            ft.register_kernel(name)  # type: ignore[arg-type]
    ft.register_kernel("ftensor::neg")(lambda x: 3)
    try:
        with pytest.raises(TypeError, match="registered for ftensor::neg returned int"):
            ft.neg(ft.ones(1))
    finally:
        ft.unregister_kernel("ftensor::neg")
