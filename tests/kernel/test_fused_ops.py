"""The number of kernels of composite ops, which have the bits of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft
import ftensor.graph.fused
import ftensor.nn.functional as F
from ftensor._device import default_backend
from ftensor.execute.dispatch import Observer, observed
from ftensor.execute.launch import Launch
from ftensor.graph.fused import MAX_REFUSALS, _Fused, fused
from ftensor.rows.catalogue import ATEN
from ftensor.runtime.stream import DeviceStream

from ..targets import some
from .test_graph_kernels import drawn, pytestmark  # noqa: F401

Operands = tuple[ft.Tensor, ...]


class Kernels(Observer):
    """Counts the kernels of launches."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.units: list[int] = []

    def launch(
        self, launch: Launch, stream: DeviceStream, tensors: Sequence[ft.Tensor], numbers: Sequence[Any]
    ) -> None:
        self.steps += [str(getattr(step.key, "name", step.key)) for step in launch.steps]
        self.units += [step.units for step in launch.steps]
        super().launch(launch, stream, tensors, numbers)


X, Y, PART = drawn(12, 40), drawn(12, 40) + 1, drawn(12, 40).sigmoid()
IMAGE, C = drawn(3, 8, 16, 16), drawn(8)
Q, K = drawn(1, 2, 1, 8), drawn(1, 2, 9, 8)
GATES, STATE = drawn(2, 32), drawn(2, 8)
SIGNS = drawn(12).sign()
LSTM = (drawn(2, 5), STATE, drawn(2, 8) + 1, drawn(32, 5), drawn(32, 8), drawn(32), drawn(32))
LONG = (drawn(1, 2, 1, 64), drawn(1, 2, 1024, 64), drawn(1, 2, 1024, 64) + 1)
CHOSEN = drawn(1, 1024) > 0
HIDDEN, BATCH = (drawn(1, 512), drawn(1, 512) + 1), (drawn(32, 32), drawn(32, 32) + 1)
# The first kernel uses all units, which have to synchronize after it.
SEVERAL = 2 if default_backend().units > 1 else 1
GRU = (drawn(2, 5), STATE, drawn(24, 5), drawn(24, 8), drawn(24), drawn(24))


def of_aten(name: str) -> Callable[..., Any]:
    return lambda *operands: ATEN[name].call(*operands)


def cell(gates: int, hidden: int = 512, size: int = 384) -> Operands:
    """Returns the weights and biases of a recurrent cell."""
    n = hidden * gates
    return drawn(n, size), drawn(n, hidden), drawn(n), drawn(n) + 1


def lstm(x: ft.Tensor, h: ft.Tensor, c: ft.Tensor, *w: ft.Tensor) -> Any:
    return ft.lstm_cell(x, (h, c), *w)


def moving(x: ft.Tensor, mean: ft.Tensor, var: ft.Tensor, w: ft.Tensor, b: ft.Tensor) -> Any:
    return F.batch_norm(x, mean, var, w, b, True), mean, var


VECTORS: list[tuple[str, Callable[..., Any], Operands]] = [
    ("matrix times vector", lambda x, v: x @ v, (drawn(70, 64), drawn(64))),
    ("vector times matrix", lambda v, x: v @ x, (drawn(64), drawn(64, 70))),
    ("two vectors", lambda v, w: v @ w, (drawn(64), drawn(64))),
    ("conjugate", ft.vdot, (ft.complex(drawn(9), drawn(9)), ft.complex(drawn(9), drawn(9)))),
    ("added", ft.addmv, (drawn(70), drawn(70, 64), drawn(64))),
]
CASES: list[tuple[str, Callable[..., Any], Operands, int]] = [
    ("var", lambda x: x.var(-1), (X,), 1),
    ("std", lambda x: x.std(), (X,), 1),
    ("var_mean", lambda x: ft.var_mean(x, 0), (X,), 1),
    ("logsumexp", lambda x: x.logsumexp(-1), (X,), 1),
    ("glu", F.glu, (X,), 1),
    ("mse_loss", F.mse_loss, (X, Y), 1),
    ("l1_loss", F.l1_loss, (X, Y), 1),
    ("smooth_l1_loss", F.smooth_l1_loss, (X, Y), 1),
    ("huber_loss", F.huber_loss, (X, Y), 1),
    ("kl_div", F.kl_div, (X, PART), 1),
    ("bce with logits", F.binary_cross_entropy_with_logits, (X, PART), 1),
    ("poisson_nll_loss", F.poisson_nll_loss, (X, PART), 1),
    ("cosine_embedding_loss", F.cosine_embedding_loss, (X, Y, SIGNS), 1),
    ("triplet_margin_loss", F.triplet_margin_loss, (X, Y, PART), 1),
    # log_softmax is a single kernel.
    ("cross_entropy", F.cross_entropy, (X, PART), 2),
    ("cdist", ft.cdist, (drawn(32, 64), drawn(16, 64)), 1),
    ("batch_norm", lambda x, v: F.batch_norm(x, C, v, C, C), (IMAGE, C.exp()), 1),
    ("batch_norm, training", moving, (IMAGE, C, C.exp(), C + 1, C), 1),
    ("instance_norm", lambda x, c: F.instance_norm(x, None, None, c, c), (IMAGE, C), 1),
    ("group_norm", lambda x, c: F.group_norm(x, 2, c, c), (IMAGE, C), 1),
    ("linear, one row", F.linear, (drawn(1, 64), drawn(70, 64), drawn(70)), 1),
    ("linear, two rows", F.linear, (drawn(2, 256), drawn(300, 256), drawn(300)), 1),
    *[(f"product: {name}", op, operands, 1) for name, op, operands in VECTORS],
    # Kernels in series: all on one unit, or each unit's part before its share.
    ("attention", F.scaled_dot_product_attention, (Q, K, K), 1),
    ("attention, masked", F.scaled_dot_product_attention, (Q, K, K, drawn(1, 9)), 1),
    ("attention, chosen", F.scaled_dot_product_attention, (Q, K, K, drawn(1, 9) > 0), 1),
    ("attention of many keys", F.scaled_dot_product_attention, (LONG[0], *LONG[1:]), SEVERAL),
    ("attention of many keys, chosen", F.scaled_dot_product_attention, (*LONG, CHOSEN), SEVERAL),
    ("lstm_cell", lstm, LSTM, 1),
    ("gru_cell", ft.gru_cell, GRU, 1),
    ("lstm_cell of many", lstm, (drawn(1, 384), *HIDDEN, *cell(4)), SEVERAL),
    ("gru_cell of many", ft.gru_cell, (drawn(1, 384), HIDDEN[0], *cell(3)), SEVERAL),
    ("lstm_cell of a batch", lstm, (drawn(32, 24), *BATCH, *cell(4, 32, 24)), 1),
    ("lstm gates", of_aten("_thnn_fused_lstm_cell"), (GATES, GATES + 1, STATE, GATES[0]), 1),
]


@pytest.mark.parametrize(
    ("name", "op", "operands", "count"), some([pytest.param(*case, id=case[0]) for case in CASES], 3, always=True)
)
@pytest.mark.usefixtures("graphs_at_once")
def test_fused_op_uses_few_kernels_and_keeps_the_results(
    name: str, op: Callable[..., Any], operands: Operands, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = ([x.clone() for x in operands] for _ in range(2))
    op(*[x.clone() for x in operands])  # makes tables that all calls use
    seen = Kernels()
    with observed(default_backend(), seen):
        got = op(*mine)
    assert len(seen.steps) == count, seen.steps

    class Nothing:
        """An empty cache of calls."""

    monkeypatch.setattr(ftensor.graph.fused, "Lowered", Nothing)
    monkeypatch.setattr(_Fused, "_build_graph", lambda *_: None)
    wanted = op(*theirs)
    pairs = zip(got, wanted) if isinstance(got, tuple) else [(got, wanted)]
    for a, b in [*pairs, *zip(mine, theirs)]:
        assert (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype)
        np.testing.assert_array_equal(a.numpy(), b.numpy())


class Launches(Observer):
    """Records the kernels of each launch."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []

    def launch(
        self, launch: Launch, stream: DeviceStream, tensors: Sequence[ft.Tensor], numbers: Sequence[Any]
    ) -> None:
        """Records the kernels and runs them."""
        self.names.append([str(getattr(step.key, "name", step.key)) for step in launch.steps])
        super().launch(launch, stream, tensors, numbers)


CELLS = {"lstm_cell": (lstm, 4), "gru_cell": (ft.gru_cell, 3), "rnn_tanh_cell": (ft.rnn_tanh_cell, 1)}
CELLS["rnn_relu_cell"] = ft.rnn_relu_cell, 1


@pytest.mark.parametrize("sizes", [(4, 6, 9), (1, 64, 72)], ids=["a batch", "one row"])
@pytest.mark.parametrize("biased", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("name", CELLS)
def test_cell_without_a_graph_is_two_launches_and_its_products(
    name: str, biased: bool, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Boards have no graphs of ops. Neither has FTENSOR_FUSE=0, nor a size that occurs once among
    many. The sums of one long row add a bias in a separate launch."""
    monkeypatch.setattr(_Fused, "_build_graph", lambda *_: None)
    op, gates = CELLS[name]
    batch, inputs, hidden = sizes
    x, states = drawn(batch, inputs), (drawn(batch, hidden), drawn(batch, hidden) + 1)[: 1 + (name == "lstm_cell")]
    n = hidden * gates
    weights = (drawn(n, inputs), drawn(n, hidden), *([drawn(n), drawn(n) + 1] * biased))
    seen = Launches()
    with observed(default_backend(), seen):
        got = op(x, *states, *weights)
    assert len(seen.names) <= 4 + 2 * (biased and batch == 1), seen.names
    theirs = [torch.from_numpy(x.numpy()) for x in (x, *states, *weights)]
    if name == "lstm_cell":
        wanted = torch.lstm_cell(theirs[0], theirs[1:3], *theirs[3:])
    else:
        wanted = [getattr(torch, name)(*theirs)]
    for a, b in zip(got if name == "lstm_cell" else [got], wanted):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "op", "operands"), VECTORS)
@pytest.mark.usefixtures("graphs_at_once")
def test_products_with_vectors_are_not_checked_again(
    name: str, op: Callable[..., Any], operands: Operands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated call only runs its kernel."""
    wanted = [op(*operands).numpy() for _ in range(3)]
    for module in (ftensor.ops.linalg.matmul, ftensor.ops.linalg.matmul):
        monkeypatch.setattr(module, "check", None)
    np.testing.assert_array_equal(op(*operands).numpy(), wanted[0])


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Records the shapes for which graphs of ops are requested."""
    shapes: list[Any] = []
    lower = _Fused.lower

    def noted(self: _Fused, backend: Any, signature: Any, tensors: Any, *rest: Any) -> Any:
        shapes.append(tuple(tensors[0].shape))
        return lower(self, backend, signature, tensors, *rest)

    monkeypatch.setattr(_Fused, "lower", noted)
    return shapes


def test_refused_graph_is_not_traced_at_each_call(traced: list[Any]) -> None:
    @fused
    def positive(x: ft.Tensor) -> ft.Tensor:
        return x if x.sum() > 0 else -x

    for _ in range(5):
        assert positive(-ft.ones(3)).tolist() == [1, 1, 1]
    assert traced == [(3,)] * MAX_REFUSALS
    positive(ft.ones(4))
    assert traced[-1] == (4,)


def test_growing_sizes_are_not_traced_at_each_call(traced: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    @fused
    def double(x: ft.Tensor) -> ft.Tensor:
        return x * 2 + 1

    monkeypatch.setattr(ftensor.graph.fused, "MAX_EAGER_GRAPHS", 2)
    for n in (1, 2, 3, 4, 5, 3, 3, 1):
        assert double(ft.ones(n)).tolist() == [3] * n
    assert traced == [(1,), (2,), (3,)]  # and the third when it was repeated


def test_keywords_are_not_graph_arguments() -> None:
    @fused
    def together(*args: Any, **kwargs: Any) -> ft.Tensor:
        x: ft.Tensor = args[0]
        return x * 2 if kwargs else x + 10

    x = ft.ones(2)
    assert together(x, "by", 1).tolist() == [11, 11]
    assert together(x, by=1).tolist() == [2, 2]
    assert together(x, True).tolist() == together(x, 1).tolist() == [11, 11]


@pytest.mark.usefixtures("graphs_at_once")
def test_expensive_rows_use_a_second_unit() -> None:
    """One unit adds this many numbers, but two units compute powers of them."""
    backend = default_backend()
    if not backend.target.processor or backend.units == 1:
        pytest.skip("another device's work is shared by other rules, or it has one unit")
    x = drawn(backend.target.unit_elements // 16, 16)
    for op, units in ((ft.softmax, 2), (ft.log_softmax, 2), (F.normalize, 1)):
        seen = Kernels()
        with observed(backend, seen):
            op(x, dim=1)
        assert seen.units == [units], op
