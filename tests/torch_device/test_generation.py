"""`ftensor.torch.generation.decode`, with a model that has the interface of transformers'
models."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import ftensor.torch
from ftensor.torch.generation import decode

from .device import needs_every_kernel, quiet  # noqa: F401

pytestmark = needs_every_kernel
WIDTH, WORDS, LENGTH = 8, 20, 24


class Cache:
    """A static cache of one layer."""

    is_compileable = True

    def __init__(self, texts: int) -> None:
        self.keys, self.values = torch.zeros(2, texts, LENGTH, WIDTH, device="fpga")
        self.length = torch.zeros((), dtype=torch.int64, device="fpga")
        self.layers = [SimpleNamespace(max_cache_len=LENGTH)]

    def reset(self) -> None:
        for x in (self.keys, self.values, self.length):
            x.zero_()


class Decoder(nn.Module):
    """One layer of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.config = SimpleNamespace(is_encoder_decoder=False)
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.qkv, self.last = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WORDS)

    def prepare_inputs_for_generation(
        self, input_ids: torch.Tensor, cache: Any, attention_mask: Any = None, position_ids: Any = None, **rest: Any
    ) -> dict[str, Any]:
        n = input_ids.shape[1]
        mask = torch.arange(LENGTH, device="fpga") <= cache.length + torch.arange(n, device="fpga")[:, None]
        if attention_mask is not None:
            whole = nn.functional.pad(attention_mask, (0, LENGTH - attention_mask.shape[1]))
            mask = mask & (whole[:, None] > 0)
        if position_ids is None:
            position_ids = cache.length + torch.arange(n, device="fpga")[None]
        return {"input_ids": input_ids, "cache": cache, "mask": mask, "position_ids": position_ids}

    def forward(self, input_ids: Any, cache: Any, mask: Any, position_ids: Any, return_dict: bool) -> Any:
        x = self.words(input_ids) + self.places(position_ids)
        q, k, v = self.qkv(x).chunk(3, -1)
        at = cache.length + torch.arange(x.shape[1], device="fpga")
        cache.length.add_(x.shape[1])
        cache.keys.index_copy_(1, at, k)
        cache.values.index_copy_(1, at, v)
        y = nn.functional.scaled_dot_product_attention(q, cache.keys, cache.values, attn_mask=mask)
        return SimpleNamespace(logits=self.last(x + 8 * y))


class Criteria(list[Any]):
    """transformers' list of stopping criteria."""

    max_length = 14


@pytest.fixture(scope="module")
def model() -> Decoder:
    torch.manual_seed(0)
    return Decoder().to("fpga")


def prompts(texts: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(WORDS, (texts, 4), generator=torch.Generator().manual_seed(seed)).to("fpga")


def generated(
    model: Decoder, ids: torch.Tensor, processors: Any = (), criteria: Any = (), streamer: Any = None, **config: Any
) -> torch.Tensor:
    """Calls `decode` as transformers' `generate` does."""
    mask = config.pop("mask", None)
    kwargs = {"cache": Cache(len(ids)), "attention_mask": mask, "use_cache": True}
    if mask is not None:
        kwargs["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
    defaults = {"num_beams": 1, "return_dict_in_generate": False, "do_sample": False}
    settings = SimpleNamespace(**{**defaults, "eos_token_id": None, "pad_token_id": None, **config})
    return decode(model, ids, processors, Criteria(criteria), settings, streamer=streamer, **kwargs)


@torch.no_grad()
def wanted(
    model: Decoder, ids: torch.Tensor, change: Callable[..., Any] = lambda ids, x: x, ends: Any = (), mask: Any = None
) -> list[list[int]]:
    """Returns the tokens of a loop that computes the whole sequence for each token."""
    going = [True] * len(ids)
    while ids.shape[1] < Criteria.max_length and any(going):
        kwargs: dict[str, Any] = {}
        if mask is not None:
            grown = nn.functional.pad(mask, (0, ids.shape[1] - mask.shape[1]), value=1)
            kwargs = {"attention_mask": grown, "position_ids": (grown.cumsum(-1) - 1).clamp(min=0)}
        inputs = model.prepare_inputs_for_generation(ids, Cache(len(ids)), **kwargs)
        scores = change(ids, model(**inputs, return_dict=True).logits[:, -1])
        words = [w if g else ends[0] for w, g in zip(scores.argmax(-1).tolist(), going)]
        going = [g and w not in ends for w, g in zip(words, going)]
        ids = torch.cat((ids, torch.tensor(words)[:, None].to("fpga")), 1)
    return ids.tolist()


def test_tokens_of_captured_steps(model: Decoder) -> None:
    """Other prompts reuse the capture. Without an end token, no token is read before the last
    one."""
    for seed in range(3):
        ids = prompts(2, seed)
        assert generated(model, ids).tolist() == wanted(model, ids)
    rows = [row for row in ftensor.torch.graph_report().captures if row.function == "word"]
    assert [row.state for row in rows] == ["captured"] and rows[0].calls == 3 * 9


def test_sequences_end_at_a_word(model: Decoder) -> None:
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1]]).to("fpga")
    for seed in range(2):
        ids = prompts(3, seed)
        free = wanted(model, ids, mask=mask)
        for ends in ([free[0][7]], [free[0][6], free[1][4], free[2][5]]):
            result = generated(model, ids, mask=mask, eos_token_id=ends).tolist()
            assert result == wanted(model, ids, ends=ends, mask=mask), (seed, ends)
    one = prompts(1)
    end = wanted(model, one)[0][4]
    assert generated(model, one, eos_token_id=end).tolist() == wanted(model, one, ends=[end])


def test_processors_criteria_and_streamers_see_the_text(model: Decoder) -> None:
    ids, put, lengths = prompts(2), [], []

    def change(text: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        return scores.scatter(1, text, -100.0)  # no token twice

    def criterion(text: torch.Tensor, scores: Any) -> torch.Tensor:
        lengths.append(text.shape[1])
        return text[:, -1] == text.shape[1] * 100 if text.shape[1] < 12 else torch.ones(2, dtype=torch.bool).to("fpga")

    streamer = SimpleNamespace(put=lambda words: put.append(words.tolist()), end=lambda: put.append("end"))
    right = wanted(model, ids, change)
    result = generated(model, ids, _Processors(change), [criterion], streamer).tolist()
    assert result == [text[:12] for text in right] and lengths == list(range(5, 13))
    assert put == [*map(list, zip(*[text[4:12] for text in right])), "end"]


class _Processors(list[Any]):
    """transformers' list of logits processors."""

    def __init__(self, *functions: Any) -> None:
        super().__init__(functions)

    def __call__(self, text: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for function in self:
            scores = function(text, scores)
        return scores


def test_sampled_tokens(model: Decoder) -> None:
    results = []
    for k in range(3):  # the first call runs eagerly for two tokens, the last one replays
        torch.manual_seed(5 if k != 1 else 6)
        results.append(generated(model, prompts(2), do_sample=True).tolist())
    assert results[0] == results[2] != results[1]


def test_captures_are_freed_with_their_model() -> None:
    model = Decoder().to("fpga")
    for _ in range(2):
        generated(model, prompts(1))
    other = copy.deepcopy(model)
    assert generated(other, prompts(1)).tolist() == generated(model, prompts(1)).tolist()
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_decode_refuses_unsupported_options(model: Decoder) -> None:
    for config in ({"num_beams": 2}, {"return_dict_in_generate": True}):
        with pytest.raises(ValueError, match="decode gives the words of a decoder alone"):
            generated(model, prompts(1), **config)
    with pytest.raises(ValueError, match='cache_implementation="static"'):
        decode(model, prompts(1), [], Criteria(), SimpleNamespace(), cache=SimpleNamespace(is_compileable=False))
