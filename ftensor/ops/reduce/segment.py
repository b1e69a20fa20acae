"""Reductions of segments of a dim: `segment_reduce`."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import view as errors_index
from ...execute.segments import fits_one_launch, reduce_segments
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..arguments import check_kind, check_tensors
from ..create.ranges import arange
from ..order.sort import searchsorted
from ..rearrange.cat import cat

# scatter_reduce's names of the reductions, and the initial value of each.
_BEGIN = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "prod": ("prod", 1.0),
    "max": ("amax", -math.inf),
    "amax": ("amax", -math.inf),
    "min": ("amin", math.inf),
    "amin": ("amin", math.inf),
}


@op(method=False)
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Returns the "sum", "mean", "prod", "max" or "min" of each segment of a dim. Segments follow
    one another. `lengths` holds their lengths, with the shape of the dims before `axis` and one
    last dim; `offsets` instead holds each start and the last end. An empty segment gives `initial`,
    or else the identity of the reduction (NaN for the mean). Raises RuntimeError unless the lengths
    sum up to the dim; `unsafe` skips that check."""
    name = "segment_reduce"
    check_tensors(name, data=data)
    if reduce not in _BEGIN:
        raise errors_index.scatter_reduce_name(reduce, tuple(_BEGIN))
    if indices is not None or (lengths is None and offsets is None):
        raise errors_index.segments("`lengths` or `offsets` must be given, `indices` must not")
    check_kind(name, data._dtype, "f")
    axis = normalize_dim(axis, data.ndim)
    segment_ends = _offsets(data, axis, lengths, offsets, unsafe)
    combine, begin = _BEGIN[reduce]
    count, size = segment_ends._shape[-1] - 1, data._shape[axis]
    first = begin if initial is None else float(initial)
    if count > 0 and fits_one_launch(data, segment_ends):
        empty = math.nan if reduce == "mean" and initial is None else first
        return reduce_segments(data, segment_ends, axis, combine, reduce == "mean", first, empty)
    position = arange(size, device=data.device).expand((*data._shape[:axis], size)).contiguous()
    # An additional segment collects elements outside all segments.
    segment_index = searchsorted(segment_ends.narrow(-1, 1, count).contiguous(), position, right=True)
    segment_index = segment_index.masked_fill(position < segment_ends.narrow(-1, 0, 1), count)
    segment_index = segment_index.reshape((*segment_index._shape, *[1] * (data.ndim - axis - 1))).expand(data._shape)
    shape = (*data._shape[:axis], count + 1, *data._shape[axis + 1 :])
    computed = data.to(data._dtype.compute)
    result = computed.new_full(shape, first)
    result = result.scatter_reduce_(axis, segment_index, computed, combine).narrow(axis, 0, count)
    if reduce == "mean":
        long = segment_ends.diff(dim=-1)
        long = long.reshape((*long._shape, *[1] * (data.ndim - axis - 1)))
        result = result / long.clamp(min=1)
        if initial is None:
            result = result.masked_fill_(long == 0, math.nan)
    return result.to(data._dtype).contiguous()


def _offsets(data: Tensor, axis: int, lengths: Tensor | None, offsets: Tensor | None, unsafe: bool) -> Tensor:
    """Returns the starts of the segments and the last end, as int64."""
    segments = lengths if offsets is None else offsets
    word = "lengths" if offsets is None else "offsets"
    check_tensors("segment_reduce", **{word: segments})
    assert segments is not None
    if segments._dtype not in (dtypes.int32, dtypes.int64):
        raise errors.not_implemented_for("segment_reduce", segments._dtype)
    if segments.ndim != axis + 1 or segments._shape[:-1] != data._shape[:axis]:
        raise errors_index.segments(
            f"`{word}` must have the shape {list(data._shape[:axis])} and one dim more, not {list(segments._shape)}"
        )
    segments = segments.to(dtypes.int64)
    if offsets is not None:
        return segments
    if not unsafe and segments.numel():
        shortest, sums = int(segments.min()), segments.sum(-1)
        if shortest < 0:
            raise errors_index.segments(f"a length must not be negative, but is {shortest}")
        if not bool((sums == data._shape[axis]).all()):
            raise errors_index.segments(f"lengths must make up the dim's {data._shape[axis]}")
    nothing = segments.new_zeros((*segments._shape[:-1], 1))
    return cat([nothing, segments.cumsum(-1)], -1)
