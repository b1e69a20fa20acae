"""A tensor in a notebook: only what the picture shows is read from the device."""

from __future__ import annotations

from ..._tensor import Tensor, method
from ...dtypes.encoding import widened
from ...interop.host import export
from ...table import size
from ..view.basic_index import basic_index
from .show import show


@method("_repr_html_")
def notebook(t: Tensor) -> str:
    """What notebooks show of a tensor: shape, dtype, device, bytes, and a small picture of the
    values of one or two dims, of which large ones give every n-th; the text of other tensors."""
    from ..._html import POINTS, SIDE, every, tensor_html  # notebooks alone need it

    facts: list[tuple[str, object]] = [
        ("shape", tuple(t._shape)),
        ("dtype", t._dtype),
        ("device", t.device),
        ("memory", size(t.nbytes)),
    ]
    if t.ndim not in (1, 2) or not t.numel():
        return tensor_html(facts, show(t), None)
    most = POINTS if t.ndim == 1 else SIDE
    steps = [every(n, most) for n in t._shape]
    drawn = ["magnitudes"] if t._dtype.is_complex else []
    drawn += ["every " + " x ".join(map(str, steps)) + " elements"] if max(steps) > 1 else []
    facts += [("picture", ", ".join(drawn))] if drawn else []
    index = tuple(slice(None, None, step) for step in steps)
    part = t._view(*basic_index(t._shape, t._strides, t._offset, index))
    return tensor_html(facts, "", widened(export(part, non_blocking=True)[0], t._dtype))
