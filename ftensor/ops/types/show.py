"""A tensor's repr: only the part that is printed is read from the device."""

from __future__ import annotations

import numpy as np

from ..._device import current_device
from ..._printing import needs_summary, summary_blocks, tensor_str
from ..._tensor import MOST_NUMPY_DIMS, Tensor, method
from ...dtypes.encoding import widened
from ..view.basic_index import basic_index


@method("__repr__")
@method("__str__")
def show(t: Tensor) -> str:
    """The text of `repr(t)`."""
    where = t.device
    name = None if where == current_device() else str(where)
    if not t.numel():  # of any shape, also one that no array has
        return tensor_str(t._host_values(), t._dtype, name, shape=t._shape)
    if not needs_summary(t.numel()):
        return tensor_str(t._host_values(), t._dtype, name, shape=t._shape)
    whole = t._shape
    if t.ndim > MOST_NUMPY_DIMS:
        kept = [d for d, size in enumerate(whole) if size > 1]
        t = t._view(tuple([whole[d] for d in kept]), tuple([t._strides[d] for d in kept]), t._offset)
    shape, blocks = summary_blocks(t._shape)
    small = np.empty(shape, widened(np.empty(0, t._dtype.numpy), t._dtype).dtype)
    for source, target in blocks:
        part = t._view(*basic_index(t._shape, t._strides, t._offset, source))
        small[target] = part._host_values()
    return tensor_str(small, t._dtype, name, shape=whole)
