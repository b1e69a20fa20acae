"""A tensor's repr, also for notebooks."""

from __future__ import annotations

import numpy as np

from ..._device import current_device
from ..._printing import needs_summary, summary_blocks, tensor_str
from ..._tensor import MAX_NUMPY_DIMS, Tensor, method
from ...dtypes.limits import to_computable
from ...interop.host import export
from ...terminal import size
from ..view.layout import basic_index


@method("__repr__")
@method("__str__")
def show(t: Tensor) -> str:
    """Returns the text of `repr(t)`."""
    device = t.device
    name = None if device == current_device() else str(device)
    if not t.numel():  # some empty shapes are invalid for NumPy
        return tensor_str(t._host_values(), t._dtype, name, shape=t._shape)
    if not needs_summary(t.numel()):
        return tensor_str(t._host_values(), t._dtype, name, shape=t._shape)
    full_shape = t._shape
    if t.ndim > MAX_NUMPY_DIMS:
        long_dims = [d for d, size in enumerate(full_shape) if size > 1]
        t = t._view(tuple([full_shape[d] for d in long_dims]), tuple([t._strides[d] for d in long_dims]), t._offset)
    shape, blocks = summary_blocks(t._shape)
    small = np.empty(shape, to_computable(np.empty(0, t._dtype.numpy), t._dtype).dtype)
    for source, target in blocks:
        sample = t._view(*basic_index(t._shape, t._strides, t._offset, source))
        small[target] = sample._host_values()
    return tensor_str(small, t._dtype, name, shape=full_shape)


@method("_repr_html_")
def notebook(t: Tensor) -> str:
    """Returns the HTML that notebooks show of a tensor: shape, dtype, device, bytes, and a small
    picture of the values of one or two dims, in which large tensors are sampled at every n-th
    value. Other tensors show their text."""
    from ..._printing import POINTS, SIDE, every, tensor_html  # only notebooks need it

    facts: list[tuple[str, object]] = [
        ("shape", tuple(t._shape)),
        ("dtype", t._dtype),
        ("device", t.device),
        ("memory", size(t.nbytes)),
    ]
    if t.ndim not in (1, 2) or not t.numel():
        return tensor_html(facts, show(t), None)
    limit = POINTS if t.ndim == 1 else SIDE
    steps = [every(n, limit) for n in t._shape]
    notes = ["magnitudes"] if t._dtype.is_complex else []
    notes += ["every " + " x ".join(map(str, steps)) + " elements"] if max(steps) > 1 else []
    facts += [("picture", ", ".join(notes))] if notes else []
    index = tuple(slice(None, None, step) for step in steps)
    sample = t._view(*basic_index(t._shape, t._strides, t._offset, index))
    return tensor_html(facts, "", to_computable(export(sample, non_blocking=True)[0], t._dtype))
