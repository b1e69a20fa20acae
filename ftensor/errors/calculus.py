"""Mistakes with differences, integrals and derivatives of samples."""

from __future__ import annotations

from collections.abc import Sequence


def one_dim(op: str) -> RuntimeError:
    """Samples without a dim to go along."""
    return RuntimeError(f"{op}(): the input needs at least one dim")


def order(n: int) -> RuntimeError:
    """A negative number of times."""
    return RuntimeError(f"diff(): n must not be negative, but is {n}")


def ends(input: Sequence[int], given: Sequence[int]) -> RuntimeError:
    """What is put at an end and does not fit there."""
    return RuntimeError(
        f"diff(): prepend and append must have the input's shape {tuple(input)} but for the dim, "
        f"not {tuple(given)}"
    )


def scalar_points(op: str) -> RuntimeError:
    """Points as a tensor without dims."""
    return RuntimeError(f"{op}(): x needs at least one dim; a distance is given as dx")


def points(op: str, needed: int, given: int) -> RuntimeError:
    """Points that are not one for each sample."""
    return RuntimeError(f"{op}(): {needed} samples need as many points, not {given}")


def two_widths(op: str) -> RuntimeError:
    """Points and their distance."""
    return RuntimeError(f"{op}(): give x or dx, not both")


def width(op: str, dx: object) -> RuntimeError:
    """A distance that is no real number."""
    return RuntimeError(f"{op}(): dx must be a real number, not {dx!r}")


def no_bool(op: str) -> RuntimeError:
    """Samples of a dtype without negative numbers."""
    return RuntimeError(f"{op}(): differences need signed numbers; convert with .to(dtype)")


def edge_order(value: object) -> RuntimeError:
    """An order at the ends that there is not."""
    return RuntimeError(f"gradient(): edge_order must be 1 or 2, but is {value}")


def repeated(dims: Sequence[int]) -> RuntimeError:
    """A dim named twice."""
    return RuntimeError(f"gradient(): dim names a dim twice: {tuple(dims)}")


def spacings(given: int, needed: int) -> RuntimeError:
    """Distances that are not one for each dim."""
    return RuntimeError(f"gradient(): {needed} dims need as many spacings, not {given}")


def too_few(size: int, order: int) -> RuntimeError:
    """Fewer samples than the formula reads."""
    return RuntimeError(
        f"gradient(): edge_order {order} needs {order + 1} samples along each dim, not {size}"
    )
