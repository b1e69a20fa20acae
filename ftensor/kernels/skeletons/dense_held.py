"""Matrices in a board's block memory: the sizes that hls/skeleton/dense_*.h are told, and the loops
and traffic of those that fit."""

from __future__ import annotations

from collections.abc import Sequence

from ..operators import operator_cycles
from ..work import Access, KernelLaunch, LocalMemory, Loop

HELD, ROWS, GROUP = 16384, 4096, 64  # elements of matrices, of columns of them, matrices at a time
SIZES: dict[str, object] = {"FT_HELD": HELD, "FT_ROWS": ROWS, "FT_GROUP": GROUP}


def fits(word: str, geometry: Sequence[int]) -> bool:
    """Whether the matrices of a launch are held."""
    _, m, n, *_ = geometry
    if word == "dense_order":
        return m <= ROWS
    if word == "dense_lu":
        return m * n <= HELD and m <= ROWS
    return word in ("dense_cholesky", "dense_solve") and m * m <= HELD


def memories(word: str, bits: int) -> list[LocalMemory]:
    """Matrices, a column of each (for solutions the columns), and the places of rows."""
    held = [LocalMemory(HELD, bits), LocalMemory(ROWS, bits)]
    places = {"dense_lu": 2, "dense_order": 1, "dense_cholesky": 0, "dense_solve": 0}
    if word not in places:
        return []
    columns = [] if word == "dense_order" else held
    return [*columns, LocalMemory(ROWS, 32, places[word])] if places[word] else columns


def _group(matrices: int, size: int, rows: int, units: int) -> int:
    """`ft_group` of hls/dense.h."""
    return min(-(-matrices // units), GROUP, HELD // size, ROWS // rows)


def loops(word: str, launch: KernelLaunch, unit: int) -> list[Loop]:
    """Those of a unit: one matrix or column of a group after another goes through each of them."""
    items, m, n, *_ = launch.geometry
    if word == "dense_solve":
        return _solve(launch, unit)
    n = m if word == "dense_cholesky" else n
    at_once = _group(items, 1 if word == "dense_order" else m * n, m, launch.units)
    if word == "dense_order":
        at_once = min(-(-items // launch.units), ROWS // m)
    begin, end = launch.slab(-(-items // at_once), unit)
    groups, matrices = end - begin, min(end * at_once, items) - min(begin * at_once, items)
    parts = 2 if launch.key.dtype.is_complex else 1

    def loop(name: str, turns: int, times: int = 1, interval: int = 1, reads: bool = False) -> Loop:
        """So many turns for each matrix, from `times` beginnings for each group."""
        pipelined = Loop(name, matrices * turns, groups * times, interval, reads)
        return pipelined._replace(computes=name in ("quotients", "update"))

    if word == "dense_order":
        # Two rows of one memory change places.
        return [loop("places", m), loop("exchange", n, interval=2, reads=True), loop("store", m)]
    count = min(m, n)
    ends = [loop("load", m * n, interval=parts, reads=True), loop("store", m * n, interval=parts), loop("failed", 1)]
    if word == "dense_cholesky":
        less = sum((m - j) * (m - j - 1) // 2 for j in range(m))
        return [*ends, loop("quotients", m * (m + 1) // 2, m), loop("update", less, m - 1)]
    below = sum(m - j for j in range(count))
    less = sum((n - j - 1) * (m - j) for j in range(count))
    wait = operator_cycles(launch.key.dtype)["compare"]  # for the largest so far
    return [
        *ends,
        loop("pivot_rows", count),
        loop("largest", below, count, wait),
        loop("quotients", below, count),
        loop("update", less, min(m, n - 1)),
    ]


def _solve_sizes(launch: KernelLaunch) -> tuple[int, int, int, int]:
    """Matrices, how many are held at once, into how many pieces go the columns of one, of how many
    columns."""
    items, n, k, *_ = launch.geometry
    matrices, each = items // k, min(k, _group(items, 1, n, launch.units))
    fit = 1 if each < k else _group(matrices, n * n, n * k, launch.units)
    return matrices, fit, -(-k // each), each


def _solve_loads(launch: KernelLaunch, unit: int) -> list[int]:
    """The matrices of each load of a unit: those of the piece before are not read again."""
    matrices, fit, parts, _ = _solve_sizes(launch)
    begin, end = launch.slab(-(-matrices // fit) * parts, unit)
    groups = range(begin // parts, -(-end // parts)) if end > begin else ()
    return [min(matrices - group * fit, fit) for group in groups]


def _solve(launch: KernelLaunch, unit: int) -> list[Loop]:
    _, n, k, *_ = launch.geometry
    words = 2 if launch.key.dtype.is_complex else 1
    matrices, fit, parts, each = _solve_sizes(launch)
    loads = _solve_loads(launch, unit)
    begin, end = launch.slab(-(-matrices // fit) * parts, unit)
    columns = 0
    for block in range(begin, end):
        some = min(matrices - block // parts * fit, fit)
        columns += some * min(k - block % parts * each, each)
    groups = end - begin
    return [
        Loop("load", sum(loads) * n * n, len(loads), words, computes=False),
        Loop("load_columns", columns * n, groups, words, computes=False),
        Loop("update", columns * n * (n + 1) // 2, groups * n, reads=False),
        Loop("store", columns * n, groups, words, reads=False, computes=False),
    ]


def traffic(word: str, launch: KernelLaunch) -> list[Access]:
    """Each matrix once in, and what becomes of it once out."""
    items, m, n, *_ = launch.geometry
    if word == "dense_order":
        return [
            Access("pivots", False, items * n * 4, items * n, 0, items * n * 4),
            Access("order", True, items * m * 8, items * m, 0, items * m * 8),
        ]
    size, parts = launch.key.dtype.itemsize, 2 if launch.key.dtype.is_complex else 1

    def moved(name: str, write: bool, elements: int) -> Access:
        return Access(name, write, elements * size, elements * parts, 0, elements * size)

    if word == "dense_solve":
        # A matrix with many columns is read by each unit that has some of them.
        loads = [n for unit in range(launch.units) for n in _solve_loads(launch, unit)]
        read = moved("a", False, sum(loads) * m * m)._replace(crossing=items // n * m * m * size)
        return [read, moved("b", False, items * m), moved("b", True, items * m)]
    matrices = items * m * (m if word == "dense_cholesky" else n)
    return [moved("a", False, matrices), moved("a", True, matrices)]
