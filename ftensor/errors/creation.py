"""Messages about creation, conversions, generators and distributions, and files of tensors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from .message import Message, names_called_op

# --- arguments ---

surplus_arguments = Message(TypeError, "{function}() takes {most} positional argument(s), but {count} were given")
given_twice = Message(TypeError, "{function}() was given `{argument}` twice")
not_a_layout = Message(TypeError, "{function}(): layout must be ftensor.strided, not {value!r}")
not_strided = Message(RuntimeError, "{function}(): tensors are strided here, {value} is not available")
not_a_memory_format = Message(TypeError, "{function}(): memory_format must be an ftensor.memory_format, not {value!r}")
memory_format_unsupported = Message(
    RuntimeError, "{function}(): {value} has no meaning here; there is no layout to preserve"
)
needs_a_number = Message(TypeError, "{function}() needs a number as `{argument}`, not {value!r} ({value!k})")
no_autograd = Message(
    RuntimeError,
    "{function}(): ftensor records no gradients, so requires_grad=True can't be honoured; torch's device "
    "records them (ftensor docs torch-device)",
)
pinned_memory = Message(RuntimeError, "{function}(): only host memory can be pinned, and {device} is no host")


def negative_dimension(shape: Sequence[int]) -> RuntimeError:
    """Error for a negative size."""
    return RuntimeError(f"sizes can't be negative, as {min(shape)} in {tuple(shape)}")


stride_count = Message(
    RuntimeError, "sizes {size!t} and strides {stride!t} must have the same length, not {size!n} and {stride!n}"
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
integer_too_large = Message(ValueError, "{value} in the data does not fit into int64; give a floating-point dtype")
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


@names_called_op
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


step_zero = Message(RuntimeError, "arange(): step must not be zero, also not once converted to the dtype")
bad_range = Message(RuntimeError, "arange(): can't count from {start} to {end} in steps of {step}")
range_too_long = Message(RuntimeError, "arange(): {count:g} elements are too many for a tensor")
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
no_seed = Message(RuntimeError, "manual_seed(): a seed is an int, not {value!k}")
seed_out_of_range = Message(ValueError, "manual_seed(): {value} is not between -2**63 and 2**64 - 1")
bad_offset = Message(RuntimeError, "a generator's offset is an int from 0 to 2**48 - 1, not {value}")


def not_a_state(value: object) -> TypeError:
    """Error for a generator state that is not a tensor of bytes."""
    kind = getattr(value, "dtype", type(value).__name__)
    return TypeError(f"a generator's state is a uint8 tensor, as get_state() gives, not {kind}")


state_size = Message(RuntimeError, "a generator's state has shape ({size},), not {shape!t}", "shape size")


@names_called_op
def not_a_generator(function: str, value: object) -> TypeError:
    """Error for an argument that must be a generator."""
    kind = type(value).__name__
    return TypeError(f"{function}(): generator must be a ftensor.Generator, not {kind}")


unknown_argument = Message(TypeError, "{function}() has no argument {name!r}")
bad_parameter = Message(RuntimeError, "{function}(): {name} must be {wanted}, but is {value}")
not_continuous = Message(RuntimeError, "{function}(): fills floating-point tensors, not {dtype} ones")
empty_range = Message(RuntimeError, "{function}(): there is no number from {low} up to, but without, {high}")
beyond_dtype = Message(RuntimeError, "{function}(): {name}, which is {value}, is out of the range of {dtype}")
too_wide = Message(RuntimeError, "uniform_(): {dtype} cannot hold the distance from {low} to {high}", "low high dtype")
complex_integers = Message(RuntimeError, "{function}(): makes real numbers, not {dtype} ones")
complex_std = Message(RuntimeError, "normal(): a standard deviation is real; use std.real")
negative_std = Message(RuntimeError, "normal(): std has an element below 0")
weights_dims = Message(RuntimeError, "multinomial(): the input must have 1 or 2 dims, but has {ndim}")
weights_dtype = Message(RuntimeError, "multinomial(): the input must be floating-point, but is {dtype}")


@names_called_op
def sample_count(count: int, size: int) -> RuntimeError:
    """Error for more draws without replacement than categories, or for no draws."""
    return RuntimeError(
        f"multinomial(): num_samples must be from 1 to {size} (without replacement), not {count}"
        if count > 0
        else f"multinomial(): num_samples must be at least 1, not {count}"
    )


bad_weights = Message(
    RuntimeError, "multinomial(): each row of the input must have a finite, positive sum, and no element below 0"
)
binomial_dtype = Message(ValueError, "binomial(): {name} must be floating-point, but is {dtype}")
binomial_dtypes = Message(RuntimeError, "binomial(): count is {count} and prob {prob}; convert one of them")
poisson_rate = Message(RuntimeError, "poisson(): each rate must be from 0 to 9.2e18")
permutation_dtype = Message(RuntimeError, "randperm(): {dtype} cannot hold each number below {count}", "count dtype")
dropout_probability = Message(RuntimeError, "dropout(): the probability p must be from 0 to 1, but is {value}")
dropout_cast = Message(RuntimeError, "dropout(): multiplies by fractions, which {dtype} cannot hold")
feature_dims = Message(RuntimeError, "dropout of features: the input needs 2 dims or more, but has {ndim}")
dropout1d_dims = Message(RuntimeError, "dropout1d(): the input must have 2 or 3 dims, but has {ndim}")
slope_bounds = Message(RuntimeError, "rrelu(): lower is {lower}, which is above upper, {upper}")


def warn_channels(function: str, ndim: int, expected: Sequence[int]) -> None:
    """Warns about a channel dropout whose input has too few or too many dims, which torch still
    accepts."""
    text = f"{function}(): an input has {' or '.join(map(str, expected))} dims, this one {ndim}; "
    warnings.warn(text + "torch means to refuse it", stacklevel=3)


def warn_batch() -> None:
    """Warns about a `dropout2d` of three dims."""
    text = "dropout2d(): an input of 3 dims counts as (batch, channels, length); use dropout1d"
    warnings.warn(text, stacklevel=3)


parameter = Message(ValueError, "{kind}(): `{name}` must be {what}", "kind name what")
one_of_two = Message(
    ValueError, "{kind}() takes one of `{first}` and `{second}`, not both or none", "kind first second"
)
one_matrix = Message(ValueError, "MultivariateNormal() takes one of covariance_matrix, precision_matrix and scale_tril")
too_many_dims = Message(
    ValueError, "Independent(): {count} dims are more than the batch shape {shape!t} has", "count shape"
)
no_form = Message(NotImplementedError, "{kind} has no {name} in closed form here", "kind name")
no_divergence = Message(NotImplementedError, "kl_divergence() has no formula for {p} and {q}", "p q")
broken = Message(ValueError, "{path}: this is no whole safetensors file: {why}")
dtype_unknown = Message(ValueError, "{path}: tensor {name!r} has dtype {word!r}, which ftensor lacks")
header_too_long = Message(
    ValueError,
    "save(): the tensors' names and the values beside them take {length} bytes; the safetensors format allows {limit}",
)


def not_savable(value: object, location: str) -> TypeError:
    """Error for a value that is neither a tensor nor plain data."""
    return TypeError(
        f"save(): {location or 'the value'} is a {type(value).__name__}; tensors, numbers, strings, "
        "None, and lists, tuples and dicts (with strings or integers as keys) of them can be saved"
    )


contents_too_deep = Message(ValueError, "save(): the value is nested too deeply, or contains itself")
# A file of torch.save, without torch.
needs_torch = Message(RuntimeError, "{path} was written by torch.save, so torch is needed to read it")
# A file of torch.save that is damaged or holds more than plain tensors.
torch_refuses = Message(ValueError, "{path}: damaged, or more than torch's weights-only loader reads: {why}")
bad_tree = Message(ValueError, "{path}: ftensor's metadata is damaged: {why}")


def unreadable(path: object, head: Sequence[int]) -> ValueError:
    """Error for a file of another format."""
    return ValueError(f"{path}: neither a safetensors file nor one of torch.save; it begins with {bytes(head)!r}")


_NUMPY_WAY = {
    "array": "ft.from_numpy(numpy.load(path))",
    "archive of arrays": "{name: ft.from_numpy(array) for name, array in numpy.load(path).items()}",
}


def of_numpy(path: object, kind: str) -> ValueError:
    """Error for a .npy or .npz file."""
    return ValueError(f"{path} is an {kind} that NumPy saved; load it with {_NUMPY_WAY[kind]}")


no_dask = Message(
    ImportError,
    "ftensor.dask makes tensors chunks of Dask's arrays, but Dask is not installed here, or not as "
    "a whole; pip install 'dask[array,distributed]'",
)
no_device_left = Message(
    RuntimeError,
    "worker {worker} gets no device: {devices} belong to other workers of this cluster on this "
    "machine. Start as many workers as there are devices, or name one more than once, as in "
    'OwnDevice(["intel-cpu", "intel-cpu"])',
)
no_lock_folder = Message(
    RuntimeError,
    "worker {worker} can't note its device in {folder}: {problem}. Remove that folder, or start all workers "
    "of this machine with the same TMPDIR, a folder that you alone can write",
)
not_a_tensor_argument = Message(TypeError, "{name}() needs a tensor, not {value!k}", "name value")
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
number_outside = Message(
    OverflowError,
    "{name}(): {value} is outside {dtype} ({least} to {greatest}); convert the array to a wider dtype first",
    "name value dtype least greatest",
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
