"""Arguments of a trace: tensors of a call are replaced, and what the function does to them is undone."""

from __future__ import annotations

import copy
import gc
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import ref

from .._tensor import Tensor
from ..runtime.pool import Storage


class ArgumentStorage(Storage):
    """Placeholder storage of an argument: the same bytes, but another object."""

    __slots__ = ("of",)

    def __init__(self, of: Storage) -> None:
        self.of = of
        self.backend, self.stream, self.nbytes, self.device = of.backend, of.stream, of.nbytes, of.device
        self.readonly, self.exposed, self.visible = of.readonly, of.exposed, of.visible
        self.users = self.owner = self.bounds = self.derived = None

    @property
    def handle(self) -> Any:
        """Returns the handle of the argument's storage."""
        return self.of.handle

    @property
    def ptr(self) -> int | None:  # type: ignore[override]
        """Returns the address of the argument's storage."""
        return self.of.ptr

    @property
    def skew(self) -> int:
        """Returns the skew of the argument's storage."""
        return self.of.skew


class TraceArguments:
    """The arguments that a trace runs with, in a `with` block around the trace.

    Tuples, lists and dicts that contain tensors are copied. If a container can't be copied, the
    trace runs with the call's own arguments.
    """

    def __init__(self, tensors: Sequence[Tensor], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._memory: dict[Storage, ArgumentStorage] = {}
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}  # (the call's, the trace's), by either's id
        self._containers: list[tuple[Any, Any, list[Any]]] = []  # the call's, the trace's, its parts
        for t in tensors:
            self._placeholder(t)
        try:
            self.args = tuple([self._with(x) for x in args])
            self.kwargs = {name: self._with(x) for name, x in kwargs.items()}
            self.tensors = [self._pairs[id(t)][1] for t in tensors]
        except Exception:  # noqa: BLE001 - of a container's own class, which wants other arguments
            self.args, self.kwargs, self.tensors = tuple(args), dict(kwargs), list(tensors)

    def _placeholder(self, t: Tensor) -> None:
        if id(t) not in self._pairs:
            memory = self._memory.get(t._storage)
            if memory is None:
                memory = self._memory[t._storage] = ArgumentStorage(t._storage)
            other = Tensor._make(memory, t._dtype, t._shape, t._strides, t._offset)
            self._pairs[id(t)] = self._pairs[id(other)] = t, other

    def _with(self, x: Any) -> Any:
        if type(x) is Tensor:
            return self._pairs[id(x)][1]
        if isinstance(x, tuple):
            parts = [self._with(part) for part in x]
            if all(a is b for a, b in zip(parts, x)):
                return x
            return x._make(parts) if hasattr(x, "_make") else type(x)(parts)
        if not isinstance(x, (list, dict)):
            return x
        keys = range(len(x)) if isinstance(x, list) else list(x)
        changed = {k: part for k in keys if (part := self._with(x[k])) is not x[k]}
        if not changed:
            return x
        other: Any = copy.copy(x)
        for k, part in changed.items():
            other[k] = part
        self._containers.append((x, other, _children(other)))
        return other

    def __enter__(self) -> TraceArguments:
        """Returns itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """Copies the trace's changes of containers to the call's containers. Turns trace tensors
        that the function kept into the call's tensors."""
        for mine, other, parts in self._containers:
            now = _children(other)
            if len(now) != len(parts) or any(a is not b for a, b in zip(now, parts)):
                left = [self._pairs[id(x)][0] if id(x) in self._pairs else x for x in now]
                mine.clear()
                mine.extend(left) if isinstance(mine, list) else mine.update(zip(left[::2], left[1::2]))
        for t, other in self._pairs.values():
            other._become(t)
        memories = [(memory, ref(given)) for memory, given in self._memory.items()]
        self._containers, self._pairs, self._memory = [], {}, {}
        # An unreachable reference cycle may hold it. The frames of an error hold it in any case.
        if kind is None and any(given() for _, given in memories):
            gc.collect()
        for memory, given in memories:
            if given() is not None:  # a view that the function has kept, and may write by
                memory.expose()


def _children(container: Any) -> list[Any]:
    return [x for pair in container.items() for x in pair] if isinstance(container, dict) else list(container)
