"""Signatures: the values of a call on which its graph depends, and Python numbers passed at run
time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from .._device import device_token
from .._tensor import Tensor
from ..dtypes import dtype, get_default_dtype
from ..errors import graph as errors
from ..execute.indexed import get_index_check
from ..execute.scalars import TracedScalar, check_fits, values_of
from ..iterator.shape import Ints
from .ir import DynamicScalar, Graph

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.launch_cache import LaunchTable
    from .lowering import Lowered


# Values that equal none of another type; 1, True and 1.0 are equal.
UNTAGGED_TYPES = {str, type(None), type(Ellipsis), dtype}
TAGGED_TYPES = {bool, bytes, TracedScalar}
KEYWORD_MARK = object()  # a marker, since an argument may be a string
FLOAT, INT, COMPLEX = object(), object(), object()  # markers that precede a number of the type
NUMBER_MARKS: dict[type, object] = {float: FLOAT, int: INT, complex: COMPLEX}


_ONLY_TENSORS = {Tensor}


def add_arguments(
    function_name: str, args: Sequence[Any], kwargs: Mapping[str, Any], signature: list[Any], tensors: list[Tensor]
) -> None:
    """Appends the arguments of `function_name` to `signature`, and their tensors to
    `tensors`. Raises TypeError for an argument that is not hashable."""
    _add(function_name, "an argument", args, signature, tensors)
    if kwargs:
        signature.append(KEYWORD_MARK)
    for name, value in kwargs.items():
        signature.append(name)
        _add(function_name, name, (value,), signature, tensors)


def _add(function_name: str, name: str, values: Iterable[Any], signature: list[Any], tensors: list[Tensor]) -> None:
    for x in values:
        kind = type(x)
        if kind is Tensor:
            signature.append(x._key)
            tensors.append(x)
        elif kind in UNTAGGED_TYPES:
            signature.append(x)
        elif kind is float:
            signature += (FLOAT, x if x and x == x else str(x))  # -0.0 and nan
        elif kind is int:
            signature += (INT, x)
        elif kind in TAGGED_TYPES:
            signature += (kind, x)
        elif isinstance(x, (tuple, list)):
            signature += (kind, len(x))
            if {*map(type, x)} == _ONLY_TENSORS:
                signature += [t._key for t in x]
                tensors += x
            else:
                _add(function_name, name, x, signature, tensors)
        elif isinstance(x, dict):
            signature += (kind, len(x))
            for k, part in x.items():
                signature += (type(k), k)
                _add(function_name, str(k), (part,), signature, tensors)
        elif kind is slice:
            signature.append(kind)
            _add(function_name, name, (x.start, x.stop, x.step), signature, tensors)
        elif kind is complex:
            signature += (COMPLEX, repr(x))  # -0.0 and nan of either part
        else:
            signature += (kind, *_value_key(function_name, name, x))


def _value_key(function_name: str, name: str, x: Any) -> tuple[Any, ...]:
    """Returns the signature entries of a value. Objects that compare by identity are held by weak
    reference, so that a signature does not keep them alive."""
    if type(x) is MethodType:
        return *_value_key(function_name, name, x.__self__), *_value_key(function_name, name, x.__func__)
    try:
        hash(x)
    except TypeError:
        raise errors.unhashable(function_name, x, name) from None
    kind: Any = type(x)
    if kind.__eq__ is object.__eq__:
        return (ref(x) if kind.__weakrefoffset__ else x,)
    if isinstance(x, (float, complex)):
        return (repr(x),)  # NumPy's numbers, as above
    # Equal ones may have parts of different types: 2 and 2.0, -0.0 and 0.0.
    return (x,) if kind.__repr__ is object.__repr__ else (x, repr(x))


def owners_of(signature: Sequence[Any]) -> list[Any]:
    """Returns the live objects that a signature refers to by weak reference."""
    return [owner for x in signature if type(x) is ref and (owner := x()) is not None]


def scalar_indices(signature: Sequence[Any]) -> list[int]:
    """Returns the indices of numbers in a signature, in the order of the arguments."""
    marks = zip(signature, range(1, len(signature) + 1))
    return [k for x, k in marks if x is FLOAT or x is INT or x is COMPLEX]


def scalar_at(signature: Sequence[Any], index: int) -> Any:
    """Returns the number at index `index` of a signature."""
    x = signature[index]
    return x if type(x) is not str else complex(x) if signature[index - 1] is COMPLEX else float(x)


def add_environment(backend: Backend, tensors: Sequence[Tensor], signature: list[Any]) -> None:
    """Appends the other values that a graph depends on: devices, shared memory, and global
    settings."""
    signature += (get_default_dtype(), get_index_check(), device_token())
    if not tensors:
        return
    device = tensors[0]._storage.device
    signature += (device.type, device.index)
    add_memory(tensors, signature)
    if backend.target.is_board:
        signature += [t._place() for t in tensors]


def add_settings(tensors: Sequence[Tensor], signature: list[Any]) -> None:
    """Like `add_environment`, but without devices: for a fused op, whose graph runs on any device
    of a backend."""
    signature += (get_default_dtype(), get_index_check())
    if len(tensors) > 1:
        add_memory(tensors, signature)


def add_memory(tensors: Sequence[Tensor], signature: list[Any]) -> None:
    """Appends entries for tensors that share memory, and for those on another device than the
    first."""
    storages = [t._storage for t in tensors]
    device = storages[0].device
    for k, storage in enumerate(storages):
        if storage.device is not device:
            signature += (k, storage.device)
    if len(set(storages)) < len(storages):
        indices: dict[Any, int] = {}
        firsts = [indices.setdefault(s, k) for k, s in enumerate(storages)]
        starts = [t._offset * t._dtype.itemsize for t in tensors]
        first_indices = [indices.setdefault(id(t), k) for k, t in enumerate(tensors)]
        signature.append(tuple([(f, s - starts[f], k) for f, s, k in zip(firsts, starts, first_indices)]))


ArgumentTypes = tuple[type | str, ...]
# (the tensors, the signature) of a marked call of the op with these arguments; None if `signature`
# must inspect them: tensors that share memory or are on several devices, and tuples with items that
# are no ints.
SignatureFunction = Callable[[Any, Sequence[Any]], tuple[list[Tensor], tuple[Any, ...]] | None]

_MAX_TENSORS = 4  # their memories are compared in pairs
_MAX_FUNCTIONS = 1 << 10


def argument_types(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArgumentTypes:
    """Returns the types of a call's positional arguments, the names of its keyword arguments, and
    their types."""
    if kwargs:
        return (*map(type, args), *kwargs, *map(type, kwargs.values()))
    return tuple(map(type, args))


class SignatureFunctionTable(dict[ArgumentTypes, SignatureFunction]):
    """Maps the types of a call's arguments to a generated function that returns the call's
    signature."""

    def __missing__(self, types: ArgumentTypes) -> SignatureFunction:
        names = [k for k in types if type(k) is str]
        positional = len(types) - 2 * len(names)
        function = _compile_signature([*types[:positional], *types[positional + len(names) :]], positional, names)
        if len(self) < _MAX_FUNCTIONS:
            self[types] = function
        return function


signature_functions = SignatureFunctionTable()


def _unknown(mark: Any, args: Sequence[Any]) -> None:
    """Returns None, so that the caller uses the general `signature`."""


def _ints(sizes: tuple[Any, ...]) -> list[Any] | None:
    """Returns the signature entries of a tuple of ints; None for other tuples."""
    entries: list[Any] = [tuple, len(sizes)]
    for n in sizes:
        if type(n) is not int:
            return None
        entries += (INT, n)
    return entries


def _compile_signature(types: Sequence[Any], positional: int, names: Sequence[str]) -> SignatureFunction:
    """Returns the generated signature function for arguments of these types; the first `positional`
    are positional, the others have `names`."""
    tensors = [k for k, kind in enumerate(types) if kind is Tensor]
    sizes = [k for k, kind in enumerate(types) if kind is tuple]
    supported = {Tensor, tuple, *NUMBER_MARKS, *UNTAGGED_TYPES, *TAGGED_TYPES}
    if not 0 < len(tensors) <= _MAX_TENSORS or not supported.issuperset(types):
        return _unknown
    scope: dict[str, Any] = {"default": get_default_dtype, "mode": get_index_check, "ints": _ints}
    entries = ["mark"]
    for k, kind in enumerate(types):
        if k >= positional:
            scope |= {"KEYWORDS": KEYWORD_MARK, f"n{k}": names[k - positional]}
            entries += [*(["KEYWORDS"] if k == positional else []), f"n{k}"]
        if kind is Tensor:
            entries.append(f"a{k}._key")
            continue
        if kind is tuple:
            entries.append(f"*i{k}")
            continue
        if kind not in UNTAGGED_TYPES:
            scope[f"k{k}"] = NUMBER_MARKS.get(kind, kind)
            entries.append(f"k{k}")
        expression = {float: "a if a and a == a else str(a)", complex: "repr(a)"}.get(kind, "a")
        entries.append(re.sub(r"\ba\b", f"a{k}", expression))
    general_cases = [f"s{j} is s{k}" for i, j in enumerate(tensors) for k in tensors[i + 1 :]]
    general_cases += [f"s{k}.device is not s{tensors[0]}.device" for k in tensors[1:]]
    tensor_names = ", ".join([f"a{k}" for k in tensors])
    lines = [
        f"{''.join([f'a{k}, ' for k in range(len(types))])}= args",
        *[f"if (i{k} := ints(a{k})) is None: return None" for k in sizes],
        *[f"s{k} = a{k}._storage" for k in tensors if general_cases],
        *([f"if {' or '.join(general_cases)}: return None"] if general_cases else []),
        f"return [{tensor_names}], ({', '.join(entries)}, default(), mode())",
    ]
    text = "\n    ".join(["def tell(mark, args):", *lines])
    exec(compile(text, "<ftensor signature>", "exec"), scope)
    return scope["tell"]


_FAMILY, _DYNAMIC = object(), object()
_NUMBERS = {int, float, complex}


class DynamicScalars(NamedTuple):
    """The free numbers of a graph (number arguments that may differ from call to call): their
    indices in a signature, and the checks (index, op, dtype)
    that they must pass. An empty op means that the number is rounded to the dtype."""

    indices: Ints
    range_checks: tuple[tuple[int, str, dtype], ...]

    def check_scalars(self, signature: Sequence[Any], scalars: Sequence[tuple[int, dtype | None, Ints]]) -> bool:
        """True if a call's numbers pass all checks. The function itself raises the error for a
        number that does not."""
        try:
            for index, op, d in self.range_checks:
                number = scalar_at(signature, index)
                check_fits(op, number, d) if op else values_of(number, d)
            for index, rounded_to, _ in scalars:
                if rounded_to is not None:
                    values_of(scalar_at(signature, index), rounded_to)
        except (ArithmeticError, ValueError, RuntimeError):
            return False
        return True


class ScalarTracing:
    """A call's arguments with each number replaced by a TracedScalar, also in copied tuples, lists
    and dicts. Numbers in slices and in containers of other types stay plain."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any], signature: Sequence[Any]) -> None:
        self.scalars: list[TracedScalar] = []
        self._indices = iter(scalar_indices(signature))
        self._containers: list[tuple[Any, list[Any]]] = []  # mutable ones, with their parts
        self.args = tuple([self._replaced(x) for x in args])
        self.kwargs = {name: self._replaced(x) for name, x in kwargs.items()}
        self._reference_counts = self._count_references()

    def _replaced(self, x: Any, plain: bool = False) -> Any:
        kind = type(x)
        if kind in _NUMBERS:
            index = next(self._indices)
            if plain:
                return x
            self.scalars.append(TracedScalar(x, index))
            return self.scalars[-1]
        if isinstance(x, (tuple, list)):
            is_namedtuple = kind.__base__ is tuple and hasattr(kind, "_make")
            plain = plain or not (kind is tuple or kind is list or is_namedtuple)
            items = [self._replaced(item, plain) for item in x]
            if all(a is b for a, b in zip(items, x)):
                return x
            return self._track_container(kind._make(items) if is_namedtuple else kind(items))
        if isinstance(x, dict):
            replaced = {k: self._replaced(item, plain or kind is not dict) for k, item in x.items()}
            if all(replaced[k] is item for k, item in x.items()):
                return x
            return self._track_container(replaced)
        if kind is slice:
            for item in (x.start, x.stop, x.step):
                self._replaced(item, True)
        return x

    def _track_container(self, container: Any) -> Any:
        if not isinstance(container, tuple):
            self._containers.append((container, _children(container)))
        return container

    def _count_references(self) -> list[int]:
        return [sys.getrefcount(number) for number in self.scalars]

    @property
    def is_released(self) -> bool:
        """True if nothing holds the traced numbers after the trace, and containers are
        unchanged."""
        unchanged = all(_same_items(_children(container), parts) for container, parts in self._containers)
        return unchanged and self._count_references() == self._reference_counts

    def with_dynamic_scalars(self, graph: Graph) -> Graph:
        """Returns the graph with plain values for numbers that Python code read, and a DynamicScalar
        for each other."""
        nodes = []
        for node in graph.nodes:
            if any(type(x) is TracedScalar for x in node.scalars):
                node = replace(node, scalars=tuple([_plain_or_dynamic(x) for x in node.scalars]))
            nodes.append(node)
        return replace(graph, nodes=tuple(nodes))

    @property
    def dynamic_scalars(self) -> DynamicScalars | None:
        """Returns the numbers that Python code did not read; None if there are none."""
        unread = [number for number in self.scalars if not number._read]
        range_checks = [(n._place, op, d) for n in unread for op, d in n._fits]
        return DynamicScalars(tuple([n._place for n in unread]), tuple(dict.fromkeys(range_checks))) if unread else None


def _children(container: Any) -> list[Any]:
    return [x for pair in container.items() for x in pair] if type(container) is dict else list(container)


def _same_items(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _plain_or_dynamic(x: Any) -> Any:
    if type(x) is not TracedScalar:
        return x
    return x._value if x._read else DynamicScalar(x._place, x._value)


def cache_graph(launches: LaunchTable, signature: tuple[Any, ...], graph: Lowered) -> Lowered:
    """Stores a graph under the signature of its call, and under the keys that `find_specialization`
    uses."""
    cached = launches.keep(signature, graph)
    if cached is graph and graph.dynamic_scalars is not None:
        launches.keep(_masked_key(signature, graph.dynamic_scalars.indices), graph)
        family = _masked_key(signature, scalar_indices(signature), _FAMILY)
        launches.keep(family, _DynamicIndexSets()).index_sets[graph.dynamic_scalars.indices] = None
    return cached


def find_specialization(launches: LaunchTable, signature: tuple[Any, ...]) -> Lowered | None:
    """Returns the graph of an earlier call that differs only in its number arguments, in the form
    that reads them from each call; None on a miss."""
    indices = scalar_indices(signature)
    if not indices:
        return None
    family: _DynamicIndexSets | None = launches.find(_masked_key(signature, indices, _FAMILY))
    for dynamic_indices in () if family is None else tuple(family.index_sets):
        graph: Lowered | None = launches.find(_masked_key(signature, dynamic_indices))
        if graph is not None and not graph.is_dead and graph.accepts(signature):
            return graph.with_dynamic_scalars()
    return None


class _DynamicIndexSets:
    """For calls that differ only in numbers: the sets of numbers that cached graphs read from each
    call."""

    kept_bytes = 1 << 10

    def __init__(self) -> None:
        self.index_sets: dict[Ints, None] = {}


def _masked_key(signature: tuple[Any, ...], indices: Sequence[int], kind: object = _DYNAMIC) -> tuple[Any, ...]:
    key = list(signature)
    for k in indices:
        key[k] = None
    key.append(kind)
    return tuple(key)
