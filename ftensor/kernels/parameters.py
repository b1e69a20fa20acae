"""A kernel's parameters, and what operands and numbers are called in it."""

from __future__ import annotations

from . import ctype
from .key import BY_VALUE, INDEX, KernelKey, Port

NAMES = "abcdefgh"


def parameters(key: KernelKey) -> list[tuple[str, str, str]]:
    """The kernel's parameters in order, as (what, C type, name); what is "*" or a scalar type.

    Outputs, inputs, one element offset for each of these, values passed by value, then what
    the skeleton itself adds: `n`, or the geometry.
    """
    out = [("*", f"FT_GLOBAL {_memory(p)} *", f"out{k}") for k, p in enumerate(key.outs)]
    pointers = [(k, p) for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
    out += [("*", f"FT_GLOBAL const {_memory(p)} *", f"in_{NAMES[k]}") for k, p in pointers]
    names = [f"out{k}" for k in range(len(key.outs))] + [f"in_{NAMES[k]}" for k, _ in pointers]
    out += [("long", "long ", f"{name}_offset") for name in names]
    out += numbers(key)
    for name in indices(key):
        out += [("long", "long ", f"{name}_size"), ("long", "long ", f"{name}_stride")]
    if indices(key):
        out.append(("*", "FT_GLOBAL long *", "bad"))
    return out


def numbers(key: KernelKey) -> list[tuple[str, str, str]]:
    """Those of the parameters that are numbers: what is passed by value, then the op's own."""
    names = [NAMES[k] for k, p in enumerate(key.ins) if p.kind == BY_VALUE] + list(key.params)
    pairs = key.compute.is_complex and key.reduction is None
    return [one for name in names for one in number(name, ctype.scalar(key.compute), pairs)]


def number(name: str, real: str, pair: bool) -> list[tuple[str, str, str]]:
    """The parameters that a number is passed as: of a complex one its two parts."""
    parts = ("re", "im") if pair else ("value",)
    return [(real, f"{real} ", f"{name}_{part}") for part in parts]


def indices(key: KernelKey) -> list[str]:
    """The names of the inputs that locate other operands."""
    return [NAMES[k] for k, p in enumerate(key.ins) if p.sees == INDEX]


def _memory(p: Port) -> str:
    return ctype.MEMORY[p.dtype.name]
