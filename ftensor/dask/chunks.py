"""Registers tensors as chunks of Dask arrays: dtype, indexing, size, token, serialization."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from dask.array import Array, _shuffle
from dask.array.backends import percentile
from dask.array.dispatch import percentile_lookup
from dask.sizeof import sizeof
from dask.tokenize import normalize_token
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from .. import dtypes
from .._tensor import Tensor
from ..execute.copy import clone
from ..formats import contiguous_format
from ..interop.host import export
from ..interop.pickling import filled, rebuilt
from ..iterator.shape import extent

percentile_lookup.register(Tensor, percentile)

_dtype = Array.dtype.fget
_getitem = _shuffle._getitem


def _numpys(self: Array) -> Any:
    """Returns the dtype of the chunks as NumPy's, because Dask compares it and reads its `type`."""
    dtype = _dtype(self)
    return dtype.numpy if isinstance(dtype, dtypes.dtype) and dtype.in_numpy else dtype


def _taken(chunk: Any, index: tuple[Any, Any]) -> Any:
    """Indexes a chunk; widens unsigned positions, since a uint8 index of a tensor is a mask."""
    if not isinstance(chunk, Tensor):
        return _getitem(chunk, index)
    wide = [i.astype(np.int64) if isinstance(i, np.ndarray) and i.dtype.kind == "u" else i for i in index[1]]
    return chunk[tuple(wide)]


Array.dtype = property(_numpys, doc=Array.dtype.__doc__)
_shuffle._getitem = _taken


_DTYPES = {d.name: d for d in dtypes.ALL}


def _elements(t: Tensor) -> tuple[Tensor, np.ndarray[Any, Any]]:
    """Returns (the tensor, packed if it has gaps, and the bytes of its elements in host memory).

    The bytes are the device's memory if the host shares it. They only cover the elements of a
    view, for example a block's border that is sent to its neighbour.
    """
    if not t.numel():
        return t, np.empty(0, np.uint8)
    _, high = extent(t._shape, t._strides)
    if high >= t.numel():
        t = clone(t, contiguous_format)
        high = t.numel() - 1
    size = t._dtype.itemsize
    whole = Tensor._make(t._storage, dtypes.uint8, ((high + 1) * size,), (1,), t._offset * size)
    return t, export(whole)[0]


@dask_serialize.register(Tensor)
def sent(t: Tensor) -> tuple[dict[str, Any], list[memoryview]]:
    """Returns (header, frames) of a tensor, with its elements as one frame."""
    t, content = _elements(t)
    header = {"dtype": t._dtype.name, "shape": t._shape, "strides": t._strides}
    return header, [content.data]


@dask_deserialize.register(Tensor)
def received(header: dict[str, Any], frames: list[Any]) -> Tensor:
    """Returns the tensor on the default device, over the frame's memory if possible."""
    shape, strides = tuple(header["shape"]), tuple(header["strides"])
    content = frames[0] if frames else b""
    return rebuilt(filled(content), _DTYPES[header["dtype"]], shape, strides, 0)


@sizeof.register(Tensor)
def _bytes(t: Tensor) -> int:
    return t.nbytes


@normalize_token.register(Tensor)
def _token(t: Tensor) -> tuple[Any, ...]:
    # Hashes the values in the order of dims, so that the token does not depend on strides.
    content = _elements(clone(t, contiguous_format))[1]
    return "ftensor", t._dtype.name, t._shape, hashlib.sha1(content.data).hexdigest()
