"""A graph that is bound to its device: what a call of it runs, and what that gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from ..dtypes import dtype
from ..execute.index_check import within
from ..execute.launch import Launch, enqueue
from ..execute.numbers import values_of
from ..iterator.shape import Ints
from .guards import Guards, Held
from .node import CheckedIndices, DrawnNumber, Graph, ResultTensor, put_together
from .numbers import Free
from .signature import number_at

if TYPE_CHECKING:
    from weakref import ref

    from ..runtime.backend import Backend

_FLAT = {ResultTensor, type(None)}
ResultMaker = Callable[[Sequence[Tensor], Sequence[Tensor]], Tensor]


@dataclass(frozen=True)
class Lowered:
    """A graph that can run: with a call's tensors it is one launch, and gives the function's
    result."""

    graph: Graph
    backend: Backend
    launch: Launch | None  # None where there is nothing to do
    arguments: Ints  # which of the call's tensors kernels get
    seen: tuple[tuple[int, dtype], ...]  # of these, as another dtype
    held: tuple[Held, ...]  # and what the function found elsewhere
    numbers: tuple[Any, ...]
    drawn: tuple[tuple[int, dtype, DrawnNumber], ...]  # the places of those that are drawn
    written: Ints  # which of the call's tensors are written
    changed: tuple[Held, ...]  # and of what the function found elsewhere
    # What gives each tensor of the result; a number: that output as it is.
    parts: tuple[int | ResultMaker, ...]
    guards: Guards | None  # None where the signature holds all that was taken for granted
    owners: tuple[ref[Any], ...]  # without whom no call finds it
    # Which of a call's numbers may be others: where each lies in a signature, what it is rounded
    # to, and its places among the kernels' numbers.
    free: Free | None = None
    free_numbers: tuple[tuple[int, dtype | None, Ints], ...] = ()
    anew: bool = False  # whether each call tells them; else they are those of the traced call
    # Called with a call's tensors, of which those that are written may be, and its signature.
    run: Callable[[Sequence[Tensor], Sequence[Any]], Any] = field(init=False)
    _anew: Lowered | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "run", self._short() or self._run)

    @property
    def kept_bytes(self) -> int:
        """About what it takes of memory while it is kept."""
        return 1 << 12 if self.launch is None else (1 << 12) + self.launch.kept_bytes

    @property
    def dead(self) -> bool:
        """Whether it is of no use any more."""
        gone = any(owner() is None for owner in self.owners)
        return gone or (self.guards is not None and self.guards.stale)

    def holds(self, tensors: Sequence[Tensor]) -> bool:
        """Whether it serves a call of its signature with these tensors."""
        return self.guards is None or self.guards.hold(tensors)

    def serves(self, signature: Sequence[Any]) -> bool:
        """Whether a call that differs in free numbers may be such a launch."""
        return self.free is not None and self.free.serve(signature, self.free_numbers)

    def renumbered(self) -> Lowered:
        """What is told the numbers of each call, made once."""
        if self._anew is None:
            launch = self.launch
            if launch is not None and self.free_numbers and not self.drawn:
                bound, launch = launch.bound, replace(launch, own_numbers=None)
                assert bound is not None
                launch.bind(bound)
            copy = replace(self, launch=launch, anew=bool(self.free_numbers))
            object.__setattr__(self, "_anew", copy)
        assert self._anew is not None
        return self._anew

    def _short(self) -> Callable[[Sequence[Tensor], Sequence[Any]], Any] | None:
        """`run` where the launch makes the result: a tensor, or a tuple of such and of None."""
        launch, result = self.launch, self.graph.result
        if launch is None or self.seen or self.held or self.graph.draws or self.written:
            return None
        if self.graph.checks or self.parts != tuple(range(len(launch.outputs))):
            return None
        call, enqueued = launch.call, self._enqueued
        arguments, own, numbers_of = self.arguments, self.numbers, self._with_call_numbers if self.anew else None
        single = isinstance(result, ResultTensor)
        whole: list[int | None] | None = None
        if not single:
            if type(result) is not tuple or any(type(x) not in _FLAT for x in result):
                return None
            order = iter(range(len(self.parts)))
            whole = [None if x is None else next(order) for x in result] if None in result else None

        def run(tensors: Sequence[Tensor], signature: Sequence[Any]) -> Any:
            inputs = [tensors[k] for k in arguments]
            numbers = own if numbers_of is None else numbers_of(signature)
            outputs = call(inputs, numbers, None) or enqueued(inputs, numbers)
            if single:
                return outputs[0]
            return outputs if whole is None else tuple([k if k is None else outputs[k] for k in whole])

        return run

    def _run(self, tensors: Sequence[Tensor], signature: Sequence[Any]) -> Any:
        outputs: tuple[Tensor, ...] = ()
        numbers: Sequence[Any] = self._with_call_numbers(signature) if self.anew else self.numbers
        numbers = self._drawn(numbers) if self.graph.draws else numbers
        if self.launch is not None:
            inputs = [tensors[k] for k in self.arguments]
            for k, of in self.seen:
                inputs.append(_seen_as(tensors[k], of))
            inputs += [of.whole() for of in self.held]
            changed = [*[of.storage for of in self.changed], *[tensors[k]._storage for k in self.written]]
            for storage in changed:
                storage.changed()
            called = self.launch.call(inputs, numbers, None)
            outputs = self._enqueued(inputs, numbers) if called is None else called
            for storage in changed:
                storage.changed()  # by then another thread may have read it
            if self.graph.checks:
                self._check(tensors)
        parts = [outputs[p] if isinstance(p, int) else p(outputs, tensors) for p in self.parts]
        result = self.graph.result
        return parts[0] if isinstance(result, ResultTensor) else put_together(result, parts)

    def _enqueued(self, inputs: Sequence[Tensor], numbers: Sequence[Any]) -> tuple[Tensor, ...]:
        """As `launch.call`, by the door."""
        assert self.launch is not None
        where = inputs[0]._storage.device
        outputs = tuple([out.make(self.backend, where) for out in self.launch.outputs])
        enqueue(self.launch, (*outputs, *inputs), numbers)
        return outputs

    def _with_call_numbers(self, signature: Sequence[Any]) -> list[Any]:
        """The kernels' numbers, with those of a call."""
        numbers = list(self.numbers)
        for place, of, places in self.free_numbers:
            number = number_at(signature, place)
            values = (number,) if of is None else values_of(number, of)
            for at in places:
                numbers[at : at + len(values)] = values
        return numbers

    def _drawn(self, own: Sequence[Any]) -> list[Any]:
        """The kernels' numbers, with those of new calls of the generators."""
        words = [draw.words(*draw.generator._call()) for draw in self.graph.draws]
        numbers = list(own)
        for place, of, number in self.drawn:
            (numbers[place],) = values_of(words[number.draw][number.part], of)
        return numbers

    def _check(self, tensors: Sequence[Tensor]) -> None:
        """Raise what kernels found about indices, the first call's first."""
        checks = [c for c in self.graph.checks if not self._certain(c, tensors)]
        if not checks:
            return
        self.backend.current_stream().finish()
        for check, bad in [(check, check.flag.taken()) for check in checks]:
            if bad is not None:
                which, index, size = bad
                raise check.refusal(index, check.dims[which], size)

    def _certain(self, check: CheckedIndices, tensors: Sequence[Tensor]) -> bool:
        """Whether a call's indices are known to be right."""
        for r, size, strict in check.indices:
            k = self.graph.memories[r.memory].argument
            if k is None or not within(tensors[k]._storage.bounds, r.dtype, size, strict):
                return False
        return bool(check.indices)


def _seen_as(t: Tensor, of: dtype) -> Tensor:
    """The tensor's start as one of another dtype."""
    return Tensor._make(t._storage, of, (), (), t._offset * t._dtype.itemsize // of.itemsize)
