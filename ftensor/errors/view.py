"""The messages of the metadata-only ops and of basic indexing; `errors` holds all others."""

from __future__ import annotations

from collections.abc import Sequence

from .index import out_of_bounds
from .message import Message


def _ints(values: Sequence[int]) -> str:
    return str(tuple(values))


# --- arguments ---

not_an_int = Message(TypeError, "{function}() needs an int as `{argument}`, not {value!r} ({value!k})")
not_ints = Message(TypeError, "{function}() needs a tuple of 64-bit ints as `{argument}`, not {value!r} ({value!k})")
int_too_large = Message(ValueError, "{function}(): `{argument}` is {value}, which does not fit in 64 bits")


# --- shape and dtype views ---


view_needs_copy = Message(
    RuntimeError,
    "a tensor of shape {shape!t} and strides {strides!t} cannot be viewed as {size!t} without copying; use "
    "reshape(), which copies when it must",
)
size_overflow = Message(RuntimeError, "{shape!t} is beyond what 64-bit sizes and strides can describe")
cannot_reinterpret = Message(
    RuntimeError,
    "viewing elements of {old} bytes as elements of {new} bytes needs {what} to be {need}, but it "
    "is {value}; call contiguous() first, or convert the values with to(dtype)",
    "old new what value need",
)
reinterpret_as_what = Message(TypeError, "view() needs either a shape (ints) or one ftensor.dtype, not {value!r}")
real_view_of_real = Message(RuntimeError, "view_as_real() needs a complex tensor, not one of {dtype}")
complex_view_of = Message(RuntimeError, "view_as_complex() needs float16, float32 or float64, not a tensor of {dtype}")
complex_view_layout = Message(
    RuntimeError,
    "view_as_complex() needs {what} to be {need}, but it is {value}; call contiguous() on a "
    "tensor whose last dimension holds (real, imag)",
    "what value need",
)


class NoImaginaryPartError(RuntimeError, AttributeError):
    """torch's error for `imag` of real numbers; to `hasattr`, as libraries ask, it is not there."""


imag_of_real = Message(NoImaginaryPartError, "imag needs a complex tensor, not one of {dtype}; its part is all zeros")


# --- dims ---


permute_count = Message(
    RuntimeError, "permute() must name all {ndim} dims of the tensor, but was given {dims!t}", "dims ndim"
)
beyond_matrix = Message(
    RuntimeError,
    "{function}() takes at most 2 dims, but the tensor has {ndim}; use mT for batches of matrices or permute()",
)


def not_a_matrix(name: str, ndim: int) -> RuntimeError:
    """H, mT, mH or adjoint() of something that is no matrix."""
    wanted = "a matrix" if name == "H" else "a matrix or a batch of matrices"
    return RuntimeError(f"{name} needs {wanted}, but the tensor has {ndim} dims")


# T, H, mT or mH where torch keeps them for old programs only
transpose_deprecated = Message(
    UserWarning,
    "{name} of a tensor with {ndim} dims is deprecated; use mT for batches of matrices, permute() to reverse all dims",
)
flatten_order = Message(RuntimeError, "flatten(): start_dim {start} comes after end_dim {end}")
unflatten_into_nothing = Message(RuntimeError, "unflatten(): sizes is empty; give at least one size")
unflatten_scalar = Message(RuntimeError, "unflatten() into {sizes!t}: a 0-d tensor has no dim to split; use view()")
movedim_counts = Message(
    RuntimeError,
    "movedim() needs one destination per source, but was given source {source!t} and destination {destination!t}",
)
diagonal_same_dims = Message(RuntimeError, "diagonal() needs two different dims, but {dim1} and {dim2} are the same")
unfold_window = Message(RuntimeError, "unfold(): {what} must be {need}, but it is {value}", "what value need")


# --- expanding ---


expand_too_few = Message(
    RuntimeError, "expand() of a tensor of shape {shape!t} needs at least {shape!n} sizes, but was given {size!t}"
)
expand_size = Message(
    RuntimeError,
    "a tensor of shape {shape!t} cannot be expanded to {size!t}: at dim {dim} only a dim of size 1 may change,"
    " and -1 keeps the size of an existing dim",
)
broadcast_negative = Message(ValueError, "broadcast_shapes(): shape {shape!t} has a negative size")
broadcast_not_a_shape = Message(
    RuntimeError, "broadcast_shapes() takes ints and tuples or lists of ints, not {value!r}"
)


# --- parts of a dim ---


def scalar_has_no_dims(function: str, kind: type[Exception] = RuntimeError) -> Exception:
    """A 0-d tensor given to an op that takes a tensor apart along a dim."""
    return kind(f"{function}() cannot be applied to a 0-d tensor; unsqueeze(0) gives it a dim")


def narrow_start(start: int, size: int) -> IndexError:
    """narrow() that starts outside the dim."""
    return IndexError(f"narrow(): start {start} is outside [{-size}, {size}]")


narrow_copy_dim = Message(RuntimeError, "narrow_copy(): dim {dim} is out of range for a tensor of {ndim} dims")
narrow_negative = Message(RuntimeError, "narrow(): length must be >= 0, not {length}")
narrow_length = Message(
    RuntimeError, "narrow(): length {length} from start {start} does not fit a dim of size {size}", "start length size"
)
narrow_start_tensor = Message(
    RuntimeError,
    "narrow(): a tensor as start must be 0-d and of an integer dtype, but it has {ndim} dims and {dtype}",
    "dtype ndim",
)
select_index = Message(
    IndexError,
    "select(): index {index} is out of range for dim {dim} of a tensor of shape {shape!t}",
    "index shape dim",
)
split_size = Message(RuntimeError, "split(): pieces of size {size} cannot make up a dim of size {length}")


def split_sizes(sizes: Sequence[int], length: int) -> RuntimeError:
    """split() with sizes that are negative or do not add up to the dim's."""
    return RuntimeError(
        f"split(): sizes {_ints(sizes)} must be >= 0 and add up to the dim's size {length}, "
        f"but their sum is {sum(sizes)}"
    )


piece_count = Message(RuntimeError, "{function}() needs at least 1 piece, not {count}")
split_tensor = Message(
    RuntimeError,
    "tensor_split(): a tensor of sections or indices must be int64 and have 0 or 1 dims, but it "
    "is {dtype} and has {ndim}",
)
split_uneven = Message(
    RuntimeError,
    "{function}(): dim {dim} of size {size} cannot be divided into {sections} equal parts; "
    "tensor_split() allows unequal ones",
    "function sections dim size",
)


# --- strides given by the user ---


as_strided_layout = Message(
    RuntimeError,
    "as_strided() needs as many strides as sizes, and none of them or the offset negative, but was given size "
    "{size!t}, stride {stride!t}, storage_offset {offset}",
)
as_strided_bounds = Message(
    RuntimeError,
    "as_strided() with size {size!t}, stride {stride!t}, storage_offset {offset} reaches {need} bytes into "
    "memory, but the storage has {nbytes}",
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


index_after_ellipsis = Message(IndexError, "a second ... leaves no dim to index in a tensor of {ndim} dims; use one")


class BackwardsError(ValueError):
    """A slice that goes backwards, where a view was to be had."""


def slice_step(step: int, kind: type[Exception] = ValueError) -> Exception:
    """A slice that goes nowhere or backwards."""
    if step and kind is ValueError:
        kind = BackwardsError
    return kind(f"a slice's step must be greater than 0, not {step}; flip() reverses a dim")


slice_bound = Message(TypeError, "a slice takes ints or None, not {value!r} ({value!k})")


def not_an_index(item: object) -> IndexError | TypeError:
    """Something between the brackets that cannot index; TypeError for text, as torch has it."""
    kind: type[IndexError] | type[TypeError]
    kind = TypeError if isinstance(item, (str, bytes)) else IndexError
    return kind(
        f"a tensor is indexed by ints, slices, None, ..., and bool or integer tensors, "
        f"not by {item!r} ({type(item).__name__})"
    )


set_dtype = Message(RuntimeError, "set_(): a tensor of {have} cannot take the memory of one of {dtype}")
ambiguity_check = Message(
    TypeError, "dim_order(): ambiguity_check must be a bool or a list of memory formats, not {value!r}"
)
ambiguous_dims = Message(
    RuntimeError, "dim_order(): strides {strides!t} of shape {shape!t} tell no single order", "shape strides"
)
