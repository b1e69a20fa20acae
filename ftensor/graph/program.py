"""What a cluster computes: calls of units on numbered values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dtypes import dtype
from ..iterator.shape import Ints
from ..kernels import costs
from ..kernels.fused import Call, FusedKey, name_of
from ..kernels.key import Port
from .cluster import PointCall
from .point import Place


@dataclass
class Program:
    """Calls with the numbers of values and of Python numbers, from inputs to what is stored."""

    inputs: list[Place]
    calls: list[Call]
    gives: Ints
    numbers: list[Any]
    rounded: list[dtype]
    passed: list[dtype]  # what each number is passed as

    @property
    def name(self) -> str:
        """Of the kernel: some of what it computes."""
        return name_of(self.calls)

    @property
    def additions(self) -> int:
        """About how many additions take as long as it does for an element."""
        units = [c.unit for c in self.calls]
        return costs.additions([t for u in units for t in (*u.body, *[text for _, text in u.lets])])

    @property
    def arguments(self) -> int:
        """How many arguments its numbers are."""
        return sum(2 if d.is_complex else 1 for d in self.passed)

    def key(
        self, skeleton: str, lanes: int, dtypes: Sequence[dtype], kinds: Sequence[str], outputs: int, per_row: Ints = ()
    ) -> FusedKey:
        """Its kernel, of operands of these dtypes and kinds, so many `outputs` first."""
        ports = tuple([Port(d, kind) for d, kind in zip(dtypes, kinds, strict=True)])
        return FusedKey(
            self.name,
            skeleton,
            lanes,
            ports[:outputs],
            ports[outputs:],
            tuple(self.calls),
            self.gives,
            tuple(self.passed),
            per_row,
        )


def needed(calls: Sequence[PointCall], wanted: Sequence[int]) -> list[PointCall]:
    """The calls that some results need."""
    alive, kept = set(wanted), []
    for call in reversed(calls):
        if alive & set(call.gives):
            alive |= {t for t in call.takes if isinstance(t, int)}
            kept.append(call)
    return kept[::-1]


def program(calls: Sequence[PointCall], wanted: Sequence[int]) -> Program:
    """The program of the calls that some results need."""
    kept = needed(calls, wanted)
    inputs = list(dict.fromkeys(t for c in kept for t in c.takes if isinstance(t, Place)))
    value: dict[Place | int, int] = {p: k for k, p in enumerate(inputs)}
    whole = Program(inputs, [], (), [], [], [])
    count = len(inputs)
    for c in kept:
        unit, first = c.point.unit, len(whole.numbers)
        takes = tuple([value[t] for t in c.takes])
        whole.calls.append(Call(unit, takes, tuple(range(first, first + unit.numbers))))
        whole.numbers += c.point.numbers
        whole.rounded += c.point.rounded
        whole.passed += [unit.passed] * unit.numbers
        for k, result in enumerate(c.gives):
            value[result] = count + k
        count += len(c.gives)
    whole.gives = tuple([value[k] for k in wanted])
    return whole
