"""Helpers of the device's tests: they run one program on the CPU and on the device."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import ftensor as ft
import ftensor.torch
from ftensor._device import default_backend
from ftensor.runtime import fallback

_images = default_backend().images
# A step with an op on the host is not captured. `ftensor emulate` builds the kernels on request.
needs_every_kernel = pytest.mark.skipif(
    _images is not None and _images.maker is None, reason="the image lacks kernels, and a step with host ops is refused"
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Suppresses fallback warnings, unless a test sets the policy."""
    before = fallback._policy
    ft.set_fallback("silent")
    yield
    fallback._policy = before


def moved(value: Any, device: str) -> Any:
    """Returns arguments with their tensors on a device. Those that require gradients are leaves."""
    if isinstance(value, torch.Tensor):
        return value.detach().to(device, copy=True).requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(x, device) for x in value)
    if isinstance(value, dict):
        return {name: moved(x, device) for name, x in value.items()}
    return value


def leaves(value: Any) -> list[torch.Tensor]:
    """Returns the tensors among values."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for x in value for t in leaves(x)] if isinstance(value, (list, tuple)) else []


def same(actual: Any, wanted: Any, **close: Any) -> None:
    """Asserts that the device's results equal the CPU's: values, dtypes, shapes, strides."""
    many, more = leaves(actual), leaves(wanted)
    assert len(many) == len(more)
    for a, b in zip(many, more):
        assert a.device.type == "fpga"
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        torch.testing.assert_close(a.cpu(), b, equal_nan=True, **close)


def agree(call: Callable[..., Any], *args: Any, fallback: bool = True, **close: Any) -> None:
    """Compares a call and its gradients on both devices. Without `fallback`, no op may run on the
    host."""
    results = []
    for device in ("cpu", "fpga"):
        operands = moved(args, device)
        if device == "fpga":
            ftensor.torch.fallback_report().reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            actual = call(*operands)
            wanting = [t for t in leaves(operands) if t.requires_grad]
            outputs = [t for t in leaves(actual) if t.requires_grad]
            grads: Any = ()
            if wanting and outputs:
                grads = torch.autograd.grad(outputs, wanting, [torch.ones_like(t) for t in outputs], allow_unused=True)
        results.append((actual, [g for g in grads if g is not None]))
    report = ftensor.torch.fallback_report()
    if not fallback:
        assert not report, report
    (wanted, wanted_grads), (actual, found_grads) = results
    same(actual, wanted, **close)
    same(found_grads, wanted_grads, **close)
