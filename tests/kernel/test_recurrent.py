"""Recurrent layers and cells, and the CTC loss, on every device."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

from ..oracle import agree_on, ours, same  # noqa: E402

LAYERS = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
STEPS, BATCH, FEATURES, HIDDEN = 5, 3, 4, 6


def weights(
    name: str, layers: int, directions: int, projected: int, biases: bool, dtype: torch.dtype
) -> list[torch.Tensor]:
    """Returns the list of weights of torch's layers."""
    rows, tensors = LAYERS[name] * HIDDEN, []
    for k in range(layers * directions):
        before = FEATURES if k < directions else (projected or HIDDEN) * directions
        shapes: list[tuple[int, ...]] = [(rows, before), (rows, projected or HIDDEN)]
        shapes += [(rows,), (rows,)] * biases + [(projected, HIDDEN)] * (projected > 0)
        tensors += [(torch.randn(shape) / 2).to(dtype) for shape in shapes]
    return tensors


def states(name: str, count: int, projected: int, dtype: torch.dtype) -> Any:
    """Returns a state for every layer and direction; two for an LSTM."""
    hidden = torch.randn(count, BATCH, projected or HIDDEN).to(dtype)
    return (hidden, torch.randn(count, BATCH, HIDDEN).to(dtype)) if name == "lstm" else hidden


WAYS = [(1, 1, True, torch.float32), (2, 2, False, torch.float32), (2, 1, True, torch.bfloat16)]
# Layers differ in their formulas, and methods in what they read and write. Each method runs once,
# with the layers of the most states and gates.
CORE = (("lstm", WAYS[1]), ("gru", WAYS[2]), ("rnn_tanh", WAYS[0]))


@pytest.mark.parametrize(
    ("name", "layers", "directions", "biases", "dtype"),
    [
        pytest.param(name, *way, marks=[pytest.mark.core] if (name, way) in CORE else [])
        for name in LAYERS
        for way in WAYS
    ],
)
def test_layers(name: str, layers: int, directions: int, biases: bool, dtype: torch.dtype) -> None:
    """Sequences have the batch or the steps first, or are packed, with several lengths."""
    torch.manual_seed(layers)
    params = weights(name, layers, directions, 0, biases, dtype)
    hx = states(name, layers * directions, 0, dtype)
    how = {"rtol": 5e-2, "atol": 5e-2} if dtype is torch.bfloat16 else {"rtol": 2e-5, "atol": 2e-5}
    last = (params, biases, layers, 0.0, False, directions == 2)
    x = torch.randn(STEPS, BATCH, FEATURES).to(dtype)
    assert agree_on(name, x, hx, *last, False, how=how)
    assert agree_on(name, x.transpose(0, 1), hx, *last, True, how=how)
    sizes = torch.tensor([3, 3, 2, 1])
    data = torch.randn(9, FEATURES).to(dtype)
    assert agree_on(name, data, sizes, hx, *last, how=how)


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("name", ["lstm", "gru"])
@pytest.mark.parametrize("hidden", [1, 6, pytest.param(8, marks=pytest.mark.core), 16, 40, 200])
def test_steps_of_all_widths(name: str, hidden: int) -> None:
    """Vectors have each width that divides the states. A batch does not fill a work-item. Both
    directions run."""
    torch.manual_seed(hidden)
    rows = LAYERS[name] * hidden
    shapes: list[tuple[int, ...]] = [(rows, FEATURES), (rows, hidden), (rows,), (rows,)] * 2
    params = [torch.randn(shape) / max(hidden, 4) ** 0.5 for shape in shapes]
    state = [torch.randn(2, BATCH, hidden) for _ in range(2)]
    hx = state if name == "lstm" else state[0]
    for first in (False, True):
        x = torch.randn(BATCH, STEPS, FEATURES) if first else torch.randn(STEPS, BATCH, FEATURES)
        how = {"rtol": 2e-5, "atol": 2e-5}
        assert agree_on(name, x, hx, params, True, 1, 0.0, False, True, first, how=how)


def test_all_steps_run_in_one_kernel() -> None:
    """On CPUs, this needs weights that fit into the caches."""
    x, h = ft.randn(9, 2, 4), ft.randn(1, 2, 8)
    backend = x._storage.backend
    params = [ft.randn(24, 4), ft.randn(24, 8), ft.randn(24), ft.randn(24)]
    with ft.profiler.profile() as seen:
        ft.gru(x, h, params, True, 1, 0.0, False, False, False)
    if backend.target.processor:
        assert {row.kernel: row.count for row in seen.averages()}["gru"] == 1


def test_projected_states() -> None:
    torch.manual_seed(0)
    params = weights("lstm", 2, 2, 3, True, torch.float32)
    hx, x = states("lstm", 4, 3, torch.float32), torch.randn(STEPS, BATCH, FEATURES)
    assert agree_on("lstm", x, hx, params, True, 2, 0.0, False, True, False)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("biases", [True, False])
def test_cells(name: str, biases: bool) -> None:
    torch.manual_seed(1)
    params = weights(name, 1, 1, 0, biases, torch.float32)
    hx = states(name, 1, 0, torch.float32)
    hx = tuple(x[0] for x in hx) if name == "lstm" else hx[0]
    assert agree_on(f"{name}_cell", torch.randn(BATCH, FEATURES), hx, *params)


def paths(dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Returns frames, labels and lengths. Labels are repeated, empty, or too many for the
    frames."""
    torch.manual_seed(2)
    logs = (torch.randn(7, 4, 5, dtype=dtype) * 3).log_softmax(2)
    logs[2, 1, 3] = -torch.inf
    labels = torch.tensor([[1, 1, 2, 3], [3, 2, -1, -1], [0, 0, 0, 0], [4, 4, 4, 4]])
    return logs, labels, torch.tensor([7, 6, 5, 6]), torch.tensor([4, 2, 0, 4])


@pytest.mark.parametrize("dtype", [pytest.param(torch.float32, marks=pytest.mark.core), torch.float64])
def test_ctc_loss(dtype: torch.dtype) -> None:
    logs, labels, frames, lengths = paths(dtype)
    loss = "nn.functional.ctc_loss"
    for reduction in ("none", "mean", "sum"):
        assert agree_on(loss, logs, labels, frames, lengths, 0, reduction)
        assert agree_on(loss, logs, labels, frames, lengths, 0, reduction, True)
    behind = torch.cat([row[:n] for row, n in zip(labels, lengths)])
    assert agree_on("ctc_loss", logs, behind, frames.tolist(), lengths.tolist())
    assert agree_on("ctc_loss", logs[:, 0], labels[0], frames[0], lengths[:1], 0, 0)
    assert agree_on("ctc_loss", logs, labels, torch.tensor([0, 1, 0, 2]), lengths, 0, 0)


def test_ctc_loss_log_alpha() -> None:
    operands = paths(torch.float32)
    mine = ft._ctc_loss(*ours(operands))
    theirs = torch._ctc_loss(*operands)
    same(mine[0], theirs[0])
    alpha = mine[1].to_torch()
    for n, (frames, length) in enumerate(zip(*operands[2:])):
        part = n, slice(frames), slice(2 * length + 1)
        torch.testing.assert_close(alpha[part], theirs[1][part])
