"""The messages of the metadata-only ops and of basic indexing; `errors` holds all others."""

from __future__ import annotations

from collections.abc import Sequence

from .index import out_of_bounds


def _ints(values: Sequence[int]) -> str:
    return str(tuple(values))


# --- arguments ---


def not_an_int(function: str, argument: str, value: object) -> TypeError:
    """A dim, size or index that is no integer; bools don't count as integers here."""
    return TypeError(
        f"{function}() needs an int as `{argument}`, not {value!r} ({type(value).__name__})"
    )


def not_ints(function: str, argument: str, value: object) -> TypeError:
    """Something else where a tuple or list of ints is wanted."""
    return TypeError(
        f"{function}() needs a tuple of 64-bit ints as `{argument}`, "
        f"not {value!r} ({type(value).__name__})"
    )


def int_too_large(function: str, argument: str, value: int) -> ValueError:
    """An integer beyond 64 bits."""
    return ValueError(f"{function}(): `{argument}` is {value}, which does not fit in 64 bits")


# --- shape and dtype views ---


def view_needs_copy(
    shape: Sequence[int], strides: Sequence[int], size: Sequence[int]
) -> RuntimeError:
    """A new shape that no strides over the same memory can give."""
    return RuntimeError(
        f"a tensor of shape {_ints(shape)} and strides {_ints(strides)} cannot be viewed as "
        f"{_ints(size)} without copying; use reshape(), which copies when it must"
    )


def size_overflow(shape: Sequence[int]) -> RuntimeError:
    """A shape or strides beyond what 64 bits can count."""
    return RuntimeError(f"{_ints(shape)} is beyond what 64-bit sizes and strides can describe")


def cannot_reinterpret(old: int, new: int, what: str, value: int, need: str) -> RuntimeError:
    """view(dtype) between element sizes (in bytes) that the layout does not allow."""
    return RuntimeError(
        f"viewing elements of {old} bytes as elements of {new} bytes needs {what} to be {need}, "
        f"but it is {value}; call contiguous() first, or convert the values with to(dtype)"
    )


def reinterpret_as_what(value: object) -> TypeError:
    """view() with neither a shape nor a dtype, or with both."""
    return TypeError(f"view() needs either a shape (ints) or one ftensor.dtype, not {value!r}")


def real_view_of_real(dtype: object) -> RuntimeError:
    """view_as_real() of a tensor that already is real."""
    return RuntimeError(f"view_as_real() needs a complex tensor, not one of {dtype}")


def complex_view_of(dtype: object) -> RuntimeError:
    """view_as_complex() of a dtype without a complex counterpart."""
    return RuntimeError(
        f"view_as_complex() needs float16, float32 or float64, not a tensor of {dtype}"
    )


def complex_view_layout(what: str, value: object, need: str) -> RuntimeError:
    """view_as_complex() of pairs that do not lie where complex numbers could."""
    return RuntimeError(
        f"view_as_complex() needs {what} to be {need}, but it is {value}; "
        f"call contiguous() on a tensor whose last dimension holds (real, imag)"
    )


def imag_of_real(dtype: object) -> RuntimeError:
    """imag of a tensor that has no imaginary part in memory."""
    return RuntimeError(f"imag needs a complex tensor, not one of {dtype}; its part is all zeros")


# --- dims ---


def permute_count(dims: Sequence[int], ndim: int) -> RuntimeError:
    """permute() that names too few or too many dims."""
    return RuntimeError(
        f"permute() must name all {ndim} dims of the tensor, but was given {_ints(dims)}"
    )


def beyond_matrix(function: str, ndim: int) -> RuntimeError:
    """t() of something with more than two dims."""
    return RuntimeError(
        f"{function}() takes at most 2 dims, but the tensor has {ndim}; "
        f"use mT for batches of matrices or permute()"
    )


def not_a_matrix(name: str, ndim: int) -> RuntimeError:
    """H, mT, mH or adjoint() of something that is no matrix."""
    wanted = "a matrix" if name == "H" else "a matrix or a batch of matrices"
    return RuntimeError(f"{name} needs {wanted}, but the tensor has {ndim} dims")


def transpose_deprecated(name: str, ndim: int) -> UserWarning:
    """T, H, mT or mH where torch keeps them for old programs only."""
    return UserWarning(
        f"{name} of a tensor with {ndim} dims is deprecated; "
        f"use mT for batches of matrices, permute() to reverse all dims"
    )


def flatten_order(start: int, end: int) -> RuntimeError:
    """flatten() from a later to an earlier dim."""
    return RuntimeError(f"flatten(): start_dim {start} comes after end_dim {end}")


def unflatten_into_nothing() -> RuntimeError:
    """unflatten() without sizes."""
    return RuntimeError("unflatten(): sizes is empty; give at least one size")


def unflatten_scalar(sizes: Sequence[int]) -> RuntimeError:
    """unflatten() of a 0-d tensor."""
    return RuntimeError(
        f"unflatten() into {_ints(sizes)}: a 0-d tensor has no dim to split; use view()"
    )


def movedim_counts(source: Sequence[int], destination: Sequence[int]) -> RuntimeError:
    """movedim() with more dims on one side than on the other."""
    return RuntimeError(
        f"movedim() needs one destination per source, but was given source {_ints(source)} "
        f"and destination {_ints(destination)}"
    )


def diagonal_same_dims(dim1: int, dim2: int) -> RuntimeError:
    """A diagonal of one dim with itself."""
    return RuntimeError(f"diagonal() needs two different dims, but {dim1} and {dim2} are the same")


def unfold_window(what: str, value: int, need: str) -> RuntimeError:
    """unfold() with a window or a step that does not fit."""
    return RuntimeError(f"unfold(): {what} must be {need}, but it is {value}")


# --- expanding ---


def expand_too_few(shape: Sequence[int], size: Sequence[int]) -> RuntimeError:
    """expand() to fewer dims than there are."""
    return RuntimeError(
        f"expand() of a tensor of shape {_ints(shape)} needs at least {len(shape)} sizes, "
        f"but was given {_ints(size)}"
    )


def expand_size(shape: Sequence[int], size: Sequence[int], dim: int) -> RuntimeError:
    """expand() of a dim that is not 1, or to a size that cannot be; `dim` counts in `size`."""
    return RuntimeError(
        f"a tensor of shape {_ints(shape)} cannot be expanded to {_ints(size)}: "
        f"at dim {dim} only a dim of size 1 may change, and -1 keeps the size of an existing dim"
    )


def broadcast_negative(shape: Sequence[int]) -> ValueError:
    """A negative size given to broadcast_shapes()."""
    return ValueError(f"broadcast_shapes(): shape {_ints(shape)} has a negative size")


def broadcast_not_a_shape(value: object) -> RuntimeError:
    """Something else than an int, a tuple or a list given to broadcast_shapes()."""
    return RuntimeError(f"broadcast_shapes() takes ints and tuples or lists of ints, not {value!r}")


# --- parts of a dim ---


def scalar_has_no_dims(function: str, kind: type[Exception] = RuntimeError) -> Exception:
    """A 0-d tensor given to an op that takes a tensor apart along a dim."""
    return kind(f"{function}() cannot be applied to a 0-d tensor; unsqueeze(0) gives it a dim")


def narrow_start(start: int, size: int) -> IndexError:
    """narrow() that starts outside the dim."""
    return IndexError(f"narrow(): start {start} is outside [{-size}, {size}]")


def narrow_copy_dim(dim: int, ndim: int) -> RuntimeError:
    """narrow_copy() along a dim beyond the last one."""
    return RuntimeError(f"narrow_copy(): dim {dim} is out of range for a tensor of {ndim} dims")


def narrow_negative(length: int) -> RuntimeError:
    """narrow() to less than nothing."""
    return RuntimeError(f"narrow(): length must be >= 0, not {length}")


def narrow_length(start: int, length: int, size: int) -> RuntimeError:
    """narrow() beyond the end of the dim."""
    return RuntimeError(
        f"narrow(): length {length} from start {start} does not fit a dim of size {size}"
    )


def narrow_start_tensor(dtype: object, ndim: int) -> RuntimeError:
    """narrow() whose start is a tensor of the wrong kind."""
    return RuntimeError(
        f"narrow(): a tensor as start must be 0-d and of an integer dtype, "
        f"but it has {ndim} dims and {dtype}"
    )


def select_index(index: int, shape: Sequence[int], dim: int) -> IndexError:
    """select() of an index that the dim does not have."""
    return IndexError(
        f"select(): index {index} is out of range for dim {dim} of a tensor of shape {_ints(shape)}"
    )


def split_size(size: int, length: int) -> RuntimeError:
    """split() into pieces of a negative size, or of none where there is something to split."""
    return RuntimeError(f"split(): pieces of size {size} cannot make up a dim of size {length}")


def split_sizes(sizes: Sequence[int], length: int) -> RuntimeError:
    """split() with sizes that are negative or do not add up to the dim's."""
    return RuntimeError(
        f"split(): sizes {_ints(sizes)} must be >= 0 and add up to the dim's size {length}, "
        f"but their sum is {sum(sizes)}"
    )


def piece_count(function: str, count: int) -> RuntimeError:
    """chunk() or tensor_split() into less than one piece."""
    return RuntimeError(f"{function}() needs at least 1 piece, not {count}")


def split_tensor(dtype: object, ndim: int) -> RuntimeError:
    """tensor_split() told by a tensor that is no int64 number or list."""
    return RuntimeError(
        f"tensor_split(): a tensor of sections or indices must be int64 and have 0 or 1 dims, "
        f"but it is {dtype} and has {ndim}"
    )


def split_uneven(function: str, sections: int, dim: int, size: int) -> RuntimeError:
    """hsplit(), vsplit() or dsplit() into parts that would differ."""
    return RuntimeError(
        f"{function}(): dim {dim} of size {size} cannot be divided into {sections} equal parts; "
        f"tensor_split() allows unequal ones"
    )


# --- strides given by the user ---


def as_strided_layout(size: Sequence[int], stride: Sequence[int], offset: int) -> RuntimeError:
    """as_strided() with a layout that is none: lengths differ, or something is negative."""
    return RuntimeError(
        f"as_strided() needs as many strides as sizes, and none of them or the offset negative, "
        f"but was given size {_ints(size)}, stride {_ints(stride)}, storage_offset {offset}"
    )


def as_strided_bounds(
    size: Sequence[int], stride: Sequence[int], offset: int, need: int, nbytes: int
) -> RuntimeError:
    """as_strided() that reaches beyond the end of the memory."""
    return RuntimeError(
        f"as_strided() with size {_ints(size)}, stride {_ints(stride)}, storage_offset {offset} "
        f"reaches {need} bytes into memory, but the storage has {nbytes}"
    )


# --- basic indexing ---


def too_many_indices(count: int, ndim: int) -> IndexError:
    """More ints and slices between the brackets than the tensor has dims."""
    hint = "" if ndim else "; item() reads the value of a 0-d tensor"
    return IndexError(f"{count} indices are too many for a tensor of {ndim} dims{hint}")


def index_out_of_bounds(index: int, dim: int, size: int) -> IndexError | ValueError:
    """An int index that the dim does not have; ValueError beyond 64 bits, as torch has it."""
    if not -(2**63) <= index < 2**63:
        return ValueError(f"index {index} does not fit in 64 bits")
    return out_of_bounds(index, dim, size)


def index_after_ellipsis(ndim: int) -> IndexError:
    """Something indexed after a second `...` has already gone beyond the last dim."""
    return IndexError(f"a second ... leaves no dim to index in a tensor of {ndim} dims; use one")


def slice_step(step: int, kind: type[Exception] = ValueError) -> Exception:
    """A slice that goes nowhere or backwards."""
    return kind(f"a slice's step must be greater than 0, not {step}; flip() reverses a dim")


def slice_bound(value: object) -> TypeError:
    """A slice between things that are no integers."""
    return TypeError(f"a slice takes ints or None, not {value!r} ({type(value).__name__})")


def not_an_index(item: object) -> IndexError | TypeError:
    """Something between the brackets that cannot index; TypeError for text, as torch has it."""
    kind: type[IndexError] | type[TypeError]
    kind = TypeError if isinstance(item, (str, bytes)) else IndexError
    return kind(
        f"a tensor is indexed by ints, slices, None, ..., and bool or integer tensors, "
        f"not by {item!r} ({type(item).__name__})"
    )


def set_dtype(have: object, given: object) -> RuntimeError:
    """Memory of another dtype."""
    return RuntimeError(f"set_(): a tensor of {have} cannot take the memory of one of {given}")


def ambiguity_check(value: object) -> TypeError:
    """Neither a bool nor a list of memory formats."""
    return TypeError(
        f"dim_order(): ambiguity_check must be a bool or a list of memory formats, not {value!r}"
    )


def ambiguous_dims(shape: Sequence[int], strides: Sequence[int]) -> RuntimeError:
    """Dims whose order in memory is not told by their strides."""
    return RuntimeError(
        f"dim_order(): strides {_ints(strides)} of shape {_ints(shape)} tell no single order"
    )
