"""Ops on the host: their writes, aliases and results, their counts, and the policy."""

from __future__ import annotations

import warnings

import pytest
import torch

import ftensor as ft
import ftensor.torch
from ftensor.torch.fallback import run
from ftensor.torch.internals import overload

from .device import quiet, same  # noqa: F401

NAMES = {row.op for row in ftensor.torch.fallback_report()}


def both(name: str, *args: object, **kwargs: object) -> tuple[object, object]:
    """Returns an overload's results by the host fallback and on the CPU."""
    op = overload(name)

    def move(x: object) -> object:
        if isinstance(x, torch.Tensor):
            return x.clone().to("fpga")
        return [move(y) for y in x] if isinstance(x, list) else x

    here = run(op, *map(move, args), **{k: move(x) for k, x in kwargs.items()})
    return here, op(*args, **kwargs)


def test_fallback_returns_a_new_tensor() -> None:
    same(*both("add.Tensor", torch.randn(3), torch.randn(3)))


def test_fallback_in_place() -> None:
    x = torch.arange(4.0).to("fpga")
    assert run(overload("add_.Scalar"), x[1:], 5).data_ptr() == x[1:].data_ptr()
    assert x.cpu().tolist() == [0, 6, 7, 8]


def test_fallback_resizes_an_output() -> None:
    out = torch.empty(0, device="fpga")
    assert run(overload("add.out"), torch.ones(3).to("fpga"), 2, out=out) is out
    assert out.cpu().tolist() == [3, 3, 3]


def test_several_outputs_and_lists() -> None:
    same(*both("sort", torch.randn(5)))
    same(*both("cat", [torch.randn(2), torch.randn(3)]))
    x = torch.randn(6).to("fpga")
    parts = run(overload("split.Tensor"), x, 2)
    parts[1].zero_()
    assert x.cpu()[2:4].tolist() == [0, 0] and parts[0]._is_view() is False


def test_view_of_an_argument_shares_its_memory() -> None:
    x = torch.arange(4.0).to("fpga")
    y = run(overload("view"), x, [2, 2])
    assert y.untyped_storage()._cdata == x.untyped_storage()._cdata


def test_arguments_that_share_memory() -> None:
    x = torch.arange(6.0).to("fpga")
    run(overload("copy_"), x[3:], x[:3])
    assert x.cpu().tolist() == [0, 1, 2, 0, 1, 2]


def test_fallback_report_counts_calls() -> None:
    ftensor.torch.fallback_report().reset()
    assert str(ftensor.torch.fallback_report()) == "no op has fallen back to the host"
    for _ in range(3):
        run(overload("add.Tensor"), torch.ones(3).to("fpga"), 2)
    (row,) = ftensor.torch.fallback_report()
    assert (row.op, row.calls) == ("add.Tensor", 3)
    assert "add.Tensor" in str(ftensor.torch.fallback_report())


def test_fallback_policies() -> None:
    x = torch.ones(3, device="fpga")
    ftensor.torch.fallback_report().reset()
    ft.set_fallback("warn")
    with pytest.warns(ft.FallbackWarning, match="aten::sin"):
        run(overload("sin"), x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(overload("sin"), x)
    ft.set_fallback("error")
    with pytest.raises(NotImplementedError, match="aten::sin"):
        run(overload("sin"), x)


def test_arguments_that_a_kernel_declines() -> None:
    """Here these are a dtype and a padding mask. The call falls back or raises, depending on the
    policy."""
    x = torch.tensor([1.0, 2.0, 4.0]).to(torch.float8_e4m3fnuz)
    assert x.to("fpga")[torch.tensor([2, 0])].cpu().float().tolist() == [4, 1]
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    rows, mask = torch.randn(1, 3, 4), torch.tensor([[False, False, True]])
    with torch.no_grad():
        here = layer(rows, src_key_padding_mask=mask)
        there = layer.to("fpga")(rows.to("fpga"), src_key_padding_mask=mask.to("fpga"))
        same(there[:, :2], here[:, :2])
        ft.set_fallback("error")
        with pytest.raises(NotImplementedError, match="_transformer_encoder_layer_fwd"):
            layer(rows.to("fpga"), src_key_padding_mask=mask.to("fpga"))


def test_dtypes_that_ftensor_lacks() -> None:
    x = torch.arange(4).to(torch.uint16)
    y = x.to("fpga")
    assert y.cpu().equal(x)
    assert (y == 2).cpu().tolist() == [False, False, True, False]
