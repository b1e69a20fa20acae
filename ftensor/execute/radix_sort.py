"""Rows in order by digits, on processors: the launch."""

from __future__ import annotations

from dataclasses import replace

from .. import dtypes
from .._tensor import Tensor
from ..iterator.shape import numel
from ..iterator.stride import like_strides
from ..kernels.select import units_for
from ..kernels.skeletons.cpu.radix_sort import (
    COUNT,
    MOVE,
    NARROW,
    PLACE,
    WHOLE,
    WIDE,
    RadixGeometry,
    RadixKey,
    radix_key,
)
from .board_sort import rows_along
from .launch import Launch, Output, Step, asked

# Bytes of a row from which on digits are quicker than merges. Elements of a row from which on
# digits are wide, and from which on it is cut into parts, whose elements go in lines.
LEAST_BYTES, MANY, LINED = 512, 1 << 13, 1 << 17
LAST = 64  # bytes of a temporary that nobody uses


def serves(x: Tensor, dim: int) -> bool:
    """Whether rows along `dim` go in order by digits: on processors, where loops may turn as often
    as the data want."""
    size = x._shape[dim] * max(4, x._dtype.itemsize)
    return x._storage.backend.target.processor and size >= LEAST_BYTES


def prepare(x: Tensor, dim: int, descending: bool, places: bool) -> Launch:
    """The launch: one step, or three for each digit of long rows. Its outputs are the values, and
    with `places` where they stood. Beside these it takes twice the memory of the rows that are
    sorted at the same time: with places 8 bytes an element, of 8 bytes 12."""
    backend, n = x._storage.backend, x._shape[dim]
    key = radix_key(x._dtype, backend.target, places)
    strides = like_strides(x._shape, x._strides)
    of = (x._dtype, dtypes.int64) if places else (x._dtype,)
    outputs = asked(backend, *[Output(d, x._shape, strides) for d in of])
    if not numel(x._shape):
        return Launch((), len(of) + 1, outputs)
    shape, read, written = rows_along(x, dim, strides)
    bits, rows = 8 * x._dtype.itemsize, numel(shape)
    width = WIDE if bits > 16 and n >= MANY else NARROW
    passes = -(-bits // width)
    units = units_for(2 * passes * numel(x._shape), backend.units, backend.target, 1)
    parts = max(1, units // rows)
    whole = RadixGeometry(
        WHOLE, 1, n, width, passes, 0, 0, False, descending, x._strides[dim], strides[dim], shape, read, written
    )
    if n < LINED:
        units = min(units, rows)
        return _launch(key, [(whole, units)], outputs, units * n, 0)
    cut = replace(whole, parts=parts, lined=True)
    steps = []
    for turn in range(passes):
        for mode in (COUNT, PLACE, MOVE):
            step = replace(cut, mode=mode, turn=turn)
            steps.append((step, min(units, step.items)))
    return _launch(key, steps, outputs, rows * n, rows * parts)


def _launch(
    key: RadixKey, steps: list[tuple[RadixGeometry, int]], outputs: tuple[Output, ...], kept: int, parts: int
) -> Launch:
    """Steps over memories of `kept` elements, cut into so many `parts` in all."""
    g, operands = steps[0][0], len(outputs) + 1
    size = 8 if key.packed else key.dtype.itemsize
    beside = key.places and not key.packed
    digits = parts << g.width
    lines = digits * key.lanes
    launch_steps = tuple(
        [
            Step(
                key,
                units,
                tuple(range(operands + 5)),
                tuple(range(operands)),
                geometry=g.pack(),
                work=g.n * numel(g.shape),
            )
            for g, units in ((replace(g, kept=kept), units) for g, units in steps)
        ]
    )
    temporaries = (
        kept * size,
        kept * size,
        lines * size or LAST,
        (2 * kept + lines) * 4 if beside else LAST,
        (digits + 2 * parts) * 4 or LAST,
    )
    return Launch(launch_steps, operands, outputs, temporaries=temporaries)
