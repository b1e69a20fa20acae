"""Units: a row as a function from elements, as they are read, to elements, as they are written.

A unit has no layout. What it takes and gives are values of a register: those of float16 are floats
that a half holds, those of bfloat16 and float8 their bits, a bool is 0 or 1, complex numbers are
pairs. So what one unit gives another takes as if it had been in memory between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..dtypes import dtype
from . import ctype, reduction
from .holes import inputs, lane_type, output, parameter_values
from .key import BY_VALUE, INDEX, LINEAR, KernelKey, Port, Reduction
from .parameters import NAMES, numbers
from .source import positional

_LANE = re.compile(r"FT_LANE\(w_(\w+)\)")
# Compilers make one call of the sine and the cosine of an angle, which of doubles gives other last
# bits than each alone; not where one of them is in a function that is called.
_ANGLE = re.compile(r"\bft_(?:sin|cos)\(")


@dataclass(frozen=True)
class Unit:
    """What a key computes of each element: dtypes and how the expression sees them (`key.Port`).

    An input without a dtype is a number that is passed by value. With a `reduction` the unit is a
    fold: its inputs are lifted, and `body` says what becomes of the folded state.
    """

    name: str
    compute: dtype
    outs: tuple[tuple[dtype, str], ...]
    ins: tuple[tuple[dtype | None, str], ...]
    body: tuple[str, ...]
    params: tuple[str, ...] = ()
    lets: tuple[tuple[str, str], ...] = ()
    reduction: Reduction | None = None

    @property
    def tensors(self) -> int:
        """How many of the inputs are no numbers."""
        return sum(of is not None for of, _ in self.ins)

    @property
    def numbers(self) -> int:
        """How many numbers it takes: what is passed by value, then the op's own."""
        return len(self.ins) - self.tensors + len(self.params)

    @property
    def passed(self) -> dtype:
        """What its numbers are passed as."""
        return self.compute.to_real() if self.reduction else self.compute

    @property
    def positional(self) -> bool:
        """Whether it goes by where an element is."""
        return positional(self.body, self.lets)

    def key(self, lanes: int = 1) -> KernelKey:
        """The key of this op with all operands in line."""
        outs = tuple(Port(of, LINEAR, sees) for of, sees in self.outs)
        ins = tuple(
            Port(self.compute, BY_VALUE, sees) if of is None else Port(of, LINEAR, sees) for of, sees in self.ins
        )
        return KernelKey(
            self.name, "map", self.compute, lanes, outs, ins, self.body, self.params, self.lets, self.reduction
        )


def unit_of(key: KernelKey) -> Unit:
    """What a key computes, without its layout. ValueError for one whose operands indices find."""
    if any(p.sees == INDEX for p in key.ins):
        raise ValueError(f"{key.name} finds elements by indices, which no unit does")
    ins = tuple((None if p.kind == BY_VALUE else p.dtype, p.sees) for p in key.ins)
    return Unit(
        key.name,
        key.compute,
        tuple((p.dtype, p.sees) for p in key.outs),
        ins,
        key.body,
        key.params,
        key.lets,
        key.reduction,
    )


def in_line(key: KernelKey) -> KernelKey:
    """The key as if all operands were lane vectors: how they were addressed is another matter."""
    ports = tuple(p if p.kind == BY_VALUE else replace(p, kind=LINEAR) for p in key.ins)
    return replace(key, ins=ports)


def function(unit: Unit, name: str) -> str:
    """The unit as a function of one lane (or of all of them at once), in words of the dialects.

    Its parameters are the tensors' elements, the numbers, the position of a unit that goes by it,
    and where the results go.
    """
    key = unit.key()
    lets = [f"const FT_V {of} = {text};" for of, text in key.lets]
    results = [line for k, p in enumerate(key.outs) for line in output(key, k, p, key.body[k])]
    takes = _takes(key)
    if unit.positional:
        takes.append("const FT_VEC(long) position")
    lines = [*inputs(key), *lets, *results]
    called = ctype.scalar(key.compute) == "double" and _ANGLE.search(" ".join(lines))
    return _text(name, takes + _gives(key), lines, "FT_CALLED" if called else "FT_FN_ONCE")


def unit_text(unit: Unit, name: str) -> str:
    """The functions of a unit, one of elements or of a fold."""
    return "\n".join(fold_functions(unit, name)) if unit.reduction else function(unit, name)


def fold_functions(unit: Unit, name: str) -> tuple[str, ...]:
    """A fold's words for its state, and the functions NAME_lift, from elements to a state of them,
    and NAME_finish, from the folded state to the results."""
    key = unit.key()
    lets = [f"const FT_V {of} = {text};" for of, text in key.lets]
    results = [line for k, p in enumerate(key.outs) for line in output(key, k, p, key.body[k])]
    lifting = [*inputs(key), *lets, *reduction.lift(key), "*state = lifted;"]
    lift = [*_takes(key), "const FT_I position", "FT_S *state"]
    words = [c + of for _, c, of in numbers(key)]
    finishing = [*reduction.state_outputs(key), *parameter_values(key), *results]
    return (
        reduction.state_words(key),
        _text(f"{name}_lift", lift, lifting),
        _text(f"{name}_finish", ["const FT_S state", *words, *_gives(key)], finishing),
    )


def _takes(key: KernelKey) -> list[str]:
    takes = [f"const {lane_type(p)} w_in_{NAMES[k]}" for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
    return takes + [c + of for _, c, of in numbers(key)]


def _gives(key: KernelKey) -> list[str]:
    return [f"{lane_type(p)} *w_out{k}" for k, p in enumerate(key.outs)]


def _text(name: str, takes: list[str], lines: list[str], kind: str = "FT_FN_ONCE") -> str:
    """A function; the lanes of vectors become its parameters."""
    body = "\n".join(f"    {line}" for line in lines)
    body = body.replace("FT_POSITION", "position")
    body = _LANE.sub(lambda m: f"*w_{m[1]}" if m[1].startswith("out") else f"w_{m[1]}", body)
    return f"{kind} void {name}({', '.join(takes)})\n{{\n{body}\n}}"
