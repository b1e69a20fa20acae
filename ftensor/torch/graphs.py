"""`torch.fpga.FPGAGraph` and `torch.fpga.graph`: captured launches, as in `torch.cuda`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from .._device import default_backend
from ..errors import graph as errors
from ..execute.capture import Capture, Recording, captured, capturing
from ..execute.capture_replay import GraphPool


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
    with captured(default_backend(), strict, pool, keep_reads) as capture:
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

        Graphs with one `pool` share the memory of their intermediate tensors. Raises RuntimeError
        if the graph holds a capture, inside another capture, and on devices whose kernels come from
        images; TypeError if `pool` is no handle.
        """
        if pool is not None and not isinstance(pool, GraphPool):
            raise errors.pool_type(pool)
        if self._recording is not None or self._context is not None:
            raise errors.captured_already()
        context = capture_launches(True, pool)
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

    Raises RuntimeError at an op that a replay could not repeat, and names the op and its line.
    """

    def __init__(
        self, fpga_graph: FPGAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
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
