"""What dask.array has to be told of chunks that are tensors.

Most of what Dask does with a chunk is a call of NumPy's, which tensors answer themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.array import Array, _shuffle
from dask.array.backends import percentile
from dask.array.dispatch import percentile_lookup

from .. import dtypes
from .._tensor import Tensor

percentile_lookup.register(Tensor, percentile)

_dtype = Array.dtype.fget
_getitem = _shuffle._getitem


def _numpys(self: Array) -> Any:
    """The dtype of the chunks as NumPy has it: Dask compares it, and asks for its `type`."""
    dtype = _dtype(self)
    return dtype.numpy if isinstance(dtype, dtypes.dtype) and dtype.in_numpy else dtype


def _taken(chunk: Any, index: tuple[Any, Any]) -> Any:
    """Elements of a chunk: Dask names places by uint8, where torch and tensors have masks."""
    if not isinstance(chunk, Tensor):
        return _getitem(chunk, index)
    wide = [i.astype(np.int64) if isinstance(i, np.ndarray) and i.dtype.kind == "u" else i for i in index[1]]
    return chunk[tuple(wide)]


Array.dtype = property(_numpys, doc=Array.dtype.__doc__)
_shuffle._getitem = _taken
