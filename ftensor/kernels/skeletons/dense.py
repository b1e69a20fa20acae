"""dense: matrix factorizations and triangular solves (hls/dense.h and hls/skeleton/dense_*.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ...dtypes import dtype
from .. import source
from ..inventory_terms import InventoryRequest, KernelTarget, table_lines
from ..key import lanes_for
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import LATENCY, Access, KernelLaunch, LocalMemory, PipelinedLoop, interval, operator_cycles

# What is written to a port comes back from it no sooner.
THERE_AND_BACK = 2 * LATENCY


def _loops(of: dtype, counts: Iterator[tuple[str, int, int]]) -> list[PipelinedLoop]:
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
        PipelinedLoop("less" if name == "other" else name, turns, begun, least.get(name, parts))
        for name, turns, begun in counts
    ]


def _lu(of: dtype, m: int, n: int, *_: int) -> list[PipelinedLoop]:
    count = min(m, n)
    below = sum(m - j - 1 for j in range(count))
    less = sum((m - j - 1) * (n - j - 1) for j in range(count))
    columns = sum(n - j - 1 for j in range(count))
    counts = [("search", below, count), ("swap", n * count, count), ("scale", below, count)]
    return _loops(of, iter([*counts, ("less", less, columns)]))


def _cholesky(of: dtype, n: int, *_: int) -> list[PipelinedLoop]:
    half, columns = n * (n - 1) // 2, n * (n - 1) // 2
    less = sum((n - c) * c for c in range(1, n))
    counts = [("above", half, n), ("scale", half, n), ("less", less, columns)]
    return _loops(of, iter(counts))


def _solve_trips(of: dtype, n: int, k: int, *rest: int) -> list[PipelinedLoop]:
    turned, half = rest[-4], n * (n - 1) // 2
    dot, other = ((half, n), (0, 0)) if turned else ((0, 0), (half, n))
    return _loops(of, iter([("dot", *dot), ("other", *other)]))


def _qr(of: dtype, m: int, n: int, *_: int) -> list[PipelinedLoop]:
    count = min(m, n)
    below = sum(m - j - 1 for j in range(count))
    less = sum((m - j - 1) * (n - j - 1) for j in range(count))
    columns = sum(n - j - 1 for j in range(count))
    counts = [(name, below, count) for name in ("largest", "squares", "scale")]
    return _loops(of, iter([*counts, ("dot", less, columns), ("less", less, columns)]))


def _reflect(of: dtype, m: int, k: int, count: int, *_: int) -> list[PipelinedLoop]:
    below = sum(m - j - 1 for j in range(count))
    return _loops(of, iter([("dot", below, count), ("other", below, count)]))


def _order(of: dtype, m: int, count: int, *_: int) -> list[PipelinedLoop]:
    return _loops(of, iter([("rows", m, 1), ("swaps", count, 1)]))


# By the kernel's word: the loops of an item, from the numbers of a launch behind the items.
LOOPS: Mapping[str, Callable[..., list[PipelinedLoop]]] = {
    "dense_lu": _lu,
    "dense_cholesky": _cholesky,
    "dense_solve": _solve_trips,
    "dense_qr": _qr,
    "dense_reflect": _reflect,
    "dense_order": _order,
}


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


def loops(word: str, launch: KernelLaunch, unit: int) -> list[PipelinedLoop]:
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

    def loop(name: str, turns: int, times: int = 1, interval: int = 1, reads: bool = False) -> PipelinedLoop:
        """So many turns for each matrix, from `times` beginnings for each group."""
        pipelined = PipelinedLoop(name, matrices * turns, groups * times, interval, reads)
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


@dataclass(frozen=True)
class DenseKey:
    """Which of the kernels, and the dtype of its matrices; whether a board's block memory holds
    small ones."""

    skeleton: str
    dtype: dtype
    lanes: int = 1
    held: bool = True

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{self.skeleton}_{self.dtype.name}_{self.lanes}"


def dense_key(kind: str, of: dtype, target: KernelTarget, unaligned: bool) -> DenseKey:
    """The kernel for a dtype; its lanes go along columns, which begin anywhere."""
    lanes = lanes_for([of], of.compute, target.lanes_bytes) if unaligned else 1
    return DenseKey(f"dense_{kind}", of, 1 if kind == "order" else lanes, not unaligned)


class Routine(NamedTuple):
    """A kernel's parameters: operands (an "=" before those that are only read, an ":int" or ":long"
    behind those that are no matrices) and numbers (a "+" before long ones). `elements`: the
    functions of elements (ELEMENTS) that stand in its text; `reals`: operators of real numbers."""

    title: str
    operands: str
    numbers: str
    elements: Mapping[str, int] = {}
    reals: Mapping[str, int] = {}


# What functions of dense.h are made of: for real numbers, for complex ones.
ELEMENTS: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] = {
    "plus": ({"add": 1}, {"add": 2}),
    "times": ({"mul": 1}, {"mul": 4, "add": 2}),
    # Smith's method, both sides of its choice.
    "over": ({"div": 1}, {"div": 6, "mul": 6, "add": 6, "compare": 1}),
    "size": ({"sign": 1}, {"sign": 2, "add": 1}),
    "part": ({"div": 1}, {"div": 2}),  # by a real number
    "square": ({"mul": 1, "add": 1}, {"mul": 2, "add": 2}),  # added to a sum
}


class Dense(BoardSkeleton[DenseKey]):
    """An item of work is a matrix of a batch, or one column of one."""

    together = "dense"

    def __init__(self, kind: str, words: Routine) -> None:
        self.name = self.word = f"dense_{kind}"
        self.words = words

    def parameters(self, key: DenseKey) -> tuple[Parameter, ...]:
        """Pointers, offsets, numbers."""
        parameters: list[Parameter] = []
        names = []
        for word in self.words.operands.split():
            name, _, other = word.removeprefix("=").partition(":")
            const = "const " if word[0] == "=" else ""
            parameters.append(("*", f"{const}{other or source.scalar(key.dtype)} *", name))
            names.append(name)
        parameters += [("long", "long ", f"{name}_offset") for name in names]
        for word in self.words.numbers.split():
            of = "long" if word[0] == "+" else "int"
            parameters.append((of, f"{of} ", word.removeprefix("+")))
        return tuple(parameters)

    def helpers(self, key: DenseKey) -> list[str]:
        """Columns, and numbers that are complex; an order of rows needs neither."""
        if key.dtype.kind == "i":
            return []
        return ["math.h", *(["complex.h"] if key.dtype.is_complex else []), "dense.h"]

    def defines(self, key: DenseKey) -> dict[str, object]:
        """What block memory holds."""
        return SIZES if key.held else {"FT_HELD": 0}

    def memories(self, key: DenseKey, structure: str) -> list[LocalMemory]:
        """Matrices, a column or several of each, and the places of rows."""
        return memories(self.word, 8 * key.dtype.itemsize)

    def keys(self, asked: InventoryRequest) -> Iterator[DenseKey]:
        """One for each dtype."""
        for of in asked.dtypes:
            yield DenseKey(self.name, of)

    def lines(self, key: DenseKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def title(self, key: DenseKey) -> str:
        """torch's name."""
        return self.words.title

    def extent(self, launch: KernelLaunch) -> str:
        """Items, and the sizes of a matrix."""
        return "x".join(map(str, launch.geometry[:3]))

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Those of the kernel's text for a unit's items."""
        if fits(self.word, launch.geometry):
            return loops(self.word, launch, unit)
        begin, end = launch.slab(launch.geometry[0], unit)
        each = LOOPS[self.word](launch.key.dtype, *launch.geometry[1:])
        items = end - begin
        return [x._replace(trips=items * x.trips, entries=items * x.entries) for x in each]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """What is held crosses a port once each way. Otherwise a turn reads an element or two, and
        writes one; the matrices cross the link once."""
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
        """What a unit holds at a time."""
        return 4 if fits(self.word, launch.geometry) else 0

    def operators(self, key: DenseKey) -> Mapping[tuple[str, str], int]:
        """Each of the text's, in every lane."""
        kind = "int32" if key.dtype.kind == "i" else source.scalar(key.dtype)
        counts = Counter({(word, kind): n for word, n in self.words.reals.items()})
        for name, times in self.words.elements.items():
            for word, n in ELEMENTS[name][key.dtype.is_complex].items():
                counts[word, kind] += times * n
        return {operator: n * key.lanes for operator, n in counts.items()}


LAYOUT = "items m n lead +step"
# A column less a multiple of another (by ports, and again in block memory); the sum of two columns'
# products; a column's reflection.
LESS = DOT = Counter(times=1, plus=1)
REFLECT = LESS + DOT + Counter(times=1, plus=2)
for kind, words in {
    "lu": Routine(
        "linalg.lu_factor", "a pivots:int info:int", LAYOUT, LESS + LESS + Counter(size=3, over=2), {"compare": 4}
    ),
    "cholesky": Routine(
        "linalg.cholesky", "a info:int", "items n lead +step", LESS + LESS + Counter(part=2), {"compare": 2, "sqrt": 2}
    ),
    "solve": Routine(
        "linalg.solve_triangular",
        "=a b",
        "items n k a_lead b_lead +a_step +b_step upper turned unit",
        LESS + LESS + DOT + Counter(plus=1, over=2),
    ),
    "qr": Routine(
        "geqrf",
        "a tau",
        LAYOUT,
        REFLECT + Counter(size=2, square=1, part=2, over=1, plus=1),
        {"compare": 8, "sqrt": 1, "mul": 1, "add": 1},
    ),
    "reflect": Routine("ormqr", "=a =tau c", "items m k count a_lead c_lead +a_step +c_step adjoint", REFLECT),
    "order": Routine("lu_unpack", "=pivots:int order:long", "items m count", {}, {"compare": 4}),
}.items():
    register(Dense(kind, words))
