"""Mistakes with matrices to be factored, inverted or solved with."""

from __future__ import annotations

from collections.abc import Sequence


class LinAlgError(RuntimeError):
    """Matrices that have no such factors or inverse: singular, not positive definite."""


def needs_matrices(op: str, name: str, shape: Sequence[int]) -> RuntimeError:
    """Too few dims."""
    return RuntimeError(f"{op}(): {name} needs at least 2 dims, but has shape {tuple(shape)}")


def not_square(op: str, name: str, shape: Sequence[int]) -> RuntimeError:
    """Matrices that are not square."""
    return RuntimeError(f"{op}(): {name} needs square matrices, but has shape {tuple(shape)}")


def dtype(op: str, name: str, given: object) -> RuntimeError:
    """A dtype that LAPACK does not have."""
    return RuntimeError(
        f"{op}(): {name} must be float32, float64, complex64 or complex128, not {given}; convert "
        "with .to(dtype)"
    )


def dtypes_differ(op: str, *given: object) -> RuntimeError:
    """Operands of several dtypes."""
    return RuntimeError(f"{op}(): all operands need one dtype, not {', '.join(map(str, given))}")


def shapes(op: str, first: Sequence[int], second: Sequence[int], why: str) -> RuntimeError:
    """Operands that don't fit."""
    return RuntimeError(f"{op}(): shapes {tuple(first)} and {tuple(second)} don't fit: {why}")


def value(op: str, name: str, given: object, allowed: str) -> RuntimeError:
    """A setting that there is not."""
    return RuntimeError(f"{op}(): {name} must be {allowed}, but is {given!r}")


def number(op: str, name: str, given: object, allowed: str) -> ValueError:
    """A number that is too large or too small."""
    return ValueError(f"{op}(): {name} must be {allowed}, but is {given}")


def order(op: str, given: object) -> RuntimeError:
    """A norm that matrices don't have."""
    return RuntimeError(
        f"{op}(): ord={given!r} is no norm of matrices; there are 'fro', 'nuc', inf, -inf, 1, -1, "
        "2 and -2"
    )


def two_dims(op: str, dims: object) -> RuntimeError:
    """Not two different dims."""
    return RuntimeError(f"{op}(): dim must be two different dims, but is {dims}")


def empty(op: str, shape: Sequence[int]) -> RuntimeError:
    """An order without a value for empty matrices."""
    return RuntimeError(f"{op}(): this norm has no value for matrices of shape {tuple(shape)}")


def not_finite(op: str) -> RuntimeError:
    """Infinities or NaN."""
    return RuntimeError(f"{op}(): input holds infinities or NaN, of which there are no eigenvalues")


def no_convergence(op: str) -> LinAlgError:
    """An iteration that did not end."""
    return LinAlgError(
        f"{op}(): the iteration did not converge; the input may hold infinities or NaN"
    )


def _where(op: str, index: int | None) -> str:
    return f"{op}(): " if index is None else f"{op}(): (batch element {index}): "


def singular(op: str, index: int | None, pivot: int) -> LinAlgError:
    """A pivot of 0."""
    return LinAlgError(
        f"{_where(op, index)}the matrix is singular: element {pivot} of U's diagonal is 0"
    )


def not_positive(op: str, index: int | None, order: int) -> LinAlgError:
    """A leading minor that is not positive."""
    return LinAlgError(
        f"{_where(op, index)}the matrix is not positive definite: nor is its leading minor of "
        f"order {order}"
    )
