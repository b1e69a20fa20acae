"""Messages about Fourier transforms, windows and filters."""

from __future__ import annotations

from .message import Message, names_called_op

dtype = Message(RuntimeError, "{op}(): {dtype} is not transformed; convert with .to(ftensor.float32)")
real_needed = Message(RuntimeError, "{op}() takes real numbers, not {dtype}; fft() takes complex ones")
points = Message(RuntimeError, "{op}(): a transform needs at least 1 point, but n is {n}")
norm = Message(RuntimeError, "{op}(): norm={norm!r} is none of 'forward', 'backward' and 'ortho'")
norm_type = Message(TypeError, "{op}(): norm must be a string, not {norm!k}")
no_dims = Message(IndexError, "{op}(): dim {dim} of a 0-d tensor, which has none")
repeated = Message(RuntimeError, "{op}(): dims must differ, but are {dims!t}")
lengths = Message(RuntimeError, "{op}(): s={s!t} and dim={dims!t} must have the same number of entries")
too_many = Message(RuntimeError, "{op}(): s={s!t} has more sizes than the input's {ndim} dims")
no_axis = Message(RuntimeError, "{op}(): at least one dim must be transformed")
frequencies = Message(RuntimeError, "{op}(): dtype must be floating point, not {dtype}")
real_output = Message(RuntimeError, "{op}(): out must be floating point, not {dtype}")
no_shift = Message(RuntimeError, "{op}(): a 0-d tensor has no dim to shift along")
window_length = Message(RuntimeError, "{op}(): a window's length must not be negative, but is {n}")


@names_called_op
def window_dtype(op: str, dtype: object, kind: type[Exception]) -> Exception:
    """Error for a window in an unsupported dtype."""
    expected = "float32 or float64" if kind is ValueError else "floating point"
    return kind(f"{op}(): dtype must be {expected}, not {dtype}")


coefficients = Message(TypeError, "general_cosine(): a must be a list or tuple, not {a!k}")
no_coefficients = Message(ValueError, "general_cosine(): a must have at least one coefficient")
positive = Message(ValueError, "{op}(): {name} must be positive, but is {value}")
not_negative = Message(ValueError, "{op}(): {name} must not be negative, but is {value}")
center = Message(ValueError, "exponential(): center={center} goes with sym=False alone")
stft_argument = Message(RuntimeError, "{op}(): {what}")
filter_argument = Message(ValueError, "{op}(): {what}")
no_scipy = Message(ModuleNotFoundError, "{op}(): filters are designed by SciPy, which is missing: pip install scipy")
