"""NumPy's functions, operators and dtypes on tensors: docs/numpy.md."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import overrides

import ftensor as ft
from ftensor.array_functions.functions import FUNCTIONS as SERVED
from ftensor.array_functions.functions import name_of as np_name
from tests.numpy_calls import FUNCTIONS, NEVER, UFUNCS, calls, name_of, on_device
from tests.numpy_page import BEGIN, END, PAGE, kinds, text

x = ft.arange(6.0).reshape(2, 3)
a = np.linspace(0.5, 3, 6, dtype=np.float32).reshape(2, 3)
n = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def policy() -> Iterator[None]:
    """Restores the default policy, resets the counts, and moves x to the current device."""
    global x
    x = ft.arange(6.0).reshape(2, 3)
    ft.set_fallback("warn")
    ft.fallback_report().reset()
    yield
    ft.set_fallback("warn")


def test_every_function_numpy_dispatches_is_called() -> None:
    import numpy.fft  # noqa: F401  # which NumPy imports late

    called = {name_of(call).partition(".")[0] for _, call in calls(UFUNCS)}
    called |= {name_of(call) for _, call in calls(FUNCTIONS)}
    wanted = {np_name(f) for f in overrides.get_overridable_numpy_array_functions()}
    # Modules that NumPy imports lazily; whether they exist depends on other imports.
    late = ("char.", "lib.recfunctions.", "ma.", "polynomial.", "rec.", "strings.")
    wanted = {n for n in wanted if not n.startswith(late)}
    ufuncs = overrides.get_overridable_numpy_ufuncs()
    wanted |= {u.__name__ for u in ufuncs if any(t[0] in "?ldF" for t in u.types)}
    missing = {name for name in wanted - called - NEVER if hasattr(np, name.partition(".")[0])}
    assert not missing, sorted(missing)


def test_page_has_the_results_of_the_calls() -> None:
    page = PAGE.read_text()
    assert page.partition(BEGIN)[2].partition(END)[0] == text(kinds()), "run `make numpy`"


@pytest.mark.parametrize("wide", ["uint16", "uint32", "uint64"])
def test_promotion_of_wide_unsigned_integers(wide: str) -> None:
    y = np.arange(5, dtype=wide)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.asarray(np.add(ft.from_numpy(y), y)).tolist() == (y + y).tolist()
        assert np.asarray(np.left_shift(ft.from_numpy(y), y)).tolist() == (y << y).tolist()


OPERATORS = "+ - * / // % ** == != < <= > >="


@pytest.mark.parametrize("sign", OPERATORS.split())
def test_array_operand_on_either_side(sign: str) -> None:
    for left, right, wanted in (("x", "a", "n"), ("a", "x", "n")):
        got = eval(f"{left} {sign} {right}")
        assert type(got) is ft.Tensor
        expression = f"{wanted if left == 'x' else 'a'} {sign} {wanted if right == 'x' else 'a'}"
        np.testing.assert_allclose(np.asarray(got), eval(expression), rtol=1e-5)


def test_matmul_and_bitwise_ops_with_arrays() -> None:
    assert type(a.T @ x) is type(x @ a.T) is ft.Tensor
    np.testing.assert_allclose(np.asarray(a.T @ x), a.T @ n, rtol=1e-5)
    i, j = ft.arange(4), np.array([3, 1, 2, 0])
    assert (i & j).tolist() == (j & i).tolist() == [0, 1, 2, 0]
    i += j
    assert i.tolist() == [3, 2, 4, 3]


def test_promotion_with_arrays_is_torchs() -> None:
    double, number = a.astype(np.float64), np.float64(2)
    assert (x + double).dtype is (double + x).dtype is np.add(x, double).dtype is ft.float64
    assert (x * number).dtype is (number * x).dtype is np.multiply(number, x).dtype is ft.float32
    assert (x + np.ones((), np.float64)).dtype is ft.float32  # a 0-d array has lower priority
    assert np.sqrt(ft.arange(3)).dtype is ft.float32
    assert (2 ** np.float32(2) * x.half()).dtype is ft.float16


def test_arrays_are_assigned_and_index() -> None:
    y = ft.zeros(2, 3, dtype=ft.int32)
    y[:] = a[::-1, ::-1]
    assert y.tolist() == a[::-1, ::-1].astype(np.int32).tolist()
    y[0, 1:] = np.array([7, 8])
    y[np.array([False, True])] = np.int64(9)
    assert y.tolist() == [[3, 7, 8], [9, 9, 9]]
    assert x[a > 2].tolist() == n[a > 2].tolist()
    with pytest.raises(TypeError, match="<U1"):
        y[:] = np.array(["a", "b", "c"])


def test_other_array_classes_have_their_own_rules() -> None:
    masked = np.ma.masked_array(a, a > 2)
    for result in (x + masked, masked + x):
        assert isinstance(result, np.ma.MaskedArray)
        assert result.mask.tolist() == masked.mask.tolist()

    class Other:
        def __array_ufunc__(self, *args: Any, **options: Any) -> str:
            return "ufunc"

        def __array_function__(self, *args: Any) -> str:
            return "function"

        def __radd__(self, other: object) -> str:
            return "radd"

    assert x + Other() == "radd"  # type: ignore[operator]
    assert np.add(x, Other()) == "ufunc"  # type: ignore[call-overload]
    assert np.concatenate([x, Other()]) == "function"  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        x + "a"  # type: ignore[operator]


def test_functions_of_the_namespace_take_only_tensors() -> None:
    with pytest.raises(TypeError, match="from_numpy"):
        ft.add(x, a)  # type: ignore[arg-type]


def test_spacing() -> None:
    values = np.array([1, -3, 0, 1e30], np.float32)
    assert np.asarray(np.spacing(ft.from_numpy(values))).tolist() == np.spacing(values).tolist()


def test_out_and_where() -> None:
    array, output = np.zeros_like(a), ft.zeros(2, 3)
    assert np.add(x, a, out=array) is array
    np.testing.assert_allclose(array, n + a)
    assert np.add(x, a, out=output) is output
    assert np.sum(x, axis=0, out=(out := ft.zeros(3))) is out
    assert out.tolist() == n.sum(0).tolist()
    b = a.copy()
    b += x
    assert type(b) is np.ndarray
    np.testing.assert_allclose(b, a + n)
    kept = np.negative(x, where=a > 1, out=ft.full((2, 3), 5.0))
    assert kept.tolist() == np.where(a > 1, -n, 5).tolist()
    with pytest.raises(ValueError, match=r"\(3,\)"):
        np.sum(x, axis=0, out=ft.zeros(4))


def test_functions_on_the_host_follow_the_policy() -> None:
    with pytest.warns(ft.FallbackWarning, match=r"numpy\.unwrap of float32") as caught:
        result = np.unwrap(x)
        np.unwrap(x)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert type(result) is ft.Tensor
    assert result.device == x.device
    (row,) = ft.fallback_report()
    assert (row.op, row.calls, row.layout) == ("numpy.unwrap", 2, "host")
    ft.set_fallback("error")
    with pytest.raises(ft.KernelNotBuilt, match=r"np\.asarray"):
        np.unwrap(x)
    ft.set_fallback("silent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.unwrap(x)


def test_host_functions_cannot_write_to_a_tensor() -> None:
    ft.set_fallback("silent")
    with pytest.raises(ValueError, match="read-only"):
        np.apply_along_axis(lambda row: row.sort(), 0, x)


def test_dtypes_by_name_and_for_numpy() -> None:
    assert np.dtype(ft.int16) == np.dtype("int16")
    assert np.zeros(2, dtype=ft.complex64).dtype == np.complex64  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="bfloat16"):
        np.dtype(ft.bfloat16)  # type: ignore[call-overload]
    for dtype in ("float64", "f8", np.float64, np.dtype("float64")):
        assert ft.zeros(2, dtype=dtype).dtype is ft.float64  # type: ignore[arg-type]
        assert x.astype(dtype).dtype is x.sum(dtype=dtype).dtype is ft.float64
        assert x.cumsum(0, dtype=dtype).dtype is ft.float64
    with pytest.raises(TypeError, match="dtype"):
        ft.zeros(2, dtype="flot32")  # type: ignore[arg-type]


def test_copies() -> None:
    y = x.t()
    copied, same = y.copy(), y.copy(order="K")
    copied[0, 0] = 9
    assert x[0, 0].item() == 0
    assert copied.is_contiguous()
    assert same.stride() == y.stride()
    assert x.astype(ft.float32, copy=False) is x
    assert x.astype(ft.float32) is not x


def test_queries_about_shapes_read_no_values() -> None:
    half = ft.zeros(2, 3, dtype=ft.bfloat16)  # which NumPy cannot read
    assert (np.shape(half), np.ndim(half), np.size(half, 1)) == ((2, 3), 2, 3)
    assert np.result_type(x, np.float64) == np.float64
    assert np.may_share_memory(x, x) is True


def test_new_arrays_like_a_tensor() -> None:
    result = np.asarray([1.0, 2.0], like=x)
    assert type(result) is ft.Tensor
    assert np.zeros((2, 2), dtype="int32", like=x).dtype is ft.int32


OUTSIDE = [(name, n) for name in ("u1", "i1", "u2", "u4", "i8", "u8") for n in (2**70, -(2**70))]
OUTSIDE += [("u1", 256), ("u1", -1), ("i1", 128), ("i1", -129), ("u2", 65536), ("u2", -1), ("u4", -1), ("u8", -1)]


@pytest.mark.parametrize(("name", "number"), OUTSIDE)
def test_integers_outside_the_dtype(name: str, number: int) -> None:
    """Comparisons give NumPy's results; integer arithmetic refuses them."""
    from ftensor import array_api as xp

    ft.set_fallback("error")
    array = np.array([0, 1, 100], name)
    tensor = ft.tensor(array)
    for compare in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        for pair in (lambda v: (v, number), lambda v: (number, v)):
            expected = getattr(np, compare)(*pair(array)).tolist()
            for namespace in (np, xp):
                assert getattr(namespace, compare)(*pair(tensor)).tolist() == expected, (compare, namespace)
    for compute in ("add", "subtract", "multiply", "floor_divide", "maximum", "bitwise_and"):
        for namespace in (np, xp):
            for operands in ((tensor, number), (number, tensor)):
                with pytest.raises(OverflowError, match=f"{compute}.*{number}.*{tensor.dtype}"):
                    getattr(namespace, compute)(*operands)
    for select in (np.where, xp.where):
        with pytest.raises(OverflowError, match=f"where.*{number}"):
            select(tensor == tensor, tensor, number)
    assert xp.isin(tensor, number).tolist() == [False] * 3 and np.logical_and(tensor, number).tolist()[1:] == [True] * 2
    for low, high in ((-(2**70), 5), (number, 5)) if number < 0 else ((1, 2**70), (1, number)):
        expected = array.clip(max(low, 0), min(high, 100)).tolist()
        for clip in (np.clip, np._core.umath.clip, xp.clip):
            assert clip(tensor, low, high).tolist() == expected, clip


def test_integers_outside_the_dtype_as_real_numbers() -> None:
    u = ft.tensor(np.array([0, 3, 65535], np.uint16))
    assert np.copysign(u, -1).tolist() == [0, -3, -65535] and np.divide(u, 65536)[2].item() < 1
    assert np.isclose(u, -1).tolist() == np.isin(u, -1).tolist() == [False] * 3


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (0, 0)])
def test_empty_masks_select_nothing_as_in_numpy(shape: tuple[int, ...]) -> None:
    """torch refuses them unless the sizes agree."""
    mask, changed = np.zeros(shape, bool), x.clone()
    assert x[ft.tensor(mask)].shape == n[mask].shape
    changed[ft.tensor(mask)] = 7
    assert ft.equal(changed, x)


def test_masks_of_another_size_are_refused() -> None:
    with pytest.raises(IndexError, match=r"mask \[0, 2\] at index 1 .* tensor \[2, 3\] at index 1"):
        x[ft.zeros(0, 2, dtype=ft.bool)]
    with pytest.raises(IndexError, match=r"mask \[2\] at index 0 .* tensor \[0, 3\] at index 0"):
        x[:0][ft.zeros(2, dtype=ft.bool)]


def test_functions_of_16_bit_floats_compute_in_float32() -> None:
    """Quantiles are rounded to the argument's dtype, transforms stay complex64, as in NumPy."""
    h = np.linspace(-1, 2, 9).astype(np.float16)
    for call in (np.median, np.nanmedian, np.fft.rfft, lambda a: np.fft.fft2(a.reshape(3, 3))):
        mine, theirs = call(ft.from_numpy(h)), call(h)
        assert np.dtype(str(mine.dtype)[8:]) == theirs.dtype
        assert np.allclose(mine.numpy(), theirs, rtol=2e-3)
    assert np.median(ft.from_numpy(h).bfloat16()).dtype is ft.bfloat16


def test_functions_of_dtypes_without_an_op() -> None:
    """The host orders complex numbers; integers have scalar products."""
    ft.set_fallback("silent")
    z, u = np.array([2, 1 + 1j, 1 - 2j], np.complex64), np.arange(6, dtype=np.uint16).reshape(2, 3)
    assert complex(np.median(ft.from_numpy(z))) == np.median(z)
    mine = ft.from_numpy(u)
    assert np.linalg.vecdot(mine, mine).tolist() == np.linalg.vecdot(u, u).tolist()


def test_bfloat16_cannot_fall_back_to_the_host() -> None:
    ft.set_fallback("silent")
    with pytest.raises(TypeError, match="bfloat16"):
        np.unwrap(x.bfloat16())


def test_numpy_functions_are_imported_at_first_use() -> None:
    program = (
        "import sys, numpy as np, ftensor as ft\n"
        "x = ft.zeros(2) + np.ones(2)\n"
        "assert not any(name.startswith('ftensor.array_functions') for name in sys.modules)\n"
        "assert type(np.exp(x)) is ft.Tensor\n"
    )
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root)


def test_argument_order_is_numpys() -> None:
    import inspect

    for name, call in SERVED.items():
        function: Any = np
        for part in name.split("."):
            function = getattr(function, part)
        theirs = list(inspect.signature(function).parameters)
        ours = [p for p in inspect.signature(call).parameters.values() if p.name != "args"]
        if any(p.kind is p.VAR_POSITIONAL for p in ours):
            continue
        own = [p.name for p in ours if p.name in theirs]
        assert own == sorted(own, key=theirs.index), name


def test_calls_on_the_device_do_not_use_the_host() -> None:
    ft.set_fallback("error")
    assert on_device("sum(X)") == ("device", "")
    assert on_device("unwrap(X)")[0] == "refused"
