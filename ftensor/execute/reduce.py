"""The one entry of reductions: a monoid, tensors and dims to plan to one or two kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.reduce_plan import ReducePlan, plan_reduce, reduced_shape
from ..iterator.shape import COUNTED, Ints, broadcast_shapes, normalize_dims, numel
from ..iterator.stride import broadcast_strides, contiguous_strides, extent
from ..kernels.key import LINEAR, KernelKey, Reduction, lanes_for
from ..kernels.select import FoldChoice, choose_fold, takes_turns
from ..rows.op import Reduce
from ..runtime.program import built
from . import extreme
from .copy import into as copied
from .index_check import know_bounds
from .keys import Fields, fold_key, monoid, partials, results, second
from .launch import Launch, Output, Step, asked
from .output import check_dtype, check_place, sized
from .reduce_pieces import in_pieces
from .run import launched

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def fold(
    red: Reduce,
    inputs: Sequence[Tensor],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    compute: dtype,
    outs: tuple[dtype, ...],
    params: tuple[Any, ...] = (),
    into: Sequence[Tensor | None] | None = None,
) -> tuple[Tensor, ...]:
    """Fold `inputs`, broadcast together, over `dims` (None: all); one tensor per output.

    `compute` is the dtype of the lifted elements, `outs` those of the results. IndexError and
    RuntimeError for dims out of range or named twice. `into` has a tensor for each result that is
    not to be a fresh one: it is resized, and converted to; RuntimeError where its dtype can't hold
    the result, or it lies on another device.
    """
    destinations = (None,) * len(outs) if into is None else into
    where = inputs[0]._storage.device
    named = dims if dims is None or isinstance(dims, int) else tuple(dims)
    backend = inputs[0]._storage.backend
    key: tuple[Any, ...] = (red, named, keepdim, compute, outs, len(params))
    for x in inputs:
        if x._storage.device is not where:
            raise errors.different_devices(red.name, [y.device for y in inputs])
        key += (x._key,)
        if not backend.target.unaligned:
            key += (not x._place(),)
    results: tuple[Tensor, ...] | None = backend.launches[key].call(inputs, params, into)
    if results is None:
        args = (red, inputs, dims, keepdim, compute, outs, params)
        if key not in backend.launches and _too_large(inputs):
            results = in_pieces(fold, *args, COUNTED)
        else:
            targets = [
                None if out is None else _straight(red, out, of, inputs, dims, keepdim)
                for out, of in zip(destinations, outs, strict=True)
            ]
            results = launched(backend, key, prepare, fold, args, inputs, params, targets)
    if red.arg and results[0].numel():  # where it is, in the elements folded into one
        folded = max(x.numel() for x in inputs) // results[0].numel()
        for t, out, text in zip(results, destinations, red.finish):
            if text.strip() == "i" and t is not out:
                know_bounds(t, 0, folded - 1)
    if into is None:
        return results
    return tuple([x if x is out else copied(red.name, out, x, True) for x, out in zip(results, destinations)])


def _straight(red: Reduce, out: Tensor, of: dtype, inputs: Sequence[Tensor], dims: Any, keepdim: bool) -> Tensor | None:
    """`out`, sized, where the kernel can write the result there; None where it must be copied."""
    check_dtype(red.name, out, of, cast=True)
    check_place(red.name, out, inputs[0]._storage.device)
    if out._dtype is not of or any(x._storage is out._storage for x in inputs):
        return None
    shape = broadcast_shapes(*[x._shape for x in inputs])
    shape = reduced_shape(shape, normalize_dims(dims, len(shape)), keepdim)
    sized(out, shape)
    return out if out._strides == contiguous_strides(shape) else None


def prepare(
    red: Reduce,
    inputs: Sequence[Tensor],
    dims: int | Sequence[int] | None,
    keepdim: bool,
    compute: dtype,
    outs: tuple[dtype, ...],
    params: tuple[Any, ...],
) -> Launch:
    """The launch of a reduction within 32-bit indexing: one step, or two where it is cut."""
    backend = inputs[0]._storage.backend
    for d in (inputs[0]._dtype, *outs):  # what is computed in another dtype is no such one
        if d.bare and d.bare not in red.bare and (d in outs or compute is d):
            raise errors.not_implemented_for(red.name, d)
    shape = broadcast_shapes(*[x._shape for x in inputs])
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in inputs]
    plan = plan_reduce(shape, strides, dims, keepdim, reorder=not red.arg)
    operands = len(outs) + len(inputs)
    numbers = (compute.to_real(),) * len(params)
    outputs = asked(backend, *[Output(of, plan.out_shape, plan.out_strides) for of in outs])
    if not numel(plan.out_shape):
        return Launch((), operands, outputs, numbers)
    for d in (compute, *outs):
        if d.name in ("float64", "complex128") and not backend.properties.has_float64:
            raise errors.no_float64(d, backend.properties.name)
    words, state = monoid(red, compute)
    final = results(red, compute, state, outs)
    dtypes = [x._dtype for x in inputs]
    stage = _Stage(red, backend, compute, words, [x._place() for x in inputs])
    out_strides = (plan.kept_strides[0],) * len(outs)
    with_outs = replace(plan, kept_strides=out_strides + plan.kept_strides[1:])
    fields = partials(red, compute, state)
    to_states = replace(plan, kept_strides=(contiguous_strides(plan.kept),) * len(fields) + plan.kept_strides[1:])
    splits = stage.splits(to_states, dtypes, fields)
    written, read = tuple(range(len(outs))), tuple(range(len(outs), operands))
    everything = written + read
    alone = extreme.step(red, backend, with_outs, dtypes[0], outs, 1, everything, everything)
    if alone is not None and extreme.soon_done(alone, backend.target):
        splits = 1
    if splits == 1:
        step = alone or stage.build(with_outs, dtypes, final, red.finish, "whole", written, read)
        return Launch((step,), operands, outputs, numbers)
    count = numel(plan.kept)
    between = tuple(range(operands, operands + len(fields)))
    states = [d for d, _ in fields]
    starts = ((None,) * len(between)) + read
    first = extreme.step(
        red, backend, to_states, dtypes[0], tuple(states), splits, between + read, starts
    ) or stage.build(to_states, dtypes, fields, _names(fields), "first", between, read)
    from_states = ReducePlan(
        plan.kept,
        (plan.kept_strides[0],) * len(outs) + (contiguous_strides(plan.kept),) * len(fields),
        (splits,),
        ((count,),) * len(fields),
        plan.out_shape,
        plan.out_strides,
    )
    words, final = second(words, final)
    stage = _Stage(red, backend, state, words, [0] * len(fields))
    last = stage.build(from_states, states, final, red.finish, "second", written, between)
    temporaries = tuple([d.itemsize * splits * count for d in states])
    return Launch((first, last), operands, outputs, numbers, temporaries)


class _Stage:
    """Builds the launch of one stage."""

    def __init__(self, red: Reduce, backend: Backend, compute: dtype, words: Reduction, places: list[int]) -> None:
        self.red, self.backend, self.compute, self.words = red, backend, compute, words
        self.places = places

    def _choose(self, plan: ReducePlan, dtypes: list[dtype], outs: Any, may_split: bool) -> Any:
        target = self.backend.target
        lanes = lanes_for(dtypes + [d for d, _ in outs], self.compute, target.lanes_bytes)
        n, most = len(outs), self.backend.units
        choice = choose_fold(plan, n, most, target, lanes, may_split)
        if not target.unaligned and not self._aligned(plan, n, dtypes, choice):
            lanes = 1  # a wide port would read the wrong data
            choice = choose_fold(plan, n, most, target, lanes, may_split)
        return lanes, choice

    def _aligned(self, plan: ReducePlan, n: int, dtypes: list[dtype], choice: Any, lanes: int = 0) -> bool:
        """Whether all vectors that are read lie on 64 bytes, or on those of so many `lanes`;
        results go out lane by lane."""
        across = choice.skeleton == "reduce_outer"
        kept = plan.kept[:-1] if across else plan.kept
        reduced = plan.reduced if across else plan.reduced[:-1]
        for k, d in enumerate(dtypes):
            if choice.kinds[n + k] != LINEAR:
                continue
            steps = [s for s, size in zip(plan.kept_strides[n + k], kept) if size > 1]
            steps += [s for s, size in zip(plan.reduced_strides[k], reduced) if size > 1]
            beat = lanes * d.itemsize or 64
            if self.places[k] or any(s * d.itemsize % beat for s in steps):
                return False
        return True

    def splits(self, plan: ReducePlan, dtypes: list[dtype], fields: Fields) -> int:
        """Into how many parts the first of two stages cuts the reduced space, so that every compute
        unit has work; 1 where its kernel isn't built (where it is, the second's is, too).
        """
        lanes, choice = self._choose(plan, dtypes, fields, True)
        key = self._fold_key(lanes, choice, dtypes, fields, _names(fields), "first")
        splits: int = choice.splits
        return splits if splits > 1 and built(self.backend, key) else 1

    def build(
        self,
        plan: ReducePlan,
        dtypes: list[dtype],
        outs: Any,
        body: Sequence[str],
        stage: str,
        written: Ints,
        read: Ints,
    ) -> Step:
        """This stage, from the operands `read` to those `written`."""
        key, choice = self._key(plan, dtypes, outs, body, stage)
        work = numel(plan.kept) * numel(plan.reduced)
        # States begin where their memory does.
        starts: tuple[int | None, ...] = written if stage != "first" else (None,) * len(written)
        starts += read if stage != "second" else (None,) * len(read)
        return Step(key, choice.units, written + read, starts, geometry=choice.geometry, work=work)

    def _key(
        self, plan: ReducePlan, dtypes: list[dtype], outs: Any, body: Sequence[str], stage: str
    ) -> tuple[KernelKey, FoldChoice]:
        """The kernel, in the best layout that is built, and its launch."""
        lanes, choice = self._choose(plan, dtypes, outs, stage == "first")
        key = self._fold_key(lanes, choice, dtypes, outs, body, stage)
        if built(self.backend, key):
            return key, choice
        for width, held in self._others(plan, dtypes, outs, lanes, choice, stage):
            other = self._fold_key(width, held, dtypes, outs, body, stage)
            if built(self.backend, other):
                return other, held
        return key, choice

    def _others(
        self, plan: ReducePlan, dtypes: list[dtype], outs: Any, lanes: int, choice: FoldChoice, stage: str
    ) -> Iterator[tuple[int, FoldChoice]]:
        """(lanes, choice) of the other kernels that serve the plan, the best first.

        Short rows at one distance take turns, wherever they begin (hls/vitis/turns.h). An image may
        have fewer or more states side by side than rows deserve, and narrower ports than a launch
        fills; what takes any strides comes last.
        """
        target, most, n = self.backend.target, self.backend.units, len(outs)
        if target.realigns and not target.unaligned and stage == "whole":
            full = lanes_for(dtypes + [d for d, _ in outs], self.compute, target.lanes_bytes)
            rows = choose_fold(plan, n, most, target, full, False, row_wise=True)
            for vectors in _fewer(target.row_vectors[1]):
                if takes_turns(rows, n, full, vectors):
                    yield full, replace(rows, vectors=vectors)
        split, width = stage == "first", lanes
        while width > 1 or width == lanes:
            held = choice if width == lanes else choose_fold(plan, n, most, target, width, split)
            if target.unaligned or self._aligned(plan, n, dtypes, held, width):
                yield width, held
                if held.skeleton == "reduce_inner":
                    for k in _fewer(target.row_vectors[1]):
                        held = choose_fold(plan, n, most, target, width, split, beside=k)
                        yield width, replace(held, vectors=k)
                elif held.vectors > 1:
                    side = held.vectors
                    while side := side // 2:
                        yield width, choose_fold(plan, n, most, target, width, split, side=side)
            width //= 2
        yield 1, choose_fold(plan, n, most, target, 1, split, True)

    def _fold_key(
        self, lanes: int, choice: FoldChoice, dtypes: list[dtype], outs: Any, body: Sequence[str], stage: str
    ) -> KernelKey:
        return fold_key(
            self.red,
            stage,
            choice.skeleton,
            self.compute,
            lanes,
            self.words,
            outs,
            body,
            dtypes,
            choice.kinds,
            choice.vectors,
        )


def _names(fields: Fields) -> tuple[str, ...]:
    """What the fields of a state are called in expressions."""
    return ("x", "i")[: len(fields)]


def _too_large(inputs: Sequence[Tensor]) -> bool:
    if numel(broadcast_shapes(*[x._shape for x in inputs])) > COUNTED:
        return True
    return any(max(map(abs, extent(x._shape, x._strides))) > COUNTED for x in inputs if x.numel())


def _fewer(vectors: int) -> Iterator[int]:
    """Numbers of vectors that kernels have side by side, the most first."""
    while vectors:
        yield vectors
        vectors //= 2
