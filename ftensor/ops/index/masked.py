"""Ops with masks, and `nonzero`."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import view as errors_index
from ...execute import output
from ...execute.indexed import Index, IndexedOperand, locate, record_bounds
from ...execute.output import check_dtype, check_written
from ...execute.pointwise import pointwise, write_result
from ...execute.scan import SHIFTED, positions
from ...iterator.shape import broadcast_shapes, broadcast_strides, contiguous_strides, numel
from ...rows.catalogue import enter, op
from ...rows.copies import COPY
from ...rows.op import Op
from ..arguments import check_tensors
from ..types import conversion
from .index import getitem, nonzero_tuple

MERGE = Op(
    "merge",
    "input, mask, value",
    "b ? c : a",
    bool_="b ? c : a",
    complex_="ftb_cwhere(b, c, a)",
    masks=(1,),
    any_out=True,
    bare="h",
)
enter(__name__, MERGE, SHIFTED)


@op(forms=("nonzero(input, *, out=None) -> Tensor", "nonzero(input, *, as_tuple=True) -> tuple[Tensor, ...]"), bare="h")
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Returns the indices of the nonzero elements: int64, one row for each element, in order.
    `as_tuple` returns one tensor for each dim instead. Waits for the input."""
    if as_tuple:
        return nonzero_tuple(_truth(input if input._shape else input.reshape(1)))
    return write_result("nonzero", out, _rows(input))


def _truth(input: Tensor) -> Tensor:
    return input if input._dtype is dtypes.bool else input.to(dtypes.bool)


def _rows(input: Tensor) -> Tensor:
    """Returns the coordinates (count, dims) of the nonzero elements. In memory each dim is
    contiguous."""
    if not input._shape:
        return output.new((int(bool(input.item())), 0), dtypes.int64, input._storage.device)
    columns = nonzero_tuple(_truth(input))
    count = columns[0]._shape[0]
    shape = (count, len(columns))
    strides = (1, max(count, 1)) if len(columns) > 1 else contiguous_strides(shape)
    rows = output.new(shape, dtypes.int64, input._storage.device, strides)
    for d, column in enumerate(columns):
        conversion.copy_(rows._view((count,), (strides[0],), d * strides[1]), column)
    return record_bounds(rows, 0, max(input._shape) - 1)


@op(bare="h")
def argwhere(input: Tensor) -> Tensor:
    """Like `nonzero`: one row for each nonzero element."""
    return _rows(input)


@op()
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """Like `nonzero`, with exactly `size` rows: the first ones found, then rows of `fill_value`."""
    if size < 0:
        raise errors_index.static_size(size)
    rows = _rows(input)
    result = output.new((size, input.ndim), dtypes.int64, input._storage.device)
    conversion.fill_(result, fill_value)
    n = min(size, rows._shape[0])
    conversion.copy_(
        result._view((n, input.ndim), result._strides, 0), rows._view((n, input.ndim), rows._strides, rows._offset)
    )
    return write_result("nonzero_static", out, result)


def _mask(input: Any, mask: Any, name: str) -> Tensor:
    check_tensors(name, input=input, mask=mask)
    if mask._dtype is not dtypes.bool:
        raise errors_index.mask_dtype(name, mask._dtype)
    return mask


def _fill_value(input: Tensor, value: Any, name: str) -> Tensor:
    """Returns the value to fill with as a 0-d tensor of the filled tensor's dtype."""
    if isinstance(value, Tensor):
        if value._shape:
            raise errors_index.fill_dims(name, value._shape)
        if value._dtype is input._dtype:
            return value.to(input._storage.device)
        value = value.item()  # torch refuses values that the dtype can't hold
    return conversion.number_like(name, input, value)


@op(function=False, bare="h")
def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Writes a number where the (broadcast) mask is True."""
    mask = _mask(input, mask, "masked_fill_")
    number = _fill_value(input, value, "masked_fill_")
    return pointwise(MERGE, (input, mask, number), (), input, True)


@op(bare="h")
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Returns `value` where the mask is True, else the input."""
    mask = _mask(input, mask, "masked_fill")
    number = _fill_value(input, value, "masked_fill")
    shape = broadcast_shapes(input._shape, mask._shape)
    result = output.new_like(input, shape)
    return pointwise(MERGE, (input, mask, number), (), result, True)


def _broadcast(t: Tensor, *others: Tensor) -> Tensor:
    shape = broadcast_shapes(t._shape, *[x._shape for x in others])
    return t._view(shape, broadcast_strides(t._shape, t._strides, shape), t._offset)


@op()
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements where the mask is True, 1-d.

    Input and mask broadcast together. Waits for the mask.
    """
    mask = _mask(input, mask, "masked_select")
    if out is not None:
        check_dtype("masked_select", out, input._dtype)
    mask, source = _broadcast(mask, input), _broadcast(input, mask)
    if not mask._shape:
        mask, source = mask.reshape(1), source.reshape(1)
    selected = getitem(source, mask)
    if out is not None:
        check_written("masked_select", out, (input, mask))
    return write_result("masked_select", out, selected)


@op(function=False, bare="")
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Writes the elements of `source`, in order, where the (broadcast) mask is True. Waits for the
    mask."""
    name = "masked_scatter_"
    mask = _mask(input, mask, name)
    check_tensors(name, source=source)
    if source._dtype is not input._dtype:
        raise errors_index.same_dtypes(name, input._dtype, source._dtype)
    if broadcast_shapes(input._shape, mask._shape) != input._shape:
        raise errors.output_shape(input._shape, broadcast_shapes(input._shape, mask._shape))
    check_written(name, input, (mask, source))
    flat = source.reshape(-1)
    if not input.is_contiguous():
        contiguous = input.contiguous()
        return conversion.copy_(input, masked_scatter_(contiguous, mask, source))
    target_positions = positions(_broadcast(mask, input))
    count = target_positions._shape[0]
    if count > flat._shape[0]:
        raise errors_index.too_few_to_scatter(flat._shape[0], count)
    index = Index(target_positions, (1,), numel(input._shape), 1, 0, checked=True)
    from_source = IndexedOperand(flat, (flat._strides[0],))
    locate(COPY, (count,), IndexedOperand(input, (0,), True), [from_source], [index])
    return input


@op(bare="")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Returns a copy of the input after `masked_scatter_`."""
    mask = _mask(input, mask, "masked_scatter")
    expanded = _broadcast(input, mask)
    result = conversion.clone(expanded, memory_format=output.contiguous_format)
    return masked_scatter_(result, mask, source)
