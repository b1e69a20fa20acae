"""Embedding bags, CTC and recurrent layers on the device, forward and backward, without the
host."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from .device import agree, quiet  # noqa: F401
from .test_spatial import weighted

DTYPES = torch.float32, torch.float64
# Indices, offsets, and whether the last offset ends the last bag. Bags are empty, and rows are
# repeated.
BAGS: dict[str, tuple[Any, Any, bool]] = {
    "offsets": ([0, 1, 1, 3, 2, 4, 4], [0, 2, 2, 5, 7], False),
    "a last offset": ([0, 1, 1, 3, 2, 4, 4], [0, 2, 2, 5, 7], True),
    "rows": ([[1, 2, 3], [1, 1, 5]], None, False),
    "nothing": ([], [0, 0], False),
    "no bags": (torch.zeros(0, 3), None, False),
}


def table(dtype: torch.dtype) -> torch.Tensor:
    """Returns (6, 4), with two equal rows and a column of few values, so that the maximum has
    ties."""
    weight = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=dtype)
    weight[3], weight[:, 1] = weight[2], weight[:, 1].sign()
    return weight.requires_grad_()


@pytest.mark.parametrize("pad", [None, 1, -2])
@pytest.mark.parametrize("mode", ["sum", "mean", "max", "weighted sum"])
@pytest.mark.parametrize("name", BAGS)
def test_embedding_bag(name: str, mode: str, pad: int | None) -> None:
    index, offsets, last = BAGS[name]
    for dtype, whole in product(DTYPES, (torch.int64, torch.int32)):
        places = torch.as_tensor(index, dtype=whole)
        starts = None if offsets is None else torch.tensor(offsets, dtype=whole)
        weights = None
        if mode == "weighted sum":
            random = torch.Generator().manual_seed(1)
            weights = torch.randn(places.shape, generator=random, dtype=dtype, requires_grad=True)

        def call(places: Any, weight: Any, starts: Any, weights: Any) -> torch.Tensor:
            how = {"mode": mode.split()[-1], "padding_idx": pad, "include_last_offset": last}
            return weighted(F.embedding_bag(places, weight, starts, per_sample_weights=weights, **how))

        agree(call, places, table(dtype), starts, weights, fallback=False)


def test_scale_grad_by_freq() -> None:
    """A row's gradient is divided by the number of its uses, as for an embedding."""
    index, weight = torch.tensor([1, 1, 1, 2, 4, 4]), table(torch.float32)

    def bag(index: Any, weight: Any) -> torch.Tensor:
        if weight.device.type == "cpu":  # the CPU divides by the counts of other rows
            return weighted(F.embedding(index, weight, scale_grad_by_freq=True).sum(0, True))
        return weighted(F.embedding_bag(index[None], weight, mode="sum", scale_grad_by_freq=True))

    agree(bag, index, weight, fallback=False)


@pytest.mark.parametrize("norm", [2.0, 1.0, float("inf")])
def test_max_norm_shortens_used_rows(norm: float) -> None:
    index = torch.tensor([[1, 1], [5, 2]])
    for call in (F.embedding, F.embedding_bag):

        def run(index: Any, weight: Any) -> Any:
            with torch.no_grad():
                return call(index, weight, max_norm=0.7, norm_type=norm), weight  # noqa: B023

        agree(run, index, table(torch.float32).detach(), fallback=False)


def test_invalid_indices_and_offsets_of_bags_are_refused() -> None:
    weight = table(torch.float32).detach().to("fpga")
    with pytest.raises(RuntimeError, match="index 6 is out of bounds for a weight of 6 rows"):
        F.embedding_bag(torch.tensor([[1, 6]], device="fpga"), weight)
    with pytest.raises(RuntimeError, match="the last offset is 5, of 2 indices"):
        at = torch.tensor([1, 2], device="fpga"), weight, torch.tensor([0, 5], device="fpga")
        F.embedding_bag(*at)


# Steps, classes, lengths of inputs and of targets, the blank. Labels are repeated, targets don't
# fit or are empty, there are no steps, and some classes are impossible.
SPOKEN = {
    "lengths": (7, 5, [7, 5, 6], [3, 2, 3], 0),
    "targets that don't fit": (6, 4, [6, 3, 2], [0, 2, 4], 1),
    "one step": (1, 3, [1, 1], [1, 0], 0),
    "no steps": (5, 3, [5, 0], [0, 0], 2),
    "impossible": (9, 4, [9, 9], [4, 4], 0),
}


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("name", SPOKEN)
def test_ctc(name: str, joined: bool, zero: bool) -> None:
    steps, classes, ends, counts, blank = SPOKEN[name]
    random = torch.Generator().manual_seed(steps)
    labels = [k for k in range(classes) if k != blank]
    said = torch.randint(len(labels), (len(ends), 4), generator=random)
    targets = torch.tensor(labels)[said]
    targets[0, 1] = targets[0, 0]
    if joined:
        targets = torch.cat([row[:n] for row, n in zip(targets, counts)])
    for dtype, reduction in product(DTYPES, ("none", "mean", "sum")):
        x = torch.randn(steps, len(ends), classes, generator=random, dtype=dtype)
        if name == "impossible":
            x[2, 0, 1] = x[:, 1, 3] = -torch.inf
        x = x.log_softmax(2).requires_grad_()

        def call(x: Any, targets: Any) -> torch.Tensor:
            y = F.ctc_loss(x, targets, ends, counts, blank, reduction, zero)  # noqa: B023
            return weighted(y) if y.dim() else y

        close = {"atol": 1e-5, "rtol": 1e-4} if dtype is torch.float32 else {}
        agree(call, x, targets, fallback=False, **close)


def test_ctc_of_lengths_in_tensors() -> None:
    x = torch.randn(7, 2, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[1, 1, 2], [3, 4, 0]], dtype=torch.int32)
    lengths = torch.tensor([7, 6]), torch.tensor([3, 2])
    for where in (torch.Tensor.cpu, torch.Tensor.to):

        def call(x: Any, targets: Any) -> torch.Tensor:
            moved = [t.to(x.device) if where is torch.Tensor.to else t for t in lengths]  # noqa: B023
            return F.ctc_loss(x.log_softmax(2), targets, *moved)

        agree(call, x.requires_grad_(), targets, fallback=False, atol=1e-5, rtol=1e-4)


def lstm(x: Any, h: Any, c: Any, layers: int, first: bool, *params: Any) -> Any:
    """Returns a layer's result and its states, without dropout and in one direction."""
    biases = len(params) == 4 * layers
    return torch.lstm(x, (h, c), params, biases, layers, 0.0, True, False, first)


def gru(x: Any, h: Any, layers: int, first: bool, *params: Any) -> Any:
    biases = len(params) == 4 * layers
    return torch.gru(x, h, params, biases, layers, 0.0, True, False, first)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_layer_is_one_call(cell: str, layers: int, steps: int) -> None:
    """Results and all gradients equal the CPU's, including those of states. A single node is
    recorded."""
    for dtype in DTYPES:
        torch.manual_seed(0)
        first = layers == 2
        kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
        net = kind(3, 5, layers, bias=layers != 1, dtype=dtype)
        x = torch.randn(4, steps, 3) if first else torch.randn(steps, 4, 3)
        states = [torch.randn(layers, 4, 5) for _ in range(2 if cell == "lstm" else 1)]
        inputs = [t.to(dtype).requires_grad_() for t in (x, *states)]

        def call(*args: Any) -> Any:
            function, count = (lstm, 3) if cell == "lstm" else (gru, 2)
            results = function(*args[:count], layers, first, *args[count:])  # noqa: B023
            if results[0].device.type == "fpga" and (cell == "lstm" or steps > 1):
                assert results[1].grad_fn.name() == "_LayersBackward"
            with torch.no_grad():
                plain = function(*args[:count], layers, first, *args[count:])  # noqa: B023
            return (*map(weighted, results), *plain)

        agree(call, *inputs, *net.parameters(), fallback=False)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_double_backward_of_a_layer(cell: str) -> None:
    torch.manual_seed(0)
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    x, h, *params = torch.randn(3, 2, 2), torch.zeros(1, 2, 3), *kind(2, 3).parameters()

    def call(x: Any, h: Any, *params: Any) -> Any:
        out = (lstm(x, h, h, 1, False, *params) if cell == "lstm" else gru(x, h, 1, False, *params))[0]
        (of_x,) = torch.autograd.grad(out.square().sum(), x, create_graph=True)
        return of_x.square().sum()

    with torch.backends.mkldnn.flags(enabled=False):  # a layer without double backward
        agree(call, x.requires_grad_(), h, *params)


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU])
def test_writing_a_layers_result_invalidates_its_gradient(kind: Any) -> None:
    out, _ = kind(2, 3).to("fpga")(torch.randn(3, 2, 2, device="fpga"))
    loss = out.sum()
    with torch.no_grad():
        out.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("of", ["dropout", "two directions", "projected", "packed", "autocast"])
def test_other_lstms_are_decomposed(of: str) -> None:
    torch.manual_seed(0)
    more: dict[str, Any] = {
        "two directions": {"bidirectional": True},
        "projected": {"proj_size": 2},
        "dropout": {"dropout": 1.0},
    }.get(of, {})
    net, results = torch.nn.LSTM(3, 4, 2, **more), []
    x = torch.randn(4, 3, 3)
    for device in ("cpu", "fpga"):
        here, leaf = deepcopy(net).to(device), x.detach().to(device).requires_grad_()
        # The CPU's own kernel needs instructions that not every processor has.
        plain = torch.backends.mkldnn.flags(enabled=False)
        with plain, torch.autocast(device, torch.bfloat16, enabled=of == "autocast"):
            if of == "packed":
                packed = torch.nn.utils.rnn.pack_padded_sequence(leaf, [4, 2, 1])
                out = here(packed)[0].data
            else:
                out = here(leaf)[0].float()
        out.square().sum().backward()
        results.append([out, leaf.grad, *[p.grad for p in here.parameters()]])
    close = 0.03 if of == "autocast" else 1e-5
    for mine, wanted in zip(results[1], results[0]):
        torch.testing.assert_close(mine.cpu(), wanted, rtol=close, atol=close)
