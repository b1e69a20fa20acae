"""From rows, dtypes and layouts to the kernels that launches ask for on an FPGA.

An image's kernels are compiled for the targets whose ports are 64 bytes wide, whose vectors stay
on their alignment, and whose compute units take slabs; their keys equal those of the launches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from ...dtypes import dtype
from ...execute.keys import fold_key, gathering_key, located_key, monoid, op_key, partials, results, second
from ...kernels.board_skeleton import layouts
from ...kernels.key import BY_VALUE, LINEAR, LOCATED, STRIDED, KernelKey, lanes_for
from ...kernels.op_skeleton import OpSkeleton
from ...kernels.skeleton import Skeleton, named, skeletons
from ...kernels.source import positional
from ...kernels.words import GATHER, SCATTER
from ...rows.op import Op, Reduce
from ...runtime.targets import CSIM
from ..area.lanes import affordable
from .signatures import Signature, with_numbers

# What a table of pointwise rows also serves: a Python number in the place of a tensor.
SCALAR = "scalar"
# Those of rows that go through indices.
LOCATING = (GATHER.word, SCATTER.word)
# What `lanes` says where each op has as many as its cost allows.
BY_COST = -1
# A layout in full: a skeleton, then the kind of each operand in memory, outputs first.
_EXACT = re.compile(r"(\w+) ([vsrxgk]+)")


@dataclass(frozen=True)
class Shape:
    """What an inventory may say of a kernel's form besides its layout.

    `lanes` 0 fills a port's width; BY_COST fills it with cheap pointwise ops alone. `vectors` ()
    takes a reduction's usual ones. `stages` of a reduction: the whole, or the two that share it out
    among compute units.
    """

    lanes: int = 0
    vectors: tuple[int, ...] = ()
    stages: tuple[str, ...] = ("whole",)
    indices: tuple[int, ...] = (1,)
    index: tuple[dtype, ...] = ()


def layout_words() -> tuple[str, ...]:
    """All words for layouts, in the order in which a message names them."""
    words = [layout.word for layout in layouts()]
    return (*words[:1], SCALAR, *words[1:])


def exact_layout(layout: str) -> tuple[OpSkeleton, str] | None:
    """(skeleton, kinds) of a layout in full such as "map vvs"; None for a word."""
    match = _EXACT.fullmatch(layout)
    skeleton = named(match[1]) if match else None
    return (skeleton, match[2]) if match and isinstance(skeleton, OpSkeleton) else None


def ways(layout: str, folds: bool, outs: int, ins: int) -> tuple[tuple[OpSkeleton, str], ...]:
    """The skeletons that a layout means for rows, or for reductions, with the operands' kinds."""
    return _ways(tuple(skeletons()), layout, folds, outs, ins)


@cache  # thousands of signatures ask for the same few
def _ways(
    known: tuple[Skeleton[Any], ...], layout: str, folds: bool, outs: int, ins: int
) -> tuple[tuple[OpSkeleton, str], ...]:
    exact = exact_layout(layout)
    if exact is not None:
        skeleton, kinds = exact
        return (exact,) if skeleton.folds == folds and len(kinds) == outs + ins else ()
    candidates = [one for one in known if isinstance(one, OpSkeleton) and one.folds == folds]
    meant = ((one, one.kinds(layout, outs, ins)) for one in candidates)
    return tuple((one, kinds) for one, kinds in meant if kinds is not None)


def pointwise_keys(op: Op, signature: Signature, layouts: Sequence[str], shape: Shape) -> Iterator[KernelKey]:
    """The kernels of a pointwise row with these dtypes."""
    forms = [signature]
    if SCALAR in layouts:
        forms += with_numbers(op, signature)
    placed = positional((op.body,), op.lets)
    for layout in layouts:
        for form in forms:
            tensors = [d for d in form.ins if d is not None]
            full = max(shape.lanes, 0) or lanes_for([form.outs[0], *tensors], form.compute, CSIM.lanes_bytes)
            for skeleton, kinds in ways(layout, False, 1, len(tensors)):
                if placed and skeleton.walks and exact_layout(layout) is None:
                    continue
                lanes = skeleton.lanes(layout, kinds, full)
                key = op_key(op, skeleton.name, form.compute, lanes, form.outs[0], form.ins, kinds)
                if shape.lanes == BY_COST and lanes > (most := affordable(key)):
                    key = _narrower(key, most)
                yield key


def _narrower(key: KernelKey, lanes: int) -> KernelKey:
    """The same kernel with fewer lanes; with one the kernel for any strides, which goes as fast."""
    return (generic(key) if lanes == 1 else None) or replace(key, lanes=lanes)


def located_keys(op: Op, of: dtype, layouts: Sequence[str], shape: Shape) -> Iterator[KernelKey]:
    """The kernels of a row that reads or writes where index tensors lead."""
    joins = [LOCATED] if op.arity > 1 else []
    written = [LOCATED, STRIDED, *joins]
    for layout in layouts:
        for count, index in product(shape.indices, shape.index):
            if layout == GATHER.word and op.gathers:
                yield gathering_key(op, of, index, count)
            elif layout == SCATTER.word and op.located:
                indices = (index,) * count
                yield located_key(op, (of,) * len(written), written, indices, STRIDED * count)


def fold_keys(red: Reduce, signature: Signature, layouts: Sequence[str], shape: Shape) -> Iterator[KernelKey]:
    """The kernels of a reduction with these dtypes."""
    compute = signature.compute
    words, state = monoid(red, compute)
    ins = [d for d in signature.ins if d is not None]
    outs = results(red, compute, state, signature.outs)
    fields = partials(red, compute, state)
    names = ("x", "i")[: len(fields)]
    for layout in layouts:
        for stage in shape.stages:
            if stage == "second":
                again, last = second(words, outs)
                parts = [d for d, _ in fields]
                variants = _folds(layout, parts, last, state, shape)
                body, stores, folded, in_ = red.finish, last, again, parts
            else:
                stores = fields if stage == "first" else outs
                body = names if stage == "first" else red.finish
                variants = _folds(layout, ins, stores, compute, shape)
                folded, in_ = words, ins
            for skeleton, kinds, lanes, vectors in variants:
                yield fold_key(
                    red,
                    stage,
                    skeleton,
                    state if stage == "second" else compute,
                    lanes,
                    folded,
                    stores,
                    body,
                    in_,
                    kinds,
                    vectors,
                )


def _folds(
    layout: str, ins: Sequence[dtype], outs: Sequence[tuple[dtype, str]], compute: dtype, shape: Shape
) -> Iterator[tuple[str, str, int, int]]:
    """(skeleton, kinds, lanes, vectors) of a layout for these operands."""
    full = max(shape.lanes, 0) or lanes_for([*ins, *(d for d, _ in outs)], compute, CSIM.lanes_bytes)
    for skeleton, kinds in ways(layout, True, len(outs), len(ins)):
        lanes = skeleton.lanes(layout, kinds, full)
        for vectors in skeleton.vectors(layout, shape.vectors):
            yield skeleton.name, kinds, lanes, vectors


def generic(key: KernelKey) -> KernelKey | None:
    """The key that a launch turns to where an image lacks `key`: any strides, one lane.

    None for a row that goes by positions, which has no other form.
    """
    if key.reduction is not None:
        return replace(
            key,
            skeleton="reduce_inner",
            lanes=1,
            outs=tuple(replace(p, kind=LINEAR) for p in key.outs),
            ins=tuple(replace(p, kind=STRIDED) for p in key.ins),
            reduction=replace(key.reduction, vectors=1),
        )
    if positional(key.body, key.lets):
        return None
    stay = (BY_VALUE, LOCATED)
    return replace(
        key,
        skeleton="rows",
        lanes=1,
        outs=tuple(p if p.kind in stay else replace(p, kind=STRIDED) for p in key.outs),
        ins=tuple(p if p.kind in stay else replace(p, kind=STRIDED) for p in key.ins),
    )
