"""Messages of creation ops and of conversions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from .message import Message, of_call

# --- arguments ---

surplus_arguments = Message(TypeError, "{function}() takes {most} positional argument(s), but {count} were given")
given_twice = Message(TypeError, "{function}() was given `{argument}` twice")
not_a_layout = Message(TypeError, "{function}(): layout must be ftensor.strided, not {value!r}")


@of_call
def not_strided(function: str, value: object, kind: type[Exception]) -> Exception:
    """Error for a sparse layout."""
    return kind(f"{function}(): tensors are strided here, {value} is not to be had")


not_a_memory_format = Message(TypeError, "{function}(): memory_format must be an ftensor.memory_format, not {value!r}")
memory_format_unsupported = Message(
    RuntimeError, "{function}(): {value} says nothing here; there is no layout to preserve"
)
needs_a_number = Message(TypeError, "{function}() needs a number as `{argument}`, not {value!r} ({value!k})")
no_autograd = Message(
    RuntimeError, "{function}(): ftensor records no gradients, so requires_grad=True can't be honoured"
)
pinned_memory = Message(RuntimeError, "{function}(): only host memory can be pinned, and {device} is no host")


def negative_dimension(shape: Sequence[int]) -> RuntimeError:
    """Error for a negative size."""
    return RuntimeError(f"sizes can't be negative, as {min(shape)} in {tuple(shape)}")


stride_count = Message(
    RuntimeError, "sizes {size!t} and strides {stride!t} must be equally many, not {size!n} and {stride!n}"
)
negative_stride = Message(RuntimeError, "strides can't be negative, as in {stride!t}")
bad_physical_layout = Message(
    RuntimeError,
    "physical_layout {layout!t} must name each of the {size!n} dims of size {size!t} once, counted from 0",
    "size layout",
)
dtype_against_out = Message(RuntimeError, "{function}(): dtype {dtype} is not the dtype of `out`, {out}")
device_against_out = Message(RuntimeError, "{function}(): device {device} is not the device of `out`, {out}")


# --- values ---

value_overflow = Message(RuntimeError, "the value {value} cannot be converted to {dtype} without overflow")
integer_too_large = Message(ValueError, "an integer in the data does not fit into int64; give a floating-point dtype")
# A number with a fraction where torch requires integers.
not_whole = Message(TypeError, "uint64 takes integers, not {value!r}; convert it with int()")


def not_unsigned(value: object) -> OverflowError:
    """Error for an integer that uint64 can't hold."""
    return OverflowError(f"{value} is no integer from 0 to {(1 << 64) - 1}, as uint64 holds")


ragged = Message(
    ValueError,
    "expected a sequence of length {expected} at dim {dim}, but one has {count} elements",
    "expected count dim",
)
too_deep = Message(
    ValueError,
    "the data is nested deeper than {most} levels, where a {value!k} still holds others; does a sequence hold itself?",
    "value most",
)
table_in_data = Message(ValueError, "a {value!k} is no sequence of numbers; give its values: x.to_numpy()")


def wrong_length(value: object, reported: int, actual: int, kind: type[Exception] = IndexError) -> Exception:
    """Error for a sequence whose `len()` differs from its number of items."""
    count = f"{actual}" if actual < reported else "more"
    return kind(f"a {type(value).__name__} says that it has {reported} elements, but gives {count}")


holds_itself = Message(TypeError, "a {value!k} in the data goes deeper than {most} levels; does it hold itself?")


def too_many_numbers(shape: Sequence[int]) -> ValueError:
    """Error for nested sequences that repeat each other and would give too many numbers."""
    count = math.prod(n for n in shape if n)
    return ValueError(f"the data would hold {count} numbers or more, beyond any memory")


number_in_place_of_sequence = Message(TypeError, "{value!r} at dim {dim} is not a sequence, but its neighbours are")
sequence_in_place_of_number = Message(TypeError, "a {value!k} can't be an element: its neighbours are numbers")


@of_call
def text_in_data(value: object, nested: bool) -> TypeError | ValueError:
    """Error for text in data where numbers are expected."""
    if nested:
        return ValueError(f"the data holds text ({type(value).__name__}), not numbers")
    return TypeError(f"tensor() can't be made of {type(value).__name__}; give numbers")


no_dtype_for = Message(RuntimeError, "can't infer a dtype from {value!k}; give numbers, sequences or arrays")
complex_to_real = Message(TypeError, "{value!r} in the data is complex; {dtype} holds real numbers")


def warn_copied_tensor(function: str) -> None:
    """Issues torch's warning for a tensor constructed from a tensor."""
    warnings.warn(f"{function}(tensor) copies; write tensor.clone() to say so", UserWarning, stacklevel=3)


cannot_alias = Message(ValueError, "asarray(copy=False): {what} can't share its memory with a tensor")
buffer_length = Message(ValueError, "frombuffer(): {why}")
legacy_data = Message(
    TypeError, "Tensor() takes sizes or a sequence, not {value!r} ({value!k}); ftensor.tensor() takes single numbers"
)


# --- ranges ---


@of_call
def step_zero(type_: type[Exception] = RuntimeError) -> Exception:
    """Error for a range with a step of zero."""
    return type_("arange(): step must not be zero, also not once converted to the dtype")


bad_range = Message(RuntimeError, "arange(): can't count from {start} to {end} in steps of {step}")
range_too_long = Message(RuntimeError, "arange(): {count:g} elements are more than there can be")
negative_steps = Message(RuntimeError, "{function}(): steps must be at least 0, not {steps}")
complex_bounds = Message(RuntimeError, "{function}(): complex bounds can't be converted to {dtype}")
bounds_dims = Message(
    RuntimeError, "{function}(): `{argument}` must be a number or a 0-d tensor, not of shape {shape!t}"
)
negative_count = Message(RuntimeError, "{function}(): {argument} must be at least 0, not {value}")


# --- conversions ---


def warn_complex_to_real() -> None:
    """Issues torch's warning for a conversion that drops imaginary parts."""
    warnings.warn(
        "converting complex numbers to a real dtype drops their imaginary parts; use .real to say so",
        UserWarning,
        stacklevel=4,
    )


def bad_type_name(value: object, suggestion: object = None) -> ValueError:
    """Error for a string that names no tensor type, in `type()`; `suggestion` is the dtype that it
    spells, if any."""
    advice = "" if suggestion is None else f"; write {suggestion}"
    return ValueError(f"{value!r} names no tensor type, as 'ftensor.FloatTensor' does{advice}")


bad_type = Message(TypeError, "type() takes a dtype or a name, not {value!r} ({value!k})")
