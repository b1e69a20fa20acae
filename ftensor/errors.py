"""Every message a user can meet: one function each, returning the exception torch would raise."""

from __future__ import annotations

import warnings
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


def not_an_array(value: object) -> TypeError:
    """from_numpy of something else."""
    return TypeError(
        f"from_numpy() needs a numpy.ndarray, not {type(value).__name__}; tensor() takes lists"
    )


def negative_strides(strides: Sequence[int]) -> ValueError:
    """A NumPy array that runs backwards through memory."""
    return ValueError(
        f"the array's strides {tuple(strides)} (bytes) include a negative one, which tensors "
        f"can't have; pass array.copy()"
    )


def uneven_strides(strides: Sequence[int], itemsize: int) -> ValueError:
    """A NumPy array whose elements do not lie whole elements apart, as a record's field may."""
    return ValueError(
        f"the array's strides {tuple(strides)} (bytes) are not all multiples of its itemsize "
        f"{itemsize}; pass array.copy()"
    )


def no_numpy_dtype(dtype: object) -> TypeError:
    """A dtype NumPy lacks."""
    return TypeError(f"NumPy has no dtype for {dtype}; convert first, for example with .float()")


def array_needs_copy(dtype: object, wanted: object | None) -> ValueError:
    """np.asarray(tensor, copy=False) where the memory can't be shared."""
    why = f"to convert it to {wanted}" if wanted else "because the device has its own memory"
    return ValueError(f"the {dtype} tensor must be copied {why}; don't pass copy=False")


def import_needs_copy(device: object, strides: Sequence[int]) -> ValueError:
    """from_dlpack(copy=False) where the memory can't be shared."""
    return ValueError(
        f"memory with strides {tuple(strides)} can't be used by {device} as it is: the device has "
        f"its own memory, the data is not aligned to its elements, or a stride is negative; "
        f"don't pass copy=False"
    )


def export_needs_copy(device: object, readonly: bool) -> BufferError:
    """__dlpack__(copy=False) where the memory can't be shared."""
    why = "is read-only, which only DLPack 1.0 can tell" if readonly else f"is in {device}'s memory"
    return BufferError(f"the tensor {why}, so exporting it needs a copy; don't pass copy=False")


def dlpack_stream_type(stream: object) -> TypeError:
    """A `stream` for __dlpack__ that is no number."""
    return TypeError(f"__dlpack__: stream must be None or an int, not {type(stream).__name__}")


def dlpack_stream(stream: int) -> ValueError:
    """A `stream` for __dlpack__ of a tensor that is exported in host memory."""
    return ValueError(f"__dlpack__: host memory has no streams, so stream must be None: {stream}")


def dlpack_device(dl_device: object) -> BufferError:
    """A `dl_device` that tensors can't be exported to."""
    return BufferError(f"tensors are exported to the host only, dl_device (1, 0), not {dl_device}")


def not_a_dlpack_capsule(value: object) -> ValueError:
    """from_dlpack of a capsule that holds no tensor, or no longer."""
    return ValueError(f"{value!r} holds no DLPack tensor; a capsule can be consumed only once")


def dlpack_version(major: int, minor: int) -> BufferError:
    """A capsule of a DLPack version whose layout is unknown."""
    return BufferError(f"the capsule is of DLPack {major}.{minor}; versions 0 and 1 can be read")


def dlpack_foreign_device(dl_device: tuple[int, int]) -> BufferError:
    """A producer's memory that the host can't read."""
    return BufferError(
        f"the data is on DLPack device type {int(dl_device[0])}, id {int(dl_device[1])}, and its "
        f"owner does not export it to host memory without help; move it to the CPU first"
    )


def dlpack_dtype(code: int, bits: int, lanes: int) -> BufferError:
    """A DLPack dtype ftensor lacks."""
    return BufferError(
        f"ftensor has no dtype for DLPack type code {code} with {bits} bits and {lanes} lanes; "
        f"convert the data before it is exchanged"
    )


def not_a_torch_tensor(value: object) -> TypeError:
    """from_torch of something else."""
    return TypeError(f"from_torch() needs a torch.Tensor, not {type(value).__name__}")


def torch_dtype_not_supported(dtype: object) -> TypeError:
    """A torch dtype ftensor lacks."""
    return TypeError(f"ftensor has no {dtype}; convert the tensor with .to() first")


def torch_device_not_supported(device: object) -> TypeError:
    """A torch tensor that is not in host memory."""
    return TypeError(f"from_torch() reads torch's CPU tensors, not {device}; call .cpu() first")


def torch_layout_not_supported(layout: object) -> TypeError:
    """A sparse or otherwise special torch tensor."""
    return TypeError(f"from_torch() needs a strided tensor, not {layout}; call .to_dense() first")


def requires_grad() -> RuntimeError:
    """A torch tensor whose history would be lost."""
    return RuntimeError(
        "the torch tensor requires grad, and ftensor records no gradients; "
        "pass tensor.detach() if they are not needed"
    )


def bad_device(value: object) -> RuntimeError:
    """A device string that names no kind of device ftensor has, or not in its form."""
    return RuntimeError(
        f"{value!r} names no device; devices are 'fpga', 'fpga:N' and 'cpu' "
        f"(set_device_mapping or FTENSOR_DEVICE says what hardware 'fpga' stands for)"
    )


def bad_device_type(value: object) -> TypeError:
    """Something that is neither a device nor a way to write one."""
    return TypeError(
        f"a device is given as a string, an index or an ftensor.device, "
        f"not {value!r} ({type(value).__name__})"
    )


def device_index_twice(text: str, index: int) -> RuntimeError:
    """device("fpga:0", 1)."""
    return RuntimeError(f"device {text!r} already has an index; leave out index={index}")


def device_index(kind: str, index: int, count: int) -> RuntimeError:
    """A device number beyond those that are there."""
    have = "only one" if count == 1 else f"{count} of them, numbered from 0 to {count - 1}"
    return RuntimeError(f"there is no device {kind}:{index}: this process sees {have}")


def not_an_fpga(function: str, value: object) -> ValueError:
    """A function of ftensor.fpga given the host."""
    return ValueError(f"fpga.{function}() is about 'fpga' devices, not {value!r}")


def no_device(mapping: str, present: Sequence[str], steps: Sequence[str]) -> RuntimeError:
    """No device that fits the mapping; `steps` are ways to get one."""
    have = f"the devices found are: {', '.join(present)}" if present else "no device was found"
    lines = "".join(f"\n  - {step}" for step in steps)
    return RuntimeError(
        f"no device for the mapping {mapping!r}; {have}. What may help:{lines}\n"
        f"`ftensor doctor` looks closer"
    )


def out_of_memory(
    device: str, nbytes: int, allocated: int, reserved: int, limit: int, largest: int
) -> OutOfMemoryError:
    """No room for a buffer, after the cached blocks were given back; all figures in bytes."""
    why = ""
    if nbytes > largest:
        why = f"; the device takes at most {largest} bytes in one buffer"
    return OutOfMemoryError(
        f"{device} has no room for {nbytes} bytes: {allocated} are in use, {reserved} reserved, "
        f"the limit is {limit}{why}. Drop tensors, work on smaller parts, or raise "
        f"FTENSOR_MEMORY_LIMIT (bytes) if the device has more"
    )


def environment_value(name: str, value: str, wanted: str) -> ValueError:
    """An environment variable of ours that makes no sense."""
    return ValueError(f"{name}={value!r} is not {wanted}; correct it or unset it")


def kernel_build_failed(entry: str, device: str, log: str, source: str) -> RuntimeError:
    """The device's compiler refused one of our kernels: never the user's fault."""
    return RuntimeError(
        f"{device} can't compile the kernel {entry}. Please report this, with the following:\n"
        f"{log.strip()}\n--- source ---\n{source}"
    )


def used_after_fork(device: str) -> RuntimeError:
    """A forked child met a device its parent had opened; the device's threads are not there."""
    return RuntimeError(
        f"{device} was found or opened before this process was forked, and can't be used in the "
        "child. Start workers with multiprocessing's 'spawn' or 'forkserver' method, or touch the "
        "first device in the child only"
    )


def event_without_time(recorded: bool) -> RuntimeError:
    """elapsed_time between events of which one has no time."""
    if recorded:
        return RuntimeError("elapsed_time needs events created with enable_timing=True")
    return RuntimeError("elapsed_time needs two recorded events; record() them first")


# Reading a tensor's value on the host


def not_one_element(shape: Sequence[int]) -> RuntimeError:
    """`item()` of a tensor that does not hold exactly one element."""
    return RuntimeError(
        f"a Tensor of shape {tuple(shape)} has no single value; index one element, or use tolist()"
    )


def not_one_number(shape: Sequence[int]) -> ValueError:
    """`int()`, `float()` or `complex()` of a tensor that does not hold exactly one element."""
    return ValueError(
        "only tensors of one element can be made a Python number, "
        f"not one of shape {tuple(shape)}; use tolist()"
    )


def ambiguous_truth(shape: Sequence[int]) -> RuntimeError:
    """The truth of a tensor that does not hold exactly one element."""
    return RuntimeError(
        f"the truth of a Tensor of shape {tuple(shape)} is ambiguous; use any() or all()"
    )


def not_an_index(dtype: object, shape: Sequence[int]) -> TypeError:
    """A tensor used where Python wants an integer."""
    return TypeError(
        f"only integer tensors of a single element can be an index, not {dtype} of {tuple(shape)}"
    )


def len_of_zero_dim() -> TypeError:
    """`len()` of a 0-d tensor."""
    return TypeError("a 0-d tensor has no len(); numel() is 1")


def iteration_over_zero_dim() -> TypeError:
    """Iterating over a 0-d tensor."""
    return TypeError("a 0-d tensor can't be iterated over; item() gives its value")


# Calling an op


def needs_a_tensor(op: str, inputs: Sequence[object]) -> TypeError:
    """An op called with numbers alone."""
    kinds = ", ".join(type(x).__name__ for x in inputs)
    return TypeError(f"{op}(): at least one argument must be a Tensor, but got {kinds}")


def out_not_a_tensor(op: str, out: object) -> TypeError:
    """An `out=` that nothing can be written to."""
    return TypeError(f"{op}(): argument 'out' must be a Tensor, not {type(out).__name__}")


def not_a_tensor_or_number(op: str, value: object) -> TypeError:
    """An op's operand that is neither a tensor nor a number."""
    return TypeError(
        f"{op}(): arguments must be Tensors or Python numbers, not {type(value).__name__}; "
        "ft.as_tensor(x) makes a Tensor of lists and arrays"
    )


def not_a_tensor(op: str, position: int, value: object) -> TypeError:
    """A number for an operand of which torch wants a tensor."""
    return TypeError(
        f"{op}(): argument {position} must be a Tensor, not {type(value).__name__} {value!r}; "
        "ft.tensor(x) makes one of a number"
    )


def different_devices(op: str, devices: Sequence[object]) -> RuntimeError:
    """Operands of one op on more than one device."""
    found = ", ".join(sorted({str(d) for d in devices}))
    return RuntimeError(
        f"{op}(): all tensors must be on the same device, but they are on {found}; "
        "move them with .to(device)"
    )


def not_implemented_for(op: str, dtype: object) -> NotImplementedError:
    """An op that has no meaning for a dtype."""
    return NotImplementedError(f'"{op}" not implemented for {dtype}; convert with .to(dtype)')


def dtype_not_supported(op: str, dtype: object) -> RuntimeError:
    """A dtype that an op refuses where torch raises RuntimeError itself."""
    return RuntimeError(f"{op}() does not support {dtype} tensors; convert with .to(dtype)")


def cannot_cast_result(op: str, result: object, out: object) -> RuntimeError:
    """A result whose category the given output cannot hold."""
    return RuntimeError(
        f"{op}(): result type {result} can't be cast to the desired output type {out}"
    )


def output_overlaps_itself(op: str, shape: Sequence[int], strides: Sequence[int]) -> RuntimeError:
    """An in-place op on a tensor whose elements share memory."""
    return RuntimeError(
        f"{op}(): unsupported operation: more than one element of the written-to tensor refers to "
        f"a single memory location (shape {tuple(shape)}, strides {tuple(strides)}); "
        "clone() the tensor first"
    )


def output_overlaps_input(op: str) -> RuntimeError:
    """An output that shares some, but not all, of its memory with an input."""
    return RuntimeError(
        f"{op}(): unsupported operation: some elements of the input tensor and the written-to "
        "tensor refer to a single memory location; clone() one of them first"
    )


def warn_resized(old: Sequence[int], new: Sequence[int]) -> None:
    """torch's warning for an `out=` whose shape is not the result's."""
    warnings.warn(
        f"An output with one or more elements was resized since it had shape {list(old)}, which "
        f"does not match the required output shape {list(new)}. Resize it with out.resize_(0) "
        "before, or give an empty tensor.",
        UserWarning,
        stacklevel=5,
    )


def integer_overflow(value: int) -> OverflowError:
    """A Python integer beyond 64 bits."""
    return OverflowError(f"{value} is too big: a Python integer must fit into 64 bits")


def no_float64(dtype: object, device: str) -> RuntimeError:
    """A double precision dtype on a device without it."""
    return RuntimeError(
        f"{dtype} needs double precision, which {device} does not have; "
        "use float32 or complex64, or another device"
    )


# Memory and conversions


def memory_format_ndim(wanted: object, need: int, ndim: int) -> RuntimeError:
    """A memory format for another number of dims."""
    return RuntimeError(f"{wanted} needs a {need}-d tensor, but this one has {ndim} dims")


def bad_to_argument(value: object) -> TypeError:
    """`to()` with something that names neither dtype nor device."""
    return TypeError(
        f"to() takes a dtype, a device or a Tensor, not {type(value).__name__} {value!r}"
    )


def fill_value_dims(shape: Sequence[int]) -> RuntimeError:
    """`fill_` with a tensor that has dims."""
    return RuntimeError(
        f"fill_ takes a number or a 0-d tensor, but the value has shape {tuple(shape)}; use copy_"
    )


def complex_to_real_value(value: complex, dtype: object) -> RuntimeError:
    """A complex number for a tensor of a real dtype."""
    return RuntimeError(f"the value {value} cannot be converted to {dtype} without overflow")


def read_only(op: str) -> RuntimeError:
    """A write (in place, or out=) to memory that its owner shares for reading only."""
    return RuntimeError(
        f"{op}: the output's memory is read-only (it was imported from a read-only array); "
        f"write to a clone() instead"
    )
