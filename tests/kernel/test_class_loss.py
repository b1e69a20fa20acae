"""softmax, log_softmax, nll_loss and their derivatives against double precision."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute import layers as nll_module
from ftensor.execute.layers import nll, nll_input
from ftensor.ops.gradients import losses as layers
from ftensor.rows.catalogue import ENTRIES

from ..targets import pairs, some

EPS = {torch.float32: 2e-6, torch.float64: 1e-14, torch.float16: 1e-3, torch.bfloat16: 8e-3}
# Along rows, over short rows in turn, over rows in parallel lanes, and few rows that leave lanes
# empty.
SHAPES = [((3, 77), 1), ((37, 10), 1), ((3, 5, 40), 1), ((2, 3, 3), 1), ((130,), 0), ((), 0)]


@pytest.fixture
def one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enables the single kernels on every device that compiles. Images of boards and their
    stand-ins have the separate kernels, so the single kernels' HLS C++ is compiled only here."""
    backend = default_backend()
    if backend.images is not None or backend.target.dialect == "intel":
        pytest.skip("kernels of an image are those that its inventory names")
    if not backend.target.unaligned:
        monkeypatch.setattr(nll_module, "_supports", lambda *args: True)


def exact(result: ft.Tensor, wanted: torch.Tensor, eps: float) -> None:
    actual = torch.tensor(result.to(ft.float64).tolist(), dtype=torch.float64)
    assert actual.shape == wanted.shape
    torch.testing.assert_close(actual, wanted, rtol=eps, atol=eps, equal_nan=True)


def special(shape: Any, dim: int, dtype: torch.dtype) -> torch.Tensor:
    """Returns numbers with infinities or NaN in some rows."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 4
    rows = x.movedim(dim, 0) if x.ndim else x.reshape(1)
    if x.ndim > 1:
        flat = rows.reshape(rows.shape[0], -1)
        flat[0, 0], flat[:, 1], flat[-1, 2] = float("nan"), -float("inf"), float("inf")
        flat[0, 2] = -float("inf")
        x = flat.reshape(rows.shape).movedim(0, dim)
    return x.contiguous().to(dtype)


CASES = [
    ("softmax", torch.float32, SHAPES),
    ("log_softmax", torch.float32, SHAPES[:3]),
    ("softmax", torch.float16, SHAPES[:1]),
    ("log_softmax", torch.bfloat16, SHAPES[1:2]),
    ("log_softmax", torch.float64, SHAPES[2:3]),
]


@pytest.mark.parametrize(("name", "dtype", "shapes"), some([pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES], 2))
def test_losses_of_each_row_are_torchs(
    name: str, dtype: torch.dtype, shapes: list[tuple[tuple[int, ...], int]], one_launch: None
) -> None:
    backend = default_backend()
    if dtype is torch.float64 and not backend.properties.has_float64:
        pytest.skip("the device has no float64")
    for shape, dim in shapes:
        x, grad = special(shape, dim, dtype), special(shape, dim, dtype).flip([0] * bool(shape))
        # Not at the start of the memory, so that no vector is aligned.
        padded = ft.from_torch(torch.cat([x.new_zeros(3), x.flatten()]))
        mine = padded[3:].reshape(shape)
        result = getattr(ft, name)(mine, dim)
        wide = getattr(x.double(), name)(dim)
        exact(result, wide, EPS[dtype])
        y, g = wide.to(dtype).nan_to_num(), grad.nan_to_num(posinf=2.0, neginf=3.0)
        backward = getattr(torch.ops.aten, f"_{name}_backward_data")
        result = ENTRIES[f"_{name}_backward_data"].call(ft.from_torch(g), ft.from_torch(y), dim, mine.dtype)
        want = backward(g.double(), y.double(), dim, torch.float64)
        exact(result, want, EPS[dtype] * max(1, g.abs().sum().item() / 20))


@pytest.mark.parametrize("to", ["float32", "bfloat16"])
def test_results_of_another_dtype(to: str, one_launch: None) -> None:
    x = torch.randn(5, 20).to(torch.bfloat16 if to == "float32" else torch.float32)
    of = getattr(ft, to)
    result = ft.from_torch(x).softmax(1, of)
    assert result.dtype is of
    exact(result, x.double().softmax(1), EPS[getattr(torch, to)])


def test_log_softmax_of_narrow_rows_rounds_its_logarithm() -> None:
    """As in torch along the last dim: the argument and the value of its logarithm have 16 bits."""
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.randn(40, 9, generator=torch.Generator().manual_seed(1)).mul(3).to(dtype)
        result = torch.tensor(ft.from_torch(x).log_softmax(1).to(ft.float32).tolist())
        assert torch.equal(result, x.log_softmax(1).float())


@pytest.mark.parametrize(
    ("reduction", "dtype"), pairs(["mean", "sum", "none"], [torch.float32, torch.bfloat16]), ids=str
)
def test_classes_in_one_launch(reduction: str, dtype: torch.dtype, one_launch: None) -> None:
    generator = torch.Generator().manual_seed(5)
    for shape in ((33, 10), (10,), (4, 3, 5, 2)):
        dim = int(len(shape) > 1)
        x = torch.randn(shape, generator=generator).log_softmax(dim).to(dtype)
        at = shape[:1] + shape[2:] if dim else ()
        target = torch.randint(shape[dim], at, generator=generator)
        for weight, ignored in ((None, -100), (torch.rand(shape[dim]).to(dtype), 1)):
            leaf = x.double().requires_grad_()
            factor = None if weight is None else weight.double()
            wanted = torch.nn.functional.nll_loss(leaf, target, factor, reduction=reduction, ignore_index=ignored)
            grad = torch.rand(wanted.shape, generator=generator).to(dtype)
            wanted.backward(grad.double())
            mine, y = ft.from_torch(x), ft.from_torch(target)
            w = None if weight is None else ft.from_torch(weight)
            results = nll(mine, y, w, reduction, ignored)
            assert results is not None
            exact(results[0], wanted.detach(), EPS[dtype] * 4)
            used = (target != ignored) * (1.0 if factor is None else factor[target])
            exact(results[1], used.double().sum() * (reduction != "none"), EPS[dtype] * 8)
            g = ft.from_torch(grad)
            back = nll_input(g, mine, y, w, reduction, ignored, results[1])
            assert back is not None and leaf.grad is not None
            exact(back, leaf.grad, EPS[dtype] * 4)


def test_target_out_of_range_is_an_error() -> None:
    x = ft.from_torch(torch.zeros(3, 4))
    for bad in (4, -1):
        target = ft.from_torch(torch.tensor([0, 1, 2])) + ft.from_torch(torch.tensor([0, 0, bad - 2]))
        for weight in (None, ft.ones(4)):
            with pytest.raises(IndexError, match=rf"Target {bad} is out of bounds"):
                ft.nn.functional.nll_loss(x, target, weight)
        assert ft.nn.functional.nll_loss(x, target, ignore_index=bad).item() == 0


def test_one_launch_and_several_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other layouts use several launches: rows with gaps, and few long rows."""
    x = torch.randn(6, 4, 5)
    target = torch.randint(4, (6, 5))
    mine, y = ft.from_torch(x), ft.from_torch(target)
    turned = mine.transpose(1, 2)
    exact(turned.softmax(2), x.double().transpose(1, 2).softmax(2), 1e-6)
    wanted = torch.nn.functional.cross_entropy(x.double(), target)
    exact(ft.nn.functional.cross_entropy(mine, y), wanted, 2e-6)
    exact(ft.nn.functional.cross_entropy(turned.transpose(1, 2), y), wanted, 2e-6)
    monkeypatch.setattr(nll_module, "MAX_SUMMED", 8)
    wide, classes = mine.clone().log_softmax(1), y.clone()
    # Another geometry than that of launches that are already prepared.
    rows, of = wide[:5].clone(), classes[:5].clone()
    assert nll(rows, of, None, "mean", -100) is None
    logs = x.double().log_softmax(1)[:5]
    exact(layers.nll_loss(rows, of, None, "mean", -100)[0], torch.nn.functional.nll_loss(logs, target[:5]), 2e-6)
