"""Rows of a table by index: embeddings, and classes as unit vectors."""

from __future__ import annotations

from .... import errors
from ...._tensor import Tensor
from ....dtypes import dtype, int32, int64, promote_types
from ....errors import nn as errors_nn
from ....execute import memory
from ....rows.catalogue import op
from ...create.ranges import arange
from ...create.sizes import zeros
from ...index.gather import index_select
from ...pointwise.ternary import where
from .activation import SPACE


def shorten(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Bring the rows that are used, in place, to a norm of at most `max_norm`."""
    used = zeros(weight._shape[:1], dtype=weight._dtype, device=weight.device)
    used[index.reshape(-1)] = 1
    norms = weight.norm(norm_type, 1)
    scale = where((norms > max_norm) & (used > 0), max_norm / (norms + 1e-7), 1.0)
    weight.mul_(scale.to(weight._dtype).unsqueeze(1))


def check(name: str, input: Tensor, weight: Tensor, offsets: Tensor | None = None) -> dtype:
    """The dtype of the indices: that in which they meet offsets, as torch converts both."""
    for word, x in (("input", input), ("weight", weight)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, word, x)
    if weight.ndim != 2:
        raise errors_nn.table_dims(name, weight._shape)
    of = input._dtype if offsets is None else promote_types(input._dtype, offsets._dtype)
    if of not in (int32, int64):
        raise errors_nn.index_dtype(name, of)
    return of


def padding(name: str, padding_idx: int | None, rows: int) -> int:
    """The row that pads, counted from the first; -1 where none does."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise errors_nn.padding_index(name, padding_idx, rows)
    return padding_idx % rows


@op(namespace=SPACE)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names, (*) and (n, d) to (*, d). With `max_norm`, the rows
    that are used are first shortened in place. The other arguments are about gradients.

    RuntimeError for indices that are no integers, IndexError for a row that is not there.
    """
    if isinstance(weight, Tensor) and weight.ndim == 1:
        return index_select(weight, 0, input.reshape(-1)).reshape(input._shape)
    check("embedding", input, weight)
    padding("embedding", padding_idx, weight._shape[0])
    if max_norm is not None:
        shorten(weight, input, max_norm, norm_type)
    rows = index_select(weight, 0, input.reshape(-1))
    return rows.reshape(*input._shape, weight._shape[1])


@op(namespace=SPACE)
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """int64 of shape (*, num_classes), 1 at each element's class; -1 stands for the largest + 1.
    RuntimeError for negative classes, those beyond `num_classes`, and other dtypes.
    """
    if input._dtype is not int64:
        raise errors_nn.class_dtype("one_hot", input._dtype)
    if not input.numel():
        if num_classes <= 0:
            raise errors_nn.no_classes()
        return zeros((*input._shape, num_classes), dtype=int64, device=input.device)
    memory.ask(input, input.numel() * max(num_classes, 1), int64)
    low, high = (int(x.item()) for x in input.aminmax())
    if low < 0:
        raise errors_nn.negative_class(low)
    if num_classes == -1:
        num_classes = high + 1
    elif num_classes < 1:
        raise errors_nn.not_positive("one_hot", "num_classes", num_classes)
    elif high >= num_classes:
        raise errors_nn.class_beyond(high, num_classes)
    classes = arange(num_classes, device=input.device)
    return (input.contiguous().unsqueeze(-1) == classes).to(int64)
