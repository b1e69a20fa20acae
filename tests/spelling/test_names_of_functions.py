"""Names and signatures of public functions in help, editors and messages."""

from __future__ import annotations

import inspect
import operator
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import ftensor as ft

SPACES = ("", "Tensor", "special", "fft", "linalg", "nn.functional", "masked", "signal", "signal.windows")
# torch's functions accept one of two argument lists, or anything a tensor can be made of.
VARIADIC = {"Tensor", "lstm", "gru", "rnn_tanh", "rnn_relu"}


def functions() -> Iterator[tuple[str, str, Any]]:
    """Yields (namespace, name, value) of the public functions and methods, including classes."""
    for space in SPACES:
        owner = operator.attrgetter(space)(ft) if space else ft
        for name in dir(owner):
            value = inspect.getattr_static(owner, name)
            if name[0] != "_" and (inspect.isfunction(value) or inspect.isclass(value)):
                yield space, name, value


def test_signatures_name_their_arguments() -> None:
    """An in-place form has the arguments of its function."""
    bare = set()
    for _, name, value in functions():
        try:
            parameters = inspect.signature(value).parameters
        except ValueError:  # an exception class, or one of the interpreter's
            continue
        if {"args", "kwargs"} <= parameters.keys() <= {"input", "args", "kwargs"}:
            bare.add(name)
    assert bare == VARIADIC


@pytest.mark.parametrize(
    ("call", "signature"),
    [
        ("Tensor.add_", "(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor"),
        ("Tensor.addcmul_", "(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor"),
        ("clamp_", "(input: Tensor, min: Any = None, max: Any = None) -> Tensor"),
        ("round_", "(input: Tensor, *, decimals: int = 0) -> Tensor"),
        ("nn.functional.elu_", "(input: Tensor, alpha: float = 1.0) -> Tensor"),
    ],
)
def test_in_place_forms_show_their_arguments(call: str, signature: str) -> None:
    assert str(inspect.signature(operator.attrgetter(call)(ft))).replace("input: Any", "input: Tensor") == signature


def test_functions_and_aliases_have_public_names() -> None:
    wrong = [
        (space, name, value.__name__, value.__qualname__)
        for space, name, value in functions()
        if inspect.isfunction(value) and (value.__name__, value.__qualname__.rpartition(".")[2]) != (name, name)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("alias", "of"),
    [
        ("special.expit", "sigmoid"),
        ("special.psi", "digamma"),
        ("special.multigammaln", "mvlgamma"),
        ("absolute", "abs"),
        ("concat", "cat"),
        ("clip", "clamp"),
        ("Tensor.greater_", "gt_"),
    ],
)
def test_help_of_an_alias_begins_with_its_name(alias: str, of: str) -> None:
    call = operator.attrgetter(alias)(ft)
    name = alias.removeprefix("Tensor.")
    assert call.__doc__.startswith(f"{name}(") and f"Alias of `{of}`." in call.__doc__
    assert call.__name__ == name.rpartition(".")[2]
    if not alias.startswith("Tensor."):
        assert pickle.loads(pickle.dumps(call)) is call


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ft.special.expit('a')", r"^expit\(\): "),
        ("ft.special.expit()", r"^expit\(\) missing"),
        ("ft.special.multigammaln('a', 2)", r"^multigammaln\(\): "),
        ("ft.subtract('a', 1)", r"^subtract\(\): "),
        ("ft.concat(3)", r"^concat\(\): "),
        ("ft.ger(1, 2)", r"^ger\(\): "),
        ("x.absolute(3)", r"^absolute\(\) takes"),
        ("x.less_equal()", r"^less_equal\(\) missing"),
        ("ft.sigmoid('a')", r"^sigmoid\(\): "),
    ],
)
def test_messages_name_the_called_alias(call: str, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        eval(call, {"ft": ft, "x": ft.ones(3)})
