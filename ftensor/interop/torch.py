"""Conversion between torch tensors and ftensor tensors; the first call imports torch."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .. import dtypes, errors
from .._device import DeviceLike, backend_of, resolve
from .._tensor import Tensor
from . import host

if TYPE_CHECKING:
    import torch


@cache
def _from_torch_dtypes() -> dict[Any, dtypes.dtype]:
    import torch

    return {getattr(torch, d.name): d for d in dtypes.ALL}


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a strided CPU tensor with the values of `tensor`.

    Resolves a lazy conjugate, negation or zero tensor. Raises TypeError for tensors of another
    layout or device, for nested, quantized and fake tensors, for tensors inside a torch.func
    transform, and for subclasses with `__torch_dispatch__`.
    """
    import torch

    # Checks tensors without memory first: other queries of these may fail.
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise errors.torch_kind_not_supported("inside a transform of torch.func")
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise errors.torch_kind_not_supported(f"of the kind {type(tensor).__name__}")
    if tensor.is_nested or tensor.is_quantized:
        kind = "nested" if tensor.is_nested else "quantized"
        raise errors.torch_kind_not_supported(f"that is {kind}")
    if not tensor.is_cpu:
        raise errors.torch_device_not_supported(tensor.device)
    if tensor.layout is not torch.strided:
        raise errors.torch_layout_not_supported(tensor.layout)
    if tensor._is_zerotensor():
        return torch.zeros(tensor.shape, dtype=tensor.dtype)
    return tensor.resolve_conj().resolve_neg()


def from_torch(tensor: torch.Tensor, *, device: DeviceLike | None = None, non_blocking: bool = False) -> Tensor:
    """Returns the torch tensor's elements, with its strides, as a tensor on the current (or given)
    device.

    Shares memory if the device computes in host memory: a write to either is visible in the other,
    and tensors that share a torch storage share memory here. An op on shared memory is done when
    its call returns; with `non_blocking`, call `ft.synchronize()` before torch reads or writes the
    memory. The elements are copied to a device with its own memory (an expanded tensor stays
    expanded, gaps between elements are removed). A lazy conjugate or negation, and memory that
    starts between two elements, are copied too.

    Raises RuntimeError for a tensor that requires grad: ftensor records no gradients, so call
    `.detach()`. Raises TypeError for a device other than torch's CPU, for tensors without strided
    memory (sparse, nested, quantized, fake tensors, those inside vmap), and for dtypes that ftensor
    lacks.
    """
    import torch

    if not isinstance(tensor, torch.Tensor):
        raise errors.not_a_torch_tensor(tensor)
    tensor = plain(tensor)
    dtype = _from_torch_dtypes().get(tensor.dtype)
    if dtype is None:
        raise errors.torch_dtype_not_supported(tensor.dtype)
    if tensor.requires_grad:
        raise errors.requires_grad()
    target = resolve(device)
    backend = backend_of(target)
    shape, strides = tuple(tensor.shape), tensor.stride()
    if 0 in shape:
        return host.empty(backend, target, dtype, shape, strides)
    memory = tensor.untyped_storage()
    storage = host.adopt_whole(
        backend, target, memory.data_ptr(), memory.nbytes(), dtype.itemsize, memory, non_blocking
    )
    if storage is None:
        return host.copy_from_address(backend, target, tensor.data_ptr(), dtype, shape, strides, memory)
    return Tensor._make(storage, dtype, shape, strides, tensor.storage_offset())


def to_torch(tensor: Tensor, *, non_blocking: bool = False) -> torch.Tensor:
    """Waits for the ops that write the tensor and returns it as a torch CPU tensor with the same
    strides.

    Shares memory on a device that computes in host memory. As long as torch holds it, ops on it are
    done when their calls return (with `non_blocking`: after `ft.synchronize()`). The result is a
    copy on other devices, and for a read-only tensor, since torch has no read-only memory.
    """
    import torch

    array = host.export(tensor, tensor._storage.readonly or None, non_blocking)[0]
    result = torch.from_numpy(array)
    if tensor._dtype.in_numpy:
        return result
    return result.view(getattr(torch, tensor._dtype.name))
