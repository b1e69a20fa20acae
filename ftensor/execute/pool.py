"""Launches of pooling windows."""

from __future__ import annotations

from math import prod

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype, int64
from ..iterator.shape import COUNTED, Ints, contiguous_strides, is_contiguous, numel
from ..kernels.select import compute_units
from ..kernels.skeletons.cpu.max_pool import PlaneWindows, max_pool_key
from ..kernels.skeletons.pool import PoolGeometry, PoolKey, PoolWindows, serves
from ..runtime.program import is_available
from .device_traits import is_board
from .dispatch import run, try_run
from .launch import Launch, Output, Step


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
    return try_run(input._storage.backend, key, _prepare, pool_on_board, args, (input,))


def _prepare(
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
    # Without `with_indices` the kernel gets the results' pointer in its place, and does not write
    # to it.
    operands = (0, int(with_indices), 1 + with_indices)
    step = Step(key, units, operands, operands, geometry=g.pack(), work=numel(input._shape))
    return Launch((step,), 2 + with_indices, tuple(results))


WINDOWS = 2  # that take as long as an element


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
