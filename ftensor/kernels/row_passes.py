"""Programs of folds and maps over the same rows: which pass does what, and its words.

A value is of each element, or of a row: a fold's result, or what is computed of such alone. The
first pass folds what needs no fold's result, the next what needs those, and so on. Results of
elements are stored as soon as they are known, unless a later pass reads what may lie there; those
of rows behind all passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from . import ctype, fused
from .fused import FusedKey, behind
from .holes import in_memory, lane, lane_type, streamed, wide_of, wide_type
from .key import LINEAR, SINGLE, Port
from .spaces import STATE

# A call of what takes longer than its result takes to be kept; others are computed again.
_COSTLY = re.compile(r"\b(?!ft_(?:max|min|abs|where|is\w+)\b|K\b|FT_)[a-z]\w*\(")
_STATE = re.compile(rf"\b({'|'.join(STATE)})\b")


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
            for k in behind(self.key, self.needs(one), self.stop(one))[1]:
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
        inputs, calls = behind(self.key, needs, self.stop(one))
        taken = {v for k in calls for v in self.key.calls[k].takes}
        return taken | set(inputs) | set(needs)

    def _reads_where(self, out: int, one: Pass, *kept: int) -> bool:
        """Whether a pass that need not compute `kept` reads an input that may lie where an output
        does."""
        key = self.key
        inputs, _ = behind(key, self.needs(one), (*self.stop(one), *kept))
        size = key.outs[out].dtype.itemsize
        return any(not self.row[k] and key.ins[k].dtype.itemsize == size for k in inputs)


def state_functions(text: str, unit: str) -> str:
    """The words of a fold's state as those of one unit, such as unit_0_sum_combine."""
    lines = [line for line in text.splitlines() if not line.startswith("#define FT_VECTORS")]
    return _STATE.sub(lambda m: f"{unit}_{m[1][3:].lower()}", "\n".join(lines))


class PassWords:
    """What the words of the texts stand for; `functions` are what the calls' units are called."""

    def __init__(self, key: FusedKey, functions: Sequence[str]) -> None:
        self.key, self.functions = key, functions
        self.passes = Passes(key)
        self.along = key.skeleton == "row_passes_inner"
        # The calls whose results passes leave for a row.
        self.rows = [k for one in self.passes.in_order for k in (*one.folds, *one.rows)]

    def kernel(self) -> dict[str, list[str]]:
        """Of the kernel around the passes."""
        key, ins = self.key, fused.names(self.key)
        params = fused.parameters(key)
        values = [v for k in self.rows for v in self._gives(k)]
        common, results, reads, writes = in_memory(key.entry, params, key.outs, ins, True)
        stored = {out: v for out, v in enumerate(key.gives) if out in key.per_row}
        inputs, _ = behind(key, stored.values(), values)
        return common | {
            "FT_VECTORS": [str(vectors(key))],
            "FT_RESULTS(count)": [streamed(len(key.outs), [name for name, _ in ins])],
            "FT_ROW_VALUES": [self._declared(v) for v in values],
            "FT_ROW_READ(i, m)": [*(results[out] for out in stored), *(reads[True][k] for k in inputs)],
            "FT_ROW_RESULTS": [
                *self._known(stored.values(), values, {}),
                *fused.computed(key, stored.values(), self.functions, values),
                *(f"{self._place(out)} = v{v};" for out, v in stored.items()),
            ],
            "FT_ROW_WRITE(i, m)": [writes[True][out] for out in stored],
        }

    def states(self, n: int) -> list[str]:
        """The state of all that a pass folds, side by side."""
        one, of = self.passes.in_order[n], f"pass_{n}"
        if not one.folds:
            return []

        def joined(word: str, takes: str, passed: str) -> str:
            calls = [f"{self._word(k, word)}({passed.format(k=k)})" for k in one.folds]
            sets = " ".join(f"r.f{k} = {call};" for k, call in zip(one.folds, calls))
            return f"FT_FN_ONCE {of} {of}_{word}({takes}) {{ {of} r; {sets} return r; }}"

        fields = " ".join(f"{self._word(k, 's')} f{k};" for k in one.folds)
        return [
            f"typedef struct {{ {fields} }} {of};",
            joined("identity", "void", ""),
            joined("combine", f"{of} p, {of} q", "p.f{k}, q.f{k}"),
            "#ifdef FT_ROTATES",
            joined("turn", f"{of} p, int step", "p.f{k}, step"),
            "#endif",
        ]

    def of_pass(self, n: int) -> dict[str, list[str]]:
        """Of a pass."""
        key, one = self.key, self.passes.in_order[n]
        ins, params = fused.names(key), fused.parameters(key)
        _, results, reads, writes = in_memory(key.entry, params, key.outs, ins, True)
        needs, stop = self.passes.needs(one), self.passes.stop(one)
        inputs, _ = behind(key, needs, stop)
        ready = dict(one.ready)
        stored = dict(one.stores)
        held = {out for p in self.passes.in_order for _, out in p.ready}
        words: dict[str, list[str]] = {"FT_FOLDS": [str(int(bool(one.folds)))]}
        for part, args in ((False, "(i)"), (True, "(i, m)")):
            word = "_PART" if part else ""
            kept = self._reads_back(ready, part)
            words[f"FT_READ{word}{args}"] = [
                *(results[out] for out in stored),
                *(reads[part][k] for k in inputs),
                *kept,
            ]
            words[f"FT_WRITE{word}{args}"] = [
                _plain(writes[part][out]) if out in held else writes[part][out] for out in stored
            ]
        lines = self._known(needs, stop, ready)
        lines += fused.computed(key, needs, self.functions, stop)
        lines += [f"FT_LANE(w_out{out}) = v{v};" for out, v in stored.items()]
        if one.folds:
            lines.append("FT_S lifted;")
        for k in one.folds:
            passed = [*fused.taken(key, k), *fused.numbers(key, k), "position", f"&lifted.f{k}"]
            lines.append(f"{self.functions[k]}_lift({', '.join(passed)});")
        words["FT_ELEMENT(position)"] = lines
        if not one.folds:
            return words
        return words | self._folding(n, one, reads[True])

    def _folding(self, n: int, one: Pass, reads: list[str]) -> dict[str, list[str]]:
        key = self.key
        finished = [v for k in (*one.folds, *one.rows) for v in self._gives(k)]
        needs = [v for k in one.rows for v in key.calls[k].takes]
        stop = [*self.passes.stop(one), *finished]
        lines = self._known([v for v in needs if v not in finished], stop, {})
        for k in one.folds:
            passed = [f"(folded).f{k}", *fused.numbers(key, k)]
            lines += fused.call(key, k, f"{self.functions[k]}_finish", passed)
        lines += fused.computed(key, needs, self.functions, stop)
        for k in one.rows:
            passed = [*fused.taken(key, k), *fused.numbers(key, k)]
            lines += fused.call(key, k, self.functions[k], passed)
        return {
            "FT_S": [f"pass_{n}"],
            **{f"ft_{word}": [f"pass_{n}_{word}"] for word in ("identity", "combine", "turn")},
            "FT_BELOW(m)": [
                f"lifted.f{k} = {self._word(k, 'choose')}(FT_MASK_AS({self._mask(k)}, "
                f"FT_INDEX(0) < (FT_I)(m)), lifted.f{k}, {self._word(k, 'identity')}());"
                for k in one.folds
            ],
            "FT_OF_ROW(i, m)": [reads[k] for k in behind(key, needs, stop)[0]],
            "FT_ROW(folded)": lines + [self._put(v) for v in finished],
        }

    def _place(self, out: int) -> str:
        return f"w_out{out} FT_LANE_0" if self.along else f"FT_LANE(w_out{out})"

    def _gives(self, k: int) -> range:
        first = self.key.first(k)
        return range(first, first + len(self.key.calls[k].unit.outs))

    def _word(self, k: int, word: str) -> str:
        """A word of a fold's state."""
        return f"{self.functions[k]}_{word}"

    def _mask(self, k: int) -> str:
        return ctype.MASK[ctype.scalar(self.key.calls[k].unit.compute)]

    # A row's values: along rows numbers, across them a vector for each of those side by side.

    def _port(self, v: int) -> Port:
        return Port(self.key.dtypes[v], SINGLE)

    def _declared(self, v: int) -> str:
        p = self._port(v)
        if not self.along:
            return f"{wide_type(p)} r{v}[FT_VECTORS];"
        of = wide_of(p)
        return f"{of} w_r{v}_re, w_r{v}_im;" if p.dtype.is_complex else f"{of} w_r{v};"

    def _put(self, v: int) -> str:
        if not self.along:
            return f"FT_LANE(r{v}[v]) = v{v};"
        if self._port(v).dtype.is_complex:
            return f"w_r{v}_re = FT_FIRST_OF(v{v}.re); w_r{v}_im = FT_FIRST_OF(v{v}.im);"
        return f"w_r{v} = FT_FIRST_OF(v{v});"

    def _known(self, needs: Iterable[int], stop: Iterable[int], ready: dict[int, int]) -> list[str]:
        """Lines that name the values which are there already, of rows and in outputs."""
        key, stopped = self.key, set(stop)
        _, calls = behind(key, needs, stopped)
        used = {v for k in calls for v in key.calls[k].takes} | set(needs)
        lines = []
        for v in sorted(used & stopped):
            p = self._port(v)
            if v in ready:
                text = f"FT_LANE(w_kept{ready[v]})"
            else:
                text = lane(f"w_r{v}", p) if self.along else f"FT_LANE(r{v}[v])"
            lines.append(f"const {lane_type(p)} v{v} = {text};")
        return lines

    def _reads_back(self, ready: dict[int, int], part: bool) -> list[str]:
        """Lines that read outputs in which values are kept."""
        key = self.key
        outs = [(f"out{k}", p) for k, p in enumerate(key.outs)]
        _, _, reads, _ = in_memory(key.entry, (), (), outs + fused.names(key), True)
        return [reads[part][out].replace(f" w_out{out} ", f" w_kept{out} ") for out in ready.values()]


def vectors(key: FusedKey) -> int:
    """States side by side: as the first fold has them."""
    folds = (call.unit.reduction for call in key.calls)
    return next(r.vectors for r in folds if r is not None)


def _plain(line: str) -> str:
    """A store of what is read again."""
    return re.sub(r"FT_VSTREAM\(\w+, ", "FT_VSTORE(", line)
