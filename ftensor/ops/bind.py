"""From rows to what a user calls: functions, methods, operators, in-place forms, docstrings."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from ..tensor import Tensor
from .call import pointwise
from .catalogue import ENTRIES, Entry, register
from .op import Op, Promote

_PROMOTION_DOC = {
    Promote.SAME: "The inputs are promoted to a common dtype, which the result has.",
    Promote.INT_TO_FLOAT: "Integer and bool inputs are computed in the default dtype.",
    Promote.ALWAYS_BOOL: "The inputs are promoted to a common dtype; the result is bool.",
    Promote.COMPLEX_TO_REAL: "A complex input gives a real result.",
    Promote.FLOAT_REAL: "Integer inputs become the default dtype; complex ones give a real result.",
    Promote.REAL_TO_COMPLEX: "Real inputs give a complex result.",
}


def _compile(source: str, name: str, **scope: Any) -> Callable[..., Any]:
    """The function `name` that a line of Python defines, so that its signature is the row's."""
    exec(compile(source, f"<ftensor op {name}>", "exec"), scope)
    made: Callable[..., Any] = scope[name]
    return made


def docstring(op: Op) -> str:
    """A row's docstring: signature, what it computes, dtypes, shapes, errors."""
    lines = [op.signature, "", op.doc or f"Elementwise `{op.body}`.", "", _PROMOTION_DOC[op.promote]]
    if op.arity > 1:
        lines.append("Shapes are broadcast together; RuntimeError when they don't fit.")
    lines.append("`out` takes the result where its dtype can hold it, else RuntimeError.")
    return "\n".join(lines)


def _parts(op: Op) -> tuple[list[str], str, str]:
    """(names of the tensors, the parameter list without `out`, the params as a tuple)."""
    inside = op.signature[op.signature.index("(") + 1 : op.signature.rindex(")")]
    words = [w.strip() for w in inside.split(",")]
    words = [w for w in words if not w.startswith("out=")]
    if words[-1] == "*":
        words.pop()
    tensors = [w for w in words if w != "*"][: op.arity]
    params = "".join(f"{name}, " for name in op.params)
    return tensors, ", ".join(words), f"({params})"


def make_function(op: Op) -> Callable[..., Any]:
    """The function of a row, with `out=`."""
    tensors, params, values = _parts(op)
    star = ", out=None" if "*" in params else ", *, out=None"
    source = (
        f"def {op.name}({params}{star}):\n"
        f"    return pointwise(OP, ({', '.join(tensors)},), {values}, out)\n"
    )
    made = _compile(source, op.name, OP=op, pointwise=pointwise)
    made.__doc__ = docstring(op)
    made.__module__ = "ftensor"
    return made


def make_inplace(op: Op) -> Callable[..., Any]:
    """The method with the trailing underscore, which writes into its first tensor."""
    tensors, params, values = _parts(op)
    name = op.name + "_"
    source = (
        f"def {name}({params}):\n"
        f"    return pointwise(OP, ({', '.join(tensors)},), {values}, {tensors[0]}, True)\n"
    )
    made = _compile(source, name, OP=op, pointwise=pointwise)
    made.__doc__ = f"In-place form of `{op.name}`: the result's shape and dtype must fit the tensor."
    return made


def add_rows(rows: list[Op]) -> None:
    """Put rows into the catalogue."""
    for op in rows:
        register(
            Entry(
                op.name, make_function(op), op.function, op.method,
                aliases=op.aliases, namespace=op.namespace, row=op,
            )  # fmt: skip
        )


def _numeric(other: Any) -> bool:
    return isinstance(other, (Tensor, bool, int, float, complex)) or hasattr(other, "dtype")


def _operator(name: str, call: Callable[..., Any], op: Op | None) -> Callable[..., Any]:
    """A dunder method; NotImplemented for operands that are neither tensors nor numbers."""
    if op is not None and op.arity == 1:
        return lambda self: pointwise(op, (self,))
    if name.startswith("__r") and name not in ("__rshift__",):

        def reflected(self: Tensor, other: Any) -> Any:
            return call(other, self) if _numeric(other) else NotImplemented

        return reflected
    if name.startswith("__i") and name not in ("__invert__",):
        assert op is not None

        def inplace(self: Tensor, other: Any) -> Any:
            defaults = tuple(1 for _ in op.params)
            return pointwise(op, (self, other), defaults, self, True)

        return inplace
    if op is not None and not op.params:

        def direct(self: Tensor, other: Any) -> Any:
            if type(other) is Tensor or _numeric(other):
                return pointwise(op, (self, other))
            return NotImplemented

        return direct

    def binary(self: Tensor, other: Any) -> Any:
        return call(self, other) if _numeric(other) else NotImplemented

    return binary


def _named(made: Callable[..., Any], name: str) -> Callable[..., Any]:
    made.__name__ = name
    made.__qualname__ = f"Tensor.{name}"
    return made


def install(module: ModuleType) -> None:
    """Give the public module its functions and the Tensor class its methods and operators."""
    for entry in list(ENTRIES.values()):
        target: Any = module
        for part in filter(None, entry.namespace.split(".")):
            if not hasattr(target, part):
                setattr(target, part, SimpleNamespace())
            target = getattr(target, part)
        op: Op | None = entry.row
        for name in (entry.name, *entry.aliases):
            if entry.function:
                setattr(target, name, entry.call)
            if entry.prop:
                setattr(Tensor, name, property(entry.call))
            elif entry.method and not entry.namespace:
                setattr(Tensor, name, entry.call)
        if op is None:
            continue
        if op.inplace and not op.namespace:
            made = make_inplace(op)
            for name in (op.name, *op.aliases):
                setattr(Tensor, name + "_", made)
        for name in op.operators:
            setattr(Tensor, name, _named(_operator(name, entry.call, op), name))
