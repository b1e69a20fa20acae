"""Where values belong among sorted ones."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import result_type
from ...errors import order as errors_order
from ...execute.sort import search
from ..compose import composed
from ..create.data import tensor


def _placed(name: str, row: Any, values: Any, out_int32: bool, right: bool, side: Any, sorter: Any) -> Tensor:
    if not isinstance(row, Tensor):
        raise errors.not_a_tensor(name, "sorted_sequence", row)
    if side is not None:
        if side not in ("left", "right") or (right and side == "left"):
            raise errors_order.search_side(side, right)
        right = side == "right"
    number = not isinstance(values, Tensor)
    if number:
        of = result_type(row, values)
        values = tensor(values, dtype=of, device=row.device)
        row = row.to(of)
    elif values._dtype is not row._dtype:
        raise errors_order.search_dtypes(row._dtype, values._dtype)
    if values.device != row.device:
        raise errors.different_devices(name, (row.device, values.device))
    if not row.ndim:
        raise errors_order.search_shapes(row._shape, values._shape)
    if row.ndim > 1 and row._shape[:-1] != values._shape[:-1]:
        raise errors_order.search_shapes(row._shape, values._shape)
    if row._dtype.is_complex or row._dtype is dtypes.bool:
        raise errors.not_implemented_for(name, row._dtype)
    if sorter is not None:
        if not isinstance(sorter, Tensor):
            raise errors.not_a_tensor(name, "sorter", sorter)
        if sorter._shape != row._shape or sorter._dtype is not dtypes.int64:
            raise errors_order.search_sorter(sorter._shape, sorter._dtype, row._shape)
        if sorter.numel():
            low, high = sorter.aminmax()
            if int(low) < 0 or int(high) >= row._shape[-1]:
                raise errors_order.sorter_range(row._shape[-1])
        sorter = sorter.contiguous()
    places = search(row.contiguous(), values.contiguous(), sorter, right)
    return places.to(dtypes.int32) if out_int32 else places


@composed(exact=True, method=False, bare="h")
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """How many elements of a sorted row are below each value, or, with `right` or `side="right"`,
    not above it: where it would keep the order. One row of one dim, or one for each outer index
    of the values; with `sorter`, rows are in order at the places that it holds. RuntimeError for
    shapes and dtypes that don't agree.
    """
    return _placed("searchsorted", sorted_sequence, input, out_int32, right, side, sorter)


@composed(exact=True, method=False, bare="h")
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """`searchsorted` in one row of boundaries."""
    if isinstance(boundaries, Tensor) and boundaries.ndim != 1:
        raise errors_order.boundaries(boundaries._shape)
    return _placed("bucketize", boundaries, input, out_int32, right, None, None)
