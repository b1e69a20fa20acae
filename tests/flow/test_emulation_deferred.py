"""`ftensor emulate` without an image: launches wait for kernels, which are built together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ..made_images import make
from .emulation_host import HANG, output
from .test_emulation_builds import built, environment, needs, run

__all__ = ["needs"]  # a fixture that every test here uses, too
pytestmark = pytest.mark.long

# Fails on sources that contain LACKING, and logs compilations and links.
COMPILER = """#!/bin/sh
[ "$1" = --version ] && exec g++ "$@"
for word; do
  case "$word" in
    -shared) echo link >>"$CALLS";;
    *.cpp) echo "$word" >>"$CALLS"
      grep -q "$LACKING" "$word" && echo "no such root" >&2 && exit 3;;
  esac
done
exec g++ "$@"
"""

ORDER = """
import os, sys
import numpy as np
import ftensor as ft
from ftensor._device import default_backend

backend = default_backend()

def send(t, values):
    backend.upload(t._storage, 0, values)

# An upload comes behind the launch that reads what was there, and the host's array may change.
t, array = ft.tensor([1.0, 4.0, 9.0, 16.0]), np.array([25, 36, 49, 64], np.float32)
first = t.sqrt()
send(t, array)
array[:] = 0
second = t.sqrt()
# A tensor that gets other memory was where it was.
third = t.sqrt()
t.set_(ft.zeros(4))
# In place, one after the other.
count = ft.zeros(3)
for k in range(20):
    count.add_(1).mul_(2)
    if k == 9:
        early = count.clone()
# Memory that the program has let go of is not used anew: sources, steps between, geometries.

def negative(k):
    return ft.tensor([float(k), 1.0, 2.0, 3.0]).neg()

sums = [negative(k).neg().reshape(2, 2).t().clone() for k in range(30)]
backend.launches.clear()
later = [negative(k).reshape(2, 2).t().sum(0) for k in range(30)]
# Another stream, an event, a question.
side = ft.fpga.Stream()
with ft.fpga.stream(side):
    there = first.exp()
    done = side.record_event()
ft.fpga.current_stream().wait_event(done)
back = there.log()
while not side.query():
    pass
first, second, third, early, count = (x.tolist() for x in (first, second, third, early, count))
assert first == [1, 2, 3, 4] and second == third == [5, 6, 7, 8], (first, second, third)
assert early == [2046.0] * 3 and count == [2097150.0] * 3, (early, count)
for k, (one, other) in enumerate(zip(sums, later)):
    assert one.tolist() == [[k, 2], [1, 3]], (k, one.tolist())
    assert other.tolist() == [-k - 1, -5], (k, other.tolist())
assert [round(x, 4) for x in back.tolist()] == [1, 2, 3, 4]
print("in order")
"""


def compiler(folder: Path, lacking: str = "nothing") -> dict[str, str]:
    """Returns the environment in which `COMPILER` compiles. It writes its log to `folder /
    "calls"`."""
    script = folder / "cxx"
    script.write_text(COMPILER)
    script.chmod(0o700)
    (folder / "calls").touch()
    return {"CXX": str(script), "CALLS": str(folder / "calls"), "LACKING": lacking}


def calls(folder: Path) -> tuple[int, int]:
    """Returns the numbers of compilations and of links."""
    lines = (folder / "calls").read_text().splitlines()
    return sum(line != "link" for line in lines), lines.count("link")


def program(folder: Path, text: str) -> str:
    """Writes a program to a file, so that messages can show its lines, and returns a `python -c`
    text."""
    path = folder / "program.py"
    path.write_text(text)
    return f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"


def test_kernels_requested_before_a_read_are_one_build(tmp_path: Path) -> None:
    text = """
import ftensor as ft
t = ft.tensor([1.0, 4.0, 9.0])
a, b, c = t.sqrt(), t.neg(), t.square()
print(((a + b) * c).tolist(), t.tolist())
print(t.abs().tolist())
"""
    done = run(text, tmp_path / "cache", **compiler(tmp_path))
    assert output(done) == ["[0.0, -32.0, -486.0] [1.0, 4.0, 9.0]", "[1.0, 4.0, 9.0]"]
    # The kernels that can share one, and the kernel that was requested later.
    assert built(done) == 6 and calls(tmp_path) == (2, 2)


def test_deferred_launches_keep_their_order_and_memory(tmp_path: Path) -> None:
    """They mix with uploads, freed or exchanged memory, and streams, at once and in small
    pieces."""
    assert output(run(ORDER, tmp_path)) == ["in order"]
    pieces = """
from ftensor.runtime.xrt import deferred
deferred.MAX_COMMANDS, deferred.MAX_BYTES, deferred.MAX_KERNELS = 3, 8, 2
"""
    assert output(run(pieces + ORDER, tmp_path / "other", FTENSOR_POISON="1")) == ["in order"]


def test_failing_kernel_in_a_build_of_several(tmp_path: Path) -> None:
    """The next wait reports it with its line. All others are built and run. The next use tries it
    again."""
    text = """
import ftensor as ft
t = ft.tensor([1.0, 4.0, 9.0])
good = t.neg()
bad = t.sqrt()  # here
after = good * good
for _ in range(2):
    try:
        after.tolist()
        print("nothing was told")
    except ValueError as error:
        print(type(error).__name__, error)
    print(good.tolist(), after.tolist())
    bad = t.sqrt()  # again
"""
    settings = compiler(tmp_path, "sqrt(a)")
    done = run(program(tmp_path, text), tmp_path / "cache", **settings)
    said = "\n".join(output(done))
    assert said.count("ImageError `ftensor emulate` could not build the kernel ft_sqrt") == 2
    assert said.count("no such root") == 2
    assert f"{tmp_path / 'program.py'}:5: bad = t.sqrt()  # here" in said
    assert "program.py:14: bad = t.sqrt()  # again" in said
    assert said.count("[-1.0, -4.0, -9.0] [1.0, 16.0, 81.0]") == 2
    assert built(done) == 2
    # The third kernel is never waited for, and is reported when the program ends.
    assert "ftensor: `ftensor emulate` could not build the kernel ft_sqrt" in done.stderr


def test_captured_launches_wait_for_their_kernels(tmp_path: Path) -> None:
    """The capture's own run builds them, and a replay after other waiting launches works too.
    Another image replaces the kernels between two replays."""
    text = """
import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.capture import capture_stream
x, w = ft.tensor([1.0, 16.0, 81.0]), ft.tensor([1.0, 2.0, 3.0])
with capture_stream(default_backend()) as capture:
    y = (x * w).neg()
capture.share_memory()
for k in range(3):
    if k:
        x.sqrt_()  # its kernel has to be built before the replay
    capture.recording.replay()
    print(y.tolist(), len(capture.recording.calls), ft.fpga.image_report().reloads)
"""
    done = run(text, tmp_path)
    values = "[-1.0, -32.0, -243.0]", "[-1.0, -8.0, -27.0]", "[-1.0, -4.0, -9.0]"
    assert output(done) == [f"{v} 2 {n}" for v, n in zip(values, (0, 1, 1))], done.stderr


def test_new_kernel_object_waits_for_all_launches(tmp_path: Path) -> None:
    """XRT's scheduler would lose running launches, with aborts and wrong values."""
    text = """
import ftensor as ft
from ftensor._device import default_backend
backend = default_backend()
make, in_flight = backend.cl.Kernel, []
def kernel(*args):
    in_flight.append(sum(len(queue.tail) for queue in backend.queues))
    return make(*args)
backend.cl.Kernel = kernel
y = ft.tensor([1.0, 16.0, 81.0]).sqrt().neg().exp()
print(y.sum().item() > 0, in_flight)
"""
    done = run(text, tmp_path)
    assert output(done) == ["True [0, 0, 0, 0]"], done.stderr


def test_program_that_reads_no_value(tmp_path: Path) -> None:
    """Deferred launches are built and run at its end, but not after an exception."""
    text = "import ftensor as ft; t = ft.tensor([1.0]).exp()"
    fails = run(text + "\nraise RuntimeError('why')", tmp_path)
    assert fails.returncode == 1 and "why" in fails.stderr and built(fails) == 0
    ends = run(text, tmp_path)
    assert output(ends) == [] and built(ends) == 1


def test_image_of_the_program_is_loaded_after_deferred_launches(tmp_path: Path, xrt_folder: Path) -> None:
    image = make(xrt_folder, "own", ("axpy", "bits"))
    text = f"""
import ftensor as ft
t = ft.tensor([1.0, 4.0, 9.0])
roots = t.sqrt()
ft.load_image({str(image)!r})
print(roots.tolist())
print(t.sqrt().tolist())
try:
    t.exp()
except ft.KernelNotBuilt:
    print("not built")
"""
    done = run(text, tmp_path)
    assert output(done) == ["[1.0, 2.0, 3.0]"] * 2 + ["not built"] and built(done) == 1


def test_threads_and_forks_with_deferred_launches(tmp_path: Path) -> None:
    text = """
import os, threading
import ftensor as ft

t, found = ft.tensor([1.0, 4.0, 9.0]), {}

def work(k):
    x = t + k
    for _ in range(3):
        x = (x * 2).neg()
    found[k] = x
    if k % 2:
        found[k] = x.tolist()

threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
roots = t.sqrt()
child = os.fork()
if not child:
    try:
        print(roots.tolist())
    except RuntimeError as error:
        os._exit(7 if "fork" in str(error) else 8)
    os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), roots.tolist())
for k in range(6):
    values = found[k] if k % 2 else found[k].tolist()
    assert values == [-8.0 * (x + k) for x in (1, 4, 9)], (k, values)
"""
    assert output(run(text, tmp_path)) == ["7 [1.0, 2.0, 3.0]"]


def test_finalizer_during_deferred_launches(tmp_path: Path) -> None:
    """Its launches come after the deferred ones. It may not read values, since those may depend on
    deferred launches."""
    text = """
import sys, weakref
import ftensor as ft

t, made = ft.tensor([1.0, 4.0, 9.0]), []

def last():
    made.append(t.neg())
    t.tolist()

sys.unraisablehook = lambda told: print("interrupts launches" in str(told.exc_value))
passing = t.sqrt()
weakref.finalize(passing._storage, last).atexit = False
root = passing.sqrt().mul(2)
del passing
print(root.tolist()[0], made[0].tolist())
"""
    done = run(text, tmp_path)
    assert output(done) == ["True", "2.0 [-1.0, -4.0, -9.0]"]


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "launches"])
def test_signal_while_kernels_are_built(tmp_path: Path, reads: bool, nothing_left: None) -> None:
    """The handler may use deferred tensors."""
    begun, go, script = tmp_path / "begun", tmp_path / "go", tmp_path / "cxx"
    os.mkfifo(begun)
    os.mkfifo(go)
    script.write_text(
        f"""#!/bin/sh
[ "$1" = --version ] && exec g++ "$@"
if mkdir {tmp_path}/once 2>/dev/null; then echo >{begun}; read word <{go}; fi
exec g++ "$@"
"""
    )
    script.chmod(0o700)
    text = f"""
import signal
import ftensor as ft
t = ft.tensor([1.0, 4.0, 9.0])
roots = t.sqrt()
def handle(number, frame):
    global made
    made = roots.neg()
    open({str(go)!r}, "w").write("go\\n")
    if {reads}:
        print(made.tolist())
signal.signal(signal.SIGUSR1, handle)
print(roots.tolist(), made.tolist())
"""
    command = [sys.executable, "-m", "ftensor", "emulate", "--", sys.executable, "-c", text]
    with subprocess.Popen(
        command,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(tmp_path / "cache", CXX=str(script)),
    ) as process:
        assert begun.read_text() == "\n"
        os.kill(process.pid, signal.SIGUSR1)
        out, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    negative, both = "[-1.0, -2.0, -3.0]\n", "[1.0, 2.0, 3.0] [-1.0, -2.0, -3.0]\n"
    assert out == (negative + both if reads else both)
