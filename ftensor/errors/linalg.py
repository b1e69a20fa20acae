"""Messages about vectors, matrices and their products."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message, names_called_op


class LinAlgError(RuntimeError):
    """Matrices have no such factors or inverse: they are singular or not positive definite."""


needs_matrices = Message(RuntimeError, "{op}(): {name} needs at least 2 dims, but has shape {shape!t}")
not_square = Message(RuntimeError, "{op}(): {name} needs square matrices, but has shape {shape!t}")
dtype = Message(
    RuntimeError,
    "{op}(): {name} must be float32, float64, complex64 or complex128, not {dtype}; convert with .to(dtype)",
)


@names_called_op
def dtypes_differ(op: str, *dtypes: object) -> RuntimeError:
    """Error for operands of different dtypes."""
    return RuntimeError(f"{op}(): all operands need one dtype, not {', '.join(map(str, dtypes))}")


shapes = Message(RuntimeError, "{op}(): shapes {first!t} and {second!t} don't fit: {why}")
value = Message(RuntimeError, "{op}(): {name} must be {allowed}, but is {value!r}", "op name value allowed")
number = Message(ValueError, "{op}(): {name} must be {allowed}, but is {value}", "op name value allowed")
order = Message(
    RuntimeError, "{op}(): ord={ord!r} is no norm of matrices; there are 'fro', 'nuc', inf, -inf, 1, -1, 2 and -2"
)
two_dims = Message(RuntimeError, "{op}(): dim must be two different dims, but is {dims}")
empty = Message(RuntimeError, "{op}(): this norm has no value for matrices of shape {shape!t}")
not_finite = Message(RuntimeError, "{op}(): input holds infinities or NaN, of which there are no eigenvalues")
no_convergence = Message(LinAlgError, "{op}(): the iteration did not converge; the input may hold infinities or NaN")


def _batch_prefix(op: str, index: int | None) -> str:
    return f"{op}(): " if index is None else f"{op}(): (batch element {index}): "


@names_called_op
def singular(op: str, index: int | None, pivot: int) -> LinAlgError:
    """Error for a singular matrix: a pivot of its LU factors is 0."""
    return LinAlgError(f"{_batch_prefix(op, index)}the matrix is singular: element {pivot} of U's diagonal is 0")


@names_called_op
def not_positive(op: str, index: int | None, order: int) -> LinAlgError:
    """Error for a leading minor that is not positive."""
    return LinAlgError(
        f"{_batch_prefix(op, index)}the matrix is not positive definite: nor is its leading minor of order {order}"
    )


same_dims = Message(RuntimeError, "{op}(): both inputs must have the same number of dims, not {first!t} and {second!t}")


@names_called_op
def three(op: str, dim: int, *sizes: int) -> RuntimeError:
    """Error for vectors that don't have three components."""
    return RuntimeError(f"{op}(): dim {dim} must have size 3 in both, but has {sizes[0]}, {sizes[1]}")


no_three = Message(RuntimeError, "cross(): no dim of {shape!t} has size 3; name it by dim")
columns = Message(RuntimeError, "vander(): N must be at least 2 (0 for torch's older form), but is {n}")
one_dim = Message(RuntimeError, "{op}(): a 1-d tensor is needed, not one of shape {shape!t}")
at_most_two = Message(RuntimeError, "{op}(): input has at most 2 dims, not shape {shape!t}")
no_bool = Message(RuntimeError, "{op}(): bool tensors are not supported; convert with .to(dtype)")
weights = Message(RuntimeError, "cov(): {name} needs shape ({needed},), not {shape!t}")


@names_called_op
def weights_dtype(name: str, dtype: object, integers: bool) -> RuntimeError:
    """Error for weights that are not integers (`integers`) or not floating-point numbers."""
    kind = "integers" if integers else "floating-point numbers"
    return RuntimeError(f"cov(): {name} must be {kind}, not {dtype}")


negative_weights = Message(RuntimeError, "cov(): {name} must not be negative")
positive = Message(RuntimeError, "{op}(): {name} must be positive, but is {value}")
not_negative = Message(RuntimeError, "{op}(): {name} must not be negative, but is {value}")
needs_two_dims = Message(RuntimeError, "{op}(): input needs at least 2 dims, not shape {shape!t}")


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "0-d"


@names_called_op
def needs_ndim(op: str, name: str, ndim: int, shape: Sequence[int]) -> RuntimeError:
    """Error for an operand with a wrong number of dims."""
    kind = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[ndim]
    return RuntimeError(f"{op}(): {name} must be {kind} ({ndim}-d), but has shape {tuple(shape)}")


@names_called_op
def no_dims(op: str, shapes: Sequence[Sequence[int]]) -> RuntimeError:
    """Error for a 0-d operand."""
    shape_list = " and ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(f"{op}(): both operands need at least 1 dim, but have shapes {shape_list}")


@names_called_op
def shapes_differ(op: str, first: Sequence[int], second: Sequence[int]) -> RuntimeError:
    """Error for operands whose contracted dims, or batches, have different sizes."""
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
not_square_matrix = Message(RuntimeError, "{op}(): needs square matrices, but the shape is {shape!t}")
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
