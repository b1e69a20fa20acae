"""Shapes: counting elements, broadcasting, and reading a user's dims and sizes.

Sizes and dims are plain ints; a shape is a tuple of them, outermost dimension first.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import errors

Ints = tuple[int, ...]
COUNTED = 2**31 - 1  # elements that a kernel counts, and reaches, in 32 bits


def numel(shape: Sequence[int]) -> int:
    """The number of elements of a shape; 1 for the shape of a 0-d tensor."""
    count = 1
    for size in shape:
        count *= size
    return count


def broadcast_shapes(*shapes: Ints) -> Ints:
    """The shape that all `shapes` broadcast to, aligned at the last dimension.

    RuntimeError when there is none. A dimension of size 1 stretches to any other size, 0 included.
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
    for i, other in enumerate(b, lead):
        size = sizes[i]
        if size == 1:
            sizes[i] = other
        elif other != 1 and other != size:
            raise errors.shape_mismatch(everyone, i - len(a))
    return tuple(sizes)


def normalize_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError outside [-ndim, ndim - 1].

    A 0-d tensor accepts 0 and -1, as if it had one dimension.
    """
    span = ndim or 1
    if not -span <= dim < span:
        raise errors.dim_out_of_range(dim, ndim)
    return dim + span if dim < 0 else dim


def normalize_dims(dims: int | Sequence[int] | None, ndim: int) -> Ints:
    """Several dims counted from the front, in the order given; None means all of them.

    An empty sequence stays empty: whether it means "all" or "none" differs from op to op.
    IndexError when one is out of range, RuntimeError when one is named twice.
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
    """`shape` with its one -1, if any, replaced so that it holds `count` elements.

    RuntimeError when that can't be: two -1, a size below -1, sizes that don't multiply to
    `count`, or a -1 beside a size of 0, which any number would satisfy.
    """
    known, unknown = 1, -1
    for i, size in enumerate(shape):
        if size >= 0:
            known *= size
        elif size != -1:
            raise errors.negative_size(size, shape)
        elif unknown >= 0:
            raise errors.several_inferred(shape)
        else:
            unknown = i
    if unknown < 0:
        if known != count:
            raise errors.shape_does_not_fit(shape, count)
        return tuple(shape)
    if known == 0 and count == 0:
        raise errors.ambiguous_inferred(shape)
    if known == 0 or count % known:
        raise errors.shape_does_not_fit(shape, count)
    return (*shape[:unknown], count // known, *shape[unknown + 1 :])
