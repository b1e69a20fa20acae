"""dense: factors of matrices and solutions with them (hls/dense.h and hls/skeleton/dense_*.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ...dtypes import dtype
from .. import ctype
from ..board_skeleton import BoardSkeleton
from ..key import lanes_for
from ..skeleton import Parameter, register
from ..words import Asked, KernelTarget, table_lines
from ..work import Access, KernelLaunch, LocalMemory, Loop
from . import dense_held, dense_loops


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
            parameters.append(("*", f"{const}{other or ctype.scalar(key.dtype)} *", name))
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
        return dense_held.SIZES if key.held else {"FT_HELD": 0}

    def memories(self, key: DenseKey, structure: str) -> list[LocalMemory]:
        """Matrices, a column or several of each, and the places of rows."""
        return dense_held.memories(self.word, 8 * key.dtype.itemsize)

    def keys(self, asked: Asked) -> Iterator[DenseKey]:
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

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """Those of the kernel's text for a unit's items."""
        if dense_held.fits(self.word, launch.geometry):
            return dense_held.loops(self.word, launch, unit)
        begin, end = launch.slab(launch.geometry[0], unit)
        each = dense_loops.LOOPS[self.word](launch.key.dtype, *launch.geometry[1:])
        items = end - begin
        return [x._replace(trips=items * x.trips, entries=items * x.entries) for x in each]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """What is held crosses a port once each way. Otherwise a turn reads an element or two, and
        writes one; the matrices cross the link once."""
        if dense_held.fits(self.word, launch.geometry):
            return dense_held.traffic(self.word, launch)
        items, key = launch.geometry[0], launch.key
        each = dense_loops.LOOPS[self.word](key.dtype, *launch.geometry[1:])
        turns, entries = (sum(n) for n in zip(*((x.trips, x.entries) for x in each)))
        run, parts = max(1, turns // max(entries, 1)), 2 if key.dtype.is_complex else 1
        size, matrix = key.dtype.itemsize, prod(launch.geometry[1:3])
        moved = [(name, write, times * items * turns) for name, write, times in (("a", False, 2), ("b", True, 1))]
        return [
            Access(name, write, n * size, n * parts, run * parts, items * matrix * size) for name, write, n in moved
        ]

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        """What a unit holds at a time."""
        return 4 if dense_held.fits(self.word, launch.geometry) else 0

    def operators(self, key: DenseKey) -> Mapping[tuple[str, str], int]:
        """Each of the text's, in every lane."""
        kind = "int32" if key.dtype.kind == "i" else ctype.scalar(key.dtype)
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
