"""Messages about shapes, dims and strides."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message


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


repeated_dim = Message(RuntimeError, "dim {dim} appears more than once in {dims!t}; name each dim once")
negative_size = Message(
    RuntimeError, "size {size} in shape {shape!t} is negative; only -1, for 'whatever fits', may be"
)
several_inferred = Message(RuntimeError, "shape {shape!t} has more than one -1; only one size can be inferred")
ambiguous_inferred = Message(
    RuntimeError, "the -1 in shape {shape!t} could be any size, because the tensor has no elements; give the size"
)
shape_does_not_fit = Message(RuntimeError, "shape {shape!t} does not fit a tensor of {count} elements")
output_shape = Message(RuntimeError, "the output has shape {out_shape!t}, but the operands broadcast to {shape!t}")
too_few_dims = Message(RuntimeError, "{op}(): the input must have at least {need} dims, but it has {ndim}")
