"""Shared by losses: argument checks, and the reduction by `size_average`, `reduce`, `reduction` and
`weight`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from ...._tensor import Tensor
from ....errors import nn as errors_nn
from ....errors.message import levels_to_user
from ....graph.fused import fused
from ....rows.catalogue import Row, op
from ....rows.spelling import declared, written
from ...arguments import check_tensors
from ..layers.activation import SPACE

REDUCTIONS = ("none", "mean", "sum")
# Parameters that `loss` reads itself, with torch's types.
_OWN = {
    "size_average": "size_average: Any = None",
    "reduce": "reduce: Any = None",
    "reduction": "reduction: str = 'mean'",
    "weight": "weight: Tensor | None = None",
    "*": "*",
}


class Shapes(Enum):
    """How a loss treats a target whose shape differs from the input's."""

    ANY = "the function's affair"
    WARNED = "a warning: it broadcasts"
    EQUAL = "a ValueError"


def reduced(loss: Tensor, word: str, weight: Tensor | None = None) -> Tensor:
    """Returns each element's loss, or their mean or sum; with weights the mean is weighted."""
    if weight is not None:
        loss = loss * weight
        if word == "mean":
            return loss.sum() / weight.expand(loss._shape).sum()
    return loss if word == "none" else getattr(loss, word)()


def word_of(name: str, size_average: Any, reduce: Any, reduction: str) -> str:
    """Returns the reduction: `reduction`, or torch's reading of the old arguments `size_average`
    and `reduce`. Raises ValueError for another word."""
    if size_average is None and reduce is None:
        if reduction not in REDUCTIONS and (name != "kl_div" or reduction != "batchmean"):
            raise errors_nn.reduction(name, reduction)
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def loss(
    parameters: str = "",
    *,
    shapes: Shapes = Shapes.ANY,
    positional: bool = False,
    has_mean: bool = True,
    rows: tuple[Row, ...] = (),
) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Registers a loss in the catalogue; the decorated function computes the loss of each element.

    `parameters` are torch's, in its order, if they aren't the function's own followed by
    `size_average`, `reduce` and `reduction`. A `weight` that the function doesn't take weighs the
    mean. A function with a parameter `word` (the reduction) reduces by itself. `positional` checks
    that word before everything else, as torch does for some losses. The loss runs as a fused graph
    unless `has_mean` is False, for a loss that reads values, has kernels of its own, or calls a
    user's function.
    """

    def add(elements: Callable[..., Tensor]) -> Callable[..., Tensor]:
        name, parameters_ = elements.__name__, signature(elements).parameters
        computed = _computed(name, elements, "word" in parameters_)
        computed = fused(computed) if has_mean else computed
        order = parameters.split() or [*parameters_, "size_average", "reduce", "reduction"]
        function = written(
            name,
            ", ".join([declared([parameters_[p]]) if p in parameters_ else _OWN[p] for p in order]),
            _statements(parameters_, order, shapes, positional),
            elements.__doc__,
            __name__=elements.__module__,
            computed=computed,
            check_tensors=check_tensors,
            word_of=word_of,
            refused=errors_nn.target_shape,
            broadcast=errors_nn.target_broadcasts,
            warn=warnings.warn,
            level=levels_to_user,
        )
        return op(namespace=SPACE, rows=rows)(function)

    return add


def _computed(name: str, elements: Callable[..., Tensor], reduces: bool) -> Callable[..., Tensor]:
    """Returns a function of (reduction, weight, *arguments of `elements`) that computes and reduces
    a loss; an `elements` that `reduces` returns the reduced loss itself."""

    @wraps(elements)
    def call(word: Any, weight: Tensor | None, *args: Any) -> Tensor:
        losses = elements(*args)
        if reduces:
            return losses
        return reduced(losses, word_of(name, *word) if isinstance(word, tuple) else word, weight)

    return call


def _statements(parameters: Mapping[str, Parameter], order: Sequence[str], shapes: Shapes, first: bool) -> str:
    """Returns the body of a loss function: checks, the reduction, and the call of its elements."""
    required = [p.name for p in parameters.values() if p.annotation in ("Tensor", Tensor)]
    legacy = [word if word in order else "None" for word in ("size_average", "reduce")]
    word = f"({', '.join(legacy)}, reduction)"
    lines = [f"check_tensors(NAME, {', '.join(f'{x}={x}' for x in required)})"]
    if first or "word" in parameters:
        lines.insert(0 if first else 1, f"word = word_of(NAME, *{word})")
        word = "word"
    if shapes is not Shapes.ANY:
        arguments = "NAME, input._shape, target._shape"
        lines.append("if input._shape != target._shape:")
        equal = shapes is Shapes.EQUAL
        lines.append(
            f"    raise refused({arguments})" if equal else f"    warn(broadcast({arguments}), stacklevel=level())"
        )
    weight = "weight" if "weight" in order and "weight" not in parameters else "None"
    lines.append(f"return computed({word}, {weight}, {', '.join(parameters)})")
    return "\n".join(lines)
