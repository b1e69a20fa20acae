"""Element functions of dataflow stages by op name and dtypes, as graph files name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..dtypes import dtype
from ..execute.keys import fold_key, monoid, op_key, results
from ..kernels.element_function import ElementFunction, element_function_of
from ..kernels.key import LINEAR, REAL, VALUE
from ..kernels.staged import STATES
from ..rows.catalogue import ROWS
from ..rows.op import Op, Reduce
from .loop_body import PARTS, part_function


def row_functions(
    name: str, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]
) -> Iterator[ElementFunction]:
    """Yields the element functions of all ops named `name` that compute in `compute`, from elements
    of `ins` (None for a number) to elements of `outs`. Ops that do not support these dtypes yield
    nothing."""
    for row in [row for row in ROWS if row.name == name]:
        if isinstance(row, Op):
            yield from _of_op(row, compute, outs, ins)
        else:
            yield from _of_fold(row, compute, outs, ins)
    if compute.is_complex:
        yield from [part_function(compute, part) for part, name_of_part in PARTS.items() if name_of_part == name]


def _of_op(op: Op, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]) -> Iterator[ElementFunction]:
    if len(outs) == 1 and len(ins) == op.arity and op.expression(compute):
        yield element_function_of(op_key(op, "map", compute, 1, outs[0], tuple(ins), LINEAR * (1 + len(ins))))


def _of_fold(
    red: Reduce, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]
) -> Iterator[ElementFunction]:
    tensors = [d for d in ins if d is not None]
    is_supported = red.complex_ is not None if compute.is_complex else bool(red.lift)
    fits = len(outs) == len(red.finish) and len(tensors) == len(ins) == 1 + (red.second_input is not None)
    if not is_supported or not fits:
        return
    folded, state = monoid(red, compute)
    fields = results(red, compute, state, outs)
    kinds = LINEAR * (len(outs) + len(ins))
    key = fold_key(red, "whole", "reduce_inner", compute, 1, folded, fields, red.finish, tensors, kinds, STATES)
    function = replace(element_function_of(key), name=red.name)
    yield function
    if any(sees == REAL for _, sees in function.outs):  # as the second of two steps names a real state
        yield replace(function, outs=tuple((d, VALUE if sees == REAL else sees) for d, sees in function.outs))
