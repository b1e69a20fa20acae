"""Messages about exchange with NumPy, torch and DLPack."""

from __future__ import annotations

from collections.abc import Sequence


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


def torch_kind_not_supported(kind: str) -> TypeError:
    """A torch tensor whose values do not lie in memory as its strides say."""
    return TypeError(
        f"a torch tensor {kind} has no values in host memory that could be read; make a plain "
        "tensor of it first"
    )


def torch_layout_not_supported(layout: object) -> TypeError:
    """A sparse or otherwise special torch tensor."""
    return TypeError(f"from_torch() needs a strided tensor, not {layout}; call .to_dense() first")


def requires_grad() -> RuntimeError:
    """A torch tensor whose history would be lost."""
    return RuntimeError(
        "the torch tensor requires grad, and ftensor records no gradients; "
        "pass tensor.detach() if they are not needed"
    )
