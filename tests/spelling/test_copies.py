"""Copies of views without samples in torch's database, and functions under second names."""

from __future__ import annotations

from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend

from ..oracle import agree, torch

COPIES = {
    "detach_copy": ((3, 4), ()),
    "select_copy": ((3, 4), (1, 2)),
    "split_copy": ((5, 2), (2, 0)),
    "view_as_real_copy": ((2, 3), ()),
    "view_as_complex_copy": ((3, 2), ()),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_have_their_own_memory(name: str) -> None:
    shape, args = COPIES[name]
    of = "complex64" if name == "view_as_real_copy" else "float32"

    def called(lib: Any) -> Any:
        x = lib.arange(12.0)[: shape[0] * shape[1]].reshape(shape).to(getattr(lib, of))
        result = getattr(lib, name)(x, *args)
        x.zero_()
        return result

    assert agree(lambda: called(ft), lambda: called(torch))


def test_narrow_copy_method_and_cartesian_prod_of_one_vector() -> None:
    x = ft.arange(6).reshape(2, 3)
    assert x.narrow_copy(1, 1, 2).tolist() == [[1, 2], [4, 5]]
    assert ft.cartesian_prod(x[0]).data_ptr() == x.data_ptr()


def test_cov_of_weights_that_nearly_cancel() -> None:
    weights = [0.3666413426399231, 0.05830073356628418, 0.7006447315216064]

    def called(lib: Any) -> Any:
        x = lib.tensor([[-8.5, -1.75, -4.25], [-2.5, -8.0, 3.5]])
        result = lib.cov(x, correction=2, aweights=lib.tensor(weights))
        spared = default_backend().target.spares_double
        return result if spared else result.round(decimals=-1)

    assert agree(lambda: called(ft), lambda: called(torch))


def test_dtype_of_weights_promotes_cov() -> None:
    for of in ("float16", "float32", "float64"):
        for to in ("float16", "float32", "float64"):

            def called(lib: Any, of: str = of, to: str = to) -> Any:
                x = lib.arange(6.0).reshape(2, 3).to(getattr(lib, of))
                return lib.cov(x * x, aweights=lib.tensor([1, 2, 3], dtype=getattr(lib, to)))

            assert agree(lambda: called(ft), lambda: called(torch))


@pytest.mark.parametrize(
    "name",
    [
        "bilinear",
        "channel_shuffle",
        "cosine_similarity",
        "pairwise_distance",
        "pdist",
        "pixel_shuffle",
        "pixel_unshuffle",
        "prelu",
    ],
)
def test_aliases_are_the_same_functions(name: str) -> None:
    assert getattr(ft, name) is getattr(ft.nn.functional, name)
