"""What the loops of hls/skeleton/dense_*.h come to for one item, as the performance model asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...dtypes import dtype
from ..operators import interval, operator_cycles
from ..ports import LATENCY
from ..work import Loop

# What is written to a port comes back from it no sooner.
THERE_AND_BACK = 2 * LATENCY


def _loops(of: dtype, counts: Iterator[tuple[str, int, int]]) -> list[Loop]:
    """(name, turns, times begun) as loops; each name in one or another of the texts."""
    parts, cycles = 2 if of.is_complex else 1, operator_cycles(of)
    least = {
        "search": max(cycles["compare"], parts),
        "largest": max(cycles["compare"], parts),
        "squares": interval(cycles["add"], 1),
        "dot": interval(cycles["add"], 1),
        # Of a matrix that one port reads twice in a turn, and nothing that it wrote before.
        "swap": 2 * parts,
        "less": 2 * parts,
        # Which reads what it has just written.
        "swaps": THERE_AND_BACK,
        # Of columns of two matrices.
        "other": parts,
    }
    return [
        Loop("less" if name == "other" else name, turns, begun, least.get(name, parts)) for name, turns, begun in counts
    ]


def _lu(of: dtype, m: int, n: int, *_: int) -> list[Loop]:
    count = min(m, n)
    below = sum(m - j - 1 for j in range(count))
    less = sum((m - j - 1) * (n - j - 1) for j in range(count))
    columns = sum(n - j - 1 for j in range(count))
    counts = [("search", below, count), ("swap", n * count, count), ("scale", below, count)]
    return _loops(of, iter([*counts, ("less", less, columns)]))


def _cholesky(of: dtype, n: int, *_: int) -> list[Loop]:
    half, columns = n * (n - 1) // 2, n * (n - 1) // 2
    less = sum((n - c) * c for c in range(1, n))
    counts = [("above", half, n), ("scale", half, n), ("less", less, columns)]
    return _loops(of, iter(counts))


def _solve(of: dtype, n: int, k: int, *rest: int) -> list[Loop]:
    turned, half = rest[-4], n * (n - 1) // 2
    dot, other = ((half, n), (0, 0)) if turned else ((0, 0), (half, n))
    return _loops(of, iter([("dot", *dot), ("other", *other)]))


def _qr(of: dtype, m: int, n: int, *_: int) -> list[Loop]:
    count = min(m, n)
    below = sum(m - j - 1 for j in range(count))
    less = sum((m - j - 1) * (n - j - 1) for j in range(count))
    columns = sum(n - j - 1 for j in range(count))
    counts = [(name, below, count) for name in ("largest", "squares", "scale")]
    return _loops(of, iter([*counts, ("dot", less, columns), ("less", less, columns)]))


def _reflect(of: dtype, m: int, k: int, count: int, *_: int) -> list[Loop]:
    below = sum(m - j - 1 for j in range(count))
    return _loops(of, iter([("dot", below, count), ("other", below, count)]))


def _order(of: dtype, m: int, count: int, *_: int) -> list[Loop]:
    return _loops(of, iter([("rows", m, 1), ("swaps", count, 1)]))


# By the kernel's word: the loops of an item, from the numbers of a launch behind the items.
LOOPS: Mapping[str, Callable[..., list[Loop]]] = {
    "dense_lu": _lu,
    "dense_cholesky": _cholesky,
    "dense_solve": _solve,
    "dense_qr": _qr,
    "dense_reflect": _reflect,
    "dense_order": _order,
}
