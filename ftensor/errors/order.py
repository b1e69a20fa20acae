"""Errors of scans, sorting and counting. Each function returns the exception to raise."""

from __future__ import annotations

from collections.abc import Sequence


def no_order(name: str, dtype: object) -> RuntimeError:
    """Complex numbers to be put in order."""
    return RuntimeError(f"{name}(): {dtype} has no order; sort by x.abs() or x.real, for example")


def not_of_bool(name: str, dtype: object) -> RuntimeError:
    """A dtype that an op of numbers is not made for."""
    return RuntimeError(f"{name}() is not made for {dtype}; convert with .to(ftensor.uint8)")


def selected(name: str, k: int, size: int, least: int) -> RuntimeError:
    """A count or a rank that a dim has not."""
    return RuntimeError(f"{name}(): k must lie between {least} and {size}, the dim's size, not {k}")


def no_elements(name: str, dim: int) -> IndexError:
    """A dim without elements, of which none can be selected."""
    return IndexError(f"{name}(): dim {dim} has no elements to select from")


def quantile_dtype(dtype: object) -> RuntimeError:
    """A quantile of other than float32 and float64."""
    return RuntimeError(f"quantile(): the input must be float32 or float64, not {dtype}")


def quantile_rank_dtype(dtype: object, wanted: object) -> RuntimeError:
    """Ranks of another dtype than the values."""
    return RuntimeError(f"quantile(): q is {dtype}; it must be {wanted}, as the input is")


def quantile_ranks(q: object) -> RuntimeError:
    """Ranks outside [0, 1], or in more than one dim."""
    return RuntimeError(f"quantile(): q must be numbers in [0, 1] in at most one dim, not {q}")


def interpolation(given: object) -> RuntimeError:
    """A way between two elements that is not there."""
    return RuntimeError(
        f"quantile(): interpolation must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest', "
        f"not {given!r}"
    )


def empty_quantile() -> RuntimeError:
    """A quantile of nothing."""
    return RuntimeError("quantile(): the input has no elements to rank")


def search_dtypes(row: object, values: object) -> RuntimeError:
    """Values of another dtype than the sorted ones."""
    return RuntimeError(f"searchsorted(): the sorted values are {row}, those to place {values}")


def search_shapes(row: Sequence[int], values: Sequence[int]) -> RuntimeError:
    """Outer dims that differ."""
    return RuntimeError(
        f"searchsorted(): sorted rows of shape {tuple(row)} and values of shape {tuple(values)} "
        f"must agree but for the last dim, or there is one row of one dim"
    )


def search_side(side: object, right: bool) -> RuntimeError:
    """A side that is none, or not the one that `right` says."""
    return RuntimeError(
        f"searchsorted(): side must be 'left' or 'right', and agree with right={right}, "
        f"not {side!r}"
    )


def search_sorter(shape: Sequence[int], dtype: object, wanted: Sequence[int]) -> RuntimeError:
    """A sorter that does not fit."""
    return RuntimeError(
        f"searchsorted(): sorter must be int64 of shape {tuple(wanted)}, not {dtype} of "
        f"{tuple(shape)}"
    )


def sorter_range(size: int) -> RuntimeError:
    """A sorter with places that are not there."""
    return RuntimeError(f"searchsorted(): sorter has places outside of [0, {size})")


def boundaries(shape: Sequence[int]) -> RuntimeError:
    """Boundaries in other than one dim."""
    return RuntimeError(f"bucketize(): boundaries must have one dim, not shape {tuple(shape)}")


def bins(name: str, given: object) -> RuntimeError:
    """A number of bins that makes no histogram."""
    return RuntimeError(f"{name}(): bins must be at least 1, not {given}")


def value_range(name: str, low: object, high: object) -> RuntimeError:
    """A range that is none."""
    return RuntimeError(f"{name}(): a range from {low} to {high} holds no finite numbers in order")


def range_length(name: str, given: int, wanted: int) -> RuntimeError:
    """A range with too few or too many numbers."""
    return RuntimeError(f"{name}(): range must hold {wanted} numbers, not {given}")


def bins_for_dims(given: int, dims: int) -> RuntimeError:
    """Bins for another number of coordinates."""
    return RuntimeError(f"histogramdd(): {given} bins for samples of {dims} coordinates")


def at_least_two_dims(shape: Sequence[int]) -> RuntimeError:
    """Samples without coordinates."""
    return RuntimeError(f"histogramdd(): samples need two dims, not shape {tuple(shape)}")


def bin_edges(name: str, shape: Sequence[int], dtype: object, wanted: object) -> RuntimeError:
    """Edges of bins that don't fit."""
    return RuntimeError(
        f"{name}(): bins must be {wanted} numbers in one dim, not {dtype} of shape {tuple(shape)}"
    )


def weight_shape(name: str, given: Sequence[int], wanted: Sequence[int]) -> RuntimeError:
    """Weights for another number of samples."""
    return RuntimeError(
        f"{name}(): weights of shape {tuple(given)} for samples of shape {tuple(wanted)}"
    )


def weight_dtype(name: str, given: object, wanted: object) -> RuntimeError:
    """Weights of another dtype."""
    return RuntimeError(f"{name}(): weights are {given}; they must be {wanted}, as the input is")


def counted(shape: Sequence[int], dtype: object) -> RuntimeError:
    """What bincount does not count."""
    return RuntimeError(
        f"bincount() counts non-negative integers in one dim, not {dtype} of shape {tuple(shape)}"
    )


def minlength(given: int) -> RuntimeError:
    """A negative number of counts."""
    return RuntimeError(f"bincount(): minlength must not be negative, not {given}")


def negative_counted(least: int) -> RuntimeError:
    """A negative number to be counted."""
    return RuntimeError(f"bincount(): the input has {least}; it counts what is not negative")


def unique_of_scalar(dim: int) -> IndexError:
    """Slices of a tensor without dims."""
    return IndexError(f"unique(): dim {dim} of a 0-d tensor, which has none; leave dim out")


def unique_empty(shape: Sequence[int], dim: int) -> RuntimeError:
    """Slices without elements, of which nobody can say that they differ."""
    return RuntimeError(f"unique(): the slices of shape {tuple(shape)} along dim {dim} are empty")
