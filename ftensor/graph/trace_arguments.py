"""Arguments of a trace: tensors of a call are replaced, and what the function does to them is
undone."""

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

    __slots__ = ("storage",)

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.backend, self.stream, self.nbytes, self.device = (
            storage.backend,
            storage.stream,
            storage.nbytes,
            storage.device,
        )
        self.readonly, self.exposed, self.visible = storage.readonly, storage.exposed, storage.visible
        self.users = self.owner = self.bounds = self.derived = None

    @property
    def handle(self) -> Any:
        """Returns the handle of the argument's storage."""
        return self.storage.handle

    @property
    def ptr(self) -> int | None:  # type: ignore[override]
        """Returns the address of the argument's storage."""
        return self.storage.ptr

    @property
    def skew(self) -> int:
        """Returns the skew of the argument's storage."""
        return self.storage.skew


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
            self.args = tuple([self._replaced(x) for x in args])
            self.kwargs = {name: self._replaced(x) for name, x in kwargs.items()}
            self.tensors = [self._pairs[id(t)][1] for t in tensors]
        except Exception:  # noqa: BLE001 - of a container's own class, which wants other arguments
            self.args, self.kwargs, self.tensors = tuple(args), dict(kwargs), list(tensors)

    def _placeholder(self, t: Tensor) -> None:
        if id(t) not in self._pairs:
            memory = self._memory.get(t._storage)
            if memory is None:
                memory = self._memory[t._storage] = ArgumentStorage(t._storage)
            placeholder = Tensor._make(memory, t._dtype, t._shape, t._strides, t._offset)
            self._pairs[id(t)] = self._pairs[id(placeholder)] = t, placeholder

    def _replaced(self, x: Any) -> Any:
        if type(x) is Tensor:
            return self._pairs[id(x)][1]
        if isinstance(x, tuple):
            items = [self._replaced(item) for item in x]
            if all(a is b for a, b in zip(items, x)):
                return x
            return x._make(items) if hasattr(x, "_make") else type(x)(items)
        if not isinstance(x, (list, dict)):
            return x
        keys = range(len(x)) if isinstance(x, list) else list(x)
        changed = {k: item for k in keys if (item := self._replaced(x[k])) is not x[k]}
        if not changed:
            return x
        copied: Any = copy.copy(x)
        for k, item in changed.items():
            copied[k] = item
        self._containers.append((x, copied, _children(copied)))
        return copied

    def __enter__(self) -> TraceArguments:
        """Returns itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """Copies the trace's changes of containers to the call's containers. Turns trace tensors
        that the function kept into the call's tensors."""
        for original, traced, before in self._containers:
            after = _children(traced)
            if len(after) != len(before) or any(a is not b for a, b in zip(after, before)):
                restored = [self._pairs[id(x)][0] if id(x) in self._pairs else x for x in after]
                original.clear()
                original.extend(restored) if isinstance(original, list) else original.update(
                    zip(restored[::2], restored[1::2])
                )
        for t, traced in self._pairs.values():
            traced._become(t)
        memories = [(memory, ref(placeholder)) for memory, placeholder in self._memory.items()]
        self._containers, self._pairs, self._memory = [], {}, {}
        # An unreachable reference cycle may hold it. The frames of an error hold it in any case.
        if kind is None and any(placeholder() for _, placeholder in memories):
            gc.collect()
        for memory, placeholder in memories:
            if placeholder() is not None:  # a view that the function has kept, and may write by
                memory.expose()


def _children(container: Any) -> list[Any]:
    return [x for pair in container.items() for x in pair] if isinstance(container, dict) else list(container)
