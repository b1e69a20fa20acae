"""All steps of an LSTM or GRU layer, or of its derivative, in one launch on CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..iterator.shape import contiguous_strides, is_contiguous
from ..kernels.select import compute_units
from ..kernels.skeletons.cpu.recurrent import GATES, RecurrentGeometry, RecurrentKey, recurrent_key
from .dispatch import never_on_host, run
from .launch import Launch, Output, Step
from .output import new

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# Each item reads the hidden state's weights in each step. Larger ones do not fit the second-level
# cache, and then one product of all sequences with packed panels is faster.
MAX_WEIGHT_BYTES = 1 << 18
TERMS = 8  # terms of a product that take as long as an element of a pointwise op


def fits_one_launch(cell: str, x: Tensor, batch: int, width: int) -> bool:
    """True if one kernel runs all steps of a layer ("lstm" or "gru") on the device of `x`: `batch`
    sequences, states of `width` elements, the dtype of `x`."""
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
    run(backend, key, _prepare, never_on_host, args, inputs, (), tuple(results) if len(results) > 1 else out)
    return results[1] if cell == "lstm" else None


def _prepare(
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
    numbers = tuple(range(operands))
    return Step(key, units, numbers, numbers, geometry=g.pack(), work=work)


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
