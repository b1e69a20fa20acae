"""Nodes that transform rows (Fourier), as points whose last loop is a row."""

from __future__ import annotations

from typing import NamedTuple

from ..iterator.plan import coalesce
from ..iterator.shape import numel
from ..kernels.skeletons.fft import GROUPS, SWAP_IN, FftGeometry, FftKey
from ..kernels.skeletons.fft_stream import FftStreamGeometry, FftStreamKey
from ..kernels.transform import transform
from .node import Node
from .point import Loop, Place, Point


class Done(NamedTuple):
    """What a launch of a transform does: of how many numbers, and whether the inverse one."""

    length: int
    inverse: bool


def transformed(node: Node) -> Point | None:
    """A node as the transforms of whole rows, complex numbers to such, along the last dim; None
    where it is something else."""
    launch = node.launch
    done = _done(node)
    if done is None or launch.own_numbers is None:
        return None
    out, into = node.operands[:2]
    if not out.shape or out.shape != into.shape:
        return None
    if done.length != out.shape[-1] or not numel(out.shape):
        return None
    others, steps = coalesce(out.shape[:-1], (out.strides[:-1], into.strides[:-1]), range(len(out.shape) - 1))
    if numel(others) == 1:
        others, steps = (), ((), ())
    loops = (*[Loop(n) for n in others], Loop(done.length))
    places = [
        Place(r.memory, r.offset * r.dtype.itemsize, r.dtype, (*s, r.strides[-1]))
        for r, s in zip((out, into), steps, strict=True)
    ]
    (scale,) = launch.own_numbers
    unit = transform(out.dtype, done.inverse, scale != 1)
    numbers = (scale,) if unit.scaled else ()
    return Point(node, unit, loops, (places[0],), (places[1],), numbers, (unit.passed,) * len(numbers))


def _done(node: Node) -> Done | None:
    """What its kernels' geometries say: of a kernel of stages, or of one for any length, in one
    part or two."""
    steps = node.launch.steps
    if isinstance(steps[0].key, FftStreamKey):
        of = FftStreamGeometry.unpack(steps[0].geometry)
        along = of.read[0] == of.written[0] == 1
        return Done(of.come, bool(of.ends & SWAP_IN)) if along else None
    if not isinstance(steps[0].key, FftKey):
        return None
    geometries = [FftGeometry.unpack(step.geometry) for step in steps]
    stages = [stage for g in geometries for stage in g.stages]
    first, last = stages[0], stages[-1]
    pairs = all(g.parts == (2, 2) for g in geometries) and not (first.mode or last.real)
    if not pairs or any(stage.kind != GROUPS for stage in stages):
        return None
    # Of two parts the first has columns of a row that lies in line, else it has all of it.
    along = len(stages) == 2 or first.read.step == last.written.step == 2
    length = numel(tuple([stage.n for stage in stages]))
    whole = first.read.size == first.n
    return Done(length, bool(first.ends & SWAP_IN)) if along and whole else None
