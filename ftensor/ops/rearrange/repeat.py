"""Elements several times: repeat, tile, repeat_interleave."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import shape as errors_shape
from ...execute import memory
from ...execute.indexed import host_tensor
from ...iterator.shape import Ints, normalize_dim
from ...ops.types import copy
from ...rows.catalogue import op
from ..index.gather import check_tensors, index_select
from ..view.arguments import as_int, ints


@op(function=False)
def repeat(input: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """A copy that holds the tensor so many times along each dim.

    More counts than dims stand for new dims in front.
    """
    argument = named.pop("repeats", None)
    if named or (argument is None and not repeats):
        raise errors.missing_argument("repeat", "repeats")
    if argument is None:
        argument = repeats[0] if len(repeats) == 1 else repeats
    counts = ints(argument, (), "repeat", "repeats")
    if len(counts) < input.ndim:
        raise errors_shape.repeat_dims(counts, input._shape)
    return _repeated(input, counts)


def _repeated(input: Tensor, counts: Ints) -> Tensor:
    lead = len(counts) - input.ndim
    sizes = (1,) * lead + input._shape
    strides = (0,) * lead + input._strides
    shape = tuple([n * c for n, c in zip(sizes, counts)])
    if any(n < 0 for n in counts):
        raise errors.negative_size(min(shape), shape)
    result = memory.new(shape, input._dtype, input._storage.device)
    if result.numel():
        # Each dim as two: which of the copies, and where in it.
        pairs = tuple([n for pair in zip(counts, sizes) for n in pair])
        steps = [(n * s, s) for n, s in zip(sizes, result._strides)]
        target = result._view(pairs, tuple([s for pair in steps for s in pair]), 0)
        source = input._view(pairs, tuple([s for x in strides for s in (0, x)]), input._offset)
        copy.copy_(target, source)
    return result


@op()
def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """As `repeat`; fewer counts than dims are for the last ones."""
    check_tensors("tile", input=input)
    argument = named.pop("dims", None)
    if named or (argument is None and not dims):
        raise errors.missing_argument("tile", "dims")
    if argument is None:
        argument = dims[0] if len(dims) == 1 else dims
    counts = ints(argument, (), "tile", "dims")
    return _repeated(input, (1,) * max(0, input.ndim - len(counts)) + counts)


@op()
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each entry of a dim so many times, one after the other: as often as `repeats` says for all,
    or for each (a 1-d integer tensor, for which the call waits). Without `dim` the input is
    flattened. `repeat_interleave(repeats)` gives the indices that this would take.
    """
    name = "repeat_interleave"
    check_tensors(name, input=input)
    if repeats is None:
        if input.ndim != 1:
            raise errors_shape.repeats_ndim(input.ndim)
        return host_tensor(_listed(input, output_size), input).to(input._dtype)
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = normalize_dim(dim, input.ndim)
    if not input._shape:
        if not isinstance(repeats, Tensor):
            raise errors.dim_out_of_range(dim + 1, 0)  # as torch has it
        input = input.reshape(1)
    size = input._shape[dim]
    if isinstance(repeats, Tensor):
        if repeats.ndim > 1:
            raise errors_shape.repeats_ndim(repeats.ndim)
        if repeats.numel() != 1:
            if repeats._shape[0] != size:
                raise errors_shape.repeats_count(repeats.numel(), size)
        else:
            repeats = repeats.reshape(1).expand(size)
        index = host_tensor(_listed(repeats, output_size), input)
        return index_select(input, dim, index)
    count = as_int(repeats, name, "repeats")
    if count < 0:
        raise errors_shape.negative_repeats()
    if output_size is not None and output_size != count * size:
        raise errors_shape.repeated_size(output_size, count * size)
    sizes = (*input._shape[: dim + 1], count, *input._shape[dim + 1 :])
    strides = (*input._strides[: dim + 1], 0, *input._strides[dim + 1 :])
    shape = (*input._shape[:dim], size * count, *input._shape[dim + 1 :])
    result = memory.new(shape, input._dtype, input._storage.device)
    if result.numel():
        step = result._strides[dim]
        target = (*result._strides[:dim], count * step, step, *result._strides[dim + 1 :])
        source = input._view(sizes, strides, input._offset)
        copy.copy_(result._view(sizes, target, 0), source)
    return result


def _listed(repeats: Tensor, output_size: int | None) -> np.ndarray[Any, Any]:
    """Each position as often as `repeats` says."""
    if repeats._dtype not in (dtypes.int64, dtypes.int32):
        raise errors.not_implemented_for("repeat_interleave", repeats._dtype)
    pool = repeats._storage.backend.pool
    pool.ask(8 * repeats.numel())
    counts = repeats._host()
    if (counts < 0).any():
        raise errors_shape.negative_repeats()
    total = int(counts.sum())
    if output_size is not None and output_size != total:
        raise errors_shape.repeated_size(output_size, total)
    pool.ask(8 * total)
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts)
