"""The dtypes that go through a row: what a launch computes in, reads and writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

from ... import dtypes
from ..._tensor import Tensor
from ...dtypes import dtype
from ...rows.op import Op, Promote, Reduce, dtypes_through, refuses_bare

BY_NAME = {d.name: d for d in dtypes.ALL}
NUMBER = "number"


@dataclass(frozen=True)
class Signature:
    """The dtypes of one kernel. None among the inputs is a number that is passed by value."""

    compute: dtype
    outs: tuple[dtype, ...]
    ins: tuple[dtype | None, ...]

    def __str__(self) -> str:
        """As an inventory spells it: "float32(float32, number)"."""
        outs = ", ".join(d.name for d in self.outs)
        ins = ", ".join(NUMBER if d is None else d.name for d in self.ins)
        return f"{outs}({ins})"


_SPELLED = re.compile(r"([\w, ]+)\(([\w, ]*)\)(?: in (\w+))?\s*")


def spelled(row: Op | Reduce, text: str) -> Signature | None:
    """The signature that a text spells, such as "bool(int64, number) in float32", or None.

    Without "in", the row's own rule says what it computes in.
    """
    match = _SPELLED.fullmatch(text.strip())
    if match is None:
        return None
    results = [w.strip() for w in match[1].split(",")]
    words = [w.strip() for w in match[2].split(",") if w.strip()]
    if not {*results, *words, match[3] or NUMBER} <= {*BY_NAME, NUMBER} or NUMBER in results:
        return None  # such as "float32 float32(float32)"
    outs = tuple(BY_NAME[w] for w in results)
    ins = tuple(None if w == NUMBER else BY_NAME[w] for w in words)
    compute = BY_NAME[match[3]] if match[3] in BY_NAME else default_compute(row, outs, ins)
    return Signature(compute, outs, ins)


def text_of(row: Op | Reduce, signature: Signature) -> str:
    """The spelling of a signature that `spelled` reads back for this row."""
    usual = default_compute(row, signature.outs, signature.ins)
    return f"{signature}" + ("" if usual is signature.compute else f" in {signature.compute.name}")


def default_compute(row: Op | Reduce, outs: tuple[dtype, ...], ins: tuple[dtype | None, ...]) -> dtype:
    """What a row computes in, as far as its dtypes say."""
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
    return dtypes_through(row.promote, common)[0]


def pointwise(op: Op, of: dtype, to: dtype | None = None) -> Signature | None:
    """All operands of one dtype, and the result in its own or in `to`; None where `op` refuses."""
    if of.kind in {Promote.WIDE: "b", Promote.REAL_TO_COMPLEX: "bui"}.get(op.promote, ""):
        return None
    if op.only and of.name not in op.only and of.kind not in op.only:
        return None
    ins = tuple(dtypes.bool if k in op.masks else of for k in range(op.arity))
    compute, result = dtypes_through(op.promote, of)
    signature = Signature(compute, (to or result,), ins)
    return signature if accepts(op, signature, of) else None


def accepts(op: Op, signature: Signature, common: dtype) -> bool:
    """Whether a row computes operands that promote to `common`."""
    if not op.expression(signature.compute) or common.name in op.refuses:
        return False
    if any(signature.ins[k] is None for k in op.tensors):
        return False
    written = signature.outs[0]
    if refuses_bare(op.promote, op.bare, written):
        return False
    result = dtypes_through(op.promote, common)[1]
    if not op.any_out and not dtypes.can_cast(result, written):
        return False
    if op.check is not None:
        # A check asks for types alone: no memory is behind these.
        nothing = cast(Any, None)
        inputs = [1 if d is None else Tensor._make(nothing, d, (1,), (1,)) for d in signature.ins]
        try:
            op.check(op, inputs, (1,) * len(op.params), common)
        except (TypeError, RuntimeError):
            return False
    return True


def with_numbers(op: Op, signature: Signature) -> list[Signature]:
    """The same with numbers in place of some tensors, wherever the row takes them."""
    stay = (*op.masks, *op.tensors)
    free = [k for k, d in enumerate(signature.ins) if d is not None and k not in stay]
    variants = []
    for mask in range(1, 1 << len(free)):
        gone = {k for bit, k in enumerate(free) if mask >> bit & 1}
        if len(gone) < len(signature.ins):
            ins = tuple(None if k in gone else d for k, d in enumerate(signature.ins))
            variant = Signature(signature.compute, signature.outs, ins)
            variants += [variant] if accepts(op, variant, common_of(signature)) else []
    return variants


def common_of(signature: Signature) -> dtype:
    """The dtype that a signature's operands are taken to promote to, for what an op refuses."""
    compute, known = signature.compute, [d for d in signature.ins if d is not None]
    if not signature.ins:
        return signature.outs[0]
    return next((d for d in known if d.compute is compute), compute)


def reduction(red: Reduce, of: dtype, to: dtype | None = None) -> Signature | None:
    """How a reduction takes a tensor of one dtype, returned as `to`; None where it refuses."""
    if of.kind not in red.kinds:
        return None
    compute, result = dtypes_through(red.promote, of)
    beside = () if red.beside is None else (dtypes_through(red.beside, of)[1],)
    outs = red.results(result)
    signature = Signature(compute, outs if to is None else (to, *outs[1:]), (of, *beside))
    return signature if takes(red, signature) else None


def takes(red: Reduce, signature: Signature) -> bool:
    """Whether a reduction has words for what it is to compute in."""
    words = red.complex_ is not None if signature.compute.is_complex else bool(red.lift)
    # The words of a reduction that refuses integers are no expressions over integers.
    words = words and signature.compute.kind in red.kinds
    reads = 1 + (red.beside is not None)
    return words and len(signature.outs) == len(red.finish) and len(signature.ins) == reads


def _reduction_compute(red: Reduce, outs: tuple[dtype, ...], first: dtype) -> dtype:
    if red.promote is Promote.TRUTH:
        return dtypes.bool
    if red.arg:
        return first.compute
    if first.is_complex and not red.state_complex:
        return outs[0].to_complex() if outs[0].kind == "f" else first
    return outs[0].compute
