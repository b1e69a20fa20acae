"""What tells a call of a function from others, as far as its graph depends on it: a flat list.

It is made at each call, so what it has of an argument is what costs least: of a tensor the number
of its geometry, of what equals nothing of another type the value alone, of a number its type, too,
by a mark that nothing else has, so that numbers can be found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any
from weakref import ref

from .._device import device_token
from .._tensor import Tensor
from ..dtypes import dtype, get_default_dtype
from ..errors import graph as errors
from ..execute.index_check import get_index_check
from ..execute.passed import Passed

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# Values that equal none of another type; 1, True and 1.0 are equal.
ALONE = {str, type(None), type(Ellipsis), dtype}
NUMBERS = {bool, bytes, Passed}
KEYWORDS = object()  # a name is no argument
FLOAT, INT, COMPLEX = object(), object(), object()  # before a number of that type
MARKS: dict[type, object] = {float: FLOAT, int: INT, complex: COMPLEX}


def add_arguments(
    who: str, args: Sequence[Any], kwargs: Mapping[str, Any], key: list[Any], tensors: list[Tensor]
) -> None:
    """Add what a signature has of the arguments of `who`, and the tensors in them. TypeError for
    one that is not hashable."""
    _add(who, "an argument", args, key, tensors)
    if kwargs:
        key.append(KEYWORDS)
    for name, value in kwargs.items():
        key.append(name)
        _add(who, name, (value,), key, tensors)


def _add(who: str, name: str, values: Iterable[Any], key: list[Any], tensors: list[Tensor]) -> None:
    for x in values:
        kind = type(x)
        if kind is Tensor:
            key.append(x._key)
            tensors.append(x)
        elif kind in ALONE:
            key.append(x)
        elif kind is float:
            key += (FLOAT, x if x and x == x else str(x))  # -0.0 and nan
        elif kind is int:
            key += (INT, x)
        elif kind in NUMBERS:
            key += (kind, x)
        elif isinstance(x, (tuple, list)):
            key += (kind, len(x))
            _add(who, name, x, key, tensors)
        elif isinstance(x, dict):
            key += (kind, len(x))
            for k, part in x.items():
                key += (type(k), k)
                _add(who, str(k), (part,), key, tensors)
        elif kind is slice:
            key.append(kind)
            _add(who, name, (x.start, x.stop, x.step), key, tensors)
        elif kind is complex:
            key += (COMPLEX, repr(x))  # -0.0 and nan of either part
        else:
            key += (kind, *_told(who, name, x))


def _told(who: str, name: str, x: Any) -> tuple[Any, ...]:
    """What tells a value from others. Nothing that is found here keeps an object alive that is
    equal to itself alone."""
    if type(x) is MethodType:
        return *_told(who, name, x.__self__), *_told(who, name, x.__func__)
    try:
        hash(x)
    except TypeError:
        raise errors.unhashable(who, x, name) from None
    kind: Any = type(x)
    if kind.__eq__ is object.__eq__:
        return (ref(x) if kind.__weakrefoffset__ else x,)
    if isinstance(x, (float, complex)):
        return (repr(x),)  # NumPy's, as above
    # Equal ones may have parts of other types: 2 and 2.0, -0.0 and 0.0.
    return (x,) if kind.__repr__ is object.__repr__ else (x, repr(x))


def owners_of(key: Sequence[Any]) -> list[Any]:
    """The objects without which no call has this signature."""
    return [owner for x in key if type(x) is ref and (owner := x()) is not None]


def number_places(key: Sequence[Any]) -> list[int]:
    """Where the values of numbers lie in a signature, in the order of the arguments."""
    marks = zip(key, range(1, len(key) + 1))
    return [k for x, k in marks if x is FLOAT or x is INT or x is COMPLEX]


def number_at(key: Sequence[Any], place: int) -> Any:
    """The number that lies there."""
    x = key[place]
    return x if type(x) is not str else complex(x) if key[place - 1] is COMPLEX else float(x)


def add_place(backend: Backend, tensors: Sequence[Tensor], key: list[Any]) -> None:
    """Add what else a graph depends on: devices, memory that is shared, what a program has set."""
    key += (get_default_dtype(), get_index_check(), device_token())
    if not tensors:
        return
    device = tensors[0]._storage.device
    key += (device.type, device.index)
    add_memory(tensors, key)
    if not backend.target.unaligned:
        key += [t._place() for t in tensors]


def add_settings(tensors: Sequence[Tensor], key: list[Any]) -> None:
    """As `add_place`, for an op on a device that may begin anywhere: what it makes is where its
    tensors are, whatever the device is called."""
    key += (get_default_dtype(), get_index_check())
    if len(tensors) > 1:
        add_memory(tensors, key)


def add_memory(tensors: Sequence[Tensor], key: list[Any]) -> None:
    """Add which of the tensors share memory, and which are on another device than the first."""
    storages = [t._storage for t in tensors]
    device = storages[0].device
    for k, storage in enumerate(storages):
        if storage.device is not device:
            key += (k, storage.device)
    if len(set(storages)) < len(storages):
        firsts = [storages.index(s) for s in storages]
        starts = [t._offset * t._dtype.itemsize for t in tensors]
        same = [next(j for j, other in enumerate(tensors) if other is t) for t in tensors]
        key.append(tuple([(f, s - starts[f], k) for f, s, k in zip(firsts, starts, same)]))
