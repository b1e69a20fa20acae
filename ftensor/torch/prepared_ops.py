"""Prepared ops: the launches of a torch op, called without ftensor's functions.

An op's function on ftensor tensors finds its launches by way of tensors, signatures and look-ups. The
launches follow from the geometries of the tensors and from the other arguments. So a call is observed:
if it only launches kernels on its arguments and on new memory, a generated function allocates, calls the
kernels and makes the results from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import get_ident
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import ref

import numpy as np
import torch

from .._tensor import Tensor
from ..dtypes import dtype
from ..execute.dispatch import Observer
from ..execute.launch import LAUNCH_BYTES, STEP_BYTES, Bound, Launch, Step
from ..execute.packed_weights import PACKING
from ..graph.guards import any_overlap
from . import memory as m
from .internals import untyped_storage

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream

MAX_STEPS = 32
MAX_COMPARED = 4  # storages that are compared in pairs


class Place(NamedTuple):
    """The memory of a kernel's operand: an argument of the call, or memory that the call allocates."""

    is_argument: bool
    number: int
    offset: int  # elements, from the argument's first element


class RecordedLaunch(NamedTuple):
    """A launch of the observed call, its operands and its scalar kernel arguments."""

    launch: Launch
    places: tuple[Place, ...]
    scalars: tuple[Any, ...]


class OpObserver(Observer):
    """Records what one call of the thread does."""

    def __init__(self, tensors: Sequence[torch.Tensor | None]) -> None:
        self.thread = get_ident()
        self.is_refused = False
        self.launches: list[RecordedLaunch] = []
        self.new: list[ref[Storage]] = []
        self.sizes: list[int] = []
        self.new_indices: dict[int, int] = {}  # by id; an id of a dead storage may recur
        self.arguments: dict[int, tuple[int, Tensor]] = {}
        for k, t in enumerate(tensors):
            if t is not None:
                f = m.unwrap(t)
                self.is_refused |= f._dtype.is_complex  # it may be a lazy conjugate
                self.arguments[id(f._storage)] = k, f

    @property
    def dtypes(self) -> list[dtype]:
        """Returns the dtypes of the arguments."""
        return [f._dtype for _, f in self.arguments.values()]

    @property
    def _is_here(self) -> bool:
        return get_ident() == self.thread

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        if self._is_here:
            places = [self._place(x) for x in tensors]
            # Later calls find the weights of convolutions packed.
            packs = any(step.key.skeleton in PACKING for step in launch.steps)
            if launch.bound is None or None in places or packs:
                self.is_refused = True
            else:
                self.launches.append(
                    RecordedLaunch(launch, tuple([p for p in places if p is not None]), tuple(scalars))
                )
        super().launch(launch, stream, tensors, scalars)

    def _place(self, x: Tensor) -> Place | None:
        number = id(x._storage)
        index = self.new_indices.get(number)
        if index is not None and self.new[index]() is x._storage:
            return Place(False, index, x._offset)
        k, f = self.arguments.get(number, (0, None))
        # A tensor that reads memory as another dtype counts offsets in other elements.
        return Place(True, k, x._offset - f._offset) if f is not None and f._dtype is x._dtype else None

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        storage = super().allocate(backend, nbytes, stream, lasting)
        if self._is_here:
            self.is_refused |= lasting
            self.new_indices[id(storage)] = len(self.new)
            self.new.append(ref(storage))
            self.sizes.append(nbytes)
        return storage

    def _refuse(self) -> None:
        self.is_refused |= self._is_here

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self._refuse()
        super().upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self._refuse()
        super().download(storage, byte_offset, array)

    def read(self, storage: Storage) -> None:
        self._refuse()
        super().read(storage)

    def reshaped(self, tensor: Tensor) -> None:
        self._refuse()
        super().reshaped(tensor)

    def start_read(self, tensor: Tensor, multiple: int) -> None:
        self._refuse()
        super().start_read(tensor, multiple)


NOT_RUN: Any = object()  # what a prepared op returns if it has done nothing


class PreparedOp(NamedTuple):
    """An entry of the table of launches. `call(t0, s0, t1, s1, ...)` takes torch's tensors (or lists of
    tensors) and their storages, and returns the result; NOT_RUN if the call needs the function: an
    observer is active, or memory is of other streams, is read-only or overlaps."""

    call: Callable[..., Any]
    bound: tuple[Bound, ...]  # keeps the geometry buffers

    @property
    def kept_bytes(self) -> int:
        """Returns the approximate host memory of the entry in bytes."""
        return LAUNCH_BYTES + STEP_BYTES * len(self.bound)


def _refused(*_: Any) -> Any:
    return NOT_RUN


REFUSED = PreparedOp(_refused, ())  # for arguments whose call can't be prepared


class _Code:
    """The code of a prepared op: the lines that call its kernels, and the values of their names.

    `s0`, `s1` are storages of arguments, `m0`, `m1` those that the op allocates.
    """

    def __init__(self, launches: Sequence[RecordedLaunch]) -> None:
        self.values: dict[str, Any] = {}
        self.bound: list[Bound] = []
        self.steps: list[str] = []
        self.temporaries: dict[str, int] = {}  # bytes by name
        self.written: set[int] = set()  # arguments
        for recorded in launches:
            self._add(recorded)

    def _add(self, recorded: RecordedLaunch) -> None:
        launch, places, _ = recorded
        storages = [f"{'s' if p.is_argument else 'm'}{p.number}" for p in places]
        for nbytes in launch.temporaries:
            storages.append(f"p{len(self.temporaries)}")
            self.temporaries[storages[-1]] = nbytes
        self.written |= {places[k].number for k in launch.written if places[k].is_argument}
        assert launch.bound is not None
        for step, bound in zip(launch.steps, launch.bound):
            self._add_step(step, bound, recorded, storages)

    def _add_step(self, step: Step, bound: Bound, recorded: RecordedLaunch, storages: Sequence[str]) -> None:
        name = f"k{len(self.bound)}"
        self.bound.append(bound)
        words = [f"{storages[k]}.handle" for k in step.pointers]
        for i, k in enumerate(step.offsets):
            place = None if k is None else recorded.places[k]
            offset = (0 if step.moved is None else step.moved[i]) + (0 if place is None else place.offset)
            start = f"o{place.number} + " if place is not None and place.is_argument else ""
            words.append(start + self._named(f"{name}_{i}", offset))
        scalars = recorded.scalars if step.scalars else ()
        if isinstance(step.scalars, tuple):
            scalars = scalars[slice(*step.scalars)]
        words += [self._named(f"{name}_s{i}", x) for i, x in enumerate(scalars)]
        words += [f"{storages[k]}.handle" for k in step.after]
        last = step.n if bound.table is None else bound.table.handle
        words += [] if last is None else [self._named(f"{name}_last", last)]
        kernel, units = self._named(name, bound.kernel), self._named(f"{name}_units", step.units)
        self.steps.append(f"{kernel}(stream, {units}, {', '.join(words)})")

    def _named(self, name: str, value: Any) -> str:
        self.values[name] = value
        return name


def _lines(observer: OpObserver, code: _Code, tensors: Sequence[torch.Tensor | None], result: Any) -> list[str] | None:
    """Returns the lines of a prepared op; None if the result is neither an argument nor new memory."""
    results = _results(observer, tensors, result, code.values)
    if results is None:
        return None
    made, returned = results
    text = "\n".join([*code.steps, *made])
    new = {f"m{k}": nbytes for k, nbytes in enumerate(observer.sizes) if re.search(rf"\bm{k}\b", text)}
    new |= code.temporaries
    code.values |= {f"{name}_bytes": nbytes for name, nbytes in new.items()}
    arguments = [k for k, t in enumerate(tensors) if t is not None]
    lines = _checks(arguments, sorted(code.written))
    lines += [f"{name} = take({name}_bytes, stream)" for name in new]
    lines += [f"{name}.device = device" for name in new]
    lines += [f"o{k} = t{k}.storage_offset()" for k in arguments if re.search(rf"\bo{k}\b", text)]
    changed = [f"s{k}.bounds = s{k}.derived = None" for k in sorted(code.written)]
    lines += [*changed, *code.steps, *changed]  # again: another thread may have read the memory before the write
    # Memory that other code sees must be up to date when the call returns.
    lines.append(f"if {' or '.join(f's{k}.visible' for k in arguments)}: stream.finish()")
    return [*lines, *made, f"return {returned}"]


def _checks(arguments: Sequence[int], written: Sequence[int]) -> list[str]:
    first, *others = arguments
    failures = [f"backend.executor is not None or s{first}.stream is not stream or s{first}.users is not None"]
    for k in others:
        failures.append(f"s{k}.stream is not stream or s{k}.users is not None or s{k}.device is not device")
    failures += [f"s{k}.readonly" for k in written]
    if written and len(arguments) > MAX_COMPARED:
        failures.append(f"len({{{', '.join(f's{k}' for k in arguments)}}}) < {len(arguments)}")
    else:
        failures += [f"s{k} is s{i}" for k in written for i in arguments if i != k]
    if written and others:
        owned = " or ".join(f"s{k}.owner is not None" for k in arguments)
        names = [", ".join(f"s{k}" for k in ks) for ks in (written, arguments)]
        failures.append(f"({owned}) and overlap(({names[0]},), ({names[1]},))")
    return [
        f"backend, device = s{first}.backend, s{first}.device",
        "stream = backend._current.stream",
        f"if {' or '.join(failures)}: return NOT_RUN",
        "take = backend.pool.take",
    ]


def _results(
    observer: OpObserver, tensors: Sequence[torch.Tensor | None], result: Any, values: dict[str, Any]
) -> tuple[list[str], str] | None:
    """Returns the lines that make the results, and the expression of the result."""
    several = isinstance(result, (tuple, list))
    lines: list[str] = []
    words: list[str] = []
    alive = set()
    for i, t in enumerate(result if several else (result,)):
        position = next((k for k, x in enumerate(tensors) if x is t and t is not None), None)
        if t is None:
            words.append("None")
        elif position is not None:
            words.append(f"t{position}")
        elif not isinstance(t, torch.Tensor):
            return None
        else:
            f = m.unwrap(t)
            k = observer.new_indices.get(id(f._storage))
            whole = not f._offset and f._storage.nbytes == f.numel() * f._dtype.itemsize
            if f._storage.bounds is not None:  # known to the host, for checks of indices
                return None
            if k is None or k in alive or not whole or not f.numel() or len(f._shape) > m.MAX_DIMS:
                return None
            alive.add(k)
            values |= {f"r{i}_key": f._key, f"r{i}_like": _without_storage(f)}
            lines += [
                f"_, slot, data = structures.by_key.get(r{i}_key) or structures.of(r{i}_like)",
                f"data.value = m{k}.ptr or address_of(m{k})",
                f"r{i} = from_dlpack(new_capsule(slot, b'dltensor', None))",
                f"untyped_storage(r{i})._ft = m{k}",
            ]
            words.append(f"r{i}")
    # Memory that lives on elsewhere is a value that later calls read.
    if {k for k, storage in enumerate(observer.new) if storage() is not None} != alive:
        return None
    text = ", ".join(words)
    returned = words[0] if not several else f"({text},)" if isinstance(result, tuple) else f"[{text}]"
    return ["structures = thread.structures"] * bool(lines) + lines, returned


def _without_storage(f: Tensor) -> Tensor:
    like = object.__new__(Tensor)
    like._shape, like._strides, like._dtype, like._key = f._shape, f._strides, f._dtype, f._key
    return like


_SCOPE = {
    "address_of": m.address_of, "from_dlpack": m.from_dlpack_capsule, "new_capsule": m.new_capsule,
    "NOT_RUN": NOT_RUN, "overlap": any_overlap, "thread": m.thread, "untyped_storage": untyped_storage,
}  # fmt: skip


@lru_cache(1 << 10)
def _compiled(text: str) -> FunctionType:
    scope: dict[str, Any] = dict(_SCOPE)
    exec(compile(text, "<ftensor prepared op>", "exec"), scope)
    return scope.pop("call")


# An argument of an op: a tensor, a list of tensors, or None in place of a tensor.
Argument: TypeAlias = torch.Tensor | Sequence[torch.Tensor] | None


def tensors_of(arguments: Sequence[Argument]) -> list[torch.Tensor | None]:
    """Returns the tensors of arguments, those of lists one by one."""
    return [t for a in arguments for t in (a if isinstance(a, (list, tuple)) else (a,))]


def prepare_op(observer: OpObserver, arguments: Sequence[Argument], result: Any) -> PreparedOp:
    """Returns the prepared op of an observed call; REFUSED if the call did more than its launches."""
    if observer.is_refused or not observer.launches:
        return REFUSED
    code = _Code(observer.launches)
    lines = _lines(observer, code, tensors_of(arguments), result)
    if lines is None or len(code.steps) > MAX_STEPS:
        return REFUSED
    names: list[str] = []
    unpacked: list[str] = []
    count = 0
    for i, argument in enumerate(arguments):
        if isinstance(argument, (list, tuple)):
            names += [f"T{i}", f"S{i}"]
            for kind in "ts" if argument else "":
                unpacked.append(f"{''.join(f'{kind}{count + k}, ' for k in range(len(argument)))} = {kind.upper()}{i}")
            count += len(argument)
        else:
            names += [f"t{count}", f"s{count}"]
            count += 1
    head = f"def call({', '.join([*names, *code.values])}, /):"
    function = _compiled("\n".join([head, *[f"    {line}" for line in (*unpacked, *lines)]]))
    call = FunctionType(function.__code__, function.__globals__, "call", tuple(code.values.values()))
    return PreparedOp(call, tuple(code.bound))
