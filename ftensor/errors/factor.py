"""Mistakes with matrices to be factored, inverted or solved with."""

from __future__ import annotations

from .message import Message


class LinAlgError(RuntimeError):
    """Matrices that have no such factors or inverse: singular, not positive definite."""


needs_matrices = Message(RuntimeError, "{op}(): {name} needs at least 2 dims, but has shape {shape!t}")
not_square = Message(RuntimeError, "{op}(): {name} needs square matrices, but has shape {shape!t}")
dtype = Message(
    RuntimeError,
    "{op}(): {name} must be float32, float64, complex64 or complex128, not {dtype}; convert with .to(dtype)",
)


def dtypes_differ(op: str, *dtypes: object) -> RuntimeError:
    """Operands of several dtypes."""
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


def _where(op: str, index: int | None) -> str:
    return f"{op}(): " if index is None else f"{op}(): (batch element {index}): "


def singular(op: str, index: int | None, pivot: int) -> LinAlgError:
    """A pivot of 0."""
    return LinAlgError(f"{_where(op, index)}the matrix is singular: element {pivot} of U's diagonal is 0")


def not_positive(op: str, index: int | None, order: int) -> LinAlgError:
    """A leading minor that is not positive."""
    return LinAlgError(
        f"{_where(op, index)}the matrix is not positive definite: nor is its leading minor of order {order}"
    )
