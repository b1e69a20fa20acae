"""Errors of scans, sorting and counting."""

from __future__ import annotations

from .message import Message

no_order = Message(RuntimeError, "{name}(): {dtype} has no order; sort by x.abs() or x.real, for example")
not_of_bool = Message(RuntimeError, "{name}() is not made for {dtype}; convert with .to(ftensor.uint8)")
selected = Message(
    RuntimeError, "{name}(): k must lie between {least} and {size}, the dim's size, not {k}", "name k size least"
)
no_elements = Message(IndexError, "{name}(): dim {dim} has no elements to select from")
quantile_dtype = Message(RuntimeError, "quantile(): the input must be float32 or float64, not {dtype}")
quantile_rank_dtype = Message(RuntimeError, "quantile(): q is {dtype}; it must be {wanted}, as the input is")
quantile_ranks = Message(RuntimeError, "quantile(): q must be numbers in [0, 1] in at most one dim, not {q}")
interpolation = Message(
    RuntimeError,
    "quantile(): interpolation must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest', not {interpolation!r}",
)
empty_quantile = Message(RuntimeError, "quantile(): the input has no elements to rank")
search_dtypes = Message(RuntimeError, "searchsorted(): the sorted values are {row}, those to place {values}")
search_shapes = Message(
    RuntimeError,
    "searchsorted(): sorted rows of shape {row!t} and values of shape {values!t} must agree but "
    "for the last dim, or there is one row of one dim",
)
search_side = Message(
    RuntimeError,
    "searchsorted(): side must be 'left' or 'right', and agree with right={right}, not {side!r}",
    "side right",
)
search_sorter = Message(
    RuntimeError,
    "searchsorted(): sorter must be int64 of shape {wanted!t}, not {dtype} of {shape!t}",
    "shape dtype wanted",
)
sorter_range = Message(RuntimeError, "searchsorted(): sorter has places outside of [0, {size})")
boundaries = Message(RuntimeError, "bucketize(): boundaries must have one dim, not shape {shape!t}")
bins = Message(RuntimeError, "{name}(): bins must be at least 1, not {bins}")
value_range = Message(RuntimeError, "{name}(): a range from {low} to {high} holds no finite numbers in order")
range_length = Message(RuntimeError, "{name}(): range must hold {wanted} numbers, not {count}", "name count wanted")
bins_for_dims = Message(RuntimeError, "histogramdd(): {bins} bins for samples of {dims} coordinates")
at_least_two_dims = Message(RuntimeError, "histogramdd(): samples need two dims, not shape {shape!t}")
bin_edges = Message(
    RuntimeError,
    "{name}(): bins must be {wanted} numbers in one dim, not {dtype} of shape {shape!t}",
    "name shape dtype wanted",
)
weight_shape = Message(RuntimeError, "{name}(): weights of shape {shape!t} for samples of shape {wanted!t}")
weight_dtype = Message(RuntimeError, "{name}(): weights are {dtype}; they must be {wanted}, as the input is")
counted = Message(
    RuntimeError, "bincount() counts non-negative integers in one dim, not {dtype} of shape {shape!t}", "shape dtype"
)
minlength = Message(RuntimeError, "bincount(): minlength must not be negative, not {minlength}")
negative_counted = Message(RuntimeError, "bincount(): the input has {least}; it counts what is not negative")
unique_of_scalar = Message(IndexError, "unique(): dim {dim} of a 0-d tensor, which has none; leave dim out")
unique_empty = Message(RuntimeError, "unique(): the slices of shape {shape!t} along dim {dim} are empty")
