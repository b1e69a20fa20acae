"""dense: matrix factorizations and triangular solves (hls/dense.h and hls/skeleton/dense_*.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ...dtypes import dtype
from .. import source
from ..inventory_terms import InventoryRequest, KernelTarget
from ..key import EntryName, lanes_for
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import MEMORY_LATENCY, Access, KernelLaunch, LocalMemory, PipelinedLoop, interval, operator_cycles

# Fewest cycles between a write to a port and a read of that value.
ROUND_TRIP = 2 * MEMORY_LATENCY


def _loops(dtype: dtype, counts: Iterator[tuple[str, int, int]]) -> list[PipelinedLoop]:
    """Returns the loops for `counts`, which are (name, trips, entries), with each name's initiation
    interval."""
    parts, cycles = 2 if dtype.is_complex else 1, operator_cycles(dtype)
    least = {
        "search": max(cycles["compare"], parts),
        "largest": max(cycles["compare"], parts),
        "squares": interval(cycles["add"], 1),
        "powers": 2 * cycles["mul"] + cycles["compare"],
        "products": interval(cycles["add"], 1),
        "copies": max(interval(cycles["add"], 1), 2 * parts),
        "dot": interval(cycles["add"], 1),
        # One port reads the matrix twice per iteration, but no element that the loop wrote.
        "swap": 2 * parts,
        "less": 2 * parts,
        "rotate": 2 * parts,
        "exchange": 2 * parts,
        "rows": 2 * parts,
        # Reads the elements that the previous iteration wrote.
        "swaps": ROUND_TRIP,
        # "less" on columns of two matrices.
        "other": parts,
    }
    return [
        PipelinedLoop("less" if name == "other" else name, turns, begun, least.get(name, parts))
        for name, turns, begun in counts
    ]


def _lu(dtype: dtype, m: int, n: int, *_: int) -> list[PipelinedLoop]:
    count = min(m, n)
    below = sum(m - j - 1 for j in range(count))
    less = sum((m - j - 1) * (n - j - 1) for j in range(count))
    columns = sum(n - j - 1 for j in range(count))
    counts = [("search", below, count), ("swap", n * count, count), ("scale", below, count)]
    return _loops(dtype, iter([*counts, ("less", less, columns)]))


def _cholesky(dtype: dtype, n: int, *_: int) -> list[PipelinedLoop]:
    half, columns = n * (n - 1) // 2, n * (n - 1) // 2
    less = sum((n - c) * c for c in range(1, n))
    counts = [("above", half, n), ("scale", half, n), ("less", less, columns)]
    return _loops(dtype, iter(counts))


def _solve_trips(dtype: dtype, n: int, k: int, *rest: int) -> list[PipelinedLoop]:
    transposed, half = rest[-4], n * (n - 1) // 2
    dot_trips, axpy = ((half, n), (0, 0)) if transposed else ((0, 0), (half, n))
    return _loops(dtype, iter([("dot", *dot_trips), ("other", *axpy)]))


def _qr(dtype: dtype, m: int, n: int, *_: int) -> list[PipelinedLoop]:
    count = min(m, n)
    below = sum(m - j - 1 for j in range(count))
    less = sum((m - j - 1) * (n - j - 1) for j in range(count))
    columns = sum(n - j - 1 for j in range(count))
    counts = [(name, below, count) for name in ("largest", "squares", "scale")]
    return _loops(dtype, iter([*counts, ("dot", less, columns), ("less", less, columns)]))


def _reflect(dtype: dtype, m: int, k: int, count: int, *_: int) -> list[PipelinedLoop]:
    below = sum(m - j - 1 for j in range(count))
    return _loops(dtype, iter([("dot", below, count), ("other", below, count)]))


# Sweeps over all pairs until Jacobi's iteration ends; a kernel takes as many as the values need.
SWEEPS = 8
POWERS = 7  # FT_POWERS of hls/jacobi.h


def _svd(dtype: dtype, n: int, lead: int, step: int, vectors: int, *_: int) -> list[PipelinedLoop]:
    pairs = SWEEPS * n * (n - 1) // 2
    rotated = (1 + vectors) * pairs
    counts = [("powers", POWERS, 1), *((name, n * n, n) for name in ("largest", "scale", "squares"))]
    counts += [("products", n * pairs, pairs), ("rotate", n * rotated, rotated), ("search", n * (n - 1) // 2, n)]
    if vectors:
        counts += [("identity", n * n, n), ("quotients", n * n, n), ("exchange", 2 * n * n, 2 * n)]
    return _loops(dtype, iter(counts))


def _eigh(dtype: dtype, n: int, lead: int, step: int, vectors: int, *_: int) -> list[PipelinedLoop]:
    pairs, half = SWEEPS * n * (n - 1) // 2, n * (n + 1) // 2
    rotated = (1 + vectors) * pairs
    counts = [("powers", POWERS, 1), ("largest", half, n), ("copies", half, n), ("diagonal", n, 1)]
    counts += [("search", n * (n - 1) // 2, n), ("rotate", n * rotated, rotated), ("rows", n * pairs, pairs)]
    if vectors:
        counts += [("identity", n * n, n), ("exchange", n * n, n)]
    return _loops(dtype, iter(counts))


def _order(dtype: dtype, m: int, count: int, *_: int) -> list[PipelinedLoop]:
    return _loops(dtype, iter([("rows", m, 1), ("swaps", count, 1)]))


# Loops of an item by skeleton name; arguments are the geometry without the item count.
LOOPS: Mapping[str, Callable[..., list[PipelinedLoop]]] = {
    "dense_lu": _lu,
    "dense_cholesky": _cholesky,
    "dense_solve": _solve_trips,
    "dense_qr": _qr,
    "dense_reflect": _reflect,
    "dense_svd": _svd,
    "dense_eigh": _eigh,
    "dense_order": _order,
}


MAX_LOCAL_ELEMENTS, ROWS, GROUP = 16384, 4096, 64  # most matrix elements, column elements, matrices of a group
SIZES: dict[str, object] = {"FT_LOCAL_ELEMENTS": MAX_LOCAL_ELEMENTS, "FT_ROWS": ROWS, "FT_GROUP": GROUP}


def fits(word: str, geometry: Sequence[int]) -> bool:
    """True if the matrices of a launch fit local memory."""
    _, m, n, *_ = geometry
    if word == "dense_order":
        return m <= ROWS
    if word == "dense_lu":
        return m * n <= MAX_LOCAL_ELEMENTS and m <= ROWS
    return word in ("dense_cholesky", "dense_solve") and m * m <= MAX_LOCAL_ELEMENTS


def memories(word: str, bits: int) -> list[LocalMemory]:
    """Returns the local memories of matrices, of columns, and of row indices."""
    held = [LocalMemory(MAX_LOCAL_ELEMENTS, bits), LocalMemory(ROWS, bits)]
    index_arrays = {"dense_lu": 2, "dense_order": 1, "dense_cholesky": 0, "dense_solve": 0}
    if word not in index_arrays:
        return []
    columns = [] if word == "dense_order" else held
    return [*columns, LocalMemory(ROWS, 32, index_arrays[word])] if index_arrays[word] else columns


def _matrices_per_group(matrices: int, size: int, rows: int, units: int) -> int:
    """Returns the matrices of a group, as `ft_group` of hls/dense.h."""
    return min(-(-matrices // units), GROUP, MAX_LOCAL_ELEMENTS // size, ROWS // rows)


def loops(word: str, launch: KernelLaunch, unit: int) -> list[PipelinedLoop]:
    """Returns the loops of a compute unit if matrices fit local memory. Each loop processes the
    matrices or columns of a group one after another."""
    items, m, n, *_ = launch.geometry
    if word == "dense_solve":
        return _solve(launch, unit)
    n = m if word == "dense_cholesky" else n
    at_once = _matrices_per_group(items, 1 if word == "dense_order" else m * n, m, launch.units)
    if word == "dense_order":
        at_once = min(-(-items // launch.units), ROWS // m)
    begin, end = launch.slab(-(-items // at_once), unit)
    groups, matrices = end - begin, min(end * at_once, items) - min(begin * at_once, items)
    parts = 2 if launch.key.dtype.is_complex else 1

    def loop(name: str, turns: int, times: int = 1, interval: int = 1, reads: bool = False) -> PipelinedLoop:
        """Returns a loop of `turns` iterations per matrix and `times` entries per group."""
        pipelined = PipelinedLoop(name, matrices * turns, groups * times, interval, reads)
        return pipelined._replace(computes=name in ("quotients", "update"))

    if word == "dense_order":
        # Exchanges two elements of one memory.
        return [loop("places", m), loop("exchange", n, interval=2, reads=True), loop("store", m)]
    count = min(m, n)
    ends = [loop("load", m * n, interval=parts, reads=True), loop("store", m * n, interval=parts), loop("failed", 1)]
    if word == "dense_cholesky":
        less = sum((m - j) * (m - j - 1) // 2 for j in range(m))
        return [*ends, loop("quotients", m * (m + 1) // 2, m), loop("update", less, m - 1)]
    below = sum(m - j for j in range(count))
    less = sum((n - j - 1) * (m - j) for j in range(count))
    wait = operator_cycles(launch.key.dtype)["compare"]  # recurrence of the running maximum
    return [
        *ends,
        loop("pivot_rows", count),
        loop("largest", below, count, wait),
        loop("quotients", below, count),
        loop("update", less, min(m, n - 1)),
    ]


def _solve_sizes(launch: KernelLaunch) -> tuple[int, int, int, int]:
    """Returns (matrices, matrices in local memory at once, pieces of a matrix's columns, columns in
    a piece)."""
    items, n, k, *_ = launch.geometry
    matrices, each = items // k, min(k, _matrices_per_group(items, 1, n, launch.units))
    fit = 1 if each < k else _matrices_per_group(matrices, n * n, n * k, launch.units)
    return matrices, fit, -(-k // each), each


def _solve_loads(launch: KernelLaunch, unit: int) -> list[int]:
    """Returns how many matrices each load into local memory brings, for the loads of a compute
    unit. Column pieces of one group of matrices share a load."""
    matrices, fit, parts, _ = _solve_sizes(launch)
    begin, end = launch.slab(-(-matrices // fit) * parts, unit)
    groups = range(begin // parts, -(-end // parts)) if end > begin else ()
    return [min(matrices - group * fit, fit) for group in groups]


def _solve(launch: KernelLaunch, unit: int) -> list[PipelinedLoop]:
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
        PipelinedLoop("load", sum(loads) * n * n, len(loads), words, computes=False),
        PipelinedLoop("load_columns", columns * n, groups, words, computes=False),
        PipelinedLoop("update", columns * n * (n + 1) // 2, groups * n, reads=False),
        PipelinedLoop("store", columns * n, groups, words, reads=False, computes=False),
    ]


def traffic(word: str, launch: KernelLaunch) -> list[Access]:
    """Returns the accesses if matrices fit local memory: one read and one write of each matrix."""
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
        # Each compute unit with columns of a matrix reads the matrix.
        loads = [n for unit in range(launch.units) for n in _solve_loads(launch, unit)]
        read = moved("a", False, sum(loads) * m * m)._replace(crossing=items // n * m * m * size)
        return [read, moved("b", False, items * m), moved("b", True, items * m)]
    matrices = items * m * (m if word == "dense_cholesky" else n)
    return [moved("a", False, matrices), moved("a", True, matrices)]


@dataclass(frozen=True)
class DenseKey:
    """Key of a dense kernel. `held` is True on boards, where block RAM holds small matrices."""

    skeleton: str
    dtype: dtype
    lanes: int = 1
    held: bool = True

    entry = EntryName("ft_{0.skeleton}_{0.dtype.name}_{0.lanes}")


def dense_key(kind: str, dtype: dtype, target: KernelTarget, unaligned: bool) -> DenseKey:
    """Returns the key for a dtype; lanes span columns, which need unaligned vectors."""
    lanes = lanes_for([dtype], dtype.compute, target.lanes_bytes) if unaligned else 1
    return DenseKey(f"dense_{kind}", dtype, 1 if kind == "order" else lanes, not unaligned)


class DenseRoutine(NamedTuple):
    """Parameters and operators of a dense kernel.

    operands: names of pointers; "=" before an input, ":int" or ":long" after one that is no matrix
    numbers: names of scalars; "+" before a long
    elements: how often the kernel text has each element function (ELEMENTS)
    reals: how often it has each operator on real numbers
    """

    title: str
    operands: str
    scalars: str
    elements: Mapping[str, int] = {}
    reals: Mapping[str, int] = {}


# Operators of the functions of dense.h: (for real numbers, for complex numbers).
ELEMENTS: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] = {
    "plus": ({"add": 1}, {"add": 2}),
    "times": ({"mul": 1}, {"mul": 4, "add": 2}),
    # Smith's method with both branches.
    "over": ({"div": 1}, {"div": 6, "mul": 6, "add": 6, "compare": 1}),
    "size": ({"sign": 1}, {"sign": 2, "add": 1}),
    "part": ({"div": 1}, {"div": 2}),  # by a real number
    "scale": ({"mul": 1}, {"mul": 2}),  # by a real number
    "square": ({"mul": 1, "add": 1}, {"mul": 2, "add": 2}),  # added to a sum
}


class Dense(BoardSkeleton[DenseKey]):
    """Dense routine. An item is a matrix of a batch, or a column of a matrix."""

    together = "dense"

    def __init__(self, kind: str, words: DenseRoutine) -> None:
        self.name = self.word = f"dense_{kind}"
        self.words = words

    def parameters(self, key: DenseKey) -> tuple[Parameter, ...]:
        parameters: list[Parameter] = []
        names = []
        for word in self.words.operands.split():
            name, _, alternative = word.removeprefix("=").partition(":")
            const = "const " if word[0] == "=" else ""
            parameters.append(("*", f"{const}{alternative or source.scalar(key.dtype)} *", name))
            names.append(name)
        parameters += [("long", "long ", f"{name}_offset") for name in names]
        for word in self.words.scalars.split():
            c_type = "long" if word[0] == "+" else "int"
            parameters.append((c_type, f"{c_type} ", word.removeprefix("+")))
        return tuple(parameters)

    def helpers(self, key: DenseKey) -> list[str]:
        """Returns the files of hls/; none for kernels of row indices."""
        if key.dtype.kind == "i":
            return []
        own = ["jacobi.h"] if self.word in ("dense_svd", "dense_eigh") else []
        return ["math.h", *(["complex.h"] if key.dtype.is_complex else []), "dense.h", *own]

    def defines(self, key: DenseKey) -> dict[str, object]:
        return SIZES if key.held else {"FT_LOCAL_ELEMENTS": 0}

    def memories(self, key: DenseKey, structure: str) -> list[LocalMemory]:
        return memories(self.word, 8 * key.dtype.itemsize)

    def keys(self, request: InventoryRequest) -> Iterator[DenseKey]:
        for d in request.dtypes:
            yield DenseKey(self.name, d)

    def title(self, key: DenseKey) -> str:
        return self.words.title

    def extent(self, launch: KernelLaunch) -> str:
        return "x".join(map(str, launch.geometry[:3]))

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        if fits(self.word, launch.geometry):
            return loops(self.word, launch, unit)
        begin, end = launch.slab(launch.geometry[0], unit)
        each = LOOPS[self.word](launch.key.dtype, *launch.geometry[1:])
        items = end - begin
        return [x._replace(trips=items * x.trips, entries=items * x.entries) for x in each]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses. Without local memory, an iteration reads two elements and writes
        one; the matrices cross the link once."""
        if fits(self.word, launch.geometry):
            return traffic(self.word, launch)
        items, key = launch.geometry[0], launch.key
        each = LOOPS[self.word](key.dtype, *launch.geometry[1:])
        turns, entries = (sum(n) for n in zip(*((x.trips, x.entries) for x in each)))
        run, parts = max(1, turns // max(entries, 1)), 2 if key.dtype.is_complex else 1
        size, matrix = key.dtype.itemsize, prod(launch.geometry[1:3])
        moved = [(name, write, times * items * turns) for name, write, times in (("a", False, 2), ("b", True, 1))]
        return [
            Access(name, write, n * size, n * parts, run * parts, items * matrix * size) for name, write, n in moved
        ]

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        """Returns the index divisions before the loops: those that find a unit's groups of matrices
        in local memory."""
        return 4 if fits(self.word, launch.geometry) else 0

    def operators(self, key: DenseKey) -> Mapping[tuple[str, str], int]:
        kind = "int32" if key.dtype.kind == "i" else source.scalar(key.dtype)
        counts = Counter({(word, kind): n for word, n in self.words.reals.items()})
        for name, times in self.words.elements.items():
            for word, n in ELEMENTS[name][key.dtype.is_complex].items():
                counts[word, kind] += times * n
        return {operator: n * key.lanes for operator, n in counts.items()}


LAYOUT = "items m n lead +step"
# Column minus a multiple of a column (LESS counts once for ports and once for block RAM); dot
# product of two columns; reflection of a column.
LESS = DOT = Counter(times=1, plus=1)
REFLECT = LESS + DOT + Counter(times=1, plus=2)
# Sums over two columns; rotation of two columns (hls/jacobi.h).
PRODUCTS, ROTATE = DOT + Counter(square=2), Counter(times=4, plus=4)
JACOBI_OPERANDS, JACOBI_LAYOUT = "a v values info:int", "items n lead +step vectors"
for kind, words in {
    "lu": DenseRoutine(
        "linalg.lu_factor", "a pivots:int info:int", LAYOUT, LESS + LESS + Counter(size=3, over=2), {"compare": 4}
    ),
    "cholesky": DenseRoutine(
        "linalg.cholesky", "a info:int", "items n lead +step", LESS + LESS + Counter(part=2), {"compare": 2, "sqrt": 2}
    ),
    "solve": DenseRoutine(
        "linalg.solve_triangular",
        "=a b",
        "items n k a_lead b_lead +a_step +b_step upper turned unit",
        LESS + LESS + DOT + Counter(plus=1, over=2),
    ),
    "qr": DenseRoutine(
        "geqrf",
        "a tau",
        LAYOUT,
        REFLECT + Counter(size=2, square=1, part=4, over=1, plus=1),
        {"compare": 8, "sqrt": 1, "mul": 1, "add": 1},
    ),
    "reflect": DenseRoutine("ormqr", "=a =tau c", "items m k count a_lead c_lead +a_step +c_step adjoint", REFLECT),
    "svd": DenseRoutine(
        "linalg.svd",
        JACOBI_OPERANDS,
        JACOBI_LAYOUT,
        PRODUCTS + ROTATE + ROTATE + Counter(scale=1, square=1, part=1),
        {"compare": 14, "sqrt": 7, "div": 11, "mul": 7, "add": 6},
    ),
    "eigh": DenseRoutine(
        "linalg.eigh",
        JACOBI_OPERANDS,
        JACOBI_LAYOUT,
        ROTATE + ROTATE + Counter(scale=1, square=1),
        {"compare": 11, "sqrt": 4, "div": 12, "mul": 9, "add": 8},
    ),
    "order": DenseRoutine("lu_unpack", "=pivots:int order:long", "items m count", {}, {"compare": 4}),
}.items():
    register(Dense(kind, words))
