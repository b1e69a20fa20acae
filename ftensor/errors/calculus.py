"""Mistakes with differences, integrals and derivatives of samples."""

from __future__ import annotations

from .message import Message

one_dim = Message(RuntimeError, "{op}(): the input needs at least one dim")
order = Message(RuntimeError, "diff(): n must not be negative, but is {n}")
ends = Message(
    RuntimeError, "diff(): prepend and append must have the input's shape {input!t} but for the dim, not {shape!t}"
)
scalar_points = Message(RuntimeError, "{op}(): x needs at least one dim; a distance is given as dx")
points = Message(RuntimeError, "{op}(): {needed} samples need as many points, not {count}")
two_widths = Message(RuntimeError, "{op}(): give x or dx, not both")
width = Message(RuntimeError, "{op}(): dx must be a real number, not {dx!r}")
no_bool = Message(RuntimeError, "{op}(): differences need signed numbers; convert with .to(dtype)")
edge_order = Message(RuntimeError, "gradient(): edge_order must be 1 or 2, but is {value}")
repeated = Message(RuntimeError, "gradient(): dim names a dim twice: {dims!t}")
spacings = Message(RuntimeError, "gradient(): {needed} dims need as many spacings, not {count}", "count needed")


def too_few(size: int, order: int) -> RuntimeError:
    """Fewer samples than the formula reads."""
    return RuntimeError(f"gradient(): edge_order {order} needs {order + 1} samples along each dim, not {size}")
