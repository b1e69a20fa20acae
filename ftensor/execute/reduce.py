"""The one entry of reductions: a monoid, tensors and dims to plan to one or two launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.reduce_plan import ReducePlan, plan_reduce
from ..iterator.shape import Ints, broadcast_shapes, numel
from ..iterator.stride import broadcast_strides, contiguous_strides, extent
from ..kernels.key import LINEAR, KernelKey, Reduction, lanes_for
from ..kernels.program import built, kernel
from ..kernels.select import FoldChoice, choose_fold
from ..rows.op import Reduce
from .fallback import Missing, on_host, prepared
from .index_check import know_bounds
from .keys import fold_key, monoid, partials, results, second
from .numbers import values_of
from .prepare import geometry_storage, prepare_lock

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend, Kernel
    from ..runtime.storage import Storage

LIMIT = 2**31 - 1


class FoldLaunch:
    """A reduction on one combination of geometries: its stages, and what each allocates."""

    __slots__ = ("compute", "outs", "partial", "stages", "shape", "strides")

    def __init__(self, compute: dtype, outs: tuple[dtype, ...], shape: Ints, strides: Ints) -> None:
        self.compute, self.outs = compute, outs
        self.shape, self.strides = shape, strides
        self.partial: list[tuple[dtype, int]] = []  # (dtype, elements) of each state field
        self.stages: list[tuple[Kernel, int, Storage]] = []


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
    if into is not None and any(out is not None for out in into):
        return _fold_into(red, inputs, dims, keepdim, compute, outs, params, into)
    first = inputs[0]._storage
    backend = first.backend
    named = dims if dims is None or isinstance(dims, int) else tuple(dims)
    key: tuple[Any, ...] = (red, named, keepdim, compute, outs, len(params))
    for x in inputs:
        if x._storage.device is not first.device:
            raise errors.different_devices(red.name, [y.device for y in inputs])
        key += (x._key,)
        if not backend.target.unaligned:
            key += (x._offset * x._dtype.itemsize % 64 == 0,)
    launch = backend.launches.get(key)
    if launch is None:
        shape = broadcast_shapes(*[x._shape for x in inputs])
        if _too_large(shape, inputs):
            from .reduce_pieces import in_pieces

            return in_pieces(red, inputs, shape, dims, keepdim, compute, outs, params, LIMIT)
        with prepare_lock:
            wanted = (red, backend, inputs, shape, dims, keepdim, compute, outs)
            launch = prepared(backend, key, _prepare, *wanted)
        if type(launch) is Missing:
            args = (red, inputs, dims, keepdim, compute, outs, params)
            on_the_host: tuple[Tensor, ...] = on_host(launch, fold, args)
            return on_the_host
    made = _run(launch, backend, inputs, params, first.device)
    if red.arg and made[0].numel():  # where it is, in the elements folded into one
        folded = max(x.numel() for x in inputs) // made[0].numel()
        for t, text in zip(made, red.finish):
            if text.strip() == "i":
                know_bounds(t, 0, folded - 1)
    return made


def _fold_into(
    red: Reduce, inputs: Sequence[Tensor], dims: Any, keepdim: bool, compute: dtype,
    outs: tuple[dtype, ...], params: tuple[Any, ...], into: Sequence[Tensor | None],
) -> tuple[Tensor, ...]:  # fmt: skip
    from .output import into as moved

    made = fold(red, inputs, dims, keepdim, compute, outs, params)
    return tuple([moved(red.name, out, x, cast=True) for x, out in zip(made, into, strict=True)])


def _run(
    launch: FoldLaunch,
    backend: Backend,
    inputs: Sequence[Tensor],
    params: tuple[Any, ...],
    where: device,
) -> tuple[Tensor, ...]:
    stream = backend.current_stream()
    made = []
    for of in launch.outs:
        storage = backend.allocate(numel(launch.shape) * of.itemsize)
        storage.device = where
        made.append(Tensor._make(storage, of, launch.shape, launch.strides))
    numbers = [v for p in params for v in values_of(p, launch.compute.to_real())]
    handles = [x._storage.handle for x in inputs]
    offsets = [x._offset for x in inputs]
    for x in inputs:
        if x._storage.stream is not stream:
            stream.use(x._storage)
    written = [t._storage for t in made]
    for stage, (run, units, geometry) in enumerate(launch.stages):
        last = stage == len(launch.stages) - 1
        targets = written if last else [backend.allocate(n * d.itemsize) for d, n in launch.partial]
        run(
            stream, units,
            *[t.handle for t in targets], *handles, *[0] * len(targets), *offsets, *numbers,
            geometry.handle,
        )  # fmt: skip
        handles, offsets = [t.handle for t in targets], [0] * len(targets)
    return tuple(made)


def _prepare(
    red: Reduce,
    backend: Backend,
    inputs: Sequence[Tensor],
    shape: Ints,
    dims: int | Sequence[int] | None,
    keepdim: bool,
    compute: dtype,
    outs: tuple[dtype, ...],
) -> FoldLaunch:
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in inputs]
    plan = plan_reduce(shape, strides, dims, keepdim, reorder=not red.arg)
    launch = FoldLaunch(compute, outs, plan.out_shape, plan.out_strides)
    if not numel(plan.out_shape):
        return launch
    for d in (compute, *outs):
        if d.name in ("float64", "complex128") and not backend.properties.has_float64:
            raise errors.no_float64(d, backend.properties.name)
    words, state = monoid(red, compute)
    final = results(red, compute, state, outs)
    dtypes = [x._dtype for x in inputs]
    stage = _Stage(red, backend, compute, words, [x._offset for x in inputs])
    out_strides = (plan.kept_strides[0],) * len(outs)
    with_outs = replace(plan, kept_strides=out_strides + plan.kept_strides[1:])
    splits = stage.splits(with_outs, dtypes, final)
    fields = partials(red, compute, state)
    if splits == 1 or not stage.splittable(with_outs, dtypes, fields):
        launch.stages = [stage.build(with_outs, dtypes, final, red.finish, "whole")]
        return launch
    count = numel(plan.kept)
    launch.partial = [(d, splits * count) for d, _ in fields]
    to_states = replace(
        plan,
        kept_strides=(contiguous_strides(plan.kept),) * len(fields) + plan.kept_strides[1:],
    )
    names = ("x", "i")[: len(fields)]
    launch.stages = [stage.build(to_states, dtypes, fields, names, "first")]
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
    states = [d for d, _ in fields]
    launch.stages.append(stage.build(from_states, states, final, red.finish, "second"))
    return launch


class _Stage:
    """Builds the launch of one stage."""

    def __init__(
        self, red: Reduce, backend: Backend, compute: dtype, words: Reduction, offsets: list[int]
    ) -> None:
        self.red, self.backend, self.compute, self.words = red, backend, compute, words
        self.offsets = offsets

    def _choose(self, plan: ReducePlan, dtypes: list[dtype], outs: Any, may_split: bool) -> Any:
        target = self.backend.target
        lanes = lanes_for(dtypes + [d for d, _ in outs], self.compute, target.lanes_bytes)
        n, most = len(outs), self.backend.units
        choice = choose_fold(plan, n, most, target.grid, lanes, may_split)
        if not target.unaligned and not self._aligned(plan, n, dtypes, choice):
            lanes = 1  # a wide port would read the wrong data
            choice = choose_fold(plan, n, most, target.grid, lanes, may_split)
        return lanes, choice

    def _aligned(self, plan: ReducePlan, n: int, dtypes: list[dtype], choice: Any) -> bool:
        """Whether all vectors that are read lie on 64 bytes; results go out lane by lane."""
        across = choice.skeleton == "reduce_outer"
        kept = plan.kept[:-1] if across else plan.kept
        reduced = plan.reduced if across else plan.reduced[:-1]
        for k, d in enumerate(dtypes):
            if choice.kinds[n + k] != LINEAR:
                continue
            steps = [s for s, size in zip(plan.kept_strides[n + k], kept) if size > 1]
            steps += [s for s, size in zip(plan.reduced_strides[k], reduced) if size > 1]
            if any(step * d.itemsize % 64 for step in (self.offsets[k], *steps)):
                return False
        return True

    def splits(self, plan: ReducePlan, dtypes: list[dtype], outs: Any) -> int:
        """Into how many parts the reduced space is cut, so that every compute unit has work."""
        splits: int = self._choose(plan, dtypes, outs, True)[1].splits
        return splits

    def splittable(self, plan: ReducePlan, dtypes: list[dtype], fields: Any) -> bool:
        """Whether the kernel of the first of two stages is built (then the second's is, too)."""
        states = (contiguous_strides(plan.kept),) * len(fields)
        plan = replace(plan, kept_strides=states + plan.kept_strides[-len(dtypes) :])
        lanes, choice = self._choose(plan, dtypes, fields, True)
        names = ("x", "i")[: len(fields)]
        key = self._fold_key(lanes, choice, dtypes, fields, names, "first")
        return built(self.backend, key)

    def build(
        self, plan: ReducePlan, dtypes: list[dtype], outs: Any, body: Sequence[str], stage: str
    ) -> tuple[Kernel, int, Storage]:
        """(kernel, units, geometry) of this stage."""
        key, choice = self._key(plan, dtypes, outs, body, stage)
        run = kernel(self.backend, key)
        return run, choice.units, geometry_storage(self.backend, choice.geometry)

    def _key(
        self, plan: ReducePlan, dtypes: list[dtype], outs: Any, body: Sequence[str], stage: str
    ) -> tuple[KernelKey, FoldChoice]:
        """The kernel, in the best layout that is built, and its launch."""
        lanes, choice = self._choose(plan, dtypes, outs, stage == "first")
        key = self._fold_key(lanes, choice, dtypes, outs, body, stage)
        if built(self.backend, key):
            return key, choice
        target, most = self.backend.target, self.backend.units
        strided = choose_fold(plan, len(outs), most, target.grid, 1, stage == "first", True)
        other = self._fold_key(1, strided, dtypes, outs, body, stage)
        return (other, strided) if built(self.backend, other) else (key, choice)

    def _fold_key(
        self,
        lanes: int,
        choice: FoldChoice,
        dtypes: list[dtype],
        outs: Any,
        body: Sequence[str],
        stage: str,
    ) -> KernelKey:
        return fold_key(
            self.red, stage, choice.skeleton, self.compute, lanes, self.words, outs, body, dtypes,
            choice.kinds, choice.vectors,
        )  # fmt: skip


def _too_large(shape: Ints, inputs: Sequence[Tensor]) -> bool:
    if numel(shape) > LIMIT:
        return True
    return any(max(map(abs, extent(x._shape, x._strides))) > LIMIT for x in inputs if x.numel())
