"""layer_norm and its derivatives in one launch each, against double precision."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute import norm as norm_module
from ftensor.execute.norm import norm_rows, norm_rows_back, norm_rows_factors

from ..targets import pairs

# Rows shorter than a vector, of whole vectors, longer than what is summed at once; several dims.
SHAPES = [
    ((3, 1), 1),
    ((5, 7), 1),
    ((2, 3, 32), 1),
    ((40, 3), 1),
    ((2, 3, 5, 7), 2),
    ((3, 2500), 1),
]
OPERANDS = [(of, f) for of in ("float32", "float64") for f in ("", "weight", "bias", "weight bias")]
EPS = {"float32": 3e-6, "float64": 1e-13}


@pytest.fixture(autouse=True)
def one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels in place of several, wherever they compile, as in test_class_loss.py."""
    backend = default_backend()
    if backend.images is not None or backend.target.dialect == "intel":
        pytest.skip("kernels of an image are those that its inventory names")
    if not backend.target.unaligned:
        monkeypatch.setattr(norm_module, "_serves", lambda *args: True)


def near(found: ft.Tensor, wanted: torch.Tensor, name: str) -> None:
    made = torch.tensor(found.to(ft.float64).tolist(), dtype=torch.float64).reshape(wanted.shape)
    assert found.shape == wanted.shape
    scale = wanted.abs().max().item() + 1
    torch.testing.assert_close(made, wanted, rtol=EPS[name], atol=EPS[name] * scale)


@pytest.mark.parametrize(("of_shape", "operands"), pairs(SHAPES, OPERANDS), ids=str)
def test_norm_rows(of_shape: tuple[Any, int], operands: tuple[str, str]) -> None:
    (shape, ndim), (name, factors) = of_shape, operands
    if name == "float64" and not default_backend().properties.has_float64:
        pytest.skip("the device has no doubles")
    torch.manual_seed(1)
    of, last = getattr(torch, name), shape[-ndim:]
    x = (torch.randn(shape) * 3 + 5).to(of)
    grad, w, b = [torch.randn(s).to(of) for s in (shape, last, last)]
    w, b = [t if word in factors else None for t, word in ((w, "weight"), (b, "bias"))]
    wide = [None if t is None else t.double().clone().requires_grad_() for t in (x, w, b)]
    eps = 1e-2  # a row of one element would else be noise
    wanted = torch.native_layer_norm(wide[0], last, *wide[1:], eps)
    wanted[0].backward(grad.double())
    mine = [None if t is None else ft.from_torch(t) for t in (x, w, b)]
    g, leads = ft.from_torch(grad), tuple(range(x.ndim - ndim))
    for _ in range(2):  # prepared, and known
        made = norm_rows(mine[0], ndim, *mine[1:], eps)
        assert made is not None
        for found, t in zip(made, wanted):
            near(found, t.detach(), name)
        back = norm_rows_back(g, mine[0], *made[1:], mine[1], ndim)
        both = norm_rows_factors(g, mine[0], *made[1:], ndim)
        assert back is not None and both is not None
        near(back, wide[0].grad, name)
        normal = (wide[0] - wanted[1]) * wanted[2]
        near(both[0], (grad.double() * normal).sum(leads).detach(), name)
        near(both[1], grad.double().sum(leads), name)


def test_what_the_kernels_leave_to_several() -> None:
    backend = default_backend()
    if not backend.target.unaligned:
        pytest.skip("all is left to several here")
    x = ft.ones((4, 6))
    for other in (x.to(ft.int64), x.to(ft.float16), x.t(), x[:0]):
        assert norm_rows(other, 1, None, None, 1e-5) is None
    assert norm_rows(x, 1, ft.ones(6, dtype=ft.int64), None, 1e-5) is None
    rows = ft.ones((1 << 15, 16)), ft.ones((1 << 15, 16))
    statistics = ft.ones((1 << 15, 1)), ft.ones((1 << 15, 1))
    assert (norm_rows_factors(*rows, *statistics, 1) is None) == (backend.units > 1)
