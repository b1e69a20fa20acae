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
from .loop_body import PARTS, part_unit


def row_units(
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
        yield from [part_unit(compute, which) for which, of in PARTS.items() if of == name]


def _of_op(op: Op, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]) -> Iterator[ElementFunction]:
    if len(outs) == 1 and len(ins) == op.arity and op.expression(compute):
        yield element_function_of(op_key(op, "map", compute, 1, outs[0], tuple(ins), LINEAR * (1 + len(ins))))


def _of_fold(
    red: Reduce, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]
) -> Iterator[ElementFunction]:
    tensors = [of for of in ins if of is not None]
    words = red.complex_ is not None if compute.is_complex else bool(red.lift)
    fits = len(outs) == len(red.finish) and len(tensors) == len(ins) == 1 + (red.beside is not None)
    if not words or not fits:
        return
    folded, state = monoid(red, compute)
    fields = results(red, compute, state, outs)
    kinds = LINEAR * (len(outs) + len(ins))
    key = fold_key(red, "whole", "reduce_inner", compute, 1, folded, fields, red.finish, tensors, kinds, STATES)
    unit = replace(element_function_of(key), name=red.name)
    yield unit
    if any(sees == REAL for _, sees in unit.outs):  # as the second of two steps names a real state
        yield replace(unit, outs=tuple((of, VALUE if sees == REAL else sees) for of, sees in unit.outs))
