"""Messages that several layers raise: arguments, dtypes, shapes, exchange, devices, memory, kernels."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Sequence

from ..terminal import guess
from .message import Message, names_called_op

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


@names_called_op
def needs_a_tensor(op: str, inputs: Sequence[object]) -> TypeError:
    """Error for an op called with numbers only."""
    kinds = ", ".join(type(x).__name__ for x in inputs)
    return TypeError(f"{op}(): at least one argument must be a Tensor, but got {kinds}")


def _maker(value: object) -> str:
    makers = {"numpy": "from_numpy", "torch": "from_torch"}
    maker = makers.get(type(value).__module__.partition(".")[0], "as_tensor")
    return "from_dlpack" if maker == "as_tensor" and hasattr(value, "__dlpack__") else maker


@names_called_op
def not_a_tensor(op: str, argument: str | int, value: object) -> TypeError:
    """Error for an argument that must be a tensor."""
    class_name, maker = type(value).__name__, _maker(value)
    if maker == "as_tensor":
        class_name, maker = f"{class_name} {value!r}", "tensor"
    advice = f"ft.{maker}(x) makes one of {'a number' if maker == 'tensor' else 'it'}"
    return TypeError(f"{op}(): argument {argument!r} must be a Tensor, not {class_name}; {advice}")


@names_called_op
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


@names_called_op
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


@names_called_op
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
contains_no_such = Message(RuntimeError, "`in` looks for a number or a tensor, not for {element!r} ({element!k})")
taken_name = Message(ValueError, "add_rows(): there is an op ftensor.{name} already; give the row another name")


@names_called_op
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
not_an_array = Message(TypeError, "from_numpy() needs a numpy.ndarray, not {value!k}; tensor() takes lists")
negative_strides = Message(
    ValueError,
    "the array's strides {strides!t} (bytes) include a negative one, which tensors can't have; pass array.copy()",
)
uneven_strides = Message(
    ValueError,
    "the array's strides {strides!t} (bytes) are not all multiples of its itemsize {itemsize}; pass array.copy()",
)
no_numpy_dtype = Message(TypeError, "NumPy has no dtype for {dtype}; convert first, for example with .float()")


def array_needs_copy(dtype: object, requested: object | None) -> ValueError:
    """Error for np.asarray(tensor, copy=False) if the memory can't be shared."""
    reason = f"to convert it to {requested}" if requested else "because the device has its own memory"
    return ValueError(f"the {dtype} tensor must be copied {reason}; don't pass copy=False")


import_needs_copy = Message(
    ValueError,
    "memory with strides {strides!t} can't be used by {device} as it is: the device has its own "
    "memory, the data is not aligned to its elements, or a stride is negative; don't pass "
    "copy=False",
    "device strides",
)


def export_needs_copy(device: object, readonly: bool) -> BufferError:
    """Error for __dlpack__(copy=False) if the memory can't be shared."""
    reason = "is read-only, which only DLPack 1.0 can tell" if readonly else f"is in {device}'s memory"
    return BufferError(f"the tensor {reason}, so exporting it needs a copy; don't pass copy=False")


dlpack_stream_type = Message(TypeError, "__dlpack__: stream must be None or an int, not {stream!k}")
dlpack_stream = Message(ValueError, "__dlpack__: host memory has no streams, so stream must be None: {stream}")
dlpack_device = Message(BufferError, "tensors are exported to the host only, dl_device (1, 0), not {dl_device}")
no_dlpack = Message(
    RuntimeError,
    "from_dlpack(): argument 'ext_tensor' must have __dlpack__ and __dlpack_device__, or be a DLPack capsule, not "
    "{value!k}; ft.as_tensor(x) makes a tensor of numbers and lists",
)
not_a_dlpack_capsule = Message(ValueError, "{value!r} holds no DLPack tensor; a capsule can be consumed only once")
dlpack_broken = Message(BufferError, "the DLPack capsule is damaged: it has {why}; ask its producer for another one")
dlpack_version = Message(BufferError, "the capsule is of DLPack {major}.{minor}; versions 0 and 1 can be read")


def dlpack_foreign_device(dl_device: tuple[int, int]) -> BufferError:
    """Error for a producer's memory that the host can't read."""
    return BufferError(
        f"the data is on DLPack device type {int(dl_device[0])}, id {int(dl_device[1])}, and its "
        f"owner does not export it to host memory without help; move it to the CPU first"
    )


dlpack_dtype = Message(
    BufferError,
    "ftensor has no dtype for DLPack type code {code} with {bits} bits and {lanes} lanes; convert "
    "the data before it is exchanged",
)
# from_torch of an object that is no torch tensor.
not_a_torch_tensor = Message(TypeError, "from_torch() needs a torch.Tensor, not {value!k}")
# A torch dtype that ftensor lacks.
torch_dtype_not_supported = Message(TypeError, "ftensor has no {dtype}; convert the tensor with .to() first")
# A torch tensor that is not in host memory.
torch_device_not_supported = Message(
    TypeError, "from_torch() reads torch's CPU tensors, not {device}; call .cpu() first"
)
# A torch tensor whose strides don't describe its values in memory.
torch_kind_not_supported = Message(
    TypeError, "a torch tensor {kind} has no values in host memory that could be read; make a plain tensor of it first"
)
# A sparse or otherwise special torch tensor.
torch_layout_not_supported = Message(
    TypeError, "from_torch() needs a strided tensor, not {layout}; call .to_dense() first"
)
# A torch tensor whose autograd history would be lost.
requires_grad = Message(
    RuntimeError,
    "the torch tensor requires grad, and ftensor records no gradients; pass tensor.detach() if they are not needed",
)
stream_given = Message(ValueError, "to_device() has no streams: stream must be None, not {stream!r}")
# NumPy's `out=` of another shape.
out_shape = Message(ValueError, "out must have the shape {result!t} of the result, not {out!t}", "result out")


class OutOfMemoryError(RuntimeError):
    """The device, or the limit of its memory pool, has no room for a buffer."""


# The last class is raised: torch's device adds one that is also torch's OutOfMemoryError.
raised_out_of_memory: list[type[OutOfMemoryError]] = [OutOfMemoryError]


class KernelNotBuilt(RuntimeError):
    """The device's image lacks a kernel that the op needs.

    `op` is the op's name. `dtypes` are names, the inputs' first, then the outputs'. `signature` is
    both in an inventory's spelling. `layout` is the skeleton and each operand's kind of layout,
    outputs first. `entry` is the kernel's identity, and `nearest` that of the most similar kernel
    of the image.
    """

    op: str = ""
    dtypes: tuple[str, ...] = ()
    signature: str = ""
    layout: str = ""
    entry: str = ""
    nearest: str | None = None

    def again(self) -> KernelNotBuilt:
        """Returns a copy to be raised again, without the traceback of this exception."""
        copy = KernelNotBuilt(*self.args)
        copy.__dict__.update(self.__dict__)
        return copy


def kernel_not_built(
    op: str,
    dtypes: tuple[str, ...],
    signature: str,
    layout: str,
    entry: str,
    lines: Sequence[str],
    nearest: str | None,
    options: str,
) -> KernelNotBuilt:
    """Error for a launch whose kernel no loaded image has. `lines` of an inventory request it,
    `nearest` is a similar kernel of an image, and `options` are those of `ftensor build` for the
    device."""
    op_text = f"{op} of {signature}" if signature else op
    layout_text = f" in layout {layout!r}" if layout else ""
    available = f"the nearest that it has is {nearest}" if nearest else "it has none of this op"
    to_add = "".join(f"\n  {line}" for line in lines)
    error = KernelNotBuilt(
        f"the device's image has no kernel for {op_text}{layout_text} ({entry}); {available}. "
        f"To build an image with one, add{to_add}\n"
        f"to its inventory and run: ftensor build {options} --inventory INVENTORY.toml --out FOLDER"
    )
    error.op, error.dtypes, error.signature = op, dtypes, signature
    error.layout, error.entry, error.nearest = layout, entry, nearest
    return error


def never_built(op: str, dtypes: tuple[str, ...]) -> KernelNotBuilt:
    """Error for an op that only the host can compute, with a fallback policy that forbids it."""
    error = KernelNotBuilt(f"no image has a kernel for {op}: NumPy computes it on the host")
    error.op, error.dtypes, error.signature = op, dtypes, ", ".join(dtypes)
    error.layout = "host"
    return error


def no_counterpart(function: str, dtypes: tuple[str, ...]) -> KernelNotBuilt:
    """Error for a NumPy function, or its arguments, without a corresponding op."""
    error = KernelNotBuilt(
        f"no device computes {function} as it was called; pass np.asarray(x) where NumPy is to compute on the host"
    )
    error.op, error.dtypes, error.signature = function, dtypes, ", ".join(dtypes)
    error.layout = "host"
    return error


def falls_back(missing: KernelNotBuilt) -> str:
    """Returns the warning for the first call of an op and dtype that runs on the host."""
    first = missing.dtypes[0] if missing.dtypes else "any dtype"
    return (
        f"{missing.op} of {first} runs on the host from now on: {missing}\n"
        "Every such call copies its tensors to the host and back; ftensor.fallback_report() says "
        'how much, set_fallback("error") finds the calls, set_fallback("silent") ends this warning'
    )


def bad_fallback(policy: object, policies: Sequence[str]) -> ValueError:
    """Error for an unknown fallback policy."""
    suggestion = guess(str(policy), policies)
    return ValueError(f"{policy!r} is no fallback policy; there are {', '.join(policies)}{suggestion}")


def bad_device(value: object, suggestion: object = None) -> RuntimeError:
    """Error for a device string that names no kind of device, or is malformed; `suggestion` is a
    dtype that it names instead."""
    if suggestion is not None:
        return RuntimeError(f"{value!r} names no device; for the dtype write {suggestion}")
    return RuntimeError(
        f"{value!r} names no device; devices are 'fpga', 'fpga:N' and 'cpu' "
        f"(set_device_mapping or FTENSOR_DEVICE says what hardware 'fpga' stands for)"
    )


def images_unused(name: str) -> str:
    """Returns the warning for FTENSOR_IMAGE without a device that takes an image."""
    return (
        f"FTENSOR_IMAGE is set, but no board was found, so 'fpga' is {name}, which compiles its "
        "own kernels: `ftensor doctor` says why, and FTENSOR_DEVICE=fpga refuses anything else"
    )


bad_device_type = Message(
    TypeError, "a device is given as a string, an index or an ftensor.device, not {value!r} ({value!k})"
)
device_index_twice = Message(RuntimeError, "device {text!r} already has an index; leave out index={index}")


def device_index(kind: str, index: int, count: int) -> RuntimeError:
    """Error for a device index out of range."""
    available = "only one" if count == 1 else f"{count} of them, numbered from 0 to {count - 1}"
    return RuntimeError(f"there is no device {kind}:{index}: this process sees {available}")


not_an_fpga = Message(ValueError, "fpga.{function}() takes 'fpga' devices, not {value!r}")


def no_device(mapping: str, present: Sequence[str], steps: Sequence[str], mappings: Iterable[str]) -> RuntimeError:
    """Error for a mapping that no device matches; `steps` are ways to get a device, `mappings`
    words of mappings."""
    available = f"the devices found are: {', '.join(present)}" if present else "no device was found"
    lines = "".join(f"\n  - {step}" for step in steps)
    return RuntimeError(
        f"no device for the mapping {mapping!r}; {available}{guess(mapping, mappings) or '.'} "
        f"What may help:{lines}\n"
        f"`ftensor doctor` looks closer"
    )


def out_of_memory(
    device: str, nbytes: int, allocated: int, reserved: int, limit: int, largest: int
) -> OutOfMemoryError:
    """Error for a buffer that does not fit, after the pool released its cached blocks; all figures
    in bytes."""
    reason = ""
    if nbytes > largest:
        reason = f"; the device takes at most {largest} bytes in one buffer"
    return raised_out_of_memory[-1](
        f"{device} has no room for {nbytes} bytes: {allocated} are in use, {reserved} reserved, "
        f"the limit is {limit}{reason}. Drop tensors, work on smaller parts, or raise "
        f"FTENSOR_MEMORY_LIMIT (bytes) or the memory fraction if the device has more"
    )


memory_fraction_type = Message(TypeError, "Invalid type for fraction argument, must be `float`, not {fraction!k}")
memory_fraction = Message(ValueError, "Invalid fraction value: {fraction}. Allowed range: 0~1")
no_linker = Message(
    RuntimeError, "{device} needs the linker ld to make kernels, and there is none in PATH: apt-get install binutils"
)
wrong_results = Message(
    RuntimeError,
    "{name} gives {wrong} wrong values of {count}: don't use the device with this driver. Another "
    "release of the driver may be right; please report both",
)
environment_value = Message(ValueError, "{name}={value!r} is not {wanted}; correct it or unset it")


def kernel_build_failed(entry: str, device: str, log: str, source: str) -> RuntimeError:
    """Error for a kernel of ftensor that the device's compiler rejected. It is the user's fault
    only if the compiler can't read the name of the working directory, as Intel's."""
    folder = os.getcwd()
    if re.search(r'".* ', folder):
        return RuntimeError(
            f"{device} can't compile the kernel {entry}. Its compiler may not read the working directory {folder!r}, "
            f"which has a double quote and a blank behind it: run the program in another folder\n{log.strip()}"
        )
    return RuntimeError(
        f"{device} can't compile the kernel {entry}. Please report this, with the following:\n"
        f"{log.strip()}\n--- source ---\n{source}"
    )


used_after_fork = Message(
    RuntimeError,
    "{device} was found or opened before this process was forked, and can't be used in the child. "
    "Start workers with multiprocessing's 'spawn' or 'forkserver' method, or touch the first "
    "device in the child only",
)


def event_without_time(recorded: bool) -> RuntimeError:
    """Error for elapsed_time between events of which one has no time."""
    if recorded:
        return RuntimeError("elapsed_time needs events created with enable_timing=True")
    return RuntimeError("elapsed_time needs two recorded events; record() them first")


no_float64 = Message(
    RuntimeError,
    "{dtype} needs double precision, which {device} does not have; use float32 or complex64, or another device",
)
