"""Messages about calls: arguments, dtypes, shapes, strides."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import Message, of_call

not_one_element = Message(
    RuntimeError, "a Tensor of shape {shape!t} has no single value; index one element, or use tolist()"
)
not_one_number = Message(
    ValueError, "only tensors of one element can be made a Python number, not one of shape {shape!t}; use tolist()"
)
ambiguous_truth = Message(RuntimeError, "the truth of a Tensor of shape {shape!t} is ambiguous; use any() or all()")
not_an_index = Message(TypeError, "only integer tensors of a single element can be an index, not {dtype} of {shape!t}")
len_of_zero_dim = Message(TypeError, "a 0-d tensor has no len(); numel() is 1")
iteration_over_zero_dim = Message(TypeError, "a 0-d tensor can't be iterated over; item() gives its value")


@of_call
def needs_a_tensor(op: str, inputs: Sequence[object]) -> TypeError:
    """Error for an op called with numbers only."""
    kinds = ", ".join(type(x).__name__ for x in inputs)
    return TypeError(f"{op}(): at least one argument must be a Tensor, but got {kinds}")


def _maker(value: object) -> str:
    makers = {"numpy": "from_numpy", "torch": "from_torch"}
    maker = makers.get(type(value).__module__.partition(".")[0], "as_tensor")
    return "from_dlpack" if maker == "as_tensor" and hasattr(value, "__dlpack__") else maker


@of_call
def not_a_tensor(op: str, argument: str | int, value: object) -> TypeError:
    """Error for an argument that must be a tensor."""
    class_name, maker = type(value).__name__, _maker(value)
    if maker == "as_tensor":
        class_name, maker = f"{class_name} {value!r}", "tensor"
    advice = f"ft.{maker}(x) makes one of {'a number' if maker == 'tensor' else 'it'}"
    return TypeError(f"{op}(): argument {argument!r} must be a Tensor, not {class_name}; {advice}")


@of_call
def not_a_tensor_or_number(op: str, value: object) -> TypeError:
    """Error for an operand that is neither a tensor nor a number."""
    kind, maker = type(value), _maker(value)
    return TypeError(
        f"{op}(): arguments must be ftensor's Tensors or Python numbers, not "
        f"{kind.__module__}.{kind.__qualname__}; ft.{maker}(x) makes a Tensor of it"
    )


argument_type = Message(TypeError, "{op}(): `{argument}` must be {wanted}, not {value!r}")
missing_argument = Message(TypeError, "{op}() needs the argument `{argument}`")
out_dtype = Message(RuntimeError, "{op}(): expected out to have dtype {needed}, but got {dtype}")


@of_call
def different_devices(op: str, devices: Sequence[object]) -> RuntimeError:
    """Error for operands on different devices."""
    device_list = ", ".join(sorted({str(d) for d in devices}))
    return RuntimeError(
        f"{op}(): all tensors must be on the same device, but they are on {device_list}; move them with .to(device)"
    )


not_implemented_for = Message(NotImplementedError, '"{op}" not implemented for {dtype}; convert with .to(dtype)')
# A dtype that an op refuses where torch raises RuntimeError.
dtype_not_supported = Message(RuntimeError, "{op}() does not support {dtype} tensors; convert with .to(dtype)")
floating_only = Message(
    RuntimeError, "{op}() takes floating point or complex tensors, not {dtype}; convert with .float()"
)


@of_call
def dtypes_differ(op: str, dtypes: Sequence[object]) -> RuntimeError:
    """Error for operands that must have one dtype because the op doesn't promote."""
    dtype_list = " and ".join(str(d) for d in dtypes)
    return RuntimeError(
        f"{op}(): expected all operands to have the same dtype, but got {dtype_list}; convert them with .to(dtype)"
    )


cannot_cast_result = Message(
    RuntimeError, "{op}(): result type {result} can't be cast to the desired output type {out}"
)
output_overlaps_itself = Message(
    RuntimeError,
    "{op}(): unsupported operation: more than one element of the written-to tensor refers to a "
    "single memory location (shape {shape!t}, strides {strides!t}); clone() the tensor first",
)
output_overlaps_input = Message(
    RuntimeError,
    "{op}(): unsupported operation: some elements of the input tensor and the written-to tensor "
    "refer to a single memory location; clone() one of them first",
)


def warn_resized(old_shape: Sequence[int], new_shape: Sequence[int]) -> None:
    """Issues torch's warning for an `out=` whose shape differs from the result's."""
    warnings.warn(
        f"An output with one or more elements was resized since it had shape {list(old_shape)}, which "
        f"does not match the required output shape {list(new_shape)}. Resize it with out.resize_(0) "
        "before, or give an empty tensor.",
        UserWarning,
        stacklevel=5,
    )


memory_format_ndim = Message(RuntimeError, "{wanted} needs a {need}-d tensor, but this one has {ndim} dims")
bad_to_argument = Message(TypeError, "to() takes a dtype, a device or a Tensor, not {value!k} {value!r}")
fill_value_dims = Message(
    RuntimeError, "fill_ takes a number or a 0-d tensor, but the value has shape {shape!t}; use copy_"
)
complex_to_real_value = Message(RuntimeError, "the value {value} cannot be converted to {dtype} without overflow")
read_only = Message(
    RuntimeError,
    "{op}: the output's memory is read-only (it was imported from a read-only array); write to a clone() instead",
)
contains_no_such = Message(
    RuntimeError, "`in` asks a tensor for a number or a tensor, not for {element!r} ({element!k})"
)
taken_name = Message(ValueError, "add_rows(): there is an op ftensor.{name} already; give the row another name")


@of_call
def not_a_dtype(function: str, argument: str, value: object, suggestion: object = None) -> TypeError:
    """Error for an argument that must be a dtype; `suggestion` is the dtype that its text spells,
    if any."""
    expected = f"such as ftensor.float32, but was given {value!r} ({type(value).__name__})"
    if suggestion is not None:
        expected = f"not {value!r} ({type(value).__name__}): write {suggestion}"
    return TypeError(f"{function}() needs an ftensor.dtype as `{argument}`, {expected}")


no_complex_dtype = Message(RuntimeError, "{dtype} has no complex counterpart; convert to a floating-point dtype")
# Two dtypes without a common dtype in torch's rules.
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


def shape_mismatch(shapes: Sequence[Sequence[int]], dim: int) -> RuntimeError:
    """Error for operands that don't broadcast; `dim` counts from the last dim (negative)."""
    sizes = ", ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(
        f"The size of tensors must match at non-singleton dimension {dim}, "
        f"but the shapes are {sizes}; reshape or expand one of them"
    )


def dim_out_of_range(dim: int, ndim: int) -> IndexError | ValueError:
    """Error for a dim out of range of `ndim` dims: ValueError if it does not fit in 64 bits."""
    span = ndim or 1
    kind = f"a tensor of {ndim} dims" if ndim else "a 0-d tensor"
    error = IndexError if -(2**63) <= dim < 2**63 else ValueError
    return error(f"dim {dim} is out of range for {kind}: it may be from {-span} to {span - 1}")


repeated_dim = Message(RuntimeError, "dim {dim} appears more than once in {dims!t}; name each dim once")
negative_size = Message(
    RuntimeError, "size {size} in shape {shape!t} is negative; only -1, for 'whatever fits', may be"
)
several_inferred = Message(RuntimeError, "shape {shape!t} has more than one -1; only one size can be inferred")
ambiguous_inferred = Message(
    RuntimeError, "the -1 in shape {shape!t} could be any size, because the tensor has no elements; give the size"
)
shape_does_not_fit = Message(RuntimeError, "shape {shape!t} does not fit a tensor of {count} elements")
output_shape = Message(RuntimeError, "the output has shape {out_shape!t}, but the operands broadcast to {shape!t}")
too_few_dims = Message(RuntimeError, "{op}(): the input must have at least {need} dims, but it has {ndim}")
