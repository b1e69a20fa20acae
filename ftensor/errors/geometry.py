"""Messages about shapes, dims and strides."""

from __future__ import annotations

from collections.abc import Sequence


def shape_mismatch(shapes: Sequence[Sequence[int]], dim: int) -> RuntimeError:
    """Operands that don't broadcast; `dim` counts from the last dimension (negative)."""
    sizes = ", ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(
        f"The size of tensors must match at non-singleton dimension {dim}, "
        f"but the shapes are {sizes}; reshape or expand one of them"
    )


def dim_out_of_range(dim: int, ndim: int) -> IndexError | ValueError:
    """A dim that a tensor of `ndim` dims does not have; ValueError for no 64-bit integer."""
    span = ndim or 1
    kind = f"a tensor of {ndim} dims" if ndim else "a 0-d tensor"
    error = IndexError if -(2**63) <= dim < 2**63 else ValueError
    return error(f"dim {dim} is out of range for {kind}: it may be from {-span} to {span - 1}")


def repeated_dim(dim: int, dims: Sequence[int]) -> RuntimeError:
    """One dim named twice, perhaps once from the front and once from the end."""
    return RuntimeError(f"dim {dim} appears more than once in {tuple(dims)}; name each dim once")


def negative_size(size: int, shape: Sequence[int]) -> RuntimeError:
    """A size below zero that is not the -1 to be inferred."""
    return RuntimeError(
        f"size {size} in shape {tuple(shape)} is negative; only -1, for 'whatever fits', may be"
    )


def several_inferred(shape: Sequence[int]) -> RuntimeError:
    """More than one -1 in a shape."""
    return RuntimeError(f"shape {tuple(shape)} has more than one -1; only one size can be inferred")


def ambiguous_inferred(shape: Sequence[int]) -> RuntimeError:
    """A -1 beside a size of 0: any size would fit."""
    return RuntimeError(
        f"the -1 in shape {tuple(shape)} could be any size, because the tensor has no elements; "
        f"give the size"
    )


def shape_does_not_fit(shape: Sequence[int], count: int) -> RuntimeError:
    """A shape that can't hold exactly the tensor's elements."""
    return RuntimeError(f"shape {tuple(shape)} does not fit a tensor of {count} elements")


def output_shape(out_shape: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """A given output (in-place or out=) that is too small for the result."""
    return RuntimeError(
        f"the output has shape {tuple(out_shape)}, but the operands broadcast to {tuple(shape)}"
    )


def too_few_dims(op: str, need: int, ndim: int) -> RuntimeError:
    """A tensor with fewer dims than an op needs."""
    return RuntimeError(f"{op}(): the input must have at least {need} dims, but it has {ndim}")
