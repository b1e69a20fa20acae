"""How a Fourier transform goes: which stages of `kernels.skeletons.fft`, with which tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..iterator.shape import Ints, numel
from ..kernels.costs import PROCESSOR
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
    FftStep,
    Side,
    Stage,
    radices,
)
from .fft_tables import Tables

# A length with a large prime factor becomes a convolution in one launch up to so many points.
MOST_CHIRP = 8192
COSTS = PROCESSOR.transforms


class Given(NamedTuple):
    """A transform to be planned. Strides are in real numbers; `shape` is that of the other dims,
    `read` and `written` their strides, `along` those of the transformed dim."""

    how: str  # "complex", "forth" (real to half a spectrum), "back"
    n: int
    size: int  # numbers that are read; zeros follow
    inverse: bool  # of real ones: whether the spectrum is conjugated
    shape: Ints
    read: Ints
    written: Ints
    along: tuple[int, int]
    lanes: int
    units: int
    itemsize: int  # of a real number


class Part(NamedTuple):
    """A launch's step: its stages, the items and the pieces of each, what it reads and writes (-1:
    the tensors, else temporary memory), and the reals of a unit's working memory."""

    stages: tuple[Stage, ...]
    shape: Ints
    read: Ints
    written: Ints
    pieces: int
    source: int
    to: int
    work: int


@dataclass
class Way:
    """The parts of a transform, the tables that they share, bytes of temporaries."""

    parts: list[Part]
    tables: Tables
    between: Ints = ()
    cost: float = 0.0


def plan(given: Given) -> Way | None:
    """The cheapest way; None for a length with a large prime factor that is too long for one."""
    ways = [way for way in (_single(given), _double(given)) if way is not None]
    return min(ways, key=lambda way: way.cost, default=None)


def _pairs(given: Given) -> bool:
    """Whether real numbers go as pairs that are complex ones."""
    return given.how != "complex" and given.n % 2 == 0


def _single(given: Given) -> Way | None:
    """Whole transforms in the working memory, the lanes along one of the other dims."""
    pairs = _pairs(given)
    n = given.n // 2 if pairs else given.n
    tables = Tables(given.lanes)
    made = _steps(n, tables)
    near = 1 if given.how == "forth" else 2
    best = max(
        range(len(given.shape)),
        key=lambda d: (abs(given.read[d]) == near and given.shape[d] >= given.lanes, given.shape[d]),
        default=None,
    )
    lanes, read_lane, written_lane = 1, 0, 0
    rest: tuple[Ints, Ints, Ints] = given.shape, given.read, given.written
    if best is not None:
        lanes, read_lane, written_lane = (t[best] for t in rest)
        rest = tuple([t[:best] + t[best + 1 :] for t in rest])  # type: ignore[assignment]
    if radices(n) is None and made[1] > MOST_CHIRP:
        return None
    steps, points = made
    s, w = given.along
    half = n // 2 + 1 if not pairs else n + 1
    ends = SCALE | (SWAP_IN | SWAP_OUT if given.inverse else 0)
    mode = real = 0
    read, written = Side(-1, s, read_lane, 1, given.size), Side(-1, w, written_lane, 1, n)
    if given.how == "forth":
        if pairs:
            steps = (*steps, FftStep(FORTH, CONJ * given.inverse, n, tables.place("half", n)))
            read, ends = Side(-1, 2 * s, read_lane, s, n), SCALE
        else:
            read, mode = read._replace(im=0), REAL
        written = written._replace(size=half)
    elif given.how == "back":
        read = read._replace(size=half)
        if pairs:
            steps = (FftStep(BACK, CONJ * given.inverse, n, tables.place("half", n)), *steps)
            written, ends = Side(-1, 2 * w, written_lane, w, n), SCALE | SWAP_OUT
        else:
            mode, real, written = HALF, 1, written._replace(im=0)
            ends = SCALE | (0 if given.inverse else SWAP_IN | SWAP_OUT)
    size = max(points, half if given.how != "complex" else 0) * 2 * given.lanes
    stage = Stage(GROUPS, lanes, n, ends, read, mode, 0, written, real, size, -1, steps)
    groups, items = -(-lanes // given.lanes), numel(rest[0])
    share = max(1, min(given.units, groups * items))
    cost = groups * items / share * _cost(steps, points, given)
    if lanes > 1 and (read_lane not in (1, 2) and s != near):
        cost *= COSTS.all_picked
    pieces = groups
    part = Part((stage,), rest[0], rest[1], rest[2], pieces, -1, -1, 2 * size)
    return Way([part], tables, cost=cost)


def _cost(steps: tuple[FftStep, ...], points: int, given: Given) -> float:
    """About what a group costs, in passes over its vectors."""
    held = 4 * points * given.lanes * given.itemsize
    far = COSTS.beyond_near if held <= COSTS.far else COSTS.beyond_far
    factor = 1.0 if held <= COSTS.near else far
    plain = COSTS.plain_radix
    passes = sum(step.n * (1 if step.what in RADICES or step.what <= 1 else step.what * plain) for step in steps)
    return factor * (passes + 2 * points) + COSTS.group


def _double(given: Given) -> Way | None:
    """Rows of n = a * b numbers: b transforms of a numbers, then a of b; each row by one unit, or
    in launches of their own, whose groups the units share."""
    pairs = _pairs(given)
    n = given.n // 2 if pairs else given.n
    whole = given.size == given.n or given.how == "back"
    near = {"forth": (1, 2), "back": (2, 1)}.get(given.how, (2, 2))
    if n < 16 or not whole or given.along != near or (given.how != "complex" and not pairs):
        return None
    rows = numel(given.shape)
    apart = rows < given.units
    found = [_split(a, n // a, given) for a in _divisors(n)]
    split = min([one for one in found if one], key=lambda one: one[0], default=None)
    if split is None:
        return None
    cost, a, b = split
    tables = Tables(given.lanes)
    first, second = _steps(a, tables)[0], _steps(b, tables)[0]
    twiddles = tables.place("twiddles", a, b)
    half = 2 * given.lanes * max(a, b)
    # Memory between stages: a row before the first, one after it (and one more of real numbers).
    mids = 2 if pairs else 1
    row = -(-(2 * n) // 16) * 16
    places = [-1] * mids if apart else [k * row for k in range(mids)]
    work = 0 if apart else mids * row
    inverse = given.how == "back" or (given.how == "complex" and given.inverse)
    start = places[1] if given.how == "back" else -1
    stop = places[1] if given.how == "forth" else -1
    ends = SWAP_IN if inverse and given.how == "complex" else 0
    last = (SWAP_OUT if inverse else 0) | (SCALE if given.how != "forth" else 0)
    stages = [
        Stage(
            GROUPS, b, a, ends, Side(start, 2 * b, 2, 1, a), 0, work,
            Side(places[0], 2 * b, 2, 1, a), 0, half, twiddles, first,
        ),
        Stage(
            GROUPS, a, b, last, Side(places[0], 2, 2 * b, 1, b), 0, work,
            Side(stop, 2 * a, 2, 1, b), 0, half, -1, second,
        ),
    ]  # fmt: skip
    order = [-1, 0, -1]  # what the stages read and write: the tensors, or temporary memory
    if pairs:
        roots, conj = tables.place("half", n), CONJ * given.inverse
        if given.how == "forth":
            flat = Side(stop, 0, 0, 0, n), Side(-1, 0, 0, 0, n + 1)
            kind, ends = ROW_FORTH, SCALE | conj
            order = [-1, 0, 1, -1]
        else:
            flat = Side(-1, 0, 0, 0, n + 1), Side(start, 0, 0, 0, n)
            kind, ends = ROW_BACK, conj
            order = [-1, 1, 0, -1]
        stage = Stage(kind, n, n, ends, flat[0], 0, 0, flat[1], 0, 0, roots, ())
        stages.insert(2 if given.how == "forth" else 0, stage)
    if not apart:
        share = max(1, min(given.units, rows))
        part = Part(tuple(stages), given.shape, given.read, given.written, 1, -1, -1, work + 2 * half)
        return Way([part], tables, cost=cost * rows / share)
    parts = []
    dense = _dense(given.shape, row)
    for stage, source, to in zip(stages, order, order[1:]):
        read, written = (given.read if source < 0 else dense), (given.written if to < 0 else dense)
        groups = -(-stage.lanes // given.lanes)
        pieces = min(groups, 4 * -(-given.units // rows))
        parts.append(Part((stage,), given.shape, read, written, pieces, source, to, 2 * half))
    between = (rows * row * given.itemsize,) * mids
    return Way(parts, tables, between, cost * rows / given.units + COSTS.launch)


def _dense(shape: Ints, row: int) -> Ints:
    """Strides of rows one after another."""
    strides: list[int] = []
    for size in reversed(shape):
        strides.append(row)
        row *= size
    return tuple(reversed(strides))


def _split(a: int, b: int, given: Given) -> tuple[float, int, int] | None:
    if radices(a) is None or radices(b) is None:
        return None
    cost = 0.0
    for n, lanes in ((a, b), (b, a)):
        groups = -(-lanes // given.lanes)
        steps, _ = _steps(n, Tables(given.lanes))
        cost += groups * _cost(steps, n, given)
        if lanes % given.lanes:  # the last group is picked number by number
            cost += COSTS.picked * n
    return cost, a, b


@cache
def _divisors(n: int) -> Ints:
    return (
        tuple([a for a in range(2, n // 2 + 1) if n % a == 0])
        if n < 4096
        else tuple(sorted({d for a in range(2, int(n**0.5) + 1) if n % a == 0 for d in (a, n // a)}))
    )


def _steps(n: int, tables: Tables) -> tuple[tuple[FftStep, ...], int]:
    """The steps of a transform of n numbers in the working memory, and how many it has to hold.

    A length with a large prime factor is a convolution (L. Bluestein, 1970): k m = (k^2 + m^2 -
    (k - m)^2) / 2 makes the sum one of x[m] w[m] with conj(w[k - m]), times w[k], where w[k] =
    exp(-pi i k^2 / n).
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


def _passes(n: int, tables: Tables) -> tuple[FftStep, ...]:
    made, length = [], 1
    for r in radices(n) or ():
        at = tables.place("roots", r, length) if length > 1 or r not in RADICES else 0
        made.append(FftStep(r, length, n, at))
        length *= r
    return tuple(made)


def smooth(least: int) -> int:
    """The smallest length of at least so many points whose passes are all of small radices."""
    power = 1 << (least - 1).bit_length()
    return min(m for m in (power, power // 8 * 5, power // 4 * 3) if m >= least)
