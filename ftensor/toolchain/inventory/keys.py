"""Converts rows, dtypes and layouts to the keys of launches on an FPGA."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, cast

from ... import dtypes
from ..._tensor import Tensor
from ...dtypes import dtype
from ...execute.keys import fold_key, gathering_key, located_key, monoid, op_key, partials, results, second_stage
from ...kernels.inventory_terms import GATHER, SCATTER
from ...kernels.key import BY_VALUE, LINEAR, LOCATED, STRIDED, KernelKey, lanes_for
from ...kernels.op_skeleton import OpSkeleton
from ...kernels.skeleton import Skeleton, layouts, skeleton_named, skeletons
from ...kernels.source import is_positional
from ...rows.catalogue import ROWS, Row
from ...rows.op import Op, Promote, Reduce, compute_and_result_dtypes, refuses_bare
from ...runtime.targets import CSIM
from ..area.count import affordable_lanes


def categories() -> dict[str, tuple[Row, ...]]:
    """Returns all rows by category."""
    by_category: dict[str, tuple[Row, ...]] = {}
    for row, word in ROWS.items():
        by_category[word] = (*by_category.get(word, ()), row)
    return by_category


def rows() -> dict[str, tuple[Row, ...]]:
    """Returns all rows by name; a reduction and the op that completes it share a name."""
    by_name: dict[str, tuple[Row, ...]] = {}
    for row in ROWS:
        by_name[row.name] = (*by_name.get(row.name, ()), row)
    return dict(sorted(by_name.items()))


def row_named(word: str) -> tuple[Row, ...]:
    """Returns the rows of a name. For a word such as "add()" or "add(alpha)", returns only the rows
    with these parameters."""
    name, bracket, inside = word.partition("(")
    matching = tuple(row for row in ROWS if row.name == name)
    if not bracket:
        return matching
    params = tuple(w.strip() for w in inside.removesuffix(")").split(",") if w.strip())
    return tuple(row for row in matching if row.params == params)


DTYPES_BY_NAME = {d.name: d for d in dtypes.ALL}
NUMBER = "number"


@dataclass(frozen=True)
class Signature:
    """The dtypes of a kernel. In `ins`, `None` stands for a scalar argument."""

    compute: dtype
    outs: tuple[dtype, ...]
    ins: tuple[dtype | None, ...]

    def __str__(self) -> str:
        """Returns the spelling in an inventory: "float32(float32, number)"."""
        outs = ", ".join(d.name for d in self.outs)
        ins = ", ".join(NUMBER if d is None else d.name for d in self.ins)
        return f"{outs}({ins})"


_SPELLED = re.compile(r"([\w, ]+)\(([\w, ]*)\)(?: in (\w+))?\s*")


def parse_signature(row: Op | Reduce, text: str) -> Signature | None:
    """Returns the signature of a text such as "bool(int64, number) in float32", or None.

    Without "in", the row's rule determines the compute dtype.
    """
    match = _SPELLED.fullmatch(text.strip())
    if match is None:
        return None
    results = [w.strip() for w in match[1].split(",")]
    words = [w.strip() for w in match[2].split(",") if w.strip()]
    if not {*results, *words, match[3] or NUMBER} <= {*DTYPES_BY_NAME, NUMBER} or NUMBER in results:
        return None  # such as "float32 float32(float32)"
    outs = tuple(DTYPES_BY_NAME[w] for w in results)
    ins = tuple(None if w == NUMBER else DTYPES_BY_NAME[w] for w in words)
    compute = DTYPES_BY_NAME[match[3]] if match[3] in DTYPES_BY_NAME else default_compute(row, outs, ins)
    return Signature(compute, outs, ins)


def signature_text(row: Op | Reduce, signature: Signature) -> str:
    """Returns the text that `parse_signature` parses to this signature for this row."""
    usual = default_compute(row, signature.outs, signature.ins)
    return f"{signature}" + ("" if usual is signature.compute else f" in {signature.compute.name}")


def default_compute(row: Op | Reduce, outs: tuple[dtype, ...], ins: tuple[dtype | None, ...]) -> dtype:
    """Returns the compute dtype of a row for these dtypes."""
    tensors = [d for d in ins if d is not None]
    first = tensors[0] if tensors else outs[0]
    if isinstance(row, Reduce):
        return _reduction_compute(row, outs, first)
    values = [d for k, d in enumerate(ins) if d is not None and k not in row.masks]
    common = values[0] if values else outs[0]
    for d in values[1:]:
        common = dtypes.promote_types(common, d)
    if None in ins and row.promote is Promote.SAME:
        common = dtypes.promote_types(common, outs[0])
    return compute_and_result_dtypes(row.promote, common)[0]


def pointwise(op: Op, dtype: dtype, to: dtype | None = None) -> Signature | None:
    """Returns the signature with operands of dtype `dtype`, and a result of the op's dtype or `to`.

    Returns None if `op` rejects these dtypes.
    """
    if dtype.kind in {Promote.WIDE: "b", Promote.REAL_TO_COMPLEX: "bui"}.get(op.promote, ""):
        return None
    if op.only and dtype.name not in op.only and dtype.kind not in op.only:
        return None
    ins = tuple(dtypes.bool if k in op.masks else dtype for k in range(op.arity))
    compute, result = compute_and_result_dtypes(op.promote, dtype)
    signature = Signature(compute, (to or result,), ins)
    return signature if accepts(op, signature, dtype) else None


def accepts(op: Op, signature: Signature, common: dtype) -> bool:
    """True if a row accepts a signature whose operands promote to `common`."""
    if not op.expression(signature.compute) or common.name in op.refuses:
        return False
    if any(signature.ins[k] is None for k in op.tensors):
        return False
    written = signature.outs[0]
    if refuses_bare(op.promote, op.bare, written):
        return False
    result = compute_and_result_dtypes(op.promote, common)[1]
    if not op.any_out and not dtypes.can_cast(result, written):
        return False
    if op.check is not None:
        # A check reads dtypes only, so these tensors have no memory.
        nothing = cast(Any, None)
        inputs = [1 if d is None else Tensor._make(nothing, d, (1,), (1,)) for d in signature.ins]
        try:
            op.check(op, inputs, (1,) * len(op.params), common)
        except (TypeError, RuntimeError):
            return False
    return True


def with_scalars(op: Op, signature: Signature) -> list[Signature]:
    """Returns the variants of a signature with scalar arguments in place of tensors, as far as the
    row allows."""
    tensor_only = (*op.masks, *op.tensors)
    free = [k for k, d in enumerate(signature.ins) if d is not None and k not in tensor_only]
    variants = []
    for mask in range(1, 1 << len(free)):
        scalar_inputs = {k for bit, k in enumerate(free) if mask >> bit & 1}
        if len(scalar_inputs) < len(signature.ins):
            ins = tuple(None if k in scalar_inputs else d for k, d in enumerate(signature.ins))
            variant = Signature(signature.compute, signature.outs, ins)
            variants += [variant] if accepts(op, variant, common_of(signature)) else []
    return variants


def common_of(signature: Signature) -> dtype:
    """Returns the dtype to which a signature's operands promote, for the checks of `accepts`."""
    compute, input_dtypes = signature.compute, [d for d in signature.ins if d is not None]
    if not signature.ins:
        return signature.outs[0]
    return next((d for d in input_dtypes if d.compute is compute), compute)


def reduction(red: Reduce, dtype: dtype, to: dtype | None = None) -> Signature | None:
    """Returns the signature of a reduction of dtype `dtype` with result `to`; None if it is
    rejected."""
    if dtype.kind not in red.kinds:
        return None
    compute, result = compute_and_result_dtypes(red.promote, dtype)
    index_outputs = () if red.second_input is None else (compute_and_result_dtypes(red.second_input, dtype)[1],)
    outs = red.results(result)
    signature = Signature(compute, outs if to is None else (to, *outs[1:]), (dtype, *index_outputs))
    return signature if supports_signature(red, signature) else None


def supports_signature(red: Reduce, signature: Signature) -> bool:
    """True if a reduction has expressions for a signature's compute dtype, and its operand counts
    match."""
    words = red.complex_ is not None if signature.compute.is_complex else bool(red.lift)
    # Expressions of a reduction that rejects integers are not valid on integers.
    words = words and signature.compute.kind in red.kinds
    reads = 1 + (red.second_input is not None)
    return words and len(signature.outs) == len(red.finish) and len(signature.ins) == reads


def _reduction_compute(red: Reduce, outs: tuple[dtype, ...], first: dtype) -> dtype:
    if red.promote is Promote.TRUTH:
        return dtypes.bool
    if red.arg:
        return first.compute
    if first.is_complex and not red.state_complex:
        return outs[0].to_complex() if outs[0].kind == "f" else first
    return outs[0].compute


# The layout word for pointwise rows with a Python number in place of a tensor.
SCALAR = "scalar"
# The layout words of rows with index operands.
INDEXED_LAYOUTS = (GATHER.word, SCATTER.word)
# The value of `lanes` that gives each op the lanes that its cost allows.
LANES_BY_COST = -1
# A layout in full: a skeleton, then the kind of each operand in memory, outputs first.
_EXACT = re.compile(r"(\w+) ([vsrxgk]+)")


@dataclass(frozen=True)
class KernelShape:
    """The settings of an inventory for the form of a kernel, besides its layout.

    lanes: 0 fills a port's width; LANES_BY_COST does so only for cheap pointwise ops
    vectors: parallel states of a reduction; () is the default
    stages: for a reduction, "whole", or the two stages that share it among compute units
    """

    lanes: int = 0
    vectors: tuple[int, ...] = ()
    stages: tuple[str, ...] = ("whole",)
    indices: tuple[int, ...] = (1,)
    index: tuple[dtype, ...] = ()


def layout_words() -> tuple[str, ...]:
    """Returns all words for layouts, in the order of messages."""
    words = [layout.word for layout in layouts()]
    return (*words[:1], SCALAR, *words[1:])


def exact_layout(layout: str) -> tuple[OpSkeleton, str] | None:
    """Returns (skeleton, kinds) of a full layout such as "map vvs"; None for a word."""
    match = _EXACT.fullmatch(layout)
    skeleton = skeleton_named(match[1]) if match else None
    return (skeleton, match[2]) if match and isinstance(skeleton, OpSkeleton) else None


def layout_kinds(layout: str, folds: bool, outs: int, ins: int) -> tuple[tuple[OpSkeleton, str], ...]:
    """Returns the skeletons of a layout with the operands' kinds, for reductions if `folds`, else
    for pointwise rows."""
    return _layout_kinds(tuple(skeletons()), layout, folds, outs, ins)


@cache  # thousands of signatures repeat few calls
def _layout_kinds(
    skeletons: tuple[Skeleton[Any], ...], layout: str, folds: bool, outs: int, ins: int
) -> tuple[tuple[OpSkeleton, str], ...]:
    exact = exact_layout(layout)
    if exact is not None:
        skeleton, kinds = exact
        return (exact,) if skeleton.folds == folds and len(kinds) == outs + ins else ()
    candidates = [one for one in skeletons if isinstance(one, OpSkeleton) and one.folds == folds]
    meant = ((one, one.kinds(layout, outs, ins)) for one in candidates)
    return tuple((one, kinds) for one, kinds in meant if kinds is not None)


def pointwise_keys(op: Op, signature: Signature, layouts: Sequence[str], shape: KernelShape) -> Iterator[KernelKey]:
    """Yields the kernels of a pointwise row for a signature."""
    forms = [signature]
    if SCALAR in layouts:
        forms += with_scalars(op, signature)
    placed = is_positional((op.body,), op.lets)
    for layout in layouts:
        for form in forms:
            tensors = [d for d in form.ins if d is not None]
            full = max(shape.lanes, 0) or lanes_for([form.outs[0], *tensors], form.compute, CSIM.lanes_bytes)
            for skeleton, kinds in layout_kinds(layout, False, 1, len(tensors)):
                if placed and skeleton.walks and exact_layout(layout) is None:
                    continue
                lanes = skeleton.lanes(layout, kinds, full)
                key = op_key(op, skeleton.name, form.compute, lanes, form.outs[0], form.ins, kinds)
                if shape.lanes == LANES_BY_COST and lanes > (most := affordable_lanes(key)):
                    key = _with_lanes(key, most)
                yield key


def _with_lanes(key: KernelKey, lanes: int) -> KernelKey:
    """Returns the kernel with fewer lanes; with one lane, the kernel for any strides, which is as
    fast."""
    return (fallback_key(key) if lanes == 1 else None) or replace(key, lanes=lanes)


def located_keys(op: Op, dtype: dtype, layouts: Sequence[str], shape: KernelShape) -> Iterator[KernelKey]:
    """Yields the kernels of a row that reads or writes elements located by index tensors."""
    joins = [LOCATED] if op.arity > 1 else []
    written = [LOCATED, STRIDED, *joins]
    for layout in layouts:
        for count, index in product(shape.indices, shape.index):
            if layout == GATHER.word and op.gathers:
                yield gathering_key(op, dtype, index, count)
            elif layout == SCATTER.word and op.located:
                indices = (index,) * count
                yield located_key(op, (dtype,) * len(written), written, indices, STRIDED * count)


def fold_keys(red: Reduce, signature: Signature, layouts: Sequence[str], shape: KernelShape) -> Iterator[KernelKey]:
    """Yields the kernels of a reduction for a signature."""
    compute = signature.compute
    words, state = monoid(red, compute)
    ins = [d for d in signature.ins if d is not None]
    outs = results(red, compute, state, signature.outs)
    fields = partials(red, compute, state)
    names = ("x", "i")[: len(fields)]
    for layout in layouts:
        for stage in shape.stages:
            if stage == "second":
                second, last = second_stage(words, outs)
                parts = [d for d, _ in fields]
                variants = _folds(layout, parts, last, state, shape)
                body, stores, folded, in_ = red.finish, last, second, parts
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
    layout: str, ins: Sequence[dtype], outs: Sequence[tuple[dtype, str]], compute: dtype, shape: KernelShape
) -> Iterator[tuple[str, str, int, int]]:
    """Yields (skeleton, access kinds, lanes, parallel states) of each kernel of a layout for these
    operands."""
    full = max(shape.lanes, 0) or lanes_for([*ins, *(d for d, _ in outs)], compute, CSIM.lanes_bytes)
    for skeleton, kinds in layout_kinds(layout, True, len(outs), len(ins)):
        lanes = skeleton.lanes(layout, kinds, full)
        for vectors in skeleton.vectors(layout, shape.vectors):
            yield skeleton.name, kinds, lanes, vectors


def fallback_key(key: KernelKey) -> KernelKey | None:
    """Returns the key that a launch uses if an image lacks `key`: any strides, one lane.

    Returns None for a row that uses positions: it needs contiguous operands.
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
    if is_positional(key.body, key.lets):
        return None
    unchanged_kinds = (BY_VALUE, LOCATED)
    return replace(
        key,
        skeleton="rows",
        lanes=1,
        outs=tuple(p if p.kind in unchanged_kinds else replace(p, kind=STRIDED) for p in key.outs),
        ins=tuple(p if p.kind in unchanged_kinds else replace(p, kind=STRIDED) for p in key.ins),
    )
