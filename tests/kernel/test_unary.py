"""Unary functions at zeros, infinities, NaNs, extremes and near poles, against torch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftensor as ft
from ftensor.ops.pointwise import unary
from ftensor.rows.catalogue import ROWS
from ftensor.rows.op import Promote

from ..oracle import agree_on, lookup, torch
from ..targets import pairs, some
from . import test_special

REAL = [
    *(row.name for row in (*unary.ARITHMETIC, *unary.EXPONENTIAL, *unary.TRIGONOMETRY)),
    *(row.name for row in (*unary.ROUNDING, *unary.PREDICATES) if row.body),
    "isnan", "isinf", "isfinite", "isreal", "angle", "square", "round", "nan_to_num", "logit",
    "erf", "erfc", "erfinv", "lgamma", "digamma", "i0", "special.i0e", "special.i1", "special.i1e",
    "special.entr", "special.ndtr", "special.log_ndtr", "special.ndtri", "special.erfcx",
]  # fmt: skip
COMPLEX = [
    row.name
    for row in (*unary.ARITHMETIC, *unary.EXPONENTIAL, *unary.TRIGONOMETRY)
    if row.complex_ and row.promote is not Promote.COMPLEX_TO_REAL
]
ACTIVATIONS = [
    "relu", "relu6", "leaky_relu", "silu", "gelu", "hardswish", "hardsigmoid", "hardtanh",
    "softplus", "elu", "selu", "celu", "logsigmoid", "mish", "hardshrink", "softshrink",
    "tanhshrink", "softsign",
]  # fmt: skip
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, float("inf"), float("-inf"), float("nan")]
# Beyond this a pole or a period amplifies the argument's rounding more than any computation.
ORDINARY = st.floats(-8, 8, width=32)


def agree(name: str, values: Any) -> None:
    """Asserts torch's dtype and values."""
    assert agree_on(name, values)


@pytest.mark.parametrize(("name", "dtype"), pairs(REAL, [torch.float32, torch.float64]))
def test_edges_of_real_functions(name: str, dtype: Any) -> None:
    agree(name, torch.tensor(EDGES, dtype=dtype))


@settings(max_examples=25, deadline=None)
@given(st.lists(ORDINARY, min_size=1, max_size=20))
@pytest.mark.parametrize("name", some(REAL, 3))
def test_real_functions(name: str, values: list[float]) -> None:
    agree(name, torch.tensor(values, dtype=torch.float64))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.complex_numbers(max_magnitude=50, allow_nan=False).filter(lambda z: abs(z) > 1e-6 and abs(z.real) > 1e-6),
        min_size=1,
        max_size=20,
    )
)
@pytest.mark.parametrize("name", some(COMPLEX, 2))
def test_complex_functions(name: str, values: list[complex]) -> None:
    agree(name, torch.tensor(values, dtype=torch.complex128))


@settings(max_examples=25, deadline=None)
@given(st.lists(ORDINARY | st.sampled_from(EDGES), min_size=1, max_size=20))
@pytest.mark.parametrize("name", some(ACTIVATIONS, 2))
def test_activations(name: str, values: list[float]) -> None:
    agree(f"nn.functional.{name}", torch.tensor(values, dtype=torch.float64))


@pytest.mark.parametrize("z", [2e38 + 1e38j, 1e-40 + 1e-40j, 89 + 1.5707j, -3e38j, 1 + 1e-20j])
@pytest.mark.parametrize("name", ["sqrt", "log", "asin", "acosh", "atan", "exp", "sinh", "tanh"])
def test_complex_functions_stay_in_range(name: str, z: complex) -> None:
    """Compared with double precision, where squares and exponentials in float32 would overflow."""
    if name == "sinh" and abs(z) > 1e30:
        pytest.skip("no finite value")
    wide = lookup(torch, name)(torch.tensor([z], dtype=torch.complex64).to(torch.complex128))
    got = lookup(ft, name)(ft.from_torch(torch.tensor([z], dtype=torch.complex64))).to_torch()
    torch.testing.assert_close(
        torch.view_as_real(got), torch.view_as_real(wide.to(torch.complex64)), equal_nan=True, rtol=2e-5, atol=1e-5
    )


def test_unsupported_dtypes_raise_torchs_errors() -> None:
    bools, numbers = ft.from_torch(torch.tensor([True])), ft.from_torch(torch.tensor([1j]))
    for name in ("neg", "positive"):
        with pytest.raises(RuntimeError):
            lookup(ft, name)(bools)
    for name in ("sign", "floor", "erf", "i0", "nn.functional.gelu"):
        with pytest.raises(NotImplementedError):
            lookup(ft, name)(numbers)
    with pytest.raises(RuntimeError):
        numbers.abs_()


def test_every_unary_row_has_a_test() -> None:
    """Each row of these categories is in one of the lists above."""
    categories = ("unary", "special", "activation")
    listed = {row.name for row, category in ROWS.items() if category in categories}
    covered = {n.split(".")[-1] for n in (*REAL, *COMPLEX, *ACTIVATIONS)}
    assert len(listed) > 70
    elsewhere = {"conj_physical", "threshold", "bitwise_not", "prelu", "layer_norm", "frexp"}
    elsewhere |= {"narrow_layer_norm"}  # tests/kernel/test_rounding.py
    elsewhere |= {"grid_place"}  # in grid_sample, tests/spelling/test_spatial.py
    assert listed - covered - test_special.COVERED == elsewhere
