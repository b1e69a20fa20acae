"""The kernels of `table.txt`: for each line a function that unwraps, calls and wraps.

Code is compiled once for all lines of one text, so that most ops share theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from keyword import iskeyword
from typing import Any

import torch

from .._tensor import Tensor
from ..execute.copy import copy
from ..rows.catalogue import ENTRIES
from . import memory as m
from .copies import MEMORY
from .fallback import run
from .private import overload
from .registration import aten, written
from .schema import LINE, PLACE, TABLE, lines

bound: dict[str, str] = {}  # the lines in force, by overload
# torch's numbers for the reductions of losses, and for the modes of interpolation.
REDUCTION = ("none", "mean", "sum")
SAMPLING = ("bilinear", "nearest", "bicubic")
PADDING = ("zeros", "border", "reflection")


def _converted(a: Any) -> str | None:
    """The expression for an argument as ftensor takes it; None for one that is the same."""
    kind, name = str(a.type), a.name
    if "List[" in kind and "Tensor" in kind:
        maybe = "None if t is None else " * ("Optional[Tensor]" in kind)
        return f"[{maybe}lift(t) for t in {name}]"
    if kind == "Tensor":
        return f"lift({name})"
    if kind == "Optional[Tensor]":
        return f"None if {name} is None else lift({name})"
    if name == "dtype":
        return f"None if {name} is None else DTYPES[{name}]"
    if name == "memory_format":
        return f"MEMORY[{name} or PRESERVE]"
    return None


def parameters_text(schema: Any) -> tuple[str, str]:
    """A schema's parameters as Python has them, defaults in `D`; and a call with just these."""
    head, forward, star = [], [], False
    for a in schema.arguments:
        if a.kwarg_only and not star:
            head.append("*")
            star = True
        name = a.name + "_" * iskeyword(a.name)
        head.append(f"{name}=D[{a.name!r}]" if a.has_default_value() else name)
        forward.append(f"{name}={name}" if a.kwarg_only else name)
    return ", ".join(head), ", ".join(forward)


def _source(line: str, schema: Any) -> str:
    """The text of what makes a line's kernel from its function, overload and defaults."""
    match = LINE.fullmatch(line)
    assert match is not None, f"no line of a table: {line}"
    _, sign, call, inside, condition = match.groups()
    head, forward = parameters_text(schema)
    setup, outs, tensors = [], [], []
    own = schema.arguments[0].name if sign == "<-" and schema.name.endswith("_") else None
    for a in schema.arguments:
        used = re.search(rf"\b{a.name}\b(?!=)", inside) is not None
        if a.is_out:
            outs.append(a.name)
            setup.append(f"x_{a.name} = unwrap({a.name})")
            inside = re.sub(rf"\b{a.name}\b(?!=)", f"x_{a.name}", inside)
        elif used and a.name not in PLACE and (text := _converted(a)) is not None:
            written_here = a.alias_info is not None and a.alias_info.is_write
            text = f"unwrap({a.name})" if written_here else text
            setup.append(f"x_{a.name} = {text}")
            inside = re.sub(rf"\b{a.name}\b(?!=)", f"x_{a.name}", inside)
            if "Tensor" in str(a.type):
                tensors.append(f"*x_{a.name}" if "List[" in str(a.type) else f"x_{a.name}")
    lines = [f"if not ({condition}): return run(OP, {forward})"] if condition else []
    lines.append("try:")
    body = list(setup)
    several = len(schema.returns) > 1 or "List[" in str(schema.returns[0].type)
    plain = str(schema.returns[0].type) not in ("Tensor",) and not several
    if own:
        body += [f"copy(F({inside}), x_{own})", f"return {own}"]
    elif outs and sign == "=":
        body += [f"k_{o} = x_{o}._key" for o in outs]
        body.append(f"F({inside})")
        body += [f"if x_{o}._key != k_{o}: give({o}, x_{o})" for o in outs]
        body.append(f"return {outs[0] if len(outs) == 1 else '(' + ', '.join(outs) + ')'}")
    elif outs:
        made = f"F({inside})" if len(outs) > 1 else f"(F({inside}),)"
        body.append(f"return bring(({', '.join(outs)},), {made})")
    elif schema.arguments and schema.arguments[0].alias_info is not None and sign == "=":
        body += [f"F({inside})", f"return {schema.arguments[0].name}"]
    elif plain:
        body.append(f"return F({inside})")
    elif several:
        body.append(f"return wrap_all(F({inside}), {', '.join(tensors)})")
    elif call in ENTRIES and ENTRIES[call].row is not None:
        body.append(f"return wrap(F({inside}))")
    else:
        body.append(f"return wrap(fresh(F({inside}), {', '.join(tensors)}))")
    lines += [f"    {word}" for word in body]
    lines += ["except NotImplementedError:", f"    return run(OP, {forward})"]
    kernel = [f"    def kernel({head}):", *[f"        {w}" for w in lines]]
    return "\n".join(["def make(F, OP, D):", *kernel, "    return kernel"])


def _bring(outs: tuple[torch.Tensor, ...], made: Any) -> Any:
    """Results brought into the tensors that an overload writes."""
    for out, f in zip(outs, made):
        if tuple(out.shape) != f._shape:
            out.resize_(f._shape)
        copy(f, m.unwrap(out))
    return outs[0] if len(outs) == 1 else outs


def _wrap_all(found: Any, *read: Any) -> Any:
    if type(found) is Tensor:
        return m.wrap(m.fresh(found, *read))
    if isinstance(found, (tuple, list)):
        return tuple([_wrap_all(x, *read) for x in found])
    return found


_SCOPE: dict[str, Any] = {
    "DTYPES": m.TO_FT, "MEMORY": MEMORY, "PADDING": PADDING, "PRESERVE": torch.preserve_format,
    "REDUCTION": REDUCTION, "SAMPLING": SAMPLING, "bring": _bring, "copy": copy, "fresh": m.fresh,
    "give": m.give, "lift": m.lift, "run": run, "unwrap": m.unwrap, "wrap": m.wrap,
    "wrap_all": _wrap_all,
}  # fmt: skip


@cache
def _maker(source: str) -> Callable[..., Callable[..., Any]]:
    scope = dict(_SCOPE)
    exec(compile(source, "<ftensor torch kernel>", "exec"), scope)
    made: Callable[..., Callable[..., Any]] = scope["make"]
    return made


def make(line: str) -> Callable[..., Any]:
    """The kernel of a line."""
    op = overload(line.partition(" ")[0])
    schema = op._schema
    match = LINE.fullmatch(line)
    assert match is not None, f"no line of a table: {line}"
    call = match[3]
    own = call.startswith("Tensor.")
    function = getattr(Tensor, call[7:]) if own else ENTRIES[call].call
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    return _maker(_source(line, schema))(function, op, defaults)


def install() -> None:
    """Register the kernels of the table; hand-written ones stand already."""
    for name, line in lines(TABLE).items():
        if name not in written:
            bound[name] = line
            aten.impl(name, make(line))
