"""What a trace takes for granted beside the signature of its call, and what finds out, at each
call, whether it is so. docs/graphs.md lists it all.

Where it is not so the function itself runs. A graph that can't be right again is stale: its call is
traced anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakSet, ref

from .._tensor import Tensor, geometry_key, watchers
from ..dtypes import uint8
from .ir import Graph, GraphBuffer

if TYPE_CHECKING:
    from ..runtime.storage import Storage


class OffsetGuard(NamedTuple):
    """Where an argument began at the trace, as far as that was read: modulo `multiple` bytes, or
    (0) exactly, with the size of its memory."""

    argument: int
    multiple: int
    found: tuple[int, ...]

    @classmethod
    def of(cls, argument: int, t: Tensor, multiple: int) -> OffsetGuard:
        """That of a tensor."""
        return cls(argument, multiple, _start(t, multiple))


def _start(t: Tensor, multiple: int) -> tuple[int, ...]:
    storage, start = t._storage, t._offset * t._dtype.itemsize
    if not multiple:
        return start, storage.skew % 64, storage.nbytes
    return start % multiple, storage.skew % multiple


class CapturedStorage:
    """Memory that a function found outside its arguments. The graph keeps it where nobody else does
    (`own`); else it is there as long as it is for others, and then `gone` is called."""

    __slots__ = ("_key", "_own", "_shape", "reference")

    def __init__(self, storage: Storage, own: bool, gone: Callable[[Any], object]) -> None:
        self._shape = (storage.nbytes,)
        self._key = geometry_key(self._shape, (1,), uint8)
        self._own = storage if own else None
        self.reference = ref(storage, gone)

    @property
    def storage(self) -> Storage:
        """The memory, which is there as long as the graph is not stale."""
        storage = self.reference()
        assert storage is not None, "a graph ran that is stale"
        return storage

    def whole(self) -> Tensor:
        """All of it, as bytes."""
        tensor = _new(Tensor)
        tensor._storage, tensor._dtype, tensor._offset = self.reference(), uint8, 0  # type: ignore[assignment]
        tensor._shape, tensor._strides, tensor._key = self._shape, (1,), self._key
        return tensor


_new = object.__new__


def captured_storage(graph: Graph, gone: Callable[[Any], object]) -> dict[int, CapturedStorage]:
    """What a graph's function found outside, by the number of the memory."""
    probe: Any = GraphBuffer(0, None, held=cast("Storage", object()))
    alone = sys.getrefcount(probe.held)
    return {
        k: CapturedStorage(m.held, sys.getrefcount(m.held) <= alone, gone)
        for k, m in enumerate(graph.memories)
        if m.held is not None
    }


class Guards:
    """The guards of a graph.

    `arguments`: the tensors of a call that kernels get, `written` those of them that are written;
    `held`: what was found outside, `held_written` which of it is written; `seen`: memory of tensors
    outside whose shapes may have been read.
    """

    def __init__(
        self,
        arguments: Sequence[int],
        written: Sequence[int],
        held: Sequence[CapturedStorage],
        held_written: Sequence[int],
        starts: Sequence[OffsetGuard],
        seen: Iterable[Storage],
        gone: Callable[[], object],
    ) -> None:
        # Memory that nobody writes may be the same.
        self._arguments = tuple(arguments) if written or held_written else ()
        self._written, self._places = tuple(written), [k for k, a in enumerate(arguments) if a in written]
        self._held_written, self._starts, self._gone = tuple(held_written), tuple(starts), gone
        self._references = tuple([of.reference for of in held])
        storages = [of.storage for of in held]
        self._others = any(storage.owner is not None for storage in storages)
        self._never = any(_overlap(storages[h], storage) for h in held_written for storage in storages)
        self._reshaped = False
        for storage in {*storages, *seen}:
            watchers.setdefault(storage, WeakSet()).add(self)

    def reshaped(self) -> None:
        """What was found outside has another geometry now, or other memory."""
        self._reshaped = True
        self._gone()

    @property
    def stale(self) -> bool:
        """Whether the call has to be traced anew: what was found outside is another now."""
        return self._reshaped or any(reference() is None for reference in self._references)

    def check(self, tensors: Sequence[Tensor]) -> bool:
        """Whether all is as the trace took it for granted."""
        for reference in self._references:
            if reference() is None:
                return False
        if self._reshaped or self._never:
            return False
        for k in self._written:
            if tensors[k]._storage.readonly:
                return False
        for k, multiple, found in self._starts:
            if _start(tensors[k], multiple) != found:
                return False
        return not self._arguments or self._apart([tensors[k]._storage for k in self._arguments])

    def _apart(self, arguments: list[Storage]) -> bool:
        """Whether memory of this call that is written has no byte in common with other memory."""
        others = self._others  # whether some belongs to others: that alone may be handed in twice
        for storage in arguments:
            others = others or storage.owner is not None
        held: list[Any] = []
        if self._references:
            held = [reference() for reference in self._references]
            for h in self._held_written:
                if held[h] in arguments:
                    return False
            for k in self._places:
                if arguments[k] in held:
                    return False
        if not others:
            return True
        written = [arguments[k] for k in self._places] + [held[h] for h in self._held_written]
        return not any(_overlap(a, b) for a in written for b in (*arguments, *held))


def closure_storage(function: Any) -> Iterator[Storage]:
    """The memory of tensors that a function has names for, or the parts of what it has names for."""
    function = getattr(function, "__func__", function)
    codes = [getattr(function, "__code__", None)]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names |= set(getattr(code, "co_names", ()))
        codes += [part for part in getattr(code, "co_consts", ()) if isinstance(part, CodeType)]
    spaces = getattr(function, "__globals__", {})
    things = [spaces[name] for name in names if name in spaces]
    things += [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
    ]
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # it is empty
            things.append(cell.cell_contents)
    for thing in [*things, getattr(function, "__self__", None)]:
        kind, parts = type(thing), [thing]
        if issubclass(kind, (list, tuple, dict)):
            parts = list(thing.values() if issubclass(kind, dict) else thing)
        elif not issubclass(kind, (ModuleType, type)):
            with suppress(AttributeError):  # it has no such parts
                parts += object.__getattribute__(thing, "__dict__").values()
        for part in parts:
            if type(part) is Tensor:
                yield part._storage


def _overlap(a: Storage, b: Storage) -> bool:
    """Whether two storages, not the same one, have bytes in common."""
    if a is b or a.ptr is None or b.ptr is None:
        return False
    return a.ptr < b.ptr + b.nbytes and b.ptr < a.ptr + a.nbytes
