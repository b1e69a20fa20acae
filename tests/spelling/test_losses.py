"""Losses of all dtypes, of single samples, with weights: torch's results and errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree_on, cases, torch
from .test_edges import F, agree_on_case

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.uint8,
    torch.bool,
    torch.complex64,
)
PAIRS = list(product(DTYPES, DTYPES))


@pytest.mark.parametrize(
    "name",
    [
        "huber_loss",
        "soft_margin_loss",
        "kl_div",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "hinge_embedding_loss",
    ],
)
def test_pairs_of_dtypes(name: str) -> None:
    x, y = torch.tensor([0, 1, 1]), torch.tensor([1, 1, 0])
    for a, b in PAIRS:
        agree_on(F + name, x.to(a), y.to(b), reduction="none")
    agree_on(F + name, x.long(), y.long())  # integers have no mean


@pytest.mark.parametrize("word", ["weight", "pos_weight"])
def test_weights_do_not_promote_cross_entropy(word: str) -> None:
    x, y = torch.tensor([0.5, 0.25]), torch.tensor([1.0, 0.0])
    for of in DTYPES:
        weight = torch.tensor([1, 2]).to(of)
        agree_on(F + "binary_cross_entropy_with_logits", x, y, **{word: weight})
        if word == "weight":
            agree_on(F + "binary_cross_entropy", x, y, weight)


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_dtypes_of_classes_and_weights(name: str) -> None:
    classes, smooth = torch.tensor([1, 2]), {"label_smoothing": 0.1}
    for of, weights in PAIRS:
        x, weight = torch.ones(2, 3).to(of), torch.tensor([3, 1, 2]).to(weights)
        agree_on(F + name, x, classes, weight)
        if name == "cross_entropy" and of is torch.float32:
            agree_on(F + name, x, classes, weight, **smooth)
            agree_on(F + name, x, x, weight, **smooth)


@pytest.mark.parametrize(
    ("case", "computed"),
    cases(
        """
        F.nll_loss(L.arange(5.), L.tensor([1]))
        F.nll_loss(L.arange(5.), L.tensor([1]), reduction="none")
        F.nll_loss(L.arange(5.), L.tensor([3]), L.arange(5.))
        F.nll_loss(L.arange(5.), L.tensor([1]), ignore_index=1)
        F.nll_loss(L.arange(5.).half(), L.tensor([2], dtype=L.uint8), reduction="none")
        ! F.nll_loss(L.arange(5.), L.tensor([7]))
        ! F.nll_loss(L.arange(5.), L.tensor([1, 2]))
        ! F.nll_loss(L.arange(5.), L.tensor([[1]]))
        ! F.nll_loss(L.arange(5.), L.tensor([], dtype=L.int64))
        F.cross_entropy(L.arange(5.), L.tensor([1]), reduction="none")
        ! F.cross_entropy(L.arange(5.), L.tensor([1]), label_smoothing=.1)
        ! F.cross_entropy(L.arange(5.), L.tensor([1, 2]), label_smoothing=.1)
        F.cross_entropy(L.arange(6.).reshape(2, 3), L.tensor([1, 2]), label_smoothing=-.5)
        F.cross_entropy(L.arange(6.).reshape(2, 3), L.ones(2, 3), label_smoothing=-.5)
        F.cross_entropy(L.arange(6.).reshape(2, 3), L.tensor([1, 2]), label_smoothing=NAN)
        F.cross_entropy(L.arange(6.).reshape(2, 3), L.tensor([1, 2]), label_smoothing=1)
        ! F.cross_entropy(L.arange(6.).reshape(2, 3), L.tensor([1, 2]), label_smoothing=1.5)
        ! F.cross_entropy(L.arange(6.).reshape(2, 3), L.ones(2, 3), label_smoothing=1.5)
        ! F.soft_margin_loss(L.ones(3), L.ones(2, 3))
        F.soft_margin_loss(L.ones(2, 3), L.ones(3))
        F.huber_loss(L.tensor(1.), L.zeros(3, dtype=L.float64), reduction="none")
        F.huber_loss(L.ones(3), L.tensor(0., dtype=L.float64), reduction="none")
        ! F.binary_cross_entropy(L.ones(2, 3), L.ones(2, 3), L.ones(2, 2, 3))
        ! F.binary_cross_entropy(L.ones(2, 3) * 2, L.ones(2, 3), reduction="all")
        ! F.binary_cross_entropy_with_logits(L.ones(2, 3), L.ones(2, 3), L.ones(2, 2, 3))
        ! F.binary_cross_entropy_with_logits(L.ones(3), L.ones(3), pos_weight=L.ones(2, 3))
        F.hinge_embedding_loss(L.tensor([0, 1, 3]), L.tensor([-1, 1, -1]), 2.5, reduction="none")
        F.hinge_embedding_loss(L.ones(1).half() / 3, -L.ones(1), .7, reduction="none")
        ! F.hinge_embedding_loss(L.ones(3, dtype=L.uint8), L.ones(3), -1.5, reduction="none")
        ! F.hinge_embedding_loss(L.ones(3).half(), L.ones(3), 1e10)
        """
    ),
)
def test_losses_agree_with_torch(case: str, computed: bool) -> None:
    assert agree_on_case(case) is computed


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_huber_loss_has_the_strides_of_its_input(reduction: str) -> None:
    x, y = torch.arange(6.0).reshape(2, 3).t(), torch.ones(3, 2)
    for a, b in ((x, y), (y, x), (x[:1].expand(3, 2), y)):
        agree_on(F + "huber_loss", a, b, reduction, how={"strides": True})


def test_targets_of_one_sample_by_dtype() -> None:
    for of in DTYPES:
        target: Any = torch.tensor([1]).to(of)
        agree_on(F + "nll_loss", torch.arange(5.0), target)


def test_broadcasting_loss_warns_at_the_callers_line() -> None:
    x, y = ft.ones(3), ft.ones(3, 1)
    for _ in range(2):  # a new call, and a cached one
        with pytest.warns(UserWarning, match="seldom meant") as caught:
            ft.nn.functional.mse_loss(x, y)
        assert [w.filename for w in caught] == [__file__]
