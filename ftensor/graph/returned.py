"""Objects that a traced function returns beside tensors, which its graph must not keep alive.

An argument is the call's own at each call. An object from outside has a weak reference, without
which the function is traced again. Values (strings, dtypes, whatever compares by value) and objects
that the function makes are kept with the graph.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

# Objects that are looked at for a reference to the graph's owners.
_MAX_OBJECTS = 1 << 12
_CONSTANTS = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes)


class ReturnedObject:
    """An object of a graph's result; `settle` is called behind the trace."""

    __slots__ = ("value", "is_single_use", "argument_index", "reference")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.argument_index: int | None = None  # in the signature, of an argument
        self.reference: ref[Any] | None = None  # of an object that is not the graph's
        self.is_single_use = False  # the graph can return it in one call alone

    def settle(self, signature: Sequence[Any], owners: Collection[Any], on_death: Callable[[Any], object]) -> None:
        """Replaces the object by its place in the signature, or by a weak reference unless the
        function has made it. Does not keep an object beyond the first call that would keep the
        graph's owners alive; later calls are traced anew."""
        for k, x in enumerate(signature):
            if x is self.value or (type(x) is ref and x() is self.value):
                self.argument_index, self.value = k, None
                return
        kind: Any = type(self.value)
        if kind.__eq__ is not object.__eq__ and kind.__hash__ is not None:
            return  # a value
        if kind.__weakrefoffset__ and sys.getrefcount(self.value) > _SOLE_REFERENCES:
            self.reference, self.value = ref(self.value, on_death), None
        else:
            self.is_single_use = _reaches(self.value, {id(owner) for owner in owners})

    def current(self) -> Any:
        """Returns an object that is not an argument; None if it has been freed."""
        return self.value if self.reference is None else self.reference()

    @property
    def can_expire(self) -> bool:
        """True if the object may be gone at a later call."""
        return self.is_single_use or self.reference is not None

    def get(self, signature: Sequence[Any]) -> Any:
        """Returns the object for a call with this signature."""
        if self.argument_index is None:
            return self.current()
        x = signature[self.argument_index]
        return x() if type(x) is ref else x


class ReturnedMethod:
    """A bound method of such an object, which is made anew at each call."""

    __slots__ = ("function", "owner")

    def __init__(self, function: Any, owner: ReturnedObject) -> None:
        self.function, self.owner = function, owner

    def get(self, signature: Sequence[Any]) -> Any:
        """Returns the method for a call with this signature."""
        return MethodType(self.function, self.owner.get(signature))


_SOLE_REFERENCES = sys.getrefcount(ReturnedObject(object()).value)  # references to an object that has no other


def placeholder_for(x: Any, placeholders: dict[int, ReturnedObject]) -> Any:
    """Returns a value itself, and a placeholder for an object. `placeholders` has the placeholders
    of a result, by the objects' ids."""
    kind = type(x)
    if kind in _CONSTANTS:
        return x
    if kind is MethodType:
        owner = placeholder_for(x.__self__, placeholders)
        return ReturnedMethod(x.__func__, owner) if type(owner) is ReturnedObject else x
    return placeholders.setdefault(id(x), ReturnedObject(x))


def resolve_placeholder(x: Any, signature: Sequence[Any]) -> Any:
    """Returns the object of a placeholder; other values unchanged."""
    return x.get(signature) if type(x) is ReturnedObject or type(x) is ReturnedMethod else x


def _reaches(x: Any, targets: Collection[int]) -> bool:
    """True if an object refers to one of those with these ids, directly or by others, or to too
    many to know. Modules and classes are not looked into."""
    seen: set[int] = set()
    pending = [x]
    while pending and len(seen) < _MAX_OBJECTS:
        current = pending.pop()
        if id(current) in targets:
            return True
        if id(current) in seen or isinstance(current, (type, ModuleType)):
            continue
        seen.add(id(current))
        if type(current) is FunctionType:  # but not into its globals
            pending += [current.__closure__, current.__defaults__, current.__kwdefaults__, current.__dict__]
        else:
            pending += gc.get_referents(current)
    return bool(pending)
