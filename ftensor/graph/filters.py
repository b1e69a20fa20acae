"""Signals of a graph as nodes that a dataflow stage can compute.

Filters and reflections: the launches of a convolution of one channel, or of a signal's reflection at
both ends, become one node. Frames are overlapping rows of signals: of a signal that a graph computes,
elementwise ops compute the frames of their operands in place of the signal, with the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..execute.launch import Launch, Step
from ..execute.layers import REFLECT
from ..iterator.shape import is_contiguous, numel
from ..kernels.signal_stages import SAMPLES, row_filter
from ..kernels.skeletons.fir import FirGeometry, FirKey
from ..kernels.staged import ELEMENTS, stage_kind
from .ir import Graph, GraphTensor, LayerCall, Node
from .loop_body import AffineAccess, Loop, LoopBody, is_contiguous_over, loop_body_of

if TYPE_CHECKING:
    from ..execute.conv_plan import ConvWindows


def with_filters(graph: Graph) -> Graph:
    """Returns a traced graph in which each filter is one node, as if a FIR kernel of the device had
    computed it, and each copy of a reflected signal, too. The node's `inner` are the traced nodes."""
    nodes: list[Node | None] = list(graph.nodes)
    for call in graph.filters:
        members = [graph.nodes[k] for k in call.nodes]
        if call.kind == REFLECT:
            reflected = _reflected_node(call, members)
            if reflected is not None:
                nodes[call.nodes.start : call.nodes.stop] = [reflected, *[None] * (len(members) - 1)]
        elif members and (why := _bank_refusal(call)):
            for k in call.nodes:
                nodes[k] = replace(graph.nodes[k], origin=call.origin, stage_refusal=why)
        elif members and _is_filter(call):
            nodes[call.nodes.start : call.nodes.stop] = [None] * len(members)
            nodes[call.nodes.start] = _filter_node(graph, call, members)
    return replace(graph, nodes=tuple([node for node in nodes if node is not None]), filters=())


def without_filters(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Returns the nodes with each filter node that `with_filters` created replaced by its traced
    nodes."""
    return tuple([one for node in nodes for one in node.inner or (node,)])


def _reflected_node(call: LayerCall, members: Sequence[Node]) -> Node | None:
    """Returns the copy of one dense signal that is reflected at both ends as one node; None for
    several signals."""
    (x,), out, count = call.inputs, call.result, call.settings["count"]
    size = numel(x.shape)
    one = members and count > 0 and x.shape[-1] == size and out.shape[-1] == size + 2 * count == numel(out.shape)
    if not one or x.strides[-1] != 1 or out.offset or out.strides[-1] != 1:
        return None
    return replace(members[-1], operands=(out, x), origin=call.origin, inner=tuple(members), reflected=count)


def _is_filter(call: LayerCall) -> bool:
    """True if a layer call is a single filter of real or complex numbers along the rows of one
    channel."""
    (x,), weight = call.inputs, call.settings["weight"]
    one_filter = weight.shape[:3] == (1, 1, 1) and x.shape[1] == 1 and not call.settings["biased"]
    return one_filter and x.dtype is weight.dtype and x.dtype.name in SAMPLES and numel(call.result.shape) > 0


def _bank_refusal(call: LayerCall) -> str:
    """Returns the reason why no stage computes a layer call's filters; "" if it has one filter of
    one channel."""
    (x,), (groups, filters, *_) = call.inputs, call.settings["weight"].shape
    if x.shape[1] == groups * filters == 1:
        return ""
    return (
        f"it has {x.shape[1]} channels and {groups * filters} filters, and a stage has one of each: call "
        "conv1d for each, as conv1d(x[:, c, None], w[k][None, None])"
    )


def _filter_node(graph: Graph, call: LayerCall, members: Sequence[Node]) -> Node:
    (x,), weight, out = call.inputs, call.settings["weight"], call.result
    windows: ConvWindows = call.settings["windows"]
    padding, before = _padding(graph, x), windows.before[0]
    if padding is not None:
        x, before = padding.signal, before + padding.before
    taps, (batch, _, samples), count = weight.shape[3], x.shape, out.shape[2]
    key = FirKey(x.dtype, taps)
    geometry = FirGeometry(
        batch, 1, 1, samples, count, 1, count, taps, windows.dilation[0], windows.stride[0], before, 1,
        False, 0, x.strides[2], x.strides[:2], (0, 0, weight.strides[3]), (count, count), key.parts,
    )  # fmt: skip
    step = Step(key, 1, (0, 1, 2, 2), (0, 1, 2, 2), scalars=False, geometry=geometry.pack())
    inner = (*(padding.nodes if padding is not None else ()), *members)
    converted = _real_taps(graph, weight)
    if converted is not None:
        inner, weight = (converted[0], *inner), converted[1]
    return Node(Launch((step,), 3), (out, x, weight), (), call.origin, inner=inner)


class _Padding(NamedTuple):
    """A signal with zeros before it, in memory: the signal, the zeros, and the nodes that wrote them."""

    signal: GraphTensor
    before: int
    nodes: tuple[Node, ...]


def _padding(graph: Graph, x: GraphTensor) -> _Padding | None:
    """Returns the signal that `x` is a zero-padded copy of, as from `pad(x, (before, 0))`; None for
    other tensors."""
    writers = [node for node in graph.nodes if x.memory in node.written]
    if len(writers) != 2 or not graph.memories[x.memory].is_internal or x.offset:
        return None
    bodies = [loop_body_of(node) for node in writers]
    names = [body.function.name for body in bodies if body is not None and not body.is_fold]
    fill, copy = writers
    if names != ["fill", "copy"] or list(fill.scalars) != [0] or len(copy.operands) != 2:
        return None
    out, source = copy.operands
    before = out.offset
    if source.dtype is not x.dtype or len(source.shape) != 3 or source.shape[1] != 1 or source.strides[2] != 1:
        return None
    same = out.shape == source.shape and out.strides[2] == 1 and (out.shape[0] == 1 or out.strides[0] == x.strides[0])
    if not same or x.shape != (out.shape[0], 1, before + out.shape[2]) or fill.operands[0].offset:
        return None
    later = graph.nodes[graph.nodes.index(copy) :]
    if numel(fill.operands[0].shape) != numel(x.shape) or any(source.memory in node.written for node in later):
        return None
    return _Padding(source, before, (fill, copy))


def _real_taps(graph: Graph, weight: GraphTensor) -> tuple[Node, GraphTensor] | None:
    """Returns the node that converts real taps to the complex `weight`, and the real taps; None if
    there is no such node."""
    writers = [node for node in graph.nodes if weight.memory in node.written]
    if not weight.dtype.is_complex or len(writers) != 1 or not graph.memories[weight.memory].is_internal:
        return None
    (node,) = writers
    body = loop_body_of(node)
    if body is None or body.is_fold or body.function.name != "copy" or len(node.operands) != 2:
        return None
    out, source = node.operands
    as_taps = out.offset == weight.offset == 0 and numel(out.shape) == numel(weight.shape)
    dense = is_contiguous(out.shape, out.strides) and is_contiguous(source.shape, source.strides)
    if source.dtype is not weight.dtype.to_real() or not (as_taps and dense) or weight.strides[3] != 1:
        return None
    if any(source.memory in n.written for n in graph.nodes):
        return None
    return node, weight._replace(memory=source.memory, dtype=source.dtype, offset=source.offset)


def filter_body(node: Node) -> LoopBody | None:
    """Returns a node's loop body if it filters dense signals along the last dim and rows are whole
    signals; None for other nodes. The loops are those of the results."""
    key = node.launch.steps[0].key
    if not isinstance(key, FirKey) or len(node.launch.steps) != 1:
        return None
    g = FirGeometry.unpack(node.launch.steps[0].geometry)
    out, x, weight = node.operands[:3]
    if g.biased or g.groups * g.filters != 1 or g.dilation != 1 or x.dtype.name not in SAMPLES:
        return None
    if g.samples != g.stride * g.count or g.step != 1 or (g.outside > 1 and g.x[0] != g.samples) or g.w[2] != 1:
        return None
    function = row_filter(x.dtype, weight.dtype, g.taps, g.stride, g.before, 1)
    loops = (Loop(g.outside), Loop(g.count)) if g.outside > 1 else (Loop(g.count),)
    accesses = [
        AffineAccess(r.memory, r.offset * r.dtype.itemsize, r.dtype, strides[-len(loops) :])
        for r, strides in ((out, (g.count, 1)), (x, (g.samples, 1)), (weight, (0, 1)))
    ]
    return LoopBody(node, function, loops, (accesses[0],), (accesses[1], accesses[2]), (), ())


def filter_refusal_of(node: Node) -> str:
    """Returns the reason why `filter_body` refuses a filter; "" for nodes of other ops."""
    key = node.launch.steps[0].key
    if not isinstance(key, FirKey) or len(node.launch.steps) != 1:
        return ""
    g = FirGeometry.unpack(node.launch.steps[0].geometry)
    if g.biased or g.groups * g.filters != 1:
        return "it has a bias, and a stage has none: add it to the result"
    if g.dilation != 1:
        return f"its dilation is {g.dilation}, and a stage's is 1"
    if g.samples != g.stride * g.count:
        padding = "'same'" if g.stride == 1 else max(0, (g.taps - g.stride + 1) // 2)
        return (
            f"{g.samples} samples give {g.count} results, and a stage gives one for each {g.stride} samples, as "
            f"padding={padding} does for signals of a multiple of {g.stride} samples"
        )
    return "its signals or taps do not lie densely, one after another"


class Frames(NamedTuple):
    """Overlapping rows of a signal: their number, their length, the distance between the starts of two,
    and the byte where the first begins."""

    rows: int
    length: int
    hop: int
    start: int


class Signals(NamedTuple):
    """Frames of signals that lie `distance` elements apart, 0 if there is one: the frames of a signal,
    and the distance between the starts of two."""

    hop: int
    rows: int
    distance: int


def overlaps(p: AffineAccess, row_loops: Sequence[Any], length: int) -> bool:
    """True if the rows of an access overlap."""
    moves = _moves(p, row_loops)
    return bool(moves) and 0 < moves[-1] < length


def framed_signals(p: AffineAccess, row_loops: Sequence[Any], length: int) -> Signals | None:
    """Returns the frames that the rows of an access are; None if they do not overlap, or begin at
    several distances."""
    if not overlaps(p, row_loops, length):
        return None
    hop = _moves(p, row_loops)[-1]
    for cut in range(len(row_loops)):
        signals, rows = row_loops[:cut], row_loops[cut:]
        apart = _moves(p, signals)
        distance = apart[-1] if apart else 0
        in_order = not apart or (distance > 0 and is_contiguous_over(p, signals, distance))
        if in_order and is_contiguous_over(p, rows, hop):
            return Signals(hop, numel(tuple([size for _, size, _ in rows])), distance)
    return None


def _moves(p: AffineAccess, row_loops: Sequence[Any]) -> list[int]:
    return [p.strides[k] * step for k, size, step in row_loops if size > 1]


def frames_of(access: AffineAccess, loops: Sequence[Loop]) -> Frames | None:
    """Returns the frames that an access reads; None if it reads otherwise."""
    moves = [(stride, loop.size) for stride, loop in zip(access.strides, loops, strict=True) if loop.size > 1]
    if len(moves) != 2:
        return None
    (step, length), (hop, count) = sorted(moves)
    return Frames(count, length, hop, access.start) if step == 1 < hop < length else None


def on_frames(bodies: Sequence[LoopBody], kept: frozenset[int]) -> list[LoopBody]:
    """Returns a graph's bodies with each elementwise one whose result is only read in frames computing
    those frames. Memories in `kept` are results of the graph, and stay signals. A stage takes a beat a
    cycle either way, and the stages behind it need every frame: so this costs no cycle."""
    changed = list(bodies)
    for k in reversed(range(len(changed))):
        body, memory = changed[k], changed[k].outs[0].memory if len(changed[k].outs) == 1 else -1
        writers = sum(p.memory == memory for one in changed for p in one.outs)
        read = [(p, frames_of(p, one.loops)) for one in changed for p in one.ins if p.memory == memory]
        patterns = {frames for _, frames in read}
        if memory in kept or writers != 1 or len(patterns) != 1 or not _is_signal(body):
            continue
        (frames,) = patterns
        if frames is None or any(p.dtype is not body.outs[0].dtype for p, _ in read):
            continue
        changed[k] = _framed(body, frames)
        for j in range(k + 1, len(changed)):
            changed[j] = _reading_rows(changed[j], memory, frames)
    return changed


def _is_signal(body: LoopBody) -> bool:
    """True if a body computes each element of one dense signal from the same elements of others."""
    elementwise = not body.is_fold and stage_kind(body.function) == ELEMENTS
    sizes = tuple([loop.size for loop in body.loops])
    return elementwise and len(sizes) == 1 and is_contiguous(sizes, body.outs[0].strides)


def _framed(body: LoopBody, frames: Frames) -> LoopBody:
    """Returns the body of a signal on frames of it, one row after another."""
    (out,), first = body.outs, (frames.start - body.outs[0].start) // body.outs[0].dtype.itemsize

    def moved(p: AffineAccess) -> AffineAccess:
        (step,) = p.strides
        return p._replace(start=p.start + first * step * p.dtype.itemsize, strides=(frames.hop * step, step))

    return replace(
        body,
        loops=(Loop(frames.rows), Loop(frames.length)),
        outs=(out._replace(start=0, strides=(frames.length, 1)),),
        ins=tuple([moved(p) for p in body.ins]),
    )


def _reading_rows(body: LoopBody, memory: int, frames: Frames) -> LoopBody:
    """Returns a body that reads frames in `memory` as rows that lie one after another."""
    to = {frames.hop: frames.length, 1: 1}
    ins = [
        p._replace(start=0, strides=tuple([to.get(n, 0) for n in p.strides])) if p.memory == memory else p
        for p in body.ins
    ]
    return replace(body, ins=tuple(ins))
