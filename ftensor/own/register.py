"""Registers users' kernels as elementwise ops of ftensor or as custom ops of torch."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .._device import fpga_devices
from .._tensor import Tensor
from ..errors import image as errors
from ..execute.pointwise import copy, replaced
from ..rows.catalogue import ENTRIES
from ..rows.op import Op
from ..terminal import guess

F = TypeVar("F", bound=Callable[..., Any])
OURS = ("ftensor", "aten")
# Functions for ops of torch.library, by name. `ftensor.torch` binds them when it is imported, and
# adds a callback to `take` for later ones.
for_torch: dict[str, Callable[..., Any]] = {}
take: list[Callable[[str, Callable[..., Any]], None]] = []


def register_kernel(name: str) -> Callable[[F], F]:
    """Returns a decorator that makes a function, which calls user kernels, compute an op on the
    device `fpga`.

    "ftensor::sigmoid" (or "aten::sigmoid") replaces an elementwise op: the function gets the op's
    inputs, then its numbers, and returns the result, or NotImplemented to use ftensor's kernel. The
    function is not called for the op inside its own run, nor for tensors on the host. "mylib::vadd"
    is an op of torch.library: the function gets and returns ftensor tensors instead of torch's
    tensors on the device. Raises ValueError for any other name,
    TypeError for a value that is no str, and for a kernel that can't be called.
    """
    library, op = _parts("register_kernel", name)
    row = _row(op) if library in OURS else None

    def register(function: F) -> F:
        if not callable(function):
            raise errors.registers_no_function(name, function)
        if row is not None:
            replaced[row] = _replacement(name, function)
            for device in fpga_devices():
                if device.opened:
                    device.open().forget_launches()
        else:
            for_torch[name] = function
            for bind in take:
                bind(name, function)
        return function

    return register


def unregister_kernel(name: str) -> None:
    """Removes a function registered for an op ("ftensor::sigmoid"); ftensor's kernels compute the
    op again.

    Raises TypeError for a value that is no str, ValueError for a name that is not an elementwise
    op's.
    """
    library, op = _parts("unregister_kernel", name)
    if library not in OURS:
        raise errors.not_registered_here(name)
    replaced.pop(_row(op), None)


def _parts(function: str, name: Any) -> tuple[str, str]:
    """Returns (library, op) of a name such as "ftensor::sigmoid"."""
    if not isinstance(name, str):
        raise errors.registers_no_name(function, name)
    if not (match := re.fullmatch(r"(\w+)::(\w+(\.\w+)?)", name)):
        raise errors.no_op_name(name)
    return match[1], match[2]


def _row(name: str) -> Op:
    """Returns the row of an elementwise op: the first of several, which serves the usual call."""
    if (entry := ENTRIES.get(name)) is not None:
        for row in (entry.row, *entry.rows):
            if isinstance(row, Op):
                return row
    rows = [n for n, e in ENTRIES.items() if any(isinstance(r, Op) for r in (e.row, *e.rows))]
    raise errors.no_row(name, guess(name, rows))


def _replacement(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    active = threading.local()

    def serve(inputs: tuple[Any, ...], params: tuple[Any, ...], out: Tensor | None) -> Any:
        if getattr(active, "now", False):
            return NotImplemented
        active.now = True
        try:
            result = function(*inputs, *params)
        finally:
            active.now = False
        if result is NotImplemented:
            return result
        if type(result) is not Tensor:
            raise errors.not_a_result(name, result)
        return result if out is None else copy(result, out)

    return serve
