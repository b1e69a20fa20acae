"""Launches on the real XRT with the software device: units, streams, arguments, forks, exits."""

from __future__ import annotations

from pathlib import Path

from .xrt_programs import run


def test_units_run_together_and_launches_in_order(four_units: Path) -> None:
    """Four units overlap in time. The next launch of the stream starts after all of them."""
    answer = run(
        """
times = put(np.zeros(25, np.int64))
for k in range(2):
    kernel("nap")(stream, 9, times.handle, 1 + 12 * k, 50, 4 * (k + 1))
answer(times=got(times, np.int64)[1:].reshape(2, 4, 3).tolist(),
       count=ft.fpga.get_device_properties().multi_processor_count, units=backend.units)
""",
        four_units,
    )
    first, second = answer["times"]
    assert max(begin for begin, _, _ in first) < min(end for _, end, _ in first)
    assert max(end for _, end, _ in first) < min(begin for begin, _, _ in second)
    # Nine were requested; more parts than units would only wait in the queue.
    assert {units for _, _, units in first} == {4}
    assert (answer["count"], answer["units"]) == (4, 4)


def test_streams_overlap_and_wait_for_each_other(four_units: Path) -> None:
    """Work of two streams runs concurrently, unless one waits for the other. Events have times."""
    answer = run(
        """
times = put(np.zeros(10, np.int64))
other = ft.fpga.Stream()
nap = kernel("nap")
nap(stream, 1, times.handle, 1, 0, 1)  # from here on the counter is in the device's memory
stream.synchronize()
begin, end = ft.fpga.Event(enable_timing=True), ft.fpga.Event(enable_timing=True)
before = time.monotonic()
begin.record(stream)
nap(stream, 1, times.handle, 1, 150, 3)
end.record(stream)
early = end.query()
nap(other, 1, times.handle, 4, 150, 3)
stream.wait_stream(other)
nap(stream, 1, times.handle, 7, 1, 4)
ft.synchronize()
answer(times=got(times, np.int64)[1:].reshape(3, 3).tolist(), early=early, late=end.query(),
       ms=begin.elapsed_time(end), most=1000 * (time.monotonic() - before))
""",
        four_units,
    )
    a, b, c = answer["times"]
    assert a[0] < b[1] and b[0] < a[1]
    assert c[0] > b[1]
    assert (answer["early"], answer["late"]) == (False, True)
    assert 100 < answer["ms"] < answer["most"] + 1


def test_wait_for_a_stream_covers_its_own_waits(four_units: Path) -> None:
    """Waiting for a stream that waits for another one waits for both."""
    answer = run(
        """
times = backend.allocate(8 * 7)
other, nap = ft.fpga.Stream(), kernel("nap")
nap(other, 1, times.handle, 1, 300, 0)
stream.wait_stream(other)
stream.synchronize()
idle = other.query()
nap(stream, 1, times.handle, 4, 1, 0)
answer(idle=idle, times=got(times, np.int64)[1:].reshape(2, 3).tolist())
""",
        four_units,
    )
    a, b = answer["times"]
    assert answer["idle"]
    assert b[0] > a[1]


def test_arguments_are_passed_bit_for_bit(four_units: Path) -> None:
    """Floats as raw bits of a long, unsigned integers beyond the sign bit, narrow and real
    scalars."""
    answer = run(
        """
out = backend.allocate(48)
kernel("bits")(stream, 1, out.handle, -1.5, 2.5, 2**64 - 2, 1.5, -3)
answer(bits=got(out, np.int64).tolist(),
       wanted=[int(np.float32(-1.5).view(np.uint32)), int(np.float64(2.5).view(np.int64))])
""",
        four_units,
    )
    assert answer["bits"] == [*answer["wanted"], -2, 3, -3, 1]


def test_work_continues_while_the_process_exits(four_units: Path) -> None:
    """An exit handler can still compute, and XRT ends with the process."""
    answer = run(
        """
import atexit
x, y = put(np.ones(64, np.float32)), backend.allocate(256)
axpy = kernel("axpy")
@atexit.register
def last():
    z = put(np.ones(64, np.float32))
    axpy(stream, 1, y.handle, x.handle, z.handle, 1.0, 64)
    answer(y=got(y).tolist())
""",
        four_units,
    )
    assert answer["y"] == [2.0] * 64


def test_forked_child_gets_an_error(four_units: Path) -> None:
    """A forked child lacks XRT's threads, so it gets an error and does not hang."""
    answer = run(
        """
import os
x = put(np.ones(64, np.float32))
axpy = kernel("axpy")
axpy(stream, 1, x.handle, x.handle, x.handle, 1.0, 64)
read, write = os.pipe()
child = os.fork()
if child == 0:
    try:
        axpy(stream, 1, x.handle, x.handle, x.handle, 1.0, 64)
        said = "nothing"
    except RuntimeError as e:
        said = str(e)
    os.write(write, said.encode())
    os._exit(0)
os.waitpid(child, 0)
axpy(stream, 1, x.handle, x.handle, x.handle, 1.0, 64)
answer(said=os.read(read, 9999).decode(), x=got(x).tolist())
""",
        four_units,
    )
    assert "forked" in answer["said"]
    assert answer["x"] == [4.0] * 64


def test_limits_of_a_board(four_units: Path) -> None:
    """There is no compiler, and no buffer larger than all banks."""
    answer = run(
        """
said = []
for attempt in (lambda: backend.build("", "mine", []), lambda: backend.allocate(2 << 30)):
    backend.pool.limit = 2**62
    try:
        attempt()
    except (ft.errors.image.ImageError, ft.OutOfMemoryError) as e:
        said.append(f"{type(e).__name__}: {e}")
answer(said=said)
""",
        four_units,
    )
    assert len(answer["said"]) == 2
    assert "ImageError" in answer["said"][0] and "mine" in answer["said"][0]
    assert "OutOfMemoryError" in answer["said"][1]


def test_forked_child_keeps_its_exit_status(four_units: Path) -> None:
    """It ends with its own exit status and after its own handlers, though XRT's can't run there."""
    answer = run(
        """
import atexit, os, sys
x = put(np.ones(64, np.float32))
axpy = kernel("axpy")
for _ in range(100):
    axpy(stream, 4, x.handle, x.handle, x.handle, 1.0, 64)
read, write = os.pipe()
child = os.fork()
if child == 0:
    atexit.register(os.write, write, b"handled")
    sys.exit(5)
status = os.waitpid(child, 0)[1]
answer(status=os.waitstatus_to_exitcode(status), said=os.read(read, 9999).decode())
""",
        four_units,
    )
    assert answer == {"status": 5, "said": "handled"}


def test_queued_launches_keep_no_files_open(four_units: Path) -> None:
    """XRT opens a file for each command beyond those it keeps, and never closes it."""
    answer = run(
        """
import os
x = put(np.zeros(64, np.float32))
axpy = kernel("axpy")
streams = [stream, *(ft.fpga.Stream() for _ in range(3))]
def files(launches):
    for k in range(launches):
        axpy(streams[k % 4], 4, x.handle, x.handle, x.handle, 0.0, 64)
    backend.synchronize()
    return len(os.listdir("/proc/self/fd"))
answer(before=files(300), after=files(1500))
""",
        four_units,
    )
    assert answer["after"] <= answer["before"] + 20
