"""Runs the launches of several ops as one fused kernel, and returns its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import Observer, bound_to, observed
from ftensor.execute.launch import Launch, Step, enqueue
from ftensor.iterator.plan import coalesce, loop_order
from ftensor.iterator.shape import Ints, broadcast_strides, numel
from ftensor.kernels import select
from ftensor.kernels.element_function import element_function_of
from ftensor.kernels.fused import Call, FusedKey
from ftensor.kernels.key import BY_VALUE, SINGLE, Port, lanes_for
from ftensor.kernels.skeletons.reduce import FoldGeometry

Seen = tuple[Launch, tuple[ft.Tensor, ...], tuple[Any, ...]]


class Recorder(Observer):
    """Records every launch."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def launch(self, launch: Launch, stream: Any, tensors: Any, scalars: Any) -> None:
        self.seen.append((launch, tuple(tensors), tuple(scalars)))
        super().launch(launch, stream, tensors, scalars)


def recorded(function: Callable[..., Any], *tensors: ft.Tensor) -> tuple[list[Seen], Any]:
    """Returns the launches of a function, and its result."""
    recorder = Recorder()
    with observed(default_backend(), recorder):
        results = function(*tensors)
    return recorder.seen, results if isinstance(results, tuple) else (results,)


class Program:
    """The calls of launches. Values are numbered by their storages."""

    def __init__(self, inputs: Sequence[ft.Tensor]) -> None:
        self.values = {id(x._storage): k for k, x in enumerate(inputs)}
        self.calls: list[Call] = []
        self.scalars: list[Any] = []  # a launch's arguments
        self.dtypes: list[ft.dtype] = []
        self.count = len(inputs)

    def add(self, seen: Seen) -> None:
        """Adds a launch of one step."""
        launch, tensors, scalars = seen
        (step,) = launch.steps
        outs = len(step.key.outs)
        takes = [self.values[id(x._storage)] for x in tensors[outs:]]
        scalars = scalars if launch.fixed_scalars is None else launch.fixed_scalars
        self.call(step.key, takes, tensors[:outs], scalars)

    def call(self, key: Any, takes: Sequence[int], gives: Sequence[ft.Tensor], scalars: Sequence[Any]) -> None:
        """Adds a call that wrote its results to these tensors."""
        unit = element_function_of(key)
        first = len(self.dtypes) - (0 if scalars else unit.scalar_count)
        of = unit.compute if unit.reduction is None else unit.compute.to_real()
        self.dtypes += [of] * unit.scalar_count if scalars else []
        self.scalars += scalars
        self.calls.append(Call(unit, tuple(takes), tuple(range(first, first + unit.scalar_count))))
        for k, x in enumerate(gives):
            self.values[id(x._storage)] = self.count + k
        self.count += len(unit.outs)

    def again(self, states: int, inputs: Sequence[ft.Tensor]) -> Program:
        """Returns the program of a second kernel, whose first inputs are the states. Its numbering
        continues."""
        program = Program(inputs)
        program.values = {at: k + states for at, k in program.values.items()}
        program.count += states
        program.scalars, program.dtypes = self.scalars, self.dtypes
        return program


def fused_map(function: Callable[..., Any], *inputs: ft.Tensor) -> tuple[Any, Any]:
    """Returns (results of the pointwise ops one by one, results of their calls in one kernel).

    The results have the ops' memory layout. All must have one shape.
    """
    seen, eager = recorded(function, *inputs)
    program = Program(inputs)
    for one in seen:
        program.add(one)
    fresh = [ft.empty_strided(x.shape, x.stride(), dtype=x.dtype) for x in eager]
    launch = map_launch(program, fresh, eager, inputs)
    enqueue(launch, [*fresh, *inputs], program.scalars)
    return eager, tuple(fresh)


def fused_fold(function: Callable[..., Any], *inputs: ft.Tensor) -> tuple[Any, Any]:
    """Like `fused_map`, for one reduction of a pointwise result, and pointwise ops on the
    reduction. An input has the geometry of the reduced values or of a result, or has one
    element."""
    seen, eager = recorded(function, *inputs)
    place = next(k for k, (launch, _, _) in enumerate(seen) if _folds(launch))
    folding, tensors, scalars = seen[place]
    count = len(folding.outputs)
    result, folded = tensors[0], tensors[count]
    alike = {(result.shape, result.stride()): 0, (folded.shape, folded.stride()): -1}
    walks = [None if x.numel() == 1 else alike[x.shape, x.stride()] for x in inputs]
    fresh = [ft.empty_strided(x.shape, x.stride(), dtype=x.dtype) for x in eager]
    program = Program(inputs)
    for one in seen[:place]:
        program.add(one)
    operands = len(fresh) + len(inputs)
    places = tuple(range(len(fresh), operands))
    states = tuple(range(operands, operands + len(folding.temporaries)))
    steps = []
    for step in folding.steps:
        stage = step.key.reduction.stage
        if stage == "second":
            program = program.again(len(states), inputs)
            takes, pointers = range(len(states)), states + places
            ins = [*range(count, count + len(states)), *(w if w != -1 else None for w in walks)]
        else:
            takes, pointers, ins = [program.values[id(folded._storage)]], places, walks
        program.call(step.key, takes, tensors[:count], scalars if not steps else ())
        if stage == "first":
            written, outs = states, list(range(len(states)))
            gives = list(range(program.count - len(states), program.count))
        else:
            for one in seen[place + 1 :]:
                program.add(one)
            written, outs = tuple(range(len(fresh))), [0] * len(fresh)
            gives = [program.values[id(x._storage)] for x in eager]
        steps.append(_walking(step, program, fresh, inputs, gives, outs, ins, written + pointers))
    steps = [replace(s, key=replace(s.key, scalar_dtypes=tuple(program.dtypes))) for s in steps]
    launch = Launch(tuple(steps), operands, fresh=False, temporaries=folding.temporaries)
    launch.bind(bound_to(default_backend(), launch.steps))
    enqueue(launch, [*fresh, *inputs], program.scalars)
    return eager, tuple(fresh)


def row_passes(function: Callable[..., Any], dim: int, *inputs: ft.Tensor) -> tuple[Any, Any]:
    """Like `fused_map`, for reductions of matrices over `dim` with keepdim, and values computed
    from these and from matrices."""
    seen, eager = recorded(function, *inputs)
    launch, fresh, program = passes_launch(seen, eager, inputs, dim)
    enqueue(launch, [*fresh, *inputs], program.scalars)
    return eager, tuple(fresh)


def passes_launch(
    seen: Sequence[Seen], eager: Sequence[ft.Tensor], inputs: Sequence[ft.Tensor], dim: int
) -> tuple[Launch, list[ft.Tensor], Program]:
    """Returns (the launch that computes reductions and maps in one kernel, its results, its
    program)."""
    program = Program(inputs)
    for one in seen:
        program.add(one)
    folds = [launch.steps[0] for launch, _, _ in seen if _folds(launch)]
    (skeleton,) = {step.key.skeleton for step in folds}
    g = FoldGeometry.unpack(folds[0].geometry)
    fresh = [ft.empty_strided(x.shape, x.stride(), dtype=x.dtype) for x in eager]
    operands = [*fresh, *inputs]
    shape = tuple(max(sizes) for sizes in zip(*(x.shape for x in operands if x.ndim == 2)))
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in operands]
    along, across = [s[dim] for s in strides], [s[1 - dim] for s in strides]
    if skeleton == "reduce_inner":
        geometry = replace(
            g, kept_strides=tuple((s,) for s in across), strides=((),) * len(operands), inner_strides=tuple(along)
        )
    else:
        geometry = replace(
            g, kept_strides=((),) * len(operands), strides=tuple((s,) for s in along), inner_strides=tuple(across)
        )
    ports = tuple(Port(x.dtype, select.access_kind(s)) for x, s in zip(operands, geometry.inner_strides))
    gives = tuple(program.values[id(x._storage)] for x in eager)
    per_row = tuple(k for k, x in enumerate(operands) if x.ndim == 2 and x.shape[dim] == 1)
    key = FusedKey(
        "passes",
        skeleton.replace("reduce", "row_passes"),
        folds[0].key.lanes,
        ports[: len(fresh)],
        ports[len(fresh) :],
        tuple(program.calls),
        gives,
        tuple(program.dtypes),
        per_row,
    )
    places = tuple(range(len(operands)))
    step = Step(key, folds[0].units, places, places, geometry=geometry.pack(), work=numel(shape))
    launch = Launch((step,), len(operands), fresh=False)
    launch.bind(bound_to(default_backend(), launch.steps))
    return launch, fresh, program


def _walking(
    step: Step,
    program: Program,
    fresh: Sequence[ft.Tensor],
    inputs: Sequence[ft.Tensor],
    gives: list[int],
    outs: list[int],
    ins: list[int | None],
    pointers: Ints,
) -> Step:
    """Returns a reduction's step with the operands of a program. Each has the layout of one of the
    step's own operands (None: one element)."""
    key, g = step.key, FoldGeometry.unpack(step.geometry)
    states = len(ins) - len(inputs)
    own = [*key.outs, *key.ins]
    if key.reduction.stage == "first":
        dtypes = [p.dtype for p in key.outs]
    else:
        dtypes = [x.dtype for x in fresh]
    dtypes += [p.dtype for p in key.ins[:states]] + [x.dtype for x in inputs]
    walks = [*outs, *ins]
    inner = key.skeleton == "reduce_inner"
    kinds = []
    for k, walk in enumerate(walks):
        as_result = inner and k >= len(outs) and walk == 0
        kinds.append(SINGLE if walk is None or as_result else own[walk].kind)
    ports = tuple(Port(d, kind) for d, kind in zip(dtypes, kinds))
    geometry = replace(
        g,
        kept_strides=tuple((0,) * len(g.kept_shape) if k is None else g.kept_strides[k] for k in walks),
        strides=tuple((0,) * len(g.shape) if k is None else g.strides[k] for k in walks),
        inner_strides=tuple(0 if k is None else g.inner_strides[k] for k in walks),
    )
    fused = FusedKey(
        "fused",
        f"fused_{key.skeleton}",
        key.lanes,
        ports[: len(outs)],
        ports[len(outs) :],
        tuple(program.calls),
        tuple(gives),
    )
    offsets = tuple(None if k >= len(fresh) + len(inputs) else k for k in pointers)
    return Step(fused, step.units, pointers, offsets, geometry=geometry.pack(), work=step.work)


def _folds(launch: Launch) -> bool:
    return any(step.key.reduction is not None for step in launch.steps)


def map_launch(
    program: Program, fresh: Sequence[ft.Tensor], eager: Sequence[ft.Tensor], inputs: Sequence[ft.Tensor]
) -> Launch:
    """Returns the launch that computes a program in one kernel."""
    backend = default_backend()
    shape: Ints = tuple(fresh[0].shape)
    operands = [*fresh, *inputs]
    strides = [broadcast_strides(x._shape, x._strides, shape) for x in operands]
    sizes, steps = coalesce(shape, strides, loop_order(shape, strides))
    dtypes = [x._dtype for x in operands]
    widest = max((c.function.compute for c in program.calls), key=lambda d: d.itemsize)
    lanes = lanes_for(dtypes, widest, backend.target.lanes_bytes)
    lanes = lanes if backend.target.unaligned else 1
    choice = select.choose_map(sizes, steps, backend.units, backend.target, lanes)
    ports = [Port(d, kind) for d, kind in zip(dtypes, choice.kinds)]
    gives = tuple(program.values[id(x._storage)] for x in eager)
    key = FusedKey(
        "fused",
        f"fused_{choice.skeleton}",
        lanes,
        tuple(ports[: len(fresh)]),
        tuple(ports[len(fresh) :]),
        tuple(program.calls),
        gives,
        tuple(program.dtypes),
    )
    assert BY_VALUE not in choice.kinds
    places, geometry = tuple(range(len(operands))), choice.geometry
    step = Step(
        key,
        choice.units,
        places,
        places,
        n=choice.n if geometry is None else None,
        geometry=geometry or (),
        work=numel(shape),
    )
    launch = Launch((step,), len(operands), fresh=False)
    launch.bind(bound_to(backend, launch.steps))
    return launch
