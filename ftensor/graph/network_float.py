"""Layers of float32 networks: their records, and elementwise ops that belong to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import float32
from ..errors import graph as errors
from ..execute.layers import BATCH_NORM, FLOAT_AVG_POOL2D, FLOAT_CAT, FLOAT_CONV2D, FLOAT_LINEAR
from ..kernels.network import (
    ADD,
    AVG_POOL,
    CAT,
    CONV,
    DEPTHWISE,
    LINEAR,
    MAX_POOL,
    PRODUCTS,
    SOFTMAX,
    Constants,
    Flow,
    NetworkLayer,
)
from .ir import Graph, LayerCall, Node
from .loop_body import loop_body_of

if TYPE_CHECKING:
    from .network import NetworkBuilder

# Ops with one launch that are layers: the kind, and the greatest result of a relu, by the name of the
# element function and its numbers.
_ELEMENTWISE: dict[tuple[str, tuple[float, ...]], tuple[str, int | None]] = {
    ("add", ()): (ADD, None),
    ("add", (1.0,)): (ADD, None),
    ("relu", ()): ("relu", None),
    ("clamp_min", (0.0,)): ("relu", None),
    ("clamp", (0.0, 6.0)): ("relu", 6),
    ("hardtanh", (0.0, 6.0)): ("relu", 6),
}
# Kinds of records that are layers of float32 alone.
FLOAT_KINDS = (FLOAT_CONV2D, FLOAT_LINEAR, FLOAT_AVG_POOL2D, FLOAT_CAT, BATCH_NORM, SOFTMAX)


def with_elementwise(graph: Graph, calls: list[LayerCall], live: set[int]) -> list[LayerCall]:
    """Returns a graph's layers in the order of their nodes, with those additions and relus of
    float32 that are no part of another layer."""
    inside = {k for call in graph.layers for k in call.nodes}
    found = list(enumerate(calls))
    places = [(call.nodes.start if call.nodes else -1, order, call) for order, call in found]
    for k, node in enumerate(graph.nodes):
        if k in live and k not in inside and (call := _elementwise(node, k)) is not None:
            if graph.memories[call.result.memory].is_internal:  # else it writes an argument
                places.append((k, 0, call))
    return [call for _, _, call in sorted(places, key=lambda place: place[:2])]


def _elementwise(node: Node, k: int) -> LayerCall | None:
    body = loop_body_of(node)
    if body is None or body.is_fold or any(r.dtype is not float32 for r in node.operands):
        return None
    numbers = tuple([float(n) if type(n) in (int, float) else -1.0 for n in node.scalars])
    kind, high = _ELEMENTWISE.get((body.function.name, numbers), ("", None))
    out, *inputs = node.operands
    if not kind or len({r.shape for r in node.operands}) != 1 or len(inputs) != (2 if kind == ADD else 1):
        return None
    return LayerCall(kind, tuple(inputs), out, {"high": high}, range(k, k + 1), node.origin)


def of_all_channels(weight: np.ndarray, groups: int) -> np.ndarray:
    """Returns a grouped convolution's weight (O, C / groups, H, W) as that of one group, with zeros
    for the channels of the other groups."""
    if groups == 1:
        return weight
    o, each, *kernel = weight.shape
    whole = np.zeros((o, groups * each, *kernel), weight.dtype)
    for g in range(groups):
        filters = slice(g * (o // groups), (g + 1) * (o // groups))
        whole[filters, g * each : (g + 1) * each] = weight[filters]
    return whole


class FloatLayers:
    """Makes layers of float32 for a `NetworkBuilder`."""

    def __init__(self, builder: NetworkBuilder) -> None:
        self.builder = builder

    def add(self, call: LayerCall, inputs: tuple[int, ...], images: list[Flow]) -> NetworkLayer | None:
        """Returns a call's layer; None if it was fused into the layer before."""
        image, s = images[0], call.settings
        if call.kind == "relu":
            self._relu(call, inputs[0])
            return None
        if call.kind == BATCH_NORM:
            self._batch_norm(call, inputs[0])
            return None
        if call.kind == ADD:
            return NetworkLayer(ADD, inputs, image.channels)
        if call.kind == FLOAT_CAT:
            self.builder.check_joined(call)
            return NetworkLayer(CAT, inputs, sum(one.channels for one in images))
        if call.kind == SOFTMAX:
            if s["dim"] != 1 or s["dtype"] is not float32 or len(call.inputs[0].shape) != 2:
                raise self._refuse(call, f"its input has the shape {call.inputs[0].shape}, and its dim is {s['dim']}")
            return NetworkLayer(SOFTMAX, inputs, image.channels)
        if call.kind == MAX_POOL:
            return self.builder.pool(call, inputs, image)
        if call.kind == FLOAT_AVG_POOL2D:
            return self._mean(call, inputs, image)
        if call.kind not in (FLOAT_CONV2D, FLOAT_LINEAR):
            raise self._refuse(call, "it computes with bytes, and the images are float32")
        return self._weighted(call, inputs, image)

    def _refuse(self, call: LayerCall, why: str) -> errors.GraphError:
        return self.builder.refuse(call, why)

    def _last(self, call: LayerCall, value: int, kinds: tuple[str, ...]) -> int:
        """Returns the index of the layer before a call, which must be one of these kinds and read by
        the call alone; maxima between the two are passed over if the call keeps their order."""
        of = self.builder
        while value and value == len(of.values) - 1 and not of.read[value]:
            layer = of.layers[value - 1]
            if layer.kind in kinds:
                return value - 1
            if layer.kind != MAX_POOL or call.kind != "relu" or of.read[layer.inputs[0]] != 1:
                break
            below = layer.inputs[0]
            if below and of.layers[below - 1].kind in kinds:
                return below - 1
            break
        raise self._refuse(call, f"it does not follow a {' or '.join(kinds)} whose result is read there alone")

    def _relu(self, call: LayerCall, value: int) -> None:
        of, high = self.builder, call.settings["high"]
        k = self._last(call, value, (*PRODUCTS, ADD))
        relu = 6 if high is not None or of.layers[k].relu == 6 else 1
        of.layers[k] = replace(of.layers[k], relu=relu)
        of.values[-1] = call.result

    def _batch_norm(self, call: LayerCall, value: int) -> None:
        """Folds a normalization by running statistics into the weights and the bias before it."""
        of, s = self.builder, call.settings
        k = self._last(call, value, PRODUCTS)
        if of.layers[k].relu:
            raise self._refuse(call, "it follows a relu, so that weights can't take its factors")
        numbers = {name: None if s[name] is None else of.constant(call, name, s[name]) for name in _STATISTICS}
        mean, variance, weight, bias = numbers.values()
        assert mean is not None and variance is not None
        factor = np.float32(1) / np.sqrt(variance.astype(np.float32) + np.float32(s["eps"]))
        factor = factor if weight is None else factor * weight
        before = of.constants_of[-1]
        added = (before.added - mean) * factor + (0 if bias is None else bias)
        of.constants_of[-1] = self._checked(call, before.weights * factor[:, None], added)
        of.values[-1] = call.result

    def _checked(self, call: LayerCall, weights: np.ndarray, added: np.ndarray) -> Constants:
        if not (np.isfinite(weights).all() and np.isfinite(added).all()):
            raise self._refuse(call, "its weights or its bias are not finite in float32")
        return Constants(weights.astype(np.float32), added.astype(np.float32), np.zeros(0, np.float32))

    def _mean(self, call: LayerCall, inputs: tuple[int, ...], image: Flow) -> NetworkLayer:
        layer, divisor = self.builder.windows(AVG_POOL, call, inputs, image), call.settings["divisor"]
        if type(divisor) is not int or divisor < 1:
            raise self._refuse(call, "its windows have several divisors, or a negative one")
        return replace(layer, scales=(float(np.float32(1 / divisor)),))

    def _weighted(self, call: LayerCall, inputs: tuple[int, ...], image: Flow) -> NetworkLayer:
        of, s, shape = self.builder, call.settings, call.inputs[0].shape
        name = "weight" if call.kind == FLOAT_LINEAR else "filters"
        weight = of.constant(call, "weight", s[name])
        o = weight.shape[0]
        if call.kind == FLOAT_LINEAR:
            if len(shape) != 2 or weight.ndim != 2:
                raise self._refuse(call, f"its input has {len(shape)} dims, not 2; use flatten(1)")
            layer = NetworkLayer(LINEAR, inputs, o)
            weight = weight.reshape(o, image.channels, image.height, image.width)
        else:
            windows: Any = s["windows"]
            groups, padding = s["groups"], tuple(windows.before)
            kind = DEPTHWISE if groups == image.channels == o and o > 1 else CONV
            if max(windows.dilation) > 1 or padding != tuple(s["after"]):
                raise self._refuse(
                    call,
                    f"its padding is {padding} before and {s['after']} after, its dilation {windows.dilation}: a "
                    "network has equal padding, and dilation 1",
                )
            weight = weight if kind == DEPTHWISE else of_all_channels(weight, groups)
            layer = NetworkLayer(kind, inputs, o, weight.shape[2:], s["stride"], padding)
        bias = np.zeros(o, np.float32) if s["bias"] is None else of.constant(call, "bias", s["bias"])
        of.constants_of.append(self._checked(call, weight.transpose(0, 2, 3, 1).reshape(o, -1), bias))
        return layer


_STATISTICS = ("mean", "variance", "weight", "bias")
