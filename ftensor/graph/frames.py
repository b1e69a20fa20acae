"""Frames: overlapping rows of signals. Of a signal that a graph computes, elementwise ops compute the
frames of their operands in place of the signal, with the same results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..iterator.shape import is_contiguous, numel
from ..kernels.staged import ELEMENTS, stage_kind
from .loop_body import AffineAccess, Loop, LoopBody, is_contiguous_over


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
