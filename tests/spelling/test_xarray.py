"""xarray's functions on tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft

xarray = pytest.importorskip("xarray")

import ftensor.xarray  # noqa: E402

CASES: dict[str, Callable[[Any], Any]] = {
    "windows": lambda f: f.rolling(t=3).construct("w", fill_value=0).mean("w"),
    "windows in the middle": lambda f: f.rolling(t=3, center=True).construct("w", fill_value=0).sum("w"),
    "rolling mean": lambda f: f.rolling(t=3).mean(),
    "rolling maximum": lambda f: f.rolling(t=3, center=True).max(),
    "count": lambda f: f.where(f > 0).count("t"),
    "mean of valid elements": lambda f: f.where(f > 0).mean("t"),
    "deviation of valid elements": lambda f: f.where(f > 0).std("t"),
    "shift": lambda f: f.shift(t=2),
    "coarsen": lambda f: f.coarsen(t=4).mean(),
    "correlation": lambda f: xarray.corr(f, f**2, "t"),
    "differentiate": lambda f: f.differentiate("t"),
    "pad": lambda f: f.pad(t=(1, 2), constant_values=0),
    "interp": lambda f: f.interp(t=[1.5, 2.25]),
    "polyfit": lambda f: f.polyfit("t", 1).polyfit_coefficients,
    "quantile": lambda f: f.quantile(0.3, "t"),
    "where": lambda f: f.where(f > 0, 0),
    "where of a half": lambda f: f.where(f > 0, 0.5),
    "any": lambda f: np.any(f > 1),
    "max": lambda f: np.max(f, axis=1),
    "std": lambda f: np.std(f, axis=0),
    "transpose": lambda f: f.transpose("c", "t") * 2,
    "cumulative_integrate": lambda f: f.cumulative_integrate("t"),
    "cumprod": lambda f: f.cumprod("t"),
}


@pytest.mark.parametrize("name", CASES)
def test_xarray_computes_with_tensors(name: str) -> None:
    values = np.random.default_rng(0).standard_normal((12, 3)).astype("f4")
    found, wanted = (
        xarray.DataArray(data, dims=("t", "c"), coords={"t": np.arange(12.0)}) for data in (ft.tensor(values), values)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the host fallback
        found, wanted = CASES[name](found), CASES[name](wanted)
    np.testing.assert_allclose(np.asarray(found.data), wanted.data, rtol=1e-4, atol=1e-5)
    assert np.asarray(found.data).dtype.kind == wanted.dtype.kind
    assert name in ("interp",) or isinstance(found.data, ft.Tensor)


def test_reductions_run_on_the_device() -> None:
    """Elements may be missing, and data may be in chunks."""
    f = xarray.DataArray(ft.arange(12.0).reshape(6, 2), dims=("t", "c"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of the host fallback
        for found in (f.mean("t"), f.std("t"), f.rolling(t=2).mean(), f.coarsen(t=2).mean(), f.quantile(0.5, "t")):
            assert isinstance(found.data, ft.Tensor)
        pytest.importorskip("dask.array")
        assert isinstance(f.chunk(t=3).mean("t").compute().data, ft.Tensor)


@pytest.mark.parametrize("by_opt_einsum", [True, False])
def test_products_and_weights_on_the_device(by_opt_einsum: bool) -> None:
    values = np.random.default_rng(0).standard_normal((12, 3)).astype("f4")
    results = []
    with warnings.catch_warnings(), xarray.set_options(use_opt_einsum=by_opt_einsum):
        warnings.simplefilter("error")  # of the host fallback
        for make in (ft.tensor, np.asarray):
            f = xarray.DataArray(make(values), dims=("t", "c"))
            w = xarray.DataArray(make(values[:, 0] ** 2), dims="t")
            by_weight = f.weighted(w)
            results.append(
                [f @ w, f.dot(f, "c"), xarray.dot(f, f.rename(c="d"), dim="t")]
                + [by_weight.mean("t"), by_weight.sum("t"), by_weight.std("t"), by_weight.sum_of_weights("t")]
            )
    for found, wanted in zip(*results):
        assert isinstance(found.data, ft.Tensor) and found.dims == wanted.dims
        np.testing.assert_allclose(found.data.numpy(), wanted.data, rtol=1e-4, atol=1e-5)


def test_bool_has_no_missing_value() -> None:
    f = xarray.DataArray(ft.ones(3, dtype=ft.bool), dims="t")
    with pytest.raises(TypeError, match="bool cannot mark missing values"):
        f.shift(t=1)
    assert ftensor.xarray.fill_value(ft.int32)[0] is ft.float64


def test_file_round_trip(tmp_path: Path) -> None:
    f = xarray.DataArray(ft.arange(6.0).reshape(3, 2), dims=("t", "c"))
    f.to_netcdf(tmp_path / "x.nc")
    assert xarray.load_dataarray(tmp_path / "x.nc").values.tolist() == f.data.tolist()


def test_result_type_of_names() -> None:
    xp = ft.ones(1).__array_namespace__()
    assert xp.result_type(ft.float32, "float32") is ft.float32
    assert xp.result_type(ft.float32, "int8", "bool") is ft.float32
    assert xp.result_type(ft.int32, "float64", np.dtype("f4")) is ft.float64
    assert xp.result_type(ft.int32, np.float32(1)) is ft.float32
    for other in ("object", None, [1]):
        with pytest.raises(TypeError, match="result_type"):
            xp.result_type(ft.float32, other)


def test_class_of_an_element() -> None:
    assert ft.float32.type is np.float32
    assert ft.bfloat16.type is np.float32
    assert issubclass(ft.int8.type, np.integer)
    with pytest.raises(TypeError, match="`out` must be None"):
        ft.array_api.any(ft.ones(2), out=ft.ones(1))
