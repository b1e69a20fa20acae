"""Messages about views, shapes and indices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import Message, names_called_op

not_tensors = Message(TypeError, "{name}(): expected a tuple or list of Tensors, not {value!k}")
element_not_a_tensor = Message(TypeError, "{name}(): element {at} must be a Tensor, not {value!k}")
# cat of no tensors; torch has its own exception class for it.
no_tensors_to_cat = Message(ValueError, "cat(): expected at least one Tensor, but the list is empty")
no_tensors = Message(RuntimeError, "{name}(): expected at least one Tensor, but the list is empty")
cat_scalar = Message(RuntimeError, "cat(): tensor {at} has no dims; stack() puts 0-d tensors together")
cat_ndim = Message(
    RuntimeError, "cat(): tensor {at} has {ndim} dims, but the ones before have {wanted}", "wanted ndim at"
)
cat_size = Message(
    RuntimeError,
    "cat(): sizes must match but in dim {dim}: tensor {at} has shape {shape!l}, the ones before {wanted!l}",
    "wanted shape dim at",
)
cat_out = Message(TypeError, "cat(): a result of {result} can't be cast to out's dtype, {out}")
stack_shape = Message(
    RuntimeError,
    "stack(): all tensors must have one shape, but the first has {wanted!l} and number {at} has {shape!l}",
    "wanted shape at",
)
block_ndim = Message(RuntimeError, "block_diag(): tensor {at} has {ndim} dims; at most 2 make a block")


def warn_meshgrid() -> None:
    """Issues torch's warning for a meshgrid without `indexing`."""
    warnings.warn("meshgrid(): pass indexing='ij' or 'xy'; 'ij' is used", UserWarning, stacklevel=3)


meshgrid_indexing = Message(RuntimeError, "meshgrid(): indexing must be 'ij' or 'xy', not {indexing!r}")
meshgrid_ndim = Message(RuntimeError, "meshgrid(): tensors must have at most 1 dim, but one has {ndim}")
meshgrid_dtypes = Message(RuntimeError, "meshgrid(): all tensors must have one dtype, but got {first} and {other}")
shifts_required = Message(RuntimeError, "roll(): at least one shift is required")
shifts_and_dims = Message(RuntimeError, "roll(): as many shifts as dims are needed, but got {shifts} and {dims}")
no_dims = Message(IndexError, "{name}(): dim {dim} of a 0-d tensor, which has none")
rotation_dims = Message(RuntimeError, "rot90(): two different dims are needed, but got {dims!t}")
rotation_dim = Message(IndexError, "rot90(): dim {dim} is out of range for a tensor of {ndim} dims")
repeat_dims = Message(
    RuntimeError, "repeat(): a count for each of the {shape!n} dims is needed, but got {repeats!t}", "repeats shape"
)
repeats_ndim = Message(RuntimeError, "repeat_interleave(): repeats must have 1 dim (or none), but has {ndim}")
repeats_count = Message(RuntimeError, "repeat_interleave(): {repeats} repeats for a dim of size {size}")
negative_repeats = Message(RuntimeError, "repeat_interleave(): repeats can't be negative")
repeated_size = Message(RuntimeError, "repeat_interleave(): output_size is {output_size}, but the result has {size}")
diag_ndim = Message(RuntimeError, "diag(): the input must have 1 or 2 dims, but it has {ndim}")
odd_pad = Message(RuntimeError, "pad must hold pairs of counts, but it is {pad!t}")


def long_pad(pad: Sequence[int], ndim: int) -> RuntimeError:
    """Error for more pairs of padding than dims."""
    return RuntimeError(f"pad has {len(pad)} counts, but a tensor of {ndim} dims takes {2 * ndim}")


pad_too_negative = Message(RuntimeError, "pad {pad!t} cuts off more than the shape {shape!l} has")
diagonal_sizes = Message(RuntimeError, "fill_diagonal_(): all dims must be of one size, not {shape!l}")


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
    """torch's error for `imag` of real numbers. It is an AttributeError too, so that `hasattr` is
    False."""


imag_of_real = Message(
    NoImaginaryPartError, "imag needs a complex tensor, not one of {dtype}; its imaginary part is all zeros"
)


# --- dims ---


permute_count = Message(
    RuntimeError, "permute() must name all {ndim} dims of the tensor, but was given {dims!t}", "dims ndim"
)
beyond_matrix = Message(
    RuntimeError,
    "{function}() takes at most 2 dims, but the tensor has {ndim}; use mT for batches of matrices or permute()",
)


@names_called_op
def not_a_matrix(name: str, ndim: int) -> RuntimeError:
    """Error for H, mT, mH or adjoint() of a tensor that is not a matrix."""
    expected = "a matrix" if name == "H" else "a matrix or a batch of matrices"
    return RuntimeError(f"{name} needs {expected}, but the tensor has {ndim} dims")


# T, H, mT or mH where torch keeps them for old programs only.
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


scalar_has_no_dims = Message(
    RuntimeError, "{function}() cannot be applied to a 0-d tensor; unsqueeze(0) gives it a dim"
)


@names_called_op
def narrow_start(start: int, size: int) -> IndexError:
    """Error for a narrow() whose start is outside the dim."""
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


@names_called_op
def split_sizes(sizes: Sequence[int], length: int) -> RuntimeError:
    """Error for a split() with sizes that are negative or don't add up to the dim's size."""
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
    """Error for more ints and slices in an index than the tensor has dims."""
    hint = "" if ndim else "; item() reads the value of a 0-d tensor"
    return IndexError(f"{count} indices are too many for a tensor of {ndim} dims{hint}")


def index_out_of_bounds(index: int, dim: int, size: int) -> IndexError | ValueError:
    """Error for an int index out of range; ValueError beyond 64 bits, as in torch."""
    if not -(2**63) <= index < 2**63:
        return ValueError(f"index {index} does not fit in 64 bits")
    return out_of_bounds(index, dim, size)


index_after_ellipsis = Message(IndexError, "a second ... leaves no dim to index in a tensor of {ndim} dims; use one")


class BackwardsError(ValueError):
    """A slice has a negative step where the result must be a view."""


def slice_step(step: int, kind: type[Exception] = ValueError) -> Exception:
    """Error for a slice with a step of zero or a negative step."""
    if step and kind is ValueError:
        kind = BackwardsError
    return kind(f"a slice's step must be greater than 0, not {step}; flip() reverses a dim")


slice_bound = Message(TypeError, "a slice takes ints or None, not {value!r} ({value!k})")


def not_an_index(item: object) -> IndexError | TypeError:
    """Error for an item that cannot index; TypeError for text, as in torch."""
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
    RuntimeError, "dim_order(): strides {strides!t} of shape {shape!t} define no single order", "shape strides"
)
out_of_bounds = Message(IndexError, "index {index} is out of bounds for dimension {dim} with size {size}")
index_dtype = Message(IndexError, "tensors used as indices must be int64, int32, uint8 or bool tensors, not {dtype}")
mask_shape = Message(
    IndexError,
    "the shape of the mask {mask!l} at index {at} does not match the shape of the indexed tensor "
    "{shape!l} at index {dim}",
)


def indices_do_not_broadcast(shapes: Sequence[Sequence[int]]) -> IndexError:
    """Error for index tensors that don't broadcast."""
    text = ", ".join(str(list(s)) for s in shapes)
    return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {text}")


value_shape = Message(
    RuntimeError,
    "shape mismatch: value tensor of shape {value!l} cannot be broadcast to indexing result of shape {shape!l}",
)
bad_index = Message(
    IndexError,
    "only integers, slices, ellipsis, None and integer or bool tensors (or sequences) are valid indices, not {item!k}",
)
bad_index_type = Message(TypeError, "an index must hold integers or bools, which {item!r} does not")
index_of_scalar = Message(IndexError, "a 0-d tensor can't be indexed; t.item() gives its value as a Python number")


def warn_list_as_tuple() -> None:
    """Issues torch's warning for a list that is read as a tuple."""
    warnings.warn(
        "a list of indices is taken for a tuple of them; write t[tuple(indices)] or, for one "
        "index tensor, t[ft.tensor(indices)]",
        UserWarning,
        stacklevel=5,
    )


def warn_uint8_mask() -> None:
    """Issues torch's warning for uint8 masks."""
    warnings.warn("indexing with dtype uint8 is deprecated, use a bool tensor", UserWarning, stacklevel=4)


assigned_type = Message(TypeError, "can't assign a {value!k} to a tensor; ft.tensor(value) makes a Tensor of it")
put_dtypes = Message(
    RuntimeError,
    "Index put requires the source and destination dtypes to match, got {dtype} for the "
    "destination and {values} for the source; use values.to({dtype})",
)
mask_dtype = Message(RuntimeError, "{name}(): expected the mask to be a bool Tensor, but got {dtype}")
fill_dims = Message(
    RuntimeError, "{name}(): the value to fill with must be a number or a 0-d tensor, but its shape is {shape!t}"
)
put_indices = Message(TypeError, "index_put_(): indices must be a tuple of Tensors, not {indices!r}")
static_size = Message(RuntimeError, "nonzero_static(): size must be a non-negative integer, not {size}")
same_dtypes = Message(
    RuntimeError,
    "{name}(): the source's dtype must be that of the tensor, {wanted}, but it is {dtype}; use source.to({wanted})",
)
too_few_to_scatter = Message(
    RuntimeError, "masked_scatter_(): the mask has {need} true elements, but source only {have} elements", "have need"
)
index_dtype_of = Message(RuntimeError, "{name}(): expected an index of {wanted}, but got {dtype}")
# index_fill's index, for which torch has another exception class.
index_fill_dtype = Message(IndexError, "index_fill_(): expected an index of int64, but got {dtype}")
index_ndim = Message(
    RuntimeError, "the index must have as many dims as the tensor, but it has {index} and the tensor {ndim}"
)
index_beyond = Message(
    RuntimeError,
    "the index of shape {index!l} is larger than the tensor of shape {shape!l} in dim {at}; only "
    "dim {dim} may be larger",
)
index_vector = Message(RuntimeError, "{name}(): the index must have one dim (or none), but it has {ndim}")
index_of_one = Message(RuntimeError, "{name}(): a 0-d tensor takes one index, but got {count}")
# An index out of range where torch raises RuntimeError.
gather_bounds = Message(RuntimeError, "index {index} is out of bounds for dimension {dim} with size {size}")
class_bounds = Message(IndexError, "Target {index} is out of bounds: there are {size} classes.", "index dim size")
take_bounds = Message(IndexError, "index {index} is out of range for a tensor of {size} elements", "index dim size")
unravel_dtype = Message(TypeError, "unravel_index(): the indices must be integers, but they are {dtype}")
unravel_shape_type = Message(TypeError, "unravel_index(): the shape must be an int or a sequence of them: {shape!r}")
unravel_shape = Message(ValueError, "unravel_index(): the shape {shape!t} has a negative size")


def scatter_shapes(index: Sequence[int], shape: Sequence[int], dim: int, src: Sequence[int] | None) -> RuntimeError:
    """Error for an index that is larger than self or src in some dim."""
    text = f"the index {list(index)} may be larger than the tensor {list(shape)} in dim {dim} only"
    return RuntimeError(text if src is None else f"{text}, and no larger than src {list(src)}")


scatter_reduce_name = Message(RuntimeError, "reduce must be one of {names!c}, not {reduce!r}", "reduce names")
put_counts = Message(IndexError, "put_(): the source has {source} elements, but the index {index}")
source_ndim = Message(RuntimeError, "{name}(): the source has {source} dims, but the tensor has {ndim}")
source_count = Message(RuntimeError, "{name}(): the source has {source} entries, but the index lists {index}")
source_shape = Message(
    RuntimeError, "{name}(): the source's shape {source!l} must be the tensor's, {shape!l}, but in dim {dim}"
)
slice_shape = Message(RuntimeError, "{name}(): src has shape {source!l}, but the slice has {shape!l}")


def index_check_mode(mode: object, modes: Sequence[str]) -> ValueError:
    """Error for an unknown mode of set_index_check."""
    return ValueError(f"index checks are {' or '.join(map(repr, modes))}, not {mode!r}")


found_late = Message(
    IndexError,
    "{text}; found now, since checks are deferred, in an earlier call of {call} at {line} "
    '(ft.set_index_check("now") raises it there)',
)
segments = Message(RuntimeError, "segment_reduce(): {why}")
