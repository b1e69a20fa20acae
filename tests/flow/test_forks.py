"""Forks: before a device is used, after, and during its first op."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ftensor.runtime import lifetime

from .test_processes import DEVICES, alternate, on_each_device, output, run_program, start

FORKED = """
x = ft.arange(10)
y = x * 2
child = os.fork()
if child == 0:
    try:
        print(DO, flush=True)
    except RuntimeError as error:
        print("refused" if "spawn" in str(error) else error, flush=True)
    sys.exit()
print(os.waitpid(child, 0)[1], (x + y).sum().item())
"""


DO = [
    ("(x + y).tolist()[1]", "3"),
    ("ft.ones(2).tolist()", "[1.0, 1.0]"),
    ("y", "tensor"),
    ("y.sum().item()", "90"),
    ("x[y > 4].tolist()[0]", "3"),
    ("x.to('cpu').tolist()[1]", "1"),
]


@pytest.mark.parametrize(("device", "do", "result"), alternate(DEVICES, DO))
def test_forked_child_works_or_gets_an_error_with_advice(device: str, do: str, result: str) -> None:
    out = run_program(FORKED.replace("DO", do), device)
    *child, parent = out.splitlines()
    assert parent == "0 135"
    works = device == "csim" or do == "y"  # results are already in the host's memory
    assert "\n".join(child).startswith(result if works else "refused")


@on_each_device
def test_forked_child_ends_despite_a_running_compiler(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The cache is empty and work is pending, so PoCL compiles while the process forks.
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    out = run_program(FORKED.replace("DO", "y.sum().item()"), device, tmp_path)
    assert out.endswith("0 135\n")


@on_each_device
def test_fork_before_the_first_use_works_in_parent_and_child(device: str) -> None:
    code = """
child = os.fork()
values = (ft.arange(5) * 2).tolist()
if child:
    print(os.waitpid(child, 0)[1])
print(values)
"""
    assert output(start(code, device)) == "[0, 2, 4, 6, 8]\n0\n[0, 2, 4, 6, 8]\n"


FIRST_ELSEWHERE = """
import threading, time
from ftensor.runtime import lifetime
def work():
    (ft.ones(3) + 1).tolist()
thread = threading.Thread(target=work)
thread.start()
while not lifetime.gate._inside:  # a child of a process that has not looked for devices finds its own
    time.sleep(0)
time.sleep(float(sys.argv[1]))
child = os.fork()
if child == 0:
    signal.alarm(60)  # a lock that nobody opens any more ends it
    try:
        print((ft.ones(3) * 2).tolist(), flush=True)
    except RuntimeError as error:
        print("refused" if "spawn" in str(error) else error, flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
thread.join()
"""


@pytest.mark.parametrize(("device", "wait"), alternate(DEVICES, [0, 0.04, 0.08, 0.16]))
def test_child_of_a_fork_during_another_threads_first_op_ends(device: str, wait: float, tmp_path: Path) -> None:
    """The fork comes while pyopencl is imported, a device is opened, or a kernel is compiled."""
    out = output(start("import signal\n" + FIRST_ELSEWHERE, device, tmp_path, str(wait)))
    child, status = out.splitlines()
    assert status == "0" and child == ("[2.0, 2.0, 2.0]" if device == "csim" else "refused")


def test_fork_waits_for_threads_in_the_runtime() -> None:
    """The forking thread does not wait for itself, and no thread enters before the fork is over."""
    gate, order = lifetime.Gate(), []
    inside, leave, closed, over = (threading.Event() for _ in range(4))

    def first() -> None:
        with gate.inside(), gate.inside():
            inside.set()
            leave.wait()
            order.append("left")

    def fork() -> None:
        with gate.inside():
            gate.close()
            order.append("forked")
            closed.set()
            over.wait()
            order.append("over")
            gate.open()

    def second() -> None:
        with gate.inside():
            order.append("entered")

    threads = [threading.Thread(target=target) for target in (first, fork, second)]
    threads[0].start()
    inside.wait()
    threads[1].start()
    leave.set()
    closed.wait()
    threads[2].start()
    over.set()
    for thread in threads:
        thread.join()
    assert order == ["left", "forked", "over", "entered"]
