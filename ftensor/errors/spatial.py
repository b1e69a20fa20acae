"""Mistakes with ops over space: convolutions, pooling, padding, interpolation, grids."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message

count = Message(RuntimeError, "{op}(): {word} must be an int or {n} ints, but is {value!r}")
not_a_size = Message(TypeError, "{op}(): {word} must be an int or ints, not {value!r}")
negative = Message(RuntimeError, "{op}(): {word} must not be negative, but is {value!t}")
not_positive = Message(RuntimeError, "{op}(): {word} must be positive, but is {value!t}")


def input_dims(op: str, n: int, shape: Sequence[int]) -> RuntimeError:
    """An input that has neither n spatial dims with channels nor a batch of those."""
    return RuntimeError(
        f"{op}(): input must have {n + 1} dims, or {n + 2} with a batch, all but the batch's not "
        f"empty, but has shape {tuple(shape)}"
    )


def weight_dims(op: str, n: int, shape: Sequence[int]) -> RuntimeError:
    """A weight with another number of dims than there are."""
    return RuntimeError(f"{op}(): weight must have {n + 2} dims, but has shape {tuple(shape)}")


channels = Message(
    RuntimeError,
    "{op}(): the weight takes {wanted} channels in {groups} groups, but input has {channels}",
    "op wanted channels groups",
)
filters = Message(RuntimeError, "{op}(): {filters} filters don't fall into {groups} groups")
bias_shape = Message(RuntimeError, "{op}(): bias must have shape ({wanted},), not {shape!t}")
empty_weight = Message(RuntimeError, "{op}(): a weight of shape {shape!t} has no elements")
empty_planes = Message(
    RuntimeError, "{op}(): an input may have no samples or channels, but no sizes of 0, as in {shape!t}"
)
kernel_too_large = Message(
    RuntimeError, "{op}(): the kernel covers {kernel!t}, more than the padded input's {size!t}", "op size kernel"
)
padding_word = Message(RuntimeError, "{op}(): padding={padding!r} is neither a number nor 'valid' or 'same'")
same_strided = Message(RuntimeError, "{op}(): padding='same' needs stride 1, not {stride!t}")
output_padding = Message(
    RuntimeError, "{op}(): output_padding {output_padding!t} must be below the stride or the dilation, {below!t}"
)
empty_result = Message(RuntimeError, "{op}(): the result would have sizes {shape!t}")
pool_padding = Message(RuntimeError, "{op}(): padding {padding!t} is more than half of the kernel, {kernel!t}")
divisor = Message(RuntimeError, "{op}(): divisor_override must not be 0")
adaptive_dims = Message(ValueError, "{op}(): input needs at least {n} dims, but has shape {shape!t}")
unpool_shapes = Message(RuntimeError, "{op}(): indices must have the input's shape {input!t}, not {indices!t}")
unpool_bounds = Message(RuntimeError, "{op}(): indices are from {low} to {high}, but the output has {size} positions")
unpool_size = Message(ValueError, "{op}(): output_size {output_size!t} {why}")
fractional_size = Message(
    RuntimeError, "{op}(): an output with a kernel {kernel!t} does not fit into sizes {size!t}", "op size kernel"
)
one_of_two = Message(ValueError, "{op}(): either {first} or {second} must be given, and not both")
pad_dims = Message(
    NotImplementedError,
    "pad(): mode {mode!r} takes pairs for the last 1 to 3 dims of an input with one or two more; "
    "given were pad={pad!t} and shape {shape!t}",
)
pad_wraps = Message(RuntimeError, "pad(): mode {mode!r} cannot pad shape {shape!t} by {pad!t}", "mode pad shape")
pad_value = Message(ValueError, "pad(): mode {mode!r} takes no value, but value={value!r} was given")
mode = Message(ValueError, "{op}(): mode {value!r} is none of {known!c}")
interpolation_dims = Message(NotImplementedError, "interpolate(): mode {mode!r} is not for shape {shape!t}")
align_corners = Message(ValueError, "interpolate(): align_corners is not for mode {mode!r}")
antialias = Message(ValueError, "interpolate(): antialias is for 'bilinear' and 'bicubic' of 4 dims, not {mode!r}")
scale_sizes = Message(ValueError, "{op}(): {word} must be one number or {n}, but is {value!r}")
recomputed = Message(ValueError, "{op}(): recompute_scale_factor goes with scale_factor, not with size")
grid = Message(RuntimeError, "{op}(): {why}")
columns = Message(RuntimeError, "{op}(): {why}")
lanczos = Message(ValueError, "interpolate(): mode 'lanczos' needs antialias=True and no align_corners")
affine = Message(ValueError, "affine_grid(): {why}")
affine_dims = Message(NotImplementedError, "{op}(): size must have 4 or 5 numbers, but is {size!t}")
