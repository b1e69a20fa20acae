"""Losses of classes: nll_loss and cross entropy."""

from __future__ import annotations

from .... import errors
from ...._tensor import Tensor
from ....dtypes import int64, uint8
from ....errors import nn as errors_nn
from ....execute.nll import nll
from ....graph.fused import fused
from ....rows.catalogue import enter
from ....rows.op import Op
from ...create.like import zeros_like
from ...index.gather import of_classes
from ...reduce.softmax import log_softmax
from ..layers.stepwise import in_steps, narrow
from .reduction import loss, reduced

# What torch's own nll_loss asks for. Classes are numbers of single precision there, which counts
# them all up to 2**24.
KNOWN_CLASS = Op(
    "known_class",
    "known_class(target, ignored, *, out=None) -> Tensor",
    "a == ignored ? K(0) : a",
    params=("ignored",),
    only=("int64",),
)
NLL_LOSS = Op(
    "nll_of_class",
    "nll_of_class(input, target, ignored, *, out=None) -> Tensor",
    "b == ignored ? K(0) : -a",
    params=("ignored",),
    float_only=True,
    round_numbers=False,
)
NLL_INPUT = Op(
    "nll_of_class_backward",
    "nll_of_class_backward(grad, classes, target, weight, total, ignored, *, out=None) -> Tensor",
    "b == c && c != ignored ? -(a / e) * d : K(0)",
    params=("ignored",),
    float_only=True,
    round_numbers=False,
)
enter(__name__, KNOWN_CLASS, NLL_LOSS, NLL_INPUT)


@loss("input target weight size_average ignore_index reduce reduction", whole=False)
def nll_loss(
    input: Tensor, target: Tensor, word: str, weight: Tensor | None = None, ignore_index: int = -100
) -> Tensor:
    """-weight[target] * input[target]: what the right class costs, of log-probabilities in dim 1
    (dim 0 of a 1-d input). The mean is over the weights; targets `ignore_index` count nothing.
    IndexError for a class that is not there, RuntimeError and ValueError for shapes that don't fit,
    RuntimeError for weights of another dtype, NotImplementedError unless it is of floating point.
    """
    _check_classes("nll_loss", input, target, weight)
    if input.ndim == 1:
        target = target.reshape(())
    if not narrow(input._dtype):  # else sums are rounded in steps
        results = nll(input, target.to(int64), weight, word, ignore_index)
        if results is not None:
            return results[0]
    dim = 0 if input._shape[1:] == () else 1
    used = target != ignore_index
    index = target.where(used, zeros_like(target)).to(int64)
    loss = -of_classes(input, dim, index)
    if weight is None:
        weights = used.to(input._dtype)
    else:
        weights = weight[index] * used
    # A where and no product: what is ignored may be infinite.
    loss = (loss * weights if weight is not None else loss).where(used, zeros_like(loss))
    if word == "none":
        return loss.contiguous()
    total = in_steps(loss.reshape(-1)) if narrow(loss._dtype) and loss.numel() else loss.sum()
    if word == "sum":
        return total
    if weight is not None and narrow(weights._dtype) and loss.numel():
        return total / in_steps(weights.reshape(-1))
    return total / weights.sum()


def _check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """The shapes of inputs, targets and weights, as torch wants them."""
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


@loss("input target weight size_average ignore_index reduce reduction label_smoothing", whole=False)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    word: str,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of log_softmax(input); a floating-point target of the input's shape holds
    probabilities of all classes. A `label_smoothing` below 0 smooths nothing, as in torch;
    RuntimeError for one above 1.
    """
    name = "cross_entropy"
    if label_smoothing > 1:
        raise errors_nn.label_smoothing(label_smoothing)
    label_smoothing = label_smoothing if label_smoothing > 0 else 0.0  # NaN is not above 0
    if input._shape == target._shape and not target._dtype.is_floating_point:
        raise errors_nn.probabilities("a target of", target._dtype)
    if not input._shape:
        raise errors_nn.class_dims(name, input._shape)
    if target._dtype.is_floating_point and ignore_index >= 0:
        raise errors_nn.probabilities("ignore_index", ignore_index)
    dim = 0 if input.ndim == 1 else 1
    logs = log_softmax(input, dim)
    if target._dtype.is_floating_point:
        return _of_probabilities(name, logs, target, weight, word, label_smoothing)
    loss = nll_loss(logs, target, weight, None, ignore_index, None, word)
    if not label_smoothing:
        return loss
    if input.ndim == 1 and target._shape:  # which torch takes without smoothing alone
        raise errors_nn.class_shape(name, input._shape, target._shape)
    classes = input._shape[dim]
    used = target != ignore_index
    by_class = logs if weight is None else logs * _along(weight, dim, logs.ndim)
    smooth = (-by_class.sum(dim)).where(used, zeros_like(loss) if loss._shape else 0.0)
    if word == "mean":
        if weight is None:
            smooth = smooth.sum() / used.sum()
        else:
            index = target.where(used, zeros_like(target)).to(int64)
            smooth = smooth.sum() / (weight[index] * used).sum()
    else:
        smooth = reduced(smooth, word)
    return (1 - label_smoothing) * loss + smooth * (label_smoothing / classes)


@fused
def _of_probabilities(
    name: str, logs: Tensor, target: Tensor, weight: Tensor | None, word: str, smoothing: float
) -> Tensor:
    """Cross entropy with a probability for each class."""
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
        terms = terms * _along(weight, dim, logs.ndim)
    if word == "mean":
        batch = logs.numel() // classes if classes else 0
        return -terms.sum() / batch if batch else -terms.sum() * float("nan")
    return -terms.sum() if word == "sum" else reduced(-terms.sum(dim), word)


def _along(weight: Tensor, dim: int, ndim: int) -> Tensor:
    """A vector as a tensor that broadcasts along one dim."""
    return weight.reshape([-1 if d == dim else 1 for d in range(ndim)])
