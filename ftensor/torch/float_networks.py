"""Compiled models of float32 in evaluation, as one network where an FPGA image has its kernel.

The graph is AOTAutograd's for inference: aten ops of which the arguments include the parameters. It
becomes a function of the image alone, over ops of `ft.nn.functional` that ftensor records as layers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .. import nn
from .._tensor import Tensor
from ..graph.jit import Jitted
from ..graph.network import may_have_networks
from ..ops.rearrange.cat import cat
from ..ops.reduce.softmax import softmax
from . import memory as m

F = nn.functional
_WEIGHTED = ("convolution", "addmm", "mm", "linear")
Values = Mapping[Node, Any]


def _pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _convolution(x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, *more: Any) -> Tensor:
    transposed, _, groups = more
    if transposed or weight.ndim != 4:
        raise _NoNetworkError("a convolution is transposed, or not of images")
    return F.conv2d(x, weight, bias, _pair(stride), _pair(padding), _pair(dilation), groups)


def _batch_norm(x: Tensor, weight: Any, bias: Any, mean: Any, variance: Any, _: float, eps: float) -> tuple[Tensor]:
    return (F.batch_norm(x, mean, variance, weight, bias, False, 0.0, eps),)


def _max_pool(x: Tensor, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil: bool = False) -> Any:
    return (F.max_pool2d(x, _pair(kernel), _pair(stride) or None, _pair(padding), _pair(dilation), ceil),)


def _avg_pool(
    x: Tensor, kernel: Any, stride: Any = (), padding: Any = 0, ceil: bool = False, counted: bool = True,
    divisor: Any = None,
) -> Tensor:  # fmt: skip
    return F.avg_pool2d(x, _pair(kernel), _pair(stride) or None, _pair(padding), ceil, counted, divisor)


def _mean(x: Tensor, dims: Any, keepdim: bool = False) -> Tensor:
    if x.ndim != 4 or sorted(d % 4 for d in dims) != [2, 3]:
        raise _NoNetworkError("a mean is not that of images")
    y = F.adaptive_avg_pool2d(x, 1)
    return y if keepdim else y.flatten(1)


def _view(x: Tensor, shape: Sequence[int]) -> Tensor:
    if x.ndim < 2 or len(shape) != 2 or shape[0] not in (-1, x.shape[0]):
        raise _NoNetworkError("a view is not flatten(1)")
    return x.flatten(1)


def _hardtanh(x: Tensor, low: float = -1, high: float = 1) -> Tensor:
    return F.hardtanh(x, float(low), float(high))


# Functions of the aten ops that a network may have, which take the op's arguments.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "convolution": _convolution,
    "addmm": lambda bias, x, weight: F.linear(x, weight.t(), bias),
    "mm": lambda x, weight: F.linear(x, weight.t()),
    "linear": F.linear,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "relu": F.relu,
    "hardtanh": _hardtanh,
    "max_pool2d_with_indices": _max_pool,
    "avg_pool2d": _avg_pool,
    "_adaptive_avg_pool2d": lambda x, size: F.adaptive_avg_pool2d(x, tuple(size)),
    "mean": _mean,
    "view": _view,
    "_unsafe_view": _view,
    "add": lambda x, y: x + y,
    "cat": lambda tensors, dim=0: cat(tensors, dim),
    "_softmax": lambda x, dim, _: softmax(x, dim),
    "t": lambda x: x.t(),
    "clone": lambda x, **_: x,
}


class _NoNetworkError(Exception):
    """A graph that is no network."""


def network_of(graph: GraphModule, inputs: Sequence[Any]) -> tuple[int, Callable[..., Tensor]] | None:
    """Returns (the index of the image among the inputs, a function of the inputs' ftensor tensors)
    for a graph of layers with one result; else None."""
    nodes = list(graph.graph.nodes)
    calls = [n for n in nodes if n.op == "call_function"]
    placeholders = [n for n in nodes if n.op == "placeholder"]
    (results,) = nodes[-1].args
    names = {n: _name(n) for n in calls}
    if not set(names.values()) <= {*_FUNCTIONS, "getitem"} or not set(_WEIGHTED) & set(names.values()):
        return None
    first = next(n for n in calls if names[n] != "t")
    image = first.args[1 if names[first] == "addmm" else 0]
    tensors = all(isinstance(x, torch.Tensor) and m.is_here(x) and x.dtype is torch.float32 for x in inputs)
    if image not in placeholders or len(results) != 1 or not isinstance(results[0], Node) or not tensors:
        return None
    index = placeholders.index(image)

    def network(values: Sequence[Any]) -> Tensor:
        known: dict[Node, Any] = dict(zip(placeholders, values))
        for node in calls:
            args, words = (torch.fx.node.map_arg(part, known.__getitem__) for part in (node.args, node.kwargs))
            function = operator.getitem if names[node] == "getitem" else _FUNCTIONS[names[node]]
            known[node] = function(*args, **words)
        return known[results[0]]

    return index, network


def _name(node: Node) -> str:
    if node.target is operator.getitem and node.args[1] == 0:
        return "getitem"
    target = node.target
    space, _, name = target._schema.name.partition("::") if isinstance(target, torch._ops.OpOverload) else ("", "", "")
    return name if space == "aten" else "another"


class FloatNetwork:
    """A compiled graph of layers of float32: one launch where the device's images have its kernel,
    else `otherwise`, the graph as others. Both take a list, which they empty."""

    _boxed_call = True  # marks a function that takes a list

    def __init__(self, image: int, network: Callable[..., Tensor], otherwise: Callable[..., Any]) -> None:
        self._image, self._network, self._otherwise = image, network, otherwise
        self._jitted: Jitted[Any, Any] | None = None
        self._held: dict[int, Any] = {}  # parameters by argument; the jitted function notices writes
        self._is_network = False

    def __call__(self, args: list[Any]) -> Any:
        """Returns the graph's results."""
        x = m.lift(args[self._image])
        if type(x) is not Tensor or not may_have_networks(x._storage.backend):
            return self._otherwise(args)
        if self._jitted is None or not all(args[k] is p for k, p in self._held.items()):
            self._build(args, x)
        if not self._is_network:
            return self._otherwise(args)
        args.clear()
        assert self._jitted is not None
        return (m.wrap(self._jitted(x)),)

    def _build(self, args: Sequence[Any], x: Tensor) -> None:
        """Makes the jitted function of the parameters among the arguments."""
        self._held = {k: p for k, p in enumerate(args) if k != self._image}
        constants, network, image = {k: m.lift(p) for k, p in self._held.items()}, self._network, self._image

        def model(x: Tensor) -> Tensor:
            return network([x if k == image else constants[k] for k in range(len(constants) + 1)])

        self._jitted = Jitted(model)
        try:
            kernels = self._jitted.graph(x).kernels
        except _NoNetworkError:
            kernels = []
        self._is_network = len(kernels) == 1 and kernels[0].startswith("network ")
