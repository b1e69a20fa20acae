"""Random numbers in torch's forms of call: generators, seeds, distributions, errors.

Distributions are compared with SciPy's. Seeds are fixed, so a test passes always or never; for one
seed of 10000 its p-value would be below 1e-4. Samples have 20000 numbers. A Kolmogorov-Smirnov test
of this level finds a distribution function with an error of 0.017 anywhere with a probability of
more than 0.5, and an error of 0.025 with more than 0.99.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from scipy import stats

import ftensor as ft

from ..oracle import ours, outcome, torch

N = 20000
LEVEL = 1e-4
FLOATS = ("float32", "float64", "float16", "bfloat16")


def source(seed: int = 1) -> ft.Generator:
    return ft.Generator().manual_seed(seed)


def drawn(method: str, *args: Any, dtype: str = "float32", seed: int = 1) -> Any:
    """Returns N numbers of a method that fills, as a float64 array."""
    numbers = getattr(ft.empty(N, dtype=getattr(ft, dtype)), method)(*args, generator=source(seed))
    return numbers.double().numpy()


CONTINUOUS: list[tuple[str, tuple[float, ...], Any]] = [
    ("uniform_", (), stats.uniform()),
    ("uniform_", (-3, 7), stats.uniform(-3, 10)),
    ("normal_", (), stats.norm()),
    ("normal_", (1, 3), stats.norm(1, 3)),
    ("log_normal_", (0.5, 0.25), stats.lognorm(0.25, scale=math.exp(0.5))),
    ("exponential_", (2.0,), stats.expon(scale=0.5)),
    ("cauchy_", (1, 2), stats.cauchy(1, 2)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("method", "args", "of"), CONTINUOUS)
def test_continuous_distributions(method: str, args: tuple[float, ...], of: Any, dtype: str) -> None:
    x = drawn(method, *args, dtype=dtype)
    assert stats.kstest(x, of.cdf).pvalue > LEVEL
    # Neighbouring numbers are uncorrelated.
    ranks = stats.rankdata(x)
    assert stats.pearsonr(ranks[1:], ranks[:-1]).pvalue > LEVEL


@pytest.mark.parametrize("dtype", FLOATS)
def test_quantiles_in_the_tails(dtype: str) -> None:
    """Of 20000 numbers, 27 are beyond 3 standard deviations on each side."""
    x = drawn("normal_", dtype=dtype, seed=3)
    for side in (x, -x):
        assert stats.binomtest(int((side > 3).sum()), N, stats.norm.sf(3)).pvalue > LEVEL


@pytest.mark.parametrize("dtype", [*FLOATS, "bool", "int32"])
@pytest.mark.parametrize("p", [0.0, 1e-3, 0.3, 1.0])
def test_bernoulli(dtype: str, p: float) -> None:
    happened = int(drawn("bernoulli_", p, dtype=dtype).sum())
    if p in (0, 1):
        assert happened == p * N
    else:
        assert stats.binomtest(happened, N, p).pvalue > LEVEL


def test_bernoulli_of_a_tensor() -> None:
    p = ft.tensor([0.0, 0.2, 0.7, 1.0]).expand(N, 4)
    for flags in (ft.bernoulli(p, generator=source()), ft.empty(N, 4, dtype=ft.int8)):
        if flags.dtype is ft.int8:
            flags.bernoulli_(p[:1], generator=source())
        none, some, most, all_ = flags.long().sum(0).tolist()
        assert (none, all_) == (0, N)
        assert stats.binomtest(some, N, 0.2).pvalue > LEVEL
        assert stats.binomtest(most, N, 0.7).pvalue > LEVEL


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_stays_below_its_upper_bound(dtype: str) -> None:
    """In each dtype, also with few representable numbers between the bounds."""
    for low, high in ((0, 1), (1, 1.03125), (-1.03125, -1), (-1, 0), (2, 2)):
        x = drawn("uniform_", low, high, dtype=dtype)
        assert (low <= x).all() and ((x < high).all() or low == high)


def test_normal_with_tensors() -> None:
    mean, std = ft.tensor([[0.0], [100.0]]).expand(2, N), ft.tensor([[1.0], [0.0]])
    x = ft.normal(mean, std, generator=source())
    assert bool((x[1] == 100).all()) and stats.kstest(x[0].numpy(), "norm").pvalue > LEVEL
    y = ft.normal(2.0, ft.full((N,), 3.0), generator=source())
    assert stats.kstest(y.numpy(), stats.norm(2, 3).cdf).pvalue > LEVEL
    z = ft.normal(5.0, 2.0, (N,), generator=source(), dtype=ft.complex64)
    assert stats.kstest(z.real.numpy(), stats.norm(5, 2**0.5).cdf).pvalue > LEVEL
    assert stats.kstest(z.imag.numpy(), stats.norm(0, 2**0.5).cdf).pvalue > LEVEL


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = ft.nn.functional.alpha_dropout(ft.randn(10 * N, generator=source()), 0.3, True)
    # The mean and the variance of 200000 such numbers have standard deviations below 0.004.
    assert abs(x.mean().item()) < 0.015 and abs(x.var().item() - 1) < 0.02


def test_rrelu_in_training() -> None:
    x = ft.rrelu(ft.full((N,), -2.0), 0.25, 0.5, True, source())
    assert stats.kstest(x.numpy() / -2, stats.uniform(0.25, 0.25).cdf).pvalue > LEVEL
    assert ft.rrelu(ft.tensor([-2.0, 3.0]), 0.25, 0.5).tolist() == [-0.75, 3.0]


CALLS = """
! rand(3, dtype=int64) | ! randn(3, dtype=bool) | rand(3, dtype=complex64) | rand((2, 3))
rand([]) | ! rand() | ! rand(2, -3) | ! rand(2, generator=3) | rand(2, dtype=float16)
randn(0, 3) | randint(3, (2, 1)) | randint(-3, 3, (2,)) | randint(low=2, high=4, size=(3,))
randint(high=4, size=[3]) | ! randint(3, 3, (2,)) | ! randint(3.0, (2,)) | ! randint(3, 2)
! randint(-5, (3,)) | ! randint(5) | ! randint(0, 300, (2,), dtype=int8)
! randint(3, (2,), dtype=bool) | ! randint(3, (2,), dtype=complex64)
randint(3, (2,), dtype=float16) | randint_like(ones(3), 3) | randint_like(ones(3), 1, 3)
rand_like(ones(2, 3)) | ! rand_like(ones(3, dtype=int64)) | randn_like(ones(3), dtype=float64)
randperm(5) | randperm(0) | randperm(5, dtype=float32) | randperm(5, out=empty(2, dtype=int64))
! randperm(-1) | ! randperm(300, dtype=uint8) | ! randperm(3000, dtype=float16)
! randperm(5, dtype=bool) | ! ones(3).normal_(0, -1) | ! ones(3).exponential_(0)
! ones(3).exponential_(-1) | ! ones(3).cauchy_(0, 0) | ! ones(3).geometric_(0)
! ones(3).geometric_(1) | ! ones(3).log_normal_(0, 0) | ! ones(3).uniform_(2, 1)
ones(3).uniform_(1, 1) | ! ones(3).random_(2, 2) | ! ones(3, dtype=uint8).random_(0, 300)
! ones(3, dtype=uint8).random_(-2, 30) | ! ones(3, dtype=float16).random_(0, 300000)
! ones(3).random_(1.5) | ones(3).random_() | ones(3, dtype=bool).random_(0, 2)
! ones(3, dtype=bool).random_(0, 3) | ones(3).random_(to=3) | ones(3).random_(3, to=None)
! ones(3, dtype=complex64).random_() | ! ones(3, dtype=int64).uniform_()
! ones(3, dtype=int64).normal_() | ! ones(3, dtype=int64).exponential_()
! ones(3, dtype=int64).cauchy_() | ! ones(3, dtype=bool).geometric_(0.5)
! ones(3, dtype=int64).log_normal_() | ones(3, dtype=complex64).uniform_()
ones(3, dtype=complex64).normal_() | ! ones(3, dtype=complex64).bernoulli_()
! ones(3, dtype=float16).uniform_(0, 1e6) | ! ones(3).uniform_(-3e38, 3e38)
! ones(1).expand(3).uniform_() | ! bernoulli(ones(3, dtype=int64)) | bernoulli(ones(3), 0.5)
! bernoulli(ones(3), 1.5) | ! ones(3).bernoulli_(-1) | ! ones(3).bernoulli_(tensor(2))
! ones(3).bernoulli_(tensor([0.5, 0.2])) | ones(3).bernoulli_(tensor(0.5))
bernoulli(ones(3, dtype=int64), 0.5) | bernoulli(ones(3), out=ones(3, dtype=int64))
! multinomial(ones(3, 4, 5), 2) | ! multinomial(ones(3), 4) | ! multinomial(ones(3), 0)
! multinomial(tensor([1.0, -1.0]), 1) | ! multinomial(zeros(3), 1)
! multinomial(ones(3, dtype=int64), 1) | multinomial(ones(3, 4), 2)
multinomial(ones(4), 6, True) | ones(3).multinomial(2, replacement=False)
! poisson(tensor([-1.0])) | ! poisson(tensor([1])) | poisson(ones(2, 3))
binomial(ones(3), ones(3)) | ! binomial(tensor([5]), tensor([0.5])) | binomial(ones(3, 1), ones(2))
! binomial(ones(3), ones(3, dtype=float64)) | normal(1, 2, (3,))
normal(1.0, ones(2)) | ! normal(ones(3), -ones(3)) | ! normal(ones(3), ones(2))
! normal(ones(3, dtype=int64), 1.0) | normal(ones(3), ones(3, dtype=float64))
! normal(ones(3), ones(3, dtype=complex64)) | normal(ones(3, dtype=float16), ones(3, 1))
! normal(ones(3), -1.0) | ! nn.functional.dropout(ones(3), 2) | ! dropout(ones(3), 2, True)
! nn.functional.dropout(ones(3, dtype=int64))
nn.functional.dropout(ones(3, dtype=int64), 0.5, False)
! nn.functional.dropout(ones(3, dtype=complex64)) | ! nn.functional.dropout2d(ones(3))
nn.functional.dropout2d(ones(3, 2, 1)) | nn.functional.dropout1d(ones(3, 2))
! nn.functional.dropout1d(ones(3, 2, 1, 1)) | nn.functional.dropout3d(ones(3, 2, 1, 1))
! nn.functional.alpha_dropout(ones(3, dtype=int64), 0.5, True)
! feature_dropout(ones(3), 0.5, True) | native_dropout(ones(3), 0.5, True)[1]
! native_dropout(ones(3, dtype=int64), 0.5, True)
nn.functional.feature_alpha_dropout(ones(3, 4, 2), 0.5, True)
! rrelu(ones(3, dtype=int64), training=True) | ! rrelu(ones(3), 0.5, 0.1, True)
! rrelu(ones(3), 0.5, 0.1)
"""
EACH = [call.strip() for line in CALLS.strip().split("\n") for call in line.split("|")]


@pytest.mark.filterwarnings("ignore:.*dropout")
@pytest.mark.parametrize("call", EACH)
def test_random_functions_in_every_form(call: str) -> None:
    """They have torch's shapes, dtypes and strides, and its exception class for common mistakes."""

    def asked(library: Any) -> Callable[[], Any]:
        names = {name: getattr(library, name) for name in dir(library)}
        return lambda: eval(call.removeprefix("! "), names)

    def seen(library: Any) -> Any:
        result = outcome(asked(library))
        if isinstance(result, Exception):
            return type(result)
        return tuple(result.shape), str(result.dtype).partition(".")[2], result.stride()

    expected = seen(torch)
    assert seen(ft) == expected
    assert isinstance(expected, type) == call.startswith("!")


@pytest.mark.parametrize("layout", ["channels_last", "transposed", "sliced"])
def test_random_numbers_do_not_depend_on_layout(layout: str) -> None:
    """Results have torch's memory layout, and the values of a contiguous tensor."""
    t = torch.ones(2, 3, 4, 5)
    t = {
        "channels_last": t.to(memory_format=torch.channels_last),
        "transposed": t.permute(3, 1, 0, 2),
        "sliced": t[:, 1:, ::2],
    }[layout]
    x = ours(t)
    with ft.random.fork_rng():
        ft.manual_seed(2)
        result = ft.nn.functional.dropout(x, 0.5)
        assert result.stride() == torch.nn.functional.dropout(t, 0.5).stride()
        ft.manual_seed(2)
        assert result.equal(ft.nn.functional.dropout(x.contiguous(), 0.5))
        ft.manual_seed(2)
        assert ft.dropout_(x, 0.5, True) is x and x.equal(result)
        assert ft.rand_like(x).stride() == torch.rand_like(t).stride()
