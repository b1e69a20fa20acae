"""Plans of Fourier transforms: their stages and twiddle factors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .._tensor import Tensor
from ..iterator.shape import Ints, contiguous_strides, numel
from ..kernels.select import PROCESSOR
from ..kernels.skeletons.fft import (
    BACK,
    CONJ,
    FORTH,
    GROUPS,
    HALF,
    RADICES,
    REAL,
    ROW_BACK,
    ROW_FORTH,
    SCALE,
    SWAP_IN,
    SWAP_OUT,
    TIMES,
    FftStage,
    FftStep,
    StageLayout,
    radices,
)

if TYPE_CHECKING:
    from ..runtime.backend import Backend


Arrays = np.ndarray[Any, Any]
# Bytes of tables that a device keeps.
KEPT_BYTES = 1 << 28
WIDE = ("float64", "complex128")

_tables: WeakKeyDictionary[Backend, OrderedDict[tuple[Hashable, bool], Tensor]]
_tables = WeakKeyDictionary()


@dataclass
class FftTables:
    """Concatenated tables, by name; each is aligned to a vector."""

    lanes: int
    names: list[tuple[Any, ...]] = field(default_factory=list)
    offsets: dict[tuple[Any, ...], int] = field(default_factory=dict)
    size: int = 0

    def place(self, *name: Any) -> int:
        """Returns the offset of the table of this name, in real numbers. Adds the table if it is
        new."""
        if name not in self.offsets:
            self.names.append(name)
            self.offsets[name] = self.size
            self.size += -(-_size(self.lanes, name) // 16) * 16
        return self.offsets[name]

    def array(self) -> Arrays:
        """Returns all tables in one array, in double precision."""
        joined = np.zeros(max(self.size, 16))
        for name in self.names:
            kind, *arguments = name
            table, at = _TABLES[kind](self.lanes, *arguments), self.offsets[name]
            joined[at : at + table.size] = table
        return joined


def _size(lanes: int, name: tuple[Any, ...]) -> int:
    kind, *arguments = name
    if kind == "roots":
        r, length = arguments
        return 2 * ((r - 1) * length * (length > 1) + r * (r not in RADICES))
    if kind == "twiddles":
        a, b = arguments
        return 2 * a * -(-b // lanes) * lanes
    return 2 * {"half": arguments[0] + 1, "chirp": arguments[0]}.get(kind, arguments[-1])


def _roots(lanes: int, r: int, length: int) -> Arrays:
    parts = []
    if length > 1:
        powers = np.arange(length)[:, None] * np.arange(1, r)
        parts.append(unit_roots(powers.reshape(-1), r * length))
    if r not in RADICES:
        parts.append(unit_roots(np.arange(r), r))
    return np.concatenate(parts).view(np.float64)


def _twiddles(lanes: int, a: int, b: int) -> Arrays:
    groups = -(-b // lanes)
    column = np.arange(groups * lanes).reshape(groups, 1, lanes)
    roots = unit_roots((np.arange(a)[None, :, None] * column).reshape(-1), a * b)
    roots = roots.reshape(groups, a, lanes)
    return np.stack([roots.real, roots.imag], 2).reshape(-1)


def _half(lanes: int, h: int) -> Arrays:
    return unit_roots(np.arange(h + 1), 2 * h).view(np.float64)


def chirp(n: int) -> Arrays:
    """Returns exp(-pi i k^2 / n) for k below n."""
    k = np.arange(n, dtype=object if n > 3_000_000_000 else np.int64)
    return unit_roots(k * k % (2 * n), 2 * n)


def chirp_spectrum(n: int, size: int) -> Arrays:
    """Returns the transform of the conjugate chirp, of `size` points, divided by `size`."""
    around = np.zeros(size, np.complex128)
    around[:n] = chirp(n).conj()
    around[size - n + 1 :] = around[n - 1 : 0 : -1]
    return np.fft.fft(around) / size


_TABLES: dict[str, Callable[..., Arrays]] = {
    "roots": _roots,
    "twiddles": _twiddles,
    "half": _half,
    "chirp": lambda lanes, n: chirp(n).view(np.float64),
    "spectrum": lambda lanes, n, size: chirp_spectrum(n, size).view(np.float64),
}


def unit_roots(powers: Arrays, n: int) -> Arrays:
    """Returns exp(-2 pi i k / n) for integers k, to about 2e-16.

    Angles are reduced to an eighth of the circle as integers, so that no rounded angle is large.
    """
    eighths = powers.astype(np.int64) % n * 8
    octant, rest = eighths // n, eighths % n
    odd = octant % 2 == 1
    angle = np.where(odd, n - rest, rest) * (np.pi / 4 / n)
    c, s = np.cos(angle), np.sin(angle)
    c, s = np.where(odd, s, c), np.where(odd, c, s)  # within a quarter turn
    quarter = octant // 2
    re = np.choose(quarter, (c, -s, -c, s))
    im = np.choose(quarter, (s, c, -s, -c))
    return re - 1j * im


def kept_table(x: Tensor, name: Hashable, make: Callable[[], Arrays]) -> Tensor:
    """Returns the table of this name on the device of `x`, in its real dtype: from the cache, or
    converted from the double precision array that `make()` returns."""
    backend = x._storage.backend
    wide = x._dtype.name in WIDE
    kept = _tables.get(backend)
    if kept is None:
        kept = _tables.setdefault(backend, OrderedDict())
    table = kept.get((name, wide))
    if table is None:
        dtype = x._dtype.to_real()
        array = make().astype(dtype.numpy)
        storage = backend.allocate_lasting(array.nbytes)
        storage.device = x._storage.device
        table = Tensor._make(storage, dtype, array.shape, contiguous_strides(array.shape))
        backend.upload(storage, 0, array)
        if len(backend.streams) > 1:
            backend.current_stream().finish()  # other streams will read the table, too
        while kept and sum([t.nbytes for t in kept.values()]) + table.nbytes > KEPT_BYTES:
            kept.popitem(last=False)
        kept[name, wide] = table
    return table


# The most points of a chirp convolution, for a length with a large prime factor, in one launch.
MAX_CHIRP = 8192
COSTS = PROCESSOR.transforms


class FftProblem(NamedTuple):
    """A transform to be planned. Strides count real numbers; `shape` has the other dims, `read` and
    `written` their strides, and `transform_strides` the strides of the transformed dim."""

    how: str  # "complex", "forth" (real to half a spectrum), "back"
    n: int
    size: int  # numbers read; zeros follow
    inverse: bool  # for real transforms: whether the spectrum is conjugated
    shape: Ints
    read: Ints
    written: Ints
    transform_strides: tuple[int, int]
    lanes: int
    units: int
    itemsize: int  # bytes of a real number


class PlannedStep(NamedTuple):
    """A step of the launch: its stages, the number of items and of pieces of each item, its source
    and destination (-1 is a tensor, other numbers are temporaries), and the working memory of a
    compute unit in real numbers."""

    stages: tuple[FftStage, ...]
    shape: Ints
    read: Ints
    written: Ints
    pieces: int
    source: int
    to: int
    work: int


@dataclass
class FftPlan:
    """The steps of a transform, the tables that they share, and the bytes of temporaries."""

    steps: list[PlannedStep]
    tables: FftTables
    intermediate_bytes: Ints = ()
    cost: float = 0.0


def plan(problem: FftProblem) -> FftPlan | None:
    """Returns the cheapest plan; None for a length with a large prime factor that is too long for a
    single step."""
    candidates = [candidate for candidate in (_single(problem), _double(problem)) if candidate is not None]
    return min(candidates, key=lambda candidate: candidate.cost, default=None)


def _pairs(problem: FftProblem) -> bool:
    return problem.how != "complex" and problem.n % 2 == 0


def _single(problem: FftProblem) -> FftPlan | None:
    """Returns a plan with whole transforms in working memory, and the lanes along one of the other
    dims; None if the length is too long."""
    pairs = _pairs(problem)
    n = problem.n // 2 if pairs else problem.n
    tables = FftTables(problem.lanes)
    planned = _steps(n, tables)
    step_sizes = 1 if problem.how == "forth" else 2
    best = max(
        range(len(problem.shape)),
        key=lambda d: (abs(problem.read[d]) == step_sizes and problem.shape[d] >= problem.lanes, problem.shape[d]),
        default=None,
    )
    lanes, read_lane, written_lane = 1, 0, 0
    rest: tuple[Ints, Ints, Ints] = problem.shape, problem.read, problem.written
    if best is not None:
        lanes, read_lane, written_lane = (t[best] for t in rest)
        rest = tuple([t[:best] + t[best + 1 :] for t in rest])  # type: ignore[assignment]
    if radices(n) is None and planned[1] > MAX_CHIRP:
        return None
    steps, points = planned
    s, w = problem.transform_strides
    half = n // 2 + 1 if not pairs else n + 1
    ends = SCALE | (SWAP_IN | SWAP_OUT if problem.inverse else 0)
    mode = real = 0
    read, written = StageLayout(-1, s, read_lane, 1, problem.size), StageLayout(-1, w, written_lane, 1, n)
    if problem.how == "forth":
        if pairs:
            steps = (*steps, FftStep(FORTH, CONJ * problem.inverse, n, tables.place("half", n)))
            read, ends = StageLayout(-1, 2 * s, read_lane, s, n), SCALE
        else:
            read, mode = read._replace(im=0), REAL
        written = written._replace(size=half)
    elif problem.how == "back":
        read = read._replace(size=half)
        if pairs:
            steps = (FftStep(BACK, CONJ * problem.inverse, n, tables.place("half", n)), *steps)
            written, ends = StageLayout(-1, 2 * w, written_lane, w, n), SCALE | SWAP_OUT
        else:
            mode, real, written = HALF, 1, written._replace(im=0)
            ends = SCALE | (0 if problem.inverse else SWAP_IN | SWAP_OUT)
    size = max(points, half if problem.how != "complex" else 0) * 2 * problem.lanes
    stage = FftStage(GROUPS, lanes, n, ends, read, mode, 0, written, real, size, -1, steps)
    groups, items = -(-lanes // problem.lanes), numel(rest[0])
    share = max(1, min(problem.units, groups * items))
    cost = groups * items / share * _cost(steps, points, problem)
    if lanes > 1 and (read_lane not in (1, 2) and s != step_sizes):
        cost *= COSTS.all_picked
    pieces = groups
    part = PlannedStep((stage,), rest[0], rest[1], rest[2], pieces, -1, -1, 2 * size)
    return FftPlan([part], tables, cost=cost)


def _cost(steps: tuple[FftStep, ...], points: int, problem: FftProblem) -> float:
    """Returns the approximate cost of the steps for a group of transforms. The unit is one pass
    over the group's vectors."""
    cached_bytes = 4 * points * problem.lanes * problem.itemsize
    far = COSTS.beyond_near if cached_bytes <= COSTS.far else COSTS.beyond_far
    factor = 1.0 if cached_bytes <= COSTS.near else far
    plain = COSTS.plain_radix
    passes = sum(step.n * (1 if step.what in RADICES or step.what <= 1 else step.what * plain) for step in steps)
    return factor * (passes + 2 * points) + COSTS.group


def _double(problem: FftProblem) -> FftPlan | None:
    """Returns a plan for rows of n = a * b numbers: b transforms of a numbers, then a transforms of
    b; None if it does not fit. One unit runs each row, or separate launches share each row's groups
    among the units."""
    pairs = _pairs(problem)
    n = problem.n // 2 if pairs else problem.n
    whole = problem.size == problem.n or problem.how == "back"
    step_sizes = {"forth": (1, 2), "back": (2, 1)}.get(problem.how, (2, 2))
    if n < 16 or not whole or problem.transform_strides != step_sizes or (problem.how != "complex" and not pairs):
        return None
    rows = numel(problem.shape)
    apart = rows < problem.units
    splits = [_split(a, n // a, problem) for a in _divisors(n)]
    split = min([one for one in splits if one], key=lambda one: one[0], default=None)
    if split is None:
        return None
    cost, a, b = split
    tables = FftTables(problem.lanes)
    first, second = _steps(a, tables)[0], _steps(b, tables)[0]
    twiddles = tables.place("twiddles", a, b)
    half = 2 * problem.lanes * max(a, b)
    # Memory between stages: a row before the first stage and one after it (for real numbers one
    # more).
    mids = 2 if pairs else 1
    row = -(-(2 * n) // 16) * 16
    buffer_offsets = [-1] * mids if apart else [k * row for k in range(mids)]
    work = 0 if apart else mids * row
    inverse = problem.how == "back" or (problem.how == "complex" and problem.inverse)
    start = buffer_offsets[1] if problem.how == "back" else -1
    stop = buffer_offsets[1] if problem.how == "forth" else -1
    ends = SWAP_IN if inverse and problem.how == "complex" else 0
    last = (SWAP_OUT if inverse else 0) | (SCALE if problem.how != "forth" else 0)
    stages = [
        FftStage(
            GROUPS, b, a, ends, StageLayout(start, 2 * b, 2, 1, a), 0, work,
            StageLayout(buffer_offsets[0], 2 * b, 2, 1, a), 0, half, twiddles, first,
        ),
        FftStage(
            GROUPS, a, b, last, StageLayout(buffer_offsets[0], 2, 2 * b, 1, b), 0, work,
            StageLayout(stop, 2 * a, 2, 1, b), 0, half, -1, second,
        ),
    ]  # fmt: skip
    order = [-1, 0, -1]  # source and destination of each stage: -1 for a tensor, else a temporary
    if pairs:
        roots, conj = tables.place("half", n), CONJ * problem.inverse
        if problem.how == "forth":
            flat = StageLayout(stop, 0, 0, 0, n), StageLayout(-1, 0, 0, 0, n + 1)
            kind, ends = ROW_FORTH, SCALE | conj
            order = [-1, 0, 1, -1]
        else:
            flat = StageLayout(-1, 0, 0, 0, n + 1), StageLayout(start, 0, 0, 0, n)
            kind, ends = ROW_BACK, conj
            order = [-1, 1, 0, -1]
        stage = FftStage(kind, n, n, ends, flat[0], 0, 0, flat[1], 0, 0, roots, ())
        stages.insert(2 if problem.how == "forth" else 0, stage)
    if not apart:
        share = max(1, min(problem.units, rows))
        part = PlannedStep(tuple(stages), problem.shape, problem.read, problem.written, 1, -1, -1, work + 2 * half)
        return FftPlan([part], tables, cost=cost * rows / share)
    parts = []
    dense = _dense(problem.shape, row)
    for stage, source, to in zip(stages, order, order[1:]):
        read, written = (problem.read if source < 0 else dense), (problem.written if to < 0 else dense)
        groups = -(-stage.lanes // problem.lanes)
        pieces = min(groups, 4 * -(-problem.units // rows))
        parts.append(PlannedStep((stage,), problem.shape, read, written, pieces, source, to, 2 * half))
    intermediate_bytes = (rows * row * problem.itemsize,) * mids
    return FftPlan(parts, tables, intermediate_bytes, cost * rows / problem.units + COSTS.launch)


def _dense(shape: Ints, row: int) -> Ints:
    strides: list[int] = []
    for size in reversed(shape):
        strides.append(row)
        row *= size
    return tuple(reversed(strides))


def _split(a: int, b: int, problem: FftProblem) -> tuple[float, int, int] | None:
    if radices(a) is None or radices(b) is None:
        return None
    cost = 0.0
    for n, lanes in ((a, b), (b, a)):
        groups = -(-lanes // problem.lanes)
        steps, _ = _steps(n, FftTables(problem.lanes))
        cost += groups * _cost(steps, n, problem)
        if lanes % problem.lanes:  # the last group is read number by number
            cost += COSTS.picked * n
    return cost, a, b


@cache
def _divisors(n: int) -> Ints:
    return (
        tuple([a for a in range(2, n // 2 + 1) if n % a == 0])
        if n < 4096
        else tuple(sorted({d for a in range(2, int(n**0.5) + 1) if n % a == 0 for d in (a, n // a)}))
    )


def _steps(n: int, tables: FftTables) -> tuple[tuple[FftStep, ...], int]:
    """Returns the steps of a transform of n numbers in working memory, and the number of points
    that it holds.

    A length with a large prime factor is a convolution (L. Bluestein, 1970): k m = (k^2 + m^2 - (k
    - m)^2) / 2 turns the sum into a convolution of x[m] w[m] with conj(w[k - m]), times w[k], where
    w[k] = exp(-pi i k^2 / n).
    """
    if radices(n) is not None:
        return _passes(n, tables), n
    size = smooth(2 * n - 1)
    chirp, spectrum = tables.place("chirp", n), tables.place("spectrum", n, size)
    passes = _passes(size, tables)
    return (
        FftStep(TIMES, size << 2, n, chirp),
        *passes,
        FftStep(TIMES, SWAP_OUT, size, spectrum),
        *passes,
        FftStep(TIMES, SWAP_IN, n, chirp),
    ), size


def _passes(n: int, tables: FftTables) -> tuple[FftStep, ...]:
    passes, length = [], 1
    for r in radices(n) or ():
        at = tables.place("roots", r, length) if length > 1 or r not in RADICES else 0
        passes.append(FftStep(r, length, n, at))
        length *= r
    return tuple(passes)


def smooth(least: int) -> int:
    """Returns the smallest length of at least `least` points whose passes have small radices."""
    power = 1 << (least - 1).bit_length()
    return min(m for m in (power, power // 8 * 5, power // 4 * 3) if m >= least)
