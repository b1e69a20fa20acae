"""From rows, dtypes and layouts to the kernels that launches ask for on an FPGA.

An image's kernels are compiled for the targets whose ports are 64 bytes wide, whose vectors stay
on their alignment, and whose compute units take slabs; their keys equal those of the launches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...dtypes import dtype
from ...execute.keys import fold_key, located_key, monoid, op_key, partials, results, second
from ...kernels import gemm
from ...kernels.gemm import GemmKey
from ...kernels.key import BY_VALUE, LINEAR, LOCATED, ROW, SINGLE, STRIDED, KernelKey, lanes_for
from ...kernels.select import INNER_VECTORS, OUTER_VECTORS
from ...rows.op import Op, Reduce
from ...runtime.targets import CSIM, Target
from .signatures import Signature, with_numbers

# By skeleton name as an inventory says it: matrix products, and the search for true elements.
GEMM, COMPACT = "matmul", "compact"
# Words for layouts: those of pointwise rows, of reductions, of rows that go through indices.
POINTWISE = ("linear", "scalar", "rows", "strided")
REDUCING = ("inner", "outer", "strided")
LOCATING = ("gather", "scatter")
LAYOUTS = (*POINTWISE, *REDUCING[:2], *LOCATING)
# A layout in full: a skeleton, then the kind of each operand in memory, outputs first.
_EXACT = re.compile(r"(map|rows|reduce_inner|reduce_outer) ([vsrxgk]+)$")


@dataclass(frozen=True)
class Shape:
    """What an inventory may say of a kernel's form besides its layout.

    `lanes` 0 fills a port's width. `vectors` () takes a reduction's usual ones. `stages` of a
    reduction: the whole, or the two that share it out among compute units.
    """

    lanes: int = 0
    vectors: tuple[int, ...] = ()
    stages: tuple[str, ...] = ("whole",)
    indices: tuple[int, ...] = (1,)
    index: tuple[dtype, ...] = ()


def exact_layout(layout: str) -> tuple[str, str] | None:
    """(skeleton, kinds) of a layout in full such as "map vvs"; None for a word."""
    found = _EXACT.match(layout)
    return (found[1], found[2]) if found else None


def positional(row: Op) -> bool:
    """Whether a row goes by where an element is, so that only whole runs of memory serve it."""
    return any("FT_POSITION" in text for text in (row.body, *(t for _, t in row.lets)))


def pointwise_keys(
    op: Op, signature: Signature, layouts: Sequence[str], shape: Shape
) -> Iterator[KernelKey]:
    """The kernels of a pointwise row with these dtypes."""
    forms = [signature]
    if "scalar" in layouts:
        forms += with_numbers(op, signature)
    for layout in layouts:
        exact = exact_layout(layout)
        for form in forms:
            tensors = [d for d in form.ins if d is not None]
            if exact is not None:
                skeleton, kinds = exact
                if len(kinds) != 1 + len(tensors):
                    continue
            elif layout == "linear":
                skeleton, kinds = "map", LINEAR * (1 + len(tensors))
            elif layout == "rows" and not positional(op):
                skeleton, kinds = "rows", LINEAR + ROW * len(tensors)
            elif layout == "strided" and not positional(op):
                skeleton, kinds = "rows", STRIDED * (1 + len(tensors))
            else:
                continue
            lanes = shape.lanes or lanes_for(
                [form.outs[0], *tensors], form.compute, CSIM.lanes_bytes
            )
            if skeleton == "rows" and STRIDED in kinds:
                lanes = 1
            if skeleton in ("map", "rows"):
                yield op_key(op, skeleton, form.compute, lanes, form.outs[0], form.ins, kinds)


def located_keys(op: Op, of: dtype, layouts: Sequence[str], shape: Shape) -> Iterator[KernelKey]:
    """The kernels of a row that reads or writes where index tensors lead."""
    for layout in layouts:
        joins = op.arity > 1
        if layout not in LOCATING or (layout == "gather" and joins):
            continue
        kinds = [LOCATED, STRIDED] if layout == "scatter" else [STRIDED, LOCATED]
        kinds += [LOCATED] if joins else []
        for count in shape.indices:
            for index in shape.index:
                yield located_key(op, (of,) * len(kinds), kinds, (index,) * count, STRIDED * count)


def fold_keys(
    red: Reduce, signature: Signature, layouts: Sequence[str], shape: Shape
) -> Iterator[KernelKey]:
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
                made = _folds(layout, parts, last, state, shape)
                body, given, folded, in_ = red.finish, last, again, parts
            else:
                given = fields if stage == "first" else outs
                body = names if stage == "first" else red.finish
                made = _folds(layout, ins, given, compute, shape)
                folded, in_ = words, ins
            for skeleton, kinds, lanes, vectors in made:
                yield fold_key(
                    red, stage, skeleton, state if stage == "second" else compute, lanes, folded,
                    given, body, in_, kinds, vectors,
                )  # fmt: skip


def _folds(
    layout: str, ins: Sequence[dtype], outs: Sequence[tuple[dtype, str]], compute: dtype,
    shape: Shape,
) -> Iterator[tuple[str, str, int, int]]:  # fmt: skip
    """(skeleton, kinds, lanes, vectors) of a layout for these operands."""
    lanes = shape.lanes or lanes_for([*ins, *(d for d, _ in outs)], compute, CSIM.lanes_bytes)
    written = LINEAR * len(outs)
    exact = exact_layout(layout)
    if exact is not None and exact[0].startswith("reduce"):
        for vectors in shape.vectors or (1,):
            yield exact[0], exact[1], lanes, vectors
    elif layout == "inner":
        # What belongs to a whole result, such as a mean, does not move along the row.
        kinds = written + LINEAR + SINGLE * (len(ins) - 1)
        for vectors in shape.vectors or (INNER_VECTORS, 1):
            yield "reduce_inner", kinds, lanes, vectors
    elif layout == "outer":
        for vectors in shape.vectors or (OUTER_VECTORS, 1):
            yield "reduce_outer", LINEAR * (len(outs) + len(ins)), lanes, vectors
    elif layout == "strided":
        yield "reduce_inner", written + STRIDED * len(ins), 1, 1


def gemm_keys(of: dtype, parts: Sequence[str], target: Target = CSIM) -> tuple[GemmKey, ...]:
    """The kernels of matrix products: "direct" for small ones, "packed" for large ones."""
    found: list[GemmKey] = []
    if "direct" in parts:
        found += [gemm.direct_key(of, target, fused) for fused in (True, False)]
    if "packed" in parts:
        packed = gemm.packed_key(of, target)
        found += [packed, gemm.pack_key(packed)]
    return tuple(dict.fromkeys(found))


def generic(key: KernelKey) -> KernelKey | None:
    """The key that a launch turns to where an image lacks `key`: any strides, one lane.

    None for a row that goes by positions, which has no other form.
    """
    if key.reduction is not None:
        return replace(
            key, skeleton="reduce_inner", lanes=1,
            outs=tuple(replace(p, kind=LINEAR) for p in key.outs),
            ins=tuple(replace(p, kind=STRIDED) for p in key.ins),
            reduction=replace(key.reduction, vectors=1),
        )  # fmt: skip
    if any("FT_POSITION" in t for t in (*key.body, *(text for _, text in key.lets))):
        return None
    stay = (BY_VALUE, LOCATED)
    return replace(
        key, skeleton="rows", lanes=1,
        outs=tuple(p if p.kind in stay else replace(p, kind=STRIDED) for p in key.outs),
        ins=tuple(p if p.kind in stay else replace(p, kind=STRIDED) for p in key.ins),
    )  # fmt: skip
