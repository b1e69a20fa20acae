"""Keys of fused kernels: element functions between loads and stores."""

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
from .holes import lane, lane_type, memory_holes, result_hole
from .key import LINEAR, Port
from .source import scalar_parameter

# Most operands in memory of a kernel.
MAX_OPERANDS = 16
# The positions of the vector from element i on, as in position.h.
_POSITION = "FT_CONVERT(long, FT_INDEX(i)) + (FT_VEC(long))(out0_offset)"


@dataclass(frozen=True)
class Call:
    """Call of an element function. `operands` are the indices of the values that are its tensor
    inputs; `scalars` are the indices of the key's scalars for its scalar inputs, then for its
    parameters."""

    function: ElementFunction
    operands: tuple[int, ...]
    scalars: tuple[int, ...] = ()


@dataclass(frozen=True)
class FusedKey:
    """A kernel that computes `calls` and stores the values `results`, one for each output.

    The ports have the access kinds of `select.choose_map`; the functions determine `Port.sees`. The
    kernel arguments are outputs, inputs, their offsets, `scalar_dtypes`, and then n or the geometry
    buffer, as for a `KernelKey`. `scalar_dtypes` has the dtype that each scalar is rounded to: the function's
    compute dtype, which is also the argument's type. A complex scalar is two arguments.

    A positional function counts from the beginning of the first output's storage, so the first output
    must be fresh. Only "fused_map" accepts positional functions.

    "fused_reduce_inner" and "fused_reduce_outer" have one fold among the calls: a function with a
    reduction and real scalars. The kernel computes the operands of the fold as it reads elements,
    and the epilogue as it writes results; each may read inputs. Lanes and geometry are those of the
    fold's own kernel, so that the order of the fold is the same. Inputs before the fold have the
    access of the folded input; inputs of the epilogue have the access of the results, SINGLE along
    rows. If a fold has two stages, the first stage writes states and the second reads states.

    "row_passes_inner" and "row_passes_outer" (fused.py) have any number of folds, each in one
    stage, over the rows of one geometry (`FoldGeometry` with one split), accessed as in
    reduce_inner or reduce_outer. The first fold determines lanes and parallel states. Along rows,
    another fold keeps its order if its lanes and states are equal; across rows, all folds do.
    Operands have one value per element or one value per row. Fold results, and values that depend
    on per-row values alone, are per row. `per_row` are the indices of the per-row operands, outputs
    first; along rows, per-row inputs are SINGLE. An output may hold intermediate values between
    passes, so an input may share its memory only at the same elements.
    """

    name: str
    skeleton: str
    lanes: int
    outs: tuple[Port, ...]
    ins: tuple[Port, ...]
    calls: tuple[Call, ...]
    results: tuple[int, ...]
    scalar_dtypes: tuple[dtype, ...] = ()
    per_row: tuple[int, ...] = ()

    @cached_property
    def entry(self) -> str:
        """The kernel's name in the program: name, skeleton, and a digest of the key."""
        digest = sha256(repr(self).encode()).hexdigest()[:12]
        return f"ft_{self.name}_{self.skeleton}_{digest}"

    @cached_property
    def functions(self) -> dict[ElementFunction, int]:
        """The index of each distinct element function among the calls."""
        return {function: k for k, function in enumerate(dict.fromkeys(c.function for c in self.calls))}

    @cached_property
    def dtypes(self) -> tuple[dtype, ...]:
        """The dtype of each value: inputs, then the outputs of the calls."""
        outputs = (dtype for call in self.calls for dtype, _ in call.function.outs)
        return (*(p.dtype for p in self.ins), *outputs)

    @cached_property
    def first_values(self) -> tuple[int, ...]:
        """The index of each call's first output value."""
        counts = [len(call.function.outs) for call in self.calls[:-1]]
        return tuple(accumulate(counts, initial=len(self.ins)))

    def first_value(self, k: int) -> int:
        """Returns the index of the first output value of call k."""
        return self.first_values[k]

    def results_of_call(self, k: int) -> range:
        """Returns the values that call k computes."""
        first = self.first_values[k]
        return range(first, first + len(self.calls[k].function.outs))

    @cached_property
    def call_operands(self) -> frozenset[int]:
        """The values that are operands of calls."""
        return frozenset(v for call in self.calls for v in call.operands)


def kernel_name(calls: Iterable[Call]) -> str:
    """Returns the name of a kernel with these calls: the first three distinct ops."""
    names = dict.fromkeys(call.function.name.removesuffix("_whole") for call in calls)
    return "_".join(list(names)[:3])


def producers(key: FusedKey, values: Iterable[int], boundary: Iterable[int] = ()) -> tuple[list[int], list[int]]:
    """Returns the sorted indices of the inputs and of the calls that `values` depend on. The search
    stops at fold results and at the values `boundary`."""
    inputs: set[int] = set()
    calls: set[int] = set()
    pending, boundary = list(values), set(boundary)
    while pending:
        v = pending.pop()
        k = bisect_right(key.first_values, v) - 1
        if v in boundary:
            continue
        if k < 0:
            inputs.add(v)
        elif k not in calls and key.calls[k].function.reduction is None:
            calls.add(k)
            pending += key.calls[k].operands
    return sorted(inputs), sorted(calls)


def check(key: FusedKey) -> None:
    """Raises AssertionError if the key is inconsistent."""
    assert len(key.outs) + len(key.ins) <= MAX_OPERANDS, key
    dtypes = key.dtypes
    for k, call in enumerate(key.calls):
        operand_dtypes = [dtype for dtype, _ in call.function.ins if dtype is not None]
        assert [dtypes[v] for v in call.operands] == operand_dtypes, (key.name, k, call)
        assert all(v < key.first_value(k) for v in call.operands), (key.name, k, call)
        assert len(call.scalars) == call.function.scalar_count, (key.name, k, call)
        assert not call.function.positional or key.skeleton == "fused_map", (key.name, k, call)
    folds = [call for call in key.calls if call.function.reduction is not None]
    if key.skeleton.startswith("fused"):
        assert len(folds) == key.skeleton.startswith("fused_reduce"), key
    assert tuple(dtypes[v] for v in key.results) == tuple(p.dtype for p in key.outs), key


def input_names(key: FusedKey) -> list[tuple[str, Port]]:
    """Returns (name, port) of each input."""
    return [(f"in_{k}", p) for k, p in enumerate(key.ins)]


def parameters(key: FusedKey, memory: str = "FT_GLOBAL ") -> list[tuple[str, str, str]]:
    """Returns the kernel parameters as `source.parameters` does, without n or the geometry. The types of
    pointers begin with `memory`."""
    outs = [(f"out{k}", memory, p) for k, p in enumerate(key.outs)]
    pointers = [*outs, *((name, f"{memory}const ", p) for name, p in input_names(key))]
    params = [("*", f"{of}{source.MEMORY[p.dtype.name]} *", name) for name, of, p in pointers]
    params += [("long", "long ", f"{name}_offset") for name, _, _ in pointers]
    for k, d in enumerate(key.scalar_dtypes):
        params += scalar_parameter(f"n{k}", source.scalar(d), d.is_complex)
    return params


def function_name(key: FusedKey, function: ElementFunction) -> str:
    """Returns the C name of an element function."""
    return f"unit_{key.functions[function]}_{function.name}"


def value_lines(
    key: FusedKey, values: Iterable[int], functions: Sequence[str], boundary: Iterable[int] = ()
) -> list[str]:
    """Returns lines that compute `values` from loaded inputs, fold results and the values
    `boundary`. `functions` are the names of the calls' functions."""
    inputs, calls = producers(key, values, boundary)
    lines = []
    for k in inputs:
        name, p = input_names(key)[k]
        lines.append(f"const {lane_type(p)} v{k} = {lane(f'w_{name}', p)};")
    for k in calls:
        position = [_POSITION] if key.calls[k].function.positional else []
        lines += call_lines(key, k, functions[k], [*call_operands(key, k), *call_scalars(key, k), *position])
    return lines


def call_lines(key: FusedKey, k: int, name: str, arguments: Sequence[str]) -> list[str]:
    """Returns lines that declare and compute the outputs of call k, rounded as in memory."""
    function, first = key.calls[k].function, key.first_value(k)
    outputs = range(first, first + len(function.outs))
    lines = [f"{lane_type(Port(dtype, LINEAR))} v{v};" for v, (dtype, _) in zip(outputs, function.outs)]
    lines.append(f"{name}({', '.join([*arguments, *(f'&v{v}' for v in outputs)])});")
    for v, (d, _) in zip(outputs, function.outs):
        lines += round_to_memory(v, d) if v in key.call_operands else []
    return lines


def call_operands(key: FusedKey, k: int) -> list[str]:
    """Returns the names of the variables that hold the inputs of call k."""
    return [f"v{v}" for v in key.calls[k].operands]


def call_scalars(key: FusedKey, k: int) -> list[str]:
    """Returns the parameter names of the scalars that call k takes."""
    parameters = [scalar_parameter(f"n{n}", "", key.scalar_dtypes[n].is_complex) for n in key.calls[k].scalars]
    return [name for parts in parameters for _, _, name in parts]


def round_to_memory(v: int, dtype: dtype) -> list[str]:
    """Returns C lines that round the value `v` to the precision of `dtype`, as a store and a load
    would; [] if registers hold the dtype exactly."""
    if dtype.name not in source.HALF_DTYPES:
        return []
    parts = (f"v{v}.re", f"v{v}.im") if dtype.is_complex else (f"v{v}",)
    return [f"{part} = FT_HALF_ROUNDED({part});" for part in parts]


def map_holes(key: FusedKey, strided: bool, functions: Sequence[str]) -> dict[str, list[str]]:
    """Returns the macros of map.h and rows.h, in the form of `holes.hole_definitions`."""
    ins = input_names(key)
    common, results, reads, writes = memory_holes(key.entry, parameters(key), key.outs, ins, strided)
    return common | {
        "FT_READ(i)": results + reads[False],
        "FT_READ_PART(i, m)": results + reads[True],
        "FT_RESULTS(count)": [result_hole(len(key.outs), [name for name, _ in ins])],
        "FT_COMPUTE": value_lines(key, key.results, functions) + store_lines(key),
        "FT_WRITE(i)": writes[False],
        "FT_WRITE_PART(i, m)": writes[True],
    }


def store_lines(key: FusedKey) -> list[str]:
    """Returns lines that assign the stored values to the result vectors."""
    return [f"FT_LANE(w_out{k}) = v{v};" for k, v in enumerate(key.results)]


def fold_holes(key: FusedKey, functions: Sequence[str], result: str) -> dict[str, list[str]]:
    """Returns the macros of reduce_inner.h and reduce_outer.h, in the form of
    `holes.hole_definitions`. `result` is the macro arguments with which the epilogue reads its
    inputs, index and count: "0, 1" or "i, m"."""
    fold = next(k for k, call in enumerate(key.calls) if call.function.reduction is not None)
    ins = input_names(key)
    common, results, reads, writes = memory_holes(key.entry, parameters(key), key.outs, ins, True)
    fold_inputs, epilogue_inputs = (producers(key, v)[0] for v in (key.calls[fold].operands, key.results))
    lift = [*call_operands(key, fold), *call_scalars(key, fold), "position", "&lifted"]
    return common | {
        "FT_READ(i)": [reads[False][k] for k in fold_inputs],
        "FT_READ_PART(i, m)": [reads[True][k] for k in fold_inputs],
        "FT_LIFT(position)": [
            *value_lines(key, key.calls[fold].operands, functions),
            "FT_S lifted;",
            f"{functions[fold]}_lift({', '.join(lift)});",
        ],
        "FT_READ_AFTER(i, m)": [reads[True][k] for k in epilogue_inputs],
        "FT_RESULT": [*results, f"FT_READ_AFTER({result})"],
        "FT_FINISH(folded)": [
            *call_lines(key, fold, f"{functions[fold]}_finish", ["folded", *call_scalars(key, fold)]),
            *value_lines(key, key.results, functions),
            *store_lines(key),
        ],
        "FT_WRITE(i, m)": writes[True],
    }


# Calls that take longer than a store and a load of their result; other values are recomputed.
_COSTLY = re.compile(r"\b(?!ft_(?:max|min|abs|where|is\w+)\b|K\b|FT_)[a-z]\w*\(")


@dataclass(frozen=True)
class Pass:
    """One pass over the rows, by indices of calls, values and outputs.

    folds: the calls that fold the row
    stores: (output, per-element value) of each store
    stored_values: (value, output) of each value that an earlier pass stored in an output
    row_calls: the calls on per-row values that follow the folds
    """

    folds: tuple[int, ...]
    stores: tuple[tuple[int, int], ...]
    stored_values: tuple[tuple[int, int], ...]
    row_calls: tuple[int, ...]


class Passes:
    """The passes of a "row_passes" key."""

    def __init__(self, key: FusedKey) -> None:
        self.key = key
        # Per value: True if it is per row; the passes that must end before the value is available.
        self.is_per_row = [len(key.outs) + k in key.per_row for k in range(len(key.ins))]
        self.levels = [0] * len(key.ins)
        for call in key.calls:
            level = max((self.levels[v] for v in call.operands), default=0)
            is_fold = call.function.reduction is not None
            per_row = is_fold or all(self.is_per_row[v] for v in call.operands)
            self.is_per_row += [per_row] * len(call.function.outs)
            self.levels += [level + is_fold] * len(call.function.outs)

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """The passes in execution order."""
        key = self.key
        call_level = [self.levels[key.first_value(k)] for k in range(len(key.calls))]
        element_results = {k: v for k, v in enumerate(key.results) if k not in key.per_row}
        store_pass = {k: self.levels[v] + 1 for k, v in element_results.items()}
        last = max([*call_level, *store_pass.values()], default=0)
        while True:
            passes = []
            for n in range(1, last + 1):
                calls = [k for k, level in enumerate(call_level) if level == n]
                folds = [k for k in calls if key.calls[k].function.reduction is not None]
                row_calls = [k for k in calls if k not in folds and self.is_per_row[key.first_value(k)]]
                stores = [(k, v) for k, v in element_results.items() if store_pass[k] == n]
                passes.append(Pass(tuple(folds), tuple(stores), (), tuple(row_calls)))
            too_early = [
                k for k, n in store_pass.items() if any(self._may_read_output(k, later) for later in passes[n:])
            ]
            if not too_early:
                return self._with_stored_values(passes)
            store_pass |= dict.fromkeys(too_early, last)

    def element_values(self, row_pass: Pass) -> tuple[int, ...]:
        """Returns the per-element values that a pass folds or stores."""
        key = self.key
        return (*(v for k in row_pass.folds for v in key.calls[k].operands), *(v for _, v in row_pass.stores))

    def already_computed(self, row_pass: Pass) -> tuple[int, ...]:
        """Returns the values that a pass reads instead of computing: per-row values that depend on
        a fold, and values that an earlier pass stored."""
        per_row = [v for v, is_per_row in enumerate(self.is_per_row) if is_per_row and self.levels[v]]
        return (*per_row, *(v for v, _ in row_pass.stored_values))

    def _with_stored_values(self, passes: list[Pass]) -> tuple[Pass, ...]:
        """Returns the passes with expensive values stored in outputs that a later pass writes."""
        for n, row_pass in enumerate(passes[:-1]):
            for k in producers(self.key, self.element_values(row_pass), self.already_computed(row_pass))[1]:
                v, function = self.key.first_value(k), self.key.calls[k].function
                texts = (*function.body, *(text for _, text in function.lets))
                readers = [m for m, p in enumerate(passes) if m > n and v in self._used_values(p)]
                if not readers or not any(_COSTLY.search(text) for text in texts):
                    continue
                for out in self._free_outputs(passes, readers[-1], v):
                    if any(self._may_read_output(out, p, v) for p in passes[n + 1 :]):
                        continue
                    passes[n] = replace(passes[n], stores=(*passes[n].stores, (out, v)))
                    for m in readers:
                        passes[m] = replace(passes[m], stored_values=(*passes[m].stored_values, (v, out)))
                    break
        return tuple(passes)

    def _free_outputs(self, passes: list[Pass], last: int, v: int) -> list[int]:
        """Returns the outputs of v's dtype that pass `last` or a later pass stores and that hold no
        value yet."""
        key = self.key
        occupied = {out for p in passes for _, out in p.stored_values}
        outs = [out for p in passes[last:] for out, _ in p.stores if out not in occupied]
        port = Port(key.dtypes[v], LINEAR)
        return [out for out in outs if replace(key.outs[out], sees=port.sees) == port]

    def _used_values(self, row_pass: Pass) -> set[int]:
        needed = self.element_values(row_pass)
        inputs, calls = producers(self.key, needed, self.already_computed(row_pass))
        operands = {v for k in calls for v in self.key.calls[k].operands}
        return operands | set(inputs) | set(needed)

    def _may_read_output(self, out: int, row_pass: Pass, *excluded: int) -> bool:
        """True if a pass, which does not compute the values `excluded`, reads an input that may share
        memory with output `out`."""
        key = self.key
        inputs, _ = producers(key, self.element_values(row_pass), (*self.already_computed(row_pass), *excluded))
        size = key.outs[out].dtype.itemsize
        return any(not self.is_per_row[k] and key.ins[k].dtype.itemsize == size for k in inputs)
