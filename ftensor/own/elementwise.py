"""Elementwise kernels and reductions that a user writes as C expressions, like CuPy's."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar
from weakref import WeakValueDictionary, finalize

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from ..dtypes import dtype, result_dtype, scalar_dtype
from ..dtypes.limits import integer_limits
from ..errors import image as errors
from ..execute.output import new
from ..execute.pointwise import pointwise
from ..iterator.shape import broadcast_shapes
from ..kernels.source import OPERAND_NAMES
from ..ops.reduce.reduction import dims_of, outputs
from ..rows.catalogue import ENTRIES, OWN, Row, enter, withdraw
from ..rows.op import Op, Promote, Reduce
from ..terminal import counted, guess
from .expression import LIMITS, WORDS, Fail, Parser, Piece, Refused, SyntaxNode, Writer

TYPES: dict[str, dtype] = {d.name: d for d in dtypes.ALL if not d.bare or d is dtypes.float16} | {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "char": dtypes.int8,
    "uchar": dtypes.uint8, "short": dtypes.int16, "ushort": dtypes.uint16, "int": dtypes.int32,
    "uint": dtypes.uint32, "long": dtypes.int64, "ulong": dtypes.uint64,
}  # fmt: skip
_PLACEHOLDER = re.compile("[A-Z]")
_PARAMETER = re.compile(r"\s*(?P<raw>raw\s+)?(?P<type>[A-Za-z_]\w*)\s+(?P<name>[A-Za-z_]\w*)\s*", re.A)
_LITERAL = re.compile(r"\bK\((-?\d+)\)")
_KINDS = ("f", "i", "c")
_RANK = "buifc"  # kinds of numbers, the narrowest first


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its type, a dtype or a placeholder such as T, and its name."""

    type: dtype | str
    name: str

    def __str__(self) -> str:
        return f"{self.type if isinstance(self.type, str) else self.type.name} {self.name}"


def _parameters(function: str, argument: str, text: Any) -> tuple[Parameter, ...]:
    if not isinstance(text, str):
        raise errors.not_text(function, argument, text)
    found: list[Parameter] = []
    for word in text.split(",") if text.strip() else ():
        match = _PARAMETER.fullmatch(word)
        if match is None:
            raise errors.not_parameters(function, text, argument)
        name = match["name"]
        if match["raw"]:
            raise errors.raw(function, name)
        if name in WORDS:
            raise errors.reserved(function, name)
        found.append(Parameter(_type(function, match["type"]), name))
    return tuple(found)


def _type(function: str, word: str) -> dtype | str:
    if _PLACEHOLDER.fullmatch(word):
        return word
    if word not in TYPES:
        raise errors.no_such_type(function, word, guess(word, TYPES))
    return TYPES[word]


class _Parameters:
    """The parameters of a kernel, and the dtypes of a call."""

    def __init__(self, function: str, inputs: Any, results: Any) -> None:
        self.inputs = _parameters(function, "in_params", inputs)
        self.results = _parameters(function, "out_params", results)
        names = [p.name for p in (*self.inputs, *self.results)]
        for name in names:
            if names.count(name) > 1:
                raise errors.named_twice(function, name)
        if len(self.inputs) > len(OPERAND_NAMES):
            raise errors.too_many_operands(function, len(self.inputs), len(OPERAND_NAMES))
        if all(p.type is dtypes.bool for p in self.inputs):
            raise errors.no_value(function)
        if not self.results:
            raise errors.not_parameters(function, results, "out_params")
        known = {p.type for p in self.inputs}
        for p in self.results:
            if isinstance(p.type, str) and p.type not in known:
                raise errors.unknown_placeholder(function, p.type, p.name)
        self.masks = tuple(k for k, p in enumerate(self.inputs) if p.type is dtypes.bool)

    def checked(self, kernel: str, args: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, dtype]]:
        """Returns the inputs of a call, and the dtype of each placeholder. Raises TypeError for
        other types and dtypes."""
        values = tuple(x.item() if isinstance(x, np.generic) and x.dtype.kind in "biufc" else x for x in args)
        bound: dict[str, tuple[dtype, str]] = {}
        for p, x in zip(self.inputs, values):
            if type(x) is not Tensor and (p.type is dtypes.bool or not isinstance(x, (bool, int, float, complex))):
                raise errors.not_an_operand(kernel, p.name, x)
            if type(x) is not Tensor:
                continue
            if isinstance(p.type, str):
                known, first = bound.setdefault(p.type, (x._dtype, p.name))
                if known is not x._dtype:
                    raise errors.mismatched(kernel, p.name, x._dtype, p.type, known, first)
                if known is dtypes.bool:
                    raise errors.refused_bool(kernel, p.name)
            elif p.type is not x._dtype:
                raise errors.other_dtype(kernel, p.name, p.type, x._dtype)
        if not any(type(x) is Tensor for x in values):
            raise errors.needs_tensor(kernel)
        dtypes_of = {word: known for word, (known, _) in bound.items()}
        for p, x in zip(self.inputs, values):
            if type(x) is Tensor:
                continue
            own = scalar_dtype(x)
            wanted = dtypes_of.setdefault(p.type, own) if isinstance(p.type, str) else p.type
            if _RANK.index(own.kind) > _RANK.index(wanted.kind) and not (own.kind == "i" and wanted.kind == "u"):
                raise errors.number_kind(kernel, p.name, x, wanted)
        return values, dtypes_of

    def dtype_of(self, type_: dtype | str, bound: dict[str, dtype]) -> dtype:
        return bound[type_] if isinstance(type_, str) else type_


def _name(function: str, name: Any, *texts: str) -> str:
    """Returns the user's name for a kernel, else a name derived from its text."""
    if name is None:
        return f"{function}_{sha256(repr(texts).encode()).hexdigest()[:8]}"
    if not isinstance(name, str):
        raise errors.not_text(function, "name", name)
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.A):
        raise errors.not_name(function, name)
    if name in ENTRIES:
        raise errors.taken(function, name)
    return name


def _failing(function: str, argument: str, text: str) -> Fail:
    return lambda at, problem: errors.in_text(function, argument, text, at, problem)


def _checked_literals(op: Op, inputs: Any, params: Any, common: dtype) -> None:
    """Check of an `Op`: raises TypeError for integer literals of the text that the dtype can't
    hold."""
    if common.kind in "ui":
        limits = integer_limits(common)
        texts = [op.int_ or "", *(text for _, text in op.lets)]
        for number in (int(n) for text in texts for n in _LITERAL.findall(text)):
            if number > limits.max:
                raise errors.no_expression(op.name, common, f"it holds {number}, which is above {limits.max}")
            if number < limits.min and common.kind == "i":  # unsigned numbers wrap, as in C
                raise errors.no_expression(op.name, common, f"it holds {number}, which is below {limits.min}")


def _reads(node: SyntaxNode) -> set[str]:
    names = {node.word} if node.kind == "name" else set()
    return names.union(*(_reads(part) for part in node.parts))


class ElementwiseKernel:
    """A kernel that `ft.fpga.elementwise` returns. Call it with tensors and numbers."""

    def __init__(self, in_params: str, out_params: str, operation: str, name: str | None) -> None:
        function = "elementwise"
        self.signature = _Parameters(function, in_params, out_params)
        if not isinstance(operation, str):
            raise errors.not_text(function, "operation", operation)
        self.name = self.__name__ = _name(function, name, in_params, out_params, operation)
        self.operation = operation
        fail = _failing(function, "operation", operation)
        self.statements = Parser(operation, fail).statements()
        assigned: set[str] = set()
        read = set().union(*(_reads(s.value) for s in self.statements))
        inputs, results = self.signature.inputs, self.signature.results
        self.declared: dict[str, dtype | str] = {}  # variables and results whose values are read
        known = {p.type for p in inputs}
        for s in self.statements:
            if s.name in {p.name for p in inputs}:
                raise fail(s.at, f"{s.name!r} is an input and can't be assigned")
            is_result = s.name in {p.name for p in results}
            if s.declared:
                if is_result or s.name in self.declared or s.name in WORDS:
                    raise fail(s.at, f"{s.name!r} has a meaning already")
                if s.declared != "auto":
                    type_ = _type(function, s.declared)
                    if isinstance(type_, str) and type_ not in known:
                        raise fail(s.at, f"{type_} is the type of no input")
                    self.declared[s.name] = type_
                assigned.add(s.name)
            elif not is_result and s.name not in assigned:
                raise fail(s.at, f"{s.name!r} is not defined: declare it, as in 'T {s.name} = ...'")
            assigned.add(s.name)
        for p in results:
            if p.name not in assigned:
                raise fail(len(operation), f"the result {p.name!r} receives no value")
            if p.name in read:
                self.declared[p.name] = p.type
        self.rows: dict[str, tuple[Op, ...]] = {}
        self.why: dict[str, str] = {}
        for kind in _KINDS:
            try:
                self.rows[kind] = self._rows(kind, read, fail)
            except Refused as reason:
                self.why[kind] = str(reason)
        _enter_while_alive(self, *[row for kind in self.rows.values() for row in kind])

    def _rows(self, kind: str, read: set[str], fail: Fail) -> tuple[Op, ...]:
        """Returns the row of each result for a kind of dtype. Raises Refused if the kind lacks an
        operation."""
        inputs, masks = self.signature.inputs, self.signature.masks
        names = {p.name: Piece(OPERAND_NAMES[k], k in masks) for k, p in enumerate(inputs)}
        lets: list[tuple[str, str]] = []
        for s in self.statements:
            writer = Writer(kind, names, fail)
            text = writer.text(s.value)
            if self.declared.get(s.name) is dtypes.bool and not text.mask:
                text = Piece(writer.mask(s.value), True)
            if s.name in read and kind != "c":
                name = f"t{len(lets)}"
                lets.append((name, writer.as_value(text)))
                text = Piece(f"({name} != K(0))", True) if text.mask else Piece(name)
            names[s.name] = text
        return tuple(self._row(kind, p, names[p.name], lets) for p in self.signature.results)

    def _row(self, kind: str, result: Parameter, text: Piece, lets: list[tuple[str, str]]) -> Op:
        writer = Writer(kind, {}, lambda at, problem: AssertionError(problem))
        to_bool = result.type is dtypes.bool
        if not to_bool:
            body = writer.as_value(text)
        elif kind == "c":
            raise Refused("a complex number is no condition")
        else:
            body = text.text if text.mask else f"({text.text} != K(0))"
        used, needed = [], body
        for name, value in reversed(lets):
            if re.search(rf"\b{name}\b", needed):
                used.append((name, value))
                needed += value
        several = len(self.signature.results) > 1
        return Op(
            f"{self.name}_{result.name}" if several else self.name,
            ", ".join(p.name for p in self.signature.inputs),
            body if kind == "f" else "",
            int_=body if kind == "i" else "",
            bool_="",
            complex_=body if kind == "c" else None,
            promote=Promote.ALWAYS_BOOL if to_bool else Promote.SAME,
            masks=self.signature.masks,
            lets=tuple(reversed(used)),
            only=tuple("ui" if kind == "i" else kind),
            any_out=True,
            check=_checked_literals,
            bare="h" if kind == "f" else "",
        )

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Computes the results for inputs that are broadcast together; `out` is a tensor, or a
        tuple with a tensor for each result."""
        inputs, results = self.signature.inputs, self.signature.results
        if out is None and len(args) == len(inputs) + len(results):
            args, out = args[: len(inputs)], args[len(inputs) :]
        if len(args) != len(inputs):
            words = ", ".join(map(str, inputs))
            raise errors.call_count(self.name, counted(len(inputs), "input"), words, len(args))
        outs = self._outs(out)
        values, bound = self.signature.checked(self.name, args)
        rows = self._rows_of(values, bound)
        common = self._common(values)
        shape = broadcast_shapes(*[x._shape for x in values if type(x) is Tensor])
        device = next(x for x in values if type(x) is Tensor)._storage.device
        found = []
        for row, p, into in zip(rows, results, outs):
            wanted = self.signature.dtype_of(p.type, bound)
            if into is None and wanted is not common and row.promote is Promote.SAME:
                into = new(shape, wanted, device)
            elif into is not None and into._dtype is not wanted:
                raise errors.other_dtype(self.name, p.name, wanted, into._dtype)
            found.append(pointwise(row, values, (), into))
        return found[0] if len(found) == 1 else tuple(found)

    def _outs(self, out: Any) -> tuple[Any, ...]:
        results = self.signature.results
        if out is None:
            return (None,) * len(results)
        outs = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(outs) != len(results):
            words = ", ".join(map(str, results))
            raise errors.call_count(self.name, counted(len(results), "result"), words, len(outs))
        for p, x in zip(results, outs):
            if type(x) is not Tensor:
                raise errors.not_an_operand(self.name, p.name, x)
        return outs

    def _common(self, values: Sequence[Any]) -> dtype:
        """Returns the dtype that the inputs are promoted to."""
        pairs = [
            (x._dtype, 0 if x._shape else 1) if type(x) is Tensor else (scalar_dtype(x), 2)
            for k, x in enumerate(values)
            if k not in self.signature.masks
        ]
        return result_dtype(pairs)

    def _rows_of(self, values: Sequence[Any], bound: dict[str, dtype]) -> tuple[Op, ...]:
        common = self._common(values)
        kind = "i" if common.kind in "ui" else common.kind
        if common is dtypes.bool:
            raise errors.refused_bool(self.name, self.signature.inputs[0].name)
        if kind not in self.rows:
            raise errors.no_expression(self.name, common, self.why[kind])
        for name, type_ in self.declared.items():
            found = self.signature.dtype_of(type_, bound)
            if found is not common and found is not dtypes.bool:
                raise errors.read_output(self.name, name, found, common)
        return self.rows[kind]

    def __repr__(self) -> str:
        words = [", ".join(map(str, some)) for some in (self.signature.inputs, self.signature.results)]
        return f"<elementwise kernel {self.name}({words[0]}) -> {words[1]}>"


class ReductionKernel:
    """A kernel that `ft.fpga.reduction` returns. Call it with tensors and the dims to reduce."""

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: Any,
        name: str | None,
    ) -> None:  # fmt: skip
        function = "reduction"
        self.signature = _Parameters(function, in_params, out_params)
        if len(self.signature.results) > 1:
            raise errors.not_parameters(function, out_params, "out_params")
        self.result = self.signature.results[0]
        if self.result.type is dtypes.bool:
            raise errors.no_such_type(function, "bool", ": a reduction gives numbers, such as int32")
        parts = {"map_expr": map_expr, "reduce_expr": reduce_expr, "post_map_expr": post_map_expr}
        for argument, text in parts.items():
            if not isinstance(text, str):
                raise errors.not_text(function, argument, text)
        identity = str(identity) if type(identity) in (int, float) else identity
        if not isinstance(identity, str):
            raise errors.not_text(function, "identity", identity)
        self.name = self.__name__ = _name(function, name, in_params, out_params, *parts.values(), identity)
        self.texts = parts | {"identity": identity}
        self.trees = {
            argument: Parser(text, _failing(function, argument, text)).whole()
            for argument, text in self.texts.items()
            if argument != "post_map_expr"
        }
        fail = _failing(function, "post_map_expr", post_map_expr)
        last = Parser(post_map_expr, fail).statements() if post_map_expr.strip() else []
        if len(last) > 1 or (last and (last[0].name != self.result.name or last[0].declared)):
            raise fail(last[-1].at, f"one assignment to {self.result.name!r} expected")
        self.finish = last[0].value if last else SyntaxNode("name", "a", 0)
        # With several inputs an elementwise kernel maps them, and the reduction reads its result.
        self.map: ElementwiseKernel | None = None
        if len(self.signature.inputs) > 1:
            self.map = ElementwiseKernel(in_params, out_params, f"{self.result.name} = {map_expr}", f"{self.name}_map")
        self.rows: dict[str, Reduce] = {}
        self.why: dict[str, str] = {}
        for kind in _KINDS:
            try:
                self.rows[kind] = self._row(kind)
            except Refused as reason:
                self.why[kind] = str(reason)
        _enter_while_alive(self, *self.rows.values())

    def _row(self, kind: str) -> Reduce:
        """Returns the row for a kind of dtype. Raises Refused if the kind lacks an operation."""

        def written(argument: str, tree: SyntaxNode, **names: str) -> str:
            known = {name: Piece(text) for name, text in names.items()}
            return Writer(kind, known, _failing("reduction", argument, self.texts[argument])).value(tree)

        lift = "a"
        if self.map is None:
            lift = written("map_expr", self.trees["map_expr"], **{self.signature.inputs[0].name: "a"})
        combine = written("reduce_expr", self.trees["reduce_expr"], a="x", b="y")
        limits = {} if kind == "c" else LIMITS
        identity = written("identity", self.trees["identity"], **limits)
        if kind != "f" and "n" in _reads(self.finish):
            raise Refused("n is a floating-point number")
        finish = written("post_map_expr", self.finish, a="x", n="n")
        complex_ = (lift, combine, identity) if kind == "c" else None
        kinds = "ui" if kind == "i" else kind
        params = ("n",) if "n" in _reads(self.finish) else ()
        return Reduce(self.name, lift, combine, identity, (finish,), complex_=complex_, kinds=kinds, params=params,
                      converts=True)  # fmt: skip

    def __call__(
        self, *args: Any, dim: Any = None, keepdim: bool = False, axis: Any = None, keepdims: bool = False,
        out: Any = None,
    ) -> Tensor:  # fmt: skip
        """Reduces inputs that are broadcast together over `dim` (None: all dims). `axis` and
        `keepdims` are other names of `dim` and `keepdim`."""
        inputs = self.signature.inputs
        if len(args) != len(inputs):
            words = ", ".join(map(str, inputs))
            raise errors.call_count(self.name, counted(len(inputs), "input"), words, len(args))
        values, bound = self.signature.checked(self.name, args)
        wanted = self.signature.dtype_of(self.result.type, bound)
        kind = "i" if wanted.kind in "ui" else wanted.kind
        if kind not in self.rows:
            raise errors.no_expression(self.name, wanted, self.why.get(kind, "it has no such form"))
        x = values[0] if self.map is None else self.map(*values)
        if x._dtype.kind == "c" and kind != "c":
            raise errors.no_expression(self.name, x._dtype, f"its result is {wanted}")
        if out is not None and type(out) is not Tensor:
            raise errors.not_an_operand(self.name, "out", out)
        if out is not None and out._dtype is not wanted:
            raise errors.other_dtype(self.name, "out", wanted, out._dtype)
        dims = dims_of(self.name, axis if dim is None else dim, x.ndim)
        outs = None if out is None else (out,)
        return outputs(self.rows[kind], x, dims, bool(keepdim or keepdims), wanted, outs)[0]

    def __repr__(self) -> str:
        return f"<reduction kernel {self.name}({', '.join(map(str, self.signature.inputs))}) -> {self.result}>"


def _enter_while_alive(kernel: Any, *rows: Row) -> None:
    """Adds a kernel's rows to the catalogue, for inventories, until the kernel is garbage
    collected."""
    enter(OWN, *rows)
    finalize(kernel, withdraw, *rows)


Kernel = TypeVar("Kernel", ElementwiseKernel, ReductionKernel)
# Equal arguments give one kernel. The latest ones are kept alive, for a program that creates a
# kernel in each call.
_ALIVE: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
_LATEST: deque[Any] = deque(maxlen=256)


def _made(make: type[Kernel], words: tuple[Any, ...]) -> Kernel:
    key = (make, *[(type(word), word) for word in words])
    if not all(isinstance(word, (str, int, float, type(None))) for word in words):
        return make(*words)  # it rejects unhashable arguments
    kernel: Kernel | None = _ALIVE.get(key)
    if kernel is None:
        _ALIVE[key] = kernel = make(*words)
        _LATEST.append(kernel)
    return kernel


def elementwise(*words: Any) -> ElementwiseKernel:
    """Returns the kernel; equal arguments give one kernel."""
    return _made(ElementwiseKernel, words)


def reduction(*words: Any) -> ReductionKernel:
    """Returns the kernel; equal arguments give one kernel."""
    return _made(ReductionKernel, words)
