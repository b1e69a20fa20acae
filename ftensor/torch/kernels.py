"""Generates the dispatcher kernels of `table.txt`: each unwraps, calls a function and wraps. Registers
users' kernels for ops of torch.library on device tensors.

Lines with the same generated source share one compiled code object; most ops do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

import torch
from torch.library import Library

from .._tensor import Tensor
from ..execute.pointwise import copy
from ..own import register
from . import memory as m
from .copies import MEMORY
from .fallback import on_host
from .internals import overload
from .prepared_kernels import parameters_text, prepared_kernel
from .registration import aten, written
from .schema import LINE, PLACE, TABLE, entry_of, function_of, read_table

NUMBERS = frozenset((bool, int, float, complex))
bound: dict[str, str] = {}  # registered lines, by overload
# Reductions of losses, indexed by torch's numbers.
REDUCTION = ("none", "mean", "sum")


def _converted(a: Any) -> str | None:
    """Returns the expression that converts an argument for ftensor; None if none is needed."""
    kind, name = str(a.type), a.name
    if "Tensor" in kind:
        lift = "unwrap" if a.alias_info is not None and a.alias_info.is_write else "lift"
        maybe = "Optional[Tensor]" in kind
        if "List[" in kind:
            return f"[{'None if t is None else ' * maybe}{lift}(t) for t in {name}]"
        if name == "other" and lift == "lift":  # often a number, for which `lift` costs an exception
            return f"{name} if {name}.__class__ in NUMBERS else lift({name})"
        return f"None if {name} is None else {lift}({name})" if maybe else f"{lift}({name})"
    if name in ("dtype", "input_dtype"):
        return f"None if {name} is None else DTYPES[{name}]"
    if name == "memory_format":
        return f"MEMORY[{name} or PRESERVE]"
    return None


def _source(line: str, schema: Any, direct: bool) -> str:
    """Returns the source of `make(F, host, D)`, which returns the kernel of a line.

    `F` is the function to call, `host` its fallback, `D` the defaults. A `direct` kernel takes and
    returns ftensor tensors.
    """
    match = LINE.fullmatch(line)
    assert match is not None, f"no line of a table: {line}"
    _, sign, call, arguments_text, condition = match.groups()
    head, forward = parameters_text(schema)
    setup, outs, tensors = [], [], []
    written_name = schema.arguments[0].name if sign == "<-" and schema.name.endswith("_") else None
    for a in schema.arguments:
        is_read = re.search(rf"\b{a.name}\b(?!=)", arguments_text) is not None
        if a.is_out:
            outs.append(a.name)
            setup.append(f"x_{a.name} = unwrap({a.name})")
            arguments_text = re.sub(rf"\b{a.name}\b(?!=)", f"x_{a.name}", arguments_text)
        elif is_read and a.name not in PLACE and (text := _converted(a)) is not None:
            tensor = "Tensor" in str(a.type)
            setup.append(f"x_{a.name} = {a.name if direct and tensor else text}")
            arguments_text = re.sub(rf"\b{a.name}\b(?!=)", f"x_{a.name}", arguments_text)
            if tensor:
                tensors.append(f"*x_{a.name}" if "List[" in str(a.type) else f"x_{a.name}")
    lines = [f"if not ({condition}): return host({forward})"] if condition else []
    lines.append("try:")
    body = list(setup)
    kinds = [str(r.type) for r in schema.returns]
    has_lists = len(kinds) > 1 or any("List[" in kind for kind in kinds)
    entry, wrap = entry_of(call), "" if direct else "wrap"
    if written_name:
        body += [f"copy(F({arguments_text}), x_{written_name})", f"return {written_name}"]
    elif outs and sign == "=":
        body += [f"k_{o} = x_{o}._key" for o in outs]
        body.append(f"F({arguments_text})")
        body += [f"if x_{o}._key != k_{o}: give({o}, x_{o})" for o in outs]
        body.append(f"return {outs[0] if len(outs) == 1 else '(' + ', '.join(outs) + ')'}")
    elif outs:
        results = f"F({arguments_text})" if len(outs) > 1 else f"(F({arguments_text}),)"
        body.append(f"return bring(({', '.join(outs)},), {results})")
    elif kinds and schema.arguments and schema.arguments[0].alias_info is not None and sign == "=":
        body += [f"F({arguments_text})", f"return {schema.arguments[0].name}"]
    elif has_lists:
        body.append(f"return {wrap}_all(F({arguments_text}), {', '.join(tensors)})")
    elif kinds != ["Tensor"]:
        body.append(f"return F({arguments_text})")
    elif entry is not None and entry.row is not None:
        body.append(f"return {wrap}(F({arguments_text}))")
    else:
        body.append(f"return {wrap}(fresh(F({arguments_text}), {', '.join(tensors)}))")
    lines += [f"    {word}" for word in body]
    lines += ["except NotImplementedError:", f"    return host({forward})"]
    kernel = [f"    def kernel({head}):", *[f"        {w}" for w in lines]]
    return "\n".join(["def make(F, host, D):", *kernel, "    return kernel"])


def _lift_line(outs: tuple[torch.Tensor, ...], results: Any) -> Any:
    """Copies results to the `out` tensors, resized if necessary, and returns those."""
    for out, f in zip(outs, results):
        if tuple(out.shape) != f._shape:
            out.resize_(f._shape)
        copy(f, m.unwrap(out))
    return outs[0] if len(outs) == 1 else outs


def _all(results: Any, *read: Any) -> Any:
    """Like `memory.fresh`, for several results."""
    read_storages = [x._storage for x in read if type(x) is Tensor]
    return tuple([x.clone() if type(x) is Tensor and x._storage in read_storages else x for x in results])


def wrap_all(results: Any, *read: Any) -> Any:
    """Returns the results of `_all` as torch tensors, in one pass."""
    read_storages = [x._storage for x in read if type(x) is Tensor]
    wrap = m.wrap
    return tuple([wrap(x.clone() if x._storage in read_storages else x) if type(x) is Tensor else x for x in results])


_SCOPE: dict[str, Any] = {
    "DTYPES": m.TO_FT, "MEMORY": MEMORY, "NUMBERS": NUMBERS, "PRESERVE": torch.preserve_format, "REDUCTION": REDUCTION,
    "_all": _all, "bring": _lift_line, "copy": copy, "fresh": m.unaliased, "give": m.give, "lift": m.lift,
    "unwrap": m.unwrap, "wrap": m.wrap, "wrap_all": wrap_all,
}  # fmt: skip


@cache
def _maker(source: str) -> Callable[..., Callable[..., Any]]:
    scope = dict(_SCOPE)
    exec(compile(source, "<ftensor torch kernel>", "exec"), scope)
    return scope["make"]


@cache
def make(line: str, direct: bool = False) -> Callable[..., Any]:
    """Returns the kernel of a line; a `direct` kernel takes and returns ftensor tensors."""
    match = LINE.fullmatch(line)
    assert match is not None, f"no line of a table: {line}"
    name, call = match[1], match[3]
    schema = overload(name)._schema
    host = partial(_direct_on_host, on_host(name)) if direct else on_host(name)
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    return _maker(_source(line, schema, direct))(function_of(call), host, defaults)


def _direct_on_host(host: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = host(*args, **kwargs)
    return m.lift(result) if isinstance(result, torch.Tensor) else [m.lift(x) for x in result]


def _dispatched(name: str, line: str) -> Callable[..., Any]:
    """Returns the kernel of a line for the dispatcher."""
    match = LINE.fullmatch(line)
    assert match is not None
    entry = entry_of(match[3])
    is_of_rows = entry is not None and (entry.row is not None or bool(entry.rows))
    return prepared_kernel(name, make(line), integers=is_of_rows)


def install() -> None:
    """Registers the kernels of the table, except those of overloads with a hand-written kernel."""
    for name, line in read_table(TABLE).items():
        if name not in written:
            bound[name] = line
            aten.impl(name, _dispatched(name, line))


# Libraries by namespace; a registration lives as long as its library.
_libraries: dict[str, Library] = {}


def bind(name: str, function: Callable[..., Any]) -> None:
    """Registers a function on ftensor tensors as the device's kernel of an op."""
    space, _, op = name.partition("::")
    library = _libraries.setdefault(space, Library(space, "FRAGMENT"))

    @wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        operands = [_lifted(a) for a in args]
        keywords = {word: _lifted(a) for word, a in kwargs.items()}
        return _wrapped(function(*operands, **keywords), [*operands, *keywords.values()])

    library.impl(op, kernel, "PrivateUse1")


def _lifted(a: Any) -> Any:
    if isinstance(a, (list, tuple)):
        return type(a)(map(_lifted, a))
    return m.lift(a) if isinstance(a, torch.Tensor) else a


def _wrapped(result: Any, operands: list[Any]) -> Any:
    """Converts ftensor results to torch tensors that share no memory with the operands."""
    if isinstance(result, (list, tuple)):
        return type(result)(_wrapped(item, operands) for item in result)
    return m.wrap(m.unaliased(result, *operands)) if type(result) is Tensor else result


def install_user_kernels() -> None:
    """Binds the kernels that were registered before this import, and all later ones."""
    for name, function in register.for_torch.items():
        bind(name, function)
    register.take.append(bind)
