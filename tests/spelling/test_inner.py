"""torch's functions with a leading underscore, and functions that draw random numbers or have no
samples."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

from ..oracle import agree_on, ours  # noqa: E402

LOOSE = {"rtol": 1e-4, "atol": 1e-4}


def image(seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.randn(4, 6, 5, 7)


@pytest.mark.parametrize("name", ["_softmax_backward_data", "_log_softmax_backward_data"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_softmax(name: str, dtype: torch.dtype) -> None:
    grad, x = image(0).to(dtype), image(1).to(dtype)
    output = x.softmax(1) if name == "_softmax_backward_data" else x.log_softmax(1)
    how = {"rtol": 2e-2, "atol": 2e-2} if dtype is torch.bfloat16 else {}
    assert agree_on(name, grad, output, 1, dtype, how=how)
    word = "grad_input" if name == "_softmax_backward_data" else "out"
    out = ft.empty(0, dtype=ours(dtype))
    gradient = getattr(ft, name)(*ours([grad, output, 1, dtype]), **{word: out})
    assert gradient is out
    assert out.shape == (4, 6, 5, 7)


def test_aten_parts_of_layers() -> None:
    x, running, var = image(0), torch.randn(6), torch.rand(6) + 0.5
    assert agree_on("_native_batch_norm_legit_no_training", x, None, None, running, var, 0.1, 1e-5, how=LOOSE)
    rows = torch.tensor([[1.0, 2.0], [-torch.inf, -torch.inf]])
    assert agree_on("_safe_softmax", rows, -1)
    steps, weight = torch.randn(7, 2, 3), torch.randn(3, 3, 4)
    assert agree_on("conv_tbc", steps, weight, torch.randn(4), 1, how=LOOSE)
    assert not agree_on("conv_tbc", steps[0], weight, torch.randn(4))


def test_linear_cross_entropy() -> None:
    x, weight, chances = torch.randn(3, 4), torch.randn(5, 4), torch.randn(3, 5).softmax(1)
    name, classes = "nn.functional.linear_cross_entropy", torch.tensor([4, 0, 1])
    assert agree_on(name, x, weight, classes, ignore_index=1)
    assert agree_on(name, x, weight, chances)
    assert not agree_on(name, x, weight, chances, ignore_index=1)
    assert not agree_on(name, x.expand(2, 3, 4), weight, classes.expand(2, 3))


def test_sampled_classes() -> None:
    """Their frequencies are those of softmax at temperature 1."""
    ft.manual_seed(0)
    logits = ft.tensor([0.5, 1.5, -1.0])
    drawn = ft.nn.functional.gumbel_softmax(logits.expand(20000, 3), hard=True)
    assert ft.equal(drawn.sum(-1), ft.ones(20000))
    near = (drawn.mean(0) - logits.softmax(-1)).abs().max().item()
    assert near < 0.02  # five times the standard deviation of the largest
    soft = ft.nn.functional.gumbel_softmax(logits.expand(50, 3), tau=0.5)
    assert ft.allclose(soft.sum(-1), ft.ones(50))
