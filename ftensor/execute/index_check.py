"""Whether indices are in range: known beforehand, asked of the kernel at once, or asked later."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .._tensor import Tensor
from ..dtypes import int64
from ..dtypes.limits import integer_limits
from ..errors import index as errors_index
from ..rows.called import op_called
from ..runtime.callers import levels_to_user, line_of
from .observe import recorder

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.storage import Storage
    from ..runtime.stream import Stream

# An error for (index, dim, size).
Refusal = Callable[[int, int, int], Exception]

MODES = ("now", "deferred")
# Calls whose flags a stream keeps; beyond that all are made anew.
MOST_CALLS = 256
# Elements of an array whose bounds are looked for when it is uploaded.
MOST_LOOKED_AT = 1 << 16

_mode = "now"
_flags = threading.local()
_doubts: WeakKeyDictionary[Stream, dict[tuple[object, ...], IndexDoubt]] = WeakKeyDictionary()


def set_index_check(mode: str) -> None:
    """Say when an index out of range is an error, from now on and in all threads.

    "now": at the call, as in torch, which then waits for its kernel; "deferred": at the next wait
    for the stream (`item`, `numpy`, printing, `synchronize`), as an IndexError that names the
    call, the index and the line it came from. Nothing out of range is read or written either way:
    such an element's result is left as it was. Indices whose bounds the host knows (just made
    from Python numbers or arrays, by `arange`, by `argmax` and the like) are never waited for.

    ValueError for another mode.
    """
    global _mode
    if mode not in MODES:
        raise errors_index.index_check_mode(mode, MODES)
    _mode = mode


def get_index_check() -> str:
    """When an index out of range is an error: "now" or "deferred"."""
    return _mode


def know_bounds(index: Tensor, least: int, greatest: int) -> Tensor:
    """Note what all elements of a fresh tensor of integers lie within; gives the tensor back."""
    of = integer_limits(index._dtype)
    if of.min <= least and greatest <= of.max:  # else the numbers have wrapped
        index._storage.bounds = (index._dtype, least, greatest)
    return index


def know_bounds_of(index: Tensor, array: np.ndarray[Any, Any]) -> Tensor:
    """The same for what was uploaded from an array, if that is quickly found out."""
    if array.dtype.kind == "i" and 0 < array.size <= MOST_LOOKED_AT:
        know_bounds(index, int(array.min()), int(array.max()))
    return index


def known_bounds(storage: Storage) -> tuple[Any, int, int] | None:
    """(dtype, least, greatest) of a storage's elements, where that is known of all that it will
    hold when what is noted now runs."""
    who = recorder(storage.backend)
    return storage.bounds if who is None or who.handed_out(storage) else None


def in_range(index: Tensor, size: int, strict: bool) -> bool:
    """Whether all elements are known to be indices of a dim; `strict`: negative ones are none."""
    return within(known_bounds(index._storage), index._dtype, size, strict)


def within(bounds: tuple[Any, int, int] | None, of: Any, size: int, strict: bool) -> bool:
    """Whether known bounds are those of indices of a dim, as elements of a dtype."""
    if bounds is None or bounds[0] is not of:
        return False
    return bounds[1] >= (0 if strict else -size) and bounds[2] < size


@dataclass(frozen=True)
class Flag:
    """Where kernels note a bad index: whether there was one, which, its value, the dim's size."""

    tensor: Tensor

    @classmethod
    def fresh(cls, backend: Backend) -> Flag:
        """A flag that is not set."""
        flag = cls(Tensor._make(backend.allocate_lasting(32), int64, (4,), (1,)))
        flag._clear()
        return flag

    def _clear(self) -> None:
        storage = self.tensor._storage
        storage.backend.upload(storage, 0, np.zeros(4, np.int64))

    def taken(self) -> tuple[int, int, int] | None:
        """(which, index, size) of a bad index, which is forgotten; the kernel is done."""
        noted = np.empty(4, np.int64)
        storage = self.tensor._storage
        storage.backend.fetch(storage, 0, noted)
        if not noted[0]:
            return None
        self._clear()
        which, index, size = noted[1:].tolist()
        return which, index, size


@dataclass(frozen=True)
class IndexDoubt:
    """Launches of one line of a program whose flag nobody has looked at yet."""

    flag: Flag
    call: str
    line: str
    dims: tuple[int, ...]
    refusal: Refusal

    def resolve(self) -> Exception | None:
        """The error, if an index was out of range."""
        bad = self.flag.taken()
        if bad is None:
            return None
        which, index, size = bad
        error = self.refusal(index, self.dims[which], size)
        return errors_index.found_late(str(error), self.call, self.line)


class Check:
    """The check of one call on a tensor's memory: `flag`, on its device, is for the call's kernels,
    `done` comes after their launches."""

    def __init__(self, on: Storage, dims: Sequence[int], refusal: Refusal, certain: bool) -> None:
        stream = on.backend._current.stream
        self.stream, self.dims, self.refusal = stream, tuple(dims), refusal
        self.certain = certain
        self.recorder = recorder(on.backend)
        self.doubt = None
        if self.recorder is not None:
            self.flag = Flag.fresh(on.backend)
        elif certain or _mode == "now":
            self.flag = _flag_of_thread(stream.backend)
        else:
            self.doubt = self._doubt()
            self.flag = self.doubt.flag
        self.flag.tensor._storage.device = on.device

    def done(self, indices: Sequence[Any] = ()) -> None:
        """Wait for the kernels and raise what they found, or leave that for later. `indices`: what
        was looked at, where the call may be noted."""
        if self.certain:
            return
        if self.recorder is not None:
            self.recorder.checked(self.flag, self.dims, self.refusal, indices)
            return
        if self.doubt is not None:
            self.stream.doubts[id(self.doubt)] = self.doubt
            return
        self.stream.finish()
        if bad := self.flag.taken():
            which, index, size = bad
            raise self.refusal(index, self.dims[which], size)

    def _doubt(self) -> IndexDoubt:
        """That of the line of the user's program that called; a loop meets the same one."""
        level = levels_to_user()
        user, ours = sys._getframe(level - 1), sys._getframe(level - 2)
        call, name, number = ours.f_code.co_name, user.f_code.co_filename, user.f_lineno
        if call == "run":  # a form of an op's call
            call = op_called()[0]
        key = (call, name, number, self.dims, self.refusal)
        known = _doubts.setdefault(self.stream, {})
        pending = known.get(key)
        if pending is None:
            if len(known) >= MOST_CALLS:
                known.clear()
            flag = Flag.fresh(self.stream.backend)
            doubt = IndexDoubt(flag, call, line_of(user), self.dims, self.refusal)
            pending = known.setdefault(key, doubt)
        return pending


def _flag_of_thread(backend: Backend) -> Flag:
    flags: dict[Backend, Flag] = vars(_flags).setdefault("of", {})
    if backend not in flags:
        flags[backend] = Flag.fresh(backend)
    return flags[backend]
