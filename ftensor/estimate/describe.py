"""A launch in words: what its operands are, and how large it is."""

from __future__ import annotations

from typing import Any

from ..kernels.gemm import GemmKey
from ..kernels.key import KernelKey
from .launch import Launch


def operands(launch: Launch) -> str:
    """The operands' dtypes, outputs first, and their kinds."""
    m = launch.member
    if isinstance(m, KernelKey):
        ports = (*m.outs, *m.ins)
        return f"{' '.join(p.dtype.name for p in ports)} {''.join(p.kind for p in ports)}"
    return m.dtype.name if isinstance(m, GemmKey) else "uint8"


def extent(launch: Launch) -> str:
    """The sizes: what a reduction keeps of what it folds; a product's rows, columns and depth."""
    g = launch.geometry
    if not g:
        return str(launch.n)
    m = launch.member
    if isinstance(m, GemmKey):
        if m.skeleton == "gemm_pack":
            return f"{g[0]}x{g[2]} {g[7]}x{g[9]}"
        return f"{g[4]}x{g[5]}x{g[6]}"
    if launch.skeleton == "rows":
        return "x".join(map(str, (*g[5 : 5 + g[0]], g[1])))
    kept, reduced = g[0], g[1]
    outer = launch.skeleton == "reduce_outer"
    at = 9 + kept + kept * _count(m)
    shape = (*g[9 : 9 + kept], *([g[4]] if outer else []))
    folded = (*g[at : at + reduced], *([] if outer else [g[4]]))
    return f"{'x'.join(map(str, shape)) or '1'} of {'x'.join(map(str, folded)) or '1'}"


def _count(m: Any) -> int:
    return len(m.outs) + sum(p.kind != "k" for p in m.ins)
