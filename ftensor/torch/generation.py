"""Word-by-word generation in which each word is one captured step, for transformers' `generate`.

model.generate(ids, cache_implementation="static", custom_generate=ftensor.torch.generation.decode)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..errors import torch as errors
from .captures import Captured, capture

# Words between two looks at whether all texts have ended; each look waits for the device.
WORDS_PER_CHECK = 8
MAX_STEPS = 8  # kept captures of a model


class _DecodeStep:
    """The captured step for one word of a batch, with the tensors that it updates in place."""

    def __init__(self, model: Any, cache: Any, batch: int, sample: bool, ends: list[int], pad: int) -> None:
        self.cache, self.sample = cache, sample
        self.token = torch.zeros(batch, 1, dtype=torch.int64, device="fpga")
        self.pad = torch.full((batch,), pad, device="fpga")
        self.ends = torch.tensor(ends, dtype=torch.int64).to("fpga")
        self.going = torch.ones(batch, dtype=torch.bool, device="fpga")
        self.mask: torch.Tensor | None = None
        self.position: torch.Tensor | None = None

        def scores(token: torch.Tensor, mask: Any, position: Any) -> torch.Tensor:
            given = {"cache": cache, "attention_mask": mask, "position_ids": position, "use_cache": True}
            inputs = model.prepare_inputs_for_generation(
                token, next_sequence_length=1, **{name: x for name, x in given.items() if x is not None}
            )
            return model(**inputs, return_dict=True).logits[:, -1].float()

        def word(token: torch.Tensor, mask: Any, position: Any, going: torch.Tensor) -> torch.Tensor:
            return self.choose(scores(token, mask, position), token, position, going)

        self.scores = capture(_without_gradients(scores))
        self.word: Captured[..., torch.Tensor] = capture(_without_gradients(word), pool=self.scores.pool)
        self.chosen = capture(_without_gradients(self.choose), pool=self.scores.pool)

    def choose(self, scores: torch.Tensor, token: torch.Tensor, position: Any, going: torch.Tensor) -> torch.Tensor:
        """Returns the next word of each text, and prepares the step after it."""
        if self.sample:
            words = torch.multinomial(scores.softmax(-1), 1)[:, 0]
        else:
            words = scores.argmax(-1)
        if self.ends.numel():
            words = torch.where(going, words, self.pad)
            going.logical_and_(torch.isin(words, self.ends, invert=True))
        token.copy_(words[:, None])
        if position is not None:
            position.add_(1)
        return words

    def start(self, mask: torch.Tensor | None, position: torch.Tensor | None, length: int) -> None:
        """Sets the tensors to the state after the prompt."""
        self.going.fill_(True)
        if mask is not None:
            whole = torch.nn.functional.pad(mask, (0, length - mask.shape[1]), value=1)
            self.mask = whole if self.mask is None else self.mask.copy_(whole)
        if position is not None:
            last = position[..., -1:].contiguous()
            self.position = last.clone() if self.position is None else self.position.copy_(last)


def _without_gradients(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Returns the function under `torch.no_grad`, with its name."""
    return torch.no_grad()(function)


class _DecodeSteps(dict[Any, _DecodeStep]):
    """The kept steps of a model, an attribute of it, so that they end with it. Copies have none."""

    def __reduce__(self) -> Any:
        return dict, ()


@torch.no_grad()
def decode(
    model: Any,
    input_ids: torch.Tensor,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    synced_gpus: bool = False,
    streamer: Any = None,
    **model_kwargs: Any,
) -> torch.Tensor:
    """Returns `input_ids`, int64 of shape (texts, words), with the words that the model continues them
    by: greedily, or drawn with `do_sample`.

    This is a decoding method for `generate(custom_generate=)` of transformers with a static cache.
    It captures masks, the model, the choice of a word and the check for the end; it keeps the capture
    for later calls with as many texts and words. `logits_processor`s, and stopping criteria other
    than a length and a token, run uncaptured. Raises ValueError without a static cache, with beams,
    with results other than words, and for encoder-decoder models.
    """
    cache, config = model_kwargs.get("cache"), generation_config
    if input_ids.device.type != "fpga" or not getattr(cache, "is_compileable", False):
        raise errors.decode_cache()
    if config.num_beams != 1 or config.return_dict_in_generate or model.config.is_encoder_decoder or synced_gpus:
        raise errors.decode_words()
    others = [c for c in stopping_criteria if not hasattr(c, "max_length") and not hasattr(c, "eos_token_id")]
    ends = config.eos_token_id
    ends = [] if ends is None else [ends] if isinstance(ends, int) else list(ends)
    batch, prompt = input_ids.shape
    length = stopping_criteria.max_length
    pad = config.pad_token_id if config.pad_token_id is not None else (ends or [0])[0]
    step = _step(model, cache, (batch, length), bool(config.do_sample), ends, pad)
    model_kwargs["cache"] = step.cache
    mask, position = model_kwargs.get("attention_mask"), model_kwargs.get("position_ids")
    inputs = model.prepare_inputs_for_generation(input_ids, is_first_iteration=True, **model_kwargs)
    scores = model(**inputs, return_dict=True).logits[:, -1].float()
    step.start(mask, position, length)
    text, words = input_ids, list[torch.Tensor]()
    needs_text = bool(len(logits_processor) or others or streamer is not None)
    for count in range(1, length - prompt + 1):
        if count == 1 or len(logits_processor):
            if count > 1:
                scores = step.scores(step.token, step.mask, step.position)
            if len(logits_processor):
                scores = logits_processor(text, scores)
            words.append(step.chosen(scores, step.token, step.position, step.going))
        else:
            words.append(step.word(step.token, step.mask, step.position, step.going))
        if needs_text:
            text = torch.cat((text, words[-1][:, None]), 1)
        if streamer is not None:
            streamer.put(words[-1].cpu())
        for criterion in others:
            step.going.logical_and_(~criterion(text, None))
        checks = others or (ends and (streamer is not None or count % WORDS_PER_CHECK == 0))
        if checks and not step.going.any():
            break
    if streamer is not None:
        streamer.end()
    new = torch.stack(words, 1) if words else input_ids[:, :0]
    return torch.cat((input_ids, new if others else _until_end(new, ends)), 1)


def _step(model: Any, cache: Any, shape: tuple[int, int], sample: bool, ends: list[int], pad: int) -> _DecodeStep:
    """Returns the kept step, its cache emptied, or a new one that uses `cache`."""
    kept = model.__dict__.setdefault("_ftensor_steps", _DecodeSteps())
    lengths = tuple(layer.max_cache_len for layer in cache.layers)
    key = (type(cache), lengths, shape, sample, tuple(ends), pad)
    step = kept.get(key)
    if step is None:
        while len(kept) >= MAX_STEPS:
            del kept[next(iter(kept))]
        step = kept[key] = _DecodeStep(model, cache, shape[0], sample, ends, pad)
    else:
        step.cache.reset()
    return step


def _until_end(words: torch.Tensor, ends: list[int]) -> torch.Tensor:
    """Returns the words up to the last one that any text needs: each text needs its first end."""
    if not ends:
        return words
    last = 0
    for text in words.tolist():
        last = max(last, next((k for k, word in enumerate(text, 1) if word in ends), len(text)))
    return words[:, :last]
