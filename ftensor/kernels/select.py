"""Kernel selection for a plan: access kinds, geometry buffers, compute units, and the costs by which
launches choose between kernels.

A cost holds for all devices of a family. Each table names the command that measures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

from ..iterator.plan import Plan, ReducePlan
from ..iterator.shape import COUNTED
from .key import LINEAR, ROW_VECTORS, SINGLE, STRIDED
from .skeletons.elementwise import RowsGeometry
from .skeletons.reduce import INNER_VECTORS, OUTER_VECTORS, FoldGeometry
from .workload import Ints

# Calls of expensive functions in expressions, and the cost of one call in additions of elements in
# memory: python benchmarks/bench.py --only medium.
STEEP = re.compile(r"\b(?:ft[xkgor]_\w+|\w*(?:exp|log|pow|sin|cos|tan|erf|gamma|hypot)\w*)\(")
STEEP_ADDITIONS = 2


@dataclass(frozen=True)
class Convolutions:
    """Costs of convolutions of small planes, in vector products: python benchmarks/conv.py."""

    # A row of a panel that reads the planes unpacked; the start of a panel.
    lying_row: float = 1.1
    panel: float = 0.4
    # Cost of a step's copies: four pieces of 4 elements; a piece of 8 among at most two; a piece of
    # 8 among more.
    fours: float = 5.0
    eight: float = 1.5
    eights: float = 2.5
    # Cost of six rows of packed panels; overhead of a tile of packed panels; cost of packing an
    # element.
    packed_rows: float = 6.1
    packed_tile: float = 2.0
    packed: float = 1.5
    # Cost of packing an element with non-contiguous neighbours; overhead of packing a row.
    apart: float = 9.0
    packed_row: float = 10.0
    # Cost of a tile along whole planes, which skips the elements between results, relative to a
    # tile along a row.
    whole_planes: float = 1.02


@dataclass(frozen=True)
class Transforms:
    """Costs of Fourier transforms, in vectors that a pass reads and writes: python
    benchmarks/bench.py --only spectral."""

    # Bytes of a compute unit's working memory that fit the first and the second cache, and the
    # factor of a pass beyond each.
    near: int = 48 << 10
    far: int = 3 << 19
    beyond_near: float = 1.6
    beyond_far: float = 4.0
    # A pass of a radix r without a butterfly of its own takes `plain_radix` * r times as long.
    plain_radix: float = 1 / 4
    # Overhead of a group; cost of a number that is read by itself; its factor if all are; cost of
    # another launch.
    group: int = 10
    picked: int = 4
    all_picked: int = 3
    launch: int = 20000


@dataclass(frozen=True)
class Costs:
    """Cost tables of a device family."""

    convolutions: Convolutions = Convolutions()
    transforms: Transforms = Transforms()


PROCESSOR = Costs()


def additions(texts: Iterable[str]) -> int:
    """Returns the approximate cost of these expressions, in additions of elements in memory."""
    return 1 + STEEP_ADDITIONS * sum(len(STEEP.findall(text)) for text in texts)


# Vectors folded into one partial result before it joins the next level of a reduction.
FOLD_VECTORS = 64
# Loop interchange pays if it turns rows shorter than a vector into rows of at least
# LONG_ROW_VECTORS vectors, and the two loops visit at most MAX_CACHED_ELEMENTS elements, which stay
# in a processor's cache.
LONG_ROW_VECTORS = 4
MAX_CACHED_ELEMENTS = 1 << 18


class WorkSharing(Protocol):
    """How a device family shares work among compute units."""

    @property
    def grid(self) -> str:
        """How units share vectors: "slab" for a contiguous part each, "stride" for a loop over all
        with the grid's stride."""

    @property
    def unit_elements(self) -> int:
        """Elements per compute unit below which another unit does not pay."""

    @property
    def short_row(self) -> int:
        """Row length in vectors below which each lane folds its own row. Strided loads then cost
        less than combining the lanes at the end of every row."""

    @property
    def row_vectors(self) -> tuple[int, int]:
        """The vectors of a row in a chunk, and the number of states that are folded in parallel."""


@dataclass(frozen=True)
class LaunchChoice:
    """Configuration of a launch: skeleton, access kinds, compute units, and n or geometry
    buffer."""

    skeleton: str
    kinds: tuple[str, ...]
    units: int
    n: int = 0
    geometry: Ints | None = None


def access_kind(stride: int) -> str:
    """Returns the access kind for a stride in the innermost loop."""
    return LINEAR if stride == 1 else SINGLE if stride == 0 else STRIDED


def compute_units(elements: int, max_units: int, target: WorkSharing, lanes: int) -> int:
    """Returns the compute units for a launch over `elements`, from 1 to `max_units`."""
    if target.grid == "stride":
        return max(1, min(max_units, -(-elements // lanes)))
    return max(1, min(max_units, elements // target.unit_elements))


def long_rows(shape: Ints, strides: Sequence[Ints], lanes: int) -> tuple[Ints, tuple[Ints, ...]]:
    """Returns (sizes, strides) of the loop nest. If rows are shorter than a vector, a long dim
    becomes the innermost, since index updates between rows cost more than strided accesses to a
    near cache: one in which an operand is contiguous, else the longest of a small nest."""
    if shape[-1] >= lanes:
        return shape, tuple(strides)
    long = [d for d, n in enumerate(shape) if n >= LONG_ROW_VECTORS * lanes]
    dims = [d for d in long if shape[d] * shape[-1] <= MAX_CACHED_ELEMENTS and any(s[d] == 1 for s in strides)]
    if not dims and prod(shape) <= MAX_CACHED_ELEMENTS:
        dims = long
    if not dims:
        return shape, tuple(strides)
    longest = max(dims, key=lambda d: shape[d])
    order = [*[d for d in range(len(shape)) if d != longest], longest]
    return tuple(shape[d] for d in order), tuple(tuple(s[d] for d in order) for s in strides)


def choose_map(
    shape: Ints,
    strides: Sequence[Ints],
    max_units: int,
    target: WorkSharing,
    lanes: int,
    element_cost: int = 1,
    ordered: bool = False,
) -> LaunchChoice:
    """Returns the launch of a pointwise plan or a piece of a plan. An element costs `element_cost`
    additions. `ordered` means that a row may read elements that an earlier row wrote."""
    n = prod(shape)
    units = compute_units(n * element_cost, max_units, target, lanes)
    if len(shape) == 1 and (n == 1 or all(s[0] in (0, 1) for s in strides)):
        kinds = tuple(LINEAR if n == 1 else access_kind(s[0]) for s in strides)
        return LaunchChoice("map", kinds, units, n=n)
    kinds = tuple(access_kind(s[-1]) for s in strides)
    return _rows_choice(shape, strides, units, kinds, ordered)


def choose_strided(
    shape: Ints, strides: Sequence[Ints], max_units: int, target: WorkSharing, ordered: bool
) -> LaunchChoice:
    """Returns the launch of a pointwise plan on the one-lane kernel that takes any layout."""
    units = compute_units(prod(shape), max_units, target, 1)
    return _rows_choice(shape, strides, units, (STRIDED,) * len(strides), ordered)


def as_vector_rows(strided: LaunchChoice) -> LaunchChoice:
    """Returns `strided` for the kernel of whole-vector rows; rows must be whole vectors."""
    return replace(strided, kinds=(LINEAR,) + (ROW_VECTORS,) * (len(strided.kinds) - 1))


def _rows_choice(
    shape: Ints, strides: Sequence[Ints], units: int, kinds: tuple[str, ...], ordered: bool
) -> LaunchChoice:
    geometry = RowsGeometry.of(shape, tuple(strides), units, ordered)
    return LaunchChoice("rows", kinds, min(units, geometry.total), geometry=geometry.pack())


def rows_geometry(shape: Ints, strides: Sequence[Ints], max_units: int, target: WorkSharing) -> tuple[Ints, int]:
    """Returns (geometry buffer, compute units) of the rows skeleton for located operands."""
    units = compute_units(prod(shape), max_units, target, 1)
    geometry = RowsGeometry.of(shape, tuple(strides), units)
    return geometry.pack(), min(units, geometry.total)


@dataclass(frozen=True)
class FoldChoice:
    """Configuration of a reduction's launch; if `splits` > 1, a second launch folds the splits."""

    skeleton: str
    kinds: tuple[str, ...]  # outputs first
    units: int
    splits: int
    geometry: Ints
    vectors: int


def choose_fold(
    plan: ReducePlan,
    outputs: int,
    most: int,
    target: WorkSharing,
    lanes: int,
    split: bool,
    strided: bool = False,
    row_wise: bool = False,
    max_result_vectors: int = OUTER_VECTORS,
    row_vectors: int = 0,
) -> FoldChoice:
    """Returns the launch of a reduction. `plan.kept_strides` holds `outputs` outputs, then the
    inputs.

    `strided` selects the kernel that accepts any layout; `lanes` is 1 then. `row_wise` folds along
    rows of any length. `max_result_vectors` limits the result vectors in parallel. `row_vectors` is
    the number of row vectors in parallel; 0 selects the target's.
    """
    kept, reduced = plan.kept, plan.reduced
    input_strides = plan.kept_strides[outputs] if len(plan.kept_strides) > outputs else (0,)
    results, work_elements = prod(kept), prod(reduced)
    reduced_stride = abs(plan.reduced_strides[0][-1]) if plan.reduced_strides else 1
    kept_stride = abs(input_strides[-1])
    outer = not (strided or row_wise) and (
        kept[-1] >= lanes
        and kept_stride != 0
        and (kept_stride < reduced_stride or reduced[-1] < target.short_row * lanes)
    )
    if outer:
        inner = kept[-1]
        vectors = 1
        while kept_stride == 1 and vectors < max_result_vectors and 2 * vectors * lanes <= inner:
            vectors *= 2
        chunk = vectors * lanes
        chunks = -(-inner // chunk)
        base = prod(kept[:-1]) * chunks
        work = work_elements
        kept_shape, shape = kept[:-1], reduced
        kept_strides = tuple(s[:-1] for s in plan.kept_strides)
        strides: Sequence[Ints] = plan.reduced_strides
        steps = tuple(s[-1] for s in plan.kept_strides)
        kinds = tuple(access_kind(s) for s in steps)
    else:
        chunk_vectors, default_vectors = target.row_vectors
        inner = reduced[-1]
        long_row = inner >= 2 * INNER_VECTORS * lanes and not strided
        vectors = (row_vectors or default_vectors) if long_row else 1
        # A chunk has the same number of sequential additions, however many states there are.
        chunk = (chunk_vectors * vectors // default_vectors if long_row else FOLD_VECTORS) * lanes
        chunks = max(1, -(-inner // chunk))
        base = results
        work = prod(reduced[:-1]) * chunks
        kept_shape, shape = kept, reduced[:-1]
        kept_strides = plan.kept_strides
        strides = tuple(s[:-1] for s in plan.reduced_strides)
        steps = (0,) * outputs + tuple(s[-1] for s in plan.reduced_strides)
        kinds = (LINEAR,) * outputs
        kinds += tuple(STRIDED if strided else access_kind(s) for s in steps[outputs:])
    units = compute_units(results * work_elements, most, target, lanes)
    splits = max(1, min(units // max(base, 1), work)) if split else 1
    items = base * splits
    # Sizes are at least 1, since kernels divide by them also if loops have no iterations.
    geometry = FoldGeometry(
        splits,
        items,
        inner,
        chunk,
        chunks,
        work,
        results,
        kept_shape,
        kept_strides,
        tuple(max(size, 1) for size in shape),
        ((0,) * len(shape),) * outputs + tuple(strides),
        steps,
    )
    skeleton = "reduce_outer" if outer else "reduce_inner"
    return FoldChoice(skeleton, kinds, max(1, min(units, items)), splits, geometry.pack(), vectors)


def interleaves_rows(choice: FoldChoice, outputs: int, lanes: int, vectors: int) -> bool:
    """True if a kernel with `vectors` parallel states interleaves the rows (`FoldGeometry.turns`).

    Interleaved rows need not begin on beats.
    """
    if choice.skeleton != "reduce_inner":
        return False
    first_kind, *other_kinds = choice.kinds[outputs:]
    in_vectors = first_kind == LINEAR and all(kind == SINGLE for kind in other_kinds)
    return in_vectors and FoldGeometry.unpack(choice.geometry).turns(lanes, vectors)


def needs_split(plan: Plan) -> bool:
    """True if an index of the plan exceeds COUNTED, so that the plan must be cut into pieces."""
    if prod(plan.shape) > COUNTED:
        return True
    return any(sum(abs(s) * (n - 1) for n, s in zip(plan.shape, strides)) > COUNTED for strides in plan.strides)
