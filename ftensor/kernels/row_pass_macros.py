"""Macros of kernels with several passes over rows: each pass, and the values of earlier passes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from . import fused, source
from .element_function import STATE_NAMES, ElementFunction, c_functions
from .fused import FusedKey, Pass, Passes, producers
from .holes import lane, lane_type, memory_holes, result_hole, wide_of, wide_type
from .key import SINGLE, Port

_STATE = re.compile(rf"\b({'|'.join(STATE_NAMES)})\b")


def _state_functions(text: str, function: str) -> str:
    """Returns `text` with the names of the fold state prefixed by the element function's name:
    unit_0_sum_combine."""
    lines = [line for line in text.splitlines() if not line.startswith("#define FT_VECTORS")]
    return _STATE.sub(lambda m: f"{function}_{m[1][3:].lower()}", "\n".join(lines))


def c_functions_with_own_state(function: ElementFunction, name: str) -> str:
    """Returns the C functions of an element function; each fold has a state of its own."""
    text = c_functions(function, name)
    return _state_functions(text, name) if function.reduction else text


class RowPassMacros:
    """Macros of the kernel texts. `functions` are the names of the calls' functions."""

    def __init__(self, key: FusedKey, functions: Sequence[str]) -> None:
        self.key, self.functions = key, functions
        self.passes = Passes(key)
        self.along = key.skeleton == "row_passes_inner"
        # The calls with per-row results.
        self.rows = [k for one in self.passes.passes for k in (*one.folds, *one.row_calls)]

    def kernel(self) -> dict[str, list[str]]:
        """Returns the macros of the kernel around the passes."""
        key, ins = self.key, fused.input_names(self.key)
        params = fused.parameters(key)
        values = [v for k in self.rows for v in self.key.results_of_call(k)]
        common, results, reads, writes = memory_holes(key.entry, params, key.outs, ins, True)
        stored = {out: v for out, v in enumerate(key.results) if out in key.per_row}
        inputs, _ = producers(key, stored.values(), values)
        return common | {
            "FT_VECTORS": [str(vectors(key))],
            "FT_RESULTS(count)": [result_hole(len(key.outs), [name for name, _ in ins])],
            "FT_ROW_VALUES": [self._declared(v) for v in values],
            "FT_ROW_READ(i, m)": [*(results[out] for out in stored), *(reads[True][k] for k in inputs)],
            "FT_ROW_RESULTS": [
                *self._known(stored.values(), values, {}),
                *fused.value_lines(key, stored.values(), self.functions, values),
                *(f"{self._place(out)} = v{v};" for out, v in stored.items()),
            ],
            "FT_ROW_WRITE(i, m)": [writes[True][out] for out in stored],
        }

    def states(self, n: int) -> list[str]:
        """Returns the lines that define the combined state of all folds of pass n."""
        row_pass, state_type = self.passes.passes[n], f"pass_{n}"
        if not row_pass.folds:
            return []

        def joined(word: str, parameters: str, passed: str) -> str:
            calls = [f"{self._word(k, word)}({passed.format(k=k)})" for k in row_pass.folds]
            sets = " ".join(f"r.f{k} = {call};" for k, call in zip(row_pass.folds, calls))
            return f"FT_FN_ONCE {state_type} {state_type}_{word}({parameters}) {{ {state_type} r; {sets} return r; }}"

        fields = " ".join(f"{self._word(k, 's')} f{k};" for k in row_pass.folds)
        return [
            f"typedef struct {{ {fields} }} {state_type};",
            joined("identity", "void", ""),
            joined("combine", f"{state_type} p, {state_type} q", "p.f{k}, q.f{k}"),
            "#ifdef FT_ROTATES",
            joined("rotate_state", f"{state_type} p, int step", "p.f{k}, step"),
            "#endif",
        ]

    def of_pass(self, n: int) -> dict[str, list[str]]:
        """Returns the macros of pass n."""
        key, row_pass = self.key, self.passes.passes[n]
        ins, params = fused.input_names(key), fused.parameters(key)
        _, results, reads, writes = memory_holes(key.entry, params, key.outs, ins, True)
        needed, boundary = self.passes.element_values(row_pass), self.passes.already_computed(row_pass)
        inputs, _ = producers(key, needed, boundary)
        stored_values = dict(row_pass.stored_values)
        stored = dict(row_pass.stores)
        reread_outputs = {out for p in self.passes.passes for _, out in p.stored_values}
        macros: dict[str, list[str]] = {"FT_FOLDS": [str(int(bool(row_pass.folds)))]}
        for part, args in ((False, "(i)"), (True, "(i, m)")):
            word = "_PART" if part else ""
            rereads = self._reads_back(stored_values, part)
            macros[f"FT_READ{word}{args}"] = [
                *(results[out] for out in stored),
                *(reads[part][k] for k in inputs),
                *rereads,
            ]
            macros[f"FT_PUT{word}{args}"] = [
                _cached_store(writes[part][out]) if out in reread_outputs else writes[part][out] for out in stored
            ]
        lines = self._known(needed, boundary, stored_values)
        lines += fused.value_lines(key, needed, self.functions, boundary)
        lines += [f"FT_LANE(w_out{out}) = v{v};" for out, v in stored.items()]
        if row_pass.folds:
            lines.append("FT_S lifted;")
        for k in row_pass.folds:
            passed = [*fused.call_operands(key, k), *fused.call_scalars(key, k), "position", f"&lifted.f{k}"]
            lines.append(f"{self.functions[k]}_lift({', '.join(passed)});")
        macros["FT_ELEMENT(position)"] = lines
        if not row_pass.folds:
            return macros
        return macros | self._folding(n, row_pass, reads[True])

    def _folding(self, n: int, row_pass: Pass, reads: list[str]) -> dict[str, list[str]]:
        key = self.key
        finished = [v for k in (*row_pass.folds, *row_pass.row_calls) for v in self.key.results_of_call(k)]
        needed = [v for k in row_pass.row_calls for v in key.calls[k].operands]
        boundary = [*self.passes.already_computed(row_pass), *finished]
        lines = self._known([v for v in needed if v not in finished], boundary, {})
        for k in row_pass.folds:
            args = [f"(folded).f{k}", *fused.call_scalars(key, k)]
            lines += fused.call_lines(key, k, f"{self.functions[k]}_finish", args)
        lines += fused.value_lines(key, needed, self.functions, boundary)
        for k in row_pass.row_calls:
            args = [*fused.call_operands(key, k), *fused.call_scalars(key, k)]
            lines += fused.call_lines(key, k, self.functions[k], args)
        return {
            "FT_S": [f"pass_{n}"],
            **{f"ft_{word}": [f"pass_{n}_{word}"] for word in ("identity", "combine", "rotate_state")},
            "FT_BELOW(m)": [
                f"lifted.f{k} = {self._word(k, 'choose')}(FT_MASK_AS({self._mask(k)}, "
                f"FT_INDEX(0) < (FT_I)(m)), lifted.f{k}, {self._word(k, 'identity')}());"
                for k in row_pass.folds
            ],
            "FT_OF_ROW(i, m)": [reads[k] for k in producers(key, needed, boundary)[0]],
            "FT_ROW(folded)": lines + [self._put(v) for v in finished],
        }

    def _place(self, out: int) -> str:
        return f"w_out{out} FT_LANE_0" if self.along else f"FT_LANE(w_out{out})"

    def _word(self, k: int, word: str) -> str:
        return f"{self.functions[k]}_{word}"

    def _mask(self, k: int) -> str:
        return source.MASK[source.scalar(self.key.calls[k].function.compute)]

    # Per-row values are scalars along rows; across rows, one vector for each of FT_VECTORS.

    def _port(self, v: int) -> Port:
        return Port(self.key.dtypes[v], SINGLE)

    def _declared(self, v: int) -> str:
        p = self._port(v)
        if not self.along:
            return f"{wide_type(p)} r{v}[FT_VECTORS];"
        c_type = wide_of(p)
        return f"{c_type} w_r{v}_re, w_r{v}_im;" if p.dtype.is_complex else f"{c_type} w_r{v};"

    def _put(self, v: int) -> str:
        if not self.along:
            return f"FT_LANE(r{v}[v]) = v{v};"
        if self._port(v).dtype.is_complex:
            return f"w_r{v}_re = FT_FIRST_OF(v{v}.re); w_r{v}_im = FT_FIRST_OF(v{v}.im);"
        return f"w_r{v} = FT_FIRST_OF(v{v});"

    def _known(self, needed: Iterable[int], boundary: Iterable[int], stored_values: dict[int, int]) -> list[str]:
        """Returns lines that declare the values that a pass reads instead of computing: per-row
        values, and values that an earlier pass stored in outputs."""
        key, stopped = self.key, set(boundary)
        _, calls = producers(key, needed, stopped)
        used = {v for k in calls for v in key.calls[k].operands} | set(needed)
        lines = []
        for v in sorted(used & stopped):
            p = self._port(v)
            if v in stored_values:
                text = f"FT_LANE(w_kept{stored_values[v]})"
            else:
                text = lane(f"w_r{v}", p) if self.along else f"FT_LANE(r{v}[v])"
            lines.append(f"const {lane_type(p)} v{v} = {text};")
        return lines

    def _reads_back(self, stored_values: dict[int, int], part: bool) -> list[str]:
        key = self.key
        outs = [(f"out{k}", p) for k, p in enumerate(key.outs)]
        _, _, reads, _ = memory_holes(key.entry, (), (), outs + fused.input_names(key), True)
        return [reads[part][out].replace(f" w_out{out} ", f" w_kept{out} ") for out in stored_values.values()]


def vectors(key: FusedKey) -> int:
    """Returns the parallel states of the first fold."""
    folds = (call.function.reduction for call in key.calls)
    return next(r.vectors for r in folds if r is not None)


def _cached_store(line: str) -> str:
    """Returns a store line whose store goes through the cache, for an output that a later pass
    reads."""
    return re.sub(r"FT_VSTORE_NONTEMPORAL\(\w+, ", "FT_VSTORE(", line)
