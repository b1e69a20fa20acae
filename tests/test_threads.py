"""Several threads on one device; processes that are forked, spawned, exiting or killed."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import ftensor as ft
from ftensor.runtime import discovery

ROOT = Path(__file__).parent.parent
THREADS = 6


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Threads change places as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run `work(k)` in threads that start at the same moment; the first failure is raised."""
    start = threading.Barrier(count)
    failures: list[BaseException] = []

    def run(k: int) -> None:
        try:
            start.wait()
            work(k)
        except BaseException as failure:  # noqa: BLE001 - raised below, in the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread hangs"
    if failures:
        raise failures[0]


def values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_threads_read_the_same_tensors() -> None:
    a, b = values(64, 33), values(33, seed=1)
    x, y = ft.from_numpy(a.copy()), ft.from_numpy(b.copy())

    def work(k: int) -> None:
        for turn in range(20):
            got = ((x + y) * (k + 1) - turn).t().sum(0)
            np.testing.assert_allclose(
                got.numpy(), ((a + b) * np.float32(k + 1) - turn).sum(1), rtol=1e-3, atol=1e-3
            )

    together(work)


def test_threads_write_their_own_parts_of_one_tensor() -> None:
    x = ft.zeros(THREADS, 100)

    def work(k: int) -> None:
        for _ in range(50):
            x[k].add_(k + 1)
            x[k, 10:20].mul_(1)

    together(work)
    expected = np.repeat(50.0 * np.arange(1, THREADS + 1)[:, None], 100, 1)
    np.testing.assert_array_equal(x.numpy(), expected)


def test_threads_with_streams_of_their_own() -> None:
    a = values(5000)
    x = ft.from_numpy(a.copy())
    made: list[ft.Tensor | None] = [None] * THREADS

    def work(k: int) -> None:
        stream = ft.fpga.Stream()
        with ft.fpga.stream(stream):
            assert ft.fpga.current_stream() is stream
            total = x.clone()
            for _ in range(30):
                total = total + x  # temporaries that this stream uses again at once
            made[k] = total * (k + 1)
        stream.synchronize()

    together(work)
    for k, t in enumerate(made):
        assert t is not None
        np.testing.assert_allclose(t.numpy(), 31 * a * (k + 1), rtol=1e-4)
        # The stream is gone, or busy with nothing: its tensors serve everybody.
        np.testing.assert_allclose((t - t).numpy(), 0 * a)


def test_a_tensor_goes_from_stream_to_stream() -> None:
    a = values(200_000)
    side = ft.fpga.Stream()
    for turn in range(20):
        x = ft.from_numpy(a.copy()) + turn
        with ft.fpga.stream(side):
            side.wait_stream(ft.fpga.default_stream())
            y = x * 2
            del x  # its memory may be used again only after `side` has read it
        other = [ft.full((200_000,), float("nan")) for _ in range(3)]
        ft.fpga.default_stream().wait_stream(side)
        np.testing.assert_allclose((y - 1).numpy(), (a + turn) * 2 - 1, rtol=1e-5, atol=1e-5)
        del other


def test_the_pool_adds_up_after_threads() -> None:
    x = ft.from_numpy(values(300))
    gc.collect()
    ft.synchronize()
    before = ft.fpga.memory_allocated()

    def work(k: int) -> None:
        kept = []
        for turn in range(200):
            kept.append(x[: 1 + turn % 300] * k)
            if len(kept) > 10:
                kept.pop(turn % 10)
        del kept

    together(work)
    gc.collect()
    ft.synchronize()
    # What stays are the geometry tables of prepared launches, not tensors.
    again = ft.fpga.memory_allocated()
    together(work)
    gc.collect()
    ft.synchronize()
    assert ft.fpga.memory_allocated() == again
    assert again - before <= 400 * 64
    stats = ft.fpga.memory_stats()
    assert stats["allocated_bytes.all.current"] <= stats["reserved_bytes.all.current"]


def test_a_failing_thread_leaves_the_others_alone() -> None:
    a = values(40)
    x, wrong = ft.from_numpy(a.copy()), ft.zeros(7)

    def work(k: int) -> None:
        for _ in range(30):
            if k % 2:
                with pytest.raises(RuntimeError):
                    x + wrong
                with pytest.raises(IndexError):
                    x.sum(3)
            else:
                np.testing.assert_array_equal((x + x).numpy(), a + a)

    together(work)


def test_threads_write_through_indices() -> None:
    x = ft.arange(100)

    def work(k: int) -> None:
        for _ in range(15):
            assert x[ft.tensor([k, 99 - k])].tolist() == [k, 99 - k]
            with pytest.raises(IndexError):
                x[ft.tensor([100 + k])]

    together(work)


# Processes

DEVICES = [
    f.target.name for f in discovery.find() if f.target.name in ("intel-cpu", "pocl", "csim")
]
on_each_device = pytest.mark.parametrize("device", DEVICES)


def start(code: str, device: str, cache: Path | None = None, *words: str) -> subprocess.Popen[str]:
    env = dict(os.environ, FTENSOR_DEVICE=device, PYTHONPATH=str(ROOT))
    if cache is not None:
        env["FTENSOR_CACHE_DIR"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-c", f"import os, sys\nimport ftensor as ft\n{code}", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip


def output(process: subprocess.Popen[str], status: int = 0) -> str:
    """What a program prints; it must end with a status and say nothing else."""
    out, err = process.communicate(timeout=180)
    assert process.returncode == status, (process.returncode, err)
    assert not err
    return out


@pytest.mark.once
@on_each_device
def test_threads_race_for_kernels_nobody_has_compiled(device: str, tmp_path: Path) -> None:
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
    assert output(start(code, device, tmp_path)) == f"{[860.0] * 4 + [1560.0] * 4}\n"


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


@pytest.mark.once
@on_each_device
@pytest.mark.parametrize(
    ("do", "result"),
    [("(x + y).tolist()[1]", "3"), ("ft.ones(2).tolist()", "[1.0, 1.0]"), ("y", "tensor"),
     ("y.sum().item()", "90"), ("x[y > 4].tolist()[0]", "3"), ("x.to('cpu').tolist()[1]", "1")],
)  # fmt: skip
def test_a_forked_child_works_or_is_told_what_to_do(device: str, do: str, result: str) -> None:
    out = output(start(FORKED.replace("DO", do), device))
    *child, parent = out.splitlines()
    assert parent == "0 135"
    works = device == "csim" or do == "y"  # what is computed already lies in the host's memory
    assert "\n".join(child).startswith(result if works else "refused")


@pytest.mark.once
@on_each_device
def test_a_forked_child_ends_though_a_compiler_was_at_work(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A cache that is empty, and work not waited for: PoCL compiles while the process forks.
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    process = start(FORKED.replace("DO", "y.sum().item()"), device, tmp_path)
    assert output(process).endswith("0 135\n")


@pytest.mark.once
@on_each_device
def test_a_fork_before_the_first_device_is_used_works_on_both_sides(device: str) -> None:
    code = """
child = os.fork()
values = (ft.arange(5) * 2).tolist()
if child:
    print(os.waitpid(child, 0)[1])
print(values)
"""
    assert output(start(code, device)) == "[0, 2, 4, 6, 8]\n0\n[0, 2, 4, 6, 8]\n"


@pytest.mark.once
@on_each_device
def test_spawned_workers_get_and_give_tensors(device: str, tmp_path: Path) -> None:
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
    done = subprocess.run(
        [sys.executable, str(program)], env=env, text=True, capture_output=True, timeout=180
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[[1, 2, 5], [2, 5, 10], [5, 10, 17]]\n"


IN_FLIGHT = """
x = ft.ones(2_000_000)
for _ in range(10):
    x = (x * 1.0001).exp().log()
"""


@pytest.mark.once
@on_each_device
@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("kept = [x + k for k in range(5)]; s = kept[0].sum()", 0),
        ("side = ft.fpga.Stream()\nwith ft.fpga.stream(side): y = x.exp()", 0),
        ("n = x.numpy(); del x; n = n[1:]", 0),
        ("event = ft.fpga.Event(enable_timing=True); event.record(); x.add_(1)", 0),
        ("a = [x]; a.append(a); a.append(ft.fpga.current_stream())", 0),  # a cycle
    ],
)
def test_an_exit_with_work_in_flight_is_clean(device: str, end: str, status: int) -> None:
    assert output(start(IN_FLIGHT + end, device), status) == ""


@pytest.mark.once
@on_each_device
def test_an_exit_while_a_daemon_thread_computes_is_clean(device: str) -> None:
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


@pytest.mark.once
@on_each_device
def test_an_interrupted_program_ends_as_python_ends_it(device: str) -> None:
    code = """
x = ft.ones(100_000)
print("ready", flush=True)
while True:
    x = x * 1.0001
"""
    process = start(code, device)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    for _ in range(20):  # Python drops an interrupt that strikes within a __del__
        time.sleep(0.5)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGINT, 130)
    assert err.rstrip().endswith("KeyboardInterrupt")


FILLING = """
x = ft.arange(50).float()
if sys.argv[1:]:
    print("ready", flush=True)
total = 0.0
for op in (ft.add, ft.mul, ft.sub, ft.maximum, ft.minimum, ft.lt, ft.eq):
    for y in (x, x.int(), x.double()):
        total += op(x, y).sum().item()
print(total)
"""


@pytest.mark.once
@on_each_device
def test_a_killed_program_leaves_a_kernel_cache_that_works(device: str, tmp_path: Path) -> None:
    for turn in range(3):
        process = start(FILLING, device, tmp_path, "announce")
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        time.sleep(0.15 + 0.23 * turn)
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
    before = len(list(tmp_path.rglob("*")))
    assert before, "killed before it had written anything"
    expected = output(start(FILLING, device, tmp_path))
    assert output(start(FILLING, device, tmp_path)) == expected
    assert float(expected) == 45_375 * 3


@pytest.mark.once
@on_each_device
def test_programs_that_start_at_once_share_an_empty_cache(device: str, tmp_path: Path) -> None:
    programs = [start(FILLING, device, tmp_path) for _ in range(3)]
    assert len({output(program) for program in programs}) == 1
    assert not list(tmp_path.rglob(".new-*"))


@pytest.mark.once
@on_each_device
def test_many_small_operations_leave_the_memory_as_it_was(device: str) -> None:
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
before, allocated, reserved = rss(), ft.fpga.memory_allocated(), ft.fpga.memory_reserved()
work(100_000)
gc.collect()
assert ft.fpga.memory_allocated() == allocated, ft.fpga.memory_allocated() - allocated
assert ft.fpga.memory_reserved() == reserved, ft.fpga.memory_reserved() - reserved
print(rss() - before)
"""
    assert int(output(start(code, device))) < 4 << 20
