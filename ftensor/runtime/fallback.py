"""Fallback to the host for kernels that a device's images lack: policy, host device, counts."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import errors
from ..errors import KernelNotBuilt
from ..errors.message import levels_to_user
from ..terminal import table
from . import discovery, targets
from .discovery import DetectedDevice, find

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from .backend import Backend

POLICIES = ("warn", "error", "silent")


class FallbackWarning(UserWarning):
    """An op runs on the host, since the device's images lack a kernel for it."""


@dataclass(frozen=True)
class FallbackRow:
    """The cost of one missing kernel; `copies` counts transfers in both directions."""

    op: str
    dtypes: str
    layout: str
    calls: int = 0
    copies: int = 0
    bytes_to_host: int = 0
    bytes_back: int = 0


class FallbackReport(tuple[FallbackRow, ...]):
    """The rows of `fallback_report`, which print as a table, the most bytes first."""

    __slots__ = ()

    def __new__(cls, rows: Iterable[FallbackRow]) -> FallbackReport:
        def cost(row: FallbackRow) -> tuple[int, str]:
            return -row.bytes_to_host - row.bytes_back, row.op

        return super().__new__(cls, sorted(rows, key=cost))

    def reset(self) -> None:
        """Resets all counts; this report keeps its figures."""
        with _lock:
            _rows.clear()

    def __str__(self) -> str:
        if not self:
            return "no op has fallen back to the host"
        head = ("op", "dtypes", "layout", "calls", "copies", "bytes to host", "bytes back")
        rows = [(r.op, r.dtypes, r.layout, r.calls, r.copies, r.bytes_to_host, r.bytes_back) for r in self]
        return table([head, *rows], indent="")

    __repr__ = __str__


_lock = threading.RLock()
_host_lock = threading.RLock()  # of its own: devices are opened under it
_policy: str | None = None
_here = threading.local()  # `refused`: whether nothing falls back in this thread
_rows: dict[tuple[str, str, str], FallbackRow] = {}
_warned: set[tuple[str, str]] = set()
_host: DetectedDevice | None = None


def _new_locks() -> None:
    # A fork while another thread holds a lock would leave the lock held in the child for ever.
    global _lock, _host_lock
    _lock, _host_lock = threading.RLock(), threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_locks)


def set_fallback(policy: str) -> None:
    """Sets what happens if the device's image lacks an op's kernel, from now on and in all threads.

    "warn" runs the op on the host's device, with a FallbackWarning at the first call of each op and
    dtype (again after each `set_fallback`). "silent" does the same without warnings. "error" raises
    KernelNotBuilt. The default is the environment's FTENSOR_FALLBACK, else "warn". Raises
    ValueError for anything else.
    """
    global _policy
    if policy not in POLICIES:
        raise errors.bad_fallback(policy, POLICIES)
    with _lock:
        _policy = policy
        _warned.clear()


def get_fallback() -> str:
    """Returns the current policy: the one set, else the environment's FTENSOR_FALLBACK, else
    "warn".

    Raises ValueError for an invalid environment variable.
    """
    if _here.__dict__.get("refused"):
        return "error"
    if _policy is not None:
        return _policy
    policy = os.environ.get("FTENSOR_FALLBACK", "").strip()
    if policy and policy not in POLICIES:
        raise errors.environment_value("FTENSOR_FALLBACK", policy, f"one of {', '.join(POLICIES)}")
    return policy or "warn"


@contextmanager
def fallback_refused() -> Iterator[None]:
    """Inside the block no op of this thread falls back to the host; it raises KernelNotBuilt
    instead."""
    before = _here.__dict__.get("refused", False)
    _here.refused = True
    try:
        yield
    finally:
        _here.refused = before


def fallback_report() -> FallbackReport:
    """Returns the ops that ran on the host because of a missing kernel, since the start or the
    last `reset()`.

    There is one row for each op, dtypes and layout: calls, copies, bytes to the host and back.
    """
    with _lock:
        return FallbackReport(_rows.values())


def admit(missing: KernelNotBuilt) -> None:
    """Lets an op fall back by the policy: raises, warns once for the op and dtype, or passes. A step
    that the image leaves to the host passes under every policy."""
    policy = "silent" if missing.on_host and not _here.__dict__.get("refused") else get_fallback()
    if policy == "error":
        raise missing.again()
    if policy == "warn":
        key = (missing.op, missing.dtypes[0] if missing.dtypes else "")
        with _lock:
            first = key not in _warned
            _warned.add(key)
        if first:
            text = errors.falls_back(missing)
            warnings.warn(text, FallbackWarning, stacklevel=levels_to_user())


def count(op: str, dtypes: str, layout: str, copies: int, bytes_to_host: int, bytes_back: int) -> None:
    """Counts a call that the host computed."""
    log.debug("%s of %s on the host, %d bytes copied", op, dtypes, bytes_to_host + bytes_back)
    key = (op, dtypes, layout)
    with _lock:
        row = _rows.get(key) or FallbackRow(*key)
        _rows[key] = replace(
            row,
            calls=row.calls + 1,
            copies=row.copies + copies,
            bytes_to_host=row.bytes_to_host + bytes_to_host,
            bytes_back=row.bytes_back + bytes_back,
        )


def host(preferred: DetectedDevice | None) -> DetectedDevice:
    """Returns the host device for fallbacks, which compiles: `preferred`, another OpenCL runtime,
    or csim.

    Raises RuntimeError if this machine has none.
    """
    global _host
    if _host is None:
        with _host_lock:
            if _host is None:
                _host = _chosen(preferred, find())
    return _host


def _chosen(preferred: DetectedDevice | None, detected: Sequence[DetectedDevice]) -> DetectedDevice:
    runtimes = [d for d in detected if d.target.kind == "cpu"]
    if preferred in runtimes:
        runtimes.insert(0, preferred)
    for runtime in runtimes:
        if runtime.open().images is None:
            return runtime
    csim = next((d for d in detected if d.target is targets.CSIM), None)
    if csim is None:
        return discovery.require("cpu", detected)[0]  # raises an error with advice
    from .csim.backend import CSimBackend

    # A device that compiles, even if csim was opened with images.
    backend: Backend = CSimBackend(csim.target)
    backend.images = None
    return replace(csim, _backend=backend, _lock=threading.RLock())
