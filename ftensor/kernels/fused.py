"""Keys of fused kernels: a program of element functions between loads and stores."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import accumulate

from ..dtypes import dtype
from . import source
from .element_function import ElementFunction
from .holes import in_memory, lane, lane_type, streamed
from .key import LINEAR, Port
from .source import number

# Operands in memory that a kernel may have.
MOST_OPERANDS = 16
# As in position.h, of the vector from element i on.
_POSITION = "FT_CONVERT(long, FT_INDEX(i)) + (FT_VEC(long))(out0_offset)"


@dataclass(frozen=True)
class Call:
    """A unit on values: `takes` are the numbers of those for its tensor inputs, and `numbers` are
    the key's numbers that it takes: for its inputs by value, then for its params."""

    unit: ElementFunction
    takes: tuple[int, ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class FusedKey:
    """A kernel that computes `calls` and stores the values `gives`, one for each output.

    Ports are as `select.choose_map` gives kinds; how they are seen is the units' affair. A launch
    passes outputs, inputs, their offsets, `numbers`, and then n or the geometry, as for a
    `KernelKey`. `numbers` has the dtype that each is rounded to: the unit's compute dtype, whose
    scalars it is passed as, of a complex one its two parts.

    A unit that goes by position counts from the beginning of the first output's storage, so this
    must be fresh; only "fused_map" serves it.

    "fused_reduce_inner" and "fused_reduce_outer" have one fold among the calls: a unit with a
    reduction, whose numbers are real ones. What it takes is computed where elements are read, and
    what is computed from its results where these are written; an input may serve either. Lanes
    and geometry are those of the fold's own kernel, so that the order is: inputs of the first kind
    go as what is folded, those of the second as the results, SINGLE along rows. Of a fold in two
    stages the first gives its states, and the second takes these.

    "row_passes_inner" and "row_passes_outer" (fused.py) have any number of such folds, each in
    one stage, over rows that one geometry walks (`FoldGeometry`, of one split) in reduce_inner's or
    reduce_outer's way. Lanes and states side by side are those of the first fold. Along rows others
    keep their order if theirs are equal; across rows, all do. Outputs and inputs are of each
    element, or of a row, as are the folds' results and what is computed of these alone; `per_row`
    are the operands of a row by their place, outputs first; along rows these inputs are SINGLE.
    An output may hold other values for a while: no input may lie there but at the same elements.
    """

    name: str
    skeleton: str
    lanes: int
    outs: tuple[Port, ...]
    ins: tuple[Port, ...]
    calls: tuple[Call, ...]
    gives: tuple[int, ...]
    numbers: tuple[dtype, ...] = ()
    per_row: tuple[int, ...] = ()

    @cached_property
    def entry(self) -> str:
        """The kernel's name in the program: what it is called, and a digest of all of it."""
        digest = sha256(repr(self).encode()).hexdigest()[:12]
        return f"ft_{self.name}_{self.skeleton}_{digest}"

    @cached_property
    def units(self) -> dict[ElementFunction, int]:
        """The different units that are called, each with its place among them."""
        return {unit: k for k, unit in enumerate(dict.fromkeys(c.unit for c in self.calls))}

    @cached_property
    def dtypes(self) -> tuple[dtype, ...]:
        """That of each value."""
        outputs = (of for call in self.calls for of, _ in call.unit.outs)
        return (*(p.dtype for p in self.ins), *outputs)

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first value that each call gives."""
        counts = [len(call.unit.outs) for call in self.calls[:-1]]
        return tuple(accumulate(counts, initial=len(self.ins)))

    def first(self, k: int) -> int:
        """The number of the first value that call k gives."""
        return self.firsts[k]

    @cached_property
    def taken(self) -> frozenset[int]:
        """The values that calls take."""
        return frozenset(v for call in self.calls for v in call.takes)


def kernel_name(calls: Iterable[Call]) -> str:
    """The name of a kernel of these calls: some of the ops that it computes."""
    names = dict.fromkeys(call.unit.name.removesuffix("_whole") for call in calls)
    return "_".join(list(names)[:3])


def producers(key: FusedKey, values: Iterable[int], stop: Iterable[int] = ()) -> tuple[list[int], list[int]]:
    """The inputs and the calls that values are computed from, up to the results of folds and the
    values `stop`."""
    inputs: set[int] = set()
    calls: set[int] = set()
    left, stopped = list(values), set(stop)
    while left:
        v = left.pop()
        k = bisect_right(key.firsts, v) - 1
        if v in stopped:
            continue
        if k < 0:
            inputs.add(v)
        elif k not in calls and key.calls[k].unit.reduction is None:
            calls.add(k)
            left += key.calls[k].takes
    return sorted(inputs), sorted(calls)


def check(key: FusedKey) -> None:
    """AssertionError for a key that is no program."""
    assert len(key.outs) + len(key.ins) <= MOST_OPERANDS, key
    dtypes = key.dtypes
    for k, call in enumerate(key.calls):
        takes = [of for of, _ in call.unit.ins if of is not None]
        assert [dtypes[v] for v in call.takes] == takes, (key.name, k, call)
        assert all(v < key.first(k) for v in call.takes), (key.name, k, call)
        assert len(call.numbers) == call.unit.numbers, (key.name, k, call)
        assert not call.unit.positional or key.skeleton == "fused_map", (key.name, k, call)
    folds = [call for call in key.calls if call.unit.reduction is not None]
    if key.skeleton.startswith("fused"):
        assert len(folds) == key.skeleton.startswith("fused_reduce"), key
    assert tuple(dtypes[v] for v in key.gives) == tuple(p.dtype for p in key.outs), key


def input_names(key: FusedKey) -> list[tuple[str, Port]]:
    """The inputs by their names."""
    return [(f"in_{k}", p) for k, p in enumerate(key.ins)]


def parameters(key: FusedKey) -> list[tuple[str, str, str]]:
    """What a launch passes, as `parameters.parameters`, without n or the geometry."""
    outs = [(f"out{k}", "FT_GLOBAL", p) for k, p in enumerate(key.outs)]
    pointers = [*outs, *((name, "FT_GLOBAL const", p) for name, p in input_names(key))]
    params = [("*", f"{of} {source.MEMORY[p.dtype.name]} *", name) for name, of, p in pointers]
    params += [("long", "long ", f"{name}_offset") for name, _, _ in pointers]
    for k, of in enumerate(key.numbers):
        params += number(f"n{k}", source.scalar(of), of.is_complex)
    return params


def unit_name(key: FusedKey, unit: ElementFunction) -> str:
    """The function of a unit."""
    return f"unit_{key.units[unit]}_{unit.name}"


def value_lines(key: FusedKey, values: Iterable[int], functions: Sequence[str], stop: Iterable[int] = ()) -> list[str]:
    """Lines that compute values from what was read, the results of folds and the values `stop`;
    `functions` are what the calls' units are called."""
    inputs, calls = producers(key, values, stop)
    lines = []
    for k in inputs:
        name, p = input_names(key)[k]
        lines.append(f"const {lane_type(p)} v{k} = {lane(f'w_{name}', p)};")
    for k in calls:
        position = [_POSITION] if key.calls[k].unit.positional else []
        lines += call_lines(key, k, functions[k], [*call_operands(key, k), *call_numbers(key, k), *position])
    return lines


def call_lines(key: FusedKey, k: int, function: str, passed: Sequence[str]) -> list[str]:
    """Lines that name what call k gives, as memory would hold it."""
    unit, first = key.calls[k].unit, key.first(k)
    gives = range(first, first + len(unit.outs))
    lines = [f"{lane_type(Port(of, LINEAR))} v{v};" for v, (of, _) in zip(gives, unit.outs)]
    lines.append(f"{function}({', '.join([*passed, *(f'&v{v}' for v in gives)])});")
    for v, (of, _) in zip(gives, unit.outs):
        lines += _round_to_memory(v, of) if v in key.taken else []
    return lines


def call_operands(key: FusedKey, k: int) -> list[str]:
    """What call k takes of values."""
    return [f"v{v}" for v in key.calls[k].takes]


def call_numbers(key: FusedKey, k: int) -> list[str]:
    """What call k takes of numbers."""
    parameters = [number(f"n{n}", "", key.numbers[n].is_complex) for n in key.calls[k].numbers]
    return [name for parts in parameters for _, _, name in parts]


def _round_to_memory(v: int, of: dtype) -> list[str]:
    """Lines that round a value as memory does; most are what memory holds."""
    if of.name not in source.HALVES:
        return []
    parts = (f"v{v}.re", f"v{v}.im") if of.is_complex else (f"v{v}",)
    return [f"{part} = FT_HALF_ROUNDED({part});" for part in parts]


def map_holes(key: FusedKey, rows: bool, functions: Sequence[str]) -> dict[str, list[str]]:
    """The words of map.h and rows.h, as `holes.holes`."""
    ins = input_names(key)
    common, results, reads, writes = in_memory(key.entry, parameters(key), key.outs, ins, rows)
    return common | {
        "FT_READ(i)": results + reads[False],
        "FT_READ_PART(i, m)": results + reads[True],
        "FT_RESULTS(count)": [streamed(len(key.outs), [name for name, _ in ins])],
        "FT_COMPUTE": value_lines(key, key.gives, functions) + store_lines(key),
        "FT_WRITE(i)": writes[False],
        "FT_WRITE_PART(i, m)": writes[True],
    }


def store_lines(key: FusedKey) -> list[str]:
    """Lines that put the values that are stored into the results."""
    return [f"FT_LANE(w_out{k}) = v{v};" for k, v in enumerate(key.gives)]


def fold_holes(key: FusedKey, functions: Sequence[str], result: str) -> dict[str, list[str]]:
    """The words of reduce_inner.h and reduce_outer.h, as `holes.holes`; `result` says of which
    element the result is, and how many follow it: "0, 1" or "i, m"."""
    fold = next(k for k, call in enumerate(key.calls) if call.unit.reduction is not None)
    ins = input_names(key)
    common, results, reads, writes = in_memory(key.entry, parameters(key), key.outs, ins, True)
    load, after = (producers(key, v)[0] for v in (key.calls[fold].takes, key.gives))
    lift = [*call_operands(key, fold), *call_numbers(key, fold), "position", "&lifted"]
    return common | {
        "FT_READ(i)": [reads[False][k] for k in load],
        "FT_READ_PART(i, m)": [reads[True][k] for k in load],
        "FT_LIFT(position)": [
            *value_lines(key, key.calls[fold].takes, functions),
            "FT_S lifted;",
            f"{functions[fold]}_lift({', '.join(lift)});",
        ],
        "FT_READ_AFTER(i, m)": [reads[True][k] for k in after],
        "FT_RESULT": [*results, f"FT_READ_AFTER({result})"],
        "FT_FINISH(folded)": [
            *call_lines(key, fold, f"{functions[fold]}_finish", ["folded", *call_numbers(key, fold)]),
            *value_lines(key, key.gives, functions),
            *store_lines(key),
        ],
        "FT_WRITE(i, m)": writes[True],
    }


# A call of what takes longer than its result takes to be kept; others are computed again.
_COSTLY = re.compile(r"\b(?!ft_(?:max|min|abs|where|is\w+)\b|K\b|FT_)[a-z]\w*\(")


@dataclass(frozen=True)
class Pass:
    """`folds` are calls, `stores` pairs of an output and an element's value, `ready` pairs of such
    a value and the output where an earlier pass has left it, `rows` the calls on rows behind the
    folds."""

    folds: tuple[int, ...]
    stores: tuple[tuple[int, int], ...]
    ready: tuple[tuple[int, int], ...]
    rows: tuple[int, ...]


class Passes:
    """The passes of a key."""

    def __init__(self, key: FusedKey) -> None:
        self.key = key
        # Of each value: whether it is a row's, and how many passes must be over before it is there.
        self.row = [len(key.outs) + k in key.per_row for k in range(len(key.ins))]
        self.level = [0] * len(key.ins)
        for call in key.calls:
            level = max((self.level[v] for v in call.takes), default=0)
            folds = call.unit.reduction is not None
            row = folds or all(self.row[v] for v in call.takes)
            self.row += [row] * len(call.unit.outs)
            self.level += [level + folds] * len(call.unit.outs)

    @cached_property
    def in_order(self) -> tuple[Pass, ...]:
        """In order."""
        key = self.key
        of = [self.level[key.first(k)] for k in range(len(key.calls))]
        elements = {k: v for k, v in enumerate(key.gives) if k not in key.per_row}
        when = {k: self.level[v] + 1 for k, v in elements.items()}
        last = max([*of, *when.values()], default=0)
        while True:
            passes = []
            for n in range(1, last + 1):
                mine = [k for k, level in enumerate(of) if level == n]
                folds = [k for k in mine if key.calls[k].unit.reduction is not None]
                rows = [k for k in mine if k not in folds and self.row[key.first(k)]]
                stores = [(k, v) for k, v in elements.items() if when[k] == n]
                passes.append(Pass(tuple(folds), tuple(stores), (), tuple(rows)))
            early = [k for k, n in when.items() if any(self._reads_where(k, one) for one in passes[n:])]
            if not early:
                return self._keeping(passes)
            when |= dict.fromkeys(early, last)

    def needs(self, one: Pass) -> tuple[int, ...]:
        """The values of elements that a pass is for."""
        key = self.key
        return (*(v for k in one.folds for v in key.calls[k].takes), *(v for _, v in one.stores))

    def stop(self, one: Pass) -> tuple[int, ...]:
        """The values that a pass need not compute."""
        rows = [v for v, row in enumerate(self.row) if row and self.level[v]]
        return (*rows, *(v for v, _ in one.ready))

    def _keeping(self, passes: list[Pass]) -> tuple[Pass, ...]:
        """The passes with what takes long kept in outputs that are written later."""
        for n, one in enumerate(passes[:-1]):
            for k in producers(self.key, self.needs(one), self.stop(one))[1]:
                v, unit = self.key.first(k), self.key.calls[k].unit
                texts = (*unit.body, *(text for _, text in unit.lets))
                users = [m for m, p in enumerate(passes) if m > n and v in self._values(p)]
                if not users or not any(_COSTLY.search(text) for text in texts):
                    continue
                for out in self._free(passes, users[-1], v):
                    if any(self._reads_where(out, p, v) for p in passes[n + 1 :]):
                        continue
                    passes[n] = replace(passes[n], stores=(*passes[n].stores, (out, v)))
                    for m in users:
                        passes[m] = replace(passes[m], ready=(*passes[m].ready, (v, out)))
                    break
        return tuple(passes)

    def _free(self, passes: list[Pass], last: int, v: int) -> list[int]:
        """The outputs that could hold a value until a pass, which then may store there."""
        key = self.key
        held = {out for p in passes for _, out in p.ready}
        outs = [out for p in passes[last:] for out, _ in p.stores if out not in held]
        of = Port(key.dtypes[v], LINEAR)
        return [out for out in outs if replace(key.outs[out], sees=of.sees) == of]

    def _values(self, one: Pass) -> set[int]:
        """The values of elements that a pass computes or reads."""
        needs = self.needs(one)
        inputs, calls = producers(self.key, needs, self.stop(one))
        taken = {v for k in calls for v in self.key.calls[k].takes}
        return taken | set(inputs) | set(needs)

    def _reads_where(self, out: int, one: Pass, *kept: int) -> bool:
        """Whether a pass that need not compute `kept` reads an input that may lie where an output
        does."""
        key = self.key
        inputs, _ = producers(key, self.needs(one), (*self.stop(one), *kept))
        size = key.outs[out].dtype.itemsize
        return any(not self.row[k] and key.ins[k].dtype.itemsize == size for k in inputs)
