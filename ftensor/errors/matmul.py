"""Messages of the matrix products; see `errors`."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "0-d"


def needs_ndim(op: str, name: str, ndim: int, shape: Sequence[int]) -> RuntimeError:
    """An operand with a number of dims that the op doesn't take."""
    kind = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[ndim]
    return RuntimeError(f"{op}(): {name} must be {kind} ({ndim}-d), but has shape {tuple(shape)}")


def no_dims(op: str, shapes: Sequence[Sequence[int]]) -> RuntimeError:
    """A 0-d operand."""
    listed = " and ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(f"{op}(): both operands need at least 1 dim, but have shapes {listed}")


def shapes_differ(op: str, first: Sequence[int], second: Sequence[int]) -> RuntimeError:
    """Operands whose contracted dims, or batches, have different sizes."""
    return RuntimeError(
        f"{op}(): shapes {_shape(first)} and {_shape(second)} cannot be multiplied: the last dim "
        "of the first and the contracted dim of the second must have the same size, and batches too"
    )


added_shape = Message(
    RuntimeError, "{op}(): input of shape {shape!t} cannot be expanded to the product's shape {wanted!t}"
)
inner_sizes = Message(
    RuntimeError, "inner(): the last dims must have the same size, but the shapes are {first!t} and {second!t}"
)
tensordot_dims = Message(RuntimeError, "tensordot(): dims={dims}: {reason}")
tensordot_sizes = Message(
    RuntimeError,
    "tensordot(): contracted dims must match, but dim {dim0} of the first has size {size0} and "
    "dim {dim1} of the second has size {size1}",
)
too_few = Message(RuntimeError, "{op}(): expected at least {need} tensors, but got {count}")
chain_ndim = Message(
    RuntimeError,
    "{op}(): tensor {index} must be a matrix (the first and the last may be vectors), but has shape {shape!t}",
)
not_square = Message(RuntimeError, "{op}(): needs square matrices, but the shape is {shape!t}")
einsum = Message(RuntimeError, "einsum(): {reason}")
einsum_arguments = Message(
    ValueError,
    "einsum(): give the equation and at least one operand, or operands each followed by its list of subscripts",
)
small_integers = Message(
    RuntimeError,
    "{op}(): expected int8 or uint8, and int8, but got {first} and {second}: convert with .to(ftensor.int8)",
)
integer_out = Message(
    RuntimeError,
    "{op}(): out must be ftensor.int32 of shape {wanted!t}, not {dtype} of {shape!t}",
    "op dtype shape wanted",
)
