"""softmax, log_softmax and layer norm of rows in one launch, on a board or its emulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .._tensor import Tensor
from ..dtypes import float32
from ..iterator.shape import COUNTED, Ints, contiguous_strides, is_contiguous, numel
from ..kernels.select import compute_units
from ..kernels.skeletons.whole_rows import BEATS, LANES, WholeRowsGeometry, WholeRowsKey
from ..runtime.program import is_available
from .device_traits import is_board
from .dispatch import try_run
from .launch import Launch, Output, Step
from .scalars import values_of

# True while a graph is traced whose ops become stages: single ops are, whole rows are not.
_as_single_ops: ContextVar[bool] = ContextVar("_as_single_ops", default=False)


@contextmanager
def as_single_ops(enabled: bool = True) -> Iterator[None]:
    """While active and `enabled`, softmax and norms run as their single ops, and a transform of real
    rows is one op."""
    token = _as_single_ops.set(enabled or _as_single_ops.get())
    try:
        yield
    finally:
        _as_single_ops.reset(token)


def are_single_ops() -> bool:
    """True while `as_single_ops` is active."""
    return _as_single_ops.get()


def whole_softmax(op: str, x: Tensor) -> Tensor | None:
    """Returns softmax or log_softmax (`op`) along the last dim; None if the caller must use other
    kernels: off boards, without the kernel in the image, for other dtypes, and for rows that are
    not contiguous or too long."""
    results = _try_whole_rows(op, (x,), 1, False, False, 0.0) if x.ndim else None
    return None if results is None else results[0]


def whole_norm(
    x: Tensor, ndim: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, ...] | None:
    """Returns (x normalized over its last dims, the means, 1 / the deviations); means and
    deviations keep these dims. Returns None as `whole_softmax` does."""
    inputs = tuple([y for y in (x, weight, bias) if y is not None])
    return _try_whole_rows("layer_norm", inputs, ndim, weight is not None, bias is not None, float(eps))


def _try_whole_rows(
    op: str, inputs: tuple[Tensor, ...], ndim: int, weighted: bool, shifted: bool, eps: float
) -> tuple[Tensor, ...] | None:
    if not is_board(inputs[0]) or _as_single_ops.get():
        return None
    args = (op, inputs, ndim, weighted, shifted, eps)
    key = ("whole_rows", op, ndim, weighted, shifted, eps, *[y._key for y in inputs])
    return try_run(inputs[0]._storage.backend, key, _prepare, _try_whole_rows, args, inputs)


def _prepare(
    op: str, inputs: tuple[Tensor, ...], ndim: int, weighted: bool, shifted: bool, eps: float
) -> Launch | None:
    x = inputs[0]
    backend, key = x._storage.backend, WholeRowsKey(float32)
    lead, n = x._shape[: x.ndim - ndim], numel(x._shape[x.ndim - ndim :])
    if any(y._dtype is not float32 or not is_contiguous(y._shape, y._strides) for y in inputs):
        return None
    count = numel(x._shape)
    if not 0 < count <= COUNTED or n > BEATS * LANES or not is_available(backend, key):
        return None
    g = WholeRowsGeometry.of(op, n, numel(lead), weighted, shifted)
    units = min(g.items, compute_units(count, backend.units, backend.target, LANES))
    shapes: list[Ints] = [x._shape]
    if op == "layer_norm":
        shapes += [(*lead, *(1,) * ndim)] * 2
    results = tuple([Output(float32, shape, contiguous_strides(shape)) for shape in shapes])
    first = len(results)  # the first input; an op without an operand gets another in its place
    outs = (0, 1, 2) if first == 3 else (0, 0, 0)
    pointers = (*outs, first, first + weighted, first + weighted + shifted)
    step = Step(key, units, pointers, pointers, geometry=g.pack(), work=count)
    numbers = values_of(eps, float32)
    return Launch((step,), first + len(inputs), results, own_numbers=numbers)
