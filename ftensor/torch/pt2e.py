"""Models that PT2E quantized (torchao's `prepare_pt2e`, `convert_pt2e`), as chains of `ft.quantized` layers.

`convert_pt2e` leaves a float graph with pairs of `quantize_per_tensor` and `dequantize_per_tensor`
between its ops. A layer here is an op on dequantized values together with the quantization of its
result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Node

from .. import nn
from .. import quantized as q
from .._tensor import Tensor
from ..dtypes import dtype as ft_dtype
from ..errors import torch as errors
from ..errors.graph import GraphError
from . import memory as m

_QUANTIZED = "quantized_decomposed"
_LIMITS = {torch.uint8: (0, 255), torch.int8: (-128, 127)}
# Ops that leave an inference's values and shapes as they are.
_SAME = ("alias", "clone", "contiguous", "detach", "dropout", "feature_dropout", "lift_fresh_copy")


class Scale(NamedTuple):
    """Scale, zero point and dtype of a quantized tensor."""

    scale: float
    zero_point: int
    dtype: ft_dtype

    @property
    def arguments(self) -> tuple[float, int, int, int, ft_dtype]:
        """Returns the arguments of `quantize_per_tensor` behind the tensor."""
        low, high = _LIMITS[m.FROM_FT[self.dtype]]
        return self.scale, self.zero_point, low, high, self.dtype


class _Value(NamedTuple):
    """A quantized value: its number, its scale, and whether it is flattened where it is read."""

    number: int
    scale: Scale
    flat: bool = False


class _Rounded(NamedTuple):
    """The dequantized form of a quantized value."""

    value: _Value


class _Weight(NamedTuple):
    """A dequantized weight."""

    integers: Tensor
    scale: Any  # a number, or a scale for each filter


class _Unrounded(NamedTuple):
    """The float result of an op, before it is quantized. `relu`, whose results end at `most`, then
    maxima and flatten(1) follow the op."""

    node: Node
    inputs: tuple[_Value, ...]
    settings: Mapping[str, Any]
    relu: bool = False
    most: float = inf
    pools: tuple[Mapping[str, Any], ...] = ()
    flat: bool = False


class _Step(NamedTuple):
    function: Callable[..., Tensor]
    inputs: tuple[int, ...]
    settings: Mapping[str, Any]


class QuantizedNetwork:
    """The layers of a model that PT2E quantized, on quantized tensors.

    A call maps uint8 or int8 images to the last rounded result; both are ftensor tensors, with
    `input_scale` and `output_scale`. `quantize` and `dequantize` convert from and to the model's
    float32. If the quantizer left a last layer's result in float32, `dequantize` computes that
    layer, too. `ft.jit(network).export(...)` makes one kernel of the call (docs/networks.md).
    """

    def __init__(self, builder: _Builder) -> None:
        assert builder.input_scale is not None
        self.input_scale = builder.input_scale
        self.output_scale = builder.output.scale
        self._steps, self._output, self._tail = tuple(builder.steps), builder.output.number, builder.tail
        self.__name__ = self.__qualname__ = "network"

    def __call__(self, input: Tensor) -> Tensor:
        """Returns the quantized result of quantized images (N, C, H, W) or (N, K)."""
        values = [input]
        for function, inputs, settings in self._steps:
            if function is q.cat:
                values.append(q.cat([values[k] for k in inputs], **settings))
            else:
                values.append(function(*[values[k] for k in inputs], **settings))
        return values[self._output]

    def quantize(self, input: Tensor) -> Tensor:
        """Returns float32 images as the network's input."""
        return q.quantize_per_tensor(input, *self.input_scale.arguments)

    def dequantize(self, output: Tensor) -> Tensor:
        """Returns the model's float32 result for the network's result."""
        real = q.dequantize_per_tensor(output, *self.output_scale.arguments)
        return real if self._tail is None else self._tail(real)


def from_pt2e(model: GraphModule) -> QuantizedNetwork:
    """Returns the layers of a model that `convert_pt2e` returned.

    Its parameters are moved to the device. Each layer's result has FBGEMM's rounding of the exact
    sum (docs/quantized.md). Raises TypeError for any other model, and GraphError, which names the
    node, if the model's computation is no chain of quantized layers with one input and one result.
    """
    if not isinstance(model, GraphModule):
        raise errors.not_pt2e(model)
    attributes = {n: operator.attrgetter(str(n.target))(model) for n in model.graph.nodes if n.op == "get_attr"}
    return network_of(model.graph, attributes)[0]


def is_quantized(graph: Graph) -> bool:
    """True if a captured graph has PT2E's ops that quantize."""
    return any(_name(n) == f"{_QUANTIZED}::quantize_per_tensor" for n in graph.nodes)


def network_of(graph: Graph, constants: Mapping[Node, Any]) -> tuple[QuantizedNetwork, Node]:
    """Returns the layers of a graph, and the node of its input. `constants` are the values of
    attributes and of other inputs. Raises GraphError as `from_pt2e` does."""
    builder = _Builder(graph, constants)
    return QuantizedNetwork(builder), builder.image


def _name(node: Node) -> str:
    """Returns the name of a call's op, such as `aten::conv2d`; "" for other nodes."""
    target = node.target
    return target._schema.name.rstrip("_") if isinstance(target, torch._ops.OpOverload) else ""


def _arguments(node: Node) -> dict[str, Any]:
    schema = node.target._schema
    given = dict(zip([a.name for a in schema.arguments], node.args)) | node.kwargs
    return {a.name: given.get(a.name, a.default_value) for a in schema.arguments}


class _Builder:
    """Reads a graph node by node. `steps` are the layers, `output` is the last rounded value, and
    `tail` a last layer in float32."""

    def __init__(self, graph: Graph, constants: Mapping[Node, Any]) -> None:
        self.steps: list[_Step] = []
        self.tail: Callable[[Tensor], Tensor] | None = None
        self.input_scale: Scale | None = None
        self._known: dict[Node, Any] = {}
        self._constants = constants
        self.image = self._image_of(graph)
        for node in graph.nodes:
            if node.op == "output":
                self._finish(node)
            elif node.op == "call_function" and self._is_constant(node):
                self._known[node] = self._constant(node)
            elif node.op == "call_function":
                self._known[node] = self._read(node)
            elif node.op == "call_module" and node.users:
                raise self._refuse(node, "it is a module, not an op")

    def _image_of(self, graph: Graph) -> Node:
        """Returns the input that is quantized, with the other inputs as constants."""
        images = dict.fromkeys(
            n.all_input_nodes[0]
            for n in graph.nodes
            if _name(n) == f"{_QUANTIZED}::quantize_per_tensor" and n.all_input_nodes[:1]
            and n.all_input_nodes[0].op == "placeholder"
        )  # fmt: skip
        inputs = [n for n in graph.nodes if n.op == "placeholder" and n.users]
        free = [n for n in inputs if n not in self._constants and n not in images]
        if len(images) != 1 or free:
            raise errors.no_quantized_input(len(images), [n.name for n in free])
        return next(iter(images))

    def _refuse(self, node: Node, why: str) -> GraphError:
        name = _name(node).partition("::")[2] or str(node.target)
        return errors.not_quantized(name, node.name, why)

    # --- constants

    def _is_constant(self, node: Node) -> bool:
        return bool(node.all_input_nodes) and all(
            n is not self.image and (n in self._constants or isinstance(self._known.get(n), (torch.Tensor, _Weight)))
            for n in node.all_input_nodes
        )

    def _value_of(self, a: Any) -> Any:
        if isinstance(a, Node):
            return self._constants[a] if a in self._constants else self._known[a]
        return [self._value_of(x) for x in a] if isinstance(a, (list, tuple)) else a

    def _constant(self, node: Node) -> Any:
        name = _name(node)
        if name.startswith(f"{_QUANTIZED}::dequantize"):
            return self._weight(node, _arguments(node))
        args, kwargs = [self._value_of(a) for a in node.args], {k: self._value_of(a) for k, a in node.kwargs.items()}
        if any(isinstance(a, _Weight) for a in (*args, *kwargs.values())):
            raise self._refuse(node, "it computes with a dequantized weight")
        with torch.no_grad():
            return node.target(*args, **kwargs)

    def _weight(self, node: Node, a: Mapping[str, Any]) -> Any:
        integers = self._value_of(a["input"])
        if integers.dtype not in _LIMITS:  # a bias in int32
            with torch.no_grad():
                return node.target(*[self._value_of(x) for x in node.args])
        scale = self._value_of(a["scales"] if "scales" in a else a["scale"])
        zeros = self._value_of(a["zero_points"] if "scales" in a else a["zero_point"])
        if integers.dtype is not torch.int8 or (zeros is not None and torch.as_tensor(zeros).cpu().any()):
            raise self._refuse(node, f"a weight is {integers.dtype}, or has a zero point; layers take int8 around 0")
        if a.get("axis", 0) != 0:
            raise self._refuse(node, f"a weight has scales along dim {a['axis']}; layers take one for each filter")
        return _Weight(_tensor(integers), _tensor(scale) if isinstance(scale, torch.Tensor) else float(scale))

    # --- values

    def _read(self, node: Node) -> Any:
        name, a = _name(node), _arguments(node) if _name(node) else {}
        space, _, op = name.partition("::")
        if space == _QUANTIZED and op == "quantize_per_tensor":
            return self._quantized(node, a)
        if space == _QUANTIZED and op == "dequantize_per_tensor":
            return self._dequantized(node, a)
        reader = getattr(self, f"_{op}", None) if space == "aten" else None
        if space == "aten" and op in _SAME:
            return self._known.get(node.args[0])
        if reader is None:
            raise self._refuse(node, "it is none of conv2d, linear, relu, add, cat and pools")
        return reader(node, a)

    def _scale(self, node: Node, a: Mapping[str, Any]) -> Scale:
        scale, zero = self._value_of(a["scale"]), self._value_of(a["zero_point"])
        limits = a["quant_min"], a["quant_max"]
        if _LIMITS.get(a["dtype"]) != limits:
            raise self._refuse(node, f"its range is {limits} of {a['dtype']}; layers take all of uint8 or of int8")
        return Scale(float(scale), int(zero), m.TO_FT[a["dtype"]])

    def _quantized(self, node: Node, a: Mapping[str, Any]) -> _Value:
        scale, source = self._scale(node, a), a["input"]
        if source is self.image:
            if self.input_scale not in (None, scale):
                raise self._refuse(node, "it quantizes the input a second time, with another scale")
            self.input_scale = scale
            return _Value(0, scale)
        found = self._known.get(source)
        if isinstance(found, _Rounded):
            return found.value if found.value.scale == scale else self._rescaled(found.value, scale)
        if isinstance(found, _Unrounded):
            return self._emit(found, scale)
        raise self._refuse(node, "its input is no result of a layer")

    def _dequantized(self, node: Node, a: Mapping[str, Any]) -> _Rounded:
        value = self._known.get(a["input"])
        if not isinstance(value, _Value) or value.scale != self._scale(node, a):
            raise self._refuse(node, "it has another scale than the tensor that it reads")
        return _Rounded(value)

    def _rounded(self, node: Node, source: Any) -> _Value:
        """Returns the quantized value that an op reads."""
        found = self._known.get(source)
        if isinstance(found, _Rounded):
            return found.value
        if isinstance(found, _Unrounded):
            why = f"the result of {found.node.name} reaches it without being quantized; annotate that node, too"
            raise self._refuse(node, why)
        raise self._refuse(node, "an operand is no quantized activation")

    def _behind(self, node: Node, source: Any) -> _Unrounded:
        """Returns the float value that relu or a maximum reads: a layer's result, or a rounded one."""
        found = self._known.get(source)
        return found if isinstance(found, _Unrounded) else _Unrounded(node, (self._rounded(node, source),), {})

    def _rescaled(self, value: _Value, scale: Scale) -> _Value:
        """Returns a value that is dequantized and quantized to another scale: the sum of its halves,
        which are exact in float32."""
        half = value.scale.scale / 2
        return self._step(
            q.add, (value.number,) * 2, value._replace(scale=scale), scale=scale.scale, zero_point=scale.zero_point,
            input_scale=half, input_zero_point=value.scale.zero_point,
            other_scale=half, other_zero_point=value.scale.zero_point,
        )  # fmt: skip

    # --- ops

    def _weighted(self, node: Node, a: Mapping[str, Any], windows: Mapping[str, Any]) -> _Unrounded:
        weight = self._value_of(a["weight"]) if isinstance(a["weight"], Node) and self._has(a["weight"]) else None
        if not isinstance(weight, _Weight):
            raise self._refuse(node, "its weight is not quantized")
        bias = None if a["bias"] is None else _tensor(self._value_of(a["bias"]))
        value = self._rounded(node, a["input"])
        settings = {"weight": weight.integers, "bias": bias, "weight_scale": weight.scale, **windows}
        return _Unrounded(node, (value,), settings)

    def _has(self, node: Node) -> bool:
        return node in self._constants or node in self._known

    def _conv2d(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        return self._weighted(node, a, {word: a[word] for word in ("stride", "padding", "dilation", "groups")})

    def _linear(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        return self._weighted(node, a, {})

    def _relu(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        found = self._behind(node, a["self"])
        return found._replace(relu=True)

    def _hardtanh(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        if a.get("min_val", 0) != 0:
            raise self._refuse(node, f"its least value is {a['min_val']}, not 0")
        found = self._behind(node, a["self"])
        return found._replace(relu=True, most=min(found.most, a.get("max_val", 6)))

    _relu6 = _hardtanh

    def _max_pool2d(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        found = self._behind(node, a["self"])
        pool = {word: a[word] for word in ("kernel_size", "padding", "dilation", "ceil_mode")}
        pool["stride"] = a["stride"] or a["kernel_size"]
        return found._replace(pools=(*found.pools, pool))

    def _flatten(self, node: Node, a: Mapping[str, Any]) -> _Unrounded | _Rounded:
        if (a["start_dim"], a["end_dim"]) not in ((1, -1), (1, 3), (1, 1)):
            raise self._refuse(node, f"it flattens the dims {a['start_dim']} to {a['end_dim']}, not 1 to -1")
        return self._flat(node, a["self"])

    def _flat(self, node: Node, source: Any) -> _Unrounded | _Rounded:
        found = self._known.get(source)
        if isinstance(found, _Rounded):
            return _Rounded(found.value._replace(flat=True))
        return self._behind(node, source)._replace(flat=True)

    def _view(self, node: Node, a: Mapping[str, Any]) -> Any:
        shape, before = a.get("size", a.get("shape")), _shape(node.args[0])
        if len(shape) != 2 or before is None or (shape[0] != before[0] and shape[1] == -1):
            raise self._refuse(node, f"it changes the shape to {list(shape)}; a network has flatten(1) only")
        return self._flat(node, a["self"])

    _reshape = _unsafe_view = _view

    def _add(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        if a["alpha"] != 1:
            raise self._refuse(node, f"its alpha is {a['alpha']}, not 1")
        return _Unrounded(node, tuple(self._rounded(node, a[word]) for word in ("self", "other")), {})

    def _cat(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        return _Unrounded(node, tuple(self._rounded(node, x) for x in a["tensors"]), {"dim": a["dim"]})

    def _avg_pool2d(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        words = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
        settings = {word: a[word] for word in words} | {"stride": a["stride"] or a["kernel_size"]}
        return _Unrounded(node, (self._rounded(node, a["self"]),), settings)

    def _adaptive_avg_pool2d(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        return _Unrounded(node, (self._rounded(node, a["self"]),), {"output_size": a["output_size"]})

    def _mean(self, node: Node, a: Mapping[str, Any]) -> _Unrounded:
        dims = {d % 4 for d in a["dim"] or ()}
        if dims != {2, 3}:
            raise self._refuse(node, f"it is the mean of the dims {a['dim']}, not of height and width")
        return _Unrounded(node, (self._rounded(node, a["self"]),), {"output_size": 1}, flat=not a["keepdim"])

    # --- layers

    def _step(
        self, function: Callable[..., Tensor], inputs: tuple[int, ...], like: _Value, /, **settings: Any
    ) -> _Value:
        """Adds a layer whose result has the scale of `like`."""
        self.steps.append(_Step(function, inputs, settings))
        return like._replace(number=len(self.steps))

    def _emit(self, found: _Unrounded, scale: Scale) -> _Value:
        """Adds the layers of a float value that is rounded to `scale`."""
        node, settings, first = found.node, found.settings, found.inputs[0].scale
        op = _name(node).partition("::")[2]
        if any(v.scale.dtype is not scale.dtype for v in found.inputs):
            raise self._refuse(node, f"its operands and its result are not all {scale.dtype.name}")
        numbers, value = tuple(v.number for v in found.inputs), found.inputs[0]._replace(scale=scale)
        relu, result = found.relu, {"scale": scale.scale, "zero_point": scale.zero_point}
        if op in ("conv2d", "linear"):
            inputs = {"input_scale": first.scale, "input_zero_point": first.zero_point}
            if value.flat:
                numbers = (self._step(Tensor.flatten, numbers, value, start_dim=1).number,)
            function = getattr(q, f"{op}_relu" if relu else op)
            value = self._step(function, numbers, value._replace(flat=False), **settings, **result, **inputs)
            relu = False
        elif op == "add":
            other = found.inputs[1].scale
            inputs = {"input_scale": first.scale, "input_zero_point": first.zero_point}
            inputs |= {"other_scale": other.scale, "other_zero_point": other.zero_point}
            value = self._step(q.add, numbers, value, **result, **inputs)
        elif op == "cat":
            scales = {"input_scales": [v.scale.scale for v in found.inputs]}
            zeros = {"input_zero_points": [v.scale.zero_point for v in found.inputs]}
            value = self._step(q.cat, numbers, value, **result, **settings, **scales, **zeros)
        elif first != scale:
            why = "its result has another scale than its input, and pools and relu keep it; let them share an observer"
            raise self._refuse(node, why)
        elif op == "avg_pool2d":
            value = self._step(q.avg_pool2d, numbers, value, **settings, zero_point=scale.zero_point)
        elif op in ("adaptive_avg_pool2d", "mean"):
            value = self._step(q.adaptive_avg_pool2d, numbers, value, **settings)
        if found.most < inf:
            value = self._step(q.relu6, (value.number,), value, **result, maximum=found.most)
        elif relu:
            value = self._step(q.relu, (value.number,), value, zero_point=scale.zero_point)
        maxima: Any = nn.functional.max_pool2d  # without positions
        for pool in found.pools:
            value = self._step(maxima, (value.number,), value, **pool)
        return value._replace(flat=value.flat or found.flat)

    def _finish(self, node: Node) -> None:
        """Finds the result: a rounded value, or a layer's float result behind one."""
        results = node.all_input_nodes
        found = self._known.get(results[0]) if len(results) == 1 else None
        if isinstance(found, (_Rounded, _Value)):
            value = found if isinstance(found, _Value) else found.value
        elif isinstance(found, _Unrounded) and "weight" in found.settings and not found.pools and found.most == inf:
            (value,) = found.inputs
            self.tail = _float_layer(found)
        else:
            raise errors.no_quantized_result(len(results))
        if value.flat:
            value = self._step(Tensor.flatten, (value.number,), value, start_dim=1)
        if not self.steps or value.number == 0:
            raise errors.no_quantized_result(len(results))
        self.output = value


def _float_layer(found: _Unrounded) -> Callable[[Tensor], Tensor]:
    """Returns the function of a layer whose result stays in float32."""
    settings = dict(found.settings)
    integers, scale, bias = settings.pop("weight"), settings.pop("weight_scale"), settings.pop("bias")
    if isinstance(scale, Tensor):
        scale = scale.reshape(-1, *[1] * (integers.ndim - 1))
    weight = integers.float() * scale
    function = getattr(nn.functional, _name(found.node).partition("::")[2])

    def layer(x: Tensor) -> Tensor:
        result: Tensor = function(x, weight, bias, **settings)
        return result.relu() if found.relu else result

    return layer


def _shape(node: Any) -> Sequence[int] | None:
    value = node.meta.get("val", node.meta.get("example_value")) if isinstance(node, Node) else None
    return None if value is None else tuple(value.shape)


def _tensor(t: torch.Tensor) -> Tensor:
    return m.to_ftensor(t.detach() if t.device.type == "fpga" else t.detach().to("fpga"))
