"""Signal handlers and finalizers that run ops while they interrupt other ops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.runtime import discovery, lifetime

# Every launch has the same kernel as the handler's, with other arguments.
PROGRAM = """
import signal, sys
import ftensor as ft

{first}
ran = []

def handler(number, frame):
    ran.append((2 * ft.full((7,), 5.0) + 1).tolist())

signal.signal(signal.SIGALRM, handler)
rounds = 0
while len(ran) < 100:
    rounds += 1
    # One signal a round, somewhere in it: one that interrupts its own handler would never end.
    signal.setitimer(signal.ITIMER_REAL, 1e-5 + rounds % 97 * 2e-6)
    y = 2 * ft.full((7,), float(rounds)) + 1
    assert y.tolist() == [2.0 * rounds + 1] * 7, (rounds, y)
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(values == [11.0] * 7 for values in ran), ran
print("done")
"""

FINALIZERS = """
import gc
import ftensor as ft

class Last:
    def __init__(self): self.me = self
    def __del__(self): ended.append((2 * ft.full((7,), 5.0) + 1).tolist())

ended = []
gc.set_threshold(3)
for k in range(2000):
    Last()
    assert (2 * ft.full((7,), float(k)) + 1).tolist() == [2.0 * k + 1] * 7
assert len(ended) > 100 and all(values == [11.0] * 7 for values in ended)
print("done")
"""

# One device of each kind; boards have their own rules.
TARGETS = [
    pytest.param(name, marks=[pytest.mark.long] if name == "pocl" else [])
    for name in sorted(f.target.name for f in discovery.find() if f.target.kind in ("cpu", "csim"))
]


def run(program: str, target: str) -> None:
    env = {**os.environ, "FTENSOR_DEVICE": target, "PYTHONPATH": str(Path(ft.__file__).parents[1])}
    env.pop("FTENSOR_IMAGE", None)
    env.pop("KEEP_CXX", None)  # signals come while g++ runs
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_handler_runs_ops_between_launches(target: str) -> None:
    run(PROGRAM.format(first="ft.ones(7).add(1).mul(2).tolist()"), target)


@pytest.mark.parametrize("target", TARGETS)
def test_handler_runs_while_kernels_are_compiled(target: str, tmp_path: Path) -> None:
    first = f"import os; os.environ['FTENSOR_CACHE_DIR'] = {str(tmp_path)!r}"
    run(PROGRAM.format(first=first), target)


@pytest.mark.parametrize("target", TARGETS)
def test_finalizer_runs_ops(target: str) -> None:
    run(FINALIZERS, target)


def test_handlers_wait_for_foreign_code() -> None:
    """Python's handlers are restored. Each runs once for a signal, even if one raises."""
    order: list[str] = []

    def handler(number: int, frame: object) -> None:
        order.append(signal.Signals(number).name)
        if number == signal.SIGINT:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGUSR1)}
    try:
        with pytest.raises(KeyboardInterrupt), lifetime.signals_deferred():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGUSR1)
            order.append("foreign code")
        assert order == ["foreign code", "SIGINT", "SIGUSR1"]
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        for number, theirs in before.items():
            signal.signal(number, theirs)
