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
_MOST_OBJECTS = 1 << 12
_CONSTANTS = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes)


class ReturnedObject:
    """An object of a graph's result; `settle` is called behind the trace."""

    __slots__ = ("held", "once", "place", "reference")

    def __init__(self, held: Any) -> None:
        self.held = held
        self.place: int | None = None  # in the signature, of an argument
        self.reference: ref[Any] | None = None  # of an object that is not the graph's
        self.once = False  # the graph can return it in one call alone

    def settle(self, signature: Sequence[Any], owners: Collection[Any], lost: Callable[[Any], object]) -> None:
        """Replaces the object by its place in the signature, or by a weak reference unless the
        function has made it. Does not keep an object beyond the first call that would keep the
        graph's owners alive; later calls are traced anew."""
        for k, x in enumerate(signature):
            if x is self.held or (type(x) is ref and x() is self.held):
                self.place, self.held = k, None
                return
        kind: Any = type(self.held)
        if kind.__eq__ is not object.__eq__ and kind.__hash__ is not None:
            return  # a value
        if kind.__weakrefoffset__ and sys.getrefcount(self.held) > _ALONE:
            self.reference, self.held = ref(self.held, lost), None
        else:
            self.once = _reaches(self.held, {id(owner) for owner in owners})

    def current(self) -> Any:
        """Returns an object that is no argument; None if it is gone."""
        return self.held if self.reference is None else self.reference()

    @property
    def may_go(self) -> bool:
        """True if the object may be gone at a later call."""
        return self.once or self.reference is not None

    def get(self, signature: Sequence[Any]) -> Any:
        """Returns the object for a call with this signature."""
        if self.place is None:
            return self.current()
        x = signature[self.place]
        return x() if type(x) is ref else x


class ReturnedMethod:
    """A bound method of such an object, which is made anew at each call."""

    __slots__ = ("function", "of")

    def __init__(self, function: Any, of: ReturnedObject) -> None:
        self.function, self.of = function, of

    def get(self, signature: Sequence[Any]) -> Any:
        """Returns the method for a call with this signature."""
        return MethodType(self.function, self.of.get(signature))


_ALONE = sys.getrefcount(ReturnedObject(object()).held)  # references to an object that has no other


def returned(x: Any, found: dict[int, ReturnedObject]) -> Any:
    """Returns a value itself, and a placeholder for an object. `found` has the placeholders of a
    result, by the objects' ids."""
    kind = type(x)
    if kind in _CONSTANTS:
        return x
    if kind is MethodType:
        of = returned(x.__self__, found)
        return ReturnedMethod(x.__func__, of) if type(of) is ReturnedObject else x
    return found.setdefault(id(x), ReturnedObject(x))


def resolve_placeholder(x: Any, signature: Sequence[Any]) -> Any:
    """Returns the object of a placeholder; other values unchanged."""
    return x.get(signature) if type(x) is ReturnedObject or type(x) is ReturnedMethod else x


def _reaches(x: Any, targets: Collection[int]) -> bool:
    """True if an object refers to one of those with these ids, directly or by others, or to too
    many to know. Modules and classes are not looked into."""
    seen: set[int] = set()
    left = [x]
    while left and len(seen) < _MOST_OBJECTS:
        at = left.pop()
        if id(at) in targets:
            return True
        if id(at) in seen or isinstance(at, (type, ModuleType)):
            continue
        seen.add(id(at))
        if type(at) is FunctionType:  # but not into its globals
            left += [at.__closure__, at.__defaults__, at.__kwdefaults__, at.__dict__]
        else:
            left += gc.get_referents(at)
    return bool(left)
