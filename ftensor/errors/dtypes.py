"""Messages about dtypes, numbers and printing."""

from __future__ import annotations

from .message import Message


def not_a_dtype(function: str, argument: str, value: object, meant: object = None) -> TypeError:
    """Something else where a dtype is wanted; `meant` is the dtype that it spells, if any."""
    how = f"such as ftensor.float32, but was given {value!r} ({type(value).__name__})"
    if meant is not None:
        how = f"not {value!r} ({type(value).__name__}): write {meant}"
    return TypeError(f"{function}() needs an ftensor.dtype as `{argument}`, {how}")


no_complex_dtype = Message(RuntimeError, "{dtype} has no complex counterpart; convert to a floating-point dtype")
# Two dtypes of which neither holds the other, nor does a third as torch has it
no_promotion = Message(RuntimeError, "promotion is not supported for {first} and {second}: convert one with .to(dtype)")
default_dtype_not_float = Message(
    TypeError, "the default dtype must be floating point (float16, bfloat16, float32 or float64), not {value!r}"
)
not_a_number = Message(TypeError, "expected a Tensor or a number, not {value!r} ({value!k})")
numpy_dtype_not_supported = Message(
    TypeError, "a NumPy array of {numpy_dtype} cannot become a tensor; convert it with astype() to one of: {supported}"
)
numpy_byte_order = Message(
    ValueError,
    "the NumPy dtype {numpy_dtype} is not in this machine's byte order; convert the array with "
    "array.astype(array.dtype.newbyteorder('='))",
)
no_integer_limits = Message(TypeError, "iinfo() needs an integer dtype, not {dtype}; floating ones have finfo()")
no_floating_limits = Message(TypeError, "finfo() needs a floating-point dtype, not {dtype}; integers have iinfo()")
print_count = Message(ValueError, "set_printoptions: `{option}` must be an integer >= 0, not {value!r}")
print_profile = Message(ValueError, "set_printoptions: no profile {profile!r}; there are {profiles!c}")
integer_overflow = Message(OverflowError, "{value} is too big: a Python integer must fit into 64 bits")
