"""The standard's special cases: infinities, NaN and signed zeros, compared with array-api-strict."""

from __future__ import annotations

import numpy as np
import pytest

strict = pytest.importorskip("array_api_strict", reason="it is what the results are compared with")

import ftensor as ft  # noqa: E402

xp = ft.array_api
NAN, INF = float("nan"), float("inf")
VALUES = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 1e30, -1e30, 1e-30]
PARTS = [NAN, INF, -INF, 0.0, -0.0, 1.0, -2.0]
UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log "
    "log10 log1p log2 negative positive reciprocal round sign signbit sin sinh sqrt square tan "
    "tanh trunc"
)
# The standard leaves the sign of maximum's and minimum's zero open.
BINARY = (
    "add atan2 copysign divide equal greater greater_equal hypot less less_equal "
    "logaddexp maximum minimum multiply nextafter not_equal pow remainder subtract"
)
# For complex numbers. The standard leaves the components of an infinite number's sign open.
COMPLEX = (
    "abs acos acosh asin asinh atan atanh conj cos cosh exp imag isfinite isinf isnan log "
    "log10 log1p log2 negative real sin sinh sqrt square tan tanh"
)
FOLDS = "all any max mean min prod std sum var argmax argmin cumulative_sum count_nonzero"
FOLDED = ([1.0, NAN, 2.0], [INF, -INF], [INF, 1.0], [-0.0, -0.0], [0.0, NAN])


def same(name: str, *arrays: np.ndarray, zeros: bool = True) -> None:
    """Asserts equal dtype, values within rounding, and signs of zeros."""
    with np.errstate(all="ignore"):
        mine = getattr(xp, name)(*[xp.asarray(a) for a in arrays]).numpy()
        wanted = np.asarray(getattr(strict, name)(*[strict.asarray(a) for a in arrays]))
        assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
        parts = [(mine, wanted)]
        if mine.dtype.kind == "c":
            lost = np.isnan(wanted.real) | np.isnan(wanted.imag)  # NaN next to an infinity has any sign
            sides = [(mine.real, wanted.real), (mine.imag, wanted.imag)]
            parts = [tuple(np.where(lost, np.abs(x), x) for x in side) for side in sides]
        for a, b in parts:
            np.testing.assert_allclose(a, b, 1e-5 if b.dtype.itemsize < 8 else 1e-12)
            if zeros and b.dtype.kind == "f" and mine.dtype.kind == "f":
                zero = b == 0
                np.testing.assert_array_equal(np.signbit(a[zero]), np.signbit(b[zero]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_functions_of_one_operand(dtype: str) -> None:
    """Calls each function of one operand."""
    for name in UNARY.split():
        same(name, np.array(VALUES, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_functions_of_two_operands(dtype: str) -> None:
    """Calls each function of two operands with all pairs."""
    a = np.array(VALUES, dtype)
    for name in BINARY.split():
        same(name, np.repeat(a, len(a)), np.tile(a, len(a)), zeros=name[:3] not in ("max", "min"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floor_divide_of_infinities_is_the_quotient_rounded_down(dtype: str) -> None:
    """The standard's table has these values. NumPy, and so array-api-strict, gives NaN, or -1 for
    -0."""
    a = np.array(VALUES, dtype)
    x, y = np.repeat(a, len(a)), np.tile(a, len(a))
    infinite = np.isinf(x) | np.isinf(y)
    same("floor_divide", x[~infinite], y[~infinite])
    x, y = x[infinite], y[infinite]
    with np.errstate(all="ignore"):
        wanted = np.floor(x / y)
    mine = xp.floor_divide(xp.asarray(x), xp.asarray(y)).numpy()
    np.testing.assert_array_equal(mine, wanted)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(mine[number]), np.signbit(wanted[number]))
    assert xp.floor_divide(xp.asarray([-INF], dtype=getattr(xp, dtype)), 2.0).tolist() == [-INF]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_special_functions_of_complex_operands(dtype: str) -> None:
    """Calls each function of complex numbers with all pairs of real and imaginary parts."""
    a = np.array([complex(re, im) for re in PARTS for im in PARTS], dtype)
    for name in COMPLEX.split():
        same(name, a)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_expm1_of_complex_infinities_and_zeros(dtype: str) -> None:
    """Tests the standard's special cases of `expm1`. NumPy, and so array-api-strict, misses
    some."""
    cases = {
        complex(INF, 0): complex(INF, 0),
        complex(-INF, 1): complex(-1, 0),
        complex(INF, 1): complex(INF, INF),
        complex(INF, -2): complex(-INF, -INF),
        complex(-INF, INF): complex(-1, 0),
        complex(INF, INF): complex(INF, NAN),
        complex(-INF, NAN): complex(-1, 0),
        complex(INF, NAN): complex(INF, NAN),
        complex(NAN, 0): complex(NAN, 0),
        complex(NAN, 1): complex(NAN, NAN),
        complex(1, INF): complex(NAN, NAN),
        complex(1, NAN): complex(NAN, NAN),
    }
    mine = xp.expm1(xp.asarray(np.array(list(cases), dtype))).numpy()
    wanted = np.array(list(cases.values()), dtype)
    real = np.where(np.isnan(wanted.imag), np.abs(mine.real), mine.real)  # next to NaN, either sign is right
    np.testing.assert_allclose(real, wanted.real, 4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(mine.imag, wanted.imag)
    same("expm1", np.array([complex(re, im) for re in (0.0, 1.0, -2.0) for im in (0.0, -0.0, 1.0, -2.0)], dtype))
    zeros = xp.expm1(xp.asarray(np.array([complex(-0.0, 0.0), complex(-0.0, -0.0)], dtype))).numpy()
    assert zeros.tobytes() == np.array([complex(0.0, 0.0), complex(0.0, -0.0)], dtype).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_functions_of_several_operands(dtype: str) -> None:
    """Calls sums, extremes and related functions. Sorts put NaN last."""
    for name in FOLDS.split():
        for values in FOLDED:
            same(name, np.array(values, dtype))
    for name in ("sort", "argsort"):
        same(name, np.array(VALUES, dtype))
