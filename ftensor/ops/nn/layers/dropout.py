"""Dropout in its forms, and `rrelu` with random slopes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from .... import dtypes
from ...._tensor import Tensor
from ....errors import creation as errors_creation
from ....execute.output import new_like
from ....execute.pointwise import write_result
from ....rows.catalogue import op
from ....rows.spelling import written
from ...arguments import check_kind
from ...create.sizes import empty, empty_like, ones_like
from ...random.fill import ALPHA_DROPOUT, DROPOUT, RRELU, chance, fill_random
from ...view.layout import layout
from .activation import SELU_ALPHA, SELU_SCALE, SPACE, leaky_relu

# A dropout: (input, probability, output or None) -> result.
Run = Callable[[Tensor, float, Tensor | None], Tensor]

# SELU's negative limit, with the sign changed: alpha dropout replaces dropped elements by its
# negative.
_ALPHA = SELU_ALPHA * SELU_SCALE


def _check_probability(input: Tensor, p: Any, error: type[Exception] = RuntimeError) -> float:
    layout(input, "dropout")
    if not 0 <= p <= 1:
        raise errors_creation.dropout_probability(p, kind=error)
    return float(p)


def _fractions(input: Tensor) -> None:
    check_kind("dropout", input._dtype, "buif")
    if input._dtype.kind != "f":
        raise errors_creation.dropout_cast(input._dtype)


def _dropout_scalars(p: float) -> tuple[float, float]:
    return 1 - p, 1 / (1 - p) if p < 1 else 0.0


def _alpha_dropout_scalars(p: float) -> tuple[float, float, float]:
    """Returns the scale of kept elements, and the offsets of kept and dropped elements, so that
    mean 0 and variance 1 are preserved (Klambauer and others: Self-normalizing neural networks,
    2017)."""
    if p == 1:
        return 0.0, 0.0, 0.0
    gain = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    return gain, _ALPHA * gain * p, _ALPHA * gain * (p - 1)


def _dropped(input: Tensor, p: float, out: Tensor | None) -> Tensor:
    _fractions(input)
    target = empty_like(input) if out is None else out
    return fill_random("dropout", DROPOUT, _dropout_scalars(p), target, None, (input,))


def _alpha_dropped(input: Tensor, p: float, out: Tensor | None) -> Tensor:
    _fractions(input)
    target = empty_like(input) if out is None else out
    gain, keep_offset, drop_offset = _alpha_dropout_scalars(p)
    return fill_random("alpha_dropout", ALPHA_DROPOUT, (1 - p, gain, keep_offset, drop_offset), target, None, (input,))


def _by_feature(input: Tensor, p: float, alpha: bool, out: Tensor | None) -> Tensor:
    """Drops whole channels: one random draw for each index of the first two dims."""
    if input.ndim < 2:
        raise errors_creation.feature_dims(input.ndim)
    _fractions(input)
    shape = (*input._shape[:2], *(1,) * (input.ndim - 2))
    keep_mask = chance(empty(shape, dtype=input._dtype, device=input._storage.device), 1 - p)
    if alpha:
        gain, keep_offset, drop_offset = _alpha_dropout_scalars(p)
        result = input * (keep_mask * gain) + (keep_mask * (keep_offset - drop_offset) + drop_offset)
    else:
        result = input * (keep_mask * _dropout_scalars(p)[1])
    return write_result("dropout", out, result)


def _feature(input: Tensor, p: float, out: Tensor | None) -> Tensor:
    return _by_feature(input, p, False, out)


def _alpha_feature(input: Tensor, p: float, out: Tensor | None) -> Tensor:
    return _by_feature(input, p, True, out)


def _trained(
    run: Run, input: Tensor, p: Any, train: Any, out: Tensor | None, refusal: type[Exception] = RuntimeError
) -> Tensor:
    p = _check_probability(input, p, refusal)
    return run(input, p, out) if train and p and input.numel() else input


def _dropout(run: Run, name: str, doc: str) -> None:
    """Registers a dropout as `ft.name` and as `ft.name_` in place."""
    for suffix, out, doc_text in (("", "None", doc), ("_", "input", f"`{name}` in place.")):
        op(method=False)(
            written(
                name + suffix,
                "input: Tensor, p: float, train: bool",
                f"return trained(run, input, p, train, {out})",
                doc_text,
                __name__=__name__,
                trained=_trained,
                run=run,
            )
        )


_dropout(
    _dropped,
    "dropout",
    """
If `train`, replaces each element by 0 with probability `p` and multiplies the others by
1 / (1 - p). Otherwise returns the input. RuntimeError if `p` is not in [0, 1].
""",
)
_dropout(_feature, "feature_dropout", "Like `dropout` on whole channels: (batch, channel) are the first two dims.")
_dropout(
    _alpha_dropped,
    "alpha_dropout",
    """
If `train`, replaces each element by SELU's negative limit with probability `p`, then scales and
shifts all, so that mean 0 and variance 1 are kept. Otherwise returns the input. RuntimeError if
`p` is not in [0, 1].
""",
)
_dropout(
    _alpha_feature,
    "feature_alpha_dropout",
    "Like `alpha_dropout` on whole channels: (batch, channel) are the first two dims.",
)


@op(method=False)
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Returns (`dropout` of the input, a bool tensor that is True where an element is kept)."""
    p = _check_probability(input, p)
    if train is False or not p:
        return input.clone(), ones_like(input, dtype=dtypes.bool)
    _fractions(input)
    keep_mask = chance(empty_like(input, dtype=dtypes.bool), 1 - p)
    return input * keep_mask * _dropout_scalars(p)[1], keep_mask


def _nn_dropout(run: Run, name: str, training: bool, doc: str) -> Callable[..., Tensor]:
    """Registers a dropout as `ft.nn.functional.name`; `training` is the default of its
    parameter."""
    return op(namespace=SPACE, method=False)(
        written(
            name,
            f"input: Tensor, p: float = 0.5, training: bool = {training}, inplace: bool = False",
            "return trained(run, input, p, training, input if inplace else None, ValueError)",
            doc,
            __name__=__name__,
            trained=_trained,
            run=run,
        )
    )


nn_dropout = _nn_dropout(
    _dropped,
    "dropout",
    True,
    """
If `training`, replaces each element by 0 with probability `p` and multiplies the others by
1 / (1 - p). Otherwise returns the input. ValueError if `p` is not in [0, 1].
""",
)
_nn_dropout(
    _alpha_dropped,
    "alpha_dropout",
    False,
    """
If `training`, replaces each element by SELU's negative limit with probability `p`, then scales
and shifts all, so that mean 0 and variance 1 are kept. Otherwise returns the input. ValueError if
`p` is not in [0, 1].
""",
)
_nn_dropout(
    _alpha_feature,
    "feature_alpha_dropout",
    False,
    "Like `alpha_dropout` on whole channels: (batch, channel) are the first two dims.",
)


@op(namespace=SPACE, method=False)
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops whole channels of a (batch, channels, length) or (channels, length) input."""
    _check_probability(input, p, ValueError)
    if input.ndim not in (2, 3):
        raise errors_creation.dropout1d_dims(input.ndim)
    return _channel_dropout(input, p, training, inplace, input.ndim == 2)


@op(namespace=SPACE, method=False)
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops whole channels of a (batch, channels, height, width) input. An input of 3 dims counts
    as (batch, channels, length), which torch plans to change."""
    _check_probability(input, p, ValueError)
    if input.ndim not in (3, 4):
        warnings.warn(errors_creation.channel_dims("dropout2d", input.ndim, (3, 4)), stacklevel=2)
    elif input.ndim == 3:
        warnings.warn(errors_creation.dropout_batch(), stacklevel=2)
    return _channel_dropout(input, p, training, inplace)


@op(namespace=SPACE, method=False)
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops whole channels of a (batch, channels, depth, height, width) input, or of one of 4 dims
    without a batch."""
    _check_probability(input, p, ValueError)
    if input.ndim not in (4, 5):
        warnings.warn(errors_creation.channel_dims("dropout3d", input.ndim, (4, 5)), stacklevel=2)
    return _channel_dropout(input, p, training, inplace, input.ndim == 4)


def _channel_dropout(input: Tensor, p: float, training: Any, inplace: Any, allow_unbatched: bool = False) -> Tensor:
    batch = input.unsqueeze(0) if allow_unbatched else input
    result = _trained(_feature, batch, p, training, batch if inplace else None, ValueError)
    return input if inplace or result is batch else result.squeeze(0) if allow_unbatched else result


def _random_slopes(input: Tensor, lower: Any, upper: Any, training: Any, generator: Any, out: Tensor | None) -> Tensor:
    layout(input, "rrelu")
    if lower > upper:
        raise errors_creation.slope_bounds(lower, upper)
    check_kind("rrelu", input._dtype, "f")
    if not training:
        return write_result("rrelu", out, leaky_relu(input, (lower + upper) / 2))
    target = new_like(input, input._shape) if out is None else out
    numbers = (float(lower), float(upper - lower))
    return fill_random("rrelu", RRELU, numbers, target, generator, (input,))


_LOWER, _UPPER = 1 / 8, 1 / 3


@op(method=False)
def rrelu(
    input: Tensor, lower: float = _LOWER, upper: float = _UPPER, training: bool = False, generator: Any = None
) -> Tensor:
    """Multiplies elements up to 0 by a slope: with `training` a random one from `lower` to `upper`
    for each, else their mean. Raises RuntimeError if `lower` is above `upper`."""
    return _random_slopes(input, lower, upper, training, generator, None)


@op(method=False)
def rrelu_(
    input: Tensor, lower: float = _LOWER, upper: float = _UPPER, training: bool = False, generator: Any = None
) -> Tensor:
    """`rrelu` in place."""
    return _random_slopes(input, lower, upper, training, generator, input)


@op(name="rrelu", namespace=SPACE, method=False)
def nn_rrelu(
    input: Tensor, lower: float = _LOWER, upper: float = _UPPER, training: bool = False, inplace: bool = False
) -> Tensor:
    """Like `ft.rrelu`, with the default generator."""
    return _random_slopes(input, lower, upper, training, None, input if inplace else None)
