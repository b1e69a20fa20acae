"""Messages of ops that put tensors together, turn, repeat and pad them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import Message

not_tensors = Message(TypeError, "{name}(): expected a tuple or list of Tensors, not {value!k}")
element_not_a_tensor = Message(TypeError, "{name}(): element {at} must be a Tensor, not {value!k}")
# cat of nothing, which torch answers with a class of its own
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
    """torch's warning for a meshgrid that does not say its order."""
    warnings.warn("meshgrid(): say indexing='ij' or 'xy'; 'ij' is taken", UserWarning, stacklevel=3)


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
    """More pairs than dims."""
    return RuntimeError(f"pad has {len(pad)} counts, but a tensor of {ndim} dims takes {2 * ndim}")


pad_too_negative = Message(RuntimeError, "pad {pad!t} cuts off more than the shape {shape!l} has")
diagonal_sizes = Message(RuntimeError, "fill_diagonal_(): all dims must be of one size, not {shape!l}")
