"""What ops of order have in common: dims of 0-d tensors, results with names, runs of equals."""

from __future__ import annotations

from typing import Any

from ... import errors, return_types
from ..._tensor import Tensor
from ...iterator.shape import normalize_dim
from ..compose import deliver
from ..create.sizes import ones
from ..rearrange.cat import cat
from ..reduce.arguments import several


def along(name: str, input: Any, dim: Any) -> tuple[Tensor, int]:
    """The tensor with at least one dim, and the dim from the front. TypeError for what is no
    tensor or no int, IndexError for dims that are not there."""
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(name, "input", input)
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise errors.argument_type(name, "dim", "an int", dim)
    at = normalize_dim(dim.__index__(), input.ndim)
    return (input if input.ndim else input.reshape(1)), at


def returned(name: str, results: tuple[Tensor, ...], out: Any) -> Any:
    """Results under their names, or the tensors of `out` with them in."""
    if out is None:
        return getattr(return_types, name)(results)
    outputs = deliver(name, tuple(results), several(name, out, len(results)), exact=True)
    return getattr(return_types, name + "_out", tuple)(outputs)


def changes(ordered: Tensor, dim: int) -> Tensor:
    """Where an element differs from the one before it; one less than elements."""
    size = ordered._shape[dim] - 1
    return ordered.narrow(dim, 1, size) != ordered.narrow(dim, 0, size)


def with_edge(mask: Tensor, dim: int, before: bool) -> Tensor:
    """A mask with a true element at one end of a dim."""
    shape = tuple([1 if d == dim else n for d, n in enumerate(mask._shape)])
    edge = ones(shape, dtype=mask._dtype, device=mask.device)
    return cat([edge, mask] if before else [mask, edge], dim)
