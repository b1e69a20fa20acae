"""Comparisons with torch, the oracle: the same call in both libraries, and equality of the
results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402


def ours(value: Any) -> Any:
    """Returns torch's tensors (also in lists), dtypes and names of functions as ftensor's."""
    if isinstance(value, torch.Tensor):
        return ft.from_torch(value.detach().clone(memory_format=torch.preserve_format))
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(ft, str(value).rpartition(".")[2])
    if isinstance(value, torch.device):
        return ft.zeros(1).device
    if type(value) in (list, tuple):
        return type(value)(ours(v) for v in value)
    return value


def from_element_9(t: torch.Tensor, step: int) -> ft.Tensor:
    """Returns the same values in a larger memory: from element 9 on, with neighbours `step`
    elements apart."""
    memory = torch.ones(t.numel() * step + 20, dtype=t.dtype)
    strides = tuple([s * step for s in t.stride()])
    memory.as_strided(t.shape, strides, 9).copy_(t)
    return ours(memory).as_strided(tuple(t.shape), strides, 9)


def lookup(module: Any, name: str) -> Any:
    """Returns the function of a dotted name."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


def outcome(call: Callable[[], Any]) -> Any:
    """Returns a call's result, or the exception it raises. Warnings are tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - which one is what is compared
            return error


def same(
    mine: Any, theirs: Any, *, strides: bool = True, exact: bool = False, zeros: bool = False, **tolerance: float
) -> None:
    """Asserts equal results: tensors in dtype, shape, strides and values, others by `==`, part by
    part.

    Strides of dims of one element, and of tensors without elements, have no meaning and are not
    compared. NaN equals NaN. `zeros` requires equal signs of zeros, `exact` equal values.
    """
    if isinstance(theirs, torch.Tensor):
        assert isinstance(mine, ft.Tensor), mine
        actual = mine.to_torch()
        assert (actual.dtype, tuple(mine.shape)) == (theirs.dtype, tuple(theirs.shape))
        if strides:
            assert steps(mine) == steps(theirs)
        if exact:
            tolerance = {"rtol": 0, "atol": 0}
        if (exact or zeros) and not theirs.is_complex():
            zero = theirs == 0
            assert torch.equal(actual.signbit() & zero, theirs.signbit() & zero), "a zero's sign"
        torch.testing.assert_close(actual, theirs, equal_nan=True, **tolerance)
    elif isinstance(theirs, (tuple, list)) and not isinstance(theirs, torch.Size):
        assert fields(mine) == fields(theirs)
        for one, other in zip(mine, theirs, strict=True):
            same(one, other, strides=strides, exact=exact, zeros=zeros, **tolerance)
    elif isinstance(theirs, torch.dtype):
        assert str(mine).rpartition(".")[2] == str(theirs).rpartition(".")[2]
    elif isinstance(theirs, torch.Size):
        assert tuple(mine) == tuple(theirs)
    else:
        assert mine == theirs or (mine != mine and theirs != theirs), (mine, theirs)


def steps(t: Any) -> list[int]:
    """Returns the strides that have a meaning."""
    return [s for s, n in zip(t.stride(), t.shape) if n > 1] if t.numel() else []


def fields(results: Any) -> list[str]:
    """Returns the type of several results and their field names."""
    names = [n for n in ("values", "indices", "min", "max") if hasattr(type(results), n)]
    return [type(results).__name__, *names]


def agree(mine: Callable[[], Any], theirs: Callable[[], Any], **how: Any) -> bool:
    """Returns True if both calls give the `same` result, False if both raise exceptions of one
    class. Fails otherwise."""
    expected, got = outcome(theirs), outcome(mine)
    if isinstance(expected, Exception):
        assert type(got) is type(expected), f"torch raises {expected!r}, ftensor: {got!r}"
        assert str(got)
        return False
    if isinstance(got, Exception):
        raise got
    if expected is NotImplemented:
        assert got is NotImplemented
        return False
    same(got, expected, **how)
    return True


def agree_on(name: str, *args: Any, how: dict[str, Any] | None = None, **kwargs: Any) -> bool:
    """Asserts that both libraries agree on a function of torch's tensors."""
    operands, options = ours(args), {k: ours(v) for k, v in kwargs.items()}
    return agree(
        lambda: lookup(ft, name)(*operands, **options), lambda: lookup(torch, name)(*args, **kwargs), **(how or {})
    )


def cases(text: str) -> list[Any]:
    """Returns (case, whether both compute it) for each line. "! " marks cases that both refuse."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [pytest.param(x.removeprefix("! "), not x.startswith("! "), id=x) for x in lines]
