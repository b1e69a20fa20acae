"""Kernel keys from ops, dtypes and layouts: the one place that defines a kernel's identity.

Launches on devices that compile and the builder of images both use these functions, so that both
name the same kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from .. import errors
from ..dtypes import dtype, int32
from ..kernels.key import (
    BY_VALUE,
    INDEX,
    LOCATED,
    POSITION,
    REAL,
    STRIDED,
    TRUTH,
    VALUE,
    KernelKey,
    Key,
    Port,
    Reduction,
)
from ..rows.op import Op, Reduce, yields

# Capacity of the table of shared keys.
MAX_KEYS = 1 << 12
# (dtype, how the expression sees it) of each output or state field of a reduction.
Fields = tuple[tuple[dtype, str], ...]


@lru_cache(MAX_KEYS)
def shared_key(key: Key) -> Key:
    """Returns the stored key that equals `key`, so that equal launches share one object."""
    return key


@lru_cache(MAX_KEYS)
def op_key(
    op: Op,
    skeleton: str,
    compute: dtype,
    lanes: int,
    written: dtype,
    inputs: tuple[dtype | None, ...],
    kinds: tuple[str, ...],
) -> KernelKey:
    """Returns the key of a pointwise op's kernel.

    `inputs` holds None for a number that is passed by value. `kinds` has one letter for the output
    and one for each tensor input.
    """
    left = iter(kinds[1:])
    ports = tuple(Port(compute, BY_VALUE, s) if d is None else Port(d, next(left), s) for d, s in zip(inputs, op.sees))
    outs = (Port(written, kinds[0], yields(op.promote, compute)),)
    return KernelKey(
        op.name, skeleton, compute, lanes, outs, ports, (op.expression(compute),), params=op.params, lets=op.lets
    )


def located_key(
    op: Op, operands: Sequence[dtype], kinds: Sequence[str], indices: Sequence[dtype], index_kinds: Sequence[str]
) -> KernelKey:
    """Returns the key of an op whose operands of kind LOCATED are read by index; `operands` has the
    outputs first."""
    ports = [Port(d, kind) for d, kind in zip(operands, kinds)]
    ports += [Port(d, kind, INDEX) for d, kind in zip(indices, index_kinds)]
    compute = operands[0].compute
    return KernelKey(op.name, "rows", compute, 1, (ports[0],), tuple(ports[1:]), (op.expression(compute),))


@lru_cache(MAX_KEYS)
def gathering_key(op: Op, dtype: dtype, index: dtype, indices: int) -> KernelKey:
    """Returns the key of an op that reads by index, with any strides and all operands in one dtype."""
    kinds = [STRIDED, *(LOCATED if k in op.gathers else STRIDED for k in range(op.arity))]
    return located_key(op, (dtype,) * len(kinds), kinds, (index,) * indices, STRIDED * indices)


def monoid(red: Reduce, compute: dtype) -> tuple[Reduction, dtype]:
    """Returns the reduction's combine, for elements lifted in `compute`, and the dtype of its
    state.

    Raises NotImplementedError for complex numbers if the reduction has no complex form.
    """
    lift, combine, identity = red.lift, red.combine, red.identity
    if compute.is_complex:
        if red.complex_ is None:
            raise errors.not_implemented_for(red.name, compute)
        lift, combine, identity = red.complex_
    complex_ = compute.is_complex and red.state_complex
    state = compute if complex_ or not compute.is_complex else compute.to_real()
    words = Reduction(lift, combine, identity, arg=red.arg, complex=complex_, beats=red.beats)
    return words, state


def results(red: Reduce, compute: dtype, state: dtype, outs: Sequence[dtype]) -> Fields:
    """Returns (dtype, how the expression sees it) for each output of a reduction."""
    sees = VALUE if state is compute else REAL
    return tuple((d, POSITION if red.arg and text.strip() == "i" else sees) for d, text in zip(outs, red.finish))


def partials(red: Reduce, compute: dtype, state: dtype) -> Fields:
    """Returns (dtype, how the expression sees it) for each part of a partial result, which the
    first of two stages writes and the second reads."""
    fields: Fields = ((state, VALUE if state is compute else REAL),)
    return fields + (((int32, POSITION),) if red.arg else ())


def second_stage(words: Reduction, outs: Fields) -> tuple[Reduction, Fields]:
    """Returns the reduction and the output fields of the second stage. Its inputs are partial
    results, so its `lift` is the identity."""
    seen = tuple((d, VALUE if s == REAL else s) for d, s in outs)
    return replace(words, lift="a", stage="second"), seen


def fold_key(
    red: Reduce,
    stage: str,
    skeleton: str,
    compute: dtype,
    lanes: int,
    words: Reduction,
    outs: Fields,
    body: Sequence[str],
    inputs: Sequence[dtype],
    kinds: Sequence[str],
    vectors: int,
) -> KernelKey:
    """Returns the key of one stage of a reduction; `kinds` has the outputs' letters first."""
    sees = [TRUTH if red.truth and stage != "second" else VALUE] * len(inputs)
    if stage == "second" and red.arg:
        sees[1] = POSITION
    return KernelKey(
        f"{red.name}_{stage}",
        skeleton,
        compute,
        lanes,
        tuple(Port(d, kind, s) for (d, s), kind in zip(outs, kinds)),
        tuple(Port(d, kind, s) for d, kind, s in zip(inputs, kinds[len(outs) :], sees)),
        tuple(body),
        params=red.params,
        reduction=replace(words, stage=stage, vectors=vectors),
    )
