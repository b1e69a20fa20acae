"""Graphs of captured launches: `torch.fpga.FPGAGraph`, `torch.fpga.graph`, and `ftensor.torch.capture`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar
from weakref import WeakSet

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils import _pytree as pytree

from .._device import default_backend
from ..errors import capture as errors
from ..execute.capture import Capture, Recording, captured, capturing
from ..terminal import table
from .memory import to_ftensor

P = ParamSpec("P")
R = TypeVar("R")


class _Settings(NamedTuple):
    """An optimizer and the numbers of its groups at the capture."""

    optimizer: torch.optim.Optimizer
    numbers: tuple[dict[str, Any], ...]

    def check(self) -> None:
        """Raises RuntimeError if a number is another now."""
        for before, now in zip(self.numbers, _numbers(self.optimizer)):
            for name, value in before.items():
                if now.get(name) != value:
                    raise errors.hyperparameters(type(self.optimizer).__name__, name, value, now.get(name))


def _numbers(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Any], ...]:
    return tuple(
        {k: v for k, v in group.items() if k != "params" and not isinstance(v, torch.Tensor)}
        for group in optimizer.param_groups
    )


# Optimizers whose steps are known to compute no number on the host, and those that do not with
# fused=True. All others need capturable=True.
PLAIN, FUSED = ("SGD",), ("Adagrad", "Adam", "AdamW")
_open: list[tuple[Capture, list[_Settings]]] = []


class _RunningFunctions(threading.local):
    """The captured functions that a thread is in."""

    def __init__(self) -> None:
        self.functions: list[Captured[..., Any]] = []


_running = _RunningFunctions()


def _before_step(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    """A hook of all optimizers: refuses in a capture what computes its numbers on the host."""
    for function in _running.functions:
        function.optimizers.add(optimizer)
    for capture, settings in _open:
        if not capture.here:
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
        settings.append(_Settings(optimizer, _numbers(optimizer)))


def _has_state(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> bool:
    return parameter.grad is None or any(x is not None for x in optimizer.state.get(parameter, {}).values())


register_optimizer_step_pre_hook(_before_step)


@contextmanager
def _capture(strict: bool) -> Iterator[tuple[Capture, list[_Settings]]]:
    torch.clear_autocast_cache()
    with captured(default_backend(), strict) as capture:
        entry = capture, []  # type: tuple[Capture, list[_Settings]]
        _open.append(entry)
        try:
            yield entry
        finally:
            _open.remove(entry)


@contextmanager
def _leaves_of_backward() -> Iterator[list[torch.Tensor]]:
    """Context manager: lists the tensors whose `grad` backward passes of this thread change."""
    leaves: list[torch.Tensor] = []
    before, thread = torch.autograd.backward, threading.get_ident()

    @wraps(before)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        if threading.get_ident() == thread:
            leaves.extend(_leaves([tensors] if isinstance(tensors, torch.Tensor) else tensors))
        before(tensors, *args, **kwargs)

    torch.autograd.backward = backward
    try:
        yield leaves
    finally:
        torch.autograd.backward = before


def _leaves(tensors: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Yields the leaves of the graphs behind tensors, each once."""
    nodes = [x.grad_fn for x in tensors if x.grad_fn is not None]
    seen = set(nodes)
    while nodes:
        node = nodes.pop()
        variable = getattr(node, "variable", None)
        if variable is not None:
            yield variable
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                nodes.append(following)


class FPGAGraph:
    """Captured work of the device, with the interface of `torch.cuda.CUDAGraph`.

    The captured step runs once during the capture; in `torch.cuda` it does not. Each `replay` runs
    it again: with the memory, the shapes and the Python numbers of the capture, and with the values
    that its tensors hold then. Gradients' version counters are not advanced by a replay.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._recording: Recording | None = None
        self._settings: list[_Settings] = []
        self._begun: Any = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begins to capture this thread's work on the current stream. `pool` has no effect."""
        if self._recording is not None or self._begun is not None:
            raise errors.captured_already()
        self._begun = _capture(strict=True)
        self._entry = self._begun.__enter__()

    def capture_end(self) -> None:
        """Ends the capture. Raises the error of an index that was out of range."""
        begun, self._begun = self._begun, None
        if begun is None:
            raise errors.empty()
        begun.__exit__(None, None, None)
        capture, settings = self._entry
        if capture.fault is not None:
            raise capture.fault
        self._recording, self._settings = capture.recording, settings

    def _abandon(self, *error: Any) -> None:
        begun, self._begun = self._begun, None
        begun.__exit__(*error)

    def replay(self) -> None:
        """Runs the captured work on the current stream.

        Raises RuntimeError without a capture, if an optimizer's numbers are others than at the
        capture, and if a tensor that it uses was resized. An index out of range raises at the next
        wait.
        """
        if self._recording is None:
            raise errors.empty()
        for settings in self._settings:
            settings.check()
        self._recording.replay()

    def reset(self) -> None:
        """Drops the captured work and its memory."""
        if self._recording is not None:
            self._recording.backend.synchronize()
        self._recording, self._settings = None, []

    def pool(self) -> tuple[int, int]:
        """Returns a handle for `pool`; each graph has memory of its own."""
        return 0, id(self)

    @property
    def nbytes(self) -> int:
        """Bytes that the captured step allocated, which the graph holds."""
        return 0 if self._recording is None else self._recording.nbytes

    @property
    def launches(self) -> int:
        """The number of captured launches."""
        return 0 if self._recording is None else len(self._recording.calls)


class graph:
    """Context manager: captures the work of its body into an `FPGAGraph`, like `torch.cuda.graph`.

    Raises RuntimeError at an op that a replay could not repeat, with the op and its line.
    """

    def __init__(
        self, fpga_graph: FPGAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> None:
        if stream is not None:
            raise errors.no_stream()
        self.graph = fpga_graph

    def __enter__(self) -> None:
        self.graph.capture_begin()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.graph.capture_end()
        else:
            self.graph._abandon(kind, error, trace)


def graph_pool_handle() -> tuple[int, int]:
    """Returns a handle for `pool=`, which has no effect: each graph has memory of its own."""
    return 0, 0


def is_current_stream_capturing() -> bool:
    """True if this thread captures the work of its current stream."""
    capture = capturing(default_backend())
    return capture is not None and capture.stream is default_backend().current_stream()


class CaptureRow(NamedTuple):
    """What became of one signature of a captured function."""

    function: str
    state: str  # "eager", "captured" or "refused"
    calls: int
    launches: int
    nbytes: int
    reason: str


class CaptureReport(tuple[CaptureRow, ...]):
    """The rows of `capture_report`, which print as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return table([CaptureRow._fields, *[tuple(map(str, row)) for row in self]], indent="")

    __repr__ = __str__


class _Gradient(NamedTuple):
    """A parameter's gradient in a capture: whether it was None before, the gradient afterwards, and
    whether the captured calls made it."""

    parameter: torch.Tensor
    missing: bool
    after: torch.Tensor | None
    made: bool

    def fits(self) -> bool:
        """True if the captured calls would do with the present gradient what the function would."""
        now = self.parameter.grad
        return (now is None) is self.missing and (self.missing or self.made or now is self.after)


class _Module(NamedTuple):
    """A module that captured calls ran: its mode, and its parameters and buffers with their memory."""

    module: torch.nn.Module
    training: bool
    tensors: tuple[tuple[torch.Tensor, Any], ...]

    @classmethod
    def of(cls, module: torch.nn.Module) -> _Module:
        """Returns the present state of a module, without that of its children."""
        own = [*module._parameters.values(), *module._buffers.values()]
        return cls(module, module.training, tuple((x, _memory(x)) for x in own if x is not None))

    def same(self) -> bool:
        """True if the mode is that of the capture, and each tensor is there with its memory."""
        now = [x for x in (*self.module._parameters.values(), *self.module._buffers.values()) if x is not None]
        return (
            self.module.training is self.training
            and len(now) == len(self.tensors)
            and all(x is y and _memory(x) is memory for x, (y, memory) in zip(now, self.tensors))
        )


def _memory(x: torch.Tensor) -> Any:
    return getattr(x.untyped_storage(), "_ft", None)


@contextmanager
def _modules_run() -> Iterator[dict[int, _Module]]:
    """Context manager: lists the modules that run, as they are at their first call."""
    modules: dict[int, _Module] = {}

    def note(module: torch.nn.Module, args: Any) -> None:
        if id(module) not in modules:
            modules[id(module)] = _Module.of(module)

    handle = register_module_forward_pre_hook(note)
    try:
        yield modules
    finally:
        handle.remove()


class _Entry:
    """One signature of a captured function."""

    def __init__(self) -> None:
        self.calls = 0
        self.graph: FPGAGraph | None = None
        self.inputs: list[torch.Tensor] = []
        self.result: Any = None
        self.reason = ""
        self.gradients: list[_Gradient] = []
        self.modules: list[_Module] = []
        self.changed = ""  # why an earlier capture of the signature ended


WARM = 2  # calls of a signature before its capture: caches, states and tables are made in them
MOST_SIGNATURES = 16


class Captured(Generic[P, R]):
    """The function that `capture` returns."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        self.entries: dict[Any, _Entry] = {}
        self.optimizers: WeakSet[torch.optim.Optimizer] = WeakSet()  # that made steps in calls
        wraps(function)(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        _running.functions.append(self)
        try:
            return self._call(args, kwargs)
        finally:
            _running.functions.remove(self)

    def _call(self, args: Any, kwargs: Any) -> R:
        leaves, spec = pytree.tree_flatten((args, kwargs))
        signature = self._signature(leaves, spec)
        if signature is None or capturing(default_backend()) is not None:
            return self.function(*args, **kwargs)
        entry = self.entries.get(signature)
        if entry is None:
            if len(self.entries) >= MOST_SIGNATURES:
                return self.function(*args, **kwargs)
            entry = self.entries[signature] = _Entry()
        entry.calls += 1
        if entry.graph is not None:
            try:
                for settings in entry.graph._settings:
                    settings.check()
            except RuntimeError as changed:  # capture again, after further calls
                fresh = self.entries[signature] = _Entry()
                fresh.calls, fresh.changed = 1, str(changed)
                return self.function(*args, **kwargs)
            if not all(module.same() for module in entry.modules):
                fresh = self.entries[signature] = _Entry()
                fresh.calls, fresh.changed = 1, "a module's mode, or the memory of a parameter or buffer, changed"
                return self.function(*args, **kwargs)
            if not all(gradient.fits() for gradient in entry.gradients):
                return self.function(*args, **kwargs)
            return self._replayed(entry, leaves)
        if entry.calls <= WARM or entry.reason:
            return self.function(*args, **kwargs)
        return self._recorded(entry, leaves, spec)

    def _signature(self, leaves: list[Any], spec: Any) -> Any:
        """Returns what a capture depends on; None if an argument can't be told."""
        if torch.is_autocast_enabled("fpga"):  # its cache of weights is older than the call
            return None
        words: list[Any] = [spec, torch.is_grad_enabled()]
        for x in leaves:
            if isinstance(x, torch.Tensor):
                if x.device.type != "fpga" or x.requires_grad or type(x) is not torch.Tensor:
                    return None
                words.append((x.shape, x.stride(), x.dtype))
            elif x is None or isinstance(x, (bool, int, float, str)):
                words.append((type(x), x))
            else:
                return None
        return tuple(words) if any(isinstance(x, torch.Tensor) for x in leaves) else None

    def _recorded(self, entry: _Entry, leaves: list[Any], spec: Any) -> R:
        """Runs the call on static copies of its inputs, and keeps the capture if nothing was
        refused."""
        static = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)
                  if isinstance(x, torch.Tensor) else x for x in leaves]  # fmt: skip
        args, kwargs = pytree.tree_unflatten(static, spec)
        before = {p: p.grad is None for p in self._parameters()}
        with _capture(strict=False) as (capture, settings), _leaves_of_backward() as leaves, _modules_run() as modules:
            result = self.function(*args, **kwargs)
        gradients = [
            _Gradient(p, missing, p.grad, p.grad is not None and capture.made(to_ftensor(p.grad)._storage))
            for p, missing in before.items()
        ]
        entry.reason = self._refused(capture, settings, result, gradients, leaves)
        if entry.reason:
            return result
        entry.graph, entry.result, entry.gradients = FPGAGraph(), result, gradients
        entry.modules = list(modules.values())
        entry.graph._recording, entry.graph._settings = capture.recording, settings
        entry.inputs = [x for x in static if isinstance(x, torch.Tensor)]
        return _fresh(result)

    def _parameters(self) -> list[torch.Tensor]:
        return [p for o in self.optimizers for group in o.param_groups for p in group["params"]]

    def _refused(
        self,
        capture: Capture,
        settings: list[_Settings],
        result: Any,
        gradients: Sequence[_Gradient],
        leaves: Sequence[torch.Tensor],
    ) -> str:
        """Returns why a recorded call can't be replayed; "" if it can."""
        outs = pytree.tree_leaves(result)
        tensors = [x for x in outs if isinstance(x, torch.Tensor)]
        if capture.fault is not None:
            return str(capture.fault)
        if any(x is not None and not isinstance(x, torch.Tensor) for x in outs):
            return "a result is neither a tensor nor None"
        if any(x.device.type != "fpga" for x in tensors):
            return "a result is on another device"
        if any(x.requires_grad for x in tensors):
            return "a result needs a gradient: detach() it, and call backward inside the function"
        if any(id(p) not in {id(g.parameter) for g in gradients} for p in leaves):
            return "a gradient leaves the function: call step() of an optimizer of that parameter inside"
        stepped = {id(p) for s in settings for group in s.optimizer.param_groups for p in group["params"]}
        if not stepped <= {id(g.parameter) for g in gradients}:
            return "an optimizer made its first step in the capture"
        kept = [x for x in (*tensors, *[g.after for g in gradients]) if x is not None]
        if capture.escaped({id(to_ftensor(x.detach())._storage) for x in kept}) is not None:
            return "a tensor that the function makes lives on after it and is no result"
        return ""

    def _replayed(self, entry: _Entry, leaves: list[Any]) -> R:
        assert entry.graph is not None
        for static, x in zip(entry.inputs, [x for x in leaves if isinstance(x, torch.Tensor)]):
            static.copy_(x)
        entry.graph.replay()
        for gradient in entry.gradients:
            gradient.parameter.grad = gradient.after
        return _fresh(entry.result)

    def report(self) -> CaptureReport:
        """Returns a row for each signature: captured, or the reason why not."""
        name = getattr(self.function, "__name__", str(self.function))
        return CaptureReport(
            CaptureRow(
                name,
                "captured" if e.graph else "refused" if e.reason else "eager",
                e.calls,
                e.graph.launches if e.graph else 0,
                e.graph.nbytes if e.graph else 0,
                e.reason or e.changed,
            )
            for e in self.entries.values()
        )


def _fresh(result: Any) -> Any:
    """Returns copies of results, whose own memory the next replay writes."""
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, result)


def capture(step: Callable[P, R]) -> Captured[P, R]:
    """Returns a function that runs `step`, captures it at its third call of a signature, and replays
    it from then on.

    Arguments are tensors of the device and constants; other calls run `step` itself, and so do
    signatures whose capture is refused. `report()` says why. Modules and optimizers that `step`
    uses are read at each replay; Python numbers that it computes are those of the capture.
    """
    return Captured(step)
