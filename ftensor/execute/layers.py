"""Launches of layers: nll_loss, pooling, recurrent cells; and layers as a trace records them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype, int64
from ..errors import view as errors_index
from ..iterator.shape import COUNTED, Ints, contiguous_strides, is_contiguous, numel
from ..kernels.key import lanes_for
from ..kernels.select import compute_units
from ..kernels.skeletons.cpu.max_pool import PlaneWindows, max_pool_key
from ..kernels.skeletons.cpu.recurrent import GATES, RecurrentGeometry, RecurrentKey, recurrent_key
from ..kernels.skeletons.nll import NllGeometry, NllKey
from ..kernels.skeletons.pool import PoolGeometry, PoolKey, PoolWindows, serves
from ..runtime.launch_cache import is_available
from .device_traits import is_board, spares_double
from .dispatch import never_on_host, recorder, run, try_run
from .indexed import Check, in_range
from .launch import Launch, Output, Step
from .output import new

if TYPE_CHECKING:
    from ..runtime.backend import Backend


# The kinds of filters and of reflected signals, which are stages of rows. All other kinds are layers of
# networks.
FIR, REFLECT = "fir", "reflect"
# Kinds of layers of floating-point numbers; those of bytes have the names of their ops.
FLOAT_CONV2D, FLOAT_LINEAR, FLOAT_AVG_POOL2D = "float conv2d", "float linear", "float avg_pool2d"
BATCH_NORM, FLOAT_CAT, SOFTMAX = "batch_norm", "float cat", "softmax"


def layer(kind: str, inputs: Sequence[Tensor], settings: Mapping[str, Any], compute: Callable[[], Tensor]) -> Tensor:
    """Returns `compute()`, whose launches a trace records as one layer of this kind on `inputs`.

    `settings` are the op's other arguments; tensors among them are constants of the layer.
    """
    backend = inputs[0]._storage.backend
    tracer = None if backend.executor is None else recorder(backend)
    return compute() if tracer is None else tracer.layer(kind, inputs, settings, compute)


def is_traced(x: Tensor) -> bool:
    """True if a function is being traced on the device of `x`, so that `layer` records."""
    backend = x._storage.backend
    return backend.executor is not None and recorder(backend) is not None


KINDS = {"none": 0, "mean": 1, "sum": 2}
# The most targets that one unit sums: for more, several launches on all units are faster.
MAX_SUMMED = 1 << 16


def nll(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int) -> tuple[Tensor, Tensor] | None:
    """Returns (nll_loss of log-probabilities, the sum of the weights or 0 for "none").

    `target` is int64. Raises IndexError for a target that is no class. Returns None if several
    launches are faster, or if the images have no such kernel.
    """
    backend = x._storage.backend
    operands = (x, target) if weight is None else (x, target, weight)
    key = ("nll", reduction, *[y._key for y in operands])
    if key not in backend.launches:
        if not _supports(backend, x, operands, target, weight):
            return None
        if reduction != "none" and target.numel() > MAX_SUMMED:
            return None
    dim = int(x.ndim > 1)
    certain = in_range(target, x._shape[dim], True)
    check = Check(x._storage, (dim,), errors_index.class_bounds, certain)
    args, inputs = (x, target, weight, reduction, ignored), (*operands, check.flag.tensor)
    results = try_run(backend, key, _loss, nll, args, inputs, (ignored,))
    if results is None:
        return None
    check.finish()
    return results[0], results[1]


def nll_input(
    grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int, total: Tensor
) -> Tensor | None:
    """Returns the gradient of `nll` with respect to `x`, without reading the values of `x`; None in
    the cases of `nll`."""
    backend = x._storage.backend
    operands = (grad, target, total) if weight is None else (grad, target, total, weight)
    key = ("nll_input", reduction, x._key, *[y._key for y in operands])
    args = (grad, x, target, weight, reduction, ignored, total)
    results = try_run(backend, key, _derivative, nll_input, args, operands, (ignored,))
    return None if results is None else results[0]


def _supports(backend: Backend, x: Tensor, operands: tuple[Tensor, ...], target: Tensor, weight: Tensor | None) -> bool:
    dtype, shape = x._dtype, x._shape
    if not backend.target.revisits_rows:
        return False
    if not 0 < numel(shape) <= COUNTED or not shape or dtype.kind != "f" or dtype.bare:
        return False
    if target._shape != (shape[:1] + shape[2:] if len(shape) > 1 else ()):
        return False
    if weight is not None and weight._shape != (shape[len(shape) > 1],):
        return False
    if any(y._dtype is not (int64 if y is target else dtype) for y in operands):
        return False
    return all(is_contiguous(y._shape, y._strides) for y in operands)


def _sizes(x: Tensor) -> tuple[int, int, int]:
    shape = x._shape
    return (1, shape[0], 1) if x.ndim == 1 else (shape[0], shape[1], numel(shape[2:]))


def _loss(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int) -> Launch:
    backend, dtype = x._storage.backend, x._dtype
    key = NllKey("nll", dtype, wide=dtype.compute.itemsize < 8 and spares_double(x))
    samples, classes, inner = _sizes(x)
    kind, n = KINDS[reduction], samples * inner
    units = 1 if kind else compute_units(n, backend.units, backend.target, 1)
    g = NllGeometry(n, classes, inner, int(weight is not None), kind).pack()
    shape = () if kind else target._shape
    outputs = Output(dtype, shape, contiguous_strides(shape)), Output(dtype, (), ())
    inputs = 3 if weight is None else 4
    weights = 2 if weight is None else 4
    operands = (0, 1, 2, 3, weights)
    step = Step(key, units, (*operands, 1 + inputs), operands, geometry=g, work=n)
    return Launch((step,), 2 + inputs, outputs)


def _derivative(
    grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int, total: Tensor
) -> Launch | None:
    backend, dtype, count = x._storage.backend, x._dtype, x.numel()
    operands = (grad, target, total) if weight is None else (grad, target, total, weight)
    if not _supports(backend, x, operands, target, weight):
        return None
    if total.numel() != 1 or grad.numel() != (target.numel() if reduction == "none" else 1):
        return None
    key = NllKey("nll_input", dtype, lanes_for([dtype], dtype.compute, backend.target.lanes_bytes))
    samples, classes, inner = _sizes(x)
    units = min(samples, compute_units(count, backend.units, backend.target, key.lanes))
    weighted = int(weight is not None)
    each, mean = int(reduction == "none"), int(reduction == "mean")
    g = NllGeometry(samples, classes, inner, weighted, each, mean).pack()
    places = (0, 1, 2, 4 if weighted else 1, 3)
    step = Step(key, units, places, places, geometry=g, work=count)
    outputs = (Output(dtype, x._shape, contiguous_strides(x._shape)),)
    return Launch((step,), 4 + weighted, outputs)


def pool_on_board(
    input: Tensor,
    windows: PoolWindows,
    shape: Ints,
    with_indices: bool,
    mean: bool = False,
    divisor: int = 0,
    padded: bool = False,
) -> tuple[Tensor, ...] | None:
    """Returns (the maximum or `mean` of each window, and with `with_indices` the int64 position of
    the maximum in its plane), of this shape. A mean is the sum divided by `divisor`, or by the
    window's element count (with padding if `padded`).

    Returns None if the caller must use another kernel: off boards, without the kernel in the image,
    for inputs that are not contiguous, and for windows that no strip holds.
    """
    if not is_board(input) or not is_contiguous(input._shape, input._strides):
        return None
    args = (input, windows, shape, with_indices, mean, divisor, padded)
    key = ("board_pool", input._key, windows, with_indices, mean, divisor, padded)
    return try_run(input._storage.backend, key, _prepare_pool, pool_on_board, args, (input,))


def _prepare_pool(
    input: Tensor, windows: PoolWindows, shape: Ints, with_indices: bool, mean: bool, divisor: int, padded: bool
) -> Launch | None:
    backend, dtype = input._storage.backend, input._dtype
    key = PoolKey(dtype)
    fits = 0 < numel(input._shape) <= COUNTED and 0 < numel(shape) <= COUNTED and abs(divisor) <= COUNTED
    if not serves(dtype) or not fits or not windows.served or not is_available(backend, key):
        return None
    g = PoolGeometry(
        mean, with_indices, windows.planes, windows.band, divisor, padded, windows.sizes, windows.counts,
        windows.kernel, windows.stride, windows.padding, windows.dilation,
    )  # fmt: skip
    units = min(g.items, compute_units(numel(input._shape), backend.units, backend.target, 1))
    results = [Output(dtype, shape, contiguous_strides(shape))]
    if with_indices:
        results.append(Output(int64, shape, contiguous_strides(shape)))
    # Without `with_indices` the kernel still needs the pointer: it gets the results', and does not
    # write there.
    operands = (0, int(with_indices), 1 + with_indices)
    step = Step(key, units, operands, operands, geometry=g.pack(), work=numel(input._shape))
    return Launch((step,), 2 + with_indices, tuple(results))


WINDOWS = 2  # windows that cost as much as an element


def max_pool(input: Tensor, windows: PlaneWindows, shape: Ints) -> tuple[Tensor, ...]:
    """Returns (the maximum of each window of a contiguous input, its int64 position in the plane),
    both of this shape. Raises NotImplementedError for dtypes with few ops."""
    dtype = input._dtype
    return _run_max_pool("max_pool", (input,), windows, dtype, ((shape, dtype), (shape, int64)))


def max_pool_back(grad: Tensor, indices: Tensor, windows: PlaneWindows, shape: Ints) -> Tensor:
    """Returns the gradient of an input of this shape, whose elements are each in one window, from
    the gradients and positions of the maxima. All tensors are contiguous."""
    dtype = grad._dtype
    return _run_max_pool("max_pool_back", (grad, indices), windows, dtype, ((shape, dtype),))[0]


def _run_max_pool(
    name: str, inputs: tuple[Tensor, ...], windows: PlaneWindows, dtype: dtype, outputs: tuple[tuple[Ints, dtype], ...]
) -> tuple[Tensor, ...]:
    backend = inputs[0]._storage.backend
    key = (name, windows, *[x._key for x in inputs])
    return run(backend, key, _prepare_max_pool, _run_max_pool, (name, inputs, windows, dtype, outputs), inputs)


def _prepare_max_pool(
    name: str, inputs: tuple[Tensor, ...], windows: PlaneWindows, dtype: dtype, outputs: tuple[tuple[Ints, dtype], ...]
) -> Launch:
    if dtype.bare:
        raise errors.not_implemented_for(name, dtype)
    backend = inputs[0]._storage.backend
    target = backend.target
    key = max_pool_key(name == "max_pool_back", dtype, windows, target, target.unaligned)
    geometry, count = windows.geometry(key), windows.total
    assert count * prod(windows.kernel) <= COUNTED, name
    most = geometry.items if target.grid == "stride" else count // (WINDOWS * target.unit_elements)
    units = max(1, min(backend.units, most, geometry.items))
    operands = tuple(range(len(outputs) + len(inputs)))
    step = Step(key, units, operands, operands, geometry=geometry.pack(), work=count)
    results = tuple([Output(d, shape, contiguous_strides(shape)) for shape, d in outputs])
    return Launch((step,), len(operands), results)


# Each item reads the hidden state's weights in each step. If they exceed the second-level cache,
# one product of all sequences with packed panels is faster.
MAX_WEIGHT_BYTES = 1 << 18
TERMS = 8  # terms of a product that cost as much as an element of a pointwise op


def fits_one_launch(cell: str, x: Tensor, batch: int, width: int) -> bool:
    """True if one kernel can run all steps of a layer on the device of `x`, in its dtype. `cell` is
    "lstm" or "gru"; there are `batch` sequences with states of `width` elements."""
    dtype = x._dtype
    if cell not in GATES or not x._storage.backend.target.processor or dtype.name not in ("float32", "float64"):
        return False
    return batch > 0 and 0 < GATES[cell] * width * width * dtype.itemsize <= MAX_WEIGHT_BYTES


def run_steps(
    cell: str, gates: Tensor, h: Tensor, other: Tensor, weight: Tensor, out: Tensor, reverse: bool = False,
    saved: Tensor | None = None, cells: Tensor | None = None,
) -> Tensor | None:  # fmt: skip
    """Writes the hidden states (steps, batch, width) to `out`. Returns the last cell states (batch,
    width) of an LSTM, else None.

    `gates` (steps, batch, 4 or 3 * width) is the input's part; `h` (batch, width) the initial state.
    `other` is an LSTM's initial cell state, or a GRU's bias (3 * width) of the hidden state's part.
    `weight` is transposed: (width, 4 or 3 * width). The rows of `out` are contiguous, all others
    entirely. `saved` (steps, batch, 4 * width) and `cells`, an LSTM's states (steps, batch, width),
    are written for the derivative.
    """
    backend = gates._storage.backend
    results = [out]
    if cell == "lstm":
        results.append(new(h._shape, h._dtype, h._storage.device) if cells is None else cells)
    results += [] if saved is None else [saved]
    inputs = (gates, h, other, weight)
    key = ("recurrent", cell, reverse, saved is None, cells is None, *[x._key for x in (*results, *inputs)])
    args = (cell, tuple(results), inputs, reverse, saved is not None, cells is not None)
    run(backend, key, _prepare_steps, never_on_host, args, inputs, (), tuple(results) if len(results) > 1 else out)
    return results[1] if cell == "lstm" else None


def _prepare_steps(
    cell: str, results: tuple[Tensor, ...], inputs: tuple[Tensor, ...], reverse: bool, saved: bool, every: bool
) -> Launch:
    out = results[0]
    backend, (steps, batch, width) = out._storage.backend, out._shape
    assert out._strides[2] == 1 or width == 1
    assert all(is_contiguous(x._shape, x._strides) for x in (*results[1:], *inputs))
    key = recurrent_key("recurrent", cell, out._dtype, backend.target, batch, width, saved)
    items = -(-batch // key.tile_rows)
    cells = (batch * width if every else 0,)
    g = RecurrentGeometry(items, steps, batch, width, int(reverse), out._strides[:2], cells)
    outputs = tuple([Output(x._dtype, x._shape, x._strides) for x in results])
    operands = len(results) + len(inputs)
    return Launch((_step(backend, key, g, operands),), operands, outputs, fresh=False)


def _step(backend: Backend, key: RecurrentKey, g: RecurrentGeometry, operands: int) -> Step:
    work = g.steps * g.batch * g.width * (4 * g.width // TERMS + 1)
    units = min(g.items, compute_units(work, backend.units, backend.target, 1))
    pointers = tuple(range(operands))
    return Step(key, units, pointers, pointers, geometry=g.pack(), work=work)


def run_steps_backward(
    cell: str, dy: Tensor, saved: Tensor, states: Tensor, weight: Tensor, dh: Tensor, dc: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns gradients, from those of the hidden states `dy` (steps, batch, width) and of the last
    states `dh` and `dc` (batch, width): (of the gates, of the initial c, of the initial h), for a GRU
    (of the hidden state's part of the gates, of the input's part, of the initial h).

    `saved` is that of `run_steps`. `states` (1 + steps, batch, width) are the cell states of an LSTM,
    the hidden states of a GRU, before the first and after each step. `weight` is (4 or 3 * width,
    width). All are contiguous, of `dy` the rows.
    """
    backend = dy._storage.backend
    inputs = (dy, saved, states, weight, dh, *([] if dc is None else [dc]))
    key = ("recurrent_back", cell, *[x._key for x in inputs])
    results = run(backend, key, _prepare_backward, never_on_host, (cell, inputs), inputs)
    return results[0], results[1], results[2]


def _prepare_backward(cell: str, inputs: tuple[Tensor, ...]) -> Launch:
    dy = inputs[0]
    backend, (steps, batch, width) = dy._storage.backend, dy._shape
    assert dy._strides[2] == 1 or width == 1
    assert all(is_contiguous(x._shape, x._strides) for x in inputs[1:])
    key = recurrent_key("recurrent_back", cell, dy._dtype, backend.target, batch, width)
    g = RecurrentGeometry(-(-batch // key.tile_rows), steps, batch, width, 0, dy._strides[:2], (0,))
    gates = (steps, batch, GATES[cell] * width)
    shapes = (gates, (batch, width) if cell == "lstm" else gates, (batch, width))
    outputs = tuple([Output(dy._dtype, shape, contiguous_strides(shape)) for shape in shapes])
    step = _step(backend, key, g, 3 + len(inputs))
    return Launch((step,), 3 + len(inputs), outputs)
