"""A convolution's panels, kept from call to call while nobody writes its weight and its bias.

Weights that meet a second call as they are get panels of their own by a launch of its own, and
from then on calls pack planes alone. A weight that is written between calls, as in training, is
packed with the planes as before, and nothing is kept of it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from .._tensor import Tensor
from ..iterator.shape import Ints
from ..kernels.skeletons.conv import ConvKey, ConvPackGeometry
from . import derived
from .launch import Launch, Output, Step, enqueue
from .look_up import MissingKernel, look_up
from .observe import recorder

# A launch's operands: those of `conv_launch.prepare`, and what is packed. With panels that are kept,
# these stand before the planes, and behind them what no kernel writes.
OUT, X, WEIGHT, BIAS, PLANES, PANELS = range(6)
PACKING = ("conv_pack", "conv_bytes_pack")


def packs(launch: Launch) -> bool:
    """Whether a launch of `conv_launch.prepare` makes panels."""
    return len(launch.temporaries) > 1


def call_of(call: Hashable, weight: Tensor, addend: Tensor) -> Hashable:
    """What a weight's storage keeps the panels of a call by."""
    return call, weight._offset, addend._offset


def panels(launch: Launch, call: Hashable, x: Tensor, weight: Tensor, addend: Tensor) -> tuple[Tensor, ...] | None:
    """The panels that `launch` makes, where they are kept or shall be from now on; `addend` is the
    bias, or the weight in its place. None while the weight is new, or may be written unseen, and
    while launches are noted for other calls than this one."""
    storage, other = weight._storage, addend._storage
    if not packs(launch) or not derived.keeps(storage) or recorder(storage.backend) is not None:
        return None
    if other is not storage and (other.owner is not None or other.exposed or other.visible):
        return None
    steps = _panel_steps(launch)
    key = (tuple([(s.key, s.geometry) for s in steps]), weight._offset, addend._offset)
    at = None if call is None else call_of(call, weight, addend)
    kept, mark = derived.kept_of(storage), derived.kept_of(other).mark
    entry = kept.entries.get(key)
    if entry is None or (tensors := derived.ready(entry, other)) is None:
        if key not in kept.entries and at not in kept.entries:
            kept.note(key, None)
            return None
        tensors = _make_panels(launch, steps, (x, weight, addend))
        if tensors is None:
            return None
        kept.drop()  # what was made of another bias
        entry = derived.Derived(tensors, mark)
        kept.note(key, entry)
        storage.backend.keeping(kept)
    if at is not None:
        kept.note(at, entry)
    return tensors


def _make_panels(launch: Launch, steps: list[Step], inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
    storage = inputs[1]._storage
    backend = storage.backend
    key = ("conv panels", tuple([(s.key, s.units, s.geometry) for s in steps]))
    packing = look_up(backend, key, _panel_launch, (launch, steps))
    if isinstance(packing, MissingKernel):
        return None
    tensors = tuple([of.make(backend, storage.device) for of in packing.outputs])
    enqueue(packing, (*tensors, *inputs))
    return tensors


def _panel_steps(launch: Launch) -> list[Step]:
    """The steps that make panels, told nothing of planes."""
    steps = []
    for step in launch.steps:
        if step.key.skeleton in PACKING:
            g = ConvPackGeometry.unpack(step.geometry)
            if g.panels:
                nothing = replace(
                    g,
                    batch=0,
                    channels=1,
                    plane=1,
                    part=(1,) * 3,
                    step=(1,) * 3,
                    input=(1,) * 3,
                    x=(0,) * 5,
                    deep=(0,),
                    high=(0,),
                    wide=(0,),
                )
                units = min(step.units, nothing.of_panels)
                steps.append(replace(step, units=units, geometry=nothing.pack()))
    return steps


def _panel_launch(launch: Launch, steps: list[Step]) -> Launch:
    """The launch that makes panels alone, a tensor for each class of results."""
    count = len(steps)
    places = {X: count, WEIGHT: count + 1, BIAS: count + 2, PLANES: count + 3}
    places |= {PANELS + k: k for k in range(count)}
    key = steps[0].key
    assert isinstance(key, ConvKey)
    of = key.dtype.compute
    outputs = [Output(of, (nbytes // of.itemsize,), (1,)) for nbytes in launch.temporaries[1:]]
    return Launch(tuple([_placed(s, places) for s in steps]), count + 3, tuple(outputs), temporaries=(64,))


def without(launch: Launch) -> Launch:
    """A launch that gets its panels behind the other inputs."""
    count = len(launch.temporaries) - 1
    unused = PLANES + count + 1
    places = {OUT: OUT, X: X, WEIGHT: WEIGHT, BIAS: BIAS, PLANES: PLANES + count}
    places |= {PANELS + k: PLANES + k for k in range(count)}
    steps = []
    for step in launch.steps:
        if step.key.skeleton not in PACKING:
            steps.append(_placed(step, places))
            continue
        g = ConvPackGeometry.unpack(step.geometry)
        if g.batch:
            units = min(step.units, g.of_planes)
            packed = replace(step, units=units, geometry=replace(g, panels=0).pack())
            steps.append(_placed(packed, {**places, **{PANELS + k: unused for k in range(count)}}))
    return replace(launch, steps=tuple(steps), operands=PLANES + count, temporaries=(launch.temporaries[0], 64))


def _placed(step: Step, places: dict[int, int]) -> Step:
    starts = tuple([None if k is None else places[k] for k in step.offsets])
    return replace(step, pointers=_all(step.pointers, places), offsets=starts)


def _all(operands: Ints, places: dict[int, int]) -> Ints:
    return tuple([places[k] for k in operands])
