"""Every message a user can meet: one function each, returning the exception torch would raise."""

from __future__ import annotations

from collections.abc import Sequence


class OutOfMemoryError(RuntimeError):
    """The device, or the limit set for its pool, has no room for a buffer."""


class KernelNotBuilt(RuntimeError):
    """The device's image lacks a kernel that the op needs."""


def shape_mismatch(shapes: Sequence[Sequence[int]], dim: int) -> RuntimeError:
    """Operands that don't broadcast; `dim` counts from the last dimension (negative)."""
    sizes = ", ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(
        f"The size of tensors must match at non-singleton dimension {dim}, "
        f"but the shapes are {sizes}; reshape or expand one of them"
    )


def not_a_dtype(function: str, argument: str, value: object) -> TypeError:
    """Something else where a dtype is wanted."""
    return TypeError(
        f"{function}() needs an ftensor.dtype as `{argument}`, such as ftensor.float32, "
        f"but was given {value!r} ({type(value).__name__})"
    )


def no_complex_dtype(dtype: object) -> RuntimeError:
    """to_complex() of a bool or an integer type."""
    return RuntimeError(f"{dtype} has no complex counterpart; convert to a floating-point dtype")


def default_dtype_not_float(value: object) -> TypeError:
    """A default dtype that Python floats cannot become."""
    return TypeError(
        f"the default dtype must be floating point (float16, bfloat16, float32 or float64), "
        f"not {value!r}"
    )


def not_a_number(value: object) -> TypeError:
    """An operand that is neither a tensor nor a number."""
    return TypeError(f"expected a Tensor or a number, not {value!r} ({type(value).__name__})")


def numpy_dtype_not_supported(numpy_dtype: object, supported: str) -> TypeError:
    """A NumPy array whose elements no tensor can hold; `supported` lists the names that work."""
    return TypeError(
        f"a NumPy array of {numpy_dtype} cannot become a tensor; "
        f"convert it with astype() to one of: {supported}"
    )


def numpy_byte_order(numpy_dtype: object) -> ValueError:
    """A NumPy array in the byte order of another kind of machine."""
    return ValueError(
        f"the NumPy dtype {numpy_dtype} is not in this machine's byte order; "
        f"convert the array with array.astype(array.dtype.newbyteorder('='))"
    )


def no_integer_limits(dtype: object) -> TypeError:
    """iinfo of a type without integer limits."""
    return TypeError(f"iinfo() needs an integer dtype, not {dtype}; floating ones have finfo()")


def no_floating_limits(dtype: object) -> TypeError:
    """finfo of a type that is not floating point."""
    return TypeError(f"finfo() needs a floating-point dtype, not {dtype}; integers have iinfo()")


def print_count(option: str, value: object) -> ValueError:
    """A print option that counts something and was given no count."""
    return ValueError(f"set_printoptions: `{option}` must be an integer >= 0, not {value!r}")


def print_profile(profile: object, profiles: Sequence[str]) -> ValueError:
    """A print profile that does not exist."""
    return ValueError(f"set_printoptions: no profile {profile!r}; there are {', '.join(profiles)}")


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    """A dim that a tensor of `ndim` dims does not have."""
    span = ndim or 1
    kind = f"a tensor of {ndim} dims" if ndim else "a 0-d tensor"
    return IndexError(f"dim {dim} is out of range for {kind}: it may be from {-span} to {span - 1}")


def repeated_dim(dim: int, dims: Sequence[int]) -> RuntimeError:
    """One dim named twice, perhaps once from the front and once from the end."""
    return RuntimeError(f"dim {dim} appears more than once in {tuple(dims)}; name each dim once")


def negative_size(size: int, shape: Sequence[int]) -> RuntimeError:
    """A size below zero that is not the -1 to be inferred."""
    return RuntimeError(
        f"size {size} in shape {tuple(shape)} is negative; only -1, for 'whatever fits', may be"
    )


def several_inferred(shape: Sequence[int]) -> RuntimeError:
    """More than one -1 in a shape."""
    return RuntimeError(f"shape {tuple(shape)} has more than one -1; only one size can be inferred")


def ambiguous_inferred(shape: Sequence[int]) -> RuntimeError:
    """A -1 beside a size of 0: any size would fit."""
    return RuntimeError(
        f"the -1 in shape {tuple(shape)} could be any size, because the tensor has no elements; "
        f"give the size"
    )


def shape_does_not_fit(shape: Sequence[int], count: int) -> RuntimeError:
    """A shape that can't hold exactly the tensor's elements."""
    return RuntimeError(f"shape {tuple(shape)} does not fit a tensor of {count} elements")


def output_shape(out_shape: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """A given output (in-place or out=) that is too small for the result."""
    return RuntimeError(
        f"the output has shape {tuple(out_shape)}, but the operands broadcast to {tuple(shape)}"
    )
