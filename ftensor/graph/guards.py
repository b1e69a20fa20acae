"""Guards of a graph, and its replay: the generated function that checks the guards and runs the launch.

A guard is an assumption of a trace beyond the call's signature; docs/graphs.md lists them. If a guard
fails, the function itself runs. A graph whose guards can never hold again is stale, and its next call
traces anew. The replay has one line for each thing that the graph needs, so a call pays for nothing
else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakSet, ref

import numpy as np

from .._tensor import Tensor, geometry_key, watchers
from ..dtypes import uint8
from ..execute.capture import capturing
from ..execute.packed_weights import derived_tensors
from .beat_copies import on_beats, write_back
from .ir import Graph, GraphBuffer, ResultTensor, ReturnedMethod, ReturnedObject, unflatten

if TYPE_CHECKING:
    from ..runtime.pool import Storage
    from .lowering import Lowered


class OffsetGuard(NamedTuple):
    """The byte offset of an argument at the trace: modulo `multiple`; if `multiple` is 0, exact and
    with the storage's size."""

    argument: int
    multiple: int
    expected: tuple[int, ...]

    @classmethod
    def for_tensor(cls, argument: int, t: Tensor, multiple: int) -> OffsetGuard:
        """Returns the guard for a tensor."""
        return cls(argument, multiple, _offset_key(t, multiple))


def _offset_key(t: Tensor, multiple: int) -> tuple[int, ...]:
    storage, start = t._storage, t._offset * t._dtype.itemsize
    if not multiple:
        return start, storage.misalignment % 64, storage.nbytes
    return start % multiple, storage.misalignment % multiple


class CapturedStorage:
    """Storage of a tensor that a function captured. The graph owns the storage if no one else does
    (`owned`). Otherwise it holds a weak reference."""

    __slots__ = ("_key", "_shape", "owned", "reference")

    def __init__(self, storage: Storage, is_owned: bool, on_death: Callable[[Any], object]) -> None:
        self._shape = (storage.nbytes,)
        self._key = geometry_key(self._shape, (1,), uint8)
        self.owned = storage if is_owned else None
        self.reference = ref(storage, on_death)

    @property
    def storage(self) -> Storage:
        """Returns the storage, which is alive as long as the graph is not stale."""
        storage = self.reference()
        assert storage is not None, "a graph ran that is stale"
        return storage

    def as_bytes(self) -> Tensor:
        """Returns the whole storage as a uint8 tensor."""
        tensor = object.__new__(Tensor)
        tensor._storage, tensor._dtype, tensor._offset = self.storage, uint8, 0
        tensor._shape, tensor._strides, tensor._key = self._shape, (1,), self._key
        return tensor


def captured_storage(graph: Graph, on_death: Callable[[Any], object]) -> dict[int, CapturedStorage]:
    """Returns the storages that a graph's function captured, by the index of their memory in the
    graph."""
    probe: Any = GraphBuffer(0, None, captured=cast("Storage", object()))
    sole_references = sys.getrefcount(probe.captured)
    return {
        k: CapturedStorage(m.captured, m.owned or sys.getrefcount(m.captured) <= sole_references, on_death)
        for k, m in enumerate(graph.memories)
        if m.captured is not None
    }


class CapturedValues:
    """The values of captured tensors, as bytes, that a network's kernel contains as constants or
    that its launch loads."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        # Views, since a new geometry of the tensor itself makes its graph stale.
        self._tensors = [(ref(t._storage), t._dtype, t._shape, t._strides, t._offset) for t in tensors]
        self._values = [_bytes(t) for t in tensors]
        self._marks = [_mark(t._storage) for t in tensors]
        self.is_changed = False

    def find_changes(self) -> bool:
        """True if a tensor's values differ from the kernel's constants. Compares bytes only if the
        storage was written since the last comparison, or if other code may write to it unseen."""
        for k, (reference, d, shape, strides, offset) in enumerate(self._tensors):
            storage = reference()
            if storage is None:
                return True
            mark = self._marks[k]
            if mark is not None and storage.derived is not None and storage.derived.mark is mark:
                continue
            mark = _mark(storage)
            if _bytes(Tensor._make(storage, d, shape, strides, offset)) != self._values[k]:
                self.is_changed = True
                return True
            self._marks[k] = mark
        return False


def _bytes(t: Tensor) -> bytes:
    return np.array(t, copy=True).tobytes()


def _mark(storage: Storage) -> object | None:
    """Returns an object that is replaced whenever the storage is written; None if other code may
    write to it unseen."""
    if storage.owner is not None or storage.exposed or storage.visible:
        return None
    return derived_tensors(storage).mark


# What a graph's `run` returns in place of a result if a guard does not hold.
GUARD_FAILED: Any = object()
_MAX_COMPARISONS = 32  # comparisons of storage, as one expression each


class GuardCode(NamedTuple):
    """Guards as Python code, for the function that `replay` generates. The code has tensor k of
    a call as `x{k}` and its storage as `s{k}`."""

    tensors: set[int]  # indices of the call's tensors in the code
    failures: list[str]  # expressions; one is true if a guard does not hold
    values: dict[str, Any]  # other names in the expressions


class Guards:
    """The guards of a graph.

    arguments: indices of the call's tensors that kernels access; written: of those that they write.
    captured: captured storages; captured_written: indices of those that kernels write. watched:
    storages of captured tensors whose shapes the function may have read. values: captured values in
    a kernel's text.
    """

    def __init__(
        self,
        arguments: Sequence[int],
        written: Sequence[int],
        captured: Sequence[CapturedStorage],
        captured_written: Sequence[int],
        offset_guards: Sequence[OffsetGuard],
        shape_guarded: Iterable[Storage],
        on_stale: Callable[[], object],
        values: CapturedValues | None = None,
    ) -> None:
        # Arguments that are only read may share memory.
        self._arguments = tuple(arguments) if written or captured_written else ()
        self._written, self._captured_written = tuple(written), tuple(captured_written)
        self.captured, self._offset_guards, self._on_stale = tuple(captured), tuple(offset_guards), on_stale
        storages = [captured_storage.storage for captured_storage in captured]
        self._imported = any(storage.owner is not None for storage in storages)
        self._never_hold = any(_overlap(storages[h], storage) for h in captured_written for storage in storages)
        self._captured_values = values
        self._reshaped: list[bool] = []  # true if not empty; the generated code has the list
        all_guarded = {*storages, *shape_guarded}
        self._watches = bool(all_guarded)
        for storage in all_guarded:
            watchers.setdefault(storage, WeakSet()).add(self)

    def reshaped(self) -> None:
        """Marks the graph as stale: a captured tensor has a new geometry or storage."""
        self._reshaped.append(True)
        self._on_stale()

    def _values_differ(self) -> bool:
        """True if the captured tensors no longer have the values in the kernel's text; the graph is
        stale then."""
        assert self._captured_values is not None
        changed = self._captured_values.find_changes()
        if changed:
            self._on_stale()
        return changed

    @property
    def is_stale(self) -> bool:
        """True if the call has to be traced anew, as a captured tensor changed or died."""
        changed = self._captured_values is not None and self._captured_values.is_changed
        return changed or bool(self._reshaped) or any(storage.reference() is None for storage in self.captured)

    def generate_code(self, captured: Sequence[str]) -> GuardCode:
        """Returns the code of all guards, except whether captured storages are alive. The code
        names these storages as in `captured`."""
        values: dict[str, Any] = {"reshaped": self._reshaped, "start": _offset_key}
        failures = ["True"] if self._never_hold else []
        failures += ["reshaped"] if self._watches else []
        failures += [f"s{k}.readonly" for k in self._written]
        if self._captured_values is not None:
            values["differ"] = self._values_differ
            failures.append("differ()")
        for j, (k, multiple, expected) in enumerate(self._offset_guards):
            values[f"found{j}"] = expected
            failures.append(f"start(x{k}, {multiple}) != found{j}")
        if self._arguments:
            failures += self._aliasing_failures(captured, values)
        return GuardCode({*self._arguments, *self._written, *[k for k, _, _ in self._offset_guards]}, failures, values)

    def _aliasing_failures(self, captured: Sequence[str], values: dict[str, Any]) -> list[str]:
        """Returns expressions that are true if a storage that the call writes shares a byte with
        another storage of the call. The signature covers arguments that have one storage."""
        arguments, written = [f"s{k}" for k in self._arguments], [f"s{k}" for k in self._written]
        captured_written = [captured[h] for h in self._captured_written]
        failures = [f"{s} is {h}" for s in written for h in captured]
        failures += [f"{s} is {h}" for s in arguments if s not in written for h in captured_written]
        if len(failures) > _MAX_COMPARISONS:
            values["meet"] = _intersect
            failures = [
                f"meet({_tuple(written)}, {_tuple(captured)})",
                f"meet({_tuple(arguments)}, {_tuple(captured_written)})",
            ]
        all_names = [*arguments, *captured]
        if len(all_names) > 1:
            values |= {"overlap": any_overlap, "imported": _any_imported}
            overlap = f"overlap({_tuple(written + captured_written)}, {_tuple(all_names)})"
            # An argument may be passed twice only if its storage wraps foreign memory.
            imported = [f"{s}.owner is not None" for s in arguments]
            if len(imported) > _MAX_COMPARISONS:
                imported = [f"imported({_tuple(arguments)})"]
            failures.append(overlap if self._imported else f"({' or '.join(imported)}) and {overlap}")
        return failures


def _tuple(names: Iterable[str]) -> str:
    return f"({''.join([f'{name}, ' for name in names])})"


def _intersect(a: Sequence[Storage], b: Sequence[Storage]) -> bool:
    return not set(a).isdisjoint(b)


def _any_imported(storages: Sequence[Storage]) -> bool:
    for storage in storages:  # noqa: SIM110  # any() over a generator takes twice as long
        if storage.owner is not None:
            return True
    return False


def any_overlap(written: Sequence[Storage], storages: Sequence[Storage]) -> bool:
    return any(_overlap(a, b) for a in written for b in storages)


def closure_storage(function: Any) -> Iterator[Storage]:
    """Yields the storages of the tensors that a function can reach by its globals, defaults,
    closure or `self`, directly or in a container or attribute."""
    function = getattr(function, "__func__", function)
    codes = [getattr(function, "__code__", None)]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names |= set(getattr(code, "co_names", ()))
        codes += [candidate for candidate in getattr(code, "co_consts", ()) if isinstance(candidate, CodeType)]
    namespace = getattr(function, "__globals__", {})
    values = [namespace[name] for name in names if name in namespace]
    values += [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
    ]
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # it is empty
            values.append(cell.cell_contents)
    for value in [*values, getattr(function, "__self__", None)]:
        kind, candidates = type(value), [value]
        if issubclass(kind, (list, tuple, dict)):
            candidates = list(value.values() if issubclass(kind, dict) else value)
        elif not issubclass(kind, (ModuleType, type)):
            with suppress(AttributeError):  # the object has no such attributes
                candidates += object.__getattribute__(value, "__dict__").values()
        for candidate in candidates:
            if type(candidate) is Tensor:
                yield candidate._storage


def _overlap(a: Storage, b: Storage) -> bool:
    """True if two different storages share bytes."""
    if a is b or a.ptr is None or b.ptr is None:
        return False
    return a.ptr < b.ptr + b.nbytes and b.ptr < a.ptr + a.nbytes


# Called with a call's tensors and its signature. Returns the result, or GUARD_FAILED.
Replay = Callable[[Sequence["Tensor"], Sequence[Any]], Any]
ResultMaker = Callable[[Sequence["Tensor"], Sequence["Tensor"]], "Tensor"]
_MAX_INLINE_PARTS = 16  # parts of a result


class ReturnedArgument(NamedTuple):
    """A tensor of the result that is tensor `position` of the call."""

    position: int


# How a call obtains a tensor of the result: an index into the launch's outputs, an argument, or a
# function of the outputs and the call's tensors.
ResultPart = int | ReturnedArgument | ResultMaker


def replay(graph: Lowered) -> Replay:
    """Returns the generated function that runs a graph for a call: it checks the guards, runs the
    launch and builds the result."""
    guarded_captures = () if graph.guards is None else graph.guards.captured
    captured = list(dict.fromkeys([*guarded_captures, *graph.captured]))
    names = {storage: f"h{k}" for k, storage in enumerate(captured)}
    values: dict[str, Any] = {"GUARD_FAILED": GUARD_FAILED}
    live_names: list[str] = []
    for storage, name in names.items():
        if storage.owned is None:
            values[f"{name}_reference"] = storage.reference
            live_names.append(name)
        else:
            values[name] = storage.owned
    code = (
        GuardCode(set(), [], {})
        if graph.guards is None
        else graph.guards.generate_code([names[storage] for storage in guarded_captures])
    )
    result = _result(graph, values)
    returned = {part.position for part in graph.result_parts if isinstance(part, ReturnedArgument)}
    inputs = {*graph.arguments, *graph.written_arguments, *[k for k, _ in graph.reinterpreted]}
    lines = [f"x{k} = tensors[{k}]" for k in sorted(code.tensors | inputs | returned)]
    lines += [f"s{k} = x{k}._storage" for k in sorted(code.tensors | {*graph.written_arguments})]
    for j, obj in enumerate(graph.graph.returned_objects):
        if obj.can_expire:
            values[f"o{j}_reference"] = obj.current
            live_names.append(f"o{j}")
    lines += [f"{name} = {name}_reference()" for name in live_names]
    failures = [f"{name} is None" for name in live_names] + code.failures
    lines += [f"if {' or '.join(failures)}: return GUARD_FAILED"] if failures else []
    lines += _launch(graph, names, values)
    lines += [f"return {result}"]
    return _function(lines, values | code.values)


def _launch(graph: Lowered, names: Mapping[CapturedStorage, str], values: dict[str, Any]) -> list[str]:
    """Returns the code lines that run the launch. Adds the objects that these lines use to
    `values`, by name."""
    lines: list[str] = []
    values["scalars"] = graph.scalars
    if graph.arguments_off_beats or graph.captured_off_beats:
        # A capture replays launches without these copies, so the function itself runs.
        values |= {"capturing": capturing, "backend": graph.backend, "on_beats": on_beats, "write_back": write_back}
        lines.append("if backend.executor is not None and capturing(backend) is not None: return GUARD_FAILED")
    if graph.takes_call_scalars:
        values["call_scalars"] = graph._with_call_scalars
        lines.append("scalars = call_scalars(signature)")
    if graph.graph.draws:
        values["draw"] = graph._draw_random_scalars
        lines.append("scalars = draw(scalars)")
    if graph.launch is None:
        return [*lines, "results = ()"]
    values |= {"call": graph.launch.call, "enqueued": graph._run_observed}
    passed = {k: f"x{k}" for k in (*graph.arguments, *[k for k, _ in graph.reinterpreted])}
    copied: list[str] = []
    for k, start in graph.arguments_off_beats:
        lines.append(f"b{k} = on_beats(x{k}, {start})")
        passed[k] = f"b{k}"
        copied += [f"write_back(b{k}, x{k})"] if k in graph.written_arguments else []
    inputs = [passed[k] for k in graph.arguments]
    for j, (k, dtype) in enumerate(graph.reinterpreted):
        values |= {"seen_as": graph._reinterpret, f"dtype{j}": dtype}
        lines.append(f"y{j} = seen_as({passed[k]}, dtype{j})")
        inputs.append(f"y{j}")
    tensors = list(inputs)
    for storage in graph.captured:
        name = names[storage]
        values[f"{name}_whole"] = storage.as_bytes
        if storage in graph.captured_off_beats:
            lines.append(f"{name}_copy = on_beats({name}_whole(), 0)")
            copied += [f"write_back({name}_copy, {name}_whole())"] if storage in graph.written_captures else []
            tensors.append(f"{name}_copy")
            inputs.append(f"{name}_copy._storage")
            continue
        tensors.append(f"{name}_whole()")
        inputs.append(name)
    written = [*[names[storage] for storage in graph.written_captures], *[f"s{k}" for k in graph.written_arguments]]
    invalidations = [f"{name}.bounds = {name}.derived = None" for name in written]
    # A launch without outputs returns (), so only None means that it did not run.
    lines += [*invalidations, f"results = call(({_list(inputs)}), scalars, None)"]
    lines += [f"if results is None: results = enqueued(({_list(tensors)}), scalars)"]
    lines += copied
    lines += invalidations  # by then another thread may have read it
    if graph.graph.checks:
        values["check"] = graph._check_indices
        lines.append("check(tensors)")
    return lines


def _list(names: Iterable[str]) -> str:
    return "".join([f"{name}, " for name in names])


def _result(graph: Lowered, values: dict[str, Any]) -> str:
    """Returns the code of the function's result. Adds the objects that it uses to `values`, by
    name."""
    parts: list[str] = []
    for j, part in enumerate(graph.result_parts):
        if isinstance(part, int):
            parts.append(f"results[{part}]")
        elif isinstance(part, ReturnedArgument):
            parts.append(f"x{part.position}")
        else:
            values[f"part{j}"] = part
            parts.append(f"part{j}(results, tensors)")
    result = graph.graph.result
    if isinstance(result, ResultTensor):
        return parts[0]
    if result is None:
        return "None"
    if type(result) is tuple and graph.launch is not None and all(isinstance(x, ResultTensor) for x in result):
        if graph.result_parts == tuple(range(len(graph.launch.outputs))):
            return "results"
    flat = type(result) in (tuple, list) and not any(isinstance(x, (tuple, list, dict)) for x in result)
    if flat and len(result) <= _MAX_INLINE_PARTS:
        body = _list(_part_expressions(result, parts, values))
        return f"({body})" if type(result) is tuple else f"[{body}]"
    values |= {"unflatten": unflatten, "structure": result}
    return f"unflatten(structure, [{_list(parts)}], signature)"


def _part_expressions(result: Sequence[Any], parts: Sequence[str], values: dict[str, Any]) -> Iterator[str]:
    """Yields the code of each part of a flattened result. Adds the objects that it uses to
    `values`, by name."""
    remaining = iter(parts)
    for j, x in enumerate(result):
        if isinstance(x, ResultTensor):
            yield next(remaining)
        elif x is None:
            yield "None"
        elif isinstance(x, (ReturnedObject, ReturnedMethod)):
            values[f"object{j}"] = x.get
            yield f"object{j}(signature)"
        else:
            values[f"value{j}"] = x
            yield f"value{j}"


def _function(lines: Sequence[str], values: Mapping[str, Any]) -> Replay:
    """Returns the function with these lines. `values` become defaults of further parameters, stored
    in one tuple, while a closure has a cell for each."""
    code = _compiled(f"def replay({', '.join(['tensors', 'signature', *values])}, /):\n    " + "\n    ".join(lines))
    return FunctionType(code, {}, "replay", tuple(values.values()))


@lru_cache(1 << 10)
def _compiled(text: str) -> CodeType:
    """Returns the code of a function. Graphs of one form share it."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<ftensor graph>", "exec"), scope)
    return scope["replay"].__code__
