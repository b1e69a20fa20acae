"""Each element once: unique and unique_consecutive."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import order as errors_order
from ...iterator.shape import normalize_dim, numel
from ...rows.catalogue import op
from ..create.like import zeros_like
from ..create.ranges import arange
from ..create.sizes import full, zeros
from ..rearrange.cat import cat
from .arguments import changes, with_edge
from .sort import ordered, values


def _lexicographic(rows: Tensor) -> Tensor:
    """The places of rows of a matrix in order: by each column, the last one first."""
    order = arange(rows._shape[0], device=rows.device)
    for column in reversed(range(rows._shape[1])):
        order = order[ordered("unique", rows.select(1, column)[order], 0)[1]]
    return order


def _unique(name: str, input: Any, sorts: bool, return_inverse: bool, return_counts: bool, dim: Any) -> Any:
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(name, "input", input)
    if input._dtype.is_complex:
        raise errors.not_implemented_for(name, input._dtype)
    if dim is None:
        rows, shape = input.reshape(-1), input._shape
    else:
        dim = normalize_dim(dim, input.ndim)
        if not input.ndim:
            raise errors_order.unique_of_scalar(dim)
        rows = input.movedim(dim, 0)
        if not numel(rows._shape[1:]) or (0 in input._shape and input._shape.count(0) > 1):
            raise errors_order.unique_empty(input._shape, dim)
        shape = (rows._shape[0],)
    n = rows._shape[0]
    order = None
    flat = rows if dim is None else rows.reshape(n, numel(rows._shape[1:]))
    if sorts and n and dim is None and not return_inverse:
        rows = flat = values(name, flat, 0)
    elif sorts and n:
        order = ordered(name, flat, 0)[1] if flat.ndim == 1 else _lexicographic(flat)
        rows, flat = rows[order], flat[order]
    if n:
        differs = changes(flat, 0)
        first = with_edge(differs if flat.ndim == 1 else differs.any(1), 0, True)
    else:
        first = zeros(0, dtype=dtypes.bool, device=input.device)
    starts = first.nonzero().reshape(-1)
    distinct = rows[starts] if dim is None else rows.index_select(0, starts).movedim(0, dim)
    results = [distinct]
    if return_inverse:
        inverse = first.cumsum(0) - 1
        if order is not None:
            inverse = zeros_like(inverse).scatter_(0, order, inverse)
        results.append(inverse.reshape(shape))
    if return_counts:
        ends = full((1,), n, dtype=dtypes.int64, device=input.device)
        results.append(cat([starts, ends]).diff() if n else starts)
    return results[0] if len(results) == 1 else tuple(results)


@op(bare="uh")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Each element once, in order, or each slice along `dim`, in lexicographic order; where each
    element of the input is among them, and how often. NaN differs from NaN. RuntimeError for slices
    without elements, NotImplementedError for complex numbers.
    """
    return _unique("unique", input, True, return_inverse, return_counts, dim)


@op(bare="uh")
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The first of each run of equal elements, or of equal slices along `dim`; the run that each
    element of the input belongs to, and how long the runs are.
    """
    return _unique("unique_consecutive", input, False, return_inverse, return_counts, dim)
