"""`torch.compile(model, backend="ftensor")`: each graph as one Python function over ftensor's ops.

torch captures an FX graph, derives the backward graph (AOTAutograd) and removes in-place ops
(functionalization), except final writes to inputs. `codegen` then generates straight-line code,
in which each run of calls on ftensor tensors is one launch (`fused_runs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._dynamo import trace_rules
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import default_partition
from torch.fx import GraphModule
from torch.utils.checkpoint import CheckpointPolicy

from ..errors.graph import GraphError
from ..graph.jit import Jitted
from . import memory as m
from .calls import DIRECT, WHOLE
from .captures import Captured
from .codegen import function_of
from .fallback import ALLOWED
from .float_networks import FloatNetwork
from .float_networks import network_of as network_of_floats
from .internals import Key
from .kernels import bound
from .pt2e import QuantizedNetwork, is_quantized, network_of
from .registration import written
from .schema import qualified

# The device's kernels are Python code that dynamo sees at graph breaks: it must not trace them.
trace_rules.add("ftensor")


def backend(graph: GraphModule, inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """Compiles an FX graph and its backward graph: the backend of `torch.compile`.

    With `mode="reduce-overhead"`, graphs without gradients are captured. A model that PT2E quantized
    becomes a network of `ft.quantized` layers.
    """
    if is_quantized(graph.graph) and any(m.is_here(x) for x in inputs if isinstance(x, torch.Tensor)):
        return CompiledNetwork(graph, lambda: _compiled(graph, inputs, options))
    return _compiled(graph, inputs, options)


def _compiled(graph: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    compiler = aot_autograd(
        fw_compiler=compile_graph,
        bw_compiler=compile_graph,
        inference_compiler=compile_captured if options.get("mode") == "reduce-overhead" else compile_inference,
        decompositions=_decompositions(),
        partition_fn=_partition,
        keep_inference_input_mutations=True,
    )
    with _without_wrong_decompositions():
        compiled: Callable[..., Any] = compiler(graph, inputs)
    return compiled


class CompiledNetwork:
    """A graph of dynamo's that is a quantized network. `make_fallback` returns the function that
    computes any other graph."""

    def __init__(self, graph: GraphModule, make_fallback: Callable[[], Callable[..., Any]]) -> None:
        self._graph, self._make_fallback = graph, make_fallback
        self._fallback: Callable[..., Any] | None = None
        self._inputs = [n for n in graph.graph.nodes if n.op == "placeholder"]
        self._network: QuantizedNetwork | None = None
        self._constants: dict[int, tuple[Any, int]] = {}  # by argument, with the version
        self._image = 0

    def __call__(self, *args: Any) -> Any:
        """Returns the graph's results."""
        if self._fallback is None and not self._is_current(args):
            self._build(args)
        if self._fallback is not None:
            return self._fallback(*args)
        assert self._network is not None
        pixels = self._network.quantize(m.lift(args[self._image]))
        return (m.wrap(self._network.dequantize(self._jitted(pixels))),)

    def _is_current(self, args: Sequence[Any]) -> bool:
        """True if the parameters are those of the network, and nothing has written them since."""
        held = self._constants.items()
        return self._network is not None and all(args[k] is x and x._version == n for k, (x, n) in held)

    def _build(self, args: Sequence[Any]) -> None:
        """Makes the network of the parameters among the arguments."""
        try:
            self._network, image = network_of(self._graph.graph, dict(zip(self._inputs, args)))
        except GraphError:
            self._fallback = self._make_fallback()
            return
        self._jitted = Jitted(self._network)
        self._image = self._inputs.index(image)
        parameters = [k for k, x in enumerate(args) if k != self._image and isinstance(x, torch.Tensor)]
        self._constants = {k: (args[k], args[k]._version) for k in parameters}


@contextmanager
def _without_wrong_decompositions() -> Iterator[None]:
    """Removes a wrong decomposition of torch's while a graph is traced.

    torch decomposes `multilabel_margin_loss_forward` even if the backend excludes it, and the
    decomposition wrongly counts targets after the first -1.
    """
    op = torch.ops.aten.multilabel_margin_loss_forward.default
    kernel = op.py_kernels.pop(Key.Autograd, None)
    op._dispatch_cache.clear()
    try:
        yield
    finally:
        if kernel is not None:
            op.py_kernels[Key.Autograd] = kernel
        op._dispatch_cache.clear()


@cache
def _decompositions() -> dict[Any, Any]:
    """Returns torch's core decompositions of those ops that would otherwise run on the host."""
    decompositions = torch._decomp.core_aten_decompositions()
    return {
        op: made_of
        for op, made_of in decompositions.items()
        if isinstance(op, torch._ops.OpOverload) and not _has_function(op)
    }


def _has_function(op: Any) -> bool:
    name = qualified(op._schema)
    if name in ALLOWED:
        return False
    random = torch.Tag.nondeterministic_seeded in op.tags
    return name in bound or name in written or name in DIRECT or name in WHOLE or random


def _partition(joint: GraphModule, inputs: Any, **options: Any) -> tuple[GraphModule, GraphModule]:
    """Splits a joint graph into the forward and the backward graph.

    Removes alias and detach nodes first. Marks views as recomputed in the backward graph, which
    costs less than saving them.
    """
    aten = torch.ops.aten
    for node in joint.graph.nodes:
        if node.target in (aten.alias.default, aten.detach.default):
            node.replace_all_uses_with(node.args[0])
            joint.graph.erase_node(node)
        elif isinstance(node.target, torch._ops.OpOverload) and node.target.is_view:
            node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE
    joint.recompile()
    return default_partition(joint, inputs, **options)


def compile_graph(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Returns a function that computes a graph of aten ops from a list, which it empties."""
    function = function_of(graph)
    function._boxed_call = True  # type: ignore[attr-defined]  # marks a function that takes a list
    return function


def compile_inference(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Like `compile_graph`; a graph of float32 layers is one launch where an FPGA image has its
    network."""
    function, found = compile_graph(graph, inputs), network_of_floats(graph, inputs)
    return function if found is None else FloatNetwork(*found, function)


def compile_captured(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Like `compile_graph`, with the launches captured at the third call of a signature."""
    function = function_of(graph)
    captured = Captured(lambda *args: function(list(args)))

    def call(args: list[Any]) -> Any:
        values = tuple(args)
        args.clear()
        return captured(*values)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call
