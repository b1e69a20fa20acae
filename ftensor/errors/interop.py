"""Messages about exchange with NumPy, torch and DLPack."""

from __future__ import annotations

from .message import Message

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
