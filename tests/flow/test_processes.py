"""Processes with one device each: spawned, exiting, interrupted or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ftensor.runtime import discovery

from .. import forked
from .build_flow import wait_for

ROOT = Path(__file__).parents[2]
HEAD = "import os, sys\nimport ftensor as ft\n"
DEVICES = [f.target.name for f in discovery.find() if f.target.name in ("intel-cpu", "pocl", "csim")]
# PoCL is another runtime with the same code above it.
on_each_device = pytest.mark.parametrize(
    "device", [pytest.param(d, marks=[pytest.mark.long] if d == "pocl" else []) for d in DEVICES]
)


def alternate(devices: Sequence[Any], cases: Sequence[Any]) -> list[Any]:
    """Returns each case on each device. Cases that don't depend on the device alternate between
    devices."""
    params, turns = [], [device for device in devices if device != "pocl"]
    for k, case in enumerate(cases):
        for device in devices:
            first = bool(turns) and device == turns[k % len(turns)]
            words = case if isinstance(case, tuple) else (case,)
            params.append(pytest.param(device, *words, marks=[] if first else [pytest.mark.long]))
    return params


def start(code: str, device: str, cache: Path | None = None, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(device, cache),
    )


def environment(device: str, cache: Path | None = None) -> dict[str, str]:
    env = dict(os.environ, FTENSOR_DEVICE=device, PYTHONPATH=str(ROOT))
    env.pop("KEEP_CXX", None)  # compilers take as long as they take
    if cache is not None:
        # PoCL's own cache, which a killed process may leave half written, must not be the one of
        # all tests.
        env["FTENSOR_CACHE_DIR"], env["POCL_CACHE_DIR"] = str(cache), f"{cache}-pocl"
    return env


def output(process: subprocess.Popen[str], status: int = 0) -> str:
    """Returns a program's output. It must end with this status and print nothing else."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == status, (process.returncode, err)
    assert not err
    return out


def run_program(code: str, device: str, cache: Path | None = None, *words: str) -> str:
    """Returns a program's output. The process may be forked or new."""
    done = forked.run("-c", HEAD + code, *words, env=environment(device, cache))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@on_each_device
def test_threads_race_for_uncompiled_kernels(device: str, tmp_path: Path) -> None:
    code = """
import threading
x, sums = ft.arange(40).float(), []
ready = threading.Barrier(4)
def work(k):
    ready.wait()
    for op in (ft.add, ft.mul) if k % 2 else (ft.mul, ft.add):
        sums.append(op(x, 2).sum().item())
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(sums))
"""
    assert run_program(code, device, tmp_path) == f"{[860.0] * 4 + [1560.0] * 4}\n"


@pytest.mark.parametrize("device", [*DEVICES[:1], *(pytest.param(d, marks=pytest.mark.long) for d in DEVICES[1:])])
def test_spawned_workers_exchange_tensors(device: str, tmp_path: Path) -> None:
    """The bytes sent do not depend on the device."""
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing as mp\nimport ftensor as ft\n"
        "def work(x):\n    return x * x + 1\n"
        "if __name__ == '__main__':\n"
        "    tensors = [ft.arange(3) + k for k in range(3)]\n"
        "    with mp.get_context('spawn').Pool(2) as pool:\n"
        "        print([t.tolist() for t in pool.map(work, tensors)])\n"
        "        pool.close(); pool.join()\n"
    )
    env = dict(os.environ, FTENSOR_DEVICE=device, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, str(program)], env=env, text=True, capture_output=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[[1, 2, 5], [2, 5, 10], [5, 10, 17]]\n"


IN_FLIGHT = """
x = ft.ones(2_000_000)
for _ in range(10):
    x = (x * 1.0001).exp().log()
"""


ENDS = [
    ("", 0),
    ("sys.exit(3)", 3),
    ("kept = [x + k for k in range(5)]; s = kept[0].sum()", 0),
    ("side = ft.fpga.Stream()\nwith ft.fpga.stream(side): y = x.exp()", 0),
    ("n = x.numpy(); del x; n = n[1:]", 0),
    ("event = ft.fpga.Event(enable_timing=True); event.record(); x.add_(1)", 0),
    ("a = [x]; a.append(a); a.append(ft.fpga.current_stream())", 0),  # a reference cycle
]


@pytest.mark.parametrize(("device", "end", "status"), alternate(DEVICES, ENDS))
def test_exit_with_pending_work_is_clean(device: str, end: str, status: int) -> None:
    done = forked.run("-c", HEAD + IN_FLIGHT + end, env=environment(device))
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@on_each_device
def test_interpreter_with_pending_work_exits_cleanly(device: str) -> None:
    """The process is new, not forked."""
    assert output(start(IN_FLIGHT, device)) == ""


HOOK = """
import atexit
def late():
    x = ft.ones(2_000_000)
    for _ in range(10):
        x = (x * 1.0001).exp().log()
    done = [ft.fpga.current_stream().query()]
    with ft.fpga.stream(ft.fpga.Stream()):
        y = x.exp().log().exp()
        done.append(ft.fpga.current_stream().query())
    kept.append((x, y))
    print(done)
kept = []
atexit.register(late)
import ftensor as ft
"""


@pytest.mark.parametrize(("device", "use"), alternate(DEVICES, ["x = ft.ones(3) + 1", "", "s = ft.fpga.Stream()"]))
def test_ops_of_later_exit_hooks_are_waited_for(device: str, use: str) -> None:
    """Exit hooks run in reverse order of registration, and an exit with pending work crashes."""
    env = dict(os.environ, FTENSOR_DEVICE=device, PYTHONPATH=str(ROOT))
    command = [sys.executable, "-c", HOOK + use]
    done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[True, True]\n", "")


@on_each_device
def test_exit_while_a_daemon_thread_computes_is_clean(device: str) -> None:
    code = """
import threading, time
x = ft.ones(100_000)
def work():
    y = x
    while True:
        y = y * 1.0001
        y.sum()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("end", flush=True)
"""
    assert output(start(code, device)) == "end\n"


@on_each_device
def test_interrupted_program_ends_like_python(device: str, tmp_path: Path) -> None:
    code = """
x = ft.ones(100_000)
print("ready", flush=True)
while True:
    x = x * 1.0001
"""
    errors = tmp_path / "errors"
    process = start(f"os.dup2(os.open({str(errors)!r}, os.O_CREAT | os.O_WRONLY), 2)\n{code}", device)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    known, again = -1, 0.0
    while process.poll() is None:
        # Python drops an interrupt that comes inside a __del__, and prints a note.
        dropped = errors.read_text().count("Exception ignored")
        if dropped > known or time.monotonic() > again:
            process.send_signal(signal.SIGINT)
            known, again = dropped, time.monotonic() + 60
        time.sleep(0.01)
    process.communicate(timeout=600)
    assert process.returncode in (-signal.SIGINT, 130)
    assert errors.read_text().rstrip().endswith("KeyboardInterrupt")


COMPILING = """
import itertools, signal, threading
interrupted = 0
threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for shape in itertools.count(2):
        x = ft.ones(shape, 3)
        for y in (x, x.double(), x.int(), x > 2):
            for op in (ft.add, ft.mul, ft.maximum, ft.lt, ft.eq):
                op(y.t(), y.t()).sum(0).tolist()
            ft.neg(y.float()).exp().amax().item()
except KeyboardInterrupt:
    interrupted += 1
print(interrupted, (ft.ones(3) * 2).sum().item())
"""


@pytest.mark.parametrize(("device", "wait"), alternate(DEVICES, [0.05, 0.3, 0.9]))
def test_device_works_after_an_interrupt_during_first_compiles(device: str, wait: float, tmp_path: Path) -> None:
    out, err = start(COMPILING, device, tmp_path, str(wait)).communicate(timeout=600)
    # PoCL's clang may print this if the signal interrupts it.
    assert (out, err.replace("1 error generated.\n", "")) == ("1 6.0\n", "")


AMID_AN_IMPORT = """
import signal
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "pycparser.c_ast":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
interrupted = 0
try:
    ft.ones(3)
except KeyboardInterrupt:
    interrupted += 1
print(interrupted, (ft.ones(3) * 2).sum().item())
"""


def test_interrupt_during_the_import_of_pycparser(tmp_path: Path) -> None:
    assert output(start(AMID_AN_IMPORT, "csim", tmp_path)) == "1 6.0\n"


FILLING = """
x = ft.arange(50).float()
if sys.argv[1:]:
    print("ready", flush=True)
total = 0.0
for op in (ft.add, ft.mul):
    for y in (x, x.int()):
        total += op(x, y).sum().item()
print(total)
"""


@on_each_device
def test_kernel_cache_works_after_a_killed_program(device: str, tmp_path: Path) -> None:
    def files() -> int:
        return len([file for file in tmp_path.rglob("*") if file.is_file()])

    def wrote(before: int, process: subprocess.Popen[str]) -> bool:
        return files() > before or process.poll() is not None

    for turn in range(3):
        before = files()
        process = start(FILLING, device, tmp_path, "announce")
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        wait_for(partial(wrote, before, process))
        time.sleep(0.05 * turn)
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
    expected = run_program(FILLING, device, tmp_path)
    assert run_program(FILLING, device, tmp_path) == expected
    assert float(expected) == 42_875 * 2


@pytest.mark.parametrize(("device",), alternate(DEVICES, [()]))
def test_programs_that_start_at_once_share_an_empty_cache(device: str, tmp_path: Path) -> None:
    programs = [start(FILLING, device, tmp_path) for _ in range(3)]
    assert len({output(program) for program in programs}) == 1
    assert not list(tmp_path.rglob(".new-*"))


@pytest.mark.parametrize(("device",), alternate(DEVICES, [()]))
def test_many_small_ops_do_not_leak(device: str) -> None:
    code = """
import gc
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
x, y = ft.ones(16), ft.ones(16)
def work(count):
    for _ in range(count):
        z = x + y
    for _ in range(count // 10):
        z = (x * 2)[:8].add_(1)
        z.sum().item()
    ft.synchronize()
work(20_000)
gc.collect()
allocated, reserved = ft.fpga.memory_allocated(), ft.fpga.memory_reserved()
for _ in range(5):  # how far the host is ahead, and so what a runtime holds, is not always the same
    before = rss()
    work(100_000)
    gc.collect()
    assert ft.fpga.memory_allocated() == allocated, ft.fpga.memory_allocated() - allocated
    assert ft.fpga.memory_reserved() == reserved, ft.fpga.memory_reserved() - reserved
    more = rss() - before
    if more < 4 << 20:
        break
print(more)
"""
    assert int(run_program(code, device)) < 4 << 20
