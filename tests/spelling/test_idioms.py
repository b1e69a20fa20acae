"""Idioms of torch programs: no_grad, cuda.is_available(), modules, missing names."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor.errors.torch import _ADVICE, _CODE
from ftensor.modules import CLASSES

from ..oracle import same

x = ft.tensor([[-1.5, 0.5, 2.0], [0.25, -0.75, 1.0]])
t = x.to_torch().clone()


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Moves the tensors to the current device, since other tests may have changed it."""
    global x
    x = ft.from_torch(t).clone()


def test_grad_mode_contexts_and_decorators_do_nothing() -> None:
    @ft.no_grad()
    def one(value: int) -> int:
        return value + 1

    @ft.inference_mode
    def two(value: int) -> int:
        return value + 2

    @ft.no_grad
    def three(value: int) -> int:
        return value + 3

    with ft.no_grad(), ft.inference_mode(False), ft.set_grad_enabled(False):
        assert (one(1), two(1), three(1)) == (2, 3, 4)
    assert not ft.is_grad_enabled()
    assert one.__name__ == "one"


def test_gradients_are_refused() -> None:
    for call in (ft.enable_grad, lambda: ft.set_grad_enabled(True)):
        with pytest.raises(RuntimeError, match="records no gradients"):
            call()


def test_cuda_is_not_available() -> None:
    assert ft.cuda.is_available() is False
    assert ft.cuda.device_count() == 0
    with pytest.raises(AttributeError, match=r"ft\.fpga"):
        ft.cuda.synchronize  # type: ignore[attr-defined]


ONE_TENSOR = [n for n, c in CLASSES.items() if c.tensors == 1]
ACTIVATIONS = [n for n in ONE_TENSOR if not re.search("[Pp]ool|[Dd]rop|Pixel", n)]
IMAGES = ("ChannelShuffle", "Unfold", "LocalResponseNorm", "GLU")
NEEDED: dict[str, tuple[Any, ...]] = {
    "Threshold": (0.1, 20.0),
    "Softmax": (1,),
    "LogSoftmax": (1,),
    "Softmin": (0,),
    "GLU": (0,),
    "ChannelShuffle": (2,),
    "Unfold": (2,),
    "LocalResponseNorm": (2,),
}


@pytest.mark.parametrize("name", CLASSES)
def test_modules_are_constructed_as_torchs(name: str) -> None:
    ours, theirs = (
        [p for p in inspect.signature(kind).parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        for kind in (CLASSES[name], getattr(torch.nn, name))
    )
    names = [p.name for p in ours]
    assert names == [p.name for p in theirs][: len(names)]
    for a, b in zip(ours, theirs):
        assert a.default == b.default or a.default is b.default, a.name


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_give_torchs_results(name: str) -> None:
    ours, theirs = (getattr(library.nn, name)(*NEEDED.get(name, ())) for library in (ft, torch))
    a = ft.arange(32.0).reshape(2, 4, 2, 2) if name in IMAGES else x
    same(ours(a), theirs(a.to_torch().clone()))


def test_losses_give_torchs_results() -> None:
    target, classes = ft.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), ft.tensor([2, 0])
    for name, at in (
        ("MSELoss", target),
        ("L1Loss", target),
        ("BCEWithLogitsLoss", target),
        ("SmoothL1Loss", target),
        ("HuberLoss", target),
        ("KLDivLoss", target),
        ("CrossEntropyLoss", classes),
        ("NLLLoss", classes),
        ("MultiMarginLoss", classes),
    ):
        for reduction in ("mean", "sum"):
            ours, theirs = (getattr(lib.nn, name)(reduction=reduction) for lib in (ft, torch))
            same(ours(x, at), theirs(t, at.to_torch()))


def test_dropout_is_off_in_evaluation() -> None:
    drop = ft.nn.Dropout(1.0)
    assert drop(x).eq(0).all().item()
    assert drop.eval()(x).equal(x)
    assert drop.to("cpu") is drop
    assert list(drop.parameters()) == []
    assert repr(ft.nn.LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)"
    with pytest.raises(TypeError, match="slope"):
        ft.nn.LeakyReLU(slope=1)


SHAPED = {"A": "ft.eye(3)", "B": "ft.ones(3, 1)", "size": "(9,)", "groups": "1"}


@pytest.mark.parametrize(("name", "code"), _CODE.items())
def test_code_in_messages_runs(name: str, code: str) -> None:
    scope = {"ft": ft, "torch": torch, "data": [1, 0], "x": ft.eye(3) if "shuffle" not in code else ft.ones(1, 4, 2)}
    scope |= {word: eval(text, {"ft": ft}) for word, text in SHAPED.items()}
    eval(code, scope)
    owner: Any = ft.Tensor if name.startswith("Tensor.") else ft
    last = name.rpartition(".")[2]
    with pytest.raises(AttributeError, match=re.escape(code)):
        getattr(scope["x"] if owner is ft.Tensor else ft, last)


def test_names_with_advice_do_not_exist() -> None:
    for name in _ADVICE:
        owner = ft.Tensor if name.startswith("Tensor.") else ft
        assert not hasattr(owner, name.rpartition(".")[2]) or owner is ft.Tensor, name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vmap", "model.to"),
        ("embedding", r"ft\.nn\.functional\.embedding"),
        ("set_num_threads", "taskset"),
        ("quantize_per_tensor", "ftensor does not"),
    ],
)
def test_no_advice_for_unknown_names(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said) as refusal:
        getattr(ft, name)
    assert "from_torch(torch." not in str(refusal.value)
