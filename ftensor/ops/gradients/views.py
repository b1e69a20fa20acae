"""Derivatives of views: the gradient of a part, in zeros of the whole's size."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ..._tensor import Tensor
from ...execute import output
from ...execute.dispatch import cache_copies, cached_result
from ...rows.catalogue import aten_op
from ..index.index import getitem
from ..types import conversion


def _in_zeros(key: Hashable, grad: Tensor, sizes: Sequence[int], part: Callable[[Tensor], Tensor]) -> Tensor:
    """Returns zeros with `grad` in the part that `part` selects. `key` names the part."""
    if (cached := cached_result(key, grad)) is not None:
        return cached
    result = output.new(tuple(sizes), grad._dtype, grad._storage.device)
    conversion.zero_(result)
    piece = part(result)
    conversion.copy_(piece, grad)
    cache_copies(key, (grad,), result, (piece,), zeros=True)
    return result


@aten_op()
def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Tensor:
    key = ("select_backward", *input_sizes, dim, index)
    return _in_zeros(key, grad_output, input_sizes, lambda whole: whole.select(dim, index))


@aten_op()
def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    key = ("slice_backward", *input_sizes, dim, start, end, step)
    before = (slice(None),) * (dim % len(input_sizes))
    return _in_zeros(key, grad_output, input_sizes, lambda whole: getitem(whole, (*before, slice(start, end, step))))
