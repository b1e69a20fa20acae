"""torch's own op database, run against every op that both sides have under one name.

A few samples of each op; the values are compared with torch's default tolerances.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch's op database is what runs here")
pytest.importorskip("expecttest", reason="torch's op database needs it")

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.utils._pytree import tree_map_only  # noqa: E402

import ftensor as ft  # noqa: E402
from ftensor.rows.catalogue import ENTRIES  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning")]

SAMPLES = 4
# Results that are not determined by the inputs.
UNDETERMINED = {"empty_like", "new_empty", "new_empty_strided", "empty", "empty_strided"}
UNDETERMINED |= {"empty_permuted", "resize_", "resize_as_"}
# What docs/differences.md says is not there, and samples that are more than their tensors.
LEFT_OUT = {
    "norm.nuc": "the nuclear norm needs a decomposition",
    "linalg.matrix_power": "its samples with negative powers need an inverse",
    "chalf": "complex32 is not a dtype here",
    "as_strided.partial_views": "reads memory around the sample, which its copy does not have",
}
LEFT_OUT |= {
    f"nn.functional.pad.{mode}": "padding with a constant is what there is"
    for mode in ("reflect", "replicate", "replicate_negative", "circular")
}
# The database passes these arguments in an order of its own.
IN_ORDER: dict[str, Callable[..., Any]] = {
    "where": lambda input, condition, other: ft.where(condition, input, other),
    "einsum": lambda tensors, equation: ft.einsum(equation, tensors),
}


def function(name: str) -> Callable[..., Any] | None:
    """ftensor's function (or method) of a name of the database."""
    entry = ENTRIES.get(name)
    return None if entry is None or name in UNDETERMINED else entry.call


OPS = [op for op in op_db if function(op.name) is not None]


def carried(value: Any) -> Any:
    """An argument for torch as one for ftensor."""
    if isinstance(value, torch.Tensor):
        return ft.from_torch(value.detach().clone())
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(ft, str(value).rsplit(".", 1)[-1])
    if isinstance(value, torch.device):
        return ft.zeros(1).device
    if isinstance(value, (list, tuple)):
        return type(value)(carried(v) for v in value) if type(value) in (list, tuple) else value
    return value


def leaves(value: Any) -> list[Any]:
    """The tensors and numbers of a result, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    return [value.to_torch() if isinstance(value, ft.Tensor) else value]


def in_double(op: Any, sample: Any) -> list[Any]:
    """torch's result in double precision."""
    args = (sample.input, *sample.args)
    args, kwargs = tree_map_only(torch.Tensor, wider, (args, sample.kwargs))
    return leaves(op.op(*args, **kwargs))


def wider(t: Any) -> Any:
    """A tensor of single precision in double precision."""
    return t.double() if t.dtype == torch.float32 else t


def error(a: Any, exact: Any) -> float:
    """The largest distance of two tensors of one shape; NaN where only one has a NaN."""
    return float((a.double() - exact).abs().max())


def test_there_is_something_to_run() -> None:
    """A renamed catalogue must not leave the next test empty."""
    assert len(OPS) > 250


@pytest.mark.parametrize("op", OPS, ids=[op.full_name for op in OPS])
def test_as_in_torchs_database(op: Any) -> None:
    """Same shapes, dtypes and values for the database's first samples."""
    if op.full_name in LEFT_OUT:
        pytest.skip(LEFT_OUT[op.full_name])
    dtype = torch.float32 if torch.float32 in op.supported_dtypes("cpu") else torch.int64
    if dtype not in op.supported_dtypes("cpu"):
        dtype = torch.complex64
    mine = IN_ORDER.get(op.name) or function(op.name)
    assert mine is not None
    torch.manual_seed(0)
    for sample in itertools.islice(op.sample_inputs("cpu", dtype), SAMPLES):
        args = [carried(v) for v in (sample.input, *sample.args)]
        kwargs = {k: carried(v) for k, v in sample.kwargs.items()}
        expected = op.op(sample.input, *sample.args, **sample.kwargs)
        got = mine(*args, **kwargs)
        for k, (a, b) in enumerate(zip(leaves(got), leaves(expected), strict=True)):
            if isinstance(b, torch.Tensor):
                try:
                    torch.testing.assert_close(a, b, equal_nan=True)
                except AssertionError:
                    # On some CPUs torch's own sums are off by more than its tolerance.
                    exact = in_double(op, sample)[k]
                    assert a.dtype == b.dtype and error(a, exact) <= error(b, exact)
            else:
                assert a == b or a != a
