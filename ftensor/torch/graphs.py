"""Captured launches under torch's names: `torch.fpga.FPGAGraph`, `torch.fpga.graph`, and
`torch.fpga.make_graphed_callables`, whose forward and backward passes are captured graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils import _pytree as pytree

from .._device import default_backend
from ..errors import graph as errors
from ..execute.capture import Capture, Recording, capture_stream, capturing
from ..execute.capture_replay import GraphPool
from .mem_pool import graph_pool


class OptimizerHyperparameters(NamedTuple):
    """An optimizer and the Python numbers of its groups at the capture."""

    optimizer: torch.optim.Optimizer
    hyperparameters: tuple[dict[str, Any], ...]

    def check(self) -> None:
        """Raises RuntimeError if a number has changed."""
        groups = self.optimizer.param_groups
        if len(groups) != len(self.hyperparameters):
            raise self._changed("number of groups", len(self.hyperparameters), len(groups))
        for before, group in zip(self.hyperparameters, groups):
            for name, value in before.items():
                now = group.get(name)
                if now is not value and (isinstance(now, torch.Tensor) or now != value):
                    raise self._changed(name, value, now)

    def _changed(self, name: str, before: Any, now: Any) -> Exception:
        return errors.hyperparameters(type(self.optimizer).__name__, name, before, now)


def _hyperparameters(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Any], ...]:
    return tuple(
        {k: v for k, v in group.items() if k != "params" and not isinstance(v, torch.Tensor)}
        for group in optimizer.param_groups
    )


# Optimizers whose steps compute no numbers on the host, and those that need fused=True for that.
# All others need capturable=True.
PLAIN, FUSED = ("SGD",), ("Adagrad", "Adam", "AdamW")
_open: list[tuple[Capture, list[OptimizerHyperparameters]]] = []


def _before_step(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    """Optimizer hook: in a capture, refuses optimizers that compute numbers on the host."""
    for capture, optimizers in _open:
        if not capture.is_captured_thread:
            continue
        name = type(optimizer).__name__
        official = type(optimizer).__module__.startswith("torch.optim")
        for group in optimizer.param_groups:
            if group.get("capturable"):
                continue
            if official and name in FUSED and not group.get("fused"):
                capture.refuse(errors.counts_on_host(name))
            elif not official or name not in PLAIN + FUSED:
                capture.refuse(errors.unknown_optimizer(name, (*PLAIN, *[f"{n} with fused=True" for n in FUSED])))
            elif (name != "SGD" or group["momentum"]) and not all(_has_state(optimizer, p) for p in group["params"]):
                capture.refuse(errors.no_state(name))
        optimizers.append(OptimizerHyperparameters(optimizer, _hyperparameters(optimizer)))


def _has_state(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> bool:
    return parameter.grad is None or any(x is not None for x in optimizer.state.get(parameter, {}).values())


register_optimizer_step_pre_hook(_before_step)


@contextmanager
def capture_launches(
    strict: bool, pool: GraphPool | None = None, keep_reads: bool = False
) -> Iterator[tuple[Capture, list[OptimizerHyperparameters]]]:
    """Context manager: captures this thread's launches, and lists the optimizers that step."""
    torch.clear_autocast_cache()
    with capture_stream(default_backend(), strict, pool, keep_reads) as capture:
        entry = capture, []  # type: tuple[Capture, list[OptimizerHyperparameters]]
        _open.append(entry)
        try:
            yield entry
        finally:
            _open.remove(entry)


class FPGAGraph:
    """Captured launches, with the interface of `torch.cuda.CUDAGraph`.

    The step runs during its capture, unlike in `torch.cuda`. Each `replay` runs it again with the
    memory, shapes and Python numbers of the capture, on the values that its tensors hold by then. A
    replay does not advance the version counters of the tensors that it writes.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._recording: Recording | None = None
        self._optimizers: list[OptimizerHyperparameters] = []
        self._context: Any = None  # of a capture in progress

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Starts to capture this thread's launches on the current stream.

        Graphs with one `pool` share the memory of their intermediate tensors. With the `id` of a
        MemPool all memory that the capture allocates is of that pool. Raises RuntimeError if the
        graph holds a capture and inside another capture; TypeError if `pool` is neither.
        """
        shared = graph_pool(pool)
        if self._recording is not None or self._context is not None:
            raise errors.captured_already()
        context = capture_launches(True, shared)
        self._capture = context.__enter__()
        self._context = context

    def capture_end(self) -> None:
        """Ends the capture. Raises the error of an index that was out of range."""
        context, self._context = self._context, None
        if context is None:
            raise errors.empty()
        context.__exit__(None, None, None)
        capture, optimizers = self._capture
        del self._capture
        if capture.fault is not None:
            raise capture.fault
        self._keep(capture, optimizers)

    def _keep(self, capture: Capture, optimizers: list[OptimizerHyperparameters]) -> None:
        capture.share_memory()
        self._recording, self._optimizers = capture.recording, optimizers

    def _abandon(self, *error: Any) -> None:
        context, self._context = self._context, None
        del self._capture
        context.__exit__(*error)

    def replay(self) -> None:
        """Runs the captured launches on the current stream.

        Raises RuntimeError without a capture, if a number of an optimizer has changed since the
        capture, and if a tensor was resized. An index out of range raises at the next wait.
        """
        if self._recording is None:
            raise errors.empty()
        for optimizer in self._optimizers:
            optimizer.check()
        self._recording.replay()

    def reset(self) -> None:
        """Frees the captured launches and their memory."""
        if self._recording is not None:
            self._recording.backend.synchronize()
        self._recording, self._optimizers = None, []

    def pool(self) -> GraphPool:
        """Returns the handle of the graph's memory, for `pool=` of other graphs. Raises
        RuntimeError without a capture."""
        if self._recording is None:
            raise errors.empty()
        return self._recording.pool

    @property
    def nbytes(self) -> int:
        """The bytes that the graph holds: of the step, and of the pool memory that it uses."""
        return 0 if self._recording is None else self._recording.nbytes

    @property
    def launches(self) -> int:
        """The number of captured launches."""
        return 0 if self._recording is None else len(self._recording.calls)


class graph:
    """Context manager: captures its body's launches into an `FPGAGraph`, like `torch.cuda.graph`.

    The last three options have no effect: no other thread's call disturbs a capture, and a graph
    keeps its inputs alive. Raises RuntimeError at an op that a replay could not repeat, and names the op and its line.
    """

    def __init__(
        self,
        fpga_graph: FPGAGraph,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        if stream is not None:
            raise errors.no_stream()
        self.graph, self.pool = fpga_graph, pool

    def __enter__(self) -> None:
        self.graph.capture_begin(self.pool)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.graph.capture_end()
        else:
            self.graph._abandon(kind, error, trace)


def graph_pool_handle() -> GraphPool:
    """Returns a handle for `pool=`, by which several graphs share memory."""
    return GraphPool()


def is_current_stream_capturing() -> bool:
    """True if this thread captures the launches of its current stream."""
    capture = capturing(default_backend())
    return capture is not None and capture.stream is default_backend().current_stream()


Function = Callable[..., Any]


def make_graphed_callables(
    callables: Any,
    sample_args: Sequence[Any],
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
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
    pool = graph_pool(pool)
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
