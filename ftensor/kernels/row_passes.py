"""Programs of folds and maps over the same rows: which pass does what.

A value is of each element, or of a row: a fold's result, or what is computed of such alone. The
first pass folds what needs no fold's result, the next what needs those, and so on. Results of
elements are stored as soon as they are known, unless a later pass reads what may lie there; those
of rows behind all passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from .fused import FusedKey, behind
from .key import LINEAR, Port

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
