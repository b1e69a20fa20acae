"""Gradients of small convolutions' weights and bias on CPUs: one launch for both."""

from __future__ import annotations

import itertools
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from .._tensor import Tensor
from ..iterator.shape import Ints
from ..kernels.skeletons.conv import ConvKey
from ..kernels.skeletons.cpu.conv import PLANES, ROWS, STEPS, ConvWeightGeometry, conv_weight_key
from . import output
from .conv_plan import Class, ConvWindows, Tap, in_line, padded_planes, phases, three
from .dispatch import try_run
from .launch import Launch, Output, Step

if TYPE_CHECKING:
    from ..dtypes import dtype
    from ..runtime.targets import Target

OUT, BIAS, GRAD, X = range(4)
# The number of terms that cost about as much as a streamed element.
TERMS = 8
# Vectors of fewer filters leave most of their sums unused.
FILTERS = 6
# The cost of transposing the gradients for a part, in rows.
TURNED = 6


class Case(NamedTuple):
    """The parameters on which the plan of a gradient depends."""

    grad: tuple[Ints, Ints]  # shape, strides
    x: tuple[Ints, Ints]
    weight: Ints
    of: ConvWindows
    bias: bool


def weight_gradients(
    grad: Tensor, x: Tensor, weight: Ints, of: ConvWindows, bias: bool
) -> tuple[Tensor, Tensor | None] | None:
    """Returns the gradients of a convolution's weight (O, C / groups, *kernel) and bias (O,), from
    the gradient (N, O, *counts) of its result. Returns None if no small-plane kernel fits. If
    compute units share the samples, the gradients have a leading dim that the caller sums."""
    key, args = ("conv_weight", grad._key, x._key, weight, of, bias), (grad, x, weight, of, bias)
    gradients = try_run(x._storage.backend, key, prepare, weight_gradients, args, (grad, x))
    return None if gradients is None else (gradients[0], gradients[1] if bias else None)


@lru_cache(1 << 12)
def plan(target: Target, units: int, of: dtype, case: Case) -> tuple[ConvKey, ConvWeightGeometry] | None:
    """Returns the kernel key and geometry; None if a sample's planes exceed the local buffer, or a
    vector of filters would be mostly empty."""
    (shape, steps), (x, own), groups = case.grad, case.x, case.of.groups
    of_ = case.of.near(case.weight[2:], shape[2:])
    channels, counts = x[1] // groups, three(shape[2:], 1)
    kernel = case.weight[2:]
    filters, rows = shape[1] // groups, channels * prod(kernel)
    if filters < FILTERS or not prod(shape) * prod(x) * rows:
        return None
    if in_line(three(steps[2:], 0), counts) != 1:
        return None
    beside = [
        tuple(k * d - b for k, d, b in zip(at, of_.dilation, of_.before))
        for at in itertools.product(*map(range, kernel))
    ]
    taps = tuple(Tap(k, three(one, 0)) for k, one in enumerate(beside))
    stride = three(of_.stride, 1)
    planes = padded_planes(x, [Class((0, 0, 0), counts, (1, 1, 1), taps)], stride, 1)
    if channels * planes.plane > PLANES:
        return None
    key = conv_weight_key(of, target, rows)
    vectors, panels = -(-filters // key.lanes), -(-rows // key.rows)
    base, samples = groups * vectors, shape[0]
    # Parts of the rows, and where these are few shares of the samples, for all compute units.
    least = -(-panels // (ROWS // key.rows))
    parts = min(
        range(least, max(panels, least) + 1),
        key=lambda p: -(-base * p // units) * (-(-panels // p) * key.rows + TURNED),
    )
    most = -(-panels // parts)
    parts = -(-panels // most)
    shares = max(1, min(units // (base * parts), samples // 8))
    near = min(channels, (most * key.rows - 1) // len(taps) + 2) * planes.plane
    positions = prod(counts)
    some = max(1, min(STEPS // positions, PLANES // near, samples))
    own3, sizes = three(own[2:], 0), three(x[2:], 1)
    _, high, wide = counts
    return key, ConvWeightGeometry(
        base * parts * shares, groups, vectors, parts, shares, most, rows, filters, channels,
        samples, some, planes.plane,
        (*own[:2], *[s * k for s, k in zip(own3, stride)]), steps[:2], planes.strides[2:4],
        case.bias, phases(planes, sizes, own3),
        tuple([planes.offset(t.beside, stride) for t in taps]),
        tuple([
            p // wide // high * planes.strides[2] + p // wide % high * planes.strides[3] + p % wide
            for p in range(positions)
        ]),
    )  # fmt: skip


def prepare(grad: Tensor, x: Tensor, weight: Ints, of: ConvWindows, bias: bool) -> Launch | None:
    """Returns the launch, or None if no small-plane kernel fits. Each share of the samples has its
    own results."""
    backend, dtype = x._storage.backend, x._dtype
    if not backend.target.processor or dtype.kind != "f":
        return None
    if dtype.compute is not dtype or grad._dtype is not dtype:
        return None
    case = Case((grad._shape, grad._strides), (x._shape, x._strides), weight, of, bias)
    planned = plan(backend.target, backend.units, dtype, case)
    if planned is None:
        return None
    key, g = planned
    terms = g.samples * len(g.places) * g.groups * g.filters * g.rows // TERMS
    units = max(1, min(backend.units, terms // backend.target.unit_elements, g.items))
    step = Step(key, units, (OUT, BIAS, GRAD, X), (GRAD, X), numbers=False, geometry=g.pack(), work=terms)
    lead = () if g.shares == 1 else (g.shares,)
    outputs = [
        Output(dtype, shape, output.contiguous_strides(shape)) for shape in ((*lead, *weight), (*lead, weight[0]))
    ]
    return Launch((step,), 4, tuple(outputs))
