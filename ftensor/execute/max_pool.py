"""Launches of max pooling over windows that lie side by side, and of its derivative."""

from __future__ import annotations

from math import prod

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype, int64
from ..iterator.shape import COUNTED, Ints
from ..iterator.stride import contiguous_strides
from ..kernels.skeletons.cpu.max_pool import PlaneWindows, max_pool_key
from .launch import Launch, Output, Step
from .run import run

WINDOWS = 2  # that take as long as an element


def max_pool(input: Tensor, windows: PlaneWindows, shape: Ints) -> tuple[Tensor, ...]:
    """(the largest element of each window of a contiguous input, its place in the plane as int64),
    both of this shape. NotImplementedError for dtypes of few ops."""
    of = input._dtype
    return _launched("max_pool", (input,), windows, of, ((shape, of), (shape, int64)))


def max_pool_back(grad: Tensor, places: Tensor, windows: PlaneWindows, shape: Ints) -> Tensor:
    """The gradient of an input of this shape, each of whose elements is in one window, from those
    of the largest elements and their places; all of them contiguous."""
    of = grad._dtype
    return _launched("max_pool_back", (grad, places), windows, of, ((shape, of),))[0]


def _launched(
    name: str, inputs: tuple[Tensor, ...], windows: PlaneWindows, of: dtype, outputs: tuple[tuple[Ints, dtype], ...]
) -> tuple[Tensor, ...]:
    backend = inputs[0]._storage.backend
    key = (name, windows, *[x._key for x in inputs])
    return run(backend, key, _prepare, _launched, (name, inputs, windows, of, outputs), inputs)


def _prepare(
    name: str, inputs: tuple[Tensor, ...], windows: PlaneWindows, of: dtype, outputs: tuple[tuple[Ints, dtype], ...]
) -> Launch:
    if of.bare:
        raise errors.not_implemented_for(name, of)
    backend = inputs[0]._storage.backend
    target = backend.target
    key = max_pool_key(name == "max_pool_back", of, windows, target, target.unaligned)
    geometry, count = windows.geometry(key), windows.total
    assert count * prod(windows.kernel) <= COUNTED, name
    most = geometry.items if target.grid == "stride" else count // (WINDOWS * target.unit_elements)
    units = max(1, min(backend.units, most, geometry.items))
    operands = tuple(range(len(outputs) + len(inputs)))
    step = Step(key, units, operands, operands, geometry=geometry.pack(), work=count)
    results = tuple([Output(d, shape, contiguous_strides(shape)) for shape, d in outputs])
    return Launch((step,), len(operands), results)
