"""Every op of the catalogue on tensors larger than any memory is refused at once, or returns a
view."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.rows.catalogue import ENTRIES
from ftensor.rows.op import Reduce

from ..targets import some

SIZE, SIDE, TALL = 1 << 40, 1 << 20, (1 << 40, 1 << 20)
MAX_GROWN = 32 << 20  # bytes that a refused call may allocate
# Errors that no user's call may end in.
OURS = (MemoryError, AssertionError, OverflowError, RecursionError, UnboundLocalError)


def wide(*shape: int, of: ft.dtype = ft.float32) -> ft.Tensor:
    """Returns one element expanded to a shape."""
    return ft.ones(1, dtype=of).expand(shape)


# Arguments; each op takes those that fit. All results are too large or are views, except for ops in
# FIT.
CALLS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "a vector": lambda: (wide(SIZE),),
    "a matrix": lambda: (wide(*TALL),),
    "a square matrix": lambda: (wide(SIDE, SIDE),),
    "rows": lambda: (wide(SIZE, 4),),
    "rows and a dim": lambda: (wide(SIZE, 4), 1),
    "a batch": lambda: (wide(SIZE, 4, 4),),
    "two vectors": lambda: (wide(SIZE), wide(SIZE)),
    "two matrices": lambda: (wide(*TALL), wide(*TALL)),
    "two of rows": lambda: (wide(SIZE, 4), wide(SIZE, 4)),
    "two batches": lambda: (wide(SIZE, 4, 4), wide(SIZE, 4, 4)),
    "a vector and a number": lambda: (wide(SIZE), 2),
    "a number and a vector": lambda: (2, wide(SIZE)),
    "three vectors": lambda: (wide(SIZE), wide(SIZE), wide(SIZE)),
    "three matrices": lambda: (wide(*TALL), wide(*TALL), wide(*TALL)),
    "three batches": lambda: (wide(SIZE, 4, 4), wide(SIZE, 4, 4), wide(SIZE, 4, 4)),
    "a list of vectors": lambda: ([wide(SIZE), wide(SIZE)],),
    "a list of matrices": lambda: ([wide(*TALL), wide(*TALL)], 1),
    "indices": lambda: (wide(SIZE, of=ft.int64),),
    "two of indices": lambda: (wide(SIZE, of=ft.int64), wide(SIZE, of=ft.int64)),
    "indices and rows": lambda: (wide(SIZE, of=ft.int64), ft.ones(4, 4)),
    "a dim and indices": lambda: (wide(SIZE), 0, wide(SIZE, of=ft.int64)),
    "to be scattered": lambda: (wide(SIZE), 0, wide(SIZE, of=ft.int64), wide(SIZE)),
    "rows and classes": lambda: (wide(SIZE, 4), wide(SIZE, of=ft.int64)),
    "a mask": lambda: (wide(SIZE, of=ft.bool),),
    "a mask and two": lambda: (wide(SIZE, of=ft.bool), wide(SIZE), wide(SIZE)),
    "masked": lambda: (wide(SIZE), wide(SIZE, of=ft.bool)),
    "masked by": lambda: (wide(SIZE), wide(SIZE, of=ft.bool), wide(SIZE)),
    "complex numbers": lambda: (wide(SIZE, of=ft.complex64),),
    "a size": lambda: (SIZE,),
    "two sizes": lambda: (SIDE, SIDE),
    "a shape": lambda: ((SIDE, SIDE),),
    "a shape and a number": lambda: ((SIDE, SIDE), 1),
    "a range": lambda: (0, SIZE, 1),
    "steps": lambda: (0, 1, SIZE),
    "few of a shape": lambda: (ft.ones(1), (SIZE,)),
    "few of many": lambda: (ft.ones(1), SIZE),
    "few in many": lambda: (ft.ones(4), SIZE, 0),
    "few beside many": lambda: (ft.ones(4), (SIZE, SIZE)),
    "a matrix beside many": lambda: (ft.ones(4, 4), (SIDE, SIDE)),
    "images": lambda: (wide(SIZE, 1, 4, 4), 2),
    "images and sizes": lambda: (wide(SIZE, 1, 4, 4), (2, 2)),
    "images and filters": lambda: (wide(SIZE, 1, 4, 4), ft.ones(1, 1, 3, 3)),
    "few images and sizes": lambda: (ft.ones(1, 1, 3, 3), (SIDE, SIDE)),
    "signals": lambda: (wide(SIZE, 1, 4), 2),
    "signals and filters": lambda: (wide(1, 1, SIZE), ft.ones(1, 1, 3)),
    "signals and padding": lambda: (wide(SIZE, 1, 4), (2, 2)),
    "volumes": lambda: (wide(SIZE, 1, 4, 4, 4), 2),
    "volumes and filters": lambda: (wide(SIZE, 1, 4, 4, 4), ft.ones(1, 1, 3, 3, 3)),
    "rows and weights": lambda: (wide(SIZE, 4), ft.ones(5, 4), ft.ones(5)),
    "rows and means": lambda: (wide(SIZE, 4), ft.ones(4), ft.ones(4)),
    "rows and a shape": lambda: (wide(SIZE, 4), (4,)),
    "groups": lambda: (wide(SIZE, 4, 2), 2),
    "grids": lambda: (wide(SIZE, 1, 4, 4), wide(SIZE, 4, 4, 2)),
    "distances": lambda: (wide(1 << 34, 4), wide(1 << 34, 4)),
    "products": lambda: (wide(1 << 34, 4), wide(4, 1 << 34)),
}

# Ops with few results. They would have to read all 2^40 elements, but not row by row.
FIT = {name for name, entry in ENTRIES.items() if isinstance(entry.row, Reduce)}
FIT |= {
    "sum",
    "nansum",
    "mean",
    "nanmean",
    "prod",
    "amax",
    "amin",
    "max",
    "min",
    "aminmax",
    "argmax",
    "argmin",
    "any",
    "all",
    "std",
    "var",
    "std_mean",
    "var_mean",
    "median",
    "nanmedian",
    "norm",
    "logsumexp",
    "count_nonzero",
    "equal",
    "allclose",
    "special.logsumexp",
    "sum_to_size",
    "linalg.vector_norm",
    "linalg.norm",
    "linalg.matrix_norm",
    "dist",
    "dot",
    "vdot",
    "inner",
    "linalg.vecdot",
    "mv",
    "addmv",
    "matmul",
    "linalg.matmul",
    "tensordot",
    "linalg.multi_dot",
    "nn.functional.linear",
    "topk",
    "masked.sum",
    "masked.prod",
    "masked.amax",
    "masked.amin",
    "masked.argmax",
    "masked.argmin",
    "masked.mean",
    "masked.median",
    "masked.logsumexp",
    "masked.norm",
    "masked.var",
    "masked.std",
    "chain_matmul",
    "cosine_similarity",
    "nn.functional.cosine_similarity",
    "svd_lowrank",
    "pca_lowrank",
    "unbind",
    "unbind_copy",
}
ROW_BY_ROW = "rows and a dim"
# Functions without a dim, or whose number is a count of terms.
READ = {
    "norm",
    "masked.norm",
    "sum_to_size",
    "linalg.vector_norm",
    "linalg.norm",
    "linalg.matrix_norm",
    "frobenius_norm",
    "norm_except_dim",
    "special.laguerre_polynomial_l",
    "special.legendre_polynomial_p",
    "nn.functional.linear_cross_entropy",
}


@pytest.fixture
def traced() -> Iterator[None]:
    import_module("scipy.signal")  # filter designs import it; its code does not count as their memory
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("form", some(list(CALLS), 2))
def test_results_larger_than_memory_are_refused(form: str) -> None:
    """Before any computation, for the host's memory or the device's."""
    pool, wrong = default_backend().pool, []
    for name, entry in ENTRIES.items():
        if entry.prop or (name in FIT and form != ROW_BY_ROW) or name in READ:
            continue
        arguments = CALLS[form]()
        tracemalloc.reset_peak()
        pool.reset_peaks()
        host, device = tracemalloc.get_traced_memory()[0], pool.allocated
        refused = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                entry.call(*arguments)
            refused = False  # a view, or a few numbers
        except Exception as error:  # noqa: BLE001 -- refused, or it takes no such arguments
            if isinstance(error, OURS):
                wrong.append(f"{name}: {error!r:.200}")
        grown = tracemalloc.get_traced_memory()[1] - host + pool.peak_allocated - device
        if refused and grown > MAX_GROWN:
            wrong.append(f"{name}: {grown} bytes for nothing")
    assert not wrong, "\n".join(wrong)
