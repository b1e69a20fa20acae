"""Edge cases of values: the sign of zero results, the order of steps, overflow of sums."""

from __future__ import annotations

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend

from ..oracle import agree, lookup, torch

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("of", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    "call",
    [
        "clamp(a, 0., 1.)",
        "clamp(a, -0., 1.)",
        "clamp(a, min=0.)",
        "clamp(a, max=-0.)",
        "clamp(a, -b, b)",
        "maximum(a, -a)",
        "minimum(a, -a)",
        "amax(L.stack([a, -a]), 0)",
        "amin(L.stack([a, -a]), 0)",
    ],
)
def test_extremes_of_two_zeros_return_the_first(call: str, of: str) -> None:
    def run(lib: object) -> object:
        a = lib.tensor([0.0, -0.0], dtype=getattr(lib, of))  # type: ignore[attr-defined]
        b = lib.tensor([0.0, 0.0], dtype=getattr(lib, of))  # type: ignore[attr-defined]
        return eval(f"L.{call}", {"L": lib, "a": a, "b": b})

    assert agree(lambda: run(ft), lambda: run(torch), exact=True)


@pytest.mark.parametrize("big", [1e30, 1e-30])
def test_addcdiv_multiplies_before_it_divides(big: float) -> None:
    for name in ("addcdiv", "addcmul"):

        def run(lib: object, name: str = name) -> object:
            x = lib.tensor([1.0, 2.0])  # type: ignore[attr-defined]
            b = lib.tensor([big, 3.0])  # type: ignore[attr-defined]
            c = b if name == "addcdiv" else 1 / b
            return getattr(lib, name)(x, b, c, value=big)

        assert agree(lambda: run(ft), lambda: run(torch))


def ulps(result: np.ndarray, exact: np.ndarray) -> float:
    """Returns the largest error in units of the last place of a float32."""
    ulp = np.spacing(np.maximum(np.abs(exact.astype(np.float32)), np.float32(2**-126)))
    return float(np.max(np.abs(result - exact) / ulp))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_trigonometric_functions_are_accurate(name: str) -> None:
    rng = np.random.default_rng(3)
    turns = np.pi / 2 * rng.integers(1, 100_000, 2000)
    sizes = [np.exp2(rng.uniform(-140, 17, 4000)), rng.uniform(-10, 10, 4000), turns, -turns]
    far = np.exp2(rng.uniform(17, 127.99, 4000))
    sizes += [far, -far, [-16367173 * 2.0**72]]  # the float nearest to a multiple of pi / 2
    x = np.concatenate([*sizes, [0.0, -0.0]]).astype(np.float32)
    exact = getattr(np, name)(x.astype(np.float64))
    result = getattr(ft, name)(ft.tensor(x)).numpy()
    worst = ulps(result, exact)
    own = default_backend().target.dialect != "intel"  # whose boards have their own sine
    assert worst < (1.2 if own else 4.1), worst
    assert np.array_equal(np.signbit(result[-2:]), np.signbit(exact[-2:]))


def test_trigonometric_functions_of_huge_angles() -> None:
    far = [INF, -INF, NAN, 3.4e38, 2e5, 3e5, 1e-40, -0.0]
    for name in ("sin", "cos", "tan"):
        x = torch.tensor(far * 8)
        result = getattr(ft, name)(ft.from_torch(x)).to_torch()
        torch.testing.assert_close(result, getattr(torch, name)(x), rtol=5e-7, atol=0, equal_nan=True)


def test_tanh_is_accurate() -> None:
    rng = np.random.default_rng(4)
    turns = np.log(2) / 4 * np.arange(1, 60)  # where the exponential switches to another power of two
    sizes = [np.exp2(rng.uniform(-149, 3.3, 6000)), rng.uniform(0, 10, 6000), turns]
    x = np.concatenate([*sizes, [9.01, 3e38, INF, 0.0]])
    x = np.concatenate([x, -x, [NAN]]).astype(np.float32)
    result = ft.tanh(ft.tensor(x)).numpy()
    exact = np.tanh(x.astype(np.float64))
    own = "-DFT_OWN_TANH" in default_backend().target.build_options
    worst = ulps(result[:-1], exact[:-1])
    assert worst < (1.2 if own else 5), worst
    assert np.isnan(result[-1]) and np.abs(result[:-1]).max() <= 1
    assert np.array_equal(np.signbit(result[:-1]), np.signbit(x[:-1]))


ARCS = ("erf", "erfinv", "asin", "acos", "atan", "atan2", "special.ndtri")


@pytest.mark.parametrize("name", ARCS)
def test_arcs_and_erf_are_accurate(name: str) -> None:
    """Includes the branch points 0.5, 0.85, 1 and 4, and the arguments of w = 3.5 and s = 4 in
    erfinv and ndtri."""
    rng = np.random.default_rng(5)
    sizes = [np.exp2(rng.uniform(-149, 128, 1000)), rng.uniform(0, 1, 2000), 1 - np.exp2(rng.uniform(-24, 0, 1000))]
    sizes += [at + rng.uniform(-0.04, 0.04, 500) for at in (0.5, 0.85, 1, 4, 0.985)]
    sizes += [np.exp2(rng.uniform(-30, -20, 500)), [0.125, 0.25, 0.5, 0.85, 1, 4, 1e37, 3e38, INF, 0.0]]
    x = np.concatenate(sizes)
    x = np.concatenate([x, -x, [NAN]]).astype(np.float32)
    operands = [x, rng.permutation(x)] if name == "atan2" else [x]
    exact = lookup(torch, name)(*(torch.from_numpy(t.astype(np.float64)) for t in operands)).numpy()
    result = lookup(ft, name)(*map(ft.tensor, operands)).numpy()
    finite = np.isfinite(exact)
    assert np.array_equal(np.isnan(result), np.isnan(exact))
    assert np.array_equal(np.isinf(result), np.isinf(exact))
    worst = ulps(result[finite], exact[finite])
    assert worst < (3 if name == "special.ndtri" else 1.5), worst
    numbers = ~np.isnan(exact)
    assert np.array_equal(np.signbit(result[numbers]), np.signbit(exact[numbers]))


def test_atan2_of_special_values_is_torchs() -> None:
    ends = [0.0, -0.0, 1.0, -1.0, 1e-45, 3.4e38, -3.4e38, 1e37, INF, -INF, NAN]
    y, x = (torch.tensor(t.ravel()) for t in np.meshgrid(*[np.array(ends, np.float32)] * 2))
    result = ft.atan2(ft.from_torch(y), ft.from_torch(x)).to_torch()
    expected = torch.atan2(y, x)
    torch.testing.assert_close(result, expected, rtol=3e-7, atol=0, equal_nan=True)
    numbers = ~expected.isnan()
    assert torch.equal(result.signbit()[numbers], expected.signbit()[numbers])


RANGES = {
    "float32": ([1e30, 3e30], [3e38, 3e38], [1e-25, 3e-25], [1e-38] * 3, [1e20] * 5, [88.0, 90.0]),
    "float16": ([6e4, 6e4], [6e4, 6e4, -6e4], [1e-7] * 4, [2048.0] + [1.0] * 8, [11.0, 11.2]),
    "bfloat16": ([3e38, 3e38], [1e-38] * 4, [256.0] + [1.0] * 8, [89.0, 88.0]),
}
FOLDS = "sum() mean() prod() norm() norm(1) norm(3) logsumexp(0) nansum() softmax(0)"


@pytest.mark.parametrize("of", RANGES)
@pytest.mark.parametrize("call", FOLDS.split())
def test_sums_overflow_where_torchs_do(call: str, of: str) -> None:
    for values in RANGES[of]:

        def run(lib: object, values: list[float] = values) -> object:
            x = lib.tensor(values, dtype=getattr(lib, of))  # type: ignore[attr-defined]
            return eval(f"x.{call}", {"x": x})

        assert agree(lambda: run(ft), lambda: run(torch))


@pytest.mark.core
@pytest.mark.parametrize("first", [1, 3, 8])
def test_unaligned_vectors_of_float16(first: int) -> None:
    """Some runtimes assume that such vectors are aligned."""
    values = np.arange(100, dtype=np.float16)
    base = ft.tensor(values)
    base[first:].fill_(0.5)
    values[first:] = 0.5
    assert base.tolist() == values.tolist()
    base[first:].add_(ft.arange(100.0)[first:])
    values[first:] += np.arange(100, dtype=np.float16)[first:]
    assert base.tolist() == values.tolist()
    assert (base[first:] * 2).tolist() == (values[first:] * 2).tolist()
    assert (base[first:].argmin().item(), base[first:].amax().item()) == (0, values[-1])
    assert base[first : first + 24].view(2, 12).amax(0).tolist() == base[first + 12 :][:12].tolist()
