"""Fourier transforms in torch's forms of call: sizes, dims, norms, dtypes, layouts and errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft

from ..oracle import agree, agree_on, cases

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = tuple(f"{name}{n}" for name in ONE for n in ("n", "2"))
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"n": 3},
    {"n": 7, "norm": "ortho"},
    {"dim": 0, "norm": "forward"},
    {"n": 8, "norm": "backward"},
    {"dim": 9},
    {"n": 0},
    {"norm": "x"},
    {"n": 67, "dim": 1},
)
OF_SEVERAL: tuple[dict[str, Any], ...] = (
    {}, {"s": (3, 4)}, {"s": (7, 6), "norm": "ortho"}, {"dim": (0, 1), "norm": "forward"},
    {"dim": (2, 0)}, {"s": (-1, 2)}, {"dim": ()}, {"dim": (0, 0)}, {"s": (1, 2, 3, 4)},
    {"s": (2,), "dim": (0, 1)}, {"s": (0, 2)}, {"dim": (0, 1, 2)}, {"s": 3, "dim": 1},
)  # fmt: skip
X = torch.arange(60.0).reshape(4, 3, 5).sin()
INPUTS = {
    "real": X,
    "complex": X.to(torch.complex64) * (1 + 0.5j),
    "turned": X.transpose(0, 2).double(),
    "whole": (5 * X).int(),
    "half": X.half(),
    "0-d": X[0, 0, 0],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_transform_arguments(name: str, kind: str) -> None:
    x = INPUTS[kind]
    for how in ARGUMENTS if name in ONE else OF_SEVERAL:
        agree_on(f"fft.{name}", x, how={"rtol": 1e-4, "atol": 1e-4}, **how)


@pytest.mark.parametrize("name", ONE)
def test_repeated_call(name: str) -> None:
    x = ft.from_torch(INPUTS["real"] if name in ("rfft", "ihfft") else INPUTS["complex"])
    for how in ({}, {"n": 3}, {"n": 9}, {"n": 600}, {"n": 9, "dim": 0}, {"norm": "ortho"}):
        first, again = (getattr(ft.fft, name)(x, **how) for _ in range(2))
        assert ft.equal(first, again)


@pytest.mark.parametrize("how", [{}, {"dim": 0}, {"dim": (0, -1)}, {"dim": 7}])
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_fftshift(name: str, how: dict[str, Any]) -> None:
    agree_on(f"fft.{name}", X, **how)
    agree_on(f"fft.{name}", INPUTS["whole"][:, 0], **how)


@pytest.mark.parametrize(
    ("case", "computes"),
    cases("""
        m.fft.fftfreq(5)
        m.fft.fftfreq(8, 0.5, dtype=m.float64)
        m.fft.fftfreq(1)
        m.fft.fftfreq(0)
        m.fft.rfftfreq(9, d=0.1)
        m.fft.rfftfreq(8, out=m.empty(0))
        ! m.fft.fftfreq(5, dtype=m.int64)
        ! m.fft.fftfreq(-1)
        ! m.fft.fftfreq(3.5)
        ! m.fft.rfftfreq(5, dtype=m.complex64)
        m.fft.fft(m.ones(3), out=m.empty(0, dtype=m.complex128))
        m.fft.irfft(m.ones(3), out=m.empty(0, dtype=m.float64))
        ! m.fft.fft(m.ones(3), out=m.empty(3))
        ! m.fft.irfft(m.ones(3), out=m.empty(0, dtype=m.complex64))
        ! m.fft.hfft2(m.ones(3, 3), out=m.empty(0, dtype=m.complex64))
        ! m.fft.fft(m.ones(3), norm=3)
        ! m.fft.rfft(m.ones(3) + 0j)
        ! m.fft.rfftn(m.ones(3, 3), dim=())
        ! m.fft.fft([1, 2])
    """),
)
def test_transforms_agree_with_torch(case: str, computes: bool) -> None:
    assert computes == agree(lambda: eval(case, {"m": ft}), lambda: eval(case, {"m": torch}))


def test_invalid_out_error_names_the_function() -> None:
    for call in (ft.fft.rfft2, ft.linalg.eigvals, ft.fft.hfft):
        result = call(ft.ones(3, 3))
        with pytest.raises(RuntimeError, match=rf"\.{call.__name__}\(\)"):
            call(ft.ones(3, 3), out=ft.empty(0, dtype=ft.int64 if result.is_complex() else ft.cfloat))
