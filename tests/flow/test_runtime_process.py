"""Processes: forked children, exits with pending work, concurrent first uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .. import forked
from .runtime_kernels import all_backends
from .test_processes import alternate

ROOT = Path(__file__).parents[2]
HEAD = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from tests.flow.runtime_kernels import *
backend = all_backends()[sys.argv[1]]()
"""
DEVICES = list(all_backends())
# PoCL is another runtime with the same code above it.
CASES = [pytest.param(d, marks=[pytest.mark.long] if d == "pocl" else []) for d in DEVICES]


def environment(cache: Path | None) -> dict[str, str]:
    env = os.environ | ({} if cache is None else {"FTENSOR_CACHE_DIR": str(cache)})
    env.pop("KEEP_CXX", None)  # compilers take as long as they take
    return env


def run(code: str, device: str, cache: Path | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + code, device],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(cache),
        cwd=ROOT,
    )


def output(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert not err
    return out


def run_program(code: str, device: str, cache: Path | None = None) -> str:
    """Returns the program's output. The process may be forked or new."""
    done = forked.run("-c", HEAD + code, device, env=environment(cache), cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("device", CASES)
def test_exit_with_pending_work_is_clean(device: str) -> None:
    code = """
from ftensor.runtime.stream import DeviceStream
slow, add, side = slow_kernel(backend), add_kernel(backend), DeviceStream(backend)
keep = [backend.allocate(1 << 16) for _ in range(10)]
for storage in keep:
    slow(backend.default_stream, 1, storage.handle, 1.0, 3_000_000, 16384)
    slow(side, 1, storage.handle, 1.0, 3_000_000, 16384)
temporary = backend.allocate(1 << 16, side)
print("end")
"""
    assert output(run(code, device)) == "end\n"


FORK = """
x = upload(backend, values(16))
kernel = add_kernel(backend)
big = backend.allocate(1 << 16)
out = backend.allocate(64)
slow_kernel(backend)(backend.current_stream(), 1, big.handle, 1.0, 5_000_000, 16384)
child = os.fork()
if child == 0:
    try:
        DO
        print("worked", flush=True)
    except RuntimeError as error:
        print("refused" if "fork" in str(error) else error, flush=True)
    del x, big, out
    sys.exit()
_, status = os.waitpid(child, 0)
kernel(backend.current_stream(), 1, x.handle, x.handle, out.handle, 16)
print(status, (download(backend, out, 16) == 2 * values(16)).all())
"""


ACTIONS = [
    "backend.allocate(64)",
    "kernel(backend.current_stream(), 1, x.handle, x.handle, out.handle, 16)",
    "download(backend, x, 16)",
    "backend.upload(x, 0, values(16))",
    "backend.synchronize()",
]


@pytest.mark.parametrize(("device", "action"), alternate(DEVICES, ACTIONS))
def test_forked_child_works_or_is_refused(device: str, action: str) -> None:
    # The parent waits for its work before the fork. So reading and writing host memory, and waiting
    # for nothing, need no device any more.
    free = action == "backend.synchronize()" or ("load" in action and device in ("intel-cpu", "pocl"))
    expected = "worked" if device == "csim" or free else "refused"
    assert run_program(FORK.replace("DO", action), device) == f"{expected}\n0 True\n"


@pytest.mark.parametrize("device", CASES)
def test_forked_child_without_device_ends_cleanly(device: str) -> None:
    assert run_program(FORK.replace("DO", "kept = [x, big, out, kernel]"), device) == "worked\n0 True\n"


@pytest.mark.parametrize("device", [c for c in CASES if c.values != ("separate-memory",)])
def test_several_processes_fill_the_cache_at_once(device: str, tmp_path: Path) -> None:
    code = """
x, out = upload(backend, values(16)), backend.allocate(64)
add_kernel(backend)(backend.current_stream(), 1, x.handle, x.handle, out.handle, 16)
print((download(backend, out, 16) == 2 * values(16)).all())
"""
    processes = [run(code, device, tmp_path) for _ in range(3)]
    assert [output(process) for process in processes] == ["True\n"] * 3
    assert len([f for f in tmp_path.rglob("*") if f.is_file() and len(f.name) == 64]) == 1
    assert run_program(code, device, tmp_path) == "True\n"
