"""Padding with what is there: reflected, repeated, or around a circle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import int64
from ...errors import shape as errors_shape
from ...errors import spatial as errors_spatial
from ...execute.constants import constant_of
from ...execute.memory import ask, suggested_format
from ...rows.catalogue import op
from ..user_values import as_float
from ..view.arguments import int_list
from .pad import constant_pad_nd


def _reflected(at: int, size: int) -> int:
    at = abs(at)
    return at if at < size else 2 * (size - 1) - at


def _repeated(at: int, size: int) -> int:
    return min(max(at, 0), size - 1)


def _around(at: int, size: int) -> int:
    return at % size


MODES: dict[str, Callable[[int, int], int]] = {"reflect": _reflected, "replicate": _repeated, "circular": _around}


def positions(x: Tensor, dim: int, listed: list[int]) -> Tensor:
    """x at the listed positions of a dim; itself where those are all, in their order."""
    if listed == list(range(x._shape[dim])):
        return x
    return x.index_select(dim, constant_of(np.array(listed, np.int64), x))


@op(namespace="nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """A copy with elements before and after: pairs of counts, for the last dim first; negative ones
    cut off. They are `value` (0); or, for the last one to three dims, those of the other side of
    the edge ('reflect'), of the edge ('replicate') or of the other end ('circular').
    """
    value = as_float("pad", "value", value)
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    counts = int_list(pad, "pad", "pad")
    if len(counts) % 2:
        raise errors_shape.odd_pad(counts)
    if len(counts) > 2 * input.ndim:
        raise errors_shape.long_pad(counts, input.ndim)
    if value:
        raise errors_spatial.pad_value(mode, value)
    n = len(counts) // 2
    if mode not in MODES or n not in (1, 2, 3) or input.ndim not in (n + 1, n + 2):
        raise errors_spatial.pad_dims(mode, counts, input._shape)
    if input._dtype.kind == "b" and mode != "circular":
        raise errors.not_implemented_for(mode, input._dtype)
    result = input
    for d in range(n):
        dim = input.ndim - 1 - d
        before, after = counts[2 * d : 2 * d + 2]
        size = input._shape[dim]
        most = size - 1 if mode == "reflect" else size if mode == "circular" else 2**62
        total = size + before + after
        if max(before, after) > most or total < 0 or not size:
            raise errors_spatial.pad_wraps(mode, counts, input._shape)
        first = 0
        if mode == "circular":  # goes around what is left
            first, size = max(-before, 0), size + min(before, 0) + min(after, 0)
            before = max(before, 0)
        if size <= 0 and (total or before):  # there is nothing to go around
            raise errors_spatial.pad_wraps(mode, counts, input._shape)
        ask(result, total, int64)
        listed = [first + MODES[mode](at - before, size) for at in range(total)]
        result = positions(result, dim, listed)
    if result is input:
        return input.clone()
    return result if mode == "circular" else result.contiguous(memory_format=suggested_format(input))
