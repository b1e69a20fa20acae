"""The software device under XRT itself: every program here uses Xilinx's runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from .emulation_host import build, host, output

pytestmark = [pytest.mark.usefixtures("xrt_image", "nothing_left")]


def test_launch_and_its_buffers(xrt_image: Path) -> None:
    done = host(
        """
x = np.arange(1000, dtype=np.float32)
a, b, out = board.buffer(x), board.buffer(2 * x), board.buffer(0 * x)
board.run("vadd", a, b, out, np.int32(1000))
assert (board.read(out, np.float32, 1000) == 3 * x).all()
assert (board.read(out, np.float32, 10, offset=400) == 3 * x[100:110]).all()
board.run("nothing")
for _ in range(300):
    board.run("vadd", out, b, out, np.int32(1000))
assert (board.read(out, np.float32, 1000) == 603 * x).all()
print(board.device.name, board.device.global_mem_size >> 30)
""",
        xrt_image,
        options=("--image", xrt_image),
    )
    assert output(done) == ["ftensor_emulated_1 16"]


def test_scalars_of_every_type(xrt_image: Path) -> None:
    """Including negative values, and a last scalar smaller than a register."""
    done = host(
        """
out = board.buffer(np.zeros(9))
board.run("scalars", out, np.float32(-1.5), np.float64(2.25), np.int16(-300), np.uint8(200),
          np.int32(-5), np.int64(-(1 << 40)), np.uint64(1 << 50), np.uint8(1), np.int8(-7))
print(*board.read(out, np.float64, 9))
""",
        xrt_image,
    )
    expected = [-1.5, 2.25, -300.0, 200.0, -5.0, -float(1 << 40), float(1 << 50), 1.0, -7.0]
    assert [float(word) for word in output(done)[0].split()] == expected


def test_many_arguments_and_ap_ctrl_chain(xrt_image: Path) -> None:
    done = host(
        """
out, a = board.buffer(np.zeros(64, np.int64)), board.buffer(np.arange(8))
for _ in range(3):
    board.run("many", out, a, a, *np.array([16, 3, 4, 10, -20, 1 << 40, 40]),
              *np.array([5, 6, 7, 8], np.int32), np.float32(9), np.float64(11))
print(*board.read(out, np.int64, 13, offset=128) - 7)
""",
        xrt_image,
    )
    assert output(done) == ["16 3 4 10 -20 1099511627776 40 5 6 7 8 9 11"]


def test_compute_units_run_in_parallel_while_the_host_sleeps(xrt_image: Path) -> None:
    done = host(
        """
import time
out = [board.buffer(np.zeros(1, np.int32)) for _ in range(2)]
events = [board.start("meet", buffer, np.int32(2)) for buffer in out]
board.cl.wait_for_events(events)
assert [board.read(buffer, np.int32, 1)[0] for buffer in out] == [2, 2]
assert all(e.profile.submit <= e.profile.start < e.profile.end for e in events)
board.run("slow", out[0], np.int32(1))
spent, begin = time.process_time(), time.perf_counter()
board.run("slow", out[0], np.int32(1500))
print(time.perf_counter() - begin, time.process_time() - spent)
""",
        xrt_image,
    )
    elapsed, busy = map(float, output(done)[0].split())
    assert elapsed >= 1.5
    assert busy < 0.7 * elapsed


def test_every_unit_of_a_full_image_runs_its_own_kernel(tmp_path: Path) -> None:
    """XRT's limit is 128 units. Unpatched, its scheduler confuses units beyond 32."""
    count = 128
    code = 'extern "C" void k{0}(int *o, int v) {{ *o = v + {0}; }}\n'
    row = '[[kernels]]\nname = "k{0}"\narguments = [{{name="o", type="int*"}}, {{name="v", type="int"}}]\n'
    source = "".join(code.format(k) for k in range(count))
    rows = "".join(row.format(k) for k in range(count))
    full = build(tmp_path, "full", source, rows)
    done = host(
        """
out = board.buffer(np.zeros(1, np.int32))
found = []
for k in range(128):
    board.run(f"k{k}", out, np.int32(1000))
    found.append(int(board.read(out, np.int32, 1)[0]) - 1000)
assert found == list(range(128)), found
""",
        full,
    )
    output(done)


def test_kernels_that_are_released_before_their_launches_end(xrt_image: Path) -> None:
    """Unpatched, XRT's scheduler forgets them when it makes the next one."""
    done = host(
        """
out = [board.buffer(np.zeros(1, np.int32)) for _ in range(2)]
for _ in range(20):
    events = []
    for buffer in out:
        kernel = board.cl.Kernel(board.program, "slow")
        kernel.set_args(buffer, np.int32(10))
        events.append(board.cl.enqueue_nd_range_kernel(board.queue, kernel, (1,), (1,)))
        del kernel
    board.cl.wait_for_events(events)
print([int(board.read(buffer, np.int32, 1)[0]) for buffer in out])
""",
        xrt_image,
    )
    assert output(done) == ["[10, 10]"]


def test_copies_of_buffers_that_no_kernel_has_seen(xrt_image: Path) -> None:
    """XRT reads such a source from the device, where it has never been."""
    done = host(
        """
x = np.arange(100, dtype=np.float32)
source, target = board.buffer(x), board.buffer(0 * x)
board.cl.enqueue_copy(board.queue, target, source).wait()
assert (board.read(target, np.float32, 100) == x).all()
assert (board.read(source, np.float32, 100) == x).all()
out = board.buffer(0 * x)
board.run("vadd", target, source, out, np.int32(100))
assert (board.read(out, np.float32, 100) == 2 * x).all()
board.cl.enqueue_copy(board.queue, source, out).wait()
assert (board.read(source, np.float32, 100) == 2 * x).all()
""",
        xrt_image,
    )
    output(done)


def test_mapped_memory_sub_buffers_and_large_ones(xrt_image: Path) -> None:
    done = host(
        """
n = 5 << 20  # 20 MiB, more than one message
x = np.arange(n, dtype=np.float32)
a, out = board.buffer(x), board.buffer(np.zeros_like(x))
board.run("vadd", a, a, out, np.int32(n))
assert (board.read(out, np.float32, n) == 2 * x).all()
view, event = board.cl.enqueue_map_buffer(
    board.queue, a, board.cl.map_flags.READ | board.cl.map_flags.WRITE, 0, (n,), np.float32)
view[:] = 1
view.base.release(board.queue)
board.queue.finish()
part = a.get_sub_region(4096, 4096)
board.run("vadd", part, part, out, np.int32(1024))
assert (board.read(out, np.float32, 1024) == 2).all()
many = [board.buffer(x[:16]) for _ in range(2000)]
board.run("vadd", many[7], many[1999], out, np.int32(16))
assert (board.read(out, np.float32, 16) == 2 * x[:16]).all()
""",
        xrt_image,
    )
    output(done)


def test_banks_are_where_the_image_says(tmp_path: Path) -> None:
    """As on a board, XRT refuses an argument in another bank. The sizes are the image's."""
    banked = build(
        tmp_path,
        "banked",
        'extern "C" void add(int *a, int *b) { *b += *a; }\n',
        '[[banks]]\nname = "HBM[0]"\nsize = "256 MiB"\ntype = "HBM"\n'
        '[[banks]]\nname = "HBM[1]"\nsize = "256 MiB"\ntype = "HBM"\n'
        '[[kernels]]\nname = "add"\narguments = [{name="a", type="int*", bank="HBM[0]"},'
        ' {name="b", type="int*", bank="HBM[1]"}]\n',
    )
    done = host(
        """
a, b = board.buffer(np.array([3], np.int32)), board.buffer(np.array([4], np.int32))
board.run("add", a, b)
assert board.read(b, np.int32, 1)[0] == 7
print(board.device.global_mem_size >> 20)
try:
    board.run("add", b, a)
except board.cl.Error as error:
    print("refused")
""",
        banked,
        options=("--image", banked),
    )
    assert output(done) == ["512", "refused"]
