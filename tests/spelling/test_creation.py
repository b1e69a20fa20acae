"""Creation and conversion against torch: layouts, dtypes, values, exceptions, and ftensor's own
forms."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ftensor as ft

from ..oracle import agree, cases
from .creation_cases import LINES


def names(lib: Any) -> dict[str, Any]:
    """Returns the names in a case."""
    return {"lib": lib, "np": np, "nan": float("nan"), "inf": float("inf")}


@pytest.mark.parametrize(("case", "computed"), cases(LINES))
def test_factories_agree_with_torch(case: str, computed: bool) -> None:
    mine, theirs = names(ft), names(torch)
    both = agree(lambda: eval(case, mine), lambda: eval(case, theirs), rtol=1e-6, atol=1e-6)
    assert both == computed


bounds = st.integers(-100, 100)
int_dtypes = st.sampled_from(["int8", "int16", "int32", "int64"])


@settings(max_examples=60, deadline=None)
@given(bounds, bounds, st.integers(0, 300), int_dtypes)
def test_linspace_of_integers_is_exact(start: int, end: int, steps: int, dtype: str) -> None:
    ours = ft.linspace(start, end, steps, dtype=getattr(ft, dtype)).to_torch()
    assert torch.equal(ours, torch.linspace(start, end, steps, dtype=getattr(torch, dtype)))


@settings(max_examples=60, deadline=None)
@given(st.floats(-100, 100), st.floats(0, 100), st.floats(0.01, 3))
def test_arange_of_floats(start: float, length: float, step: float) -> None:
    args = start, start + length, step
    ours, theirs = ft.arange(*args).to_torch(), torch.arange(*args, dtype=torch.float64)
    # Each element is the exact value, rounded. torch's elements drift further for long ranges.
    torch.testing.assert_close(ours, theirs.float(), rtol=2e-7, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(-35, 35), st.booleans())
def test_triangle_indices(rows: int, cols: int, offset: int, lower: bool) -> None:
    name = "tril_indices" if lower else "triu_indices"
    ours = getattr(ft, name)(rows, cols, offset).to_torch()
    assert torch.equal(ours, getattr(torch, name)(rows, cols, offset))


numbers = st.one_of(st.booleans(), st.integers(-9, 9), st.floats(width=32), st.complex_numbers(max_magnitude=9))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), max_size=4))
def test_nested_data(data: list[Any]) -> None:
    ours, theirs = ft.tensor(data).to_torch(), torch.tensor(data)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    torch.testing.assert_close(ours, theirs, equal_nan=True, rtol=0, atol=0)


def test_default_dtype() -> None:
    try:
        ft.set_default_dtype(ft.float64)
        assert ft.tensor(1.5).dtype is ft.zeros(2).dtype is ft.arange(1.0).dtype is ft.float64
        assert ft.tensor(1j).dtype is ft.linspace(0, 1j, 3).dtype is ft.complex128
        assert ft.Tensor([1]).dtype is ft.float64
    finally:
        ft.set_default_dtype(ft.float32)


def test_data_is_copied() -> None:
    array = np.zeros(1000, np.float32)
    copies = [ft.tensor(array), ft.tensor(array, dtype=ft.int32)]
    array += 1
    assert not any(t.to_torch().any() for t in copies)
    with pytest.warns(UserWarning, match="clone"):
        again = ft.tensor(copies[0])
    again.fill_(2)
    assert copies[0][0].item() == 0


def test_pickle_and_deepcopy_keep_dtype_and_strides() -> None:
    for dtype in (ft.bfloat16, ft.int8, ft.complex64):
        t = ft.arange(6).reshape(2, 3).to(dtype).t()
        for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
            assert (other.dtype, other.shape, other.stride()) == (dtype, (3, 2), (1, 3))
            assert other.tolist() == t.tolist()


def test_type_and_device() -> None:
    t = ft.ones(2, device="cpu")
    assert (t.type(), t.is_cpu, t.is_fpga) == ("ftensor.FloatTensor", True, False)
    assert t.cpu() is t
    there = t.fpga()
    assert there.device.type == "fpga" and there.type() == "ftensor.fpga.FloatTensor"
    assert there.type("ftensor.IntTensor").dtype is ft.int32
    assert there.type("ftensor.IntTensor").is_cpu and there.type("torch.IntTensor").is_cpu
    assert t.type("torch.DoubleTensor").dtype is ft.float64
    assert there.cpu().tolist() == [1, 1]


def test_refusals_that_differ_from_torchs() -> None:
    with pytest.raises(RuntimeError, match="gradients"):
        ft.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="pinned"):
        ft.zeros(2, device="fpga", pin_memory=True)


def test_import_opens_no_device_and_loads_no_torch() -> None:
    code = "import sys, ftensor; print({'torch', 'pyopencl', 'cffi'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
