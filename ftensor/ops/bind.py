"""Builds the callables of the catalogue's rows: functions, methods, operators, in-place forms and
their docstrings."""

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
from ..errors import arithmetic as errors_arithmetic
from ..errors.message import call_named
from ..errors.torch import no_attribute
from ..errors.view import imag_of_real
from ..execute.pointwise import pointwise, write_result
from ..interop.host import operand_tensor
from ..rows.catalogue import CLASSES, ENTRIES, OWN, Entry, Row, enter, name_frames, note_module, op, register
from ..rows.op import Op, Promote, Reduce
from ..rows.spelling import Shown, describe, named, renamed, show_types, signature_text, signature_without, tensors_only
from .reduce.reduction import reduce_call


def module_attribute_error(module: ModuleType, name: str) -> AttributeError:
    """Returns the AttributeError for a name that a public module does not have."""
    path = module.__name__.partition(".")[2]
    alternative = f"x.{name}(...)" if not path and name in vars(Tensor) else ""
    if f"nn.functional.{name}" in ENTRIES:
        alternative = f"ft.nn.functional.{name}(...)"
    return no_attribute(module, path, name, alternative)


@method("__getattr__")
def missing_attribute(self: Tensor, name: str) -> Any:
    """`Tensor.__getattr__`: raises AttributeError for `name`, which no tensor has."""
    if name == "imag":  # imag raised its own error before
        raise imag_of_real(self._dtype)
    alternative = ""
    if name in ENTRIES:
        alternative = f"ft.{name}(x, ...)"
    elif name.endswith("_") and name[:-1] in vars(Tensor):
        alternative = f"x.copy_(x.{name[:-1]}(...))"
    raise no_attribute(self, "Tensor", name, alternative)


def _operand(self: Tensor, other: Any) -> Any:
    """Returns the other operand of an operator; NotImplemented if its class has operators of its
    own.

    A NumPy array becomes a tensor of its dtype on the device of `self` (docs/numpy.md). Masked
    arrays and array classes of other libraries have their own operators.
    """
    if isinstance(other, (Tensor, bool, int, float, complex, np.generic)):
        return other
    if isinstance(other, np.ndarray):
        return NotImplemented if isinstance(other, np.ma.MaskedArray) else operand_tensor(other, self)
    is_number_like = hasattr(other, "dtype") and not hasattr(other, "__array_ufunc__")
    return other if is_number_like else NotImplemented  # the op raises the error that says why


def operator(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the dunder method `name` of a two-operand function `call`. The method returns
    NotImplemented for an operand that is neither a tensor nor a number."""
    matrices = "matmul" in name
    is_reflected = name.startswith("__r") and name != "__rshift__"
    inplace = name.startswith("__i")

    def run(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor:
            other = _operand(self, other)
            if other is NotImplemented or (matrices and not isinstance(other, Tensor)):
                return NotImplemented
        if inplace:
            return call(self, other, out=self)
        return call(other, self) if is_reflected else call(self, other)

    return run


def row_operator(name: str, op: Op) -> Callable[..., Any]:
    """Returns the dunder method `name` that runs the row `op`."""
    if name == "__invert__":

        def invert(self: Tensor) -> Any:
            if self._dtype.kind in "fc":
                raise errors_arithmetic.invert_dtype(self._dtype)
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
    # These commute: the method's own tensor goes first, because torch takes the layout from it.
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


def write_outputs(name: str, result: Any, out: Any, exact: bool = False, fixed: bool = False) -> Any:
    """Writes results into `out`, a tensor or a tuple with one tensor for each result, and returns
    `out`.

    Raises RuntimeError if `out` is on another device, if its elements share memory, or if its dtype
    can't hold the result. `exact` requires the result's dtype, `fixed` the result's shape.
    """
    if not isinstance(result, tuple):
        return write_result(name, out, result, not exact, fixed)
    if not isinstance(out, (tuple, list)):
        raise errors.argument_type(name, "out", f"a tuple of {len(result)} Tensors", out)
    outputs = [write_result(name, target, value, not exact, fixed) for value, target in zip(result, out)]
    return type(result)(outputs) if hasattr(result, "_fields") else tuple(outputs)


def with_out(name: str, call: F, exact: bool = False, check: Check | None = None) -> F:
    """Returns `call` with a keyword `out`, into which the result is written. `check(name, out)`, if
    given, runs first and may raise."""

    @wraps(call)
    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None and check is not None:
            check(name, out)
        result = call(*args, **kwargs)
        if out is None:
            return result
        return write_outputs(name, result, out, exact, fixed=bool(args) and out is args[0])

    show_types(call)
    call_signature = signature(call)
    has_tuple = str(call_signature.return_annotation) != "Tensor"
    kind = Shown("tuple[Tensor, ...] | None" if has_tuple else "Tensor | None")
    extra = Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    parameters = [*call_signature.parameters.values(), extra]
    run.__signature__ = call_signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def composed(*, exact: bool = False, check: Check | None = None, **spelling: Any) -> Callable[[F], F]:
    """`@op()` for a function composed of other ops and written without `out`: adds the parameter
    `out`.

    `exact` requires an `out` of the result's dtype, as torch does for some ops; otherwise `out` may
    have any dtype that can hold the result. `check(name, out)` may refuse further tensors. With
    `inplace=True` the in-place form writes its result into the tensor like into an `out`.
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
    Promote.UNROUNDED: "The result has the compute dtype.",
    Promote.UNROUNDED_REAL: "The result is real and has the compute dtype.",
}
_TYPES = {"dim": "int | Sequence[int] | None", "keepdim": "bool", "dtype": "dtype | None", "out": "Tensor | None"}
# Ops whose in-place forms are functions in torch too: `ft.sin_(x)`.
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
    """Compiles a function factory for these parameters. Rows with equal parameters share one
    compilation."""
    source = (
        f"def maker(ROW, engine):\n    def run({parameters}):\n        return engine(ROW, {call})\n    return run\n"
    )
    scope: dict[str, Any] = {}
    exec(compile(source, "<ftensor op>", "exec"), scope)
    return scope["maker"]


def docstring(op: Op) -> str:
    """Returns the docstring of an elementwise row: formula, dtypes, shapes, errors."""
    lines = [op.doc or f"Elementwise `{op.body}`.", "", _PROMOTION_DOC[op.promote]]
    if op.arity > 1:
        lines.append("Shapes are broadcast together; RuntimeError if they don't fit.")
    lines.append("`out` receives the result; RuntimeError if its dtype cannot hold it.")
    return "\n".join(lines)


def _signature_parts(op: Op) -> tuple[list[str], str, str]:
    """Returns (names of the tensors, source of the parameter list without `out`, source of a tuple
    of the row's params)."""
    words = [w.strip() for w in op.parameters.split(",")]
    tensors = [w for w in words if w != "*"][: op.arity]
    params = "".join(f"{name}, " for name in op.params)
    return tensors, op.parameters, f"({params})"


def _reduction_docstring(row: Reduce) -> str:
    """Returns the docstring of a reduction: formula, dims, dtypes, errors."""
    refused = [word for kind, word in _KIND_DOC.items() if not row.serves(kind)]
    lines = [
        row.doc or f"Combines the elements over `dim` by `{row.combine}`.",
        "",
        f"`dim` is {row.dims.value}; IndexError for a dim out of range.",
        _REDUCED_DOC[row.promote if any("x" in result for result in row.finish) else Promote.COUNT]
        + (" `dtype` overrides it." if row.converts else ""),
    ]
    if refused:
        kind = type(row.refusal(row.name, "")).__name__
        lines.append(f"{kind} for {' or '.join(refused)} tensors.")
    if row.nothing is not None:
        lines.append(f"{row.nothing.__name__} for a tensor without elements.")
    return "\n".join(lines)


def make_function(op: Op) -> Callable[..., Any]:
    """Returns the public function of a row, with `out=`."""
    tensors, params, values = _signature_parts(op)
    out_parameter = ", out=None" if "*" in params else ", *, out=None"
    function = _maker(params + out_parameter, f"({', '.join(tensors)},), {values}, out")(op, pointwise)
    return named(op.name, docstring(op), "ftensor")(_annotate_parameters(function, tensors))


def make_reduction(row: Reduce) -> Callable[..., Any]:
    """Returns the public function of a reduction."""
    names = [w.partition("=")[0].strip() for w in row.arguments.split(",")]
    defaults = {"dim": "None", "keepdim": "False", "dtype": "None", "out": "None"}
    values = [name if name in names else value for name, value in defaults.items()]
    function = _annotate_parameters(_maker(row.arguments, f"input, {', '.join(values)}")(row, reduce_call))
    return named(row.name, _reduction_docstring(row), "ftensor")(function)


def _annotate_parameters(function: Callable[..., Any], tensors: Sequence[str] = ("input",)) -> Callable[..., Any]:
    """Annotates a row's function: the first tensor is a Tensor, further tensors may be numbers, and
    other parameters are numbers."""
    code = function.__code__
    types = dict.fromkeys(tensors[1:], "Tensor | Number") | {tensors[0]: "Tensor"} | _TYPES
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    function.__annotations__ = {n: types.get(n, "Number") for n in names} | {"return": "Tensor"}
    return function


def make_inplace(op: Op) -> Callable[..., Any]:
    tensors, params, values = _signature_parts(op)
    function = _maker(params, f"({', '.join(tensors)},), {values}, {tensors[0]}, True")(op, pointwise)
    return _inplace(_annotate_parameters(function, tensors), op.name, function)


def add_rows(rows: Sequence[Row], module: str = OWN) -> None:
    """Registers rows and their functions in the catalogue. Rows of a user have the category
    "own"."""
    for row in rows:
        space = row.namespace if isinstance(row, Op) else ""
        if (name := f"{space}.{row.name}".lstrip(".")) in ENTRIES:
            raise errors.taken_name(name)
    note_module(rows)
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
    """Returns the in-place form of a Python function that takes `out=`."""

    def inplace(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            raise errors_arithmetic.inplace_out(name)
        return call_named(call, input, *args, out=input, **kwargs)

    inplace.__code__ = inplace.__code__.replace(co_name=name)  # errors show this name
    inplace.__annotations__ |= unwrap(call).__annotations__
    show_types(call)
    inplace.__signature__ = signature_without(call, "out")  # type: ignore[attr-defined]
    return _inplace(inplace, call.__name__, call)


def _inplace(function: Callable[..., Any], functional_name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    function.__doc__ = _IN_PLACE_DOC.format(functional_name)
    describe(function, (signature_text(functional_name + "_", call, method=True, without="out"),))
    return _set_names(function, functional_name + "_")


def _form_in_place(entry: Entry) -> Callable[..., Any] | None:
    if isinstance(entry.row, Op) and entry.row.inplace and not entry.namespace:
        return make_inplace(entry.row)
    return inplace_of(entry.call, entry.name + "_") if entry.inplace else None


def _functions_in_place() -> None:
    """Registers in-place forms as functions, for the ops for which torch has them as functions."""
    words = set(AS_FUNCTIONS.split())
    for entry in list(ENTRIES.values()):
        names = [n + "_" for n in (entry.name, *entry.aliases) if n in words]
        if not names or entry.namespace or names[0] in ENTRIES:
            continue
        function = _form_in_place(entry)
        assert function is not None, f"{names[0]} has no form in place"
        parameters = signature_text(names[0], entry.call, without="out")
        done = Entry(names[0], function, method=False, forms=(parameters,), aliases=tuple(names[1:]))
        done = register(done)
        describe(named(names[0], _IN_PLACE_DOC.format(entry.name), "ftensor")(done.call), done.forms)


def _set_names(function: Callable[..., Any], name: str, op: str = "") -> Callable[..., Any]:
    """Names a method. Its errors name `op` if that differs, as for operators."""
    name_frames(function, op or name)
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
        raise module_attribute_error(self, name)


def _namespace(module: ModuleType, name: str) -> ModuleType:
    """Returns the submodule `name` of a module, importable; creates it if it doesn't exist."""
    path = f"{module.__name__}.{name}"
    if path not in sys.modules:
        sys.modules[path] = Namespace(path, f"The functions of {path}, torch's.")
        setattr(module, name, sys.modules[path])
    return sys.modules[path]


def install(module: ModuleType) -> None:
    """Adds the catalogue's functions to the public module, and its methods and operators to
    Tensor.
    """
    _functions_in_place()
    for entry in list(ENTRIES.values()):
        target: Any = module
        for part in filter(None, entry.namespace.split(".")):
            target = _namespace(target, part)
        for name in (entry.name, *entry.aliases):
            if entry.function:
                setattr(target, name, _function(entry, name, target.__name__))
            if entry.prop:
                setattr(Tensor, name, property(entry.call))
            elif entry.method and not entry.namespace:
                method = entry.method if callable(entry.method) else entry.call
                if method.__name__ != entry.name and entry.name[:2] != "__":  # it already has another name
                    _set_names(method, entry.name)
                setattr(Tensor, name, method if name == entry.name else renamed(method, name, entry.name))
        _install_forms(entry)
    for namespace, public in CLASSES:
        setattr(_namespace(module, namespace), public.__name__, public)


# The public name, such as "linalg.det", under which each function was installed first.
_FIRST: dict[Callable[..., Any], str] = {}


def _function(entry: Entry, name: str, module: str) -> Callable[..., Any]:
    """Returns the function of an entry under a public name; an alias is a copy with its own
    name."""
    path = f"{module}.{name}".partition(".")[2]
    first = _FIRST.setdefault(entry.call, path)
    first_name = first.rpartition(".")[2]
    call = renamed(entry.call, path, first) if first_name != name else entry.call
    if not entry.row:  # rows check their arguments themselves
        call = tensors_only(call, name, first_name if first_name != name else "")
    if first_name != name or first == path:
        call.__module__, call.__name__, call.__qualname__ = module, name, name  # pickle finds it there
    return call


def add_class(namespace: str, kind: type) -> None:
    """Adds a class, which is not an op, to a namespace such as `linalg`."""
    setattr(sys.modules[f"ftensor.{namespace}"], kind.__name__, kind)


def _install_forms(entry: Entry) -> None:
    """Adds an entry's in-place forms and operators to Tensor."""
    names = (entry.name, *entry.aliases)
    method = _form_in_place(entry)
    for name in names if method is not None else ():
        alias = renamed(method, name + "_", entry.name + "_") if method and name != entry.name else method
        setattr(Tensor, name + "_", alias)
    for name in entry.operators:
        setattr(Tensor, name, _set_names(operator(name, entry.call), name, _op_of(name, entry)))
    for row in [r for r in (*entry.rows, entry.row) if isinstance(r, Op)]:
        for name in row.operators:
            setattr(Tensor, name, _set_names(row_operator(name, row), name, _op_of(name, entry)))


def _op_of(operator: str, entry: Entry) -> str:
    """Returns the op that an operator runs: "div_" for `__itruediv__`, as in torch's documentation."""
    return entry.name + ("_" if operator.startswith("__i") and operator != "__invert__" else "")
