"""uint16, uint32 and uint64 are computed, also where torch refuses them. NumPy is the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft

from ..targets import draws, pairs

UNSIGNED = ["uint16", "uint32", "uint64"]
COUNT = 36  # the length of all operands, so that each op compiles once
AT = np.array([3, 0, 3, 9, 20])
ZEROS = np.zeros(30, np.uint8)


def edges(name: str, seed: int) -> np.ndarray[Any, Any]:
    """Returns the limits and the middle of a dtype's range, and random numbers, in random order."""
    top, random = np.iinfo(name).max, np.random.default_rng(seed)
    values = random.integers(0, top, COUNT, dtype=name, endpoint=True)
    values[:8] = [0, 1, 2, 3, top, top - 1, top // 2, top // 2 + 1]
    return random.permutation(values)


def shifted(a: Any, by: Any, left: bool) -> Any:
    bits = 8 * a.dtype.itemsize
    inside = np.minimum(by, bits - 1)
    return np.where(by < bits, a << inside if left else a >> inside, 0).astype(a.dtype)


def added_at(a: Any, ufunc: Any) -> Any:
    result = ZEROS.astype(a.dtype)
    ufunc.at(result, AT, a[:5])
    return result


def with_rows(a: Any, rows: int = 6) -> Any:
    return a.reshape(rows, COUNT // rows)


# ftensor's call and NumPy's on two arrays of one dtype; one function if the call is the same.
Call = Callable[[Any, Any], Any]
ARITHMETIC: dict[str, tuple[Call, Call] | Call] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a, b: -a,
    "number": lambda a, b: (a * 3 - 5) | 1,
    "pow": lambda a, b: a ** (b % 7),
    "floor_divide": lambda a, b: a // (b | 1),
    "remainder": lambda a, b: a % (b | 1),
    "fmod": (lambda a, b: ft.fmod(a, b | 1), lambda a, b: np.fmod(a, b | 1)),
    "gcd": (ft.gcd, np.gcd),
    "less": lambda a, b: a < b,
    "greater_equal": lambda a, b: a >= b,
    "maximum": (ft.maximum, np.maximum),
    "clamp": (lambda a, b: a.clamp(3, 60000), lambda a, b: np.clip(a, 3, 60000)),
    "where": (lambda a, b: ft.where(a > b, a, b), lambda a, b: np.where(a > b, a, b)),
    "bits": lambda a, b: (~a & b) ^ (a | b),
    "left_shift": (lambda a, b: a << (b % 70), lambda a, b: shifted(a, b % 70, True)),
    "right_shift": (lambda a, b: a >> (b % 70), lambda a, b: shifted(a, b % 70, False)),
    "addcmul": (lambda a, b: ft.addcmul(a, a, b, value=3), lambda a, b: a + 3 * a * b),
}
WIDE = {"dtype": np.uint64}
SHAPED: dict[str, tuple[Call, Call] | Call] = {
    "sum": (lambda a, b: a.sum(), lambda a, b: a.sum(**WIDE).astype(np.int64)),
    "sum in its own dtype": lambda a, b: a.sum(dtype=a.dtype),
    "prod in its own dtype": lambda a, b: (a | 1).prod(dtype=a.dtype),
    "max": lambda a, b: a.max(),
    "amin": (lambda a, b: with_rows(a).amin(1), lambda a, b: with_rows(a).min(1)),
    "argmax": lambda a, b: a.argmax(),
    "argmin of rows": lambda a, b: with_rows(a).argmin(0),
    "all": lambda a, b: a.all(),
    "cumsum": (lambda a, b: a.cumsum(0), lambda a, b: a.cumsum(**WIDE).astype(np.int64)),
    "cumprod in its own dtype": lambda a, b: (a | 1).cumprod(0, dtype=a.dtype),
    "cummax": (lambda a, b: a.cummax(0).values, lambda a, b: np.maximum.accumulate(a)),
    "cummin of rows": (lambda a, b: with_rows(a).cummin(0)[0], lambda a, b: np.minimum.accumulate(with_rows(a))),
    "sort": (lambda a, b: a.sort(descending=True).values, lambda a, b: np.sort(a)[::-1]),
    "argsort": (lambda a, b: a.argsort(stable=True), lambda a, b: a.argsort(kind="stable")),
    "topk": (lambda a, b: a.topk(5).values, lambda a, b: np.sort(a)[::-1][:5]),
    "kthvalue": (lambda a, b: a.kthvalue(4).values, lambda a, b: np.sort(a)[3]),
    "median": (lambda a, b: a.median(), lambda a, b: np.sort(a)[(COUNT - 1) // 2]),
    "unique": (lambda a, b: ft.cat([a, a]).unique(), lambda a, b: np.unique(a)),
    "searchsorted": (lambda a, b: ft.searchsorted(a.sort()[0], b), lambda a, b: np.searchsorted(np.sort(a), b)),
    "isin": (ft.isin, np.isin),
    "gather": (lambda a, b: a.gather(0, ft.tensor(AT)), lambda a, b: a[AT]),
    "index": (lambda a, b: a[ft.tensor(AT)], lambda a, b: a[AT]),
    "mask": (lambda a, b: a[a > b], lambda a, b: a[a > b]),
    "scatter_add": (
        lambda a, b: ft.zeros(30, dtype=a.dtype).scatter_add(0, ft.tensor(AT), a[:5]),
        lambda a, b: added_at(a, np.add),
    ),
    "scatter_reduce": (
        lambda a, b: ft.zeros(30, dtype=a.dtype).scatter_reduce(0, ft.tensor(AT), a[:5], "amax"),
        lambda a, b: added_at(a, np.maximum),
    ),
    "index_put": (
        lambda a, b: ft.zeros(30, dtype=a.dtype).index_put((ft.tensor(AT),), a[:5], accumulate=True),
        lambda a, b: added_at(a, np.add),
    ),
    "masked_fill": (lambda a, b: a.masked_fill(a > b, 4), lambda a, b: np.where(a > b, 4, a).astype(a.dtype)),
    "flip": (lambda a, b: a.flip(0), lambda a, b: a[::-1]),
    "tril": (lambda a, b: with_rows(a).tril(), lambda a, b: np.tril(with_rows(a))),
    "diff": (lambda a, b: a.diff(), lambda a, b: np.diff(a)),
    "dot": lambda a, b: a @ b,
    "matmul": lambda a, b: with_rows(a) @ with_rows(b),
    "matvec": lambda a, b: with_rows(a) @ b[:6],
    "outer": (ft.outer, np.outer),
    "pad": (lambda a, b: ft.nn.functional.pad(a, (1, 2), value=3), lambda a, b: np.pad(a, (1, 2), constant_values=3)),
    "max_pool2d": (
        lambda a, b: ft.nn.functional.max_pool2d(a.reshape(1, 6, 6), 2)[0],
        lambda a, b: a.reshape(3, 2, 3, 2).max((1, 3)),
    ),
    "jit": (
        lambda a, b: ft.jit(lambda x, y: (((x * 3 + x // 7) >> 2) - y) + x.amax())(a, b),
        lambda a, b: (((a * 3 + a // 7) >> 2) - b) + a.max(),
    ),
}


def check(of: tuple[Call, Call] | Call, a: Any, b: Any) -> None:
    mine, theirs = of if isinstance(of, tuple) else (of, of)
    result = mine(ft.tensor(a), ft.tensor(b)).numpy()
    with np.errstate(all="ignore"):
        expected = np.asarray(theirs(a, b))
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("name", "op"), pairs(UNSIGNED, list(SHAPED)))
def test_ops_on_whole_tensors(name: str, op: str) -> None:
    check(SHAPED[op], edges(name, 1), edges(name, 2))


@pytest.mark.parametrize(("op", "name"), pairs(list(ARITHMETIC), UNSIGNED))
def test_arithmetic_is_numpys(op: str, name: str) -> None:
    top = int(np.iinfo(name).max)
    number = st.sampled_from([0, 1, 2, top // 2, top // 2 + 1, top - 1, top]) | st.integers(0, top)
    operand = st.lists(number, min_size=COUNT, max_size=COUNT).map(lambda values: np.array(values, name))

    @draws(8)
    @given(operand, operand)
    def drawn(a: Any, b: Any) -> None:
        check(ARITHMETIC[op], a, b)

    check(ARITHMETIC[op], edges(name, 1), edges(name, 2))
    drawn()


@pytest.mark.parametrize(
    ("first", "second"),
    [("uint16", "bool"), ("uint16", "uint8"), ("uint16", "uint32"), ("uint16", "int8"), ("uint32", "int16")]
    + [("uint32", "int64"), ("uint64", "uint8"), ("uint64", "bool")],
)
def test_mixed_integers_promote_as_in_numpy(first: str, second: str) -> None:
    a, b = edges(first, 1), edges("uint64", 2).astype(second)
    for x, y in ((a, b), (b, a)):
        check(lambda p, q: p * q + q, x, y)


def test_no_silent_float64() -> None:
    x, y = ft.ones(2, dtype=ft.uint64), ft.ones(2, dtype=ft.int32)
    for call in (lambda: x + y, lambda: y * x, lambda: ft.where(x == x, x, y), lambda: ft.cat([x, y])):
        with pytest.raises(RuntimeError, match=r"uint64.*int32|int32.*uint64"):
            call()


def test_ranges_of_uint64_are_exact() -> None:
    for namespace in (ft, ft.array_api):
        for first in (2**53, 2**63, 2**64 - 4):
            x = namespace.arange(first, first + 3, dtype=ft.uint64)
            assert x.tolist() == [first, first + 1, first + 2]
            down = namespace.arange(first + 3, first, -2, dtype=ft.uint64)
            assert down.tolist() == [first + 3, first + 1]
    for name in ("int64", "uint64"):
        assert ft.range(2**62, 2**62 + 3, dtype=getattr(ft, name)).tolist() == [2**62 + k for k in range(4)]


def test_sizes_beyond_int64_are_refused() -> None:
    for values in ([2**63 + 5, 1], [2**64 - 1, 0]):
        x = ft.tensor(np.array(values, np.uint64))
        with pytest.raises(RuntimeError, match=rf"bincount.*{values[0]}"):
            ft.bincount(x)
        with pytest.raises(RuntimeError, match=rf"histc.*{values[1]} to {values[0]}.*int64"):
            ft.histc(x)
        assert ft.histc(x, 2, 0, 4).tolist() == [1, 0]


def test_uint64_beyond_int64() -> None:
    top = 2**64 - 1
    x = ft.zeros(4, dtype=ft.uint64)
    x[1], x[2] = top, 2**63
    x[ft.tensor([3])] = top - 1
    assert x.tolist() == [0, top, 2**63, top - 1]
    assert x.max().item() == top and (x > 2**63).tolist() == [False, True, False, True]
    with pytest.raises(ValueError, match="64 bits"):
        x[0] = top + 1
    with pytest.raises(ValueError, match="64 bits"):
        ft.zeros(2, dtype=ft.int64)[0] = top
