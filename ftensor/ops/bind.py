"""From rows to what a user calls: functions, methods, operators, in-place forms, docstrings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from inspect import unwrap
from types import ModuleType
from typing import Any

from .. import errors
from .._tensor import Tensor
from ..errors import arith as errors_arith
from ..execute.pointwise import pointwise
from ..rows.catalogue import ENTRIES, Entry, Row, enter, register
from ..rows.op import Op, Promote, Reduce
from ..rows.spelling import describe, signature_text, tensors_only
from . import absent
from .operators import operator, row_operator
from .reduce.reduction import called

_PROMOTION_DOC = {
    Promote.SAME: "The inputs are promoted to a common dtype, which the result has.",
    Promote.INT_TO_FLOAT: "Integer and bool inputs are computed in the default dtype.",
    Promote.ALWAYS_BOOL: "The inputs are promoted to a common dtype; the result is bool.",
    Promote.COMPLEX_TO_REAL: "A complex input gives a real result.",
    Promote.FLOAT_REAL: "Integer inputs become the default dtype; complex ones give a real result.",
    Promote.REAL_TO_COMPLEX: "Real inputs give a complex result.",
}
_REDUCED_DOC = _PROMOTION_DOC | {
    Promote.SAME: "The result has the input's dtype.",
    Promote.INT_TO_LONG: "Bool and integers are computed as int64.",
    Promote.TRUTH: "uint8 tensors give uint8, all others bool.",
    Promote.COUNT: "The result is int64.",
    Promote.UNROUNDED: "The result keeps the precision that is computed in.",
    Promote.UNROUNDED_REAL: "The result is real, in the precision that is computed in.",
}
_TYPES = {"dim": "int | Sequence[int] | None", "keepdim": "bool", "dtype": "dtype | None", "out": "Tensor | None"}
# Ops whose in-place forms torch has as functions, too: `ft.sin_(x)`.
AS_FUNCTIONS = (
    "abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil "
    "clamp clamp_max clamp_min clip cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac gcd i0 "
    "lcm ldexp log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal round rsqrt "
    "sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy"
)
_IN_PLACE_DOC = "In-place form of `{}`: the result's shape and dtype must fit the tensor."
_KIND_DOC = {"b": "bool", "i": "integer", "f": "floating point", "c": "complex"}


@cache
def _maker(parameters: str, call: str) -> Callable[[Row, Any], Callable[..., Any]]:
    """What makes functions of these parameters; one compilation serves all rows that share them."""
    source = (
        f"def maker(ROW, engine):\n    def run({parameters}):\n        return engine(ROW, {call})\n    return run\n"
    )
    scope: dict[str, Any] = {}
    exec(compile(source, "<ftensor op>", "exec"), scope)
    maker: Callable[[Row, Any], Callable[..., Any]] = scope["maker"]
    return maker


def docstring(op: Op) -> str:
    """A row's docstring: what it computes, dtypes, shapes, errors."""
    lines = [op.doc or f"Elementwise `{op.body}`.", "", _PROMOTION_DOC[op.promote]]
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


def _reduction_docstring(row: Reduce) -> str:
    """A reduction's docstring: what it computes, dims, dtypes, errors."""
    refused = [word for kind, word in _KIND_DOC.items() if not row.serves(kind)]
    lines = [
        row.doc or f"The elements over `dim` folded by `{row.combine}`.",
        "",
        f"`dim` is {row.dims.value}; IndexError for one that is not there.",
        _REDUCED_DOC[row.promote if "x" in row.finish else Promote.COUNT]
        + (" `dtype` names another." if row.converts else ""),
    ]
    if refused:
        kind = type(row.refusal(row.name, "")).__name__
        lines.append(f"{kind} for {' or '.join(refused)} tensors.")
    if row.nothing is not None:
        lines.append(f"{row.nothing.__name__} for a tensor without elements.")
    return "\n".join(lines)


def make_function(op: Op) -> Callable[..., Any]:
    """The function of a row, with `out=`."""
    tensors, params, values = _parts(op)
    star = ", out=None" if "*" in params else ", *, out=None"
    function = _maker(params + star, f"({', '.join(tensors)},), {values}, out")(op, pointwise)
    return _public(_typed(function, tensors), op.name, docstring(op))


def make_reduction(row: Reduce) -> Callable[..., Any]:
    """The function of a reduction."""
    named = [w.partition("=")[0].strip() for w in row.arguments.split(",")]
    others = {"dim": "None", "keepdim": "False", "dtype": "None", "out": "None"}
    values = [name if name in named else value for name, value in others.items()]
    function = _typed(_maker(row.arguments, f"input, {', '.join(values)}")(row, called))
    return _public(function, row.name, _reduction_docstring(row))


def _public(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = "ftensor"
    return function


def _typed(function: Callable[..., Any], tensors: Sequence[str] = ("input",)) -> Callable[..., Any]:
    """State a row's types: all tensors but the first may be numbers, as all other words are."""
    code = function.__code__
    types = dict.fromkeys(tensors[1:], "Tensor | Number") | {tensors[0]: "Tensor"} | _TYPES
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    function.__annotations__ = {n: types.get(n, "Number") for n in names} | {"return": "Tensor"}
    return function


def make_inplace(op: Op) -> Callable[..., Any]:
    """The method with the trailing underscore, which writes into its first tensor."""
    tensors, params, values = _parts(op)
    function = _maker(params, f"({', '.join(tensors)},), {values}, {tensors[0]}, True")(op, pointwise)
    return _inplace(_typed(function, tensors), op.name, function)


def add_rows(rows: Sequence[Row], module: str = "own") -> None:
    """Put rows into the catalogue with their functions; those of a user have the category "own"."""
    for row in rows:
        space = row.namespace if isinstance(row, Op) else ""
        if (name := f"{space}.{row.name}".lstrip(".")) in ENTRIES:
            raise errors.taken_name(name)
    enter(module, *rows)
    for row in rows:
        if isinstance(row, Reduce):
            entry = Entry(row.name, make_reduction(row), row=row)
        else:
            entry = Entry(
                row.name,
                make_function(row),
                row.function,
                row.method,
                aliases=row.aliases,
                namespace=row.namespace,
                row=row,
            )
        done = register(entry)
        describe(done.call, done.forms)


def inplace_of(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The in-place form of a Python function that takes `out=`."""

    def inplace(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            raise errors_arith.inplace_out(name)
        return call(input, *args, out=input, **kwargs)

    inplace.__annotations__ |= unwrap(call).__annotations__
    return _inplace(inplace, call.__name__, call)


def _inplace(function: Callable[..., Any], of: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Name and describe an in-place form, whose arguments are those of `call` without `out`."""
    function.__doc__ = _IN_PLACE_DOC.format(of)
    describe(function, (signature_text(of + "_", call, method=True, without="out"),))
    return _named(function, of + "_")


def _form_in_place(entry: Entry) -> Callable[..., Any] | None:
    """The in-place form of an entry, if it has one."""
    if isinstance(entry.row, Op) and entry.row.inplace and not entry.namespace:
        return make_inplace(entry.row)
    return inplace_of(entry.call, entry.name + "_") if entry.inplace else None


def _functions_in_place() -> None:
    """Put the in-place forms that torch has as functions into the catalogue."""
    words = set(AS_FUNCTIONS.split())
    for entry in list(ENTRIES.values()):
        names = [n + "_" for n in (entry.name, *entry.aliases) if n in words]
        if not names or entry.namespace or names[0] in ENTRIES:
            continue
        function = _form_in_place(entry)
        assert function is not None, f"{names[0]} has no form in place"
        form = signature_text(names[0], entry.call, without="out")
        done = Entry(names[0], function, method=False, forms=(form,), aliases=tuple(names[1:]))
        done = register(done)
        describe(_public(done.call, names[0], _IN_PLACE_DOC.format(entry.name)), done.forms)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    return function


class Namespace(ModuleType):
    """A module of the catalogue's functions, such as `ftensor.linalg`."""

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(self) if not name.startswith("_"))

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)

    def __getattr__(self, name: str) -> Any:
        raise absent.of_module(self, name)


def _namespace(module: ModuleType, name: str) -> ModuleType:
    """The namespace within a module, which can be imported; made where it is not there yet."""
    path = f"{module.__name__}.{name}"
    if path not in sys.modules:
        sys.modules[path] = Namespace(path, f"The functions of {path}, torch's.")
        setattr(module, name, sys.modules[path])
    return sys.modules[path]


def install(module: ModuleType) -> None:
    """Give the public module its functions and the Tensor class its methods and operators."""
    _functions_in_place()
    for entry in list(ENTRIES.values()):
        target: Any = module
        for part in filter(None, entry.namespace.split(".")):
            target = _namespace(target, part)
        # Rows look at what they are given; methods belong to a tensor.
        call = entry.call if entry.row else tensors_only(entry.call, entry.name)
        if entry.function:  # where pickles find it again
            call.__module__, call.__qualname__ = target.__name__, entry.name
        for name in (entry.name, *entry.aliases):
            if entry.function:
                setattr(target, name, call)
            if entry.prop:
                setattr(Tensor, name, property(entry.call))
            elif entry.method and not entry.namespace:
                setattr(Tensor, name, entry.method if callable(entry.method) else entry.call)
        _install_forms(entry)


def add_class(namespace: str, kind: type) -> None:
    """Give a namespace, such as `linalg`, a class that is no op."""
    setattr(sys.modules[f"ftensor.{namespace}"], kind.__name__, kind)


def _install_forms(entry: Entry) -> None:
    """The in-place forms and operators of an entry."""
    names = (entry.name, *entry.aliases)
    method = _form_in_place(entry)
    for name in names if method else ():
        setattr(Tensor, name + "_", method)
    for name in entry.operators:
        setattr(Tensor, name, _named(operator(name, entry.call), name))
    for row in [r for r in (*entry.rows, entry.row) if isinstance(r, Op)]:
        for name in row.operators:
            setattr(Tensor, name, _named(row_operator(name, row), name))
