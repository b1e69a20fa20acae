"""Messages of the array API standard's functions."""

from __future__ import annotations

from .message import Message

not_an_array = Message(TypeError, "{name}() needs a tensor, not {value!k}", "name value")
dtype_category = Message(
    TypeError,
    "{name}() is for {category} dtypes, not {dtype}; convert first with astype(x, dtype)",
    "name category dtype",
)
number_above_array = Message(
    TypeError,
    "{name}(): the number {value!r} is of a higher kind than {dtype}; convert the array first",
    "name value dtype",
)
no_array_among = Message(TypeError, "{name}() needs at least one array", "name")
no_common_dtype = Message(
    TypeError,
    "the standard has no common dtype of {first} and {second}; convert one with astype(x, dtype)",
    "first second",
)
unknown_kind = Message(
    ValueError,
    "{kind!r} is no kind of dtypes: there are 'bool', 'signed integer', 'unsigned integer', "
    "'integral', 'real floating', 'complex floating', 'numeric'",
    "kind",
)
unknown_version = Message(ValueError, "api_version {version!r} is none of the array API's: {known}", "version known")
axis_needed = Message(ValueError, "{name}(): name the axis of a tensor of {ndim} dims", "name ndim")
axis_range = Message(IndexError, "{name}(): there is no axis {axis} in a tensor of {ndim} dims", "name axis ndim")
axis_twice = Message(ValueError, "{name}(): {axis} names an axis twice", "name axis")
axis_not_negative = Message(
    ValueError, "{name}(): axis counts from the last and must be negative, not {axis}", "name axis"
)
not_size_one = Message(ValueError, "squeeze(): axis {axis} has {size} elements, not one", "axis size")
sizes_differ = Message(ValueError, "{name}(): {first} elements along the axis, and {second}", "name first second")
reshape_needs_copy = Message(ValueError, "reshape() to {shape!t} needs a copy; don't pass copy=False", "shape")
nonzero_of_zero_dims = Message(ValueError, "nonzero() needs a tensor of one dim or more")
no_elements = Message(ValueError, "{name}() of no elements has no result", "name")
not_python_number = Message(TypeError, "{name}(): fill_value must be a Python number, not {value!k}", "name value")
unknown_word = Message(ValueError, "{name}(): {what} must be one of {known}, not {value!r}", "name what known value")
needs_copy = Message(ValueError, "{name}() of a {value!k} needs a copy; don't pass copy=False", "name value")
several_dtypes = Message(ValueError, "{name}() needs arrays of one dtype, not {dtypes}", "name dtypes")
too_few_dims = Message(ValueError, "{name}() needs {needed} dims or more, not {ndim}", "name needed ndim")
no_dtype_among = Message(ValueError, "result_type() needs at least one array or dtype")
