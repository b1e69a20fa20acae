"""Code generated for the types of an op's arguments gives the same signature keys as the general
code."""

from __future__ import annotations

from typing import Any

import pytest

import ftensor as ft
from ftensor.graph.signature import add_arguments, add_settings, argument_types, signature_functions

CALLS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "one tensor": (["a", 1], {}),
    "names": (["a"], {"dim": 1, "keepdim": True, "dtype": None}),
    "numbers": (["a", 1.5, 0.0, -0.0, float("nan"), True, 2j, b"x", "word"], {}),
    "tensors": (["a", "b", None, "c"], {"out": "d", "eps": 1e-5}),
    "a name alone": ([], {"input": "a", "p": 2.0}),
}


@pytest.mark.parametrize("name", CALLS)
def test_generated_key_equals_the_general_key(name: str) -> None:
    stands = {k: ft.ones(2, 3) for k in "abcd"}
    values, named = CALLS[name]
    args = tuple([stands.get(x, x) if type(x) is str else x for x in values])
    kwargs = {k: stands.get(x, x) if type(x) is str else x for k, x in named.items()}
    tensors: list[ft.Tensor] = []
    key: list[Any] = [test_generated_key_equals_the_general_key]
    add_arguments("op", args, kwargs, key, tensors)
    add_settings(tensors, key)
    tell = signature_functions[argument_types(args, kwargs)]
    signature = tell(test_generated_key_equals_the_general_key, (*args, *kwargs.values()))
    assert signature is not None and signature[1] == tuple(key)
    assert [id(t) for t in signature[0]] == [id(t) for t in tensors]


def test_arguments_not_determined_by_types_are_declined() -> None:
    a, b = ft.ones(4), ft.ones(4)
    for args in ((a, a[:2]), (a, [1, 2]), (a, (b,)), (1, 2.0), (a, b, a[1:]), ()):
        assert signature_functions[argument_types(args, {})](None, args) is None


def test_bool_and_numbers_are_different_keys() -> None:
    """1, 1.0 and True are equal, but make different calls."""
    a = ft.ones(2)
    signatures = [signature_functions[argument_types((a, x), {})](None, (a, x)) for x in (1, 1.0, True)]
    assert len({signature[1] for signature in signatures if signature is not None}) == 3
