"""From rows to what a user calls: functions, methods, operators, in-place forms, docstrings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature, unwrap
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from .. import errors
from .._tensor import Tensor, method
from ..errors import pointwise as errors_arith
from ..errors.absent import no_attribute
from ..errors.view import imag_of_real
from ..execute.copy import write_result
from ..execute.pointwise import pointwise
from ..interop.numpy import beside
from ..rows.catalogue import ENTRIES, Entry, Row, enter, op, register
from ..rows.op import Op, Promote, Reduce
from ..rows.spelling import Shown, describe, show_types, signature_text, tensors_only
from .reduce.reduction import called


def of_module(module: ModuleType, name: str) -> AttributeError:
    """The error for a name that a public module does not have."""
    path = module.__name__.partition(".")[2]
    way = f"x.{name}(...)" if not path and name in vars(Tensor) else ""
    if f"nn.functional.{name}" in ENTRIES:
        way = f"ft.nn.functional.{name}(...)"
    return no_attribute(module, path, name, way)


@method("__getattr__")
def of_tensor(self: Tensor, name: str) -> Any:
    """Refuse a name that tensors do not have."""
    if name == "imag":  # which had an error of its own to say
        raise imag_of_real(self._dtype)
    way = ""
    if name in ENTRIES:
        way = f"ft.{name}(x, ...)"
    elif name.endswith("_") and name[:-1] in vars(Tensor):
        way = f"x.copy_(x.{name[:-1]}(...))"
    raise no_attribute(self, "Tensor", name, way)


def _operand(self: Tensor, other: Any) -> Any:
    """The other operand as an op takes it; NotImplemented where its own class has to say.

    An array is a tensor of its dtype on the tensor's device, as everywhere beside NumPy's functions
    (docs/numpy.md); masked arrays and others' arrays have rules of their own.
    """
    if isinstance(other, (Tensor, bool, int, float, complex, np.generic)):
        return other
    if isinstance(other, np.ndarray):
        return NotImplemented if isinstance(other, np.ma.MaskedArray) else beside(other, self)
    known = hasattr(other, "dtype") and not hasattr(other, "__array_ufunc__")
    return other if known else NotImplemented  # which the op refuses, saying why


def operator(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A dunder method of a function of two; NotImplemented for what is no tensor or number."""
    matrices = "matmul" in name
    turned = name.startswith("__r") and name != "__rshift__"
    inplace = name.startswith("__i")

    def run(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor:
            other = _operand(self, other)
            if other is NotImplemented or (matrices and not isinstance(other, Tensor)):
                return NotImplemented
        if inplace:
            return call(self, other, out=self)
        return call(other, self) if turned else call(self, other)

    return run


def row_operator(name: str, op: Op) -> Callable[..., Any]:
    """A dunder method that runs a row."""
    if name == "__invert__":

        def invert(self: Tensor) -> Any:
            if self._dtype.kind in "fc":
                raise errors_arith.invert_dtype(self._dtype)
            return pointwise(op, (self,))

        return invert
    if op.arity == 1:
        return lambda self: pointwise(op, (self,))
    if name.startswith("__i"):

        def inplace(self: Tensor, other: Any) -> Any:
            if type(other) is not Tensor and (other := _operand(self, other)) is NotImplemented:
                return NotImplemented
            return pointwise(op, (self, other), (), self, True)

        return inplace
    # These commute; as torch's they go by the layout of the tensor whose method they are.
    if name in ("__radd__", "__rmul__", "__rand__", "__ror__", "__rxor__"):
        name = name.replace("__r", "__", 1)
    if name.startswith("__r") and name != "__rshift__":

        def reflected(self: Tensor, other: Any) -> Any:
            if (other := _operand(self, other)) is NotImplemented:
                return NotImplemented
            return pointwise(op, (other, self))

        return reflected

    def forward(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor and (other := _operand(self, other)) is NotImplemented:
            return NotImplemented
        return pointwise(op, (self, other))

    return forward


F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[str, Any], None]


def deliver(name: str, result: Any, out: Any, exact: bool = False, fixed: bool = False) -> Any:
    """Results brought into `out`: a tensor, or a tuple of as many as there are results.

    RuntimeError for an `out` of another device, one whose elements share memory, and one whose
    dtype cannot hold the result (`exact`: is not the result's) or whose shape, where that is
    `fixed`, is another.
    """
    if not isinstance(result, tuple):
        return write_result(name, out, result, not exact, fixed)
    outputs = [write_result(name, to, one, not exact, fixed) for one, to in zip(result, out)]
    return type(result)(outputs) if hasattr(result, "_fields") else tuple(outputs)


def with_out(name: str, call: F, exact: bool = False, check: Check | None = None) -> F:
    """`call` with `out=`, which takes its finished result; `check` may refuse it before."""

    @wraps(call)
    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None and check is not None:
            check(name, out)
        result = call(*args, **kwargs)
        if out is None:
            return result
        return deliver(name, result, out, exact, fixed=bool(args) and out is args[0])

    show_types(call)
    plain = signature(call)
    several = str(plain.return_annotation) != "Tensor"
    kind = Shown("tuple[Tensor, ...] | None" if several else "Tensor | None")
    extra = Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    listed = [*plain.parameters.values(), extra]
    run.__signature__ = plain.replace(parameters=listed)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def composed(*, exact: bool = False, check: Check | None = None, **spelling: Any) -> Callable[[F], F]:
    """`@op()` for a function made of other ops, written without `out`: this adds it.

    `exact`: an `out` must have the result's dtype, where torch asks for that; else one that can
    hold it will do. `check(name, out)` may refuse one besides. In place (`inplace=True`), the
    tensor takes the result as an `out` does.
    """

    def add(call: F) -> F:
        name = spelling.get("name") or call.__name__
        full = ".".join(filter(None, (spelling.get("namespace"), name)))
        return op(**spelling)(with_out(full, call, exact, check))

    return add


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

    inplace.__code__ = inplace.__code__.replace(co_name=name)  # what errors name
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
        raise of_module(self, name)


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
