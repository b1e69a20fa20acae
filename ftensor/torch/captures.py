"""`ftensor.torch.capture`: captures a step at its third call of a signature, and replays it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper, wraps
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar
from weakref import WeakSet, ref

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils import _pytree as pytree

from .._device import default_backend
from ..errors import graph as errors
from ..execute.capture import Capture, capturing
from ..terminal import table
from .graphs import FPGAGraph, OptimizerHyperparameters, capture_launches
from .mem_pool import graph_pool
from .memory import to_ftensor, untyped_storage

P = ParamSpec("P")
R = TypeVar("R")


class _RunningFunctions(threading.local):
    """The captured functions that a thread is inside of."""

    def __init__(self) -> None:
        self.functions: list[Captured[..., Any]] = []


_running = _RunningFunctions()


_functions: WeakSet[Captured[..., Any]] = WeakSet()


def capture_rows() -> CaptureReport:
    """Returns the rows of all captured functions, without those that no longer exist."""
    return CaptureReport(row for function in sorted(_functions, key=id) for row in function.report())


def _note_optimizer(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    for function in _running.functions:
        function.optimizers.add(optimizer)


register_optimizer_step_pre_hook(_note_optimizer)


@contextmanager
def _list_leaves() -> Iterator[list[torch.Tensor]]:
    """Context manager: lists the leaves of the backward passes that this thread runs."""
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
    """Yields the leaves of the autograd graphs of tensors, each once."""
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


class CaptureRow(NamedTuple):
    """A signature of a captured function: the number of its calls, and its launches and memory."""

    function: str
    state: str  # "eager", "captured" or "refused"
    calls: int
    launches: int
    nbytes: int
    reason: str


class CaptureReport(tuple[CaptureRow, ...]):
    """The rows of `Captured.report`, which print as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return table([CaptureRow._fields, *[tuple(map(str, row)) for row in self]], indent="")

    __repr__ = __str__


class _Gradient(NamedTuple):
    """A parameter's gradient at a capture: `missing` if it was None before, `after` the capture,
    and whether captured launches allocated it (`made`)."""

    parameter: torch.Tensor
    missing: bool
    after: torch.Tensor | None
    made: bool

    def matches(self, now: torch.Tensor | None) -> bool:
        """True if a replay would update the present gradient like the function itself."""
        return (now is None) is self.missing and (self.missing or self.made or now is self.after)


class _ModuleState(NamedTuple):
    """The mode of a module, and its parameters and buffers by name, each with its memory."""

    module: torch.nn.Module
    training: bool
    parameters: dict[str, Any]
    buffers: dict[str, Any]
    size: int  # length of both dicts
    tensors: tuple[tuple[dict[str, Any], str, Any, Any], ...]

    @classmethod
    def of(cls, module: torch.nn.Module) -> _ModuleState:
        """Returns the present state of a module, without its children."""
        own = module._parameters, module._buffers
        tensors = tuple((held, name, x, None if x is None else _memory(x)) for held in own for name, x in held.items())
        return cls(module, module.training, *own, len(tensors), tensors)

    def unchanged(self) -> bool:
        """True if the module still has this mode, and these tensors with their memory."""
        module, training, parameters, buffers, size, tensors = self
        if module.training is not training or len(parameters) + len(buffers) != size:
            return False
        if module._parameters is not parameters or module._buffers is not buffers:
            return False
        for held, name, x, memory in tensors:
            if held.get(name) is not x or (memory is not None and _memory(x) is not memory):
                return False
        return True


def _memory(x: torch.Tensor) -> Any:
    return getattr(untyped_storage(x), "_ft", None)


@contextmanager
def _list_modules() -> Iterator[dict[int, _ModuleState]]:
    """Context manager: lists the states of the modules that run, at their first call."""
    modules: dict[int, _ModuleState] = {}

    def note(module: torch.nn.Module, args: Any) -> None:
        if id(module) not in modules:
            modules[id(module)] = _ModuleState.of(module)

    handle = register_module_forward_pre_hook(note)
    try:
        yield modules
    finally:
        handle.remove()


class _Arguments:
    """The memory of a signature's tensor arguments. An argument is static if each call passed the
    same memory, such as a model's weights or a cache of keys; replays then read it in place."""

    def __init__(self) -> None:
        self.memory: list[tuple[ref[Any], int]] = []  # and the offset in the memory
        self.static: list[bool] = []

    def note(self, tensors: Sequence[torch.Tensor], before: _Arguments | None = None) -> None:
        """Records a call's arguments. Replays copy those that changed in this call or `before`."""
        same = [True] * len(tensors) if not self.memory else self._same(tensors)
        known = self.static or (before.static if before else same)
        changed = before._same(tensors) if before else same
        self.static = [a and b and c for a, b, c in zip(same, known, changed)]
        self.memory = [(ref(_memory(x)), x.storage_offset()) for x in tensors]

    def match(self, tensors: Sequence[torch.Tensor]) -> bool:
        """True if each static argument has the memory of the capture."""
        return all(same or not static for same, static in zip(self._same(tensors), self.static))

    def _same(self, tensors: Sequence[torch.Tensor]) -> list[bool]:
        pairs = zip(tensors, self.memory)
        return [memory() is _memory(x) and offset == x.storage_offset() for x, (memory, offset) in pairs]


class _Signature:
    """One signature of a captured function."""

    def __init__(self) -> None:
        self.calls = 0
        self.graph: FPGAGraph | None = None
        self.inputs: list[torch.Tensor] = []
        self.arguments = _Arguments()
        self.written: list[bool] = []  # for each input: True if the launches write it
        self.writes = False  # True if they write any
        self.result: Any = None
        self.reason = ""
        self.gradients: list[_Gradient] = []
        self.advanced: list[torch.Tensor] = []  # tensors whose version a replay advances
        self.modules: list[_ModuleState] = []
        self.changed = ""  # why an earlier capture was dropped

    def staleness(self, arguments: Sequence[torch.Tensor]) -> str:
        """Returns the change that makes the capture out of date, or "" if there is none."""
        assert self.graph is not None
        if not self.arguments.match(arguments):
            return "an argument that had the same memory in each call has other memory"
        try:
            for optimizer in self.graph._optimizers:
                optimizer.check()
        except RuntimeError as changed:
            return str(changed)
        if all(module.unchanged() for module in self.modules):
            return ""
        return "the mode of a module, or the memory of a parameter or buffer, has changed"


# Calls of a signature before its capture. They create caches, optimizers' states and tables.
WARM_UP_CALLS = 2
MAX_SIGNATURES = 16


class Captured(Generic[P, R]):
    """A captured function, which `capture` returns."""

    def __init__(self, function: Callable[P, R], pool: Any = None, keep_reads: bool = False) -> None:
        self.function, self.keep_reads = function, keep_reads
        self.pool = graph_pool(pool)  # of all signatures
        self.entries: dict[Any, _Signature] = {}
        self.left_out: Counter[str] = Counter()  # calls without a signature, by the reason
        self.optimizers: WeakSet[torch.optim.Optimizer] = WeakSet()  # that the function uses
        update_wrapper(self, function, updated=())  # a module has attributes of its own
        _functions.add(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        _running.functions.append(self)
        try:
            return self._call(args, kwargs)
        finally:
            _running.functions.remove(self)

    def _call(self, args: Any, kwargs: Any) -> R:
        leaves, spec = _flatten(args, kwargs)
        if capturing(default_backend()) is not None:
            return self.function(*args, **kwargs)
        reason = _unfit(leaves)
        signature = None if reason else self._signature(leaves, spec)
        entry = self.entries.get(signature)
        if not reason and entry is None and len(self.entries) >= MAX_SIGNATURES:
            reason = f"{MAX_SIGNATURES} other signatures came before"
        if reason:
            self.left_out[reason] += 1
            return self.function(*args, **kwargs)
        if entry is None:
            entry = self.entries[signature] = _Signature()
        entry.calls += 1
        if entry.graph is not None:
            given = _tensors(leaves)
            changed = entry.staleness(given)
            if changed:  # so that a later call captures it again
                fresh = self.entries[signature] = _Signature()
                fresh.calls, fresh.changed = 1, changed
                fresh.arguments.note(given, entry.arguments)
                return self.function(*args, **kwargs)
            others: list[_Gradient] = []
            for gradient in entry.gradients:
                now = gradient.parameter.grad
                if not gradient.matches(now):
                    return self.function(*args, **kwargs)
                if now is not gradient.after:
                    others.append(gradient)
            return self._replay(entry, given, others)
        entry.arguments.note(_tensors(leaves))
        if entry.calls <= WARM_UP_CALLS or entry.reason:
            return self.function(*args, **kwargs)
        return self._captured(entry, leaves, spec)

    def _signature(self, leaves: list[Any], spec: Any) -> Any:
        """Returns the values on which a capture depends."""
        parts: list[Any] = [spec, torch.is_grad_enabled()]
        for x in leaves:
            parts.append((x.shape, x.stride(), x.dtype) if isinstance(x, torch.Tensor) else (type(x), x))
        return tuple(parts)

    def _captured(self, entry: _Signature, leaves: list[Any], spec: Any) -> R:
        """Runs the call on static copies of its arguments; those with the same memory in all calls
        are used directly. Keeps the capture if a replay can repeat it."""
        given, is_static = _tensors(leaves), iter(entry.arguments.static)
        static = [_static_copy(x) if isinstance(x, torch.Tensor) and not next(is_static) else x for x in leaves]
        args, kwargs = (static, {}) if spec is None else pytree.tree_unflatten(static, spec)
        before = {p: p.grad is None for p in self._parameters()}
        with (
            capture_launches(False, self.pool, self.keep_reads) as (capture, optimizers),
            _list_leaves() as parameters,
            _list_modules() as modules,
        ):
            result = self.function(*args, **kwargs)
        gradients = [
            _Gradient(p, missing, p.grad, p.grad is not None and capture.has_allocated(to_ftensor(p.grad)._storage))
            for p, missing in before.items()
        ]
        inputs = _tensors(static)
        entry.written = [id(_memory(x)) in capture.recording.written for x in inputs]
        entry.writes = any(entry.written)
        entry.reason = self._refusal(capture, optimizers, result, gradients, parameters)
        if not entry.reason and entry.writes and _share_memory(given):
            entry.reason = "it writes to an argument, and arguments share memory"
        _write_back(given, inputs, entry.written)
        if entry.reason:
            return _with_arguments(result, given, inputs)
        entry.graph, entry.result, entry.gradients = FPGAGraph(), result, gradients
        entry.modules = list(modules.values())
        entry.graph._keep(capture, optimizers)
        entry.inputs = inputs
        changeable = [x for module in entry.modules for _, _, x, _ in module.tensors if x is not None] + list(before)
        entry.advanced = [x for x in changeable if id(_memory(x)) in capture.recording.written and not x.is_inference()]
        return _copies(result)

    def _parameters(self) -> list[torch.Tensor]:
        return [p for o in self.optimizers for group in o.param_groups for p in group["params"]]

    def _refusal(
        self,
        capture: Capture,
        optimizers: list[OptimizerHyperparameters],
        result: Any,
        gradients: Sequence[_Gradient],
        leaves: Sequence[torch.Tensor],
    ) -> str:
        """Returns the reason why a replay could not repeat the call; "" if it can."""
        outs = pytree.tree_leaves(result)
        tensors = [x for x in outs if isinstance(x, torch.Tensor)]
        if capture.fault is not None:
            return str(capture.fault)
        if any(x is not None and not isinstance(x, torch.Tensor) for x in outs):
            return "a result is neither a tensor nor None"
        if any(x.device.type != "fpga" for x in tensors):
            return "a result is on another device"
        if any(not capture.has_allocated(_memory(x)) for x in tensors):
            return "a result is an argument or another tensor from outside: clone() it"
        if any(x.requires_grad for x in tensors):
            return "a result needs a gradient: detach() it, and call backward inside the function"
        if any(id(p) not in {id(g.parameter) for g in gradients} for p in leaves):
            return "a gradient outlives the function: call step() of an optimizer of that parameter inside"
        stepped = {id(p) for s in optimizers for group in s.optimizer.param_groups for p in group["params"]}
        if not stepped <= {id(g.parameter) for g in gradients}:
            return "an optimizer makes its first step in this call"
        kept = [x for x in (*tensors, *[g.after for g in gradients]) if x is not None]
        if capture.find_escaped({id(to_ftensor(x.detach())._storage) for x in kept}) is not None:
            return "a tensor of the function outlives it and is no result"
        return ""

    def _replay(self, entry: _Signature, given: list[torch.Tensor], gradients: list[_Gradient]) -> R:
        assert entry.graph is not None and entry.graph._recording is not None
        for copy, x, is_static in zip(entry.inputs, given, entry.arguments.static):
            if not is_static:
                copy.copy_(x)
        entry.graph._recording.replay()
        torch.autograd.graph.increment_version(entry.advanced)
        if entry.writes:
            _write_back(given, entry.inputs, entry.written)
        for gradient in gradients:
            gradient.parameter.grad = gradient.after
        return _copies(entry.result)

    def report(self) -> CaptureReport:
        """Returns a row for each signature, with the reason if it was not captured, and one for
        each reason why calls have none."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        rows = [
            CaptureRow(
                name,
                "captured" if e.graph else "refused" if e.reason else "eager",
                e.calls,
                e.graph.launches if e.graph else 0,
                e.graph.nbytes if e.graph else 0,
                e.reason or e.changed,
            )
            for e in self.entries.values()
        ]
        return CaptureReport([*rows, *[CaptureRow(name, "refused", n, 0, 0, why) for why, n in self.left_out.items()]])


# Types of arguments that hold no others.
_LEAF_TYPES = frozenset((torch.Tensor, torch.nn.Parameter, bool, int, float, str, type(None)))


def _flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """Returns (leaves, structure) of a call's arguments; structure None if leaves are `args`."""
    if not kwargs and _LEAF_TYPES.issuperset(map(type, args)):
        return list(args), None
    return pytree.tree_flatten((args, kwargs))


def _unfit(leaves: Sequence[Any]) -> str:
    """Returns the reason why a call with these arguments can't be captured; "" if it can."""
    if torch.is_autocast_enabled("fpga"):
        return "autocast's copies of weights outlive the call: use autocast inside the function"
    for x in leaves:
        if isinstance(x, torch.Tensor):
            if x.device.type != "fpga":
                return f"an argument is on {x.device}: move it to the device"
            if type(x) not in (torch.Tensor, torch.nn.Parameter):
                return f"an argument is a {type(x).__name__}, which is no plain tensor"
            if x.requires_grad and torch.is_grad_enabled():
                return "an argument needs a gradient: detach() it, or call backward inside the function"
        elif x is not None and not isinstance(x, (bool, int, float, str)):
            return f"an argument holds a {type(x).__name__}: pass tensors on the device, numbers and texts"
    return ""


def _tensors(leaves: Sequence[Any]) -> list[torch.Tensor]:
    return [x for x in leaves if isinstance(x, torch.Tensor)]


def _static_copy(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)


def _share_memory(tensors: Sequence[torch.Tensor]) -> bool:
    return len({id(_memory(x)) for x in tensors}) < len(tensors)


def _write_back(given: Sequence[torch.Tensor], static: Sequence[torch.Tensor], written: Sequence[bool]) -> None:
    for x, copy, is_written in zip(given, static, written):
        if is_written and x is not copy:
            x.copy_(copy)


def _with_arguments(result: Any, given: Sequence[torch.Tensor], static: Sequence[torch.Tensor]) -> Any:
    """Returns a result in which views of the static copies are replaced by views of the call's
    arguments."""
    arguments = {id(_memory(copy)): x for x, copy in zip(given, static)}

    def view(x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or id(_memory(x)) not in arguments:
            return x
        argument = arguments[id(_memory(x))]
        return argument.as_strided(x.shape, x.stride(), argument.storage_offset() + x.storage_offset())

    return pytree.tree_map(view, result)


def _copies(result: Any) -> Any:
    if type(result) is torch.Tensor:
        return result.clone()
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, result)


def capture(step: Callable[P, R], *, pool: Any = None, reads: str = "refuse") -> Captured[P, R]:
    """Returns a function that runs `step`, captures its launches at the third call of a signature,
    and replays them from then on.

    Arguments are tensors on the device and constants. A call that can't be captured runs `step`;
    `report()` gives the reason. A replay notices changed modules and optimizers, but repeats Python
    numbers that `step` computed during the capture.

    The signatures share memory. `pool`, a result of `torch.fpga.graph_pool_handle` or the id of a
    `torch.fpga.MemPool`, shares it with other functions. A step that reads values on the host is
    refused; with `reads="keep"`, a replay repeats those of the capture, and all that Python made of
    them. Raises ValueError for another `reads`, TypeError for another `pool`.

        step = ftensor.torch.capture(step)
        loss = step(x, y)
    """
    if reads not in ("refuse", "keep"):
        raise errors.reads_option(reads)
    return Captured(step, pool, reads == "keep")
