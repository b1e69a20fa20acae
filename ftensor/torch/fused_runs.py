"""Runs of calls in an FX graph, traced to one fused launch for each signature.

A run traces its first signature at once, and any other signature at its second occurrence. So calls
whose sizes grow from call to call run one by one. If a call can't be traced, for example because it
reads a value, the run is split before and after that call for that signature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakSet

from .._device import default_backend
from .._tensor import Tensor
from ..errors import KernelNotBuilt
from ..errors.graph import GraphError
from ..execute.dispatch import recorder
from ..graph.guards import GUARD_FAILED
from ..graph.jit import Jitted
from ..graph.lowering import Lowered
from ..graph.signature import find_specialization
from ..graph.trace import VARIABLE, fusion_enabled
from ..terminal import table
from .captures import CaptureReport, capture_rows

Function: TypeAlias = Callable[..., Any]
# Limit of each cache of a run: untraceable signatures, signatures seen once, rows of the report.
MAX_SIGNATURES = 64

_numbers = count()
_runs: WeakSet[Run] = WeakSet()


class GraphRow(NamedTuple):
    """A run with one signature: the number of its calls, and of the kernels that replace them."""

    run: int
    calls: int
    kernels: int  # 0 if nothing was traced
    apart: str  # the call that can't be traced, and the reason


class GraphReport(tuple[GraphRow, ...]):
    """The rows of `graph_report`, which print as a table."""

    __slots__ = ()

    @property
    def kernels(self) -> int:
        """The number of kernels of all rows."""
        return sum(row.kernels for row in self)

    @property
    def captures(self) -> CaptureReport:
        """The rows of the functions of `ftensor.torch.capture`."""
        return capture_rows()

    def __str__(self) -> str:
        runs = table([("run", "calls", "kernels", "apart"), *[tuple(row) for row in self]]) if self else ""
        captures = self.captures
        parts = [runs, str(captures) if captures else ""]
        return "\n\n".join(filter(None, parts)) or "no compiled or captured function has run"

    __repr__ = __str__


def graph_report() -> GraphReport:
    """Returns one row for each traced run of the functions that `torch.compile` compiled: the
    number of its calls and of its kernels. Functions that no longer exist are left out."""
    runs_in_order = sorted(_runs, key=lambda run: run.number)
    return GraphReport(row for run in runs_in_order for row in run.rows)


class Run:
    """A sequence of calls, computed by `function`.

    `calls` maps line numbers of the function's source to op names. `cut` takes a line number and
    returns a function that computes the run with that call separated.
    """

    def __init__(self, function: Function, calls: dict[int, str], cut: Callable[[int], Function]):
        self.function, self.calls, self.cut = function, calls, cut
        self.jitted = Jitted(function)
        self.number = next(_numbers)
        self.rows: list[GraphRow] = []
        self._plain: dict[tuple[Any, ...], Function] = {}  # by signature that can't be traced
        self._once: dict[tuple[Any, ...], None] = {}
        _runs.add(self)

    def __call__(self, *args: Any) -> Any:
        """Returns the results as a tuple, by the lowered graph of the signature if there is one."""
        tensors: list[Tensor] = []
        key = self.jitted.signature(tensors, args, {})
        backend = tensors[0]._storage.backend if tensors else default_backend()
        if backend.executor is not None and recorder(backend) is not None:
            return self.function(*args)
        signature = self.jitted.full_signature(backend, key, tensors)
        lowered: Lowered | None = backend.launches.get(signature) or backend.launches.find(signature)
        result = GUARD_FAILED if lowered is None else lowered.run(tensors, signature)
        if result is not GUARD_FAILED:
            return result
        if lowered is not None and not lowered.is_dead:
            return self.function(*args)
        lowered = find_specialization(backend.launches, signature)
        if lowered is None:
            eager = self._plain.get(signature)
            if eager is None and self._new(signature):
                eager = self.function
            if eager is not None:
                return eager(*args)
            prepared = self._prepared(signature, backend, tensors, args)
            if not isinstance(prepared, Lowered):
                return prepared(*args)
            lowered = prepared
        result = lowered.run(tensors, signature)
        return self.function(*args) if result is GUARD_FAILED else result

    def _new(self, signature: tuple[Any, ...]) -> bool:
        """Records a signature; True if it is new and not the run's first, so not traced yet."""
        if not self.rows or signature in self._once:
            return False
        if len(self._once) >= MAX_SIGNATURES:
            del self._once[next(iter(self._once))]
        self._once[signature] = None
        return True

    def _prepared(
        self, signature: tuple[Any, ...], backend: Any, tensors: Sequence[Tensor], args: Any
    ) -> Function | Lowered:
        """Returns the lowered graph of a signature, or a plain function if it can't be traced."""
        if not fusion_enabled():
            self._note(0, f"{VARIABLE}=0")
            return self._keep(signature, self.function)
        try:
            lowered = self.jitted.lower(backend, signature, tensors, args, {})
            self._note(0 if lowered.launch is None else len(lowered.launch.steps), "")
            return lowered
        except GraphError as error:
            line = self._line(error.__traceback__)
            name = "" if line is None else self.calls[line]
            self._note(0, f"{name}: {error}".removeprefix(": "))
        except KernelNotBuilt as error:
            line = None
            self._note(0, str(error))
        return self._keep(signature, self.function if line is None else self.cut(line))

    def _keep(self, signature: tuple[Any, ...], eager: Function) -> Function:
        if len(self._plain) >= MAX_SIGNATURES:
            del self._plain[next(iter(self._plain))]
        self._plain[signature] = eager
        return eager

    def _line(self, trace: TracebackType | None) -> int | None:
        """Returns the line of the run's generated source through which a traceback passes. Returns
        None if it passes through no line that calls an op."""
        code = self.function.__code__
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        return trace.tb_lineno if trace is not None and trace.tb_lineno in self.calls else None

    def _note(self, kernels: int, reason: str) -> None:
        if len(self.rows) < MAX_SIGNATURES:
            self.rows.append(GraphRow(self.number, len(self.calls), kernels, reason))
