"""`torch.fpga.make_graphed_callables`: forward and backward passes as captured graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..errors import graph as errors
from ..execute.capture_replay import GraphPool
from .graphs import FPGAGraph, graph

Function = Callable[..., Any]


def make_graphed_callables(
    callables: Any,
    sample_args: Sequence[Any],
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: GraphPool | None = None,
) -> Any:
    """Returns functions or modules with replayed forward and backward passes, as in `torch.cuda`.

    `callables` is one of them or a tuple; `sample_args` are the tensor arguments of one, or a tuple
    of arguments for each. A module keeps its class; its `forward` is replaced, and used again in
    another mode (`train`, `eval`). Backward passes must run in the reverse order of the forward
    passes, each once. Unlike in `torch.cuda`, results and gradients are copies, which later calls
    leave alone. Raises TypeError for arguments that are not tensors on the device.
    """
    single = not isinstance(callables, tuple)
    functions = (callables,) if single else callables
    samples = (tuple(sample_args),) if single else tuple(tuple(args) for args in sample_args)
    pool = pool or GraphPool()
    graphed = [_Graphed(f, args, pool, allow_unused_input) for f, args in zip(functions, samples, strict=True)]
    for one in graphed:
        one.warm_up(num_warmup_iters)
    for one in graphed:
        one.capture_forward()
    for one in reversed(graphed):
        one.capture_backward()
    results = tuple(one.replacement() for one in graphed)
    return results[0] if single else results


class _Graphed:
    """A function with its captured passes and their static tensors."""

    def __init__(self, function: Any, args: tuple[Any, ...], pool: GraphPool, allow_unused: bool) -> None:
        for x in args:
            if not isinstance(x, torch.Tensor) or x.device.type != "fpga":
                raise errors.graphed_argument(x)
        self.function, self.pool, self.allow_unused = function, pool, allow_unused
        is_module = isinstance(function, torch.nn.Module)
        self.parameters = tuple(p for p in function.parameters() if p.requires_grad) if is_module else ()
        self.arguments = tuple(x.detach().clone().requires_grad_(x.requires_grad) for x in args)
        self.inputs = (*self.arguments, *self.parameters)
        self.sources = [x for x in self.inputs if x.requires_grad]
        self.forward, self.backward = FPGAGraph(), FPGAGraph()
        self.replay = _replay_of(self)

    def _results(self) -> list[Any]:
        with torch.enable_grad():
            flat, self.spec = pytree.tree_flatten(self.function(*self.arguments))
        return flat

    def _gradients(self, results: Sequence[Any], upstream: Sequence[torch.Tensor]) -> tuple[Any, ...]:
        targets = [y for y in results if y.requires_grad]
        if not targets or not self.sources:
            return (None,) * len(self.sources)
        return torch.autograd.grad(targets, self.sources, upstream, allow_unused=self.allow_unused)

    def warm_up(self, calls: int) -> None:
        """Calls both passes, which creates caches and tables."""
        for _ in range(calls):
            results = self._results()
            self._gradients(results, [torch.ones_like(y) for y in results if y.requires_grad])

    def capture_forward(self) -> None:
        """Captures the forward pass, and keeps what autograd recorded for the backward pass."""
        with graph(self.forward, pool=self.pool):
            self.results = self._results()
        self.upstream = [torch.ones_like(y) for y in self.results if y.requires_grad]

    def capture_backward(self) -> None:
        """Captures the backward pass."""
        with graph(self.backward, pool=self.pool):
            gradients = self._gradients(self.results, self.upstream)
        by_source = {id(x): g for x, g in zip(self.sources, gradients)}
        self.gradients = [by_source.get(id(x)) for x in self.inputs]
        self.needs_grad = [y.requires_grad for y in self.results]
        self.results = [y.detach() for y in self.results]

    def __call__(self, *args: Any) -> Any:
        """Replays the forward pass. autograd replays the backward pass."""
        return pytree.tree_unflatten(list(self.replay.apply(*args, *self.parameters)), self.spec)

    def replacement(self) -> Any:
        """Returns the module or function that replays the passes."""
        module = self.function
        if not isinstance(module, torch.nn.Module):
            return self
        eager, training = module.forward, module.training

        def forward(*args: Any) -> Any:
            return self(*args) if module.training is training else eager(*args)

        module.forward = forward
        return module


def _replay_of(graphed: _Graphed) -> Any:
    """Returns the autograd function that replays the passes."""

    class GraphedPasses(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> tuple[Any, ...]:
            for static, x in zip(graphed.arguments, inputs):
                static.detach().copy_(x)
            graphed.forward.replay()
            results = tuple(y.clone() for y in graphed.results)
            ctx.mark_non_differentiable(*[y for y, needs in zip(results, graphed.needs_grad) if not needs])
            return results

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *upstream: Any) -> tuple[Any, ...]:
            wanted = [g for g, needs in zip(upstream, graphed.needs_grad) if needs]
            for static, g in zip(graphed.upstream, wanted):
                static.copy_(g)
            graphed.backward.replay()
            return tuple(None if g is None else g.clone() for g in graphed.gradients)

    return GraphedPasses
