"""Networks: a traced chain of layers becomes one kernel (kernels/network.py)."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tensor import Tensor
from ..dtypes import float32, int8, int32, uint8
from ..dtypes.limits import iinfo
from ..errors import graph as errors
from ..execute.launch import Launch, Step
from ..execute.layers import FLOAT_LINEAR
from ..iterator.shape import Ints, is_contiguous, numel
from ..kernels.network import (
    ADD,
    AVG_POOL,
    CAT,
    CONV,
    DEPTHWISE,
    LINEAR,
    MAX_POOL,
    POOLS,
    PRODUCTS,
    WORD,
    Constants,
    Flow,
    NetworkKey,
    NetworkLayer,
    buffer_of,
    check_inputs,
    check_layer,
    check_ports,
    constant_bytes,
    least_fold,
    words_of,
)
from ..runtime import launch_cache
from .guards import CapturedValues
from .ir import CALL_NUMBER, Graph, GraphBuffer, GraphTensor, LayerCall, Node, live_nodes
from .network_float import FLOAT_KINDS, FloatLayers, of_all_channels, with_elementwise

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def may_have_networks(backend: Backend) -> bool:
    """True if the device has FPGA images, which may have networks' kernels, or if a program is
    traced for a board."""
    traced = launch_cache.stand_in_build is not None and backend.dialect == "vitis"
    return traced or (backend.images is not None and backend.built_ahead)


def as_network(graph: Graph, backend: Backend) -> Graph | None:
    """Replaces a traced graph of layers by one launch of its network kernel: the kernel
    with these weights as constants, or the kernel that loads weights. Returns None if the graph is
    not a network, or if neither kernel is available. While a program is traced for a board, both
    count as available."""
    if not graph.layers or not may_have_networks(backend):
        return None
    try:
        builder = NetworkBuilder(graph)
    except errors.GraphError:
        return None
    keys = (builder.key, builder.key.without_constants())
    images = backend.images
    held = [
        key
        for key in keys
        if images is not None and images.holds(key.entry) and launch_cache.is_available(backend, key)
    ]
    possible = held or [key for key in keys if launch_cache.is_available(backend, key)]
    if not possible:
        return None
    key, memories = possible[0], graph.memories
    if key.loaded:
        memories = (*memories, builder.weights_memory(backend))
    node, values = builder.build_node(key), CapturedValues(builder.constants)
    return replace(graph, nodes=(node,), memories=memories, layers=(), captured_values=values)


class NetworkBuilder:
    """The network of a graph as traced: after `eliminate_dead_nodes`, nodes would be renumbered and
    layers missing. `key` has the smallest folds.

    Raises GraphError, which names the op and its line, for a node outside the layers, and for a
    layer or an operand that no process supports.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.layers: list[NetworkLayer] = []
        self.calls: list[LayerCall] = []  # layer calls, without a relu that belongs to the layer before it
        self.constants: list[Tensor] = []
        self.constants_of: list[Constants] = []
        live = live_nodes(graph)
        # Layers whose results nothing uses are dropped.
        calls = [call for call in graph.layers if not call.nodes or not live.isdisjoint(call.nodes)]
        if not calls:
            raise errors.no_stages(graph.name)
        first = calls[0]
        self.input = first.inputs[0]
        self.floats = FloatLayers(self) if self.input.dtype is float32 else None
        if self.floats is not None:
            calls = with_elementwise(graph, calls, live)
            self.input = calls[0].inputs[0]
        self._check_nodes(live, {k for call in calls for k in call.nodes})
        self._check_input(calls[0])
        self.images, c, *sizes = self.input.shape
        height, width = sizes or (1, 1)
        self._flows = [Flow(height, width, c, 1, 8 * self.input.dtype.itemsize)]
        self.values = [self.input]
        self.read = [0]
        for call in calls:
            self._add_layer(call)
        self._check_result()
        if not any(layer.kind in (*PRODUCTS, *POOLS) for layer in self.layers):
            raise self.refuse(self.calls[-1], "there is no layer with weights or windows")
        name = "_".join(list(dict.fromkeys(layer.kind for layer in self.layers))[:3])
        if why := check_ports(self._flows[0], self._flows[-1]):
            raise self.refuse(self.calls[-1], why)
        layers, constants = tuple(self.layers), constant_bytes(self.constants_of)
        self.key = NetworkKey(name, self.input.dtype, (c, height, width), layers, constants)

    def weights_memory(self, backend: Backend) -> GraphBuffer:
        """Returns a memory with the weights that each launch loads. If a weight is written, the
        graph becomes stale, and its successor gets another memory."""
        words = buffer_of(self.key)
        storage = backend.allocate_lasting(words.nbytes)
        storage.device = self.graph.memories[self.input.memory].device
        backend.upload(storage, 0, words)
        return GraphBuffer(storage.nbytes, storage.device, captured=storage, owned=True)

    def build_node(self, key: NetworkKey) -> Node:
        """Returns the launch of the network's kernel `key`."""
        result = self.graph.result_tensors[0].region
        flat = [GraphTensor(r.memory, r.dtype, (numel(r.shape),), (1,), r.offset) for r in (result, self.input)]
        if key.loaded:
            nbytes = words_of(key) * WORD
            flat.append(GraphTensor(len(self.graph.memories), int32, (nbytes // int32.itemsize,), (1,), 0))
        operands = tuple(range(len(flat)))
        step = Step(key, 1, operands, operands, scalars=False, n=self.images)
        origins = tuple([call.origin for call in self.calls])
        return Node(Launch((step,), len(flat), scalar_dtypes=()), tuple(flat), (), origins[-1], origins)

    def refuse(self, call: LayerCall, why: str) -> errors.GraphError:
        """Returns the error for a call that no process computes."""
        return errors.no_layer(call.origin.op, self.graph.name, why, call.origin.line)

    def _check_nodes(self, live: set[int], inside: set[int]) -> None:
        graph = self.graph
        for k, node in enumerate(graph.nodes):
            if k in live and k not in inside:
                why = "no process computes it"
                raise errors.no_layer(node.origin.op, graph.name, why, node.origin.line)

    def _check_input(self, first: LayerCall) -> None:
        r = self.input
        if len(r.shape) not in (2, 4) or 0 in r.shape:
            raise self.refuse(first, f"its input has the shape {r.shape}, not (N, C, H, W) or (N, C)")
        if self.graph.memories[r.memory].argument is None:
            raise self.refuse(first, "its input is no argument of the function")
        if r.dtype not in (uint8, int8, float32):
            raise self.refuse(first, f"its input is {r.dtype.name}, not uint8, int8 or float32")
        if not is_contiguous(r.shape, r.strides) or r.offset % 64:
            raise self.refuse(first, f"its input is not contiguous, or begins at byte {r.offset}, not on a beat")

    def _check_result(self) -> None:
        results, last = self.graph.result_tensors, self.calls[-1]
        if len(results) != 1 or not _same_data(self.values[-1], results[0].region) or results[0].region.offset:
            raise self.refuse(last, "its result is not the function's only result")
        unread = [k for k, count in enumerate(self.read[:-1]) if not count]
        if unread:
            raise self.refuse(self.calls[max(unread[0] - 1, 0)], "nothing reads its result")

    def _add_layer(self, call: LayerCall) -> None:
        """Adds a layer."""
        if any(r.dtype is not self.input.dtype for r in (*call.inputs, call.result)):
            raise self.refuse(call, f"its dtypes are not all that of the images, {self.input.dtype.name}")
        inputs = tuple([self._value(call, r) for r in call.inputs])
        image = self._flows[inputs[0]]
        images = [self._flows[value] for value in inputs]
        for r, each in zip(call.inputs, images):
            self._check_shape(call, r.shape, each)
        if _has_call_scalar(tuple(call.settings.values())):
            raise self.refuse(call, "a number that the call passes is one of its arguments; let the function have it")
        layer: NetworkLayer | None
        if self.floats is not None:
            layer = self.floats.add(call, inputs, images)
            if layer is None:
                return
        elif call.kind in FLOAT_KINDS:
            raise self.refuse(call, "it computes with floating-point numbers, and the images are bytes")
        elif call.kind == "relu":
            self._relu(call, inputs[0])
            return
        elif call.kind in (ADD, CAT):
            layer = self._joined(call, inputs, images)
        elif call.kind in POOLS or call.kind == "adaptive_avg_pool2d":
            layer = self.pool(call, inputs, image)
        else:
            layer = self._weighted(call, inputs, image)
        if layer.kind == DEPTHWISE:
            layer = replace(layer, fold=least_fold(layer, image))
        if why := check_layer(layer, image) or check_inputs(layer, images):
            raise self.refuse(call, why)
        for value in inputs:
            self.read[value] += 1
        self.layers.append(layer)
        self.calls.append(call)
        self._flows.append(layer.result(image))
        self.values.append(call.result)
        self.read.append(0)

    def _check_shape(self, call: LayerCall, shape: Ints, image: Flow) -> None:
        """Raises GraphError for an input that was reshaped, except the flattened input of a linear
        layer."""
        shapes: list[tuple[int, ...]] = [(self.images, image.channels, image.height, image.width)]
        if call.kind in (LINEAR, FLOAT_LINEAR) or image.pixels == 1:
            shapes.append((self.images, image.elements))
        if shape not in shapes:
            raise self.refuse(call, f"its input has the shape {shape}, and the layer before it gives {shapes[0]}")

    def _value(self, call: LayerCall, r: GraphTensor) -> int:
        """Returns the index of the value that a layer reads: the latest result with these bytes.
        Raises GraphError if there is none, as for a slice."""
        for k in range(len(self.values) - 1, -1, -1):
            if _same_data(self.values[k], r):
                return k
        raise self.refuse(call, "it reads a part of a layer's result, or another tensor")

    def _relu(self, call: LayerCall, value: int) -> None:
        """Fuses a relu into the layer before it: the layer's smallest result becomes the zero
        point, and with relu6 its greatest result that of 6."""
        zero, high = call.settings["zero_point"], call.settings["high"]
        if value != len(self.values) - 1 or not value or self.read[value] or self.layers[-1].kind in (MAX_POOL, CAT):
            raise self.refuse(call, "it does not follow a layer that rounds, whose result is read there alone")
        before = self.layers[-1]
        high = before.high if high is None else min(before.high, high)
        self.layers[-1] = replace(before, low=max(before.low, zero), high=max(high, zero))
        self.values[-1] = call.result

    def _joined(self, call: LayerCall, inputs: tuple[int, ...], images: list[Flow]) -> NetworkLayer:
        """Returns the layer of an addition or a concatenation."""
        s = call.settings
        if call.kind == CAT:
            self.check_joined(call)
        given = (
            (s["first_scale"], s["second_scale"], s["inverse"]) if call.kind == ADD else (*s["scales"], s["inverse"])
        )
        scales = tuple([float(np.float32(scale)) for scale in given])
        if not all(0 < scale < inf for scale in scales):
            raise self.refuse(call, f"its scales are {scales} in float32")
        if call.kind == CAT:
            channels = sum(image.channels for image in images)
            return NetworkLayer(CAT, inputs, channels, zero=s["zero"], scales=scales, zeros=s["zeros"])
        zeros = {"zero_in": s["first"], "zero_other": s["second"], "zero": s["zero"], "low": s["low"]}
        return NetworkLayer(ADD, inputs, images[0].channels, scales=scales, **zeros)

    def check_joined(self, call: LayerCall) -> None:
        """Raises GraphError for a concatenation that does not join channels."""
        count, dim = len(call.inputs), call.settings["dim"]
        if dim != 1 or count < 2:
            raise self.refuse(call, f"it joins {count} tensors along dim {dim}, not two or more along dim 1")

    def pool(self, call: LayerCall, inputs: tuple[int, ...], image: Flow) -> NetworkLayer:
        """Returns the layer of a pool."""
        s = call.settings
        if call.kind == MAX_POOL:
            if max(s["dilation"]) > 1:
                raise self.refuse(call, f"its dilation is {s['dilation']}")
            return self.windows(MAX_POOL, call, inputs, image)
        layer = self.windows(AVG_POOL, call, inputs, image)
        if len(s["factors"]) != 1 or not 0 < s["factors"][0] < inf:
            raise self.refuse(call, "its windows have several divisors (count_include_pad=False), or a negative one")
        zero = s["zero_point"]
        return replace(layer, zero_in=zero, zero=zero, low=iinfo(self.input.dtype).min, scales=s["factors"])

    def windows(self, kind: str, call: LayerCall, inputs: tuple[int, ...], image: Flow) -> NetworkLayer:
        """Returns a pool's layer without its numbers. Raises GraphError if its windows have several sizes,
        or reach beyond the image."""
        s = call.settings
        if min(s["kernel"]) < 1:
            raise self.refuse(call, f"the {s['counts']} windows of its result have several sizes")
        layer = NetworkLayer(kind, inputs, image.channels, s["kernel"], s["stride"], s["padding"])
        after = layer.result(image)
        if (after.height, after.width) != tuple(s["counts"]):
            raise self.refuse(call, "its last windows reach beyond the image (ceil_mode)")
        return layer

    def _weighted(self, call: LayerCall, inputs: tuple[int, ...], image: Flow) -> NetworkLayer:
        s, shape = call.settings, call.inputs[0].shape
        weight = self.constant(call, "weight", s["weight"])
        zeros = {"zero_in": s["input_zero_point"], "zero": s["zero_point"]}
        zeros["low"] = s["zero_point"] if s["relu"] else iinfo(self.input.dtype).min
        o = weight.shape[0]
        if call.kind == LINEAR:
            if len(shape) != 2:
                raise self.refuse(call, f"its input has {len(shape)} dims, not 2; use flatten(1)")
            layer = NetworkLayer(LINEAR, inputs, o, **zeros)
            # The input's order in memory is (channel, row, column), in the FIFO (row, column,
            # channel).
            weight = weight.reshape(o, image.channels, image.height, image.width)
        else:
            stride, padding, dilation = (_pair(s[word]) for word in ("stride", "padding", "dilation"))
            kind = DEPTHWISE if s["groups"] == image.channels == o and o > 1 else CONV
            if len(shape) != 4 or isinstance(padding, str) or max(dilation) > 1:
                raise self.refuse(
                    call,
                    f"its input has {len(shape)} dims, its padding is {padding!r}, its dilation {dilation}: a network "
                    "has (N, C, H, W), padding in numbers, and dilation 1",
                )
            weight = weight if kind == DEPTHWISE else of_all_channels(weight, s["groups"])
            layer = NetworkLayer(kind, inputs, o, weight.shape[2:], stride, padding, **zeros)
        flat = weight.transpose(0, 2, 3, 1).reshape(o, -1)
        self.constants_of.append(Constants(flat, *self._factors(call, o)))
        return layer

    def _factors(self, call: LayerCall, o: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (added, factor) of each channel: the operands of the row "requantize" in
        ops/quantized/layers.py, to the bit as the op computes them."""
        s = call.settings
        single = np.float32(s["input_scale"])
        scales = s["weight_scale"]
        if isinstance(scales, GraphTensor):
            each = self.constant(call, "weight_scale", scales).astype(np.float32) * single
        else:
            each = np.full(o, single * np.float32(scales), np.float32)
        factor = each / np.float32(s["scale"])
        added = np.zeros(o, np.float32)
        if s["bias"] is not None:
            added = self.constant(call, "bias", s["bias"]) / each
        if not (np.isfinite(added).all() and np.isfinite(factor).all()):
            raise self.refuse(call, "its bias or its scales are not finite in float32")
        return added.astype(np.float32), factor.astype(np.float32)

    def constant(self, call: LayerCall, name: str, r: GraphTensor) -> np.ndarray:
        """Returns the values of a tensor that the function captured."""
        memory = self.graph.memories[r.memory]
        if memory.is_internal:
            raise self.refuse(call, f"its {name} is computed in the function; compute it outside")
        if memory.captured is None:
            raise self.refuse(call, f"its {name} is an argument; let the function capture it, so that it is constant")
        tensor = Tensor._make(memory.captured, r.dtype, r.shape, r.strides, r.offset)
        self.constants.append(tensor)
        return np.array(tensor, copy=True)


def _has_call_scalar(value: Any) -> bool:
    """True if a layer's arguments contain a number that each call passes."""
    return value is CALL_NUMBER or (type(value) is tuple and any(_has_call_scalar(part) for part in value))


def _pair(value: Any) -> Any:
    """Returns a size of two dims as a pair of ints; a word such as "same" as it is."""
    if isinstance(value, str):
        return value
    sizes = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return tuple(int(n) for n in sizes * (3 - len(sizes)))


def _same_data(a: GraphTensor, b: GraphTensor) -> bool:
    """True if two tensors have the same bytes in the same order; their shapes may differ after the
    first dim."""
    dense = is_contiguous(a.shape, a.strides) and is_contiguous(b.shape, b.strides)
    same = a.memory == b.memory and a.offset == b.offset and a.dtype is b.dtype
    return dense and same and numel(a.shape) == numel(b.shape) and a.shape[:1] == b.shape[:1]
