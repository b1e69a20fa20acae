"""dask.array gives the same results with tensors as chunks as with NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
import ftensor.dask  # noqa: E402

A = np.random.default_rng(0).normal(size=(12, 16)).astype(np.float32)
CALLS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: (2 * x - 1) / (x * x + 1) ** 0.5,
    "ufunc": lambda x: np.exp(x),
    "ndarray": lambda x: x + A[:1],
    "where": lambda x: da.where(x > 0, x, 0),
    "clip": lambda x: x.clip(-1, 1),
    "astype": lambda x: x.astype(np.float64),
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(axis=1),
    "std": lambda x: x.std(axis=0),
    "max": lambda x: x.max(axis=1),
    "argmax": lambda x: x.argmax(axis=0),
    "nanmean": lambda x: da.nanmean(x, axis=0),
    "cumsum": lambda x: x.cumsum(axis=0),
    "topk": lambda x: x.topk(3, axis=1),
    "median": lambda x: da.median(x, axis=1),
    "percentile": lambda x: da.percentile(x.reshape(-1), 50),
    "standardized": lambda x: (x - x.mean(axis=0)) / x.std(axis=0),
    "matmul": lambda x: x @ x.T,
    "tensordot": lambda x: da.tensordot(x, x, axes=((0,), (0,))),
    "einsum": lambda x: da.einsum("ij,kj->ik", x, x),
    "norm": lambda x: da.linalg.norm(x),
    "singular values": lambda x: da.linalg.svd(x.rechunk((5, 16)))[1],
    "fft": lambda x: da.fft.fft(x.rechunk((5, 16)), axis=1),
    "rfft": lambda x: da.fft.rfft(x.rechunk((5, 16)), axis=1),
    "slices": lambda x: x[2:9, ::2],
    "backwards": lambda x: x[::-1],
    "places": lambda x: x[[3, 1, 7]],
    "mask": lambda x: x[x[:, 0] > 0],
    "concatenate": lambda x: da.concatenate([x, x], axis=1),
    "stack": lambda x: da.stack([x, x]),
    "reshape": lambda x: x.reshape(-1),
    "pad": lambda x: da.pad(x, 1),
    "full_like": lambda x: da.full_like(x, 3.0),
    "map_blocks": lambda x: x.map_blocks(lambda block: block * 3),
    "map_overlap": lambda x: x.map_overlap(lambda b: b[:] * 2, depth=1, boundary="reflect"),
    "map_overlap, zeros": lambda x: x.map_overlap(lambda b: b + 1, depth=2, boundary=0),
    "apply_gufunc": lambda x: da.apply_gufunc(lambda block: block.sum(-1), "(i)->()", x.rechunk((5, 16))),
}


@pytest.mark.parametrize("name", CALLS)
def test_chunks_are_tensors(name: str) -> None:
    x = da.from_array(ft.tensor(A), chunks=(5, 6), asarray=False)
    with dask.config.set(scheduler="synchronous"), np.errstate(all="ignore"):
        result = CALLS[name](x).compute()
        wanted = CALLS[name](da.from_array(A, chunks=(5, 6))).compute()
    assert isinstance(result, ft.Tensor) and tuple(result.shape) == np.shape(wanted)
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-4, atol=1e-4)


def test_arrays_are_created_like_tensors() -> None:
    meta = ft.empty(0)
    with dask.config.set(scheduler="synchronous"):
        for make in (da.ones, da.zeros):
            array = make((3, 4), chunks=2, meta=meta)
            assert isinstance(array.compute(), ft.Tensor)
            assert array.sum().compute().item() == (12 if make is da.ones else 0)
        assert isinstance(da.asarray(A, like=meta).compute(), ft.Tensor)
