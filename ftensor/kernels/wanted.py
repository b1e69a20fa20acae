"""A kernel in an inventory's words: what it computes, on which dtypes, in which layout."""

from __future__ import annotations

from dataclasses import dataclass

from .gemm import GemmKey
from .key import BY_VALUE, LINEAR, LOCATED, SINGLE, STRIDED, KernelKey, lanes_for

Key = KernelKey | GemmKey | str
# The width of a board's ports, which inventories fill unless told otherwise.
PORT_BYTES = 64
# What an inventory calls the one fixed kernel and the matrix products.
FIXED = {"ft_compact": "compact"}
MATMUL = "matmul"


@dataclass(frozen=True)
class Wanted:
    """One kernel in words. `dtypes` are the inputs', then the outputs'; `signature` is both as an
    inventory spells them; `layout` is the skeleton and the kind of each operand in memory, outputs
    first; `lines` are the table of an inventory that asks for the kernel, or for the one in any
    layout that serves in its place."""

    entry: str
    op: str
    dtypes: tuple[str, ...]
    signature: str
    layout: str
    lines: tuple[str, ...]


def wanted(key: Key) -> Wanted:
    """The words for what a launch asks for."""
    if isinstance(key, str):
        op = FIXED.get(key, key)
        return Wanted(key, op, (), "", "", _table(op))
    if isinstance(key, GemmKey):
        of = key.dtype.name
        part = "direct" if key.skeleton == "gemm_direct" else "packed"
        lines = _table(MATMUL, f'dtypes = ["{of}"]', f'parts = ["{part}"]')
        return Wanted(key.entry, MATMUL, (of,) * 3, f"{of}({of}, {of})", key.skeleton, lines)
    op = key.name
    if key.reduction is not None:
        op = op.removesuffix(f"_{key.reduction.stage}")
    outs = [p.dtype.name for p in key.outs]
    ins = ["number" if p.kind == BY_VALUE else p.dtype.name for p in key.ins]
    signature = f"{', '.join(outs)}({', '.join(ins)})"
    kinds = "".join(p.kind for p in key.outs + key.ins if p.kind != BY_VALUE)
    dtypes = tuple(p.dtype.name for p in key.ins + key.outs)
    return Wanted(key.entry, op, dtypes, signature, f"{key.skeleton} {kinds}", _lines(key, op))


def _table(op: str, *more: str) -> tuple[str, ...]:
    return ("[[kernel]]", f'ops = ["{op}"]', *more)


def _lines(key: KernelKey, op: str) -> tuple[str, ...]:
    indices = [p for p in key.ins if p.sees == "J"]
    if indices:
        layout = "scatter" if key.outs[0].kind == LOCATED else "gather"
        return _table(
            op,
            f'dtypes = ["{key.outs[0].dtype.name}"]',
            f'layouts = ["{layout}"]',
            f'index = ["{indices[0].dtype.name}"]',
            f"indices = [{len(indices)}]",
        )
    tensors = [p.dtype for p in key.ins if p.kind != BY_VALUE]
    ins = ["number" if p.kind == BY_VALUE else p.dtype.name for p in key.ins]
    text = f"{', '.join(p.dtype.name for p in key.outs)}({', '.join(ins)})"
    if key.compute is not (tensors or [key.outs[0].dtype])[0]:
        text += f" in {key.compute.name}"
    full = lanes_for([*(p.dtype for p in key.outs), *tensors], key.compute, PORT_BYTES)
    layout = _layout(key, full)
    more = [f'layouts = ["{layout}"]']
    if key.reduction is not None and layout in ("inner", "outer"):
        more.append(f"vectors = [{key.reduction.vectors}]")
    if any("FT_POSITION" in t for t in (*key.body, *(t for _, t in key.lets))):
        more = ['layouts = ["linear"]', f"lanes = {key.lanes}"]  # it has no other layout
    if key.reduction is not None and key.reduction.stage != "whole":
        more.append("split = true")
    return _table(op, f'dtypes = ["{text}"]', *more)


def _layout(key: KernelKey, full: int) -> str:
    """A word of inventories for the layout; "strided" serves any that has none."""
    kinds = "".join(p.kind for p in key.outs + key.ins if p.kind != BY_VALUE)
    if key.lanes != full:
        return "strided"
    if key.skeleton == "map":
        return "linear" if set(kinds) == {LINEAR} else f"map {kinds}"
    if key.skeleton == "rows" and STRIDED not in kinds:
        return "rows"
    if key.skeleton == "reduce_outer" and set(kinds) == {LINEAR}:
        return "outer"
    read = kinds[len(key.outs) :]
    if key.skeleton == "reduce_inner" and read == LINEAR + SINGLE * (len(read) - 1):
        return "inner"
    return "strided"
