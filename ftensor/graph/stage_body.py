"""The loop body of a node for a dataflow stage, and the reason why a node has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dtypes import FULL, complex64
from ..errors import graph as errors
from ..execute.launch import Launch, Step
from ..iterator.shape import Ints
from ..kernels.fused import MAX_OPERANDS
from ..kernels.skeletons.feedback import FeedbackGeometry, FeedbackKey, loop_of
from ..kernels.staged import STATES, StagedKey
from .filters import filter_body, filter_refusal_of
from .fusion_group import MAX_CALLS, CallSequence
from .ir import Graph, GraphTensor, Node, TracedRandom
from .loop_body import AffineAccess, Loop, LoopBody, loop_body_of, part_function, single_stage_fold, transform_body

# A beat holds two complex numbers at least, but only one complex128. No op computes complex32.
_NO_STAGE = ("complex32", "complex128")


def stage_body(graph: Graph, node: Node) -> LoopBody:
    """Returns a node's loop body for a dataflow stage. Raises GraphError if the node cannot be a
    stage in any graph."""
    if node.reflected:  # no body: only its frames are read
        return LoopBody(node, part_function(complex64, "re"), (), (), (), (), ())
    if any(isinstance(x, TracedRandom) for x in node.scalars):
        raise refusal_of(graph, node, "it draws random numbers")
    if node.stage_refusal:
        raise refusal_of(graph, node, node.stage_refusal)
    body = loop_body_of(node) or transform_body(node) or filter_body(node) or _scan_body(node)
    if body is None and (why := filter_refusal_of(node) or _scan_refusal_of(node)):
        raise refusal_of(graph, node, why)
    if body is None:
        raise refusal_of(graph, node, "it is neither elementwise nor a fold, and needs all first")
    dtypes = {p.dtype for p in (*body.outs, *body.ins)}
    for element in sorted(dtypes, key=lambda d: d.name):
        if element not in FULL or element.name in _NO_STAGE:
            raise refusal_of(graph, node, f"no stage has elements of {element.name}")
    for p in body.outs:
        if not graph.memories[p.memory].is_internal:
            why = "it writes to an argument, or to what is held outside: write to a clone(), and copy that back"
            raise refusal_of(graph, node, why)
    return single_stage_fold(body, STATES) if body.is_fold else body


def layout_of(p: AffineAccess) -> str:
    """Returns the layout of an operand, which its access has in place of strides."""
    return "".join(map(chr, p.strides))


def layout_strides(layout: str) -> Ints:
    """Returns the strides that stand for a layout."""
    return tuple(map(ord, layout))


def check_size(graph: Graph, operands: int, calls: int) -> None:
    """Raises GraphError for more operands or calls than a kernel of stages has."""
    if operands > MAX_OPERANDS or calls > MAX_CALLS:
        why = f"{operands} operands and {calls} ops are more than a kernel's {MAX_OPERANDS} and {MAX_CALLS}"
        raise refusal_of(graph, graph.nodes[-1], why)


def stage_node(
    graph: Graph, key: StagedKey, rows: int, regions: Sequence[GraphTensor], pointers: Ints, program: CallSequence
) -> Node:
    """Returns the node that launches the kernel of a whole graph. `regions` are its operands, the outputs
    first; `pointers` are the indices of the operands that the kernel's pointers pass."""
    step = Step(key, 1, pointers, pointers, scalars=bool(program.scalars), n=rows)
    launch = Launch((step,), len(regions), scalar_dtypes=tuple(program.scalar_dtypes))
    origins = tuple([node.origin for node in graph.nodes])
    return Node(launch, tuple(regions), tuple(program.scalars), origins[-1], origins)


def refusal_of(graph: Graph, node: Node, why: str) -> errors.GraphError:
    error = errors.no_stage(node.origin.op, graph.name, why, node.origin.line)
    error.node, error.why = node, why
    return error


def _scan_body(node: Node) -> LoopBody | None:
    """Returns a loop with feedback, from the first step on, whose loops are the steps and the signals;
    None for other nodes."""
    key = node.launch.steps[0].key
    if not isinstance(key, FeedbackKey) or _scan_refusal_of(node):
        return None
    g, outs = FeedbackGeometry.unpack(node.launch.steps[0].geometry), len(key.outs)
    loop = replace(loop_of(key), signals=g.items)
    loops = (Loop(g.steps), Loop(g.items)) if g.items > 1 else (Loop(g.steps),)
    steps = [(0, 1) if k in key.per_row else (g.items, 1) for k in range(len(node.operands))]
    accesses = [
        AffineAccess(r.memory, r.offset * r.dtype.itemsize, r.dtype, step[: len(loops)])
        for r, step in zip(node.operands, steps, strict=True)
    ]
    words = iter(node.launch.fixed_scalars or ())
    numbers = tuple([complex(next(words), next(words)) if d.is_complex else next(words) for d in loop.numbers])
    return LoopBody(node, loop, loops, tuple(accesses[:outs]), tuple(accesses[outs:]), numbers, loop.numbers)


def _scan_refusal_of(node: Node) -> str:
    """Returns the reason why `_scan_body` refuses a loop with feedback; "" for nodes of other ops."""
    if not isinstance(node.launch.steps[0].key, FeedbackKey):
        return ""
    if FeedbackGeometry.unpack(node.launch.steps[0].geometry).stride < 0:
        return "it begins with the last step, and a stage with the first one"
    return ""
