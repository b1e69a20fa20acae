"""Recurrent layers, CTC losses and multi-head attention: their calls and errors, as in torch.

Arguments that torch does not check, and for which it reads out of bounds, are refused too.
"""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

from ..oracle import agree_on, ours  # noqa: E402

X, H, C = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)
IH, HH, B = torch.randn(16, 3), torch.randn(16, 4), torch.randn(16)


@pytest.mark.parametrize(
    "operands",
    [
        (X[0], (H, C), IH, HH),
        (X, (H,), IH, HH),
        (X, (H[:1], C), IH, HH),
        (X, (H, C[0]), IH, HH),
        (X[:, :2], (H, C), IH, HH),
        (X, (H[:, :2], C), IH, HH),
        (X, (H, C), IH.double(), HH),
        (X, (H, C), IH, HH, B[:15], B),
        (X, (H, C), IH, HH, B),
        (X, (H, C), IH, HH, None, B),
    ],
)
def test_cell_accepts_torchs_arguments(operands: Any) -> None:
    agree_on("lstm_cell", *operands)


def layer(**other: Any) -> dict[str, Any]:
    """Returns the arguments of an LSTM layer, by name."""
    x, h = torch.randn(5, 2, 3), torch.randn(1, 2, 4)
    plain = {"input": x, "hx": (h, h), "params": [IH, HH, B, B], "has_biases": True}
    plain |= {"num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False}
    return plain | {"batch_first": False} | other


def test_layer_with_keywords() -> None:
    assert agree_on("lstm", **layer())
    packed = layer(data=torch.randn(3, 3), batch_sizes=torch.tensor([2, 1]))
    del packed["input"], packed["batch_first"]
    assert agree_on("lstm", **packed)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"input": torch.randn(0, 2, 3)}, "steps, batch"),
        ({"input": torch.randn(5, 3)}, "steps, batch"),
        ({"input": torch.randn(5, 2, 2)}, "fit weights"),
        ({"params": [IH, HH]}, "4 tensors, not 2"),
        ({"has_biases": False}, "2 tensors, not 4"),
        ({"num_layers": 2}, "8 tensors, not 4"),
        ({"hx": (torch.randn(1, 2, 4),)}, "two tensors"),
        ({"hx": (torch.randn(1, 1, 4), torch.randn(1, 2, 4))}, "shape"),
    ],
)
def test_layer_refuses_arguments_that_do_not_fit(other: dict[str, Any], message: str) -> None:
    arguments = {key: ours(value) for key, value in layer(**other).items()}
    with pytest.raises(RuntimeError, match=message):
        ft.lstm(**arguments)


@pytest.mark.parametrize("sizes", [[3, 2], [1, 2, 3], [3, 3, 0], [], [[3], [3]], [3.0, 3.0]])
def test_packed_sequences_end_at_different_steps(sizes: list[Any]) -> None:
    packed = ours([torch.randn(6, 3), torch.tensor(sizes, dtype=None if sizes else torch.int64)])
    hx = ours((torch.randn(1, 3, 4), torch.randn(1, 3, 4)))
    with pytest.raises(RuntimeError, match="batch_sizes"):
        ft.lstm(*packed, hx, ours([IH, HH]), False, 1, 0.0, False, False)


def test_dropout_between_layers() -> None:
    """There is none after the last layer, and none outside training."""
    arguments = {key: ours(value) for key, value in layer(dropout=0.5, train=True).items()}
    assert ft.equal(ft.lstm(**arguments)[0], ft.lstm(**(arguments | {"train": False}))[0])
    deep = layer(num_layers=2, dropout=1.0, train=True, params=[IH, HH, B, B, HH, HH, B, B])
    deep["hx"] = (torch.randn(2, 2, 4),) * 2
    assert agree_on("lstm", **deep)  # everything is dropped


LOGS = torch.randn(6, 3, 5).log_softmax(2)
LABELS = torch.randint(1, 5, (3, 4))
FRAMES, LENGTHS = torch.tensor([6, 5, 6]), torch.tensor([4, 2, 0])
WHOLE = (LOGS, LABELS, FRAMES, LENGTHS)


@pytest.mark.parametrize(
    "operands",
    [
        (LOGS, LABELS, (6, 5, 6), LENGTHS),
        (LOGS, LABELS.flatten()[:6], FRAMES, LENGTHS),
        (LOGS, LABELS.flatten()[:8], FRAMES, LENGTHS),
        (LOGS.half(), LABELS, FRAMES, LENGTHS),
        (LOGS.long(), LABELS, FRAMES, LENGTHS),
        (LOGS, LABELS.int(), FRAMES.int(), LENGTHS.int()),
        (LOGS, LABELS, FRAMES.float(), LENGTHS),
        (LOGS, LABELS, FRAMES[:2], LENGTHS),
        (LOGS, LABELS, FRAMES, LENGTHS, 5),
        (LOGS, LABELS, FRAMES + 1, LENGTHS),
        (LOGS, LABELS, FRAMES, LENGTHS + 1),
        (LOGS, LABELS, FRAMES, -LENGTHS),
        (LOGS, LABELS, FRAMES, LENGTHS, 0, "all"),
        (LOGS, LABELS[:2], FRAMES, LENGTHS),
        (LOGS[:0], LABELS, FRAMES * 0, LENGTHS),
        (LOGS[None], LABELS, FRAMES, LENGTHS),
        (LOGS, LABELS[0, 0], FRAMES, LENGTHS),
    ],
)
def test_ctc_loss_accepts_torchs_arguments(operands: Any) -> None:
    agree_on("nn.functional.ctc_loss", *operands)


@pytest.mark.parametrize(
    "operands, says",
    [
        ((*WHOLE, 5), "blank must be one of the 5 classes"),
        ((LOGS, LABELS, FRAMES, LENGTHS + 1), r"targets must have shape \(3, at least 5\)"),
    ],
)
def test_ctc_loss_errors_name_the_argument(operands: Any, says: str) -> None:
    with pytest.raises(RuntimeError, match=says):
        ft.nn.functional.ctc_loss(*ours(operands))


E, HEADS = 8, 2
MASK = torch.ones(5, 5).triu(1).bool()


def attention(**other: Any) -> dict[str, Any]:
    """Returns the arguments of self-attention for a batch of 3 with 5 steps, without dropout."""
    torch.manual_seed(3)
    x = torch.randn(5, 3, E)
    plain: dict[str, Any] = {"query": x, "key": x, "value": x}
    plain |= {"embed_dim_to_check": E, "num_heads": HEADS, "add_zero_attn": False}
    plain |= {"in_proj_weight": torch.randn(3 * E, E) / 3, "in_proj_bias": torch.randn(3 * E)}
    plain |= {"bias_k": None, "bias_v": None, "dropout_p": 0.5, "training": False}
    plain |= {"out_proj_weight": torch.randn(E, E) / 3, "out_proj_bias": torch.randn(E)}
    return plain | other


OTHER = torch.randn(6, 3, E)
OWN = {f"{k}_proj_weight": torch.randn(E, E) / 3 for k in "qkv"}
ADDED = {"bias_k": torch.randn(1, 1, E), "bias_v": torch.randn(1, 1, E), "add_zero_attn": True}


@pytest.mark.parametrize(
    ("other", "computed"),
    [
        ({}, True),
        ({"need_weights": False}, True),
        ({"average_attn_weights": False}, True),
        ({"key": OTHER, "value": OTHER}, True),
        ({"in_proj_bias": None, "out_proj_bias": None}, True),
        ({"in_proj_weight": None, "use_separate_proj_weight": True, **OWN}, True),
        ({"attn_mask": MASK}, True),
        ({"attn_mask": MASK, "is_causal": True, "need_weights": False}, True),
        ({"attn_mask": torch.randn(3 * HEADS, 5, 5), "need_weights": False}, True),
        ({"attn_mask": MASK, "key_padding_mask": torch.arange(15).reshape(3, 5) % 5 > 2}, True),
        ({"key_padding_mask": torch.arange(15).reshape(3, 5) % 5 > 2, **ADDED}, True),
        ({"static_k": torch.randn(6, 7, 4), "static_v": torch.randn(6, 7, 4)}, True),
        (dict.fromkeys(("query", "key", "value"), torch.randn(4, E)), True),
        ({"query": torch.randn(2, E)}, False),
        ({"key": OTHER}, False),
        ({"num_heads": 3}, False),
        ({"embed_dim_to_check": E + 1}, False),
        ({"attn_mask": torch.randn(5, 4)}, False),
        ({"attn_mask": torch.randn(5)}, False),
        ({"attn_mask": torch.ones(5, 5, dtype=torch.int64)}, False),
        ({"is_causal": True}, False),
        ({"bias_k": ADDED["bias_k"]}, False),
        ({"static_k": torch.randn(5, 7, 4), "static_v": torch.randn(6, 7, 4)}, False),
        ({"key_padding_mask": torch.zeros(3, 4).bool()}, False),
    ],
)
def test_multi_head_attention(other: dict[str, Any], computed: bool) -> None:
    name, how = "nn.functional.multi_head_attention_forward", {"strides": False}
    how |= {"rtol": 1e-4, "atol": 1e-4}
    arguments = attention(**other)
    assert agree_on(name, how=how, **arguments) is computed


def test_attention_drops_weights_in_training() -> None:
    arguments = attention(training=True, dropout_p=1.0, out_proj_bias=None)
    mine = ft.nn.functional.multi_head_attention_forward(**{k: ours(v) for k, v in arguments.items()})
    assert not mine[0].any()
    assert not mine[1].any()


def test_self_attention_equals_attention_to_equal_tensors() -> None:
    """One tensor for all three arguments is projected at once."""
    arguments = {key: ours(value) for key, value in attention().items()}
    call = ft.nn.functional.multi_head_attention_forward
    apart = call(**arguments)[0]
    assert ft.allclose(call(**(arguments | dict.fromkeys(("key", "value"), arguments["query"])))[0], apart)
    one = dict.fromkeys(("query", "key", "value"), arguments["query"][:, 0])
    assert ft.allclose(call(**(arguments | one))[0], apart[:, 0], atol=1e-5)
