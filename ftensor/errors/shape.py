"""Messages of ops that put tensors together, turn, repeat and pad them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence


def not_tensors(name: str, value: object) -> TypeError:
    """Something that is no sequence of tensors."""
    return TypeError(f"{name}(): expected a tuple or list of Tensors, not {type(value).__name__}")


def element_not_a_tensor(name: str, at: int, value: object) -> TypeError:
    """A sequence with something else than tensors in it."""
    return TypeError(f"{name}(): element {at} must be a Tensor, not {type(value).__name__}")


def no_tensors_to_cat() -> ValueError:
    """cat of nothing, which torch answers with a class of its own."""
    return ValueError("cat(): expected at least one Tensor, but the list is empty")


def no_tensors(name: str) -> RuntimeError:
    """An empty list of tensors."""
    return RuntimeError(f"{name}(): expected at least one Tensor, but the list is empty")


def cat_scalar(at: int) -> RuntimeError:
    """A 0-d tensor among those to put together."""
    return RuntimeError(f"cat(): tensor {at} has no dims; stack() puts 0-d tensors together")


def cat_ndim(wanted: int, given: int, at: int) -> RuntimeError:
    """Tensors with different numbers of dims."""
    return RuntimeError(f"cat(): tensor {at} has {given} dims, but the ones before have {wanted}")


def cat_size(wanted: Sequence[int], given: Sequence[int], dim: int, at: int) -> RuntimeError:
    """Tensors whose other dims differ."""
    return RuntimeError(
        f"cat(): sizes must match but in dim {dim}: tensor {at} has shape {list(given)}, the ones "
        f"before {list(wanted)}"
    )


def cat_out(result: object, out: object) -> TypeError:
    """An `out=` that can't hold the result."""
    return TypeError(f"cat(): a result of {result} can't be cast to out's dtype, {out}")


def stack_shape(wanted: Sequence[int], given: Sequence[int], at: int) -> RuntimeError:
    """Tensors of different shapes."""
    return RuntimeError(
        f"stack(): all tensors must have one shape, but the first has {list(wanted)} and number "
        f"{at} has {list(given)}"
    )


def block_ndim(at: int, ndim: int) -> RuntimeError:
    """A block with too many dims."""
    return RuntimeError(f"block_diag(): tensor {at} has {ndim} dims; at most 2 make a block")


def warn_meshgrid() -> None:
    """torch's warning for a meshgrid that does not say its order."""
    warnings.warn("meshgrid(): say indexing='ij' or 'xy'; 'ij' is taken", UserWarning, stacklevel=3)


def meshgrid_indexing(given: object) -> RuntimeError:
    """An order that there is not."""
    return RuntimeError(f"meshgrid(): indexing must be 'ij' or 'xy', not {given!r}")


def meshgrid_ndim(ndim: int) -> RuntimeError:
    """A grid line that is no line."""
    return RuntimeError(f"meshgrid(): tensors must have at most 1 dim, but one has {ndim}")


def meshgrid_dtypes(first: object, other: object) -> RuntimeError:
    """Grid lines of different dtypes."""
    return RuntimeError(f"meshgrid(): all tensors must have one dtype, but got {first} and {other}")


def shifts_required() -> RuntimeError:
    """A roll by nothing."""
    return RuntimeError("roll(): at least one shift is required")


def shifts_and_dims(shifts: int, dims: int) -> RuntimeError:
    """Shifts that don't go with the dims."""
    return RuntimeError(f"roll(): as many shifts as dims are needed, but got {shifts} and {dims}")


def no_dims(name: str, dim: int) -> IndexError:
    """A dim of a tensor without dims."""
    return IndexError(f"{name}(): dim {dim} of a 0-d tensor, which has none")


def rotation_dims(dims: Sequence[int]) -> RuntimeError:
    """Dims that span no plane."""
    return RuntimeError(f"rot90(): two different dims are needed, but got {tuple(dims)}")


def rotation_dim(dim: int, ndim: int) -> IndexError:
    """A rotation in a dim that there is not."""
    return IndexError(f"rot90(): dim {dim} is out of range for a tensor of {ndim} dims")


def repeat_dims(repeats: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """Fewer counts than dims."""
    return RuntimeError(
        f"repeat(): a count for each of the {len(shape)} dims is needed, but got {tuple(repeats)}"
    )


def repeats_ndim(ndim: int) -> RuntimeError:
    """Counts that are no list."""
    return RuntimeError(f"repeat_interleave(): repeats must have 1 dim (or none), but has {ndim}")


def repeats_count(repeats: int, size: int) -> RuntimeError:
    """Counts that don't go with the entries."""
    return RuntimeError(f"repeat_interleave(): {repeats} repeats for a dim of size {size}")


def negative_repeats() -> RuntimeError:
    """A negative count."""
    return RuntimeError("repeat_interleave(): repeats can't be negative")


def repeated_size(given: int, found: int) -> RuntimeError:
    """An output size that is not what comes out."""
    return RuntimeError(f"repeat_interleave(): output_size is {given}, but the result has {found}")


def diag_ndim(ndim: int) -> RuntimeError:
    """Neither a vector nor a matrix."""
    return RuntimeError(f"diag(): the input must have 1 or 2 dims, but it has {ndim}")


def odd_pad(pad: Sequence[int]) -> RuntimeError:
    """A count that lacks its partner."""
    return RuntimeError(f"pad must hold pairs of counts, but it is {tuple(pad)}")


def long_pad(pad: Sequence[int], ndim: int) -> RuntimeError:
    """More pairs than dims."""
    return RuntimeError(f"pad has {len(pad)} counts, but a tensor of {ndim} dims takes {2 * ndim}")


def pad_too_negative(pad: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """More cut off than there is."""
    return RuntimeError(f"pad {tuple(pad)} cuts off more than the shape {list(shape)} has")


def diagonal_sizes(shape: Sequence[int]) -> RuntimeError:
    """A diagonal of more than two dims that are not all of one size."""
    return RuntimeError(f"fill_diagonal_(): all dims must be of one size, not {list(shape)}")
