"""Reduction plans: loops over the kept elements and, inside them, over the reduced ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .plan import Geometry, coalesce
from .shape import Ints, normalize_dims
from .stride import contiguous_strides, loop_order


@dataclass(frozen=True)
class ReducePlan:
    """Loops and the steps each operand takes in them; no buffers, so plans can be cached."""

    kept: Ints
    """Sizes of the loops over results, innermost last; (1,) for one result, (0,) for none."""
    kept_strides: tuple[Ints, ...]
    """Per operand, the output first: its step in each kept loop."""
    reduced: Ints
    """Sizes of the loops over what goes into one result; (0,) where only the identity does."""
    reduced_strides: tuple[Ints, ...]
    """Per input: its step in each reduced loop."""
    out_shape: Ints
    out_strides: Ints


def reduced_shape(shape: Ints, dims: Sequence[int], keepdim: bool) -> Ints:
    """The result's shape when the (normalized) `dims` of `shape` are reduced."""
    if keepdim:
        return tuple([1 if i in dims else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in dims])


def plan_reduce(
    shape: Ints,
    strides_per_input: Sequence[Ints],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    out: Geometry | None = None,
    reorder: bool = True,
) -> ReducePlan:
    """Plan a reduction over `dims` of inputs that are already broadcast to `shape`.

    `dims` None reduces all dims, an empty sequence none of them; IndexError and RuntimeError for
    dims out of range or named twice. A fresh result is contiguous, as torch's is for every input
    layout. `out` is the shape and strides of a given output, which already has the result's shape.
    Kept loops follow the output's memory order; reduced ones the inputs', unless `reorder` is
    False: then the elements of one result come in logical order, which argmax needs.
    """
    chosen = normalize_dims(dims, len(shape))
    out_shape = reduced_shape(shape, chosen, keepdim)
    if out is None:
        out_strides = contiguous_strides(out_shape)
    else:
        assert out[0] == out_shape, (out, out_shape)
        out_strides = out[1]

    kept_dims = [i for i in range(len(shape)) if i not in chosen]
    kept_shape = tuple([shape[i] for i in kept_dims])
    kept_inputs = [tuple([s[i] for i in kept_dims]) for s in strides_per_input]
    kept_out = tuple([out_strides[i] for i in kept_dims]) if keepdim else out_strides
    operands = [kept_out, *kept_inputs]
    kept, kept_strides = coalesce(kept_shape, operands, loop_order(kept_shape, operands))

    # A 0-d input has no dim, though 0 and -1 are accepted as if it had one.
    reduced_dims = [i for i in range(len(shape)) if i in chosen]
    inner_shape = tuple([shape[i] for i in reduced_dims])
    inner = [tuple([s[i] for i in reduced_dims]) for s in strides_per_input]
    order = loop_order(inner_shape, inner) if reorder else tuple(range(len(inner_shape)))
    reduced, reduced_strides = coalesce(inner_shape, inner, order)
    return ReducePlan(kept, kept_strides, reduced, reduced_strides, out_shape, out_strides)
