"""Writes to lazy conjugates and negations reach their base tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from .device import quiet  # noqa: F401

VIEWS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    torch.conj,
    torch._neg_view,
    lambda x: torch._neg_view(x.conj())[1:],
    lambda x: x.conj().imag,
    lambda x: x.conj().real,
]
WRITES: list[Callable[[torch.Tensor], Any]] = [
    lambda v: v.add_(1).exp_(),
    lambda v: v.zero_(),
    lambda v: v.copy_(torch.arange(len(v), device=v.device)),
    lambda v: v.copy_(torch.arange(len(v))),
    lambda v: v.copy_(v.clone().conj()),
    lambda v: v.__setitem__(torch.tensor([1], device=v.device), 7),
    lambda v: v.index_add_(0, torch.tensor([1], device=v.device), v[:1].clone()),
    lambda v: torch.mul(v.detach().clone(), 3, out=v.detach()),
    lambda v: torch.cumsum(v.detach().clone(), 0, out=v.detach()),
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("grad", [False, True])
def test_writes_reach_the_base(view: Callable[[torch.Tensor], torch.Tensor], grad: bool) -> None:
    for number, write in enumerate(WRITES):
        results = []
        for device in ("cpu", "fpga"):
            leaf = torch.tensor([1 + 2j, 3 - 1j, -0.5 + 0.5j]).to(device).requires_grad_(grad)
            x = leaf * 1
            write(view(x))
            if grad and x.requires_grad:
                x.abs().sum().backward()
            results.append((x.detach().cpu(), None if leaf.grad is None else leaf.grad.cpu()))
        torch.testing.assert_close(results[1], results[0], msg=lambda m, n=number: f"write {n}: {m}")


def test_conj_physical_in_place() -> None:
    for original in (torch.tensor(1 + 2j), torch.tensor([1 + 2j, 3j]), torch.ones(2)):
        x = original.to("fpga")
        assert x.conj_physical_() is x
        assert torch.equal(x.cpu(), original.conj_physical())
        if original.is_complex():
            y = original.to("fpga")
            y.conj().conj_physical_()
            assert torch.equal(y.cpu(), original.conj_physical())
