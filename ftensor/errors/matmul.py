"""Messages of the matrix products; see `errors`."""

from __future__ import annotations

from collections.abc import Sequence


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "0-d"


def needs_ndim(op: str, name: str, ndim: int, shape: Sequence[int]) -> RuntimeError:
    """An operand with a number of dims that the op doesn't take."""
    kind = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[ndim]
    return RuntimeError(f"{op}(): {name} must be {kind} ({ndim}-d), but has shape {tuple(shape)}")


def no_dims(op: str, shapes: Sequence[Sequence[int]]) -> RuntimeError:
    """A 0-d operand."""
    given = " and ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(f"{op}(): both operands need at least 1 dim, but have shapes {given}")


def shapes_differ(op: str, first: Sequence[int], second: Sequence[int]) -> RuntimeError:
    """Operands whose contracted dims, or batches, have different sizes."""
    return RuntimeError(
        f"{op}(): shapes {_shape(first)} and {_shape(second)} cannot be multiplied: the last dim "
        "of the first and the contracted dim of the second must have the same size, and batches too"
    )


def added_shape(op: str, given: Sequence[int], wanted: Sequence[int]) -> RuntimeError:
    """A summand that doesn't expand to the product's shape."""
    return RuntimeError(
        f"{op}(): input of shape {tuple(given)} cannot be expanded to the product's shape "
        f"{tuple(wanted)}"
    )


def inner_sizes(first: Sequence[int], second: Sequence[int]) -> RuntimeError:
    """Last dims of different sizes."""
    return RuntimeError(
        f"inner(): the last dims must have the same size, but the shapes are {tuple(first)} and "
        f"{tuple(second)}"
    )


def tensordot_dims(dims: object, reason: str) -> RuntimeError:
    """`dims` that tensordot cannot contract."""
    return RuntimeError(f"tensordot(): dims={dims}: {reason}")


def tensordot_sizes(dim0: int, size0: int, dim1: int, size1: int) -> RuntimeError:
    """Contracted dims of different sizes."""
    return RuntimeError(
        f"tensordot(): contracted dims must match, but dim {dim0} of the first has size {size0} "
        f"and dim {dim1} of the second has size {size1}"
    )


def too_few(op: str, need: int, given: int) -> RuntimeError:
    """Too few matrices."""
    return RuntimeError(f"{op}(): expected at least {need} tensors, but got {given}")


def chain_ndim(op: str, index: int, shape: Sequence[int]) -> RuntimeError:
    """A tensor in the middle of a chain that is no matrix."""
    return RuntimeError(
        f"{op}(): tensor {index} must be a matrix (the first and the last may be vectors), "
        f"but has shape {tuple(shape)}"
    )


def not_square(op: str, shape: Sequence[int]) -> RuntimeError:
    """A matrix that is not square."""
    return RuntimeError(f"{op}(): needs square matrices, but the shape is {tuple(shape)}")


def einsum(reason: str) -> RuntimeError:
    """An equation that cannot be evaluated."""
    return RuntimeError(f"einsum(): {reason}")


def einsum_arguments() -> ValueError:
    """Too few arguments."""
    return ValueError(
        "einsum(): give the equation and at least one operand, or operands each followed by its "
        "list of subscripts"
    )


def small_integers(op: str, first: object, second: object) -> RuntimeError:
    """Factors of other dtypes than a quantized product takes."""
    return RuntimeError(
        f"{op}(): expected int8 or uint8, and int8, but got {first} and {second}: convert with "
        ".to(ftensor.int8)"
    )


def integer_out(
    op: str, dtype: object, shape: Sequence[int], wanted: Sequence[int]
) -> RuntimeError:
    """An `out` that a quantized product does not fit into."""
    return RuntimeError(
        f"{op}(): out must be ftensor.int32 of shape {tuple(wanted)}, not {dtype} of {tuple(shape)}"
    )
