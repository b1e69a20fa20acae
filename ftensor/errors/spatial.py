"""Mistakes with ops over space: convolutions, pooling, padding, interpolation, grids."""

from __future__ import annotations

from collections.abc import Sequence


def count(op: str, word: str, n: int, given: object) -> RuntimeError:
    """A size that is neither one number nor one for each dim."""
    return RuntimeError(f"{op}(): {word} must be an int or {n} ints, but is {given!r}")


def not_a_size(op: str, word: str, given: object) -> TypeError:
    """A size that is no number."""
    return TypeError(f"{op}(): {word} must be an int or ints, not {given!r}")


def negative(op: str, word: str, given: Sequence[int]) -> RuntimeError:
    """A size below 0."""
    return RuntimeError(f"{op}(): {word} must not be negative, but is {tuple(given)}")


def not_positive(op: str, word: str, given: Sequence[int]) -> RuntimeError:
    """A size below 1."""
    return RuntimeError(f"{op}(): {word} must be positive, but is {tuple(given)}")


def input_dims(op: str, n: int, shape: Sequence[int]) -> RuntimeError:
    """An input that has neither n spatial dims with channels nor a batch of those."""
    return RuntimeError(
        f"{op}(): input must have {n + 1} dims, or {n + 2} with a batch, all but the batch's not "
        f"empty, but has shape {tuple(shape)}"
    )


def weight_dims(op: str, n: int, shape: Sequence[int]) -> RuntimeError:
    """A weight with another number of dims than there are."""
    return RuntimeError(f"{op}(): weight must have {n + 2} dims, but has shape {tuple(shape)}")


def channels(op: str, wanted: int, given: int, groups: int) -> RuntimeError:
    """Channels that are not those of the weight."""
    return RuntimeError(
        f"{op}(): the weight takes {wanted} channels in {groups} groups, but input has {given}"
    )


def filters(op: str, filters: int, groups: int) -> RuntimeError:
    """Filters that do not fall into groups."""
    return RuntimeError(f"{op}(): {filters} filters don't fall into {groups} groups")


def bias_shape(op: str, wanted: int, shape: Sequence[int]) -> RuntimeError:
    """A bias that is not one number for each filter."""
    return RuntimeError(f"{op}(): bias must have shape ({wanted},), not {tuple(shape)}")


def empty_weight(op: str, shape: Sequence[int]) -> RuntimeError:
    """A kernel without elements, or a transposed one without filters."""
    return RuntimeError(f"{op}(): a weight of shape {tuple(shape)} has no elements")


def empty_planes(op: str, shape: Sequence[int]) -> RuntimeError:
    """An input of samples and channels, but without elements."""
    return RuntimeError(
        f"{op}(): an input may have no samples or channels, but no sizes of 0, as in {tuple(shape)}"
    )


def kernel_too_large(op: str, size: Sequence[int], kernel: Sequence[int]) -> RuntimeError:
    """A kernel beyond the padded input."""
    return RuntimeError(
        f"{op}(): the kernel covers {tuple(kernel)}, more than the padded input's {tuple(size)}"
    )


def padding_word(op: str, given: object) -> RuntimeError:
    """A word that names no padding."""
    return RuntimeError(f"{op}(): padding={given!r} is neither a number nor 'valid' or 'same'")


def same_strided(op: str, stride: Sequence[int]) -> RuntimeError:
    """padding='same' with strides."""
    return RuntimeError(f"{op}(): padding='same' needs stride 1, not {tuple(stride)}")


def output_padding(op: str, given: Sequence[int], below: Sequence[int]) -> RuntimeError:
    """More padding of the output than there are outputs to choose from."""
    return RuntimeError(
        f"{op}(): output_padding {tuple(given)} must be below the stride or the dilation, "
        f"{tuple(below)}"
    )


def empty_result(op: str, shape: Sequence[int]) -> RuntimeError:
    """An output without elements, or with less."""
    return RuntimeError(f"{op}(): the result would have sizes {tuple(shape)}")


def pool_padding(op: str, padding: Sequence[int], kernel: Sequence[int]) -> RuntimeError:
    """Padding that would leave a window without elements."""
    return RuntimeError(
        f"{op}(): padding {tuple(padding)} is more than half of the kernel, {tuple(kernel)}"
    )


def divisor(op: str) -> RuntimeError:
    """A mean divided by 0."""
    return RuntimeError(f"{op}(): divisor_override must not be 0")


def adaptive_dims(op: str, n: int, shape: Sequence[int]) -> ValueError:
    """An input with too few dims for the sizes that are asked for."""
    return ValueError(f"{op}(): input needs at least {n} dims, but has shape {tuple(shape)}")


def unpool_shapes(op: str, input: Sequence[int], indices: Sequence[int]) -> RuntimeError:
    """Indices that are not one for each element."""
    return RuntimeError(
        f"{op}(): indices must have the input's shape {tuple(input)}, not {tuple(indices)}"
    )


def unpool_bounds(op: str, low: int, high: int, size: int) -> RuntimeError:
    """Indices beyond the output."""
    return RuntimeError(
        f"{op}(): indices are from {low} to {high}, but the output has {size} positions"
    )


def unpool_size(op: str, given: Sequence[int], why: str) -> ValueError:
    """An output size that the kernel cannot have come from."""
    return ValueError(f"{op}(): output_size {tuple(given)} {why}")


def fractional_size(op: str, size: Sequence[int], kernel: Sequence[int]) -> RuntimeError:
    """Windows of a fractional pool that do not fit."""
    return RuntimeError(
        f"{op}(): an output with a kernel {tuple(kernel)} does not fit into sizes {tuple(size)}"
    )


def one_of_two(op: str, first: str, second: str) -> ValueError:
    """Neither, or both, of two arguments that say the same."""
    return ValueError(f"{op}(): either {first} or {second} must be given, and not both")


def pad_dims(mode: str, pad: Sequence[int], shape: Sequence[int]) -> NotImplementedError:
    """Pairs that are not those of the last one, two or three dims."""
    return NotImplementedError(
        f"pad(): mode {mode!r} takes pairs for the last 1 to 3 dims of an input with one or two "
        f"more; given were pad={tuple(pad)} and shape {tuple(shape)}"
    )


def pad_wraps(mode: str, pad: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """More padding than there is to take it from."""
    return RuntimeError(f"pad(): mode {mode!r} cannot pad shape {tuple(shape)} by {tuple(pad)}")


def pad_value(mode: str, value: object) -> ValueError:
    """A value that no element would get."""
    return ValueError(f"pad(): mode {mode!r} takes no value, but value={value!r} was given")


def mode(op: str, given: object, known: Sequence[str]) -> ValueError:
    """A mode that there is not."""
    return ValueError(f"{op}(): mode {given!r} is none of {', '.join(known)}")


def interpolation_dims(mode: str, shape: Sequence[int]) -> NotImplementedError:
    """A mode for another number of dims."""
    return NotImplementedError(f"interpolate(): mode {mode!r} is not for shape {tuple(shape)}")


def align_corners(mode: str) -> ValueError:
    """Corners that a mode does not know."""
    return ValueError(f"interpolate(): align_corners is not for mode {mode!r}")


def antialias(mode: str) -> ValueError:
    """Antialiasing of other modes."""
    return ValueError(
        f"interpolate(): antialias is for 'bilinear' and 'bicubic' of 4 dims, not {mode!r}"
    )


def scale_sizes(op: str, word: str, n: int, given: object) -> ValueError:
    """Sizes or factors for another number of dims."""
    return ValueError(f"{op}(): {word} must be one number or {n}, but is {given!r}")


def recomputed(op: str) -> ValueError:
    """A scale recomputed from a size that was given."""
    return ValueError(f"{op}(): recompute_scale_factor goes with scale_factor, not with size")


def grid(op: str, why: str) -> RuntimeError:
    """A grid that does not belong to its input."""
    return RuntimeError(f"{op}(): {why}")


def columns(op: str, why: str) -> RuntimeError:
    """Columns that make no image, or an image that makes none."""
    return RuntimeError(f"{op}(): {why}")


def lanczos() -> ValueError:
    """A mode that is for antialiasing alone."""
    return ValueError("interpolate(): mode 'lanczos' needs antialias=True and no align_corners")


def affine(why: str) -> ValueError:
    """Maps that make no grid."""
    return ValueError(f"affine_grid(): {why}")


def affine_dims(op: str, size: Sequence[int]) -> NotImplementedError:
    """A grid for an image without two or three dims."""
    return NotImplementedError(f"{op}(): size must have 4 or 5 numbers, but is {tuple(size)}")
