"""layer_norm and its derivatives against double precision."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.device_traits import spares_double
from ftensor.execute.sort import is_board as on_board
from ftensor.kernels.skeletons.whole_rows import WholeRowsKey
from ftensor.rows.catalogue import ATEN, ENTRIES
from ftensor.runtime.launch_cache import is_available

from ..targets import pairs

# Rows shorter than a vector, of whole vectors, and too long to be summed in one pass; several dims.
SHAPES = [((3, 1), 1), ((5, 7), 1), ((2, 3, 32), 1), ((40, 3), 1), ((2, 3, 5, 7), 2), ((3, 2500), 1)]
OPERANDS = [(of, f) for of in ("float32", "float64") for f in ("", "weight", "bias", "weight bias")]
EPS = {"float32": 3e-6, "float64": 1e-13}


def near(result: ft.Tensor, wanted: torch.Tensor, name: str) -> None:
    actual = torch.tensor(result.to(ft.float64).tolist(), dtype=torch.float64).reshape(wanted.shape)
    assert result.shape == wanted.shape
    scale = wanted.abs().max().item() + 1
    torch.testing.assert_close(actual, wanted, rtol=EPS[name], atol=EPS[name] * scale)


@pytest.mark.parametrize(("of_shape", "operands"), pairs(SHAPES, OPERANDS), ids=str)
def test_layer_norm(of_shape: tuple[Any, int], operands: tuple[str, str]) -> None:
    (shape, ndim), (name, factors) = of_shape, operands
    if name == "float64" and not default_backend().properties.has_float64:
        pytest.skip("the device has no doubles")
    torch.manual_seed(1)
    of, last = getattr(torch, name), shape[-ndim:]
    x = (torch.randn(shape) * 3 + 5).to(of)
    grad, w, b = [torch.randn(s).to(of) for s in (shape, last, last)]
    w, b = [t if word in factors else None for t, word in ((w, "weight"), (b, "bias"))]
    wide = [None if t is None else t.double().clone().requires_grad_() for t in (x, w, b)]
    eps = 1e-2  # the only element of a row would be noise
    wanted = torch.native_layer_norm(wide[0], last, *wide[1:], eps)
    wanted[0].backward(grad.double())
    mine = [None if t is None else ft.from_torch(t) for t in (x, w, b)]
    g, leads = ft.from_torch(grad), tuple(range(x.ndim - ndim))
    for _ in range(2):  # prepared, then cached
        results = ENTRIES["native_layer_norm"].call(mine[0], last, *mine[1:], eps)
        for result, t in zip(results, wanted):
            near(result, t.detach(), name)
        back = ATEN["native_layer_norm_backward"].call
        all_ = back(g, mine[0], last, *results[1:], *mine[1:], [True] * 3)
        normal = (wide[0] - wanted[1]) * wanted[2]
        near(all_[0], wide[0].grad, name)
        near(all_[1], (grad.double() * normal).sum(leads).detach(), name)
        near(all_[2], grad.double().sum(leads), name)


@pytest.mark.parametrize("call", ["layer_norm", "group_norm", "batch_norm"])
@pytest.mark.parametrize("of", [torch.int32, torch.bool, torch.complex64], ids=str)
def test_norms_of_other_dtypes_are_refused(call: str, of: torch.dtype) -> None:
    x = torch.ones(3, 4, dtype=of)
    rest = {"layer_norm": ((4,),), "group_norm": (2,), "batch_norm": (None, None, None, None, True)}
    with pytest.raises(NotImplementedError):
        getattr(torch.nn.functional, call)(x, *rest[call])
    with pytest.raises(NotImplementedError, match=f"{call}.*{str(of)[6:]}"):
        getattr(ft.nn.functional, call)(ft.from_torch(x), *rest[call])


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 0, 3)], ids=str)
def test_statistics_of_empty_rows(shape: tuple[int, ...]) -> None:
    last = shape[1:]
    wanted = torch.native_layer_norm(torch.empty(shape), last, None, None, 1e-5)
    results = ft.native_layer_norm(ft.empty(shape), last, None, None, 1e-5)
    for result, t in zip(results, wanted, strict=True):
        torch.testing.assert_close(torch.from_numpy(result.numpy()), t, equal_nan=True)
    assert len({id(t) for t in results}) == 3


def test_rows_near_the_end_of_the_range() -> None:
    """A row's sum overflows float32. Its mean and its norm do not."""
    rows = [3e38] * 9, [3e38] * 4 + [0.0] * 5, [1e-30, 3e-30, -1e-30]
    for row in map(torch.tensor, rows):
        x = ft.from_torch(row.repeat(2, 1))
        if not spares_double(x) and not (on_board(x) and is_available(default_backend(), WholeRowsKey(x.dtype))):
            pytest.skip("without a kernel for whole rows a board sums them as they are")
        result = ft.nn.functional.layer_norm(x, x.shape[1:]).to_torch()
        wanted = torch.nn.functional.layer_norm(row.repeat(2, 1), row.shape)
        torch.testing.assert_close(result, wanted, rtol=1e-5, atol=0)
