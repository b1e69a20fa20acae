"""Methods of Tensor for exchange with other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._device import DeviceLike
from .._tensor import Tensor, method
from ..formats import contiguous_format
from .dlpack import dlpack_device, to_dlpack_capsule
from .host import to_array, to_numpy
from .torch import to_torch as _to_torch


@method("numpy")
def numpy(self: Tensor, *, force: bool = False, non_blocking: bool = False) -> np.ndarray[Any, Any]:
    """Returns a NumPy array of the elements; `interop.host.to_numpy` documents when memory is
    shared."""
    return to_numpy(self, force=force, non_blocking=non_blocking)


@method("__array__")
def array(
    self: Tensor, dtype: np.dtype[Any] | type | str | None = None, copy: bool | None = None
) -> np.ndarray[Any, Any]:
    return to_array(self, dtype, copy)


@method("to_torch")
def to_torch(self: Tensor, *, non_blocking: bool = False) -> Any:
    """Returns a torch tensor of the elements; see `interop.torch.to_torch`."""
    return _to_torch(self, non_blocking=non_blocking)


@method("__dlpack__")
def dlpack(
    self: Tensor,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    return to_dlpack_capsule(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


@method("__dlpack_device__")
def dlpack_device_of(self: Tensor) -> tuple[int, int]:
    return dlpack_device(self)


@method("to_device")
def to_device(self: Tensor, device: DeviceLike, /, *, stream: None = None) -> Tensor:
    """Returns the tensor on a device, the tensor itself if it is there: the array API standard's
    `to_device`.

    Raises ValueError for a stream: this function supports none.
    """
    if stream is not None:
        raise errors.stream_given(stream)
    return self.to(device)


@method("astype")
def astype(self: Tensor, dtype: Any, *, copy: bool = True) -> Tensor:
    """Returns the elements in another dtype (ftensor's, NumPy's or its name), like
    `ndarray.astype`.

    The result is a new tensor unless `copy` is False and nothing changes. Raises TypeError for an
    invalid dtype.
    """
    return self.to(dtype=dtype, copy=copy)


@method("copy")
def copy(self: Tensor, order: str = "C") -> Tensor:
    """Returns a new tensor of the elements: contiguous for `order` "C", with the same strides for
    "K"."""
    return self.clone() if order == "K" else self.clone(memory_format=contiguous_format)
