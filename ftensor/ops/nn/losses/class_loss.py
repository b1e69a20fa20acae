"""Classification losses, and CTC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import int64, uint8
from ....errors import nn as errors_nn
from ....execute.layers import nll
from ....execute.output import new
from ....execute.pointwise import pointwise
from ....graph.fused import fused
from ....rows.catalogue import enter, op
from ....rows.op import Op
from ...arguments import check_tensors
from ...create.data import tensor
from ...create.ranges import arange
from ...create.sizes import full, zeros_like
from ...index.gather import of_classes
from ...reduce.softmax import log_softmax
from ..layers.activation import SPACE
from ..layers.stepwise import grouped_sum, is_half
from .reduction import REDUCTIONS, loss, reduced

# torch's checks of nll_loss. Class numbers are in single precision there, which is exact up to
# 2**24.
KNOWN_CLASS = Op("known_class", "target, ignored", "a == ignored ? K(0) : a", params=("ignored",), only=("int64",))
NLL_LOSS = Op(
    "nll_of_class",
    "input, target, ignored",
    "b == ignored ? K(0) : -a",
    params=("ignored",),
    float_only=True,
    round_scalars=False,
)
NLL_INPUT = Op(
    "nll_of_class_backward",
    "grad, classes, target, weight, total, ignored",
    "b == c && c != ignored ? -(a / e) * d : K(0)",
    params=("ignored",),
    float_only=True,
    round_scalars=False,
)
enter(__name__, KNOWN_CLASS, NLL_LOSS, NLL_INPUT)


@loss("input target weight size_average ignore_index reduce reduction", has_mean=False)
def nll_loss(
    input: Tensor, target: Tensor, word: str, weight: Tensor | None = None, ignore_index: int = -100
) -> Tensor:
    """Returns -weight[target] * input[target], the cost of the right class, for log-probabilities
    in dim 1 (dim 0 of a 1-d input). The mean is weighted; targets equal to `ignore_index` don't
    count. Raises IndexError for a class that does not exist, RuntimeError and ValueError for shapes
    that don't fit, RuntimeError for weights of another dtype, NotImplementedError unless the dtype
    is floating-point."""
    _check_classes("nll_loss", input, target, weight)
    if input.ndim == 1:
        target = target.reshape(())
    if not is_half(input._dtype):  # otherwise sums are rounded in steps
        results = nll(input, target.to(int64), weight, word, ignore_index)
        if results is not None:
            return results[0]
    dim = 0 if input._shape[1:] == () else 1
    is_counted = target != ignore_index
    index = target.where(is_counted, zeros_like(target)).to(int64)
    loss = -of_classes(input, dim, index)
    if weight is None:
        weights = is_counted.to(input._dtype)
    else:
        weights = weight[index] * is_counted
    # `where` instead of a product, because the loss of an ignored class may be infinite.
    loss = (loss * weights if weight is not None else loss).where(is_counted, zeros_like(loss))
    if word == "none":
        return loss.contiguous()
    total = grouped_sum(loss.reshape(-1)) if is_half(loss._dtype) and loss.numel() else loss.sum()
    if word == "sum":
        return total
    if weight is not None and is_half(weights._dtype) and loss.numel():
        return total / grouped_sum(weights.reshape(-1))
    return total / weights.sum()


def _check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Checks the shapes of inputs, targets and weights with torch's rules."""
    if not input._shape:
        raise errors_nn.class_dims(name, input._shape)
    if target._dtype not in (int64, uint8):
        raise errors_nn.class_dtype(name, target._dtype)
    expected = input._shape[:1] + input._shape[2:] if input.ndim > 1 else ()
    if target._shape != expected and not (input.ndim == 1 and target._shape == (1,)):
        raise errors_nn.class_shape(name, input._shape, target._shape)
    classes = input._shape[min(1, input.ndim - 1)]
    if weight is not None and weight._shape != (classes,):
        raise errors_nn.class_weights(name, classes, weight._shape)
    if not input._dtype.is_floating_point:
        raise errors.not_implemented_for(name, input._dtype)
    if weight is not None and weight._dtype is not input._dtype:
        raise errors_nn.same_dtype(name, "weight", input._dtype, weight._dtype)


@loss("input target weight size_average ignore_index reduce reduction label_smoothing", has_mean=False)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    word: str,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Returns `nll_loss` of log_softmax(input). A floating-point target of the input's shape holds
    probabilities of all classes. A negative `label_smoothing` has no effect, as in torch; one above
    1 raises RuntimeError."""
    name = "cross_entropy"
    if label_smoothing > 1:
        raise errors_nn.label_smoothing(label_smoothing)
    label_smoothing = label_smoothing if label_smoothing > 0 else 0.0  # 0 for NaN
    if input._shape == target._shape and not target._dtype.is_floating_point:
        raise errors_nn.probabilities("a target of", target._dtype)
    if not input._shape:
        raise errors_nn.class_dims(name, input._shape)
    if target._dtype.is_floating_point and ignore_index >= 0:
        raise errors_nn.probabilities("ignore_index", ignore_index)
    dim = 0 if input.ndim == 1 else 1
    logs = log_softmax(input, dim)
    if target._dtype.is_floating_point:
        return _probability_loss(name, logs, target, weight, word, label_smoothing)
    loss = nll_loss(logs, target, weight, None, ignore_index, None, word)
    if not label_smoothing:
        return loss
    if input.ndim == 1 and target._shape:  # torch accepts it without smoothing only
        raise errors_nn.class_shape(name, input._shape, target._shape)
    classes = input._shape[dim]
    is_counted = target != ignore_index
    by_class = logs if weight is None else logs * _weight_shaped(weight, dim, logs.ndim)
    smooth = (-by_class.sum(dim)).where(is_counted, zeros_like(loss) if loss._shape else 0.0)
    if word == "mean":
        if weight is None:
            smooth = smooth.sum() / is_counted.sum()
        else:
            index = target.where(is_counted, zeros_like(target)).to(int64)
            smooth = smooth.sum() / (weight[index] * is_counted).sum()
    else:
        smooth = reduced(smooth, word)
    return (1 - label_smoothing) * loss + smooth * (label_smoothing / classes)


@fused
def _probability_loss(
    name: str, logs: Tensor, target: Tensor, weight: Tensor | None, word: str, smoothing: float
) -> Tensor:
    """Returns the cross entropy for targets that hold a probability of each class."""
    if logs._shape != target._shape and logs.ndim == 1:
        raise errors_nn.class_dtype(name, target._dtype)
    if logs._shape != target._shape:
        raise errors_nn.class_shape(name, logs._shape, target._shape)
    dim = 0 if logs.ndim == 1 else 1
    classes = logs._shape[dim]
    if weight is not None and weight._shape != (classes,):
        raise errors_nn.class_weights(name, classes, weight._shape)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    terms = logs * target
    if weight is not None:
        terms = terms * _weight_shaped(weight, dim, logs.ndim)
    if word == "mean":
        batch = logs.numel() // classes if classes else 0
        return -terms.sum() / batch if batch else -terms.sum() * float("nan")
    return -terms.sum() if word == "sum" else reduced(-terms.sum(dim), word)


def _weight_shaped(weight: Tensor, dim: int, ndim: int) -> Tensor:
    return weight.reshape([-1 if d == dim else 1 for d in range(ndim)])


CATEGORY = "sequences"

# Graves et al., "Connectionist Temporal Classification" (2006), equations (6) and (7), in
# logarithms. Without a path the sum is over zeros, and its logarithm is -inf.
STEP = Op(
    "ctc_step",
    "stay, back, skip, allowed, log_prob",
    "log(exp(a - base) + exp(b - base) + exp(over - base)) + base + e",
    lets=(("over", "c + d"), ("most", "ft_max(a, ft_max(b, over))"), ("base", "most == K(-INFINITY) ? K(0) : most")),
    float_only=True,
)
enter(__name__, STEP)

# Number of states of probability 0 before the first one: a step reads up to two states back.
BEFORE = 2


def _lengths(name: str, word: str, lengths: Any, batch: int) -> list[int]:
    """Returns lengths as ints. Raises RuntimeError for a wrong number of lengths and for
    non-integers."""
    if isinstance(lengths, Tensor):
        if lengths._dtype.kind not in "ui":
            raise errors_nn.lengths(name, word, f"not {lengths._dtype}", batch)
        lengths = lengths.tolist()
        lengths = [lengths] if isinstance(lengths, int) else lengths
    if len(lengths) != batch:
        raise errors_nn.lengths(name, word, f"there are {len(lengths)}", batch)
    return [int(n) for n in lengths]


def _labels(name: str, targets: Tensor, lengths: Sequence[int], batch: int, blank: int) -> Tensor:
    """Returns each sample's labels padded with blanks: (batch, longest)."""
    longest = max(lengths)
    positions = arange(longest, device=targets.device)
    if targets.ndim == 2:
        if targets._shape[0] != batch or targets._shape[1] < longest:
            raise errors_nn.labels(name, (batch, longest), targets._shape)
        labels = targets.narrow(1, 0, longest)
    elif targets.ndim == 1:
        if targets._shape[0] != sum(lengths):
            raise errors_nn.labels(name, (sum(lengths),), targets._shape)
        starts = [sum(lengths[:k]) for k in range(batch)]
        flat_positions = tensor(starts, device=targets.device).unsqueeze(1) + positions
        labels = targets[flat_positions.clamp(max=max(0, len(targets) - 1))] if len(targets) else flat_positions
    else:
        raise errors_nn.labels(name, (batch, longest), targets._shape)
    is_label = positions < tensor(lengths, device=targets.device).unsqueeze(1)
    return labels.to(int64).masked_fill(~is_label, blank)


def states_of(
    name: str, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int
) -> tuple[Tensor, list[int], list[int]]:
    """Returns (states of each sample, lengths of inputs, lengths of targets).

    The states of a sample are its labels with blanks between and around them, padded with blanks:
    int64 of (batch, states). Raises RuntimeError for shapes and lengths that don't fit,
    NotImplementedError for dtypes other than float32 and float64.
    """
    check_tensors(name, log_probs=log_probs, targets=targets)
    if isinstance(input_lengths, Tensor) is not isinstance(target_lengths, Tensor):
        raise errors_nn.mixed_lengths(name)
    if log_probs.ndim != 3 or not log_probs.numel():
        raise errors_nn.log_probs(name, log_probs._shape)
    if log_probs._dtype.name not in ("float32", "float64"):
        raise errors.not_implemented_for(name, log_probs._dtype)
    steps, batch, classes = log_probs._shape
    if not 0 <= blank < classes:
        raise errors_nn.blank(name, blank, classes)
    time_steps = _lengths(name, "input_lengths", input_lengths, batch)
    counts = _lengths(name, "target_lengths", target_lengths, batch)
    if not 0 <= min(time_steps) <= max(time_steps) <= steps:
        raise errors_nn.lengths(name, "input_lengths", f"given were {time_steps}", batch, steps)
    if min(counts) < 0:
        raise errors_nn.lengths(name, "target_lengths", f"given were {counts}", batch)
    labels = _labels(name, targets, counts, batch, blank)
    shape = batch, 2 * labels._shape[1] + 1
    states = full(shape, blank, dtype=int64, device=log_probs.device)
    states[:, 1::2] = labels
    return states, time_steps, counts


def forward_variables(log_probs: Tensor, states: Tensor, end: int) -> Tensor:
    """Returns alpha, (steps, batch, BEFORE + states): for the steps before `end`, the logarithm of
    the probability of all paths to a state. Elements of later steps are uninitialized."""
    steps, (batch, count) = log_probs._shape[0], states._shape
    # A path may skip the blank between two different labels.
    skip_penalty = full((batch, count), -math.inf, dtype=log_probs._dtype, device=log_probs.device)
    if count > BEFORE:
        differ = states[:, BEFORE:] != states[:, :-BEFORE]
        skip_penalty[:, BEFORE:].masked_fill_(differ, 0.0)
    emissions = log_probs.gather(2, states.expand(steps, batch, count))
    alpha = new((steps, batch, BEFORE + count), log_probs._dtype, log_probs._storage.device)
    alpha[:, :, :BEFORE] = -math.inf
    alpha[0] = -math.inf
    start_count = min(2, count)
    alpha[0, :, BEFORE : BEFORE + start_count] = emissions[0, :, :start_count]
    for t in range(1, end):
        from_same, from_previous, from_skip = (alpha[t - 1].narrow(1, k, count) for k in (2, 1, 0))
        out = alpha[t].narrow(1, BEFORE, count)
        pointwise(STEP, (from_same, from_previous, from_skip, skip_penalty, emissions[t]), (), out)
    return alpha


def _ctc_forward(
    name: str, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int
) -> tuple[Tensor, Tensor, list[int]]:
    """Returns (negative log-likelihoods, alpha of `forward_variables`, lengths of targets). Raises
    what `states_of` raises."""
    lengths = input_lengths, target_lengths
    states, time_steps, counts = states_of(name, log_probs, targets, *lengths, blank)
    batch, device = log_probs._shape[1], log_probs.device
    alpha = forward_variables(log_probs, states, max(time_steps))
    # A path ends at the last label or at the blank behind it; without steps only the empty path
    # exists.
    width = alpha._shape[2]
    rows = [((end - 1) * batch + n) * width for n, end in enumerate(time_steps)]
    last = [
        row_start + BEFORE + 2 * c if end else n * width
        for n, (row_start, c, end) in enumerate(zip(rows, counts, time_steps))
    ]
    last_positions = tensor([last, [max(0, p - 1) if end else p for p, end in zip(last, time_steps)]], device=device)
    final = alpha.reshape(-1)[last_positions]
    loss = -final[0].logaddexp(final[1])
    if 0 in time_steps:
        nothing = [end == 0 and count == 0 for end, count in zip(time_steps, counts)]
        loss = loss.masked_fill(tensor(nothing, device=device), 0.0)
    return loss, alpha, counts


@op(method=False)
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """Returns (negative log-likelihoods, logarithms of alpha (batch, steps, states)) of log_probs
    (steps, batch, classes). Elements beyond a sample's lengths have no meaning."""
    loss, alpha, _ = _ctc_forward("_ctc_loss", log_probs, targets, input_lengths, target_lengths, blank)
    states = alpha._shape[2] - BEFORE
    return loss, alpha.narrow(2, BEFORE, states).transpose(0, 1).contiguous()


@op(method=False)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Like `nn.functional.ctc_loss`, with the reduction as a number: 0 "none", 1 "mean", 2 "sum"."""
    name = "ctc_loss"
    check_tensors(name, log_probs=log_probs, targets=targets)
    batched = log_probs.ndim == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    loss, _, counts = _ctc_forward(name, log_probs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        loss = loss.masked_fill(loss == math.inf, 0.0)
    if reduction == 1:
        divisors = [max(1, n) for n in counts]
        return (loss / tensor(divisors, dtype=loss._dtype, device=loss.device)).mean()
    if reduction == 2:
        return loss.sum()
    return loss if batched else loss.squeeze(0)


@op(name="ctc_loss", namespace=SPACE)
def _by_word(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Returns -log of the probability of `targets` given the frames `log_probs` (steps, batch,
    classes), with blanks and repeated labels between the labels. `targets` are (batch, longest) or
    all labels in one dim.

    `reduction` "mean" divides each sample's loss by the length of its target. `zero_infinity` sets
    losses of targets that don't fit into their frames to 0. `log_probs` of (steps, classes) are one
    sample. Raises RuntimeError for shapes and lengths that don't fit, NotImplementedError for
    dtypes other than float32 and float64.
    """
    if reduction not in REDUCTIONS:
        raise errors_nn.reduction("ctc_loss", reduction)
    reduction_index = ("none", "mean", "sum").index(reduction)
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction_index, zero_infinity)
