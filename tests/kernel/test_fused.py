"""Fused kernels have the bits of their ops run one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.pointwise import pointwise
from ftensor.kernels.element_function import ElementFunction
from ftensor.kernels.fused import Call, FusedKey
from ftensor.kernels.key import LINEAR, VALUE, Port
from ftensor.kernels.skeleton import skeleton_of
from ftensor.rows.catalogue import ROWS
from ftensor.rows.op import Op

from ..targets import TARGET, some
from .fused_program import fused_fold, fused_map

pytestmark = pytest.mark.skipif(default_backend().images is not None, reason="images have no kernels of several units")

# Intel's emulator has its own functions.
OWN_FUNCTIONS = pytest.mark.skipif(
    default_backend().target.emulates == "an Intel FPGA",
    reason="the emulator's functions have other last bits in a kernel with several of them",
)

# Vector remainders: less than one vector, several and a part, and enough for two units.
SIZES = (1, 3, 37, 40_001)
FLOATING = ("float32", "float64", "float16", "bfloat16")


def bits(x: ft.Tensor) -> list[Any]:
    """Returns a tensor's elements as integers."""
    widths = {1: ft.uint8, 2: ft.int16, 4: ft.int32, 8: ft.int64}
    x = ft.view_as_real(x.contiguous()) if x.is_complex() else x.contiguous()
    words: list[Any] = x.view(widths[x.dtype.itemsize]).tolist()
    return words


def agree(function: Callable[..., Any], *inputs: ft.Tensor) -> None:
    """Asserts that each result has the bits of the separate ops."""
    for eager, fused in zip(*fused_map(function, *inputs), strict=True):
        assert eager.dtype == fused.dtype and bits(eager) == bits(fused)


def folds_agree(function: Callable[..., Any], *inputs: ft.Tensor) -> None:
    """Like `agree`, with a reduction among the ops."""
    for eager, fused in zip(*fused_fold(function, *inputs), strict=True):
        assert eager.dtype == fused.dtype and bits(eager) == bits(fused)


def drawn(*shape: int) -> ft.Tensor:
    return ft.randn(*shape, generator=ft.Generator().manual_seed(sum(shape)))


@pytest.mark.core
@pytest.mark.parametrize("size", SIZES)
def test_chain_of_one_dtype(size: int) -> None:
    x, y = drawn(size), drawn(size + 1)[1:]
    agree(lambda x, y: ft.tanh(x * y + x) * ft.exp(-y) + 0.5, x, y)


@pytest.mark.parametrize("name", some(FLOATING, 2, always=True))
def test_each_step_is_rounded_as_memory_rounds_it(name: str) -> None:
    of = getattr(ft, name)
    x, y = drawn(1003).to(of), drawn(1003).to(of)
    agree(lambda x, y: ((x * y + x) / (y * y + 0.3) - 1.7) * x, x, y)


@pytest.mark.core
def test_chain_of_several_dtypes() -> None:
    x, y = drawn(517) * 9, drawn(517)
    agree(lambda x, y: (x.to(ft.int64) // 2 + 3).to(ft.float16) * y.to(ft.float16), x, y)
    agree(lambda x, y: ((x > y) & (y < 0.3), (x * y).to(ft.bfloat16).to(ft.float64) + 1, x.abs()), x, y)
    agree(lambda x, y: ft.complex(x, y).abs().square() > 0.5, x, y)


def test_storage_formats() -> None:
    x = drawn(259).abs() * 10
    agree(lambda x: (x.to(ft.float8_e4m3fn).to(ft.float32) * 2).to(ft.uint32), x)
    agree(lambda x: x.to(ft.float8_e5m2).to(ft.float16).to(ft.uint8) + 3, x)
    agree(lambda x: (x.to(ft.int8) * 3).to(ft.int16) % 7, x)
    agree(lambda x: x.to(ft.complex64).to(ft.complex32).to(ft.complex64) * 3, x)
    agree(lambda x: (x.to(ft.complex128) + 1j) * (2 - 1j), x)


def test_where_and_comparisons() -> None:
    x, y = drawn(333), drawn(334)[1:]
    agree(lambda x, y: ft.where(x > y, x * 2, y.abs()).clamp(-0.5, 1.5), x, y)
    agree(lambda x, y: ft.where(ft.logical_not(x.to(ft.bool)), x, y), x, y)


def test_helper_functions_of_two_types_in_one_kernel() -> None:
    """Powers, Bessel functions and the gamma function have helpers for both types."""
    x, y = drawn(300).abs() + 0.1, drawn(300)
    agree(lambda x, y: ft.pow(x.to(ft.float64), y).to(ft.float32) + ft.pow(x, y), x, y)
    agree(lambda x: ft.special.bessel_j0(x).to(ft.float64) + ft.special.bessel_j0(x.to(ft.float64)), x)
    agree(lambda x: ft.special.digamma(x.to(ft.float64)).to(ft.float32) + ft.special.digamma(x), x)


@pytest.mark.parametrize("name", ("float32", "float64"))
@OWN_FUNCTIONS
def test_sine_and_cosine_in_one_kernel(name: str) -> None:
    agree(lambda x: (x.sin(), x.cos(), x.sin() + x.cos()), drawn(1000).to(getattr(ft, name)))


@pytest.mark.parametrize("name", ("float32", "float16", "complex64", "bool"))
@pytest.mark.filterwarnings("ignore:converting complex")
def test_strides_and_broadcasting(name: str) -> None:
    of = getattr(ft, name)
    x = drawn(37, 51).to(of)
    agree(lambda a, b: (a * b).to(ft.float32) + 1.5, x, drawn(51).to(of))
    agree(lambda a, b: (a * b).to(ft.complex64) * a, x, drawn(51, 37).to(of).T)
    agree(lambda a, b: (a * b).to(ft.int32) - 2, x[:, ::3], drawn(37, 1).to(of))
    agree(lambda a, b: a * b, drawn(2, 3, 5, 7).to(of).permute(3, 1, 0, 2), drawn(3, 1, 5).to(of))


def test_sixteen_operands() -> None:
    inputs = [drawn(70 + k)[k:] for k in range(15)]
    agree(lambda *xs: sum(xs[1:], xs[0]) * 2, *inputs)


@pytest.mark.core
def test_several_results_and_stored_inputs() -> None:
    agree(lambda x, y: (x + y, (x + y) * 2, x - y, x * 0.5 > y), drawn(99), drawn(99))


def test_complex_number_is_passed_as_two_arguments() -> None:
    z = ft.complex(drawn(77), drawn(77))
    agree(lambda z: (z + (1 + 2j)) * (0.5 - 1j) - 3, z)


# Long and short rows. Few rows are reduced in two kernels.
SHAPES = ((37, 1003), (1, 70_001), (300, 5))


@pytest.mark.core
@pytest.mark.parametrize("shape", SHAPES)
def test_reductions_of_computed_values(shape: tuple[int, int]) -> None:
    x, y, k = drawn(*shape), drawn(*shape) + 1, drawn(shape[0])
    folds_agree(lambda x, y: (x * y + x).exp().sum(-1), x, y)
    folds_agree(lambda x, y, k: (x * y).square().sum(-1).sqrt() * k + 1.5, x, y, k)


def test_reductions_to_indices() -> None:
    """Along few short rows, for which every device uses this kernel, and across rows."""
    x, y = drawn(7, 50), drawn(7, 50) + 1
    folds_agree(lambda x, y: (x * y).argmax(-1) + 3, x, y)
    folds_agree(lambda x, y: (x * y).argmin(0) + 3, x, y)


@pytest.mark.parametrize("shape", some(SHAPES[:2], 2, always=True))
def test_reductions_of_other_dtypes(shape: tuple[int, int]) -> None:
    x, y = drawn(*shape), drawn(*shape) + 1
    folds_agree(lambda x, y: ft.complex(x, y).abs().sum(-1).to(ft.float16), x, y)
    folds_agree(lambda x, y: (ft.complex(x, y) * (1 + 2j)).sum(-1).abs(), x, y)
    folds_agree(lambda x, y: (x * y + x).sum(-1) * 2, x.half(), y.half())
    folds_agree(lambda x, y: ft.linalg.vector_norm(x - y, 3.0, -1) * 2, x, y)
    folds_agree(lambda x, y: ((x > y) & (x > 2.5)).any(-1).logical_not(), x, y)
    folds_agree(lambda x, y: (x * y).to(ft.int64).sum(-1) * 2, x, y)


@pytest.mark.core
@pytest.mark.parametrize("shape", ((37, 1003), (3000, 20), (70, 9)))
def test_reductions_across_rows(shape: tuple[int, int]) -> None:
    x, y, k = drawn(*shape), drawn(*shape) + 1, drawn(shape[1])
    folds_agree(lambda x, y, k: (x * y + x).exp().sum(0) * k, x, y, k)
    folds_agree(lambda x, y, k: (x * y).to(ft.float64).amax(0) * k, x, y, k)
    folds_agree(lambda x, y: (x * y).mean(0) > 0.1, x, y)


def rows_of(dtype: ft.dtype) -> dict[int, list[tuple[Op, tuple[Any, ...]]]]:
    """Returns the rows that support a dtype, with parameters, grouped by number of inputs."""
    rows: dict[int, list[tuple[Op, tuple[Any, ...]]]] = {}
    for row in ROWS:
        if isinstance(row, Op) and row.expression(dtype) and not row.masks:
            text = " ".join([row.expression(dtype) or "", *(text for _, text in row.lets)])
            count = len(set(re.findall(r"\b[a-h]\b", text)))
            numbers = tuple(2 for _ in row.params)
            with suppress(RuntimeError, TypeError):  # other tests cover its errors
                if pointwise(row, (ft.ones(1, dtype=dtype),) * count, numbers, None, False)._shape:
                    rows.setdefault(count, []).append((row, numbers))
    return rows


@pytest.mark.long
@pytest.mark.parametrize("name", some(("float32", "int64", "complex64"), 3))
@pytest.mark.skipif(TARGET == "pocl", reason="PoCL takes a minute; it has each of them by itself")
@OWN_FUNCTIONS
def test_every_row_fused_with_others(name: str) -> None:
    """No compiler merges different units. NaN bits and the sign of fmax's zero may differ."""
    of = getattr(ft, name)
    rows = rows_of(of)
    assert sum(map(len, rows.values())) > 70
    for count, group in rows.items():
        inputs = [(drawn(37 + k)[k:] * 3).to(of) for k in range(count)]
        for k in range(0, len(group) if count else 0, 8):

            def several(*xs: ft.Tensor, k: int = k, group: Any = group) -> tuple[ft.Tensor, ...]:
                results = [pointwise(row, xs, of, None, False) for row, of in group[k : k + 8]]
                return tuple(results)

            for (row, _), *both in zip(group[k : k + 8], *fused_map(several, *inputs)):
                eager, fused = ((x + 0).nan_to_num(7) if x.dtype.kind in "fc" else x for x in both)
                assert bits(eager) == bits(fused), row.name


def test_value_of_another_dtype_is_refused() -> None:
    """A program is checked before it becomes a kernel."""
    unit = ElementFunction("neg", ft.float32, ((ft.float32, VALUE),), ((ft.float32, VALUE),), ("-a",))
    port = Port(ft.float64, LINEAR)
    key = FusedKey("wrong", "fused_map", 4, (Port(ft.float32, LINEAR),), (port,), (Call(unit, (0,)),), (1,))
    with pytest.raises(AssertionError):
        skeleton_of(key).program(key, "opencl", float64=True, grid="slab")
