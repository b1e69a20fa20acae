"""Shapes and strides: element counts, broadcasting, memory layouts, views, and fresh results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod

from .. import errors

Ints = tuple[int, ...]
COUNTED = 2**31 - 1  # limits of the element count and of the largest offset for 32-bit indices


# The number of elements of a shape; 1 for the shape of a 0-d tensor.
numel: Callable[[Iterable[int]], int] = prod


def broadcast_shapes(*shapes: Ints) -> Ints:
    """Returns the shape that all `shapes` broadcast to, aligned at the last dimension.

    Raises RuntimeError if there is none. A dimension of size 1 stretches to any other size, 0
    included.
    """
    if not shapes:
        return ()
    result = shapes[0]
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_two(result, shape, shapes)
    return result


def _broadcast_two(a: Ints, b: Ints, everyone: Sequence[Ints]) -> Ints:
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    sizes = list(a)
    for i, size_b in enumerate(b, lead):
        size = sizes[i]
        if size == 1:
            sizes[i] = size_b
        elif size_b != 1 and size_b != size:
            raise errors.shape_mismatch(everyone, i - len(a))
    return tuple(sizes)


def normalize_dim(dim: int, ndim: int) -> int:
    """Returns `dim` counted from the front; raises IndexError outside [-ndim, ndim - 1].

    A 0-d tensor accepts 0 and -1, as if it had one dimension.
    """
    span = ndim or 1
    if not -span <= dim < span:
        raise errors.dim_out_of_range(dim, ndim)
    return dim + span if dim < 0 else dim


def normalize_dims(dims: int | Sequence[int] | None, ndim: int) -> Ints:
    """Returns `dims` counted from the front, in the order given; None means all dims.

    An empty sequence stays empty: some ops read it as all dims, others as none. Raises IndexError
    for a dim out of range and RuntimeError for a repeated dim.
    """
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, int):
        return (normalize_dim(dims, ndim),)
    normalized = tuple([normalize_dim(dim, ndim) for dim in dims])
    for i, dim in enumerate(normalized):
        if dim in normalized[:i]:
            raise errors.repeated_dim(dim, dims)
    return normalized


def infer_shape(shape: Sequence[int], count: int) -> Ints:
    """Returns `shape` with its one -1, if any, replaced so that it holds `count` elements.

    Raises RuntimeError for two -1, for a size below -1, for sizes that do not multiply to `count`,
    and for a -1 next to a size of 0, which any size satisfies.
    """
    known_count, unknown = 1, -1
    for i, size in enumerate(shape):
        if size >= 0:
            known_count *= size
        elif size != -1:
            raise errors.negative_size(size, shape)
        elif unknown >= 0:
            raise errors.several_inferred(shape)
        else:
            unknown = i
    if unknown < 0:
        if known_count != count:
            raise errors.shape_does_not_fit(shape, count)
        return tuple(shape)
    if known_count == 0 and count == 0:
        raise errors.ambiguous_inferred(shape)
    if known_count == 0 or count % known_count:
        raise errors.shape_does_not_fit(shape, count)
    return (*shape[:unknown], count // known_count, *shape[unknown + 1 :])


# Dims from the innermost outwards when the channel (dim 1) is innermost in memory.
_CHANNELS_LAST = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}

Region = tuple[int, Ints, Ints, int]
"""A tensor in memory: (byte address of the first element, shape, strides, itemsize)."""


def contiguous_strides(shape: Ints) -> Ints:
    """Returns the strides of a fresh row-major tensor; a size of 0 counts as 1, as in torch."""
    strides = [1] * len(shape)
    step = 1
    for i in range(len(shape) - 1, -1, -1):
        strides[i] = step
        if shape[i] > 1:
            step *= shape[i]
    return tuple(strides)


def channels_last_strides(shape: Ints) -> Ints:
    """Returns the strides of a fresh NHWC (4-d) or NDHWC (5-d) tensor of an NCHW or NCDHW shape."""
    assert len(shape) in _CHANNELS_LAST, shape
    strides = [0] * len(shape)
    step = 1
    for dim in _CHANNELS_LAST[len(shape)]:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def is_contiguous(shape: Ints, strides: Ints) -> bool:
    """True if the elements are row-major without gaps; always True for empty tensors."""
    expected = 1
    for i in range(len(shape) - 1, -1, -1):
        size = shape[i]
        if size != 1:
            if strides[i] != expected:
                return 0 in shape
            expected *= size
    return True


def is_channels_last(shape: Ints, strides: Ints) -> bool:
    """True if a 4-d or 5-d tensor is channels-last without gaps; False for other ranks."""
    expected = 1
    for dim in _CHANNELS_LAST.get(len(shape), ()):
        size = shape[dim]
        if size != 1:
            if strides[dim] != expected:
                return False
            expected *= size
    return len(shape) in _CHANNELS_LAST


def channels_closest(shape: Ints, strides: Ints) -> bool:
    """True if a result takes the channels-last layout from a 4-d or 5-d tensor (torch's rule).

    In channels-last order, each stride must be at least stride times size of the dim inside it.
    Strides of dims of size 1 count, too; strides that fit both orders count as row-major.
    """
    order = _CHANNELS_LAST.get(len(shape), ())
    if not order or not strides[1]:
        return False
    covered = 0
    for dim in order:
        if not shape[dim] or strides[dim] < covered or (not dim and covered == strides[1]):
            return False
        covered = strides[dim] * shape[dim]
    return True


def is_dense(shape: Ints, strides: Ints) -> bool:
    """True if the elements fill one block of memory, each address once, in any order of dims."""
    if is_contiguous(shape, strides):
        return True
    expected = 1
    for stride, size in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def broadcast_strides(shape: Ints, strides: Ints, to_shape: Ints) -> Ints:
    """Returns strides that read a tensor as `to_shape`: stretched and new dims get stride 0."""
    if shape == to_shape:
        return strides
    lead = len(to_shape) - len(shape)
    assert lead >= 0, (shape, to_shape)
    aligned = zip(shape, strides, to_shape[lead:], strict=True)
    return (0,) * lead + tuple(0 if n == 1 and to != 1 else s for n, s, to in aligned)


def view_strides(shape: Ints, strides: Ints, new_shape: Ints) -> Ints | None:
    """Returns strides with which `new_shape` accesses the same elements in the same order; None if
    no strides do.

    Both shapes have the same number of elements. Adjacent dims that are contiguous in memory form a
    block; no new dim may cross the border between two blocks.
    """
    if 0 in shape:
        return strides if shape == new_shape else contiguous_strides(new_shape)
    result = [1] * len(new_shape)
    at = len(new_shape) - 1  # the next new dim to place
    end = len(shape)  # the next block to divide ends before this dim
    while end:
        start, step, count = end - 1, strides[end - 1], shape[end - 1]
        while start and (shape[start - 1] == 1 or strides[start - 1] == count * step):
            start -= 1
            count *= shape[start]
        placed = 1
        while at >= 0 and (placed < count or new_shape[at] == 1):
            result[at] = placed * step
            placed *= new_shape[at]
            at -= 1
        if placed != count:
            return None
        end = start
    assert not shape or at < 0, (shape, new_shape)
    return tuple(result)


def extent(shape: Ints, strides: Ints) -> tuple[int, int]:
    """Returns the lowest and the highest offset of any index; (0, -1) if there are no elements."""
    low = high = 0
    for size, stride in zip(shape, strides, strict=True):
        if size == 0:
            return 0, -1
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high


def has_internal_overlap(shape: Ints, strides: Ints) -> bool:
    """True if several indices certainly share an address, as in an expanded tensor (torch's rule).

    Returns False for layouts that need a slow check (`as_strided` with crossing strides).
    """
    if 0 not in strides or is_dense(shape, strides):
        return False
    return any(s == 0 and n > 1 for n, s in zip(shape, strides, strict=True))


def partial_overlap(a: Region, b: Region) -> bool:
    """True if writing `a` while reading `b` is certainly unsafe (torch's rule).

    Both regions are in the same storage. An identical region with identical strides is safe: the
    kernel reads each element before it writes the element. Regions with gaps count as safe.
    """
    return _shares_memory(a, b) and not (a[0] == b[0] and _nbytes(a) == _nbytes(b) and a[2] == b[2])


def full_overlap(a: Region, b: Region) -> bool:
    """True if both regions are the same elements in the same order."""
    same_region = a[0] == b[0] and _nbytes(a) == _nbytes(b) and a[2] == b[2]
    return same_region and _shares_memory(a, b)


def _nbytes(region: Region) -> int:
    return numel(region[1]) * region[3]


def _shares_memory(a: Region, b: Region) -> bool:
    """True if the regions intersect and neither has gaps."""
    na, nb = _nbytes(a), _nbytes(b)
    if not (na and nb and a[0] < b[0] + nb and b[0] < a[0] + na):
        return False
    return is_dense(a[1], a[2]) and is_dense(b[1], b[2])
