"""Loop nests of nodes, and the affine access of each operand in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dtypes import dtype
from ..iterator.plan import coalesce
from ..iterator.shape import Ints, broadcast_strides, numel
from ..kernels.element_function import ElementFunction, element_function_of
from ..kernels.key import BY_VALUE, INDEX, LOCATED, REAL, VALUE, KernelKey
from ..kernels.signal_stages import half_of, row_transform
from ..kernels.skeletons.fft import (
    CONJ,
    FORTH,
    GROUPS,
    SWAP_IN,
    SWAP_OUT,
    FftGeometry,
    FftKey,
    FftStreamGeometry,
    FftStreamKey,
)
from ..kernels.skeletons.reduce import FoldGeometry
from .ir import GraphTensor, Node

if TYPE_CHECKING:
    from ..execute.launch import Step


class Loop(NamedTuple):
    """One loop of a nest. `folded`: its elements are folded into one result. `unsplittable`: it
    can't be split."""

    size: int
    folded: bool = False
    unsplittable: bool = False


class AffineAccess(NamedTuple):
    """The affine access of an operand in a loop nest. `strides` counts elements."""

    memory: int
    start: int  # the first element's, in bytes
    dtype: dtype
    strides: Ints

    def region(self, loops: Sequence[Loop]) -> GraphTensor:
        """Returns the access as a tensor of the graph."""
        shape, offset = tuple([loop.size for loop in loops]), self.start // self.dtype.itemsize
        return GraphTensor(self.memory, self.dtype, shape, self.strides, offset)

    def is_row_invariant(self, loops: Sequence[Loop]) -> bool:
        """True if the access is invariant in the folded loops."""
        return not any(loop.folded and s for loop, s in zip(loops, self.strides, strict=True))

    def is_row_scalar(self, loops: Sequence[Loop]) -> bool:
        """True if the access is invariant in the folded loops and has one element per row."""
        one_element = all(loop.folded or loop.size == 1 or s for loop, s in zip(loops, self.strides))
        return one_element and self.is_row_invariant(loops)


@dataclass(frozen=True)
class LoopBody:
    """The body of a node's loop nest: its element function, its loops, and the operands'
    accesses."""

    node: Node
    function: ElementFunction
    loops: tuple[Loop, ...]
    outs: tuple[AffineAccess, ...]
    ins: tuple[AffineAccess, ...]
    scalars: tuple[Any, ...]
    scalar_dtypes: tuple[dtype, ...]
    geometry: FoldGeometry | None = None  # of a fold

    @property
    def is_fold(self) -> bool:
        """True if the body is a fold."""
        return self.geometry is not None

    @property
    def schedule(self) -> tuple[Any, ...]:
        """Returns the schedule of a fold: lanes, units, and how rows are cut."""
        step, g = self.node.launch.steps[0], self.geometry
        words = step_key(step).reduction
        assert g is not None and words is not None
        cut = (g.items, g.inner, g.chunk, g.chunks, g.work, g.kept_shape, g.shape)
        return step.key.skeleton, step.key.lanes, words.vectors, step.units, *cut

    @property
    def step_count(self) -> int:
        """Returns the number of launch steps."""
        return len(self.node.launch.steps)


def loop_body_of(node: Node) -> LoopBody | None:
    """Returns a node as the body of one loop nest; None if the node is neither elementwise nor a
    fold."""
    launch = node.launch
    key = launch.steps[0].key
    if not isinstance(key, KernelKey) or launch.fixed_scalars is not None:
        return None
    if any(p.sees == INDEX or p.kind == LOCATED for p in key.ins + key.outs):
        return None
    if len(launch.scalar_dtypes) != len(node.scalars):
        return None
    if key.skeleton in ("map", "rows") and not launch.temporaries:
        return _elementwise_body(node, key)
    if key.skeleton in ("reduce_inner", "reduce_outer"):
        return _fold_body(node, key)
    return None


def _elementwise_body(node: Node, key: KernelKey) -> LoopBody | None:
    function = element_function_of(key)
    ports = [*key.outs, *[p for p in key.ins if p.kind != BY_VALUE]]
    if function.positional or len(ports) != len(node.operands):  # random numbers depend on the position
        return None
    shape = node.operands[0].shape
    strides = [broadcast_strides(r.shape, r.strides, shape) for r in node.operands]
    sizes, steps = coalesce(shape, strides, range(len(shape)))
    if sizes == (1,):
        sizes, steps = (), ((),) * len(strides)
    accesses = [_access(r, port.dtype, s) for port, r, s in zip(ports, node.operands, steps, strict=True)]
    count = len(key.outs)
    return LoopBody(
        node,
        function,
        tuple([Loop(n) for n in sizes]),
        tuple(accesses[:count]),
        tuple(accesses[count:]),
        node.scalars,
        node.launch.scalar_dtypes,
    )


def _fold_body(node: Node, key: KernelKey) -> LoopBody | None:
    step = node.launch.steps[0]
    g = FoldGeometry.unpack(step.geometry)
    inner = key.skeleton == "reduce_inner"
    loops = [Loop(size) for size in g.kept_shape]
    if inner:
        loops += [Loop(size, True, True) for size in (*g.shape, g.inner)]
    else:
        loops += [Loop(g.inner, False, True), *[Loop(size, True, True) for size in g.shape]]
    outs = len(node.launch.outputs)
    fields = len(key.outs)  # the results, or the states if the fold has two stages
    if len(node.operands) != outs + len(key.ins) or 0 in [loop.size for loop in loops]:
        return None
    used = [k for k, loop in enumerate(loops) if loop.size != 1]
    if not any(loops[k].folded for k in used):
        return None
    in_strides = [_access_strides(g, inner, fields + k) for k in range(len(key.ins))]
    last = node.launch.steps[-1]
    last_g = FoldGeometry.unpack(last.geometry) if last is not step else g
    if last is not step and _kept_loops(last_g, step_key(last)) != _kept_loops(g, key):
        return None
    kept = sum(not loop.folded for loop in loops)
    last_strides = [_access_strides(last_g, last.key.skeleton == "reduce_inner", k) for k in range(outs)]
    out_strides = [(*s[:kept], *(0,) * (len(loops) - kept)) for s in last_strides]
    dtypes = [p.dtype for p in step_key(last).outs] + [p.dtype for p in key.ins]
    accesses = [
        _access(r, d, [s[k] for k in used])
        for r, d, s in zip(node.operands, dtypes, [*out_strides, *in_strides], strict=True)
    ]
    return LoopBody(
        node,
        element_function_of(key),
        tuple([loops[k] for k in used]),
        tuple(accesses[:outs]),
        tuple(accesses[outs:]),
        node.scalars,
        node.launch.scalar_dtypes,
        g,
    )


def _kept_loops(g: FoldGeometry, key: KernelKey) -> Ints:
    return g.kept_shape if key.skeleton == "reduce_inner" else (*g.kept_shape, g.inner)


def _access_strides(g: FoldGeometry, inner: bool, k: int) -> Ints:
    if inner:
        return (*g.kept_strides[k], *g.strides[k], g.inner_strides[k])
    return (*g.kept_strides[k], g.inner_strides[k], *g.strides[k])


def _access(r: GraphTensor, dtype: dtype, strides: Sequence[int]) -> AffineAccess:
    return AffineAccess(r.memory, r.offset * r.dtype.itemsize, dtype, tuple(strides))


def step_key(step: Step) -> KernelKey:
    assert isinstance(step.key, KernelKey), step.key
    return step.key


def single_stage_fold(body: LoopBody, states: int) -> LoopBody:
    """Returns a fold as a single stage with `states` parallel states, whatever kernel it was traced
    with."""
    last, function = step_key(body.node.launch.steps[-1]), body.function
    reduction = function.reduction
    assert reduction is not None
    if len(body.node.launch.steps) > 1:
        function = replace(
            function, outs=tuple((p.dtype, p.sees) for p in last.outs), body=last.body, params=last.params
        )
    name = function.name.removesuffix("_first").removesuffix("_whole")
    single_stage = replace(reduction, stage="whole", vectors=states)
    return replace(body, function=replace(function, name=name, reduction=single_stage))


def iteration_count(loops: Sequence[Loop]) -> int:
    """Returns the number of iterations of a loop nest."""
    return numel(tuple([loop.size for loop in loops]))


class ComplexPart(NamedTuple):
    """The complex access of which an access reads a part, and the part, "re" or "im"."""

    access: AffineAccess
    part: str


# Ops that return a part of a complex number.
PARTS = {"re": "real", "im": "imag"}


def complex_part(p: AffineAccess, accesses: Iterable[AffineAccess]) -> ComplexPart | None:
    """Returns the complex access in `accesses` of which `p` reads a part; None if there is none."""
    for q in accesses:
        if q.memory == p.memory and q.dtype.is_complex and q.dtype.to_real() is p.dtype:
            size = q.dtype.itemsize
            if any(step % 2 for step in p.strides):
                return None
            access = AffineAccess(p.memory, p.start // size * size, q.dtype, tuple([s // 2 for s in p.strides]))
            return ComplexPart(access, "im" if p.start % size else "re")
    return None


def part_function(complex_dtype: dtype, part: str) -> ElementFunction:
    """Returns the element function for a part, "re" or "im", of a complex number."""
    return ElementFunction(
        PARTS[part], complex_dtype, ((complex_dtype.to_real(), REAL),), ((complex_dtype, VALUE),), (f"a.{part}",)
    )


def ordered_loops(body: LoopBody, indices: Sequence[int]) -> list[Any]:
    """Returns (index, size, 1) of loops, sorted by falling stride of the first input."""
    steps = body.ins[0].strides
    order = sorted(indices, key=lambda k: -abs(steps[k]))
    return [(k, body.loops[k].size, 1) for k in order]


def split_at_row(loops: Sequence[Any], length: int) -> tuple[list[Any], list[Any]] | None:
    """Splits loops into (loops over rows, loops along a row of `length`); None if no split fits. A
    loop is (index, size, steps of the original loop per step)."""
    row: list[Any] = []
    outer, rest = list(loops), length
    while rest > 1 and outer:
        k, size, step = outer.pop()
        if rest % size == 0:
            row.insert(0, (k, size, step))
            rest //= size
        elif size % rest == 0:
            row.insert(0, (k, rest, step))
            outer.append((k, size // rest, step * rest))
            rest = 1
        else:
            return None
    return outer, row


def is_contiguous_over(p: AffineAccess, loops: Sequence[Any], stride: int) -> bool:
    """True if the access moves `stride` elements per step of these loops, without gaps."""
    for k, size, step in reversed(loops):
        if size > 1 and p.strides[k] * step != stride:
            return False
        stride *= size
    return True


def is_invariant(p: AffineAccess, loops: Sequence[Any]) -> bool:
    """True if the access is invariant in these loops."""
    return not any(p.strides[k] for k, size, _ in loops if size > 1)


class RowTransformCall(NamedTuple):
    """The length of a launch's transform, and True if it is the inverse."""

    length: int
    inverse: bool


def transform_body(node: Node) -> LoopBody | None:
    """Returns a node as a complex-to-complex transform of whole rows along the last dim; None for
    other nodes."""
    launch = node.launch
    call = _row_transform(node)
    if call is None or launch.fixed_scalars is None:
        return None
    out, source = node.operands[:2]
    half = not source.dtype.is_complex
    if not out.shape or out.shape[:-1] != source.shape[:-1]:
        return None
    if call.length != source.shape[-1] or out.shape[-1] != (half_of(call.length) if half else call.length):
        return None
    if not numel(out.shape):
        return None
    row_sizes, steps = coalesce(out.shape[:-1], (out.strides[:-1], source.strides[:-1]), range(len(out.shape) - 1))
    if numel(row_sizes) == 1:
        row_sizes, steps = (), ((), ())
    loops = (*[Loop(n) for n in row_sizes], Loop(call.length))
    accesses = [
        AffineAccess(r.memory, r.offset * r.dtype.itemsize, r.dtype, (*s, r.strides[-1]))
        for r, s in zip((out, source), steps, strict=True)
    ]
    (scale,) = launch.fixed_scalars
    function = row_transform(out.dtype, call.inverse, scale != 1, half)
    scalars = (scale,) if function.scaled else ()
    return LoopBody(node, function, loops, (accesses[0],), (accesses[1],), scalars, (function.passed,) * len(scalars))


def _row_transform(node: Node) -> RowTransformCall | None:
    """Returns the transform that the geometries of a launch's steps describe; None for other
    kernels. The launch has a kernel of stages, or a kernel for any length in one or two steps."""
    steps = node.launch.steps
    if isinstance(steps[0].key, FftStreamKey):
        stream = FftStreamGeometry.unpack(steps[0].geometry)
        is_dense = stream.read[0] == stream.written[0] == 1
        return RowTransformCall(stream.come, bool(stream.ends & SWAP_IN)) if is_dense else None
    if not isinstance(steps[0].key, FftKey):
        return None
    geometries = [FftGeometry.unpack(step.geometry) for step in steps]
    stages = [stage for g in geometries for stage in g.stages]
    source = node.operands[1]
    if geometries[0].parts[0] == 1 and geometries[-1].parts[1] == 2 and source.shape and source.strides[-1] == 1:
        others = any(stage.ends & (SWAP_IN | SWAP_OUT | CONJ) for stage in stages)
        others |= any(step.what == FORTH and step.length for stage in stages for step in stage.steps)  # conjugated
        return None if others or node.operands[0].strides[-1] != 1 else RowTransformCall(source.shape[-1], False)
    first, last = stages[0], stages[-1]
    pairs = all(g.parts == (2, 2) for g in geometries) and not (first.mode or last.real)
    if not pairs or any(stage.kind != GROUPS for stage in stages):
        return None
    # Of two steps, the first reads columns of a contiguous row; a single step reads the whole row.
    is_dense = len(stages) == 2 or first.read.step == last.written.step == 2
    length = numel(tuple([stage.n for stage in stages]))
    reads_whole_rows = first.read.size == first.n
    return RowTransformCall(length, bool(first.ends & SWAP_IN)) if is_dense and reads_whole_rows else None
