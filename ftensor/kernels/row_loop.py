"""Loops with feedback as dataflow stages: a step's calls on the elements of rows, one after another."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import dtype
from .element_function import ElementFunction
from .fused import Call
from .key import VALUE


@dataclass(frozen=True)
class RowLoop(ElementFunction):
    """Loop with feedback over the elements of all rows of a launch, which are one signal; with several
    `signals`, a row is a step, with an element of each. The first
    inputs are the initial states, the first outputs the states after the last step; the others have
    an element for each step. A step has `calls`, whose values are numbered as a key's: the inputs,
    then the calls' outputs. It returns the values `results`, and takes parameters of the dtypes
    `numbers`. The body is empty, since a result depends on all elements before it.
    """

    calls: tuple[Call, ...] = ()
    results: tuple[int, ...] = ()
    numbers: tuple[dtype, ...] = ()
    states: int = 0
    signals: int = 1

    @property
    def passed_dtypes(self) -> tuple[dtype, ...]:
        return self.numbers


def row_loop(
    ins: tuple[dtype, ...], calls: tuple[Call, ...], results: tuple[int, ...], numbers: tuple[dtype, ...], states: int
) -> RowLoop:
    """Returns the loop whose inputs have these dtypes, the states first."""
    values = [*ins, *(d for call in calls for d, _ in call.function.outs)]
    computes = [call.function.compute for call in calls] or [ins[0].compute]
    return RowLoop(
        "scan",
        max(computes, key=lambda d: d.itemsize),
        tuple((values[v], VALUE) for v in results),
        tuple((d, VALUE) for d in ins),
        (),
        tuple(f"n{k}" for k in range(len(numbers))),
        calls=calls,
        results=results,
        numbers=numbers,
        states=states,
    )
