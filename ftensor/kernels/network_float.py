"""Processes of layers of float32 (hls/vitis/network_float.h).

The order of a sum follows from the fold. An iteration adds its products by a tree. The sums of
iterations are added in order to partial sums in turn, of which the first begins with the bias. A
tree adds the partial sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .network import STATES, Flow, NetworkLayer
from .network_depths import Operators, Process, same
from .workload import CYCLES, PIPELINE_DEPTH, LocalMemory

if TYPE_CHECKING:
    from .network_processes import Processes

_ADD, _MUL = CYCLES["float"]["add"], CYCLES["float"]["mul"]
# Operators on the exponent of a softmax's elements, one element per iteration.
_SOFTMAX = {"exp": 1, "add": STATES + 1, "div": 1, "compare": 1, "choose": 1}


def _levels(terms: int) -> int:
    """Returns the levels of a tree that adds `terms` numbers."""
    return (terms - 1).bit_length()


def product_operators(terms: int, relu: int, lanes: int, chosen: int = 0) -> Operators:
    """Returns the operators of sums of products, in all `terms` of them, and of their relu."""
    return ((("mul", "float"), terms), (("add", "float"), terms), *_rectifies(relu, lanes, chosen))


def sum_latency(terms: int) -> int:
    """Returns the latency of a tree that adds `terms` numbers, and of a product."""
    return _MUL + _ADD * _levels(terms) + 4


def product_latency(terms: int) -> int:
    """Returns the latency of `terms` products, which a tree adds to a sum."""
    return sum_latency(terms) + _ADD


def products(of: Processes, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
    """Adds the processes of a layer with weights, after its windows. Returns the FIFO of results."""
    flow = of.flow(fifo)
    (p, s), wide = layer.fold, flow.wide
    steps = flow.channels * flow.pixels // result.pixels // s
    groups, cuts, states = layer.channels // p, wide // s, min(-(-STATES // (layer.channels // p)), steps)
    beats = steps // cuts
    relu = layer.relu if states == 1 else 0
    process = Process(
        f"{name}_products",
        "products",
        (cuts, beats, groups, p, s, result.pixels, states, relu),
        result.pixels * steps * groups,
        k,
        (f"W{k}", f"BEGIN{k}"),
        product_operators(p * s, relu, p),
        (LocalMemory(steps * groups, 32 * p * s), LocalMemory(groups * (states + 1), 32 * p)),
        (lambda n: np.repeat(np.arange(1, n * result.pixels + 1) * beats, states * groups),),
        latency=product_latency(s),
    )
    if of.loaded:
        words = of.placed(LocalMemory(steps * groups, 32 * s, p))
        function = "uram_products" if words.uram else "loaded_products"
        process = of.keeping(process, k, function, (words, *process.memories[1:]))
    sums = result._replace(channels=result.channels * states)
    (fifo,) = of.add(process, (fifo,), (sums,))
    return _join(of, k, name, fifo, result, states, layer.relu) if states > 1 else fifo


def _join(of: Processes, k: int, name: str, fifo: int, result: Flow, states: int, relu: int) -> int:
    """Adds the process that adds the partial sums of each result."""
    p = result.wide
    groups = result.channels // p
    of.fifos[fifo].depth = max(of.fifos[fifo].depth, states * groups + 2)
    process = Process(
        f"{name}_join",
        "join_states",
        (states, groups, p, relu, result.pixels),
        result.beats * states,
        k,
        operators=((("add", "float"), p * (states - 1)), *_rectifies(relu, p)),
        memories=(LocalMemory(groups, 32 * p, states - 1),),
        needs=(lambda n: _last_states(n * result.pixels, states, groups),),
        latency=_ADD * _levels(states) + 4,
    )
    return of.add(process, (fifo,), (result,))[0]


def _last_states(results: int, states: int, groups: int) -> np.ndarray:
    """Returns the beats that are read before each result's last partial sum is added."""
    return (np.arange(1, results + 1)[:, None] * states * groups - np.arange(groups)[::-1]).ravel()


def _rectifies(relu: int, lanes: int, chosen: int = 0) -> Operators:
    """Returns the operators of a relu of some lanes, and of `chosen` other choices."""
    count = lanes * (2 if relu > 1 else 1) if relu else 0
    return ((("compare", "float"), count), (("choose", "float"), count + chosen))


def image_averages(of: Processes, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
    """Adds the processes of the means of whole images. Returns the FIFO of results."""
    flow = of.flow(fifo)
    parts, wide = flow.channels // flow.wide, flow.wide
    states = min(-(-STATES // parts), flow.pixels)
    result = result._replace(wide=wide)
    process = Process(
        f"{name}_sums",
        "float_image_sums",
        (flow.pixels, parts, wide, states),
        flow.beats,
        k,
        (f"{layer.scales[0].hex()}f",),
        ((("add", "float"), wide), (("mul", "float"), wide)),
        (LocalMemory(parts * states, 32 * wide),),
        (lambda n: (np.arange(1, n + 1)[:, None] * flow.beats - np.arange(parts * states)[::-1]).ravel(),),
        latency=_MUL + _ADD + 4,
    )
    (fifo,) = of.add(process, (fifo,), (result._replace(channels=result.channels * states),))
    return _join(of, k, name, fifo, result, states, 0) if states > 1 else fifo


def add(of: Processes, layer: NetworkLayer, k: int, name: str, first: int, second: int) -> int:
    """Adds the process of an addition. Returns the FIFO of results."""
    flow = of.flow(first)
    process = Process(
        name,
        "float_add",
        (flow.wide, layer.relu, flow.beats),
        flow.beats,
        k,
        operators=((("add", "float"), flow.wide), *_rectifies(layer.relu, flow.wide)),
        needs=(same(flow), same(flow)),
    )
    return of.add(process, (first, second), (flow,))[0]


def softmax(of: Processes, k: int, name: str, fifo: int) -> int:
    """Adds the process of a softmax over the channels: three passes over each image, one element per
    iteration. Returns the FIFO of results."""
    flow = of.flow(fifo)
    count = flow.channels
    process = Process(
        name,
        "softmax",
        (count,),
        3 * (count + PIPELINE_DEPTH),
        k,
        operators=tuple(((operator, "float"), n) for operator, n in _SOFTMAX.items()),
        memories=(LocalMemory(count, 32), LocalMemory(count, 32)),
        needs=(lambda n: np.repeat(np.arange(1, n + 1) * count, count),),
    )
    return of.add(process, (fifo,), (flow,))[0]
