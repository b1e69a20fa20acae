"""Fixtures of every test. Findings of Oclgrind or g++'s sanitizers are failures."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from .ahead import Ahead
from .cost import Cost
from .pocl import keep_few
from .progress import Progress

HERE = Path(__file__).parent
# A background job of a shell ignores Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The time of an example depends on how busy the machine is.
settings.register_profile(
    "any speed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
# Every run draws the same examples, so a new failure comes from a change. HYPOTHESIS_PROFILE="any
# speed" draws others.
settings.register_profile("the same", settings.get_profile("any speed"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "the same"))

os.environ["FTENSOR_TUNED"] = "0"  # use the thresholds of the families in ftensor
OCLGRIND_LOG = os.environ.get("OCLGRIND_LOG")
if OCLGRIND_LOG and (worker := os.environ.get("PYTEST_XDIST_WORKER")):
    # Oclgrind reads the name when a context is made, so each worker has its own log.
    os.environ["OCLGRIND_LOG"] = OCLGRIND_LOG = f"{OCLGRIND_LOG.removesuffix('.log')}.{worker}"
# prefix of the log's name, before the process id
SANITIZER_LOG = os.environ.get("SANITIZER_LOG")
if SANITIZER_LOG:
    # Both sanitizers take the same options last, but one can get another file name.
    ubsan = ctypes.CDLL(os.environ["SANITIZER_UBSAN"])
    ubsan.__sanitizer_set_report_path(f"{SANITIZER_LOG}.ubsan".encode())
ROOM = 80  # kernels that a test may make
HANG = 1200  # seconds after which a test counts as hung, on the slowest machine
STACKS = 300  # seconds after which the stacks of all threads are printed


class Stacks:
    """Prints every thread's stack if a test takes long, even if it hangs outside Python.

    A restart waits up to 3 ms for a thread of the interpreter, so it happens once a minute.
    """

    def __init__(self) -> None:
        self.error = os.dup(2)  # pytest redirects stderr while tests run
        self.since = -STACKS

    def pytest_runtest_logstart(self) -> None:
        """Starts the timer."""
        if (now := int(time.monotonic())) >= self.since + 60:
            self.since = now
            faulthandler.dump_traceback_later(STACKS + 60, file=self.error)

    def pytest_unconfigure(self) -> None:
        """Stops the timer."""
        faulthandler.cancel_dump_traceback_later()


def pytest_configure(config: pytest.Config) -> None:
    """Enables the progress line of a pass of tests/run.py."""
    config.pluginmanager.register(Stacks())
    name = os.environ.get("FTENSOR_TESTS_PASS")
    if name and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config, name))
    if name and name.endswith(" on pocl") and name.startswith(("core", "kernel")):
        keep_few()
    if file := os.environ.get("FTENSOR_TESTS_COST"):
        config.pluginmanager.register(Cost(file))
    if folder := os.environ.get("FTENSOR_TESTS_NOTED"):
        config.pluginmanager.register(Ahead(folder))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Distributes tests to workers by tests/shares.py, unless another way is given."""
    from .shares import Shares

    return Shares(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects cases on some targets, unless tests are named."""
    if os.environ.get("FTENSOR_TESTS_SOME"):
        from .targets import left_out

        left = left_out(items)
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


def pytest_collection_finish() -> None:
    """Freezes thousands of tests and torch's databases, which live until the end."""
    freeze_objects()


def freeze_objects() -> None:
    """Excludes all existing objects from garbage collection, which some tests run often."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks each test with the group of its folder."""
    item.add_marker(item.path.relative_to(HERE).parts[0])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, bool, bool]:
    """Makes a test that hangs fail, so that the others continue.

    Objects that the tests of a file leave, such as launches and torch's traces, are frozen too.
    """

    def fail(number: int, frame: object) -> None:
        pytest.fail(f"{item.nodeid} took longer than {HANG} seconds")

    if not hasattr(signal, "SIGALRM"):
        return (yield)
    if item.path.parent.name in ("kernel", "spelling", "torch_device"):
        make_room()
    signal.signal(signal.SIGALRM, fail)
    signal.alarm(HANG)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        if nextitem is not None and nextitem.path != item.path:
            freeze_objects()


def make_room() -> None:
    """Makes room in the tables of kernels and of launches. A device drops launches and graphs when a
    table is full. This does it before a test that may count them, unless the test itself makes very
    many."""
    from ftensor._device import default_backend
    from ftensor.runtime.launch_cache import KernelTable

    backend = default_backend()
    kernels = backend.kernels
    if not isinstance(kernels, KernelTable):  # kernels that ahead.py only records
        return
    if 4 * (len(kernels) + ROOM) > 3 * kernels.most:
        while 2 * len(kernels) > kernels.most:
            kernels.popitem(last=False)
        backend.forget_launches()
    launches = backend.launches
    if 4 * launches.newer_bytes > launches.most:
        most, launches.most = launches.most, 0
        launches._make_older()
        launches.most = most


@pytest.fixture
def graphs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a call use a graph at once, even for an op with many graphs. Otherwise only its second
    call would, but a full table of kernels may have dropped the first one."""
    import ftensor.graph.fused

    monkeypatch.setattr(ftensor.graph.fused, "MAX_EAGER_GRAPHS", 1 << 30)


@pytest.fixture(autouse=bool(OCLGRIND_LOG or SANITIZER_LOG))
def findings() -> Iterator[None]:
    """Fails the test during which a bad access, a data race, a wrong API call, or undefined
    behaviour of C++ was reported."""
    import ftensor as ft

    names = [OCLGRIND_LOG] if OCLGRIND_LOG else [SANITIZER_LOG, f"{SANITIZER_LOG}.ubsan"]
    logs = [Path(name if name == OCLGRIND_LOG else f"{name}.{os.getpid()}") for name in names]
    before = [log.stat().st_size if log.is_file() else 0 for log in logs]
    yield
    ft.synchronize()
    for log, size in zip(logs, before):
        seen = log.read_bytes()[size:].decode(errors="replace") if log.is_file() else ""
        if seen.strip():
            pytest.fail(f"{log.stem} reports:\n{seen[:4000]}", pytrace=False)
