"""The messages of creation ops and of conversions; `errors` holds all others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

# --- arguments ---


def surplus_arguments(function: str, most: int, given: int) -> TypeError:
    """More positional arguments than there are places."""
    return TypeError(f"{function}() takes {most} positional argument(s), but {given} were given")


def given_twice(function: str, argument: str) -> TypeError:
    """An argument given by position and by name."""
    return TypeError(f"{function}() was given `{argument}` twice")


def not_a_layout(function: str, value: object) -> TypeError:
    """Another layout than the one there is."""
    return TypeError(f"{function}(): layout must be ftensor.strided, not {value!r}")


def not_strided(function: str, value: object, kind: type[Exception]) -> Exception:
    """A layout of sparse tensors."""
    return kind(f"{function}(): tensors are strided here, {value} is not to be had")


def not_a_memory_format(function: str, value: object) -> TypeError:
    """Something else where a memory format is wanted."""
    return TypeError(f"{function}(): memory_format must be an ftensor.memory_format, not {value!r}")


def memory_format_unsupported(function: str, value: object) -> RuntimeError:
    """A memory format that has no meaning without a tensor to take after."""
    return RuntimeError(f"{function}(): {value} says nothing here; there is no layout to preserve")


def not_a_number(function: str, argument: str, value: object) -> TypeError:
    """Something else where a number (or a 0-d tensor) is wanted."""
    return TypeError(
        f"{function}() needs a number as `{argument}`, not {value!r} ({type(value).__name__})"
    )


def no_autograd(function: str) -> RuntimeError:
    """requires_grad=True."""
    return RuntimeError(
        f"{function}(): ftensor records no gradients, so requires_grad=True can't be honoured"
    )


def pinned_memory(function: str, device: object) -> RuntimeError:
    """pin_memory=True for a device's own memory."""
    return RuntimeError(f"{function}(): only host memory can be pinned, and {device} is no host")


def negative_dimension(shape: Sequence[int]) -> RuntimeError:
    """A size below zero."""
    return RuntimeError(f"sizes can't be negative, as {min(shape)} in {tuple(shape)}")


def stride_count(size: Sequence[int], stride: Sequence[int]) -> RuntimeError:
    """Sizes and strides of different lengths."""
    return RuntimeError(
        f"sizes {tuple(size)} and strides {tuple(stride)} must be equally many, "
        f"not {len(size)} and {len(stride)}"
    )


def negative_stride(stride: Sequence[int]) -> RuntimeError:
    """A stride that leads back."""
    return RuntimeError(f"strides can't be negative, as in {tuple(stride)}")


def bad_physical_layout(size: Sequence[int], layout: Sequence[int]) -> RuntimeError:
    """An order of dims that does not name each dim once."""
    return RuntimeError(
        f"physical_layout {tuple(layout)} must name each of the {len(size)} dims of size "
        f"{tuple(size)} once, counted from 0"
    )


def dtype_against_out(function: str, dtype: object, out: object) -> RuntimeError:
    """`dtype` and `out` that contradict each other."""
    return RuntimeError(f"{function}(): dtype {dtype} is not the dtype of `out`, {out}")


def device_against_out(function: str, device: object, out: object) -> RuntimeError:
    """`device` and `out` that contradict each other."""
    return RuntimeError(f"{function}(): device {device} is not the device of `out`, {out}")


# --- values ---


def value_overflow(value: object, dtype: object) -> RuntimeError:
    """A number that a dtype cannot hold."""
    return RuntimeError(f"the value {value} cannot be converted to {dtype} without overflow")


def integer_too_large() -> ValueError:
    """A Python integer in the data that int64 cannot hold."""
    return ValueError("an integer in the data does not fit into int64; give a floating-point dtype")


def not_whole(value: object) -> TypeError:
    """A number with a fraction where torch takes integers alone."""
    return TypeError(f"uint64 takes integers, not {value!r}; convert it with int()")


def not_unsigned(value: object) -> OverflowError:
    """An integer that is none of uint64's."""
    return OverflowError(f"{value} is no integer from 0 to {(1 << 64) - 1}, as uint64 holds")


def ragged(expected: int, found: int, dim: int) -> ValueError:
    """Nested sequences of different lengths."""
    return ValueError(
        f"expected a sequence of length {expected} at dim {dim}, but one has {found} elements"
    )


def too_deep(value: object, most: int) -> ValueError:
    """More levels of nesting than there can be dims, as in a list that holds itself."""
    return ValueError(
        f"the data is nested deeper than {most} levels, where a {type(value).__name__} still holds "
        "others; does a sequence hold itself?"
    )


def table_in_data(value: object) -> ValueError:
    """A data frame, whose sequence is one of columns' names."""
    return ValueError(
        f"a {type(value).__name__} is no sequence of numbers; give its values: x.to_numpy()"
    )


def lying_length(
    value: object, said: int, held: int, kind: type[Exception] = IndexError
) -> Exception:
    """A sequence whose length is not the number of what it holds."""
    found = f"{held}" if held < said else "more"
    return kind(f"a {type(value).__name__} says that it has {said} elements, but gives {found}")


def holds_itself(value: object, most: int) -> TypeError:
    """A sequence with no end below one of its later elements."""
    return TypeError(
        f"a {type(value).__name__} in the data goes deeper than {most} levels; does it hold itself?"
    )


def too_many_numbers(shape: Sequence[int]) -> ValueError:
    """Nested sequences that are short to write, and hold each other many times."""
    count = math.prod(n for n in shape if n)
    return ValueError(f"the data would hold {count} numbers or more, beyond any memory")


def number_in_place_of_sequence(value: object, dim: int) -> TypeError:
    """A number beside sequences."""
    return TypeError(f"{value!r} at dim {dim} is not a sequence, but its neighbours are")


def sequence_in_place_of_number(value: object) -> TypeError:
    """A sequence, or a tensor of several elements, beside numbers."""
    return TypeError(f"a {type(value).__name__} can't be an element: its neighbours are numbers")


def text_in_data(value: object, nested: bool) -> TypeError | ValueError:
    """A string where numbers are wanted."""
    if nested:
        return ValueError(f"the data holds text ({type(value).__name__}), not numbers")
    return TypeError(f"tensor() can't be made of {type(value).__name__}; give numbers")


def no_dtype_for(value: object) -> RuntimeError:
    """Data whose dtype can't be told."""
    return RuntimeError(
        f"can't infer a dtype from {type(value).__name__}; give numbers, sequences or arrays"
    )


def complex_to_real(value: object, dtype: object) -> TypeError:
    """Complex data for a real dtype."""
    return TypeError(f"{value!r} in the data is complex; {dtype} holds real numbers")


def warn_copied_tensor(function: str) -> None:
    """torch's warning for a tensor made of a tensor."""
    warnings.warn(
        f"{function}(tensor) copies; write tensor.clone() to say so",
        UserWarning,
        stacklevel=3,
    )


def cannot_alias(what: str) -> ValueError:
    """asarray(copy=False) of something whose memory can't be shared."""
    return ValueError(f"asarray(copy=False): {what} can't share its memory with a tensor")


def buffer_length(why: str) -> ValueError:
    """frombuffer of a buffer that does not hold the elements asked for."""
    return ValueError(f"frombuffer(): {why}")


def legacy_data(value: object) -> TypeError:
    """Tensor(x) of something that is neither sizes nor data."""
    return TypeError(
        f"Tensor() takes sizes or a sequence, not {value!r} ({type(value).__name__}); "
        f"ftensor.tensor() takes single numbers"
    )


# --- ranges ---


def step_zero(type_: type[Exception] = RuntimeError) -> Exception:
    """A range that would not get anywhere."""
    return type_("arange(): step must not be zero, also not once converted to the dtype")


def bad_range(start: object, end: object, step: object) -> RuntimeError:
    """Bounds that the step leads away from, or that are not finite."""
    return RuntimeError(f"arange(): can't count from {start} to {end} in steps of {step}")


def range_too_long(count: float) -> RuntimeError:
    """A range of more elements than 64 bits count."""
    return RuntimeError(f"arange(): {count:g} elements are more than there can be")


def negative_steps(function: str, steps: int) -> RuntimeError:
    """linspace and logspace with a negative count."""
    return RuntimeError(f"{function}(): steps must be at least 0, not {steps}")


def complex_bounds(function: str, dtype: object) -> RuntimeError:
    """Complex bounds for a real dtype."""
    return RuntimeError(f"{function}(): complex bounds can't be converted to {dtype}")


def bounds_dims(function: str, argument: str, shape: Sequence[int]) -> RuntimeError:
    """A bound given as a tensor with dims."""
    return RuntimeError(
        f"{function}(): `{argument}` must be a number or a 0-d tensor, not of shape {tuple(shape)}"
    )


def negative_count(function: str, argument: str, value: int) -> RuntimeError:
    """A negative number of rows or columns."""
    return RuntimeError(f"{function}(): {argument} must be at least 0, not {value}")


# --- conversions ---


def warn_complex_to_real() -> None:
    """torch's warning for a conversion that drops imaginary parts."""
    warnings.warn(
        "converting complex numbers to a real dtype drops their imaginary parts; "
        "use .real to say so",
        UserWarning,
        stacklevel=4,
    )


def bad_type_name(value: object, meant: object = None) -> ValueError:
    """type() with a string that names no tensor type; `meant` is the dtype that it spells."""
    instead = "" if meant is None else f"; write {meant}"
    return ValueError(f"{value!r} names no tensor type, as 'ftensor.FloatTensor' does{instead}")


def bad_type(value: object) -> TypeError:
    """type() with something that is neither dtype nor name."""
    return TypeError(f"type() takes a dtype or a name, not {value!r} ({type(value).__name__})")
