"""Messages about files of tensors, Dask and the array API."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message

broken = Message(ValueError, "{path}: this is no whole safetensors file: {why}")
dtype_unknown = Message(ValueError, "{path}: tensor {name!r} has dtype {word!r}, which ftensor has not")
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


too_deep = Message(ValueError, "save(): the value is nested too deeply, or contains itself")
# A file of torch.save, without torch.
needs_torch = Message(RuntimeError, "{path} was written by torch.save, so torch is needed to read it")
# A file of torch.save that is damaged or holds more than plain tensors.
torch_refuses = Message(ValueError, "{path}: damaged, or more than torch's weights-only loader reads: {why}")
bad_tree = Message(ValueError, "{path}: what ftensor notes beside the tensors is damaged: {why}")


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
